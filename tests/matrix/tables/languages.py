"""languages -- run times of other languages, and programs between the recorder and the program: each with a small job whose output is always the same"""

from __future__ import annotations

from matrix.case import Case, Nature


def _case(name: str, sentence: str, shell: str, *needs: str, prepare: str = "", timeout_s: float = 60, natures: tuple[Nature, ...] = ()) -> Case:
    return Case("languages", name, sentence, shell=shell, needs=needs, prepare=prepare, is_quick=False, timeout_s=timeout_s, natures=natures)


def _built(name: str, sentence: str, source: str, compile_it: str, run: str, *needs: str) -> Case:
    """Compiled before each run, unrecorded."""
    prepare = f"mkdir work; cp {{cases}}/languages/{source} work; cd work; {compile_it} >/dev/null 2>&1; cd .."
    return _case(name, sentence, f"cd work; {run}; echo status $?; cd ..; rm -r work", *needs, prepare=prepare)


_SUM = "print(sum(i % 7 for i in range(1000000)))"
_GO_CALLS = (
    'import ctypes, threading; go = ctypes.CDLL("./library.so"); work = lambda: [(go.Work(2), go.Faults(200)) for _ in range(8)]; '
    'threads = [threading.Thread(target=work) for _ in range(4)]; [thread.start() for thread in threads]; print(go.Work(9), go.Faults(3000)); [thread.join() for thread in threads]'
)
_FORMULA = "a = magic(200); b = a * a; printf('%g\\n', sum(b(:))); try; error('thrown'); catch e; disp(e.message); end; exit(3)"

