"""tracers -- debuggers and checkers, around a recorded program and inside the recorded tree"""

from __future__ import annotations

from matrix.case import Build, Case, Nature

_PROGRAM = Build("tracers", "tracers/tracers.c")
_GDB = "gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set print inferior-events off'"
_SCRUBS = (
    (r"0x[0-9a-f]+", "ADDRESS"), (r"([Pp]rocess|pid|LWP|Thread|thread) ?[0-9]+", "PROCESS"), (r"==\d+==", "==PID=="), (r"\[New [^\n]*\n|\[Thread debugging[^\n]*\n|Using host libthread_db[^\n]*\n", ""),
)
_SHOWN = Nature("stdout", "A tracer that attaches is shown the signals of the first milliseconds, before the recorder notices it and falls silent.")
_UNDER_WAY = Nature("stdout", "On clock sigtrap a tick that was under way as gdb attached stops the program once more, at SIGTRAP; `continue` goes on.", is_seldom=True)
_UNSAMPLED = Nature("time", "While a program is traced no signal is sent into it, and so it is not sampled by one.")


def _case(name: str, sentence: str, shell: str, *needs: str, burns: int | None = None, natures: tuple[Nature, ...] = (), **other: object) -> Case:
    return Case("tracers", name, sentence, shell=shell, builds=(_PROGRAM,), needs=needs, burns=burns, scrubs=_SCRUBS, natures=natures, timeout_s=30, **other)


CASES = [
    _case("gdb_args", "gdb --args runs it to its end", f"{_GDB} -ex run --args {{program}} work", "gdb", burns=2, natures=(_UNSAMPLED,)),
    _case("gdb_breakpoint", "gdb stops it in burn, shows the stack, and lets it go on", f"{_GDB} -ex 'break burn' -ex run -ex 'bt 2' -ex delete -ex continue --args {{program}} work", "gdb"),
    _case("gdb_attach", "gdb -p attaches to it while it works, and continues it to its end",
          f"{{program}} waits_for_file & sleep 0.2; {_GDB} -p $! -ex 'shell touch attached' -ex continue 2>&1 | grep -E 'SIG|exited'; wait $!; echo status $?", "gdb", natures=(_UNDER_WAY,)),
    _case("gdb_detach", "gdb -p attaches, looks and detaches", f"{{program}} waits_for_file & sleep 0.2; {_GDB} -p $! -ex detach >/dev/null 2>&1; touch attached; wait $!; echo status $?", "gdb"),
    _case("strace", "strace sees the program's own signals only: none", "strace -f -o trace {program} work; grep -c -e '--- SIG' trace; rm trace", "strace"),
    _case("strace_attach", "strace -p sees none either",
          "{program} waits_for_file & sleep 0.2; strace -o trace -p $! & sleep 0.3; touch attached; wait %1; echo status $?; wait; grep -c -e '--- SIG' trace; rm trace", "strace", natures=(_SHOWN,)),
    _case("strace_seccomp", "strace --seccomp-bpf -f of a shell with children", "strace -f --seccomp-bpf -e trace=execve -o trace sh -c '{program} work; true'; grep -c -e '--- SIG[^C]' trace; rm trace", "strace"),
    _case("memcheck", "valgrind memcheck", "valgrind -q --error-exitcode=9 {program} work", "valgrind"),
    _case("memcheck_leaks", "valgrind's leak check finds what the program leaks", "valgrind --leak-check=full --errors-for-leak-kinds=all --error-exitcode=9 -q {program} work", "valgrind"),
    _case("callgrind", "valgrind callgrind", "valgrind -q --tool=callgrind --callgrind-out-file=/dev/null {program} work", "valgrind"),
    _case("helgrind", "valgrind helgrind", "valgrind -q --tool=helgrind --error-exitcode=9 {program} work", "valgrind"),
    _case("valgrind_runs_others", "valgrind of a program that spawns another, enters a filter and is replaced", "valgrind -q --tool=none {program} runs_others", "valgrind"),
    _case("inside_gdb", "the recorder below gdb: sampling begins under a tracer", f"{_GDB} -ex run --args sh -c '{{program}} work'", "gdb"),
]
