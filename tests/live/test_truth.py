"""test_truth -- programs that know their own profile, on each rung of the clock's ladder"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from pathlib import Path

import pytest
from both_ways import load_plain
from recorded import (
    IS_THOROUGH,
    RUNGS,
    Recorded,
    judge,
    judge_about,
    judge_at_least,
    judge_process,
    judge_shares,
    judge_stacks,
    judge_total,
    tolerance,
    with_clocks,
)

from collector.experiment import events
from collector.experiment.log_reader import EventReader
from collector.profile import aggregate

on_each_clock = pytest.mark.parametrize("clock", RUNGS)
LEVELS = {"O0": ["-O0"], "O2": ["-O2"], "O3": ["-O3", "-fomit-frame-pointer"]}
SPLIT = ("ten", "twenty", "thirty", "forty")


@pytest.fixture
def take(record: Callable[..., Recorded], rung_works: Callable[[str], None], clock: str) -> Callable[..., Recorded]:
    """Record on the rung of this test, and assert that it is the one that was used, with nothing lost."""

    def run(*command: object, options: tuple[object, ...] = ()) -> Recorded:
        rung_works(clock)
        recorded = record(command, options=options, clock=clock)
        assert recorded.outcome.status == 0, recorded.outcome.stderr
        assert (recorded.clocks, recorded.lost_count) == ({clock}, 0)
        return recorded

    return run


def raw_sums_ns(recorded: Recorded) -> dict[int, int]:
    """CPU time of each thread's samples as they were written, and what was pending at its end, before any reader balances them."""
    sums: dict[int, int] = {}
    for log in recorded.path.glob("[0-9]*.log"):
        for event in EventReader(log):
            if isinstance(event, events.PcSample):
                sums[event.thread] = sums.get(event.thread, 0) + event.user_ns + event.system_ns
            elif isinstance(event, events.ThrExit):
                sums[event.thread] = sums.get(event.thread, 0) + (event.pending_ns or 0)
    return sums


@pytest.mark.parametrize(("level", "clock"), with_clocks(LEVELS))
def test_split(take: Callable[..., Recorded], compiled: Callable[..., Path], level: str) -> None:
    recorded = take(compiled("split_cpu.c", *LEVELS[level]), 400)
    judge_shares(recorded, recorded.outcome.truth, names=SPLIT)
    judge_stacks(recorded, 1.0)
    judge_process(recorded)
    for name in SPLIT:
        assert set(recorded.callers(name)) == {"main"}
        judge(recorded.without_inlines.exclusive_ns(name) >= 0.5 * recorded.inclusive_ns(name), f"{name}: its own loop is where its time goes")


@on_each_clock
def test_split_at_ten_kilohertz(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str) -> None:
    """The period is kept: ten times as long a one would give a tenth of the samples."""
    recorded = take(compiled("split_cpu.c"), 300, options=("-p", "hi"))
    judge_shares(recorded, recorded.outcome.truth, names=SPLIT)
    # A shared machine may withhold the processor between ticks, but not for most of them: perf's own event was seen to give 78 %.
    expected = recorded.total_ns / recorded.profile.processes[0].clock.effective_period_ns
    judge(recorded.sample_count >= 0.5 * expected, f"{recorded.sample_count} samples of {expected:.0f}")


@on_each_clock
def test_threads_of_five_milliseconds(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str) -> None:
    """Each has its time; and samples, where the clock ticks more often than every 4 ms."""
    count = 400 if IS_THOROUGH else 200
    recorded = take(compiled("brief_threads.c"), count, 5000, 4)
    truth = recorded.outcome.truth
    threads = aggregate.threads(recorded.profile)
    assert len(threads) == count + 1
    judge_about(recorded, "run", truth["run"], 0.01 * truth["run"])
    judge_at_least(recorded, "brief", 0.5 * truth["run"])
    assert all(row.values[0] > 0 for row in threads)
    if clock != "cpu-timer":
        sampled_count = sum(row.sample_count > 0 for row in threads)
        judge(sampled_count >= 0.95 * count, f"{sampled_count} of {count} threads have samples")
    judge_process(recorded, share=0.015)


