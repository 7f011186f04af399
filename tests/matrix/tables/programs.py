"""programs -- real programs that nobody here wrote, each with a small job whose output is always the same"""

from __future__ import annotations

from matrix.case import Build, Case

_COLD = "{python} -c \"import os, shutil; f = os.open(os.path.realpath(shutil.which('node')), os.O_RDONLY); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)\""
_NODE = "let m = new Map(); for (let i = 0; i < 1e6; i++) m.set(i % 503, (m.get(i % 503) || 0) + i); console.log(m.get(7)); require('child_process').execSync('echo child', {stdio: 'inherit'}); new (require('worker_threads').Worker)('console.log(1 + 1)', {eval: true}).on('exit', c => process.exit(c + 4))"
_C = "for i in 1 2 3 4; do printf '#include <stdio.h>\\nint f%d(int x) { return printf(\"%%d\", x * %d); }\\n' $i $i >part$i.c; done; printf 'int f1(int); int main(void) { return f1(2); }\\n' >main.c"
_MAKE = "printf 'all: program\\n\\t@./program; echo; echo made\\nprogram: main.o part1.o part2.o part3.o part4.o\\n\\t@gcc -o $@ $^\\n%%.o: %%.c\\n\\t@gcc -O2 -c $< -o $@\\n' >Makefile"
_NINJA = "printf 'rule cc\\n  command = gcc -O2 -c $in -o $out\\nrule ld\\n  command = gcc -o $out $in\\nbuild main.o: cc main.c\\nbuild part1.o: cc part1.c\\nbuild program: ld main.o part1.o\\n' >build.ninja"
_CC = "#include <map>\\n#include <string>\\n#include <vector>\\nint main() { std::map<int, std::vector<std::string>> m; for (int i = 0; i < 300; i++) m[i %% 7].push_back(std::to_string(i)); return (int)m.size(); }\\n"
_WHO = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e@example.com GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e@example.com GIT_AUTHOR_DATE='2020-01-01 00:00:00Z' GIT_COMMITTER_DATE='2020-01-01 00:00:00Z'"
_SQL = "create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000) insert into t select i, hex(i * 7919) from n; create index byb on t(b); select count(*), sum(length(b)), max(b) from t;"


def _program(name: str, sentence: str, shell: str, *needs: str, prepare: str = "", quick: bool = False, timeout_s: float = 60, **other: object) -> Case:
    return Case("programs", name, sentence, shell=shell, needs=needs, prepare=prepare, is_quick=quick, timeout_s=timeout_s, **other)


def _python(name: str, sentence: str) -> Case:
    return Case("programs", f"python_{name}", sentence, command=("python3", "{cases}/programs/pools.py", name), needs=("python3",), is_quick=name in ("fork", "asyncio"), timeout_s=60)


