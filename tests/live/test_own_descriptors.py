"""test_own_descriptors -- the program may close, overwrite and use up descriptors, change directory and mask: it is recorded all the same"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded, collector_command, execute
from test_own_signals import cases

FULL = {"table_full", "full_from_start"}


@pytest.mark.parametrize("clock", RUNGS)
@pytest.mark.parametrize("case", cases("descriptor_games.c"))
def test_descriptors(
    unharmed: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, case: str
) -> None:
    rung_works(clock)
    recorded = unharmed([compiled("descriptor_games.c"), case], clock=clock)
    assert recorded.inclusive_ns("afterwards") >= 0.9 * 200e6 - (60e6 if case in FULL else 0), "it is recorded afterwards"
    assert recorded.lost_count == 0


@pytest.mark.parametrize("clock, most", [("sigtrap", 2), ("task-clock", 2), ("cpu-timer", 1)])
def test_descriptors_that_a_program_can_see(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], clock: str, most: int
) -> None:
    """A program that lists its descriptors finds those it opened, and at the far end of the table the clock's event and the lock of the metrics."""
    rung_works(clock)
    expected = execute(["ls", "/proc/self/fd"]).stdout.split()
    found = record(["ls", "/proc/self/fd"], clock=clock).outcome.stdout.split()
    ours = sorted(set(map(int, found)) - set(map(int, expected)))
    assert sorted(set(found) & set(expected)) == sorted(expected)
    assert len(ours) <= most
    assert all(number >= 256 for number in ours)


@pytest.mark.parametrize("name", ["with blank", "quote'quote\"", "new\nline", "$HOME;x", "b\\ack", "ünï", "100%d,a=b", "-dash"])
def test_odd_characters(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    program = place / "prog ram"
    shutil.copy(compiled("split_cpu.c"), program)
    recorded = record([program, 60], experiment=place / f"{name}.expt", directory_to_run_in=place)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert recorded.sample_count >= 20
    assert recorded.inclusive_ns("forty") > 0
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
    assert recorded.inclusive_ns("forty") > 0
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
    assert recorded.inclusive_ns("before_full") > 0
    # There may be no room even for the count of what was lost; then the log has no end, and that is said.
    assert recorded.lost_count > 0 or "not closed in order" in outcome.stderr


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
    assert recorded.inclusive_ns("before_full") > 0
    assert recorded.inclusive_ns("after_full") > 0.5 * outcome.truth["after_full"]
    assert recorded.lost_count > 0, "samples of the time between cannot all have found room"
