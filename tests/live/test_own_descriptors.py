"""test_own_descriptors -- the program may close, overwrite and use up descriptors, change directory and mask: it is recorded all the same"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ahead import plan, planned
from recorded import RUNGS, Recorded, collector_command, execute, judge, judge_at_least, with_clocks
from test_own_signals import cases

FULL = {"table_full", "full_from_start"}
AFTERWARDS_NS = 120e6
"""What `afterwards` of descriptor_games.c works."""


@planned(lambda compiled, clock, case: plan(compiled("descriptor_games.c"), case, clock=clock, options=["--metric-interval", "off"]))
@pytest.mark.parametrize(("case", "clock"), with_clocks(cases("descriptor_games.c")))
def test_descriptors(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    recorded = unharmed_case()
    afterwards_ns = recorded.inclusive_ns("afterwards")
    judge(afterwards_ns >= 0.9 * AFTERWARDS_NS - (60e6 if case in FULL else 0), f"it is recorded afterwards: {afterwards_ns / 1e6:.1f} ms of {AFTERWARDS_NS / 1e6:.0f}")
    assert recorded.lost_count == 0


@pytest.mark.slow_timer  # which notices that the event is gone
@planned(lambda compiled, clock, case: plan(compiled("descriptor_games.c"), case, clock=clock, direct=True))
@pytest.mark.parametrize("clock", ("sigtrap", "task-clock"))
@pytest.mark.parametrize("case", ["raw_overwritten", "overwritten", "close_loop", "raw_close_loop", "ranges", "raw_ranges", "from_three"])
def test_descriptors_without_a_launcher(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    """One is in the table, but hidden from whoever closes all, and what the program has put in its place is not closed."""
    recorded = unharmed_case()
    judge_at_least(recorded, "afterwards", 0.9 * AFTERWARDS_NS)
    assert recorded.lost_count == 0


@planned(lambda compiled, case: plan(compiled("descriptor_games.c"), case, options=["--counters", "page-faults,minor-faults"]))
@pytest.mark.parametrize("case", ["raw_overwritten", "close_loop", "raw_ranges"])
def test_descriptors_of_counters(unharmed_case: Callable[[], Recorded], case: str) -> None:
    """A group of counters has a descriptor, hidden like that of a clock without a launcher; nothing of the program's is read in its place."""
    recorded = unharmed_case()
    judge_at_least(recorded, "afterwards", 0.9 * AFTERWARDS_NS)
    assert recorded.lost_count == 0
    assert recorded.shown_metrics[4:] == ["page-faults", "minor-faults"]


