"""test_outcome -- the closing sentences, from totals that stand for what can come of a recording"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collector.cli.recording.outcome import tell_outcome
from collector.experiment.totals import Clock, Totals

SIGTRAP = Clock("sigtrap", 1_003_009, 1_003_009)


@pytest.fixture(autouse=True)
def work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xz.1.expt").mkdir()


def tell(totals: Totals, live: tuple[int, ...] = (), is_clock_off: bool = False) -> list[str]:
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz", totals, list(live), is_clock_off)
    assert outcome.has_recorded
    return list(outcome.sentences)


def test_all_went_well() -> None:
    totals = Totals(log_count=1, process_count=1, closed_count=1, sample_count=2310, cpu_ns=2_316_000_000, clock=SIGTRAP)
    assert tell(totals) == [
        "xz.1.expt: 2,310 samples of 2.316 s CPU time in 1 process, clock sigtrap at 997 Hz, nothing lost"
    ]


def test_a_slower_clock_than_asked_for_is_told() -> None:
    clock = Clock("cpu-timer", 1_003_009, 4_000_000)
    totals = Totals(log_count=3, process_count=2, closed_count=3, sample_count=1, cpu_ns=4_000_000, clock=clock)
    assert tell(totals) == [
        "xz.1.expt: 1 sample of 0.004 s CPU time in 2 processes, clock cpu-timer at 250 Hz"
        " (997 Hz is more than it can deliver here), nothing lost"
    ]


def test_losses_by_cause() -> None:
    totals = Totals(log_count=2, process_count=2, closed_count=1, sample_count=5, drops=Counter({1: 3, 2: 1200}), clock=SIGTRAP)
    assert tell(totals)[0].endswith(
        "3 lost while the recorder was busy, 1,200 lost because the disk was full, 1 log not closed in order"
    )


def test_a_recording_that_was_off() -> None:
    totals = Totals(log_count=1, process_count=1, closed_count=1, cpu_ns=600_000_000, clock=SIGTRAP)
    assert tell(totals)[1] == (
        "no sample was taken in 0.600 s of CPU time: recording was off (see -y and -t), or the program paused it"
    )


def test_never_sampled() -> None:
    totals = Totals(log_count=1, process_count=1, closed_count=1, cpu_ns=800_000, clock=SIGTRAP)
    assert tell(totals)[1] == "no sample was taken: 0.800 ms of CPU time against one sample every 1.003 ms (see -p)"


def test_no_clock_wanted() -> None:
    totals = Totals(log_count=1, process_count=1, closed_count=1)
    assert tell(totals, is_clock_off=True) == ["xz.1.expt: recorded without a clock in 1 process, nothing lost"]


def test_still_running() -> None:
    totals = Totals(log_count=1, process_count=1, sample_count=7, clock=SIGTRAP)
    assert tell(totals, live=(41,))[-1] == "1 process is still running and being recorded (pid 41)"
    assert tell(totals, live=(1, 2, 3, 4, 5, 6))[-1] == "6 processes are still running and being recorded (pids 1, 2, 3, 4, 5, ...)"


def test_warnings_are_told_once() -> None:
    totals = Totals(log_count=1, process_count=1, closed_count=1, sample_count=7, clock=SIGTRAP, warnings=["odd", "odd"])
    assert tell(totals)[1:] == ["odd"]


def test_nothing_recorded() -> None:
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz", Totals(), [], False)
    assert not outcome.has_recorded
    assert outcome.sentences[0].startswith("nothing was recorded: the recorder did not start in xz")


def test_nothing_recorded_and_the_experiment_has_gone() -> None:
    outcome = tell_outcome("/nosuch/a.expt", "xz", Totals(), [], False)
    assert outcome.sentences == ("nothing was recorded: /nosuch/a.expt has gone",)
