"""test_own_processes -- however a program makes processes and threads, it behaves as ever, and they are recorded"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ahead import plan, planned
from recorded import IS_THOROUGH, RUNGS, Outcome, Recorded, collector_command, execute, judge, judge_about, judge_at_least, judge_total, with_clocks

from collector.experiment.merge import events
from collector.format import Kind
from collector.profile import aggregate
from collector.reports import overview
from collector.reports.style import Style

WORK_NS = 50e6
LEAST_NS = WORK_NS - 20e6

# What each case of process_games.c does: how often each function worked for 50 ms. The fork of a second C library
# (namespace) is nobody's to see: that child must only be unharmed.
GAMES = {
    "fork": {"work_in_parent": 1, "work_in_child": 1},
    "raw_fork": {"work_in_parent": 1, "work_in_child": 1},
    "clone": {"work_in_parent": 1, "work_in_child": 1},
    "clone_shared": {"work_in_parent": 1},
    "bare_clone": {"work_in_parent": 1},
    "vfork": {"work_in_parent": 1, "work_in_image": 1},
    "spawn": {"work_in_parent": 1, "work_in_image": 1},
    "system": {"work_in_parent": 1, "work_in_image": 2},
    "exec": {"work_in_parent": 2, "work_in_image": 1},
    "bare_exec": {"work_in_parent": 1, "work_in_image": 1},
    "daemon": {"work_in_child": 1},
    "c11": {"work_in_child": 3},
    "namespace": {"work_in_parent": 1},
    "grandchildren": {"work_in_child": 3},
}


@planned(lambda compiled, clock, game: plan(compiled("process_games.c"), game, clock=clock))
@pytest.mark.parametrize(("game", "clock"), with_clocks(GAMES))
def test_descendants(unharmed_case: Callable[[], Recorded], clock: str, game: str) -> None:
    recorded = unharmed_case()
    for function, count in GAMES[game].items():
        expected = count * WORK_NS
        judge_about(recorded, function, expected, count * (11e6 if clock == "cpu-timer" else 6e6))
    assert recorded.lost_count == 0


def test_a_clock_that_worked_before_is_not_taken_for_granted(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """The first image finds that perf events tick and tells the next one so. That one may not open any."""
    program = compiled("refuse_events.c")
    recorded = record([program, program])
    if recorded.outcome.status == 3:
        pytest.skip("this system has no seccomp filters")
    clocks = [(event.clock, event.detail) for event in events(recorded.path) if event.kind is Kind.PMCALLOCATE and event.name == "cpu"]
    assert [clock for clock, _ in clocks] == ["sigtrap", "cpu-timer"] or clocks[0][0] != "sigtrap", clocks
    assert "sigtrap: Permission denied" in clocks[-1][1]
    judge_about(recorded, "spend", recorded.outcome.truth["spend"], 0.03 * 200e6 + 8e6)


@pytest.mark.parametrize("clock", RUNGS)
def test_a_bare_thread_is_recorded(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """A thread made by clone alone, which no library knows: the inherited event finds it, per-thread clocks cannot."""
    rung_works(clock)
    if clock != "sigtrap":
        pytest.skip("only an inherited event reaches a thread that nobody announces")
    recorded = record([compiled("process_games.c"), "bare_clone"], clock=clock)
    judge_at_least(recorded, "bare_part", LEAST_NS)


@planned(lambda compiled, how, way: plan(compiled("bare_calls.c"), how, way))
@pytest.mark.parametrize("how, way", [("libc", "work"), *((how, way) for how in ("clone", "clone3") for way in ("thread", "dlopen", "fork"))])
def test_a_bare_copy_is_recorded_from_its_first_call(unharmed_case: Callable[[], Recorded], how: str, way: str) -> None:
    """A process that no hook saw begin is known when it makes a thread, loads a library or forks: all its work comes after that."""
    recorded = unharmed_case()
    judge_at_least(recorded, "work_in_child", LEAST_NS)
    assert recorded.lost_count == 0


@planned(lambda compiled, how, way: plan(compiled("bare_calls.c"), how, way))
@pytest.mark.parametrize("how, way", [(how, way) for how in ("clone", "clone3") for way in ("work", "exit")])
def test_a_bare_copy_is_accounted_at_its_end(unharmed_case: Callable[[], Recorded], how: str, way: str) -> None:
    """Where it does nothing that could be seen, its end tells that it was there, and its CPU time."""
    recorded = unharmed_case()
    parent, child = sorted(recorded.profile.processes, key=lambda process: process.parent_pid == recorded.profile.processes[0].pid)
    assert child.parent_pid == parent.pid
    judge(child.before_ns >= LEAST_NS, f"{child.before_ns / 1e6:.2f} ms before recording began")
    assert "processes made by a bare system call (clone) were not sampled" in recorded.outcome.stderr


def test_a_bare_copy_that_leaves_no_trace_is_seen(unharmed: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = unharmed([compiled("bare_calls.c"), "clone", "bare_exit"], options=["-S", "0.01"])
    assert [one.reason for one in recorded.profile.unrecorded] == ["the recorder did not start in it"]
    assert "1 process was not recorded" in recorded.outcome.stderr


def test_a_program_that_a_bare_copy_becomes(unharmed: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    program = compiled("process_games.c")  # without a case it only ends
    for way in ("exec", "bare_exec"):
        recorded = unharmed([compiled("bare_calls.c"), "clone", way, program])
        assert str(program) in {process.executable for process in recorded.profile.processes}, way


@pytest.mark.parametrize(("type", "clock"), with_clocks(["deferred", "async"]))
def test_threads_cancelled_at_birth(
    unharmed: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, type: str
) -> None:
    """However early a thread is cancelled, it ends in order, outside our own code, and its time is told."""
    rung_works(clock)
    count = 2000
    recorded = unharmed([compiled("cancelled_threads.c"), count, type], clock=clock)
    assert recorded.outcome.truth["cancelled"] == count
    (process,) = recorded.profile.processes
    assert process.is_closed
    assert len(recorded.profile.threads) == count + 1
    assert all(thread.user_ns is not None for thread in recorded.profile.threads)
    assert recorded.lost_count == 0 and "plugin" not in recorded.outcome.stderr
    accounts_ns = sum((thread.user_ns or 0) + (thread.system_ns or 0) for thread in recorded.profile.threads)
    judge_total(recorded, accounts_ns, share=0.02, slack_ns=10e6)


def test_parent_stays_the_parent(unharmed: Callable[..., Recorded]) -> None:
    """A program that asks who its parent is, and what its children are, finds no stranger."""
    script = "import os, pathlib; p = pathlib.Path(f'/proc/{os.getpid()}/task/{os.getpid()}/children'); print(repr(p.read_text()), len(os.listdir('/proc/self/task')))"
    unharmed([sys.executable, "-c", script])


@pytest.mark.parametrize("follow", ["off", "=^sleep$"])
def test_background_jobs_without_following(record: Callable[..., Recorded], follow: str) -> None:
    script = "for i in 1 2 3 4; do (exit $i) & done; sleep 0.05 & x=$(echo in a subshell); wait; export A=b; env | grep -c '^A=b$'; unset LD_PRELOAD; echo \"$x done\""
    recorded = record(["bash", "-c", script], options=["-F", follow])
    assert (recorded.outcome.status, recorded.outcome.stdout, recorded.outcome.own_stderr) == (0, "1\nin a subshell done\n", "")
    programs = {os.path.basename(process.executable) for process in recorded.profile.processes}
    assert programs == ({"bash"} if follow == "off" else {"bash", "sleep"})


@pytest.mark.parametrize("follow", ["on", "off"])
def test_clean_environment_of_a_child(record: Callable[..., Recorded], compiled: Callable[..., Path], follow: str) -> None:
    """env -i removes everything; with -F on the child is recorded even so, and sees only what it was given."""
    program = compiled("process_games.c")
    recorded = record(["bash", "-c", f"env -i '{program}' image; env -i env"], options=["-F", follow])
    lines = recorded.outcome.stdout.splitlines()
    assert lines[0].startswith("the image was here")
    own = [line for line in lines[1:] if not line.startswith(("LD_PRELOAD=", "COLLECTOR_", "ASAN_OPTIONS="))]
    assert own == []
    assert (recorded.inclusive_ns("work_in_image") > LEAST_NS) == (follow == "on")


def test_own_preload_is_kept(unharmed: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """A library of the user's own in LD_PRELOAD still takes calls away from the C library."""
    library = compiled("preloaded_answer.c", "-O2", "-shared", "-fPIC", name="libanswer.so")
    recorded = unharmed(["bash", "-c", "exec date +%Y"], environment={"LD_PRELOAD": str(library)})
    assert recorded.outcome.stdout == "1970\n"


