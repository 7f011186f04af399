"""outcome -- what there is to say when a recording has ended, in one line, and whether anything came of it"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from collector.capture.launch import Ending
from collector.experiment.totals import Said, Totals
from collector.format import DropCause
from collector.named_tuple import NamedTuple
from collector.printable import printable

_ENOUGH_PERIODS = 50  # so long no clock is silent by chance
_PAUSE_WORTH_SAYING_NS = 500_000
_MOST_WARNINGS = 3  # on a full disk each process leaves an empty log
_OFF = "off"  # the clock of a process that got none
_LEAST_FREE_BYTES = 1 << 16  # a log grows by so much
_CAUSES = {
    1: "while the recorder was busy",
    2: "because the disk was full",
    3: "for want of memory",
    4: "because a log was full",
    5: "because of wrong arguments",
    6: "in threads with foreign storage or too small a stack",
    16: "to damage of the log",
    17: "to damage of the log (frames)",
    18: "at the cut end of a log",
    19: "because their kind is unknown",
}


class Outcome(NamedTuple):
    """Sentences for the user, whether anything was recorded, and whether that is all there is to say."""

    sentences: tuple[str, ...]
    has_recorded: bool
    is_clean: bool = False


def tell_outcome(
    experiment: str,
    title: str,
    program: str,
    totals: Totals,
    live: Mapping[int, int],
    is_clock_off: bool,
    ending: Ending | None = None,
    why_not: str = "",
    missing_count: int = 0,
) -> Outcome:
    """Say what was recorded.

    `title` is what the experiment is called, `live` what RecordedProcesses gives of those that still are, `ending` the program's, `why_not` why the
    program is not recorded, if that is known, and `missing_count` how many processes have no log that should have one.
    """
    if totals.log_count == 0:
        return Outcome((f"nothing was recorded: {why_not or _guess_why(experiment, program, ending)}",), False)
    parts = [f"{_tell_samples(totals, is_clock_off)} in {_tell_processes(totals)}"]
    if totals.clock is not None and not is_clock_off:
        parts.append(_tell_clock(totals))
    if totals.paused_ns >= _PAUSE_WORTH_SAYING_NS:
        parts.append(f"recording {_tell_pauses(totals)}")
    if ending is not None and _is_killed(ending):
        parts.append(_tell_ending(ending))
    losses = _tell_losses(totals, live.values(), ending, _is_full(experiment), missing_count)
    sentences = [f"{title}: {', '.join((*parts, losses))}"]
    if totals.sample_count == 0 and not is_clock_off:
        sentences.append(f"no sample was taken{_explain_no_samples(totals, bool(live))}")
    if live:
        sentences.append(_tell_live(list(live)))
    sentences += (*_tell_warnings(totals.warnings), *map(_tell_message, totals.messages.items()))
    return Outcome(tuple(sentences), True, len(sentences) == 1 and losses.startswith("nothing lost"))


def _tell_warnings(warnings: Collection[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(warnings))
    rest_count = len(distinct) - _MOST_WARNINGS
    return distinct if rest_count <= 1 else (*distinct[:_MOST_WARNINGS], f"{rest_count:,} more warnings like these")


def _tell_samples(totals: Totals, is_clock_off: bool) -> str:
    if is_clock_off:
        return "recorded without a clock"
    pauses = " (pauses included)" if totals.paused_ns >= _PAUSE_WORTH_SAYING_NS else ""
    return f"{_count(totals.sample_count, 'sample', 'samples')} of {totals.cpu_ns / 1e9:.3f} s CPU time{pauses}"


def _tell_processes(totals: Totals) -> str:
    processes = _count(totals.process_count, "process", "processes")
    return processes if totals.log_count == totals.process_count else f"{processes} ({totals.log_count:,} program images)"


def _tell_clock(totals: Totals) -> str:
    clock = totals.clock
    assert clock is not None
    asked_ns, shortest_ns = clock.period_ns, clock.effective_period_ns
    if clock.name == _OFF:
        return "without a clock"
    notes = [f"{_rate(asked_ns)} is more than it can deliver here"] if shortest_ns > asked_ns else []
    notes += [f"{_count(count, 'process', 'processes')}: {'none' if name == _OFF else name}" for name, count in totals.other_clocks.items()]
    return f"clock {clock.name} at {_rate(max(asked_ns, shortest_ns))}" + (f" ({'; '.join(notes)})" if notes else "")


def _tell_pauses(totals: Totals) -> str:
    from collector.units import format_duration, format_percent

    whose = "the run" if totals.process_count == 1 else "the processes' run time"
    return f"paused for {format_duration(totals.paused_ns / 1e9)} ({format_percent(totals.paused_ns, totals.run_ns)} % of {whose})"


def _tell_losses(totals: Totals, live_pids: Collection[int], ending: Ending | None, is_disk_full: bool, missing_count: int) -> str:
    losses = [f"{count:,} lost {_CAUSES.get(cause, f'(cause {cause})')}" for cause, count in sorted(totals.drops.items())]
    if missing_count:
        losses.append(f"{_count(missing_count, 'log', 'logs')} missing")
    program = {one for one in totals.unclosed if ending is not None and one[:2] == (ending.pid, 0)}
    killed = program if ending is not None and _is_killed(ending) else set()
    left_open = {one for one in totals.unclosed - killed if one.pid not in live_pids}  # that the program was killed is said already
    if left_open:
        logs = _count(len(left_open), "log", "logs")
        losses.append(f"{logs} not closed, {_explain_open_logs(totals, len(left_open), ending if left_open == program else None, is_disk_full)}")
    elif killed:
        # Its samples were kept, but how many it could not keep is written when a thread ends.
        losses.append("losses unknown because the disk is full" if is_disk_full else f"no {'other ' if losses else ''}losses known")
    return ", ".join(losses) or ("nothing lost while it was on" if totals.paused_ns >= _PAUSE_WORTH_SAYING_NS else "nothing lost")


def _explain_open_logs(totals: Totals, count: int, ending: Ending | None, is_disk_full: bool) -> str:
    """`ending` is the program's, if the only one is its log."""
    if is_disk_full or totals.drops[DropCause.NO_SPACE]:
        return "because the disk is full"
    if ending is not None:
        return f"although the program {_tell_ending(ending)}"
    return f"because {'its process was' if count == 1 else 'their processes were'} killed or exited abruptly"


