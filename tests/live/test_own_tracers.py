"""test_own_tracers -- debuggers and tracers see the program and not the recorder; what they cost the recording is told"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ahead import plan, planned
from recorded import IS_THOROUGH, RUNGS, Recorded, clean_environment, collector_command, execute, judge, with_clocks

from collector.experiment import events
from collector.experiment.log_reader import EventReader

PAUSED = "recording was paused while"


def need(program: str) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def start_recorded(path: Path, clock: str, *command: object) -> tuple[subprocess.Popen[str], int]:
    """Start a program under `collector record` and give it with the pid of the program, which has printed a line and so is recorded."""
    launcher = subprocess.Popen(
        [str(word) for word in collector_command("record", "--clock", clock, "-o", path, "--", *command)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(),
    )
    assert launcher.stdout is not None
    return launcher, int(launcher.stdout.readline())


# Works until it is told to end, having said who it is.
BUSY = """
import os, signal, sys
ends = []
signal.signal(signal.SIGUSR1, lambda *_: ends.append(1))
print(os.getpid(), flush=True)
while not ends:
    sum(range(1000))
print("done")
"""


# The same beside eight threads; hashlib does not hold the interpreter's lock.
BUSY_THREADS = f"""
import hashlib, threading
def work():
    while True:
        hashlib.sha256(bytes(1 << 20))
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
{BUSY}"""

# Sends SIGUSR2 to a process that has used a quarter of a second of CPU time more.
REMIND = f"""{sys.executable} -c 'import os, sys, time
def used(): return sum(map(int, open("/proc/" + sys.argv[1] + "/stat").read().rpartition(")")[2].split()[11:13]))
end = used() + os.sysconf("SC_CLK_TCK") // 4
while used() < end: time.sleep(0.01)
os.kill(int(sys.argv[1]), 12)'"""


PROGRAMS = {"one thread": BUSY, "threads": BUSY_THREADS}
ATTACHED = [("one thread", "sigtrap"), ("threads", "task-clock"), ("one thread", "cpu-timer"), *([("one thread", "task-clock"), ("threads", "cpu-timer")] if IS_THOROUGH else [])]


