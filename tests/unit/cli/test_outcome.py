"""test_outcome -- the closing sentences, from totals that stand for what can come of a recording"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collector.capture.launch import Ending
from collector.cli.recording import outcome as outcome_module
from collector.cli.recording.outcome import tell_outcome
from collector.experiment.log_outline import DeclaredClock
from collector.experiment.origin import ProcessIdentity
from collector.experiment.totals import Totals

SIGTRAP = DeclaredClock("sigtrap", 1_062_699, 1_062_699)


@pytest.fixture(autouse=True)
def work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xz.1.expt").mkdir()


def totals_of(**values: object) -> Totals:
    totals = Totals()
    for name, value in values.items():
        assert hasattr(totals, name)
        setattr(totals, name, value)
    return totals


def tell(totals: Totals, live: tuple[int, ...] = (), is_clock_off: bool = False, status: int = 0) -> list[str]:
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz.1.expt", "xz", totals, {pid: pid for pid in live}, is_clock_off, Ending(7, status, 0))
    assert outcome.has_recorded
    return list(outcome.sentences)


def test_all_went_well() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, sample_count=2310, cpu_ns=2_316_000_000, clock=SIGTRAP)
    assert tell(totals) == [
        "xz.1.expt: 2,310 samples of 2.316 s CPU time in 1 process, clock sigtrap at 941 Hz, nothing lost"
    ]


def test_a_slower_clock_than_asked_for_is_told() -> None:
    clock = DeclaredClock("cpu-timer", 1_062_699, 4_000_000)
    totals = totals_of(log_count=2, process_count=2, closed_count=2, sample_count=1, cpu_ns=4_000_000, clock=clock)
    assert tell(totals) == [
        "xz.1.expt: 1 sample of 0.004 s CPU time in 2 processes, clock cpu-timer at 250 Hz"
        " (941 Hz is more than it can deliver here), nothing lost"
    ]


def test_a_program_that_gets_no_clock_is_told_why() -> None:
    off = DeclaredClock("off", 1_062_699, 0, "cpu-timer: Resource temporarily unavailable")
    totals = totals_of(log_count=1, process_count=1, closed_count=1, cpu_ns=1_000_000_000, longest_ns=1_000_000_000, clock=off)
    assert tell(totals) == [
        "xz.1.expt: 0 samples of 1.000 s CPU time in 1 process, without a clock, nothing lost",
        "no sample was taken: no clock is to be had (cpu-timer: Resource temporarily unavailable)",
    ]
    totals = totals_of(log_count=2, process_count=2, closed_count=2, sample_count=5, cpu_ns=5, clock=SIGTRAP, other_clocks=Counter({"off": 1}))
    assert "clock sigtrap at 941 Hz (1 process: none)" in tell(totals)[0]


def test_losses_by_cause() -> None:
    totals = totals_of(log_count=2, process_count=2, closed_count=2, sample_count=5, drops=Counter({1: 3, 2: 1200}), clock=SIGTRAP)
    assert tell(totals)[0].endswith(", 3 lost while the recorder was busy, 1,200 lost because the disk was full")


def test_images_are_told_where_there_are_more_than_processes() -> None:
    totals = totals_of(log_count=79, process_count=41, closed_count=79, sample_count=198, cpu_ns=434_000_000, clock=SIGTRAP)
    assert " CPU time in 41 processes (79 program images), clock " in tell(totals)[0]


def test_clocks_of_other_processes() -> None:
    totals = totals_of(log_count=3, process_count=3, closed_count=3, sample_count=5, clock=SIGTRAP, other_clocks=Counter({"cpu-timer": 2}))
    assert ", clock sigtrap at 941 Hz (2 processes: cpu-timer), nothing lost" in tell(totals)[0]


def test_a_program_killed_by_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = totals_of(log_count=1, process_count=1, unclosed={ProcessIdentity(7, 0)}, sample_count=5, clock=SIGTRAP)
    assert tell(totals, status=9)[0].endswith(" at 941 Hz, killed by signal 9 (SIGKILL), no losses known")
    assert tell(totals, status=9 | 0x80)[0].endswith(" at 941 Hz, killed by signal 9 (SIGKILL), no losses known")
    assert tell(totals, status=40)[0].endswith(" at 941 Hz, killed by signal 40, no losses known")
    totals.drops[1] = 3
    assert tell(totals, status=9)[0].endswith(", killed by signal 9 (SIGKILL), 3 lost while the recorder was busy, no other losses known")
    monkeypatch.setattr(outcome_module, "_is_full", lambda experiment: True)
    totals.drops.clear()
    assert tell(totals, status=9)[0].endswith(", killed by signal 9 (SIGKILL), losses unknown because the disk is full")


def test_logs_that_were_not_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(unclosed_pids: set[int], **more: object) -> str:
        totals = totals_of(log_count=4, process_count=4, closed_count=2, unclosed={ProcessIdentity(pid, 0) for pid in unclosed_pids}, sample_count=5, clock=SIGTRAP, **more)
        return tell(totals, live=(9,), status=256)[0].partition("941 Hz, ")[2]

    assert told({9}) == "nothing lost", "it is still being written"
    assert told({8, 9}) == "1 log not closed, because its process was killed or exited abruptly"
    assert told({7, 8}) == "2 logs not closed, because their processes were killed or exited abruptly"
    assert told({7}) == "1 log not closed, although the program exited with status 1"
    assert told({7}, drops=Counter({2: 6})) == "6 lost because the disk was full, 1 log not closed, because the disk is full"
    monkeypatch.setattr(outcome_module, "_is_full", lambda experiment: True)
    assert told({8}) == "1 log not closed, because the disk is full"


@pytest.mark.parametrize(("count", "words"), [(0, "nothing lost"), (1, "1 log missing"), (200, "200 logs missing")])
def test_logs_that_are_missing(count: int, words: str) -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, sample_count=5, clock=SIGTRAP)
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz.1.expt", "xz", totals, {}, False, missing_count=count)
    assert outcome.sentences[0].endswith(f" at 941 Hz, {words}") and outcome.is_clean is (count == 0)


def test_pauses_are_told_beside_losses() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, sample_count=5, clock=SIGTRAP, run_ns=4_000_000_000, paused_ns=1_000_000_000)
    assert tell(totals)[0].endswith(" at 941 Hz, recording paused for 1.000 s (25.0 % of the run), nothing lost while it was on")
    assert "5 samples of 0.000 s CPU time (pauses included) in 1 process" in tell(totals)[0]
    totals.paused_ns = 400_000
    assert "5 samples of 0.000 s CPU time in 1 process" in tell(totals)[0]
    assert tell(totals)[0].endswith(" at 941 Hz, nothing lost")
    totals.paused_ns = 1_000_000_000
    totals.log_count = totals.process_count = 2
    assert ", recording paused for 1.000 s (25.0 % of the processes' run time), " in tell(totals)[0]


def test_no_sample_of_a_recording_that_was_paused() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, cpu_ns=600_000_000, longest_ns=600_000_000, clock=SIGTRAP, run_ns=9, paused_ns=1)
    assert tell(totals)[1] == "no sample was taken in 0.600 s of CPU time: recording was paused (see -y and -t)"
    totals.is_traced = True
    assert tell(totals)[1].endswith(": recording was paused while a tracer was attached")


def test_no_sample_of_a_clock_that_did_not_tick() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, cpu_ns=600_000_000, longest_ns=600_000_000, clock=SIGTRAP)
    assert tell(totals)[1] == "no sample was taken in 0.600 s of CPU time: the clock sigtrap did not tick (see --clock)"


def test_no_sample_of_many_short_threads() -> None:
    totals = totals_of(log_count=90, process_count=90, closed_count=90, cpu_ns=70_000_000, longest_ns=800_000, clock=SIGTRAP, run_ns=100, paused_ns=1)
    assert tell(totals)[1] == "no sample was taken: no thread used more than 0.800 ms of CPU time against one sample every 1.063 ms (see -p)"


def test_no_sample_of_what_did_not_end_in_order() -> None:
    totals = totals_of(log_count=1, process_count=1, unclosed={ProcessIdentity(7, 0)}, clock=SIGTRAP)
    assert tell(totals, status=9)[1] == "no sample was taken before the program was gone: there is one every 1.063 ms of CPU time (see -p)"
    assert tell(totals, live=(7,))[1] == "no sample was taken before now: there is one every 1.063 ms of CPU time (see -p)"


def test_no_sample_of_a_log_that_is_empty() -> None:
    totals = totals_of(log_count=1, process_count=1, unclosed={ProcessIdentity(7, 0)}, empty_count=1, warnings=["a/7.0.log is empty: it was cut"])
    assert tell(totals)[1:] == ["no sample was taken, or none is left", "a/7.0.log is empty: it was cut"]


def test_many_empty_logs_are_named_by_the_first() -> None:
    totals = totals_of(log_count=9, process_count=9, closed_count=9, sample_count=5, clock=SIGTRAP, warnings=[f"a/{pid}.0.log is empty" for pid in (*range(9), 0)])
    assert tell(totals)[1:] == ["a/0.0.log is empty", "a/1.0.log is empty", "a/2.0.log is empty", "6 more warnings like these"]
    totals.warnings = totals.warnings[:4]
    assert tell(totals)[1:] == totals.warnings


def test_never_sampled() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, cpu_ns=800_000, longest_ns=800_000, clock=SIGTRAP)
    assert tell(totals)[1] == "no sample was taken: 0.800 ms of CPU time against one sample every 1.063 ms (see -p)"


def test_no_clock_wanted() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1)
    assert tell(totals, is_clock_off=True) == ["xz.1.expt: recorded without a clock in 1 process, nothing lost"]


def test_still_running() -> None:
    totals = totals_of(log_count=1, process_count=1, sample_count=7, clock=SIGTRAP)
    assert tell(totals, live=(41,))[-1] == "1 process is still running and being recorded (pid 41)"
    assert tell(totals, live=(1, 2, 3, 4, 5, 6))[-1] == "6 processes are still running and being recorded (pids 1, 2, 3, 4, 5, ...)"


def test_warnings_are_told_once() -> None:
    totals = totals_of(log_count=1, process_count=1, closed_count=1, sample_count=7, clock=SIGTRAP, warnings=["odd", "odd"])
    assert tell(totals)[1:] == ["odd"]


def test_nothing_recorded() -> None:
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz.1.expt", "xz", totals_of(), {}, False)
    assert not outcome.has_recorded
    assert outcome.sentences[0].startswith("nothing was recorded: the recorder did not start in xz")


def test_nothing_recorded_of_a_program_that_was_killed() -> None:
    """As by ^C while it is loaded: nothing is to be guessed about its environment."""
    outcome = tell_outcome(str(Path.cwd() / "xz.1.expt"), "xz.1.expt", "xz", totals_of(), {}, False, Ending(7, 2, 0))
    assert outcome.sentences == ("nothing was recorded: xz was killed by signal 2 (SIGINT), and the recorder had not started in it",)


def test_nothing_recorded_for_a_known_reason() -> None:
    outcome = tell_outcome("/nosuch/a.expt", "a.expt", "xz", totals_of(), {}, False, why_not="xz: it is statically linked")
    assert outcome.sentences == ("nothing was recorded: xz: it is statically linked",)


def test_nothing_recorded_and_the_experiment_has_gone() -> None:
    outcome = tell_outcome("/nosuch/a.expt", "a.expt", "xz", totals_of(), {}, False)
    assert outcome.sentences == ("nothing was recorded: /nosuch/a.expt has gone",)
