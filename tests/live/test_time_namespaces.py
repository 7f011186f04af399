"""test_time_namespaces -- a process whose clocks were set ahead or back has its times where they belong, beside those of all others"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import Outcome, Recorded, collector_command, execute

from collector.experiment.log_outline import read_beginning
from collector.experiment.log_reader import EventReader
from collector.load import open_experiment

Record = Callable[..., Recorded]
SPIN = "end = time.process_time() + 0.05\nwhile time.process_time() < end: pass\n"
BEGIN = "import os, sys, time\n" + SPIN
ENTER = [sys.executable, "-c", f"""
import ctypes, os, sys
if ctypes.CDLL(None).unshare(0x80): sys.exit(77)
with open("/proc/self/timens_offsets", "w") as offsets: offsets.write(sys.argv[1])
if os.fork(): sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
import time
{SPIN}
with open("/proc/self/stat") as stat: print(stat.read().rpartition(")")[2].split()[19], flush=True)
os.execv(sys.executable, [sys.executable, "-c", {BEGIN!r}])
"""]  # fmt: skip


@pytest.fixture(autouse=True)
def needs_time_namespaces() -> None:
    try:
        probe = subprocess.run(["unshare", "-T", "true"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("util-linux's unshare is not here")
    if probe.returncode:
        pytest.skip("this system grants no time namespaces")


def judge_times(path: Path) -> None:
    """All processes lie within the run, and the run took as long as the launcher says."""
    profile = open_experiment(path).profile
    (recording,) = profile.recordings
    begun, ended = launch_times(path)
    assert len({process.identity for process in profile.processes}) == 2 and len(profile.processes) == 3
    assert begun == recording.start_ns
    assert all(begun <= process.start_ns <= (process.end_ns or 0) <= ended for process in profile.processes)


def launch_times(path: Path) -> tuple[int, int]:
    times = [event.time for event in EventReader(path / "launch.log")]
    return times[0], times[-1]


@pytest.mark.parametrize("offset", ["monotonic 100000000 0", "monotonic -20 0", "boottime 100000 0"])
def test_times_and_births_are_the_launchers(record: Record, offset: str) -> None:
    recorded = record([*ENTER, offset])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    judge_times(recorded.path)
    # By its own /proc the child began 100,000 s later, where the boot was set back by so much.
    ahead_ticks = 10_000_000 if "boottime" in offset else 0
    births = {read_beginning(str(log))["start_ticks"] for log in recorded.path.glob("*.1.log")}
    assert births == {int(recorded.outcome.stdout) - ahead_ticks}


def test_a_launcher_in_a_time_namespace(recorder: Path, tmp_path: Path) -> None:
    command = collector_command("record", "-o", tmp_path / "a.expt", *ENTER, "monotonic 100 0")
    outcome: Outcome = execute(["unshare", "-T", "--monotonic=5000", "--boottime=7000", *command])
    assert outcome.status == 0, outcome.stderr
    judge_times(tmp_path / "a.expt")
