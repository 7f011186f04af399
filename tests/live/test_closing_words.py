"""test_closing_words -- what `collector record` says at its end, and the overview beside it, are what happened"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import Outcome, collector_command, execute, judge

SPIN = "import sys, time, os\nend = time.process_time() + float(sys.argv[1])\nwhile time.process_time() < end: pass\n"
SPIN_AND_DIE = SPIN + "os.kill(os.getpid(), int(sys.argv[2]))"
SAMPLES = re.compile(r": ([\d,]+) samples? of ")


@pytest.fixture(autouse=True)
def work_in(recorder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: object) -> Outcome:
    return execute(collector_command("record", "-o", "a.expt", *words))


def sentences(outcome: Outcome) -> list[str]:
    return [line.removeprefix("collector: ") for line in outcome.stderr.splitlines() if line.startswith("collector: ")]


def overview(experiment: object = "a.expt") -> dict[str, str]:
    """The lines of the overview by their first word, each on one line."""
    text = execute(collector_command("report", experiment, "overview", "--width", 400)).stdout
    return {word: meaning for line in text.splitlines() if line.startswith("  ") for word, _, meaning in [line.strip().partition("  ")] if meaning}


def test_processes_and_images_are_counted_alike() -> None:
    outcome = run("sh", "-c", "(exec true); (exec env true); (:); exec true")
    told = re.search(r" in (\d+ process.*? \(\d+ program images\)), ", sentences(outcome)[0])
    assert told, outcome.stderr
    # Of the four processes three ran another program, and one of them a third.
    assert told[1] == "4 processes (8 program images)"
    assert overview()["Samples"].strip().endswith(f" of {told[1]}")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_program_killed_by_a_signal(number: signal.Signals) -> None:
    outcome = run("-F", "off", os.path.realpath(sys.executable), "-c", SPIN_AND_DIE, 0.1, int(number))
    words = f"killed by signal {int(number)} ({number.name})"
    assert sentences(outcome)[0].endswith(f", {words}, no losses known"), outcome.stderr
    seen = overview()
    assert seen["Ended"].strip() == words
    assert seen["Lost"].strip() == "none known; 1 log not closed"
    count = SAMPLES.search(sentences(outcome)[0])
    assert count and seen["Samples"].strip().startswith(f"{count[1]} in 1 thread of 1 process")


def test_another_process_that_was_killed() -> None:
    python = os.path.realpath(sys.executable)
    outcome = run(python, "-c", f"import subprocess\nsubprocess.run([{python!r}, '-c', {SPIN_AND_DIE!r}, '0.05', '9'])")
    assert sentences(outcome)[0].endswith(", 1 log not closed, because its process was killed or exited abruptly")


OTHER_USER = """
import ctypes, os, time
ctypes.CDLL(None).syscall(117, 65534, 65534, 65534)
if os.fork() == 0: os._exit(0)
os.wait()
"""


def test_a_child_that_can_make_no_log() -> None:
    """It is another user, for setresuid was called of one thread alone, past the C library."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    os.chmod(".", 0o755)
    outcome = run(os.path.realpath(sys.executable), "-c", OTHER_USER)
    assert ", 1 log missing" in sentences(outcome)[0], outcome.stderr
    assert "no log could be made: permission denied" in sentences(outcome)[-1] and "1 process was not recorded: " in sentences(outcome)[-1]
    assert overview()["Lost"].strip() == "1 log missing"


COMPUTE = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"


def test_a_command_that_deletes_its_log() -> None:
    """And the launcher's; a child of fork names its parent."""
    outcome = run("bash", "-c", f'rm "$COLLECTOR_EXPERIMENT"/*.log; {COMPUTE}; ({COMPUTE})')
    assert outcome.status == 0 and sentences(outcome)[0].endswith(", 1 log missing"), outcome.stderr
    assert sentences(outcome)[-1].endswith("bash: its log was deleted")
    seen = overview()
    assert seen["Lost"].strip() == "1 log missing" and seen["Unrecorded"].strip().startswith("1 process: its log was deleted")
    assert " s that the kernel charged to the command; missing: " in seen["Coverage"]


def test_a_paused_run() -> None:
    outcome = run("-F", "off", "-y", "USR1", os.path.realpath(sys.executable), "-c", SPIN, 0.1)
    first, second = sentences(outcome)[:2]
    assert re.search(r", recording paused for [\d.]+ s \((9\d\.\d|100\.0) % of the run\), nothing lost while it was on$", first)
    assert second.endswith(" s of CPU time: recording was paused (see -y and -t)")
    assert overview()["Paused"].strip().startswith("1 time, for ")


def test_a_window_is_a_pause_on_either_side() -> None:
    outcome = run("-F", "off", "-t", "0.1-0.2", os.path.realpath(sys.executable), "-c", SPIN, 0.4)
    told = re.search(r", recording paused for ([\d.]+) s \(", sentences(outcome)[0])
    assert told, outcome.stderr
    seen = re.fullmatch(r"(\d) times?, for ([\d.]+) s .*", overview()["Paused"].strip())
    assert seen and abs(float(seen[2]) - float(told[1])) <= 0.001
    judge(seen[1] == "2", f"paused {seen[0]}: one pause if the program began after 0.2 s")


@pytest.mark.parametrize("script", ["true", "sleep 30 >/dev/null 2>&1 & echo $!", "i=0; while [ $i -lt 60 ]; do i=$((i+1)); (:); done"])
def test_what_is_too_short_for_a_sample_was_not_off(script: str) -> None:
    """At one sample each 10 s, however long a busy machine makes them."""
    outcome = run("-p", "10000m", "sh", "-c", script)
    if outcome.stdout:
        os.kill(int(outcome.stdout), signal.SIGKILL)
    first, second = sentences(outcome)[:2]
    assert "paused" not in outcome.stderr and "off" not in outcome.stderr
    assert first.endswith(", nothing lost")
    assert re.match(r"no sample was taken: .* of CPU time against one sample every 10000.000 ms \(see -p\)$", second)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for the beginning of a few logs."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system to fill")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"this system does not let us mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


FILL = """
try:
    with open(sys.argv[3], "wb", buffering=0) as filler:
        while filler.write(bytes(4096)): pass
except OSError:
    pass
"""


@pytest.mark.parametrize("number", [9, 0])
def test_samples_on_a_full_disk_are_counted(small_disk: Path, number: int, record: Callable) -> None:  # type: ignore[type-arg]
    script = SPIN + FILL + SPIN_AND_DIE
    command = [os.path.realpath(sys.executable), "-c", script, 0.4, number, small_disk / "filler"]
    recorded = record(command, ["-F", "off", "-p", "hi"], experiment=small_disk / "a.expt")
    told = SAMPLES.search(recorded.outcome.stderr)
    judge(recorded.sample_count >= 100, recorded.outcome.stderr)
    assert told and int(told[1].replace(",", "")) == recorded.sample_count, recorded.outcome.stderr
    known = "killed by signal 9 (SIGKILL), losses unknown because the disk is full" if number else "because the disk "
    judge(known in recorded.outcome.stderr and "nothing lost" not in recorded.outcome.stderr, recorded.outcome.stderr)  # of few samples all may have had room


@pytest.mark.parametrize("status", [0, 5])
def test_an_experiment_that_the_program_removes(status: int) -> None:
    outcome = run("sh", "-c", f"while [ -e a.expt ]; do rm -rf a.expt; done; exit {status}")  # others write into it meanwhile
    assert sentences(outcome) == ["a.expt: the experiment was removed while it was recorded: nothing is left of it"]
    assert outcome.status == (status or 1) and not os.path.exists("a.expt")