def test_jemalloc(unharmed: Callable[..., Recorded]) -> None:
    library = next((path for path in map(Path, JEMALLOC_PLACES) if path.exists()), None)
    if library is None:
        pytest.skip("libjemalloc2 is not installed")
    script = "import threading; threads = [threading.Thread(target=lambda: [bytes(n) for n in range(10000)]) for _ in range(4)]; [t.start() for t in threads]; [t.join() for t in threads]; print('done')"
    unharmed([sys.executable, "-c", script], environment={"LD_PRELOAD": str(library)})


JEMALLOC_PLACES = ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2", "/usr/lib64/libjemalloc.so.2")


def test_static_child(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """A static program ignores the preload: it runs as ever, the rest is recorded."""
    static = compiled("split_cpu.c", "-O2", "-static", name="static_child")
    recorded = record(["bash", "-c", f"'{static}' 50 | tail -n 1 | cut -d' ' -f1"])
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "process\n")
    assert "static_child" not in {os.path.basename(process.executable) for process in recorded.profile.processes}


@planned(lambda compiled, clock, sanitizer: plan(compiled("sanitized.c", "-O1", f"-fsanitize={sanitizer}"), clock=clock))
@pytest.mark.parametrize(("sanitizer", "clock"), with_clocks(["address", "thread", "undefined"]))
def test_sanitizers(unharmed_case: Callable[[], Recorded], clock: str, sanitizer: str) -> None:
    recorded = unharmed_case()
    assert recorded.outcome.stdout.startswith("sum ")
    assert recorded.sample_count > 10


