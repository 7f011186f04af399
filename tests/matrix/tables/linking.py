"""linking -- one program built and loaded in every way there is"""

from __future__ import annotations

from matrix.case import Build, Case, Nature

_PLAIN = "linking/plain.c"
_LIBRARY = Build("library.so", "linking/library.c", ("-shared", "-fPIC"))
_QUIET = tuple(Build(f"{name}.so", "linking/library.c", ("-shared", "-fPIC", "-DQUIET")) for name in ("first", "second", "third"))
_EXITS = Build("exits.so", "linking/exits.c", ("-shared", "-fPIC"))
_NARROW = ("-m32", "-idirafter", "/usr/include/x86_64-linux-gnu")  # where Debian has the kernel's headers for both
_JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
_TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"


def _plain(
    name: str, sentence: str, *flags: str, compiler: str = "gcc", burns: int | None = 3, part: str = "all", options: tuple[str, ...] = (),
    needs: tuple[str, ...] = (), environment: tuple[tuple[str, str], ...] = (), others: tuple[Build, ...] = (), natures: tuple[Nature, ...] = (), prepare: str = "",
) -> Case:
    builds = (Build("plain", _PLAIN, flags, compiler), *others)
    return Case("linking", name, sentence, command=("{program}", part), builds=builds, needs=needs, environment=environment, options=options, burns=burns, natures=natures, prepare=prepare)


def _loading(
    name: str, sentence: str, burns: int | None = 1, natures: tuple[Nature, ...] = (), environment: tuple[tuple[str, str], ...] = (), others: tuple[Build, ...] = (_LIBRARY,),
) -> Case:
    builds = (Build("loading", "linking/loading.c", ("-ldl",)), *others)
    return Case("linking", f"dlopen_{name}", sentence, command=("{program}", name), builds=builds, burns=burns, natures=natures, environment=environment)


def _leaking(name: str, sentence: str) -> Case:
    return Case("linking", f"leaks_{name}", sentence, command=("{program}", name), builds=(Build("leaks", "linking/leaks.c", ("-fsanitize=leak",)),), burns=1)


_STATIC = Nature("time", "Nothing can be preloaded into such a program, so it cannot be recorded, and record says so.")
_NOTHING = Nature("status", "Where the program ended well and nothing was recorded, the status of record is 1.")

