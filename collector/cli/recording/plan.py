"""plan -- what a recording is to be: the command line, checked as far as it can be before anything is done"""

from __future__ import annotations

import os
from functools import partial

from collector.capture import options
from collector.capture.installation import find_installation
from collector.capture.native import probe_event
from collector.capture.program import Program, find_program
from collector.capture.rank import parse_ranks, read_rank
from collector.cli.recording import metrics
from collector.cli.recording.python_command import completed, title_of
from collector.cli.recording.ranks import Job
from collector.errors import UsageError
from collector.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from collector.capture.perf_events import PerfEvent

    _Signals = tuple[int | None, int | None, bool]
    _Counting = tuple[frozenset[str], tuple[PerfEvent, ...], tuple[PerfEvent, ...]]


class Plan(NamedTuple):
    """What is to be done, checked as far as it can be before anything is done."""

    command: list[str]
    program: Program
    recorder: str
    experiment: str | None
    is_overwritten: bool
    wanted: options.RecorderOptions
    window: options.Window | None
    interval_ns: int | None
    follow: str
    comments: list[str]
    metrics: metrics.MetricPlan
    job: Job = Job(None, None)
    names_jit_code: bool = False
    watches_waits: bool = False

    def options_at(self, now_ns: int, pid: int) -> options.RecorderOptions:
        """Give what the recorder is told by a program that is started now, in process `pid`."""
        window = self.window or options.Window()
        monotonic_ahead, boottime_ahead = options.read_clocks_ahead()
        wall_offset, boottime_offset = options.read_clock_offsets()
        return self.wanted._replace(
            root=pid,
            start=now_ns + window.start_ns if window.start_ns else None,
            end=None if window.end_ns is None else now_ns + window.end_ns,
            monotonic_ahead=monotonic_ahead,
            boottime_ahead=boottime_ahead,
            wall_offset=wall_offset,
            boottime_offset=boottime_offset,
        )

    def describe(self) -> list[str]:
        """Give the choices as texts of the form name=value, as they are kept in the experiment."""
        values = {
            "clock": self.wanted.clock,
            "period": f"{self.wanted.period} ns",
            "samples": f"{self.interval_ns} ns" if self.interval_ns else "off",
            "sample_signal": self.wanted.sample_signal,
            "pause_signal": self.wanted.pause_signal,
            "paused": 1 if self.wanted.paused else None,
            "start": f"{self.window.start_ns} ns" if self.window else None,
            "end": f"{self.window.end_ns} ns" if self.window and self.window.end_ns else None,
            "events": self.wanted.events,
            "counted": self.wanted.counted,
            "faults": 1 if self.wanted.faults else None,
            "switches": 1 if self.wanted.switches else None,
            "wall": "exact" if self.wanted.waits else f"{_looks_ns()} ns" if self.watches_waits else None,
            "follow": self.follow,
            "jit": 1 if self.names_jit_code else None,
            **self.job.describe(),
            "metric_interval": f"{self.metrics.interval_ns} ns" if self.metrics.choice.plugins else "off",
        }
        texts = [f"{name}={value}" for name, value in values.items() if value is not None]
        return texts + [f"comment={comment}" for comment in self.comments]


def _looks_ns() -> int:
    from collector.capture.wait_watcher import LOOKS_NS

    return LOOKS_NS