def attach_strace(pid: int, output: Path) -> subprocess.Popen[bytes]:
    """strace of the process, once it traces it or has ended because it may not."""
    tracer = subprocess.Popen(["strace", "-q", "-o", output, "-p", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{pid}/status")
    while tracer.poll() is None and "\nTracerPid:\t0\n" in status.read_text():
        time.sleep(0.01)
    return tracer


@pytest.mark.parametrize("clock", RUNGS)
def test_strace_comes_and_goes(tmp_path: Path, recorder: Path, rung_works: Callable[[str], None], clock: str) -> None:
    """strace -p is shown a handful of ticks, not all; the program is unharmed, and the report says what is missing."""
    rung_works(clock)
    need("strace")
    launcher, pid = start_recorded(tmp_path / "e.expt", clock, sys.executable, "-c", BUSY)
    time.sleep(0.3)  # the recorder has looked when the program began, and does so ten times a second at most
    trace = tmp_path / "trace"
    tracer = attach_strace(pid, trace)
    let_use(pid, 500e6, tracer)
    is_attached = tracer.poll() is None
    tracer.terminate()
    tracer.wait()
    os.kill(pid, 10)
    output, errors = launcher.communicate(timeout=60)
    if not is_attached:
        pytest.skip("this system does not let strace attach")
    ticks = len(re.findall(r"^--- SIG(?:TRAP|VTALRM)", trace.read_text(), re.MULTILINE))
    assert (launcher.returncode, output) == (0, "done\n"), errors
    assert f"{PAUSED} strace traced the program" in errors
    assert ticks <= 120, "a tenth of a second of them at most"


def used_ns(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e9 / os.sysconf("SC_CLK_TCK")


def let_use(pid: int, cpu_ns: float, tracer: subprocess.Popen[bytes] | None = None) -> None:
    """Until the process has used so much more CPU time, or its tracer has ended."""
    end_ns = used_ns(pid) + cpu_ns
    while used_ns(pid) < end_ns and (tracer is None or tracer.poll() is None):
        time.sleep(0.02)


@pytest.mark.parametrize("has_event", [True, False])
def test_recording_goes_on_when_the_tracer_has_gone(tmp_path: Path, recorder: Path, rung_works: Callable[[str], None], compiled: Callable[..., Path], has_event: bool) -> None:
    """Also where the clock did without its event before, because threads are switched all the time: the next tick is the event's."""
    rung_works("sigtrap")
    need("strace")
    command = (sys.executable, "-c", BUSY) if has_event else (compiled("processes_in_turns.c"), 20_000, 0, "tell")
    launcher, pid = start_recorded(tmp_path / "e.expt", "sigtrap", *command)
    let_use(pid, 150e6)
    tracer = attach_strace(pid, Path("/dev/null"))
    let_use(pid, 300e6, tracer)  # it is looked for ten times a second, at ticks: what is stopped at each call is mostly in the kernel, where few ticks are
    assert tracer.poll() is None
    tracer.terminate()
    tracer.wait()
    middle_ns = used_ns(pid)
    let_use(pid, 600e6)
    os.kill(pid, 10)
    _, errors = launcher.communicate(timeout=60)
    assert PAUSED in errors
    recorded = Recorded(execute(["true"]), tmp_path / "e.expt")
    assert [pause.cause for pause in recorded.profile.pauses] == ["tracer"]
    assert any(isinstance(event, events.Resume) for event in EventReader(tmp_path / "e.expt" / f"{pid}.0.log"))
    judge(recorded.total_ns >= middle_ns / 4 + 300e6, f"{recorded.total_ns / 1e6:.2f} ms in samples")


@planned(lambda compiled, clock: plan(compiled("traced_child.c"), clock=clock))
@pytest.mark.parametrize("clock", RUNGS)
def test_programs_that_have_themselves_traced(unharmed_case: Callable[[], Recorded], clock: str) -> None:
    """A child that calls PTRACE_TRACEME stops as often as without us."""
    recorded = unharmed_case()
    assert recorded.outcome.stdout.startswith("stops 1\n")


@pytest.mark.parametrize(("follows", "clock"), with_clocks(["strace", "strace -f"]))
def test_recording_a_tracer(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, follows: str) -> None:
    """A tracer that is recorded with what it traces shows the signals that it shows natively."""
    rung_works(clock)
    need("strace")
    command = [*follows.split(), "-qq", "-e", "trace=none", compiled("process_games.c"), "fork"]
    plain, recorded = execute(command), record(command, clock=clock).outcome
    assert recorded.status == plain.status
    assert re.findall("^--- SIG[A-Z]+", recorded.own_stderr, re.MULTILINE) == re.findall("^--- SIG[A-Z]+", plain.stderr, re.MULTILINE)


@pytest.mark.parametrize("clock", RUNGS)
def test_recording_a_debugger(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str) -> None:
    rung_works(clock)
    need("gdb")
    command = ["gdb", "-nx", "-q", "-batch", "-ex", "run", "--args", compiled("split_cpu.c"), 100]
    recorded = record(command, clock=clock)
    assert recorded.outcome.status == 0
    assert "exited normally" in recorded.outcome.stdout and "received signal" not in recorded.outcome.stdout


def test_a_debugger_around_the_recording(tmp_path: Path, recorder: Path, compiled: Callable[..., Path]) -> None:
    need("strace")
    words = collector_command("record", "-o", tmp_path / "e.expt", "--", compiled("split_cpu.c"), 100)
    done = execute(["strace", "-f", "-qq", "-e", "trace=none", "-o", tmp_path / "trace", *words])
    assert done.status == 0
    assert not re.search("SIGTRAP|SIGVTALRM", (tmp_path / "trace").read_text())
    assert "no sample was taken" in done.stderr


@pytest.mark.parametrize(("program", "clock"), [(PROGRAMS[kind], clock) for kind, clock in ATTACHED], ids=map(" ".join, ATTACHED))
def test_gdb_attaches(tmp_path: Path, recorder: Path, rung_works: Callable[[str], None], program: str, clock: str) -> None:
    """gdb, which stops as it attaches, stops again at no signal of ours: it passes on SIGVTALRM, and the launcher has switched the sigtrap event off by the
    time it lets the program go on.

    Of many threads one may be about to raise SIGTRAP as gdb attaches to it. A thorough run has each of the two programs on both clocks that signal a thread.
    """
    rung_works(clock)
    need("gdb")
    launcher, pid = start_recorded(tmp_path / "e.expt", clock, sys.executable, "-c", program)
    breaks = ["-ex", "handle SIGUSR2 stop print nopass", "-ex", f"shell {REMIND} {pid} &", "-ex", "echo goes on\\n", "-ex", "continue"]
    done = execute(["gdb", "-nx", "-q", "-p", pid, "-batch", *breaks, "-ex", "detach"])
    os.kill(pid, 10)
    output, errors = launcher.communicate(timeout=60)
    if "Operation not permitted" in done.stderr:
        pytest.skip("this system does not let gdb attach")
    assert (launcher.returncode, output) == (0, "done\n"), errors
    # Where it attaches it says which signal was under way, if one was.
    assert re.findall(r"received signal (\S+),", done.stdout.partition("goes on\n")[2]) == ["SIGUSR2"]