CASES = [
    Case("linking", "heavy_storage", "1 MiB of thread-local storage", command=("{program}", "all"), builds=(Build("heavy", "linking/heavy_storage.c"),), burns=3),
    _plain("pie", "an ordinary program"),
    Case("linking", "counts_calls", "counts the calls of functions that are its own, of malloc too: no call is the recorder's",
         command=("{program}", "all"), builds=(Build("counts", "linking/counts.c", ("-rdynamic", "-fno-builtin")),), burns=3),
    _plain("not_pie", "-no-pie", "-no-pie", "-fno-pie"),
    _plain("static", "a static program", "-static", options=("-F", "on"), natures=(_STATIC, _NOTHING)),
    _plain("static_pie", "a static-pie program", "-static-pie", options=("-F", "on"), natures=(_STATIC, _NOTHING)),
    _plain("musl", "a program of another C library (musl)", compiler="musl-gcc", burns=None, options=("-F", "on"), natures=(_STATIC, _NOTHING)),
    _plain("bits_32", "a 32-bit program", *_NARROW, needs=("/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a",), options=("-F", "on"), natures=(_STATIC, _NOTHING)),
    _plain("no_tables", "without .eh_frame", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    _plain("no_header", "without .eh_frame_hdr", "-Wl,--no-eh-frame-hdr"),
    _plain("no_frame_pointer", "-O3 -fomit-frame-pointer", "-O3", "-fomit-frame-pointer"),
    _plain("no_build_id", "without build id, stripped of all symbols but those of its functions", "-Wl,--build-id=none"),
    _plain("stripped", "stripped", "-s", burns=None),
    _plain("lazy", "bound lazily, with a PLT", "-Wl,-z,lazy", "-no-pie"),
    _plain("prelink", "text at 0x900000, far from the rest", "-no-pie", "-Wl,--section-start=.text=0x900000"),
    _plain("one_segment", "-z noseparate-code: tables and code in one segment", "-Wl,-z,noseparate-code"),
    _plain("compressed_relocations", "-z pack-relative-relocs", "-Wl,-z,pack-relative-relocs"),
    _plain("gold_or_lld", "linked by lld", "-fuse-ld=lld", needs=("ld.lld",)),
    _plain("clang", "built by clang", compiler="clang"),
    _plain("split_stack", "-fsplit-stack", "-fsplit-stack"),
    _plain("instrumented", "-finstrument-functions with hooks that do nothing", "-finstrument-functions"),
    Case("linking", "gprof", "built with -pg: the calls that gprof counts",  # its histogram is of chance: ten ticks of the kernel
         shell="{program} all; gprof -b -C {program} gmon.out; rm gmon.out", builds=(Build("plain", _PLAIN, ("-pg",)),), needs=("gprof",)),
    _plain("coverage", "built with --coverage", "--coverage"),
    _plain("address_sanitizer", "built with AddressSanitizer", "-fsanitize=address"),
    _plain("undefined_sanitizer", "built with UBSan", "-fsanitize=undefined"),
    _plain("thread_sanitizer", "built with ThreadSanitizer", "-fsanitize=thread"),
    _plain("leak_sanitizer", "built with LeakSanitizer", "-fsanitize=leak"),
    _leaking("memory", "LeakSanitizer finds memory that the program has forgotten"),
    _leaking("alternate_stack", "LeakSanitizer finds an alternate stack that the program has forgotten"),
    _plain("clang_address_sanitizer", "built with clang's AddressSanitizer", "-fsanitize=address", compiler="clang", needs=("/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.asan-x86_64.a",)),
    _plain("cet", "built with -fcf-protection", "-fcf-protection=full"),
    _plain("bind_now", "LD_BIND_NOW", environment=(("LD_BIND_NOW", "1"),)),
    _plain("audited", "LD_AUDIT with a library that follows every binding", others=(Build("audit.so", "linking/audit.c", ("-shared", "-fPIC")),), environment=(("LD_AUDIT", "{build}/audit.so"),)),
    _plain("preloaded", "LD_PRELOAD of another library", others=(_LIBRARY,), environment=(("LD_PRELOAD", "{build}/library.so"),)),
    _plain("early_thread", "a library whose constructor makes a thread that works", burns=5, others=(Build("early.so", "linking/early.c", ("-shared", "-fPIC")),), environment=(("LD_PRELOAD", "{build}/early.so"),)),
    _plain("early_stack", "a library whose constructor sets an alternate signal stack of 2 KiB", others=(Build("early_stack.so", "linking/early_stack.c", ("-shared", "-fPIC")),), environment=(("LD_PRELOAD", "{build}/early_stack.so"),)),
    Case("linking", "late_fork", "a library that the program is linked with, whose destructor works and forks", command=("{build}/linked", "one"), burns=3,
         builds=(Build("late.so", "linking/late.c", ("-shared", "-fPIC", "-Wl,-soname,{build}/late.so")), Build("linked", _PLAIN, ("-Wl,--no-as-needed", "{build}/late.so")))),
    _plain("late_work", "a library whose destructor works and forks", burns=5, others=(Build("late.so", "linking/late.c", ("-shared", "-fPIC")),), environment=(("LD_PRELOAD", "{build}/late.so"),)),
    _plain("wrapped", "LD_PRELOAD of a library that wraps what the recorder wraps", others=(Build("wraps.so", "linking/wraps.c", ("-shared", "-fPIC", "-ldl")),), environment=(("LD_PRELOAD", "{build}/wraps.so"),)),
    Case("linking", "preload_missing", "LD_PRELOAD of a library that is not there", command=("env", "LD_PRELOAD=/does/not/exist.so", "{program}", "all"), builds=(Build("plain", _PLAIN),), burns=3),
    Case("linking", "preload_exits", "LD_PRELOAD of a library whose constructor calls _exit", command=("env", "LD_PRELOAD={build}/exits.so", "{program}", "all"), builds=(Build("plain", _PLAIN), _EXITS)),
    Case("linking", "preload_exits_softly", "LD_PRELOAD of a library whose constructor calls exit", command=("env", "LD_PRELOAD={build}/exits.so", "EXIT_SOFTLY=1", "{program}", "all"),
         builds=(Build("plain", _PLAIN), _EXITS)),
    _plain("jemalloc", "with jemalloc", needs=(_JEMALLOC,), environment=(("LD_PRELOAD", _JEMALLOC),)),
    _plain("tcmalloc", "with tcmalloc", needs=(_TCMALLOC,), environment=(("LD_PRELOAD", _TCMALLOC),)),
    _plain("malloc_perturb", "MALLOC_PERTURB_ and glibc.malloc.check", environment=(("MALLOC_PERTURB_", "165"), ("GLIBC_TUNABLES", "glibc.malloc.check=3"))),
    _plain("tunables", "glibc.rtld.optional_static_tls=0 and glibc.pthread.rseq=0", environment=(("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0:glibc.pthread.rseq=0"),)),
    _plain("library_path", "LD_LIBRARY_PATH of a directory that is not there", environment=(("LD_LIBRARY_PATH", "/does/not/exist"),)),
    _plain("debugged_linker", "LD_DEBUG=versions into a file", environment=(("LD_DEBUG", "versions"), ("LD_DEBUG_OUTPUT", "/dev/null/none")), burns=3),
    Case("linking", "lists_libraries", "ldd lists what a program is linked with",
         shell="ldd {program} | sed 's/ (0x.*//'; LD_TRACE_LOADED_OBJECTS=1 {program} | sed 's/ (0x.*//'; {program} one",
         builds=(Build("plain", _PLAIN),), needs=("ldd",), burns=1),
    Case("linking", "setuid", "a setuid program, run by one who gains nothing", shell="./plain all", prepare="cp {program} plain; chmod 4755 plain",
         builds=(Build("plain", _PLAIN),), burns=3),
    Case("linking", "setuid_other", "a setuid program of another user: ld.so preloads nothing", shell="./plain one", prepare="cp {program} plain; chown nobody plain; chmod 4755 plain",
         builds=(Build("plain", _PLAIN),), burns=1, natures=(Nature("time", "ld.so preloads nothing into a program that gains rights."),)),
    Case("linking", "capable", "a program with a file capability", shell="./plain one", prepare="cp {program} plain; setcap cap_net_raw+ep plain",
         builds=(Build("plain", _PLAIN),), needs=("setcap",), burns=1, natures=(Nature("time", "ld.so preloads nothing into a program that gains rights."),)),
    Case("linking", "by_loader", "run by the dynamic linker named on the command line", command=("/lib64/ld-linux-x86-64.so.2", "{program}", "all"), builds=(Build("plain", _PLAIN),), burns=3),
    Case("linking", "musl_child", "a shell runs a program of musl, then an ordinary one", shell="{program} one; {build}/other one", builds=(Build("musl", _PLAIN, (), "musl-gcc"), Build("other", _PLAIN)),
         burns=2, natures=(Nature("time", "Only a program of the recorder's own C library can be recorded."),)),
    Case("linking", "bits_32_child", "a shell runs a 32-bit program, then an ordinary one", shell="{program} one; {build}/other one", builds=(Build("narrow", _PLAIN, _NARROW), Build("other", _PLAIN)),
         needs=("/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a",), burns=2, natures=(Nature("time", "Only a program of the recorder's own processor mode can be recorded."),)),
    Case("linking", "static_child", "a shell runs a static program, then an ordinary one", shell="{program} one; {build}/other one", builds=(Build("fixed", _PLAIN, ("-static",)), Build("other", _PLAIN)),
         burns=2, natures=(Nature("time", "Nothing can be preloaded into a static program."),)),
    Case("linking", "spin_in_init", "a spin in .init with .text at 0x900000: a pc before the first entry of the tables", command=("{program}",), runs=3,
         builds=(Build("first", "linking/first.c", ("-no-pie", "-Wl,--section-start=.text=0x900000")),)),
    Case("linking", "exceptions", "C++ exceptions, static and thread_local objects that work", command=("{program}",), builds=(Build("thrown", "linking/thrown.cc", (), "g++"),)),
    Case("linking", "terminate", "an exception that nobody catches, with a terminate handler", command=("{program}", "x"), builds=(Build("thrown", "linking/thrown.cc", (), "g++"),)),
    _loading("loop", "200 times dlopen, call, dlclose"),
    _loading("namespaces", "dlmopen into five new namespaces"),
    _loading("deep", "RTLD_DEEPBIND"),
    _loading("deep_lazy", "RTLD_DEEPBIND of a library with handlers for all signals, bound as it calls", others=(Build("lazy.so", "linking/handles.c", ("-shared", "-fPIC", "-Wl,-z,lazy")),)),
    _loading("deep_sealed", "the same, bound at once and then read-only", others=(Build("sealed.so", "linking/handles.c", ("-shared", "-fPIC", "-Wl,-z,now", "-Wl,-z,relro")),)),
    _loading("deep_threads", "three threads load and unload libraries with RTLD_DEEPBIND", others=_QUIET),
    _loading("missing", "dlopen of what is not there"),
    _loading("relative", "dlopen by way of LD_LIBRARY_PATH", environment=(("LD_LIBRARY_PATH", "{build}"),)),
    _loading("iterates", "dl_iterate_phdr 1,000 times"),
    _loading("lists", "lists the link map", natures=(Nature("stdout", "The library is loaded into the program, and so the link map shows it."),)),
    _loading("threads", "two threads load and unload while others fork"),
    _loading("next_symbol", "dlsym and dladdr of libc's functions"),
    _loading("whose_sigaction", "asks whose sigaction it calls", natures=(Nature("stdout", "The library stands before the C library for the calls it must see."),)),
]