@on_each_clock
def test_recursion_2000_deep(take: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = take(compiled("deep_recursion.c"), 2000, 100)
    judge_stacks(recorded, 1.0)
    judge_total(recorded, recorded.outcome.truth["bottom"], slack_ns=5e6)
    at_bottom = [stack for stack in named_stacks(recorded) if "bottom" in stack]
    assert at_bottom
    assert {stack.count("descend") for stack in at_bottom} == {2000}
    assert all(stack.index("main") > stack.index("descend") for stack in at_bottom)


def named_stacks_of_samples(recorded: Recorded) -> list[list[str]]:
    stacks = named_stacks(recorded)
    return [stacks[sample.stack] for sample in load_plain(recorded.path).samples.samples]


def named_stacks(recorded: Recorded) -> list[list[str]]:
    """Each different stack as the names of its functions, leaf first."""
    profile = load_plain(recorded.path)
    functions = [profile.functions[frame.function].name for frame in profile.frames]
    return [[functions[frame] for frame in reversed(stack.frames)] for stack in profile.samples.stacks]


@pytest.mark.alone
@pytest.mark.parametrize(("cycle_us", "clock"), with_clocks([1000, 4000, 10000]))
def test_load_in_phase_with_the_tick(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str, cycle_us: int) -> None:
    if clock == "cpu-timer":
        pytest.skip("a CPU timer fires with the kernel's own tick: a load in step with that is beyond it, by construction")
    recorded = take(compiled("phase_locked.c"), cycle_us, 600)
    judge_shares(recorded, recorded.outcome.truth, names=("in_phase", "out_of_phase"), systematic=0.02)


@on_each_clock
def test_load_in_phase_with_nothing(take: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = take(compiled("phase_locked.c"), 7310, 400)
    judge_shares(recorded, recorded.outcome.truth, names=("in_phase", "out_of_phase"), systematic=0.02)


@pytest.mark.parametrize(("kernel_part", "clock"), with_clocks(["reads", "draws", "touches"]))
def test_system_time(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str, kernel_part: str) -> None:
    recorded = take(compiled("kernel_share.c"), 350, "computes", kernel_part)
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, names=("computes", kernel_part), systematic=0.03)
    judge_stacks(recorded)
    # How the kernel itself tells user from system time is sampled, so both sides of this have an error.
    system_share = recorded.system_ns(kernel_part) / recorded.inclusive_ns(kernel_part)
    judge(system_share >= 0.5 * truth[f"{kernel_part}.system"] / truth[kernel_part], f"{system_share:.3f} of {kernel_part} is system time")
    # A CPU timer ticks with that guess, a whole tick at a time: four standard errors of so few.
    computes_ns = recorded.inclusive_ns("computes")
    allowed = 0.15 + (4 * sqrt(0.15 * 0.85 / (computes_ns / 4e6)) if clock == "cpu-timer" else 0)
    judge(recorded.system_ns("computes") <= allowed * computes_ns, f"{recorded.system_ns('computes') / 1e6:.1f} ms of the kernel in {computes_ns / 1e6:.1f}")


@on_each_clock
def test_system_calls_shorter_than_a_period(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str) -> None:
    """They are found by what ticks with the kernel, every 4 ms: so many samples decide what their share is."""
    recorded = take(compiled("brief_calls.c"), 1250)
    truth = recorded.outcome.truth
    whole_ns = sum(truth.values())
    for name, true_ns in truth.items():
        share, measured = true_ns / whole_ns, recorded.inclusive_ns(name) / recorded.total_ns
        judge(abs(measured - share) <= tolerance(share, round(whole_ns / 4e6), systematic=0.03), f"{name}: {share:.3f} true, {measured:.3f} measured")


@on_each_clock
def test_sums_of_threads(take: Callable[..., Recorded], compiled: Callable[..., Path], clock: str) -> None:
    recorded = take(compiled("thread_sums.c"))
    truth = recorded.outcome.truth
    # A CPU timer fires with the kernel's tick, and each thread's time after its last one is lost: 2.7 % were, on a machine whose host was busy.
    judge_process(recorded, share=0.04 if clock == "cpu-timer" else 0.01)
    raw = raw_sums_ns(recorded)
    period_ns = 4e6 if clock == "cpu-timer" else 1.1e6
    for row in aggregate.threads(recorded.profile):
        name = row.thread.name
        if name.startswith("sum"):
            late_ns = 9 * period_ns if clock == "cpu-timer" else 0  # a busy machine's tick comes late, or finds the thread gone
            judge(abs(row.values[0] * 1e9 - truth[name]) <= 0.01 * truth[name] + 1e5 + late_ns, f"{name}: {row.values[0] * 1e3:.2f} ms, {truth[name] / 1e6:.2f} true")
            judge(abs(raw[row.thread.tid] - truth[name]) <= 0.01 * truth[name] + 2 * period_ns + late_ns, f"{name}, as written: {raw[row.thread.tid] / 1e6:.2f} ms, {truth[name] / 1e6:.2f} true")


@pytest.mark.parametrize("clock", [rung for rung in RUNGS if rung != "cpu-timer"])
def test_threads_that_are_switched_all_the_time(take: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """The event is off meanwhile, so that switches cost what they do natively, and the kernel's tick is the clock; then it is on again."""
    recorded = take(compiled("processes_in_turns.c"), 250, 600)
    truth = recorded.outcome.truth
    notes = [message.text for message in recorded.profile.messages if "were switched" in message.text]
    assert len(notes) == 2, "one of each process"
    judge_about(recorded, "computes", truth["computes"], 0.05 * truth["computes"])
    parts_ns = {name: recorded.inclusive_ns(name) for name in ("three_parts", "one_part")}
    share, count = parts_ns["three_parts"] / sum(parts_ns.values()), round(sum(parts_ns.values()) / 4e6)
    judge(abs(share - 0.75) <= tolerance(0.75, count, systematic=0.03), f"{share:.3f} of the parts instead of 0.75")
    period_ns = recorded.profile.processes[0].clock.effective_period_ns
    stacks = named_stacks_of_samples(recorded)
    plays, computes = (sum(name in stack for stack in stacks) * period_ns for name in ("plays", "computes"))
    judge(plays < 0.5 * recorded.inclusive_ns("plays"), "off after the first milliseconds")
    judge(computes > truth["computes"] / 3, "on for more than a third of that time: the timer alone gives a quarter")


@on_each_clock
@pytest.mark.skipif(not IS_THOROUGH, reason="three seconds a rung; COLLECTOR_TEST_THOROUGH=1 runs it")
def test_split_of_three_seconds(take: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = take(compiled("split_cpu.c", "-O3"), 3000)
    judge_shares(recorded, recorded.outcome.truth, names=SPLIT)