@pytest.mark.parametrize("name", ["with blank", "quote'quote\"", "new\nline", "$HOME;x", "b\\ack", "ünï", "100%d,a=b", "-dash"])
def test_odd_characters(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    program = place / "prog ram"
    shutil.copy(compiled("split_cpu.c"), program)
    recorded = record([program, 60], experiment=place / f"{name}.expt", directory_to_run_in=place)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    judge(recorded.sample_count >= 20, f"{recorded.sample_count} samples")
    judge_at_least(recorded, "forty", 1)
    assert {module.path for module in recorded.profile.modules} >= {str(program)}


def test_umask_is_respected(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "u.expt"
    previous = os.umask(0o077)
    try:
        recorded = record([compiled("split_cpu.c"), 30], experiment=path)
    finally:
        os.umask(previous)
    assert recorded.sample_count > 0
    assert {file.stat().st_mode & 0o077 for file in [path, *path.iterdir()]} == {0}


def unprivileged() -> list[str]:
    """What runs a command as a user who owns nothing; skips where that cannot be."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("this runs as root, and setpriv is not there to change that")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--"]


@pytest.fixture
def everyones(recorder: Path, compiled: Callable[..., Path]) -> Iterator[Path]:
    """A directory in which everyone may write, with the recorder and a program that everyone may read."""
    place = Path("/tmp") / f"collector-everyone-{os.getpid()}"
    place.mkdir()
    place.chmod(0o777)
    shutil.copy(recorder, place / "libcollector.so")
    shutil.copy(compiled("split_cpu.c"), place / "split_cpu")
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("clock", RUNGS)
def test_without_privileges(rung_works: Callable[[str], None], everyones: Path, clock: str) -> None:
    rung_works(clock)
    path = everyones / "x.expt"
    preload = {"LD_PRELOAD": str(everyones / "libcollector.so"), "COLLECTOR_EXPERIMENT": str(path), "COLLECTOR_OPTIONS": f"clock={clock}"}
    # env, so that the recorder is not brought into setpriv, which may still do everything.
    words = [*unprivileged(), "env", *(f"{key}={value}" for key, value in preload.items()), everyones / "split_cpu", 100]
    outcome = execute(words)
    assert outcome.status == 0, outcome.stderr
    recorded = Recorded(outcome, path)
    if recorded.clocks != {clock}:
        pytest.skip(f"{clock} is only for the privileged here")
    judge_at_least(recorded, "forty", 1)
    shutil.rmtree(path)


def test_unwritable_place(compiled: Callable[..., Path], everyones: Path) -> None:
    """The program runs as ever; preloading into a place where nothing can be written changes nothing."""
    outcome = execute([
        *unprivileged(), "env", f"LD_PRELOAD={everyones / 'libcollector.so'}", "COLLECTOR_EXPERIMENT=/proc/no/x.expt", everyones / "split_cpu", 30,
    ])
    assert (outcome.status, outcome.stderr) == (0, "")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"a small disk needs the right to mount: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path) -> Path:
    """Write a file until there is no room left."""
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return filler


def test_full_disk(compiled: Callable[..., Path], recorder: Path, small_disk: Path) -> None:
    """The log grows into a full disk: the program does not notice, and the recording says what is lost."""
    path = small_disk / "x.expt"
    outcome = execute(collector_command("record", "-p", "hi", "-o", path, "--", compiled("full_disk_phases.c"), small_disk / "filler", "stay"))
    assert outcome.status == 0
    assert outcome.truth["after_full"] > 0
    recorded = Recorded(outcome, path)
    judge_at_least(recorded, "before_full", 1)
    # There may be no room even for the count of what was lost; then the log has no end, and that is said.
    assert recorded.lost_count > 0 or "not closed" in outcome.stderr


def test_disk_full_from_the_start(compiled: Callable[..., Path], recorder: Path, small_disk: Path) -> None:
    fill(small_disk)
    outcome = execute(collector_command("record", "-o", small_disk / "x.expt", "--", compiled("split_cpu.c"), 100))
    assert outcome.status != 0, "nothing was recorded, which is no success"
    assert "collector: " in outcome.stderr and "Traceback" not in outcome.stderr


def test_disk_full_for_a_while(compiled: Callable[..., Path], recorder: Path, small_disk: Path) -> None:
    """When there is room again, recording goes on; what was lost meanwhile is counted."""
    path = small_disk / "x.expt"
    command = collector_command("record", "-p", "hi", "-o", path, "--", compiled("full_disk_phases.c"), small_disk / "filler")
    outcome = execute(command)
    assert outcome.status == 0, outcome.stderr
    recorded = Recorded(outcome, path)
    judge_at_least(recorded, "before_full", 1)
    judge_at_least(recorded, "after_full", 0.5 * outcome.truth["after_full"])
    assert recorded.lost_count > 0, "samples of the time between cannot all have found room"


FORKS_WITHOUT_DESCRIPTORS = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (32, int(sys.argv[1])))
try:
    while True:
        os.dup(1)
except OSError:
    pass
for _ in range(3):
    if not (pid := os.fork()):
        os._exit(0)
    os.waitpid(pid, 0)
"""


@pytest.mark.parametrize("hard_limit", [64, 32])
def test_children_of_a_program_without_a_free_descriptor(record: Callable[..., Recorded], hard_limit: int) -> None:
    """They are recorded within the hard limit; where that is reached too, each is told of."""
    recorded = record([sys.executable, "-c", FORKS_WITHOUT_DESCRIPTORS, hard_limit])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    profile = recorded.profile
    assert len(profile.processes) + len(profile.unrecorded) == 4
    assert len(profile.unrecorded) == (3 if hard_limit == 32 else 0)
    assert all("no log could be made" in (one.reason or "") for one in profile.unrecorded)