@planned(lambda compiled, clock: plan(compiled("sanitized_signals.c", "-O1", "-fsanitize=thread", "-pthread", "-lrt"), clock=clock))
@pytest.mark.parametrize("clock", RUNGS)
def test_thread_sanitizer_and_handlers(unharmed_case: Callable[[], Recorded], clock: str) -> None:
    """ThreadSanitizer keeps signals back until its runtime holds no lock; a tick on top of that runtime must not have it think so."""
    recorded = unharmed_case()
    assert recorded.outcome.stdout == "handled 1, all 1\n"
    assert recorded.sample_count > 10


def test_sanitizer_still_reports(unharmed: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """An error that AddressSanitizer finds is found under recording as well, and nothing of ours is reported."""
    program = compiled("sanitized.c", "-O1", "-fsanitize=address")
    recorded = record_status(unharmed, program)
    assert recorded.status != 0


def record_status(unharmed: Callable[..., Recorded], program: Path) -> Outcome:
    plain = execute([program, "overrun"])
    recorded = execute(collector_command("record", "-o", program.parent / "overrun.expt", "--", program, "overrun"))
    summary = [line for line in plain.stderr.splitlines() if line.startswith("SUMMARY")]
    assert summary
    assert [line for line in recorded.own_stderr.splitlines() if line.startswith("SUMMARY")] == summary
    assert recorded.status == plain.status
    return recorded


@pytest.mark.parametrize("command", ("ASAN_OPTIONS=detect_leaks=0 {}", "ASAN_OPTIONS= exec {}", "exec env -i {}", "unset ASAN_OPTIONS; {}"))
def test_sanitized_below_others(unharmed: Callable[..., Recorded], compiled: Callable[..., Path], command: str) -> None:
    """AddressSanitizer starts behind the recorder whatever its options are by then."""
    program = compiled("sanitized.c", "-O1", "-fsanitize=address")
    recorded = unharmed(["sh", "-c", command.format(program)], options=["-p", "hi"])
    assert recorded.outcome.stdout.startswith("sum ")
    assert recorded.sample_count > 10


@pytest.mark.parametrize("clock", RUNGS)
def test_many_short_threads(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """Thousands of threads that do next to nothing leave nothing behind: no timers, no memory, no end of time."""
    rung_works(clock)
    count = 60000 if IS_THOROUGH else 4000
    program = compiled("short_threads.c")
    plain = execute([program, count])
    recorded = record([program, count], clock=clock)
    assert recorded.outcome.status == 0
    assert recorded.outcome.truth["threads"] == count
    grown = recorded.outcome.truth["peak_kib"] - plain.truth["peak_kib"]
    assert grown <= 32 << 10, f"{grown} KiB more than without recording"
    assert recorded.lost_count == 0
    assert len(aggregate.threads(recorded.profile)) == count + 1
    log_bytes = sum(file.stat().st_blocks * 512 for file in recorded.path.iterdir())
    assert log_bytes <= 400 * count + (1 << 20)
    used_ns = recorded.outcome.usage_ns  # the launcher's included
    judge(used_ns <= 5 * plain.usage_ns + count * 100_000, f"{used_ns / 1e6:.1f} ms of CPU time, {plain.usage_ns / 1e6:.1f} plain")


def test_relatives_outlive_the_root(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """The program's own end is the end of the command; a child that lives on is recorded to its end."""
    program = compiled("process_games.c")
    recorded = record(["bash", "-c", f"('{program}' fork >&2; echo end >&2) 2>\"$0\" & echo root", "/dev/null"])
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "root\n")


def _enter_pid_namespace() -> list[str]:
    enter = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system does not let us make PID namespaces")
    return enter


def test_one_in_a_namespace_outlives_the_command(record: Callable[..., Recorded], tmp_path: Path) -> None:
    """Its log must not be cut while it writes there, for it would die of that, and readers know that it runs."""
    ready, go, status = (tmp_path / name for name in ("ready", "go", "status"))
    for fifo in (ready, go, status):
        os.mkfifo(fifo)
    inside = f"{shlex.join(_enter_pid_namespace())} sh -c 'echo > {ready}; read line < {go}; exit 7'"
    recorded = record(["sh", "-c", f"({inside}; echo $? > {status}) > /dev/null 2>&1 & read line < {ready}"])
    assert [process.is_running for process in recorded.profile.processes if process.pid == 1] == [False, True]
    go.write_text("go\n")
    assert status.read_text() == "7\n"
    assert "processes are still running and being recorded" in recorded.outcome.stderr


def test_threads_of_a_process_whose_number_is_half_an_address(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """0x7fff is the upper half of each library's addresses where they are not randomised: what is found by its number is not found there."""
    if not shutil.which("setarch"):
        pytest.skip("this system has no setarch")
    choose_and_run = f"echo {0x7FFF - 1} > /proc/sys/kernel/ns_last_pid || exit 3; setarch -R {compiled('uneven_threads.c')} 3 30; exit"
    recorded = record([*_enter_pid_namespace(), "sh", "-c", choose_and_run])
    if recorded.outcome.status == 3:
        pytest.skip("this system does not let us choose the next process number")
    assert [process.pid for process in recorded.profile.processes if process.arguments[1:] == ("3", "30")] == [0x7FFF]
    assert recorded.lost_count == 0, recorded.outcome.stderr


def test_processes_that_have_one_number(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """What an image begins with that does not follow an exec was used by its own process, the dynamic linker as a rule."""
    recorded = record([*_enter_pid_namespace(), compiled("same_number.c")])
    if recorded.outcome.status == 3:
        pytest.skip("this system does not let us choose the next process number")
    assert set(recorded.outcome.truth.values()) == {0}
    images = [process for process in recorded.profile.processes if process.pid == 100]
    assert [process.first_image for process in images] == [0, 1, 2, 3, 3, 5, 6]
    assert min(process.unrecorded_ns for process in images if process.arguments[1:] == ("spawned",)) > 0
    assert " in 8 processes (10 program images)" in recorded.outcome.stderr  # the first of the namespace, and unshare itself, fork as well
    assert " of 8 processes (10 program images)" in overview.render(recorded.profile, None, Style(200))
    judge_about(recorded, "work_in_child", 5 * 30e6, 0.03 * 5 * 30e6 + 5 * 3e6)