def _explain_no_samples(totals: Totals, has_live: bool) -> str:
    if totals.clock is None:
        return ": no clock was started in the program" if not totals.empty_count else ", or none is left"
    period_ms = max(totals.clock.period_ns, totals.clock.effective_period_ns) / 1e6
    rate = f"against one sample every {period_ms:.3f} ms (see -p)"
    is_enough = totals.longest_ns / 1e6 > _ENOUGH_PERIODS * period_ms
    if totals.paused_ns and (is_enough or totals.paused_ns * 2 > totals.run_ns):
        why = "while a tracer was attached" if totals.is_traced else "(see -y and -t)"
        return f" in {totals.cpu_ns / 1e9:.3f} s of CPU time: recording was paused {why}"
    if totals.clock.name == _OFF:
        return f": no clock is to be had ({totals.clock.detail or 'see --clock'})"
    if is_enough:
        return f" in {totals.cpu_ns / 1e9:.3f} s of CPU time: the clock {totals.clock.name} did not tick (see --clock)"
    if not totals.closed_count:
        return f" before {'now' if has_live else 'the program was gone'}: there is one every {period_ms:.3f} ms of CPU time (see -p)"
    if totals.cpu_ns > totals.longest_ns:
        return f": no thread used more than {totals.longest_ns / 1e6:.3f} ms of CPU time {rate}"
    return f": {totals.cpu_ns / 1e6:.3f} ms of CPU time {rate}"


def _tell_ending(ending: Ending) -> str:
    from collector.profile.causes import describe_ending

    return describe_ending(ending.status)


def _is_killed(ending: Ending) -> bool:
    return os.WIFSIGNALED(ending.status)


def _is_full(experiment: str) -> bool:
    try:
        found = os.statvfs(experiment)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _LEAST_FREE_BYTES


def _tell_live(pids: list[int]) -> str:
    numbers = ", ".join(str(pid) for pid in pids[:5]) + (", ..." if len(pids) > 5 else "")
    is_one = len(pids) == 1
    return f"{_count(len(pids), 'process is', 'processes are')} still running and being recorded ({'pid' if is_one else 'pids'} {numbers})"


def _guess_why(experiment: str, program: str, ending: Ending | None) -> str:
    try:
        if os.statvfs(experiment).f_bavail == 0:
            return f"the disk that holds {experiment} is full"
    except OSError:
        return f"{experiment} has gone"
    if ending is not None and _is_killed(ending):
        return f"{program} was {_tell_ending(ending)}, and the recorder had not started in it"
    return f"the recorder did not start in {program} (is its program one that clears its environment, or that ld.so does not preload into?)"


def _tell_message(message: tuple[tuple[str, str], Said]) -> str:
    (text, subject), said = message
    times = f"{said.count:,} times, first " if said.count > 1 else ""
    return printable(f"{subject}: {text}"[0 if subject else 2 :]) + f" ({times}after {said.first_ns / 1e9:.3f} s)"


def _rate(period_ns: int) -> str:
    return f"{1e9 / period_ns:.0f} Hz" if period_ns else "an unknown rate"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
