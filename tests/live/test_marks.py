"""test_marks -- the calls of libcollector(3) under the real recorder: labels in order, pauses exact, an end that stays an end"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from math import sqrt
from pathlib import Path

import pytest
from both_ways import load_plain
from recorded import TARGETS, Recorded, judge, judge_total, with_clocks

from collector.experiment import events
from collector.experiment.log_reader import EventReader


def logged(recorded: Recorded, kind: type) -> list:
    """All events of one kind in the logs of the recorded processes."""
    return [event for log in sorted(recorded.path.glob("[0-9]*.log")) for event in EventReader(log) if isinstance(event, kind)]


@pytest.mark.parametrize(("language", "clock"), with_clocks(["c", "c++"]))
def test_labels_pauses_and_the_end(
    unharmed: Callable[..., Recorded], record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], language: str, clock: str
) -> None:
    rung_works(clock)
    program = compiled("marked_phases.c", "-O2", "-x", language, compiler="gcc" if language == "c" else "g++")
    rounds = 160 if clock == "cpu-timer" else 40
    recorded = record([program, str(rounds)], clock=clock)
    assert recorded.outcome.status == 3
    truth = recorded.outcome.truth
    marks = re.findall(r"^mark ?(.*)$", recorded.outcome.stdout, re.MULTILINE)
    assert len(marks) == 6
    assert recorded.labels == marks
    assert sum(recorded.inclusive_ns(name) for name in recorded.function_names() if "unrecorded_work" in name) == 0
    # A tick that falls into the pause belongs to it, even if part of its period does not, and one after the pause has part of that: each of the
    # intervals has one of two phases, as if by lot. The timer of CPU time has intervals of two jiffies where turns are shorter than one.
    interval_ns = 8e6 if clock == "cpu-timer" else 1.1e6
    interval_count = (truth["recorded_work"] + truth["paused_work"]) / interval_ns
    assert seen(recorded, "paused_work") <= 0.02 * truth["paused_work"] + (0 if clock != "cpu-timer" else 4e6)
    assert abs(seen(recorded, "recorded_work") - truth["recorded_work"]) <= 4 * interval_ns * sqrt(interval_count / 4)
    times = [point.time_ns for point in recorded.profile.points if point.cause == "api"]
    assert times == sorted(times)
    assert (len(logged(recorded, events.Pause)), len(logged(recorded, events.Resume))) == (rounds, rounds)


def seen(recorded: Recorded, function: str) -> float:
    """Inclusive time of a function by its name, with or without a C++ parameter list."""
    return recorded.inclusive_ns(function) + recorded.inclusive_ns(f"{function}()")


def test_an_exec_that_fails_ends_no_pause(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("failed_exec_paused.c")])
    assert recorded.outcome.status == 3
    assert seen(recorded, "paused_work") <= 4e6
    assert seen(recorded, "recorded_work") >= 50e6


def test_weights_leave_pauses_out(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """The time of the pauses is not handed to what ran before or after."""
    recorded = record([compiled("marked_phases.c", "-O2", "-x", "c")])
    truth = recorded.outcome.truth
    interval_count = (truth["recorded_work"] + truth["paused_work"]) / 1.1e6
    judge_total(recorded, truth["recorded_work"], slack_ns=4 * 1.1e6 * sqrt(interval_count / 4))


def test_no_pause_takes_what_waits_to_be_attributed(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Which ticks are missing because of system calls is known some milliseconds later, amid the pause. What finds that out ticks with the kernel, every 4 ms."""
    recorded = record([compiled("paused_calls.c", "-O2")])
    truth = recorded.outcome.truth
    interval_ns = 4e6
    interval_count = (truth["recorded_work"] + truth["paused_work"]) / interval_ns
    judge_total(recorded, truth["recorded_work"], share=0.02, slack_ns=4 * interval_ns * sqrt(interval_count / 4))