CASES = [
    _case("sbcl", "SBCL: compiles, catches errors and the end of its stack, collects, four threads", "sbcl --noinform --non-interactive --load {cases}/languages/work.lisp 2>&1; echo status $?", "sbcl"),
    _case("clisp_and_ecl", "CLISP and ECL: a loop, an error", "for lisp in 'clisp -q -x' 'ecl --eval'; do $lisp '(progn (print (loop for i below 300000 sum (mod i 7))) (print (handler-case (car 5) (error () :caught))) (ext:quit 3))' 2>&1; echo status $?; done", "clisp", "ecl"),
    _case("erlang", "Erlang: processes on its schedulers, a child", "erl -noshell -eval 'Ps = [spawn_monitor(fun() -> exit(lists:sum([I rem K || I <- lists:seq(1, 200000)])) end) || K <- lists:seq(2, 9)], io:format(\"~p~n\", [[receive {_, _, _, P, R} -> R end || {P, _} <- Ps]]), io:format(\"~s\", [os:cmd(\"echo child\")]), halt(3).'; echo status $?", "erl"),
    _built("haskell", "GHC's threaded runtime: a thread, a map, an exception", "work.hs", "ghc -O -threaded work.hs -o work", "./work +RTS -N2", "ghc"),
    _case("scheme", "Guile: recursion, an exception, a list", "guile --no-auto-compile -c '(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 27)) (display (catch #t (lambda () (car 5)) (lambda a \"caught\"))) (display (length (iota 300000)))'", "guile"),
    _case("racket", "Racket: recursion, an exception, a thread", "racket {cases}/languages/work.rkt; echo status $?", "racket"),
    _case("prolog", "SWI-Prolog: a fold, an exception, a thread", "swipl -g work {cases}/languages/work.pl; echo status $?", "swipl"),
    _built("mono", "Mono: compiled at run time, faults that become exceptions, threads that make garbage", "Work.cs", "mcs Work.cs", "mono Work.exe", "mono", "mcs"),
    _built("ada", "GNAT: tasks, a division and a null access that become exceptions", "work.adb", "gnatmake -q -O2 work.adb", "./work", "gnatmake"),
    _built("pascal", "Free Pascal: faults that become exceptions", "work.pas", "fpc -O2 work.pas", "./work", "fpc"),
    _case("luajit", "LuaJIT: a compiled loop, an error, a coroutine", "luajit {cases}/languages/work.lua; echo status $?", "luajit"),
    _case("pypy", "PyPy: compiled at run time, threads, garbage, fork", "pypy3 {cases}/languages/work.py", "pypy3"),
    _case("tcl", "Tcl: a loop, an error, a child", "echo 'set s 0; for {set i 0} {$i < 300000} {incr i} {incr s [expr {$i % 7}]}; puts $s; puts [catch {error thrown}]; puts [exec echo child]; exit 3' | tclsh; echo status $?", "tclsh"),
    _case("octave", "Octave: a product of matrices, an error", f'octave --no-gui --quiet --norc --eval "{_FORMULA}"; echo status $?', "octave"),
    _case("shells", "mksh, ksh and fish: loops, statuses, a trap, a pipe", "for shell in mksh ksh; do $shell -c 'i=0; s=0; while (( i < 30000 )); do (( s += i % 7 )); (( i += 1 )); done; echo $s; (exit 3); echo $?; trap \"echo trapped\" USR1; kill -USR1 $$; echo a | cat'; done; HOME=$PWD fish --no-config -c 'set s 0; for i in (seq 300); set s (math $s + $i % 7); end; echo $s; sh -c \"exit 3\"; echo $status; echo a | cat'", "mksh", "ksh", "fish"),
    _case("qemu", "qemu-user: translates bash and its signals, and Python with threads", "qemu-x86_64 /bin/bash -c 's=0; for ((i = 0; i < 20000; i++)); do ((s += i % 7)); done; echo $s; kill -USR1 $$'; echo $?; qemu-x86_64 $(readlink -f /usr/bin/python3) {cases}/programs/pools.py threads", "qemu-x86_64", timeout_s=120),
    _case("faketime", "faketime: another date, and a clock that is not the system's", f"faketime '2020-01-01 00:00:00' sh -c 'date +%Y; python3 -c \"import time; {_SUM}; print(time.localtime().tm_year)\"'", "faketime", "python3"),
    _case("proot", "proot: another view of the files, by ptrace", f"proot -b /tmp:/mnt python3 -c '{_SUM}'; echo $?", "proot", "python3",
          natures=(Nature("CPU time", "A tracer stops a program at each system call; the recorder makes some 250 in each image that begins, and python3 may be a shell script that runs eighty."),)),
    _case("mariadb", "a database made, mariadbd, 20,000 rows, an orderly end", "bash {cases}/programs/mariadb.sh", "mariadbd", timeout_s=120),
    _case("apache", "apache2 with threads: requests, a graceful restart, an end", "bash {cases}/programs/apache.sh", "apache2", "python3"),
    _case("libreoffice", "LibreOffice calculates a sheet", "HOME=$PWD soffice --headless --convert-to 'txt:Text - txt - csv (StarCalc)' --outdir out sheet.csv >/dev/null 2>&1; cat out/sheet.txt; rm -rf .config .cache out", "soffice", prepare="printf 'a,b\\n1,2\\n3,=A2+B2\\n' >sheet.csv", timeout_s=120),
    _case("imagemagick", "ImageMagick: a picture turned and blurred by OpenMP threads", "convert -size 600x400 gradient:red-blue -rotate 30 -blur 0x2 rgb:- | md5sum", "convert"),
    _case("gnu_parallel", "GNU parallel: 20 jobs, four at a time", "seq 20 | parallel --will-cite -k -j4 'echo $(( {} * 7 % 5 ))'", "parallel"),
    _case("compressors", "brotli, lzip, zstd, lz4, bzip2 and 7z", "seq 100000 >in; for program in brotli lzip 'zstd -T2' lz4 bzip2; do $program -c <in 2>/dev/null | md5sum; done; 7z a -mmt2 -bd in.7z in >/dev/null; 7z x -so in.7z | md5sum; rm in in.7z", "brotli", "lzip", "zstd", "lz4", "7z"),
    _built("d", "D, by ldc: a collector that stops threads by signals, a task pool, a fiber, a child", "work.d", "ldc2 -O work.d -of=work", "./work", "ldc2"),
    _built("crystal", "Crystal: fibers, a channel, garbage, a child, an exception", "work.cr", "crystal build work.cr -o work", "./work", "crystal"),
    _built("tbb", "TBB: a reduction, a task group, an exception out of a parallel loop", "tbb.cc", "g++ -O1 tbb.cc -o work -ltbb", "./work", "g++", "/usr/include/tbb/tbb.h"),
    _built("fibers", "Boost: 50 fibers, coroutines, and exceptions on a coroutine's own stack", "fibers.cc", "g++ -O1 fibers.cc -o work -lboost_fiber -lboost_context -pthread", "./work", "g++", "/usr/lib/x86_64-linux-gnu/libboost_fiber.so"),
    _case("gambit", "Gambit: recursion, green threads by a timer, a child", "gsi -e '(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 24)) (thread-join! (thread-start! (make-thread (lambda () (f 20))))) (thread-sleep! .05) (println (shell-command \"exit 2\")) (exit 3)'; echo status $?", "gsi"),
    _case("coq", "Coq: a proof, a computation by its virtual machine, a time limit", "coqc -q work.v 2>&1; echo status $?; rm -f .work.aux work.*", "coqc", prepare="printf 'Require Import Arith.\\nTheorem t : forall n m, n+m = m+n. Proof. intros; ring. Qed.\\nEval vm_compute in 2^14.\\nTimeout 1 Eval vm_compute in 3.\\n' >work.v"),
    _case("google_perftools", "gperftools' own profiler, by SIGPROF, of a process that sums", f"CPUPROFILE=$TMPDIR/profile LD_PRELOAD=$LD_PRELOAD:/usr/lib/x86_64-linux-gnu/libprofiler.so.0 /usr/bin/python3 -c '{_SUM}' 2>/dev/null; test -s $TMPDIR/profile; echo status $?", "/usr/lib/x86_64-linux-gnu/libprofiler.so.0", "/usr/bin/python3"),
    _case("uftrace", "uftrace: patches a program as it starts, and counts the calls of its threads", "uftrace record -P. -d calls ./work; uftrace report -d calls | awk '$NF == \"work\" {print $(NF-1)}'; rm -rf calls work", "uftrace", "gcc",
          prepare="printf '#include <pthread.h>\\n__attribute__((noinline)) long work(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\\nstatic void *run(void *p) { for (int i = 0; i < 20; i++) work(200000); return p; }\\nint main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, run, 0); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }\\n' >work.c; gcc -O1 -fpatchable-function-entry=5 -pthread work.c -o work; rm work.c"),
    _built("boehm", "Boehm's collector: five threads and a child make garbage", "collected.c", "gcc -O1 collected.c -o work -lgc -pthread", "./work", "gcc", "/usr/include/gc.h"),
    _case("bear", "bear: notes the commands of a build by a preloaded library of its own", "bear --force-preload -- sh -c 'gcc -c work.c; gcc work.o -o work'; grep -c work.c compile_commands.json; ./work; echo status $?; rm -f work work.o compile_commands.json", "bear", "gcc", prepare="echo 'int main(void) { return 3; }' >work.c"),
    _built("go_library", "Go as a library of Python: goroutines, garbage and faults that it recovers from, on threads that it does not know", "library.go",
           "GOCACHE=$PWD/cache HOME=$PWD go build -buildmode=c-shared -o library.so library.go", f"/usr/bin/python3 -c '{_GO_CALLS}'", "go", "gcc"),
    _built("cgo", "Go: called back from C on threads that it does not know, its own profiler, 2,000 goroutines, faults that it recovers from, signals", "callbacks.go", "GOCACHE=$PWD/cache HOME=$PWD go build -o work callbacks.go", "./work", "go", "gcc"),
    _case("racket_places", "Racket CS: four futures, and a place that is killed", "racket -e '(require racket/place racket/future) (define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (displayln (map touch (for/list ((i 4)) (future (lambda () (f (+ 22 i))))))) (place-kill (dynamic-place (quote racket/base) (quote void))) (exit 3)' 2>&1; echo status $?", "racket"),
    _case("prolog_limits", "SWI-Prolog: a map on five threads, a time limit, a thread that another ends by a signal", "swipl -g 'concurrent_maplist([X,Y]>>(numlist(1,200000,L),sum_list(L,S),Y is S mod X),[2,3,5,7,11],R),print(R),nl,catch(call_with_time_limit(0.2,(repeat,fail)),E,(print(E),nl)),thread_create((repeat,fail),T),thread_signal(T,throw(stop)),thread_join(T,Q),print(Q),nl,halt(3)'; echo status $?", "swipl"),
    _case("r_parallel", "R: forked workers, workers on sockets, an error, an endless recursion, a time limit", "Rscript -e 'library(parallel); print(unlist(mclapply(1:4, function(i) sum((1:200000) %% i), mc.cores=2))); w <- makeCluster(2); print(parSapply(w, 1:4, function(i) i^2)); stopCluster(w); g <- function() g(); tryCatch(g(), error=function(e) cat(\"deep\\n\")); setTimeLimit(elapsed=.5); tryCatch(repeat{}, error=function(e) cat(\"time\\n\")); quit(status=3)' 2>&1; echo status $?", "Rscript"),
    _built("ocaml_threads", "OCaml, compiled: threads, two timers by signals, the end of the stack, children", "threads.ml", "ocamlfind ocamlopt -thread -package threads,unix -linkpkg threads.ml -o work", "./work", "ocamlfind", "ocamlopt"),
    _case("chez", "Chez Scheme: recursion, a stack in segments, a timer, an exception, threads", "chezscheme --script {cases}/languages/work.ss; echo status $?", "chezscheme"),
    _case("raku", "Raku: promises, a channel, an exception, a child, a signal", "rakudo {cases}/languages/work.raku; echo status $?", "rakudo"),
    _case("tcl_threads", "Tcl: interpreters on threads of their own, a pool of them, a child", "tclsh {cases}/languages/threads.tcl; echo status $?", "tclsh", "/usr/lib/tcltk/x86_64-linux-gnu/thread2.8.8/pkgIndex.tcl"),
    _case("ruby_ractors", "Ruby, compiled by YJIT and not: ractors, fibers, a time limit, the end of the stack", "for way in --disable-jit '--yjit --yjit-call-threshold=2'; do ruby $way {cases}/languages/ractors.rb; echo status $?; done", "ruby"),
    _case("php_jit", "PHP, compiled at run time", "php -d opcache.enable_cli=1 -d opcache.jit=1255 -d opcache.jit_buffer_size=64M {cases}/languages/jit.php; echo status $?", "php"),
]