CASES = [
    _program("node_cold", "node whose file is not in memory: a map, a child, a worker", f"node -e \"{_NODE}\"", "node", prepare=_COLD, runs=5),
    _program("node_cold_often", "the same at 9973 Hz", f"node -e \"{_NODE}\"", "node", prepare=_COLD, runs=5, options=("-p", "hi")),
    _program("javac_and_java", "javac, then java with threads, garbage and a child", "javac Work.java && java Work; echo status $?; rm -f *.class", "javac", "java", prepare="cp {cases}/programs/Work.java .", timeout_s=120),
    _program("java_serial", "java with the serial collector and no compiler", "java -XX:+UseSerialGC -Xint -Xshare:auto Work.java; echo status $?", "java", prepare="cp {cases}/programs/Work.java .", timeout_s=120),
    _python("fork", "Python's multiprocessing by fork"),
    _python("spawn", "Python's multiprocessing by spawn"),
    _python("forkserver", "Python's multiprocessing by forkserver"),
    _python("asyncio", "Python's asyncio with a child"),
    _python("threads", "Python's threads and a pool of them"),
    _python("subprocesses", "Python's subprocess, twelve times"),
    _program("perl", "Perl: hashes, sort, fork, a pipe", "perl -e 'my %h; $h{sprintf(\"%x\", $_ * 7919)}++ for 1 .. 50000; print join(\",\", (sort keys %h)[0 .. 5]), \"\\n\"; if (!fork) { exit 3 } wait; print $? >> 8, `echo child`; $SIG{ALRM} = sub { print \"alarm\\n\" }; kill ALRM => $$'", "perl", quick=True),
    _program("ruby", "Ruby: threads, fork, garbage", "ruby -e 'puts (1..4).map { |k| Thread.new { (1..50000).sum { |i| i % (k + 2) } } }.map(&:value).inspect; pid = fork { exit 3 }; Process.wait(pid); puts $?.exitstatus; 20000.times { \"x\" * 100 }; GC.start; puts `echo child`'", "ruby"),
    _program("php", "PHP: arrays, sort, a child", "php -n -r '$a = []; for ($i = 0; $i < 50000; $i++) $a[] = ($i * 7919) % 5003; sort($a); echo $a[100], \" \", array_sum($a), \"\\n\", shell_exec(\"echo child\");'", "php"),
    _program("bash", "bash: loops, subshells, traps, jobs, pipes", "s=0; for ((i = 0; i < 20000; i++)); do ((s += i % 7)); done; echo $s; (exit 3); echo $?; trap 'echo trapped' USR1; kill -USR1 $$; sleep 0.1 & wait; seq 3000 | sort -n | tail -n 1; cat <(echo substituted)", quick=True),
    _program("zsh", "zsh: loops, subshells, traps, jobs, pipes", "zsh -f -c 's=0; for ((i = 0; i < 20000; i++)) { ((s += i % 7)) }; echo $s; (exit 3); echo $?; trap \"echo trapped\" USR1; kill -USR1 $$; sleep 0.1 & wait; seq 3000 | sort -n | tail -n 1; cat =(echo substituted)'", "zsh"),
    _program("dash", "dash and busybox", "dash -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; echo $i; (exit 3); echo $?'; busybox sh -c 'echo busy; exit 2'; echo $?", "dash", "busybox"),
    _program("gcc", "gcc and g++ with -O2: the objects are the same", "gcc -O2 -c part1.c -o part1.o; g++ -O2 -c main.cc -o main.o; echo $?", "gcc", "g++", prepare=f"{_C}; printf '{_CC}' >main.cc", quick=True),
    _program("gcc_lto", "gcc with link-time optimisation in parallel", "gcc -O2 -flto=2 -fuse-linker-plugin part?.c main.c -o program; ./program; echo $?", "gcc", prepare=_C),
    _program("clang_and_lld", "clang++ and lld", "clang++ -O1 -c main.cc -o main.o && clang++ -fuse-ld=lld main.o -o program && ./program; echo $?", "clang++", "ld.lld", prepare=f"printf '{_CC}' >main.cc"),
    _program("make", "make -j4", "make -s -j4", "make", "gcc", prepare=f"{_C}; {_MAKE}", quick=True),
    _program("ninja", "ninja", "ninja --quiet program; ./program; rm -f .ninja_log .ninja_deps", "ninja", "gcc", prepare=f"{_C}; {_NINJA}"),
    _program("git", "git: 20 commits, gc, clone, fsck", f"{_WHO}; git init -q a; cd a; for i in $(seq 20); do seq $i 37 9000 >f; git add f; git commit -q -m $i; done; git gc -q --prune=now; cd ..; git clone -q a b; cd b; git fsck 2>&1; git log --format=%H | sha1sum; cd ..; rm -rf a b", "git"),
    _program("tar", "tar, gzip, xz and sha256sum", "tar -c --sort=name --mtime=@0 --owner=0 --group=0 -f - files | tee >(gzip -n >out.gz) | xz -T2 >out.xz; sleep 0.1; tar -tJf out.xz | wc -l; sha256sum out.xz", "tar", "xz", prepare="mkdir files; for i in $(seq 200); do seq $i 500 >files/$i; done", quick=True),
    _program("sqlite3", "sqlite3 in a file, with journals", f"sqlite3 db '{_SQL}'", "sqlite3", quick=True),
    _program("postgres", "initdb, a server, pgbench", "bash {cases}/programs/postgres.sh", "/usr/lib/postgresql", "setpriv", timeout_s=120),
    _program("redis", "a redis server, pipelined writes, a background save", "bash {cases}/programs/redis.sh", "redis-server"),
    _program("nginx", "nginx with two workers, requests, a reload", "bash {cases}/programs/nginx.sh", "nginx", "python3", scrubs=((r"[0-9/]+ [0-9:]+ \[notice\] [0-9#]+: ", ""),)),
    _program("haproxy", "haproxy: a master, a worker of two threads, requests, new workers for old", "bash {cases}/programs/haproxy.sh", "haproxy", "python3"),
    _program("slapd", "an LDAP server: entries added and searched, an orderly end", "bash {cases}/programs/slapd.sh", "slapd", "ldapadd", "/usr/lib/ldap/back_mdb.so"),
    _program("liburing", "liburing waits for a kernel thread that takes requests from its ring, at 9973 Hz", "{program}", "/usr/include/liburing.h",
             builds=(Build("liburing", "programs/liburing.c", ("-luring",)),), options=("-p", "hi"), runs=3),
    _program("openssl", "openssl: digests, ciphers, keys", "seq 200000 >in; openssl dgst -sha256 in; openssl enc -aes-256-ctr -K 00 -iv 00 -in in 2>/dev/null | sha256sum; openssl genpkey -algorithm RSA 2>/dev/null | openssl rsa -check -noout 2>&1 | head -n 1", "openssl"),
    _program("ffmpeg", "ffmpeg: a made picture scaled and encoded by several threads", "ffmpeg -v error -nostdin -f lavfi -i testsrc=d=1:s=160x120:r=10 -vf scale=320:240 -c:v mpeg4 -threads 2 -bitexact -f md5 -", "ffmpeg"),
    _program("chromium", "chromium --headless prints what a page became", "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=$PWD/profile --dump-dom file://$PWD/page.html 2>/dev/null; rm -rf profile", "chromium",
             prepare="echo '<html><body><script>let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; document.body.append(s)</script></body></html>' >page.html", timeout_s=120),
    _program("sshd", "ssh to an sshd of its own: input, output, status", "bash {cases}/programs/sshd.sh", "ssh", "ssh-keygen", "/usr/sbin/sshd"),
    _program("tmux", "a tmux server, a window, a command in it", "tmux -S $PWD/socket -f /dev/null new-session -d 'echo inside >out; tmux -S $PWD/socket wait-for -S ended' \\; wait-for ended; cat out; tmux -S $PWD/socket kill-server 2>/dev/null; sleep 0.2; rm -f socket", "tmux"),
    _program("vim", "vim without a terminal edits a file", "vim -u NONE -i NONE -n -es -c '%s/1/one/g' -c '%sort!' -c 'wq' text; head -n 3 text", "vim", prepare="seq 300 >text"),
    _program("emacs", "emacs --batch", "emacs -Q --batch --eval '(let ((s 0)) (dotimes (i 100000) (setq s (+ s (% i 7)))) (princ s) (princ (shell-command-to-string \"echo child\")))'", "emacs"),
    _program("R", "R: a regression", "Rscript --vanilla -e 'set.seed(1); x <- rnorm(20000); y <- 2 * x + rnorm(20000); print(round(coef(lm(y ~ x)), 4)); print(sum(sapply(1:200, function(i) i %% 7)))'", "Rscript"),
    _program("go", "a Go program with goroutines, a child, signals, a caught fault and C", "{build}/go-work 2>&1", "go", "gcc",
             prepare="cp {cases}/programs/work.go .; GOCACHE={build}/go-cache GO111MODULE=off CGO_ENABLED=1 go build -o {build}/go-work work.go; rm work.go", timeout_s=60),
    _program("go_vet", "the go tool itself: vet", "GOCACHE={build}/go-cache GO111MODULE=off go vet work.go; echo $?", "go", prepare="cp {cases}/programs/work.go .", timeout_s=120),
    _program("rust", "rustc, then a Rust program with threads, a panic and a child", "rustc -O work.rs -o program && ./program; echo status $?; rm -f program", "rustc", prepare="cp {cases}/programs/work.rs .", timeout_s=120),
    _program("ocaml", "OCaml's toplevel: closures, garbage, exceptions", "ocaml -noinit work.ml", "ocaml",
             prepare="printf 'let rec f n = if n = 0 then raise Exit else 1 + f (n - 1)\\nlet () = let s = ref 0 in for i = 1 to 300000 do s := !s + i mod 7; ignore (Array.make 10 i) done; (try ignore (f 1000) with Exit -> print_string \"caught \"); print_int !s; print_newline ()\\n' >work.ml"),
    _program("mpirun", "mpirun with two ranks", "mpirun --allow-run-as-root --oversubscribe --mca btl self,vader,tcp -np 2 {program}", "mpirun", builds=(Build("ring", "programs/ring.c", (), "mpicc"),)),
]