def make_plan(args: argparse.Namespace) -> Plan:
    """Check the command line. UsageError if it makes no sense, CannotRun if there is no program to run."""
    if not args.command:
        raise UsageError("there is no program to record; name it, or a Python module behind -m (collector record --help tells more)")
    command = completed(args.command[1:] if args.command[0] == "--" else args.command)
    if "" in (args.output, args.overwrite):
        raise UsageError("the name of the experiment is empty; give -o or -O another one")
    if args.output and args.overwrite:
        raise UsageError("-o and -O both name the experiment; give one of them")
    period, signals, events = options.parse_period(args.profile), _parse_signals(args), _parse_events(args)
    job = Job(read_rank(os.environ), parse_ranks(args.ranks) if args.ranks else None, options.parse_rank_periods(args.rank_frequency))
    wanted = _recorder_options(args, job, period, signals, events)
    installation = find_installation()
    return Plan(
        command=command,
        program=find_program(command[0], os.environ.get("PATH", os.defpath), installation.recorder),
        recorder=installation.recorder,
        experiment=job.experiment_name(args.overwrite or args.output, title_of(command), args.overwrite is not None),
        is_overwritten=args.overwrite is not None,
        wanted=wanted,
        job=job,
        window=options.parse_window(args.time) if args.time else None,
        interval_ns=options.parse_interval(args.sample),
        follow=options.parse_follow(args.follow or "on"),
        comments=args.comment,
        metrics=metrics.plan_metrics(args, installation),
        names_jit_code=args.jit,
        watches_waits=args.wall == "watched",
    )


def _recorder_options(args: argparse.Namespace, job: Job, period: int | None, signals: _Signals, counting: _Counting) -> options.RecorderOptions:
    """What the recorder is asked for, whenever the program is started."""
    sample_signal, pause_signal, is_paused = signals
    usage, counted, events = counting
    below = job.periods.encode() or None
    if job.rank is not None:
        period, below = job.periods.of(job.rank.rank, period), None  # whatever the program does to its environment
    if args.wall == "exact":
        _check_exact_waits(bool(events), period is None)
    return options.RecorderOptions(
        clock=_clock(args) if period or below else "off",
        period=period or (0 if below else options.DEFAULT_PERIOD_NS),
        sample_signal=sample_signal,
        pause_signal=pause_signal,
        paused=is_paused or None,
        events="+".join(event.encode() for event in events) or None,
        counted="+".join(event.encode() for event in counted) or None,
        faults="faults" in usage or None,
        switches="switches" in usage or None,
        waits=args.wall == "exact" or None,
        ranks=None if job.wanted is None else str(job.wanted).replace(",", "+"),
        rank_periods=below,
    )


def _parse_signals(args: argparse.Namespace) -> _Signals:
    """The signals of -l and -y, and whether recording starts paused. UsageError if they are the same."""
    pause_signal, is_paused = options.parse_pause_signal(args.pause_signal) if args.pause_signal else (None, False)
    sample_signal = options.parse_signal(args.sample_signal, "-l") if args.sample_signal else None
    if pause_signal is not None and pause_signal == sample_signal:
        raise UsageError("-l and -y name the same signal; it cannot mean both")
    return sample_signal, pause_signal, is_paused


def _parse_events(args: argparse.Namespace) -> tuple[frozenset[str], tuple[PerfEvent, ...], tuple[PerfEvent, ...]]:
    """What --counters reads of what the kernel counts anyway, and as events, and the events of -h. UsageError if this machine has them not."""
    if args.counters is None and not args.events:
        return frozenset(), (), ()
    from collector.capture import perf_events  # seldom asked for

    usage, counted = perf_events.parse_counters(args.counters) if args.counters is not None else (frozenset[str](), ())
    perf_events.check_events(counted, partial(probe_event, is_signalled=False), "--counters")
    events = perf_events.parse_events(args.events) if args.events else ()
    perf_events.check_events(events, probe_event)
    for event in events:
        if event.name in [other.name for other in counted]:
            raise UsageError(f"-h and --counters both name {event.name}, which would count it twice")
    return usage, counted, events


def _check_exact_waits(has_events: bool, is_without_clock: bool) -> None:
    from collector.capture import perf_events

    problem = perf_events.exact_waits_problem(partial(probe_event, is_kernels=True), os.uname().release)
    if problem:
        raise UsageError(f"--wall=exact: {problem}")
    if has_events:
        raise UsageError("--wall=exact and -h both signal threads by SIGTRAP, and would lose each other's; give one of them")
    if is_without_clock:
        raise UsageError("--wall=exact needs a clock beside it, not -p off")


def _clock(args: argparse.Namespace) -> str:
    """The clock to ask for: beside perf clocks a switch that is told costs four times as much."""
    asked: str = args.clock
    return "cpu-timer" if asked == "auto" and args.wall == "exact" else asked
