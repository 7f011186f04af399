"""outcome -- what there is to say when a recording has ended, in one line, and whether anything came of it"""

from __future__ import annotations

import os
from dataclasses import dataclass

from collector.experiment.totals import Said, Totals
from collector.reports.style import printable

_ENOUGH_PERIODS = 50  # so long no clock is silent by chance
_CAUSES = {
    1: "while the recorder was busy",
    2: "because the disk was full",
    3: "for want of memory",
    4: "because a log was full",
    5: "because of wrong arguments",
    16: "to damage of the log",
    17: "to damage of the log (frames)",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Sentences for the user, and whether anything was recorded."""

    sentences: tuple[str, ...]
    has_recorded: bool


def tell_outcome(experiment: str, program: str, totals: Totals, live_pids: list[int], is_clock_off: bool) -> Outcome:
    """Say what was recorded. `live_pids` are processes that are still being recorded."""
    if totals.log_count == 0:
        return Outcome((f"nothing was recorded: {_guess_why(experiment, program)}",), False)
    parts = [f"{_tell_samples(totals, is_clock_off)} in {_count(totals.process_count, 'process', 'processes')}"]
    if totals.clock is not None and not is_clock_off:
        parts.append(_tell_clock(totals))
    parts.append(_tell_losses(totals))
    sentences = [f"{os.path.relpath(experiment)}: {', '.join(parts)}"]
    if totals.sample_count == 0 and not is_clock_off:
        sentences.append(_explain_no_samples(totals))
    if live_pids:
        sentences.append(_tell_live(live_pids))
    return Outcome((*sentences, *dict.fromkeys(totals.warnings), *map(_tell_message, totals.messages.items())), True)


def _tell_samples(totals: Totals, is_clock_off: bool) -> str:
    if is_clock_off:
        return "recorded without a clock"
    return f"{_count(totals.sample_count, 'sample', 'samples')} of {totals.cpu_ns / 1e9:.3f} s CPU time"


def _tell_clock(totals: Totals) -> str:
    clock = totals.clock
    assert clock is not None
    asked_ns, shortest_ns = clock.period_ns, clock.effective_period_ns
    text = f"clock {clock.name} at {_rate(max(asked_ns, shortest_ns))}"
    return text if shortest_ns <= asked_ns else f"{text} ({_rate(asked_ns)} is more than it can deliver here)"


def _tell_losses(totals: Totals) -> str:
    losses = [f"{count:,} lost {_CAUSES.get(cause, f'(cause {cause})')}" for cause, count in sorted(totals.drops.items())]
    killed = totals.log_count - totals.closed_count
    if killed:
        losses.append(f"{_count(killed, 'log', 'logs')} not closed in order")
    return ", ".join(losses) or "nothing lost"


def _explain_no_samples(totals: Totals) -> str:
    if totals.clock is None:
        return "no sample was taken: no clock was started in the program"
    period_ms = max(totals.clock.period_ns, totals.clock.effective_period_ns) / 1e6
    if totals.cpu_ns / 1e6 > _ENOUGH_PERIODS * period_ms:
        return f"no sample was taken in {totals.cpu_ns / 1e9:.3f} s of CPU time: recording was off (see -y and -t), or the program paused it"
    return f"no sample was taken: {totals.cpu_ns / 1e6:.3f} ms of CPU time against one sample every {period_ms:.3f} ms (see -p)"


def _tell_live(pids: list[int]) -> str:
    numbers = ", ".join(str(pid) for pid in pids[:5]) + (", ..." if len(pids) > 5 else "")
    is_one = len(pids) == 1
    return f"{_count(len(pids), 'process is', 'processes are')} still running and being recorded ({'pid' if is_one else 'pids'} {numbers})"


def _guess_why(experiment: str, program: str) -> str:
    try:
        if os.statvfs(experiment).f_bavail == 0:
            return f"the disk that holds {experiment} is full"
    except OSError:
        return f"{experiment} has gone"
    return f"the recorder did not start in {program} (is its program one that clears its environment, or that ld.so does not preload into?)"


def _tell_message(message: tuple[tuple[str, str], Said]) -> str:
    (text, subject), said = message
    times = f"{said.count:,} times, first " if said.count > 1 else ""
    return printable(f"{subject}: {text}"[0 if subject else 2 :]) + f" ({times}after {said.first_ns / 1e9:.3f} s)"


def _rate(period_ns: int) -> str:
    return f"{1e9 / period_ns:.0f} Hz" if period_ns else "an unknown rate"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