def test_one_of_concurrent_samples_is_written(unharmed: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = unharmed([compiled("crowded_samples.c")])
    labels = recorded.labels
    assert labels[-1] == "last"
    # 200 rounds of eight simultaneous calls: at least one of each is written, and never more than all.
    assert 200 <= len(labels) - 1 <= 1600
    assert set(labels) <= set("abcdefgh") | {"last"}


def test_fortran_labels(unharmed: Callable[..., Recorded], compiled: Callable[..., Path], recorder: Path) -> None:
    library = recorder.parent
    program = compiled("fortran_phases.f90", "-O2", f"-L{library}", "-lfcollector", f"-Wl,-rpath,{library}")
    recorded = unharmed([program])
    assert recorded.labels == ["first", "second"]
    sines = [name for name in recorded.function_names() if "sin" in name]  # libm's debug information tells of inlined ones
    assert any(set(recorded.callers(sine)) == {"burn"} for sine in sines), sines


def test_python_labels(record: Callable[..., Recorded]) -> None:
    recorded = record([sys.executable, TARGETS / "python_phases.py"])
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "done\n")
    assert recorded.labels == ["first", "second", "last"]
    points = {point.label: point for point in recorded.profile.points if point.cause == "api"}
    spans = [(points[a].time_ns, points[b].time_ns) for a, b in (("first", "second"), ("second", "last"))]
    times = [sample.time_ns for sample in load_plain(recorded.path).samples.samples]
    counts = [sum(start <= time < end for time in times) for start, end in spans]
    assert counts[0] >= 40
    assert counts[1] <= 3, "nothing is sampled while paused"


def test_readings_are_the_processs_own(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("marked_phases.c", "-O2", "-x", "c")])
    points = [point for point in recorded.profile.points if point.cause == "api"]
    for before, after in zip(points, points[1:]):
        assert before.user_ns + before.system_ns <= after.user_ns + after.system_ns
        assert before.minor_faults <= after.minor_faults
    truth = recorded.outcome.truth
    used_ns = points[-1].user_ns + points[-1].system_ns - points[1].user_ns - points[1].system_ns
    judge(abs(used_ns - truth["recorded_work"] - truth["paused_work"]) <= 0.03 * used_ns, f"{used_ns / 1e6:.2f} ms accounted, {truth}")
    assert all(point.resident_bytes and point.resident_bytes > 1 << 18 for point in points)
    assert all(point.peak_resident_bytes and point.peak_resident_bytes > 1 << 18 for point in points)


def test_the_process_has_memory_when_its_first_thread_has_ended(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """/proc/self, which is cheaper to read than a thread's own status, is that thread's."""
    recorded = record([compiled("without_first_thread.c", "-O2", "-pthread")])
    assert recorded.outcome.status == 0
    end = recorded.profile.points[-1]
    assert end.cause == "end" and (end.peak_resident_bytes or 0) >= (end.resident_bytes or 0) > 1 << 18


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may join groups")
def test_many_groups_hide_no_memory(record: Callable[..., Recorded]) -> None:
    """The kernel lists them before the memory, in the same file; with three bytes more each time, any part of the figures comes to lie anywhere."""
    lists = "import os, collector\nfor count in range(700): os.setgroups([10] * count); collector.sample()"
    points = [point for point in record([sys.executable, "-c", lists]).profile.points if point.cause == "api"]
    assert len(points) == 700
    sizes = [(point.resident_bytes or 0, point.peak_resident_bytes or 0) for point in points]
    assert min(min(pair) for pair in sizes) > 0.8 * max(max(pair) for pair in sizes) > 1 << 20


@pytest.mark.parametrize("option", [("-l", "USR2"), ("-y", "USR2,r")])
def test_signals_that_mark(record: Callable[..., Recorded], option: tuple[str, str]) -> None:
    script = "import os, signal; [os.kill(os.getpid(), signal.SIGUSR2) for _ in range(4)]; print('alive')"
    recorded = record([sys.executable, "-c", script], options=option)
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "alive\n")
    if option[0] == "-l":
        assert sum(point.cause == "signal" for point in recorded.profile.points) == 4
    else:
        assert (len(logged(recorded, events.Pause)), len(logged(recorded, events.Resume))) == (2, 2)


def test_unrecorded_it_says_the_same(compiled: Callable[..., Path], recorder: Path) -> None:
    """Preloaded without COLLECTOR_EXPERIMENT the library does nothing at all."""
    program = compiled("crowded_samples.c")
    done = subprocess.run([program], env={"LD_PRELOAD": str(recorder)}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_what_cannot_be_read_is_counted_and_harms_nobody(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("wild_arguments.c")], ["--metric-interval", "off"])
    assert (recorded.outcome.status, recorded.outcome.stdout, recorded.labels) == (0, "end\n", ["last"])
    assert [len(event.data) for event in logged(recorded, events.UserData)] == [1_000_000]
    assert [(loss.cause, loss.count) for loss in recorded.profile.losses] == [("bad_argument", 5)]
