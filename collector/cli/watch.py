"""watch -- show where a program's time goes while it runs

    collector watch EXPT                              an experiment that is being recorded
    collector watch -- [OPTIONS] PROGRAM [ARG...]     record a program and watch it; options are those of record

On a terminal it is a screen: functions of the last seconds and in all, threads, metrics, what was lost. q ends it, the recording goes on.
Elsewhere it is a line every interval. The output of a program that is watched on a screen goes into a file beside the experiment.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from collector.cli.recording.saying import say
from collector.cli.watching.recorded_program import RecordedProgram
from collector.errors import CollectorError, ExperimentNotFoundError, UsageError
from collector.load.live import LiveExperiment
from collector.profile.live_totals import LiveTotals
from collector.reports import live as text

NAME = "watch"
HELP = __doc__ or ""

_SHORTEST_S = 0.1
_LONGEST_S = 3600.0
_LARGEST_SHARE = 0.1
"""Of a CPU: with thousands of processes looks become rarer instead."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiment, or the program, and how often to look."""
    parser.usage = "collector watch [-i SECONDS] EXPT\n       collector watch [-i SECONDS] -- [OPTIONS OF RECORD] PROGRAM [ARG...]"
    parser.add_argument("experiment", metavar="EXPT | -- PROGRAM", nargs="?", help="an experiment, or behind -- a program with its arguments")
    parser.add_argument("--record", metavar="PROGRAM", nargs=argparse.REMAINDER, help="the program, behind options of record if need be; -- is short for it")
    parser.add_argument("-i", "--interval", metavar="SECONDS", type=float, default=1.0, help="how often to look; default 1")
    parser.add_argument("--lines", action="store_true", help="a line every interval, on a terminal as well")


def prepare(words: Sequence[str]) -> list[str]:
    """The words as argparse can tell them apart: what stands behind `--` is for an option of its own."""
    place = list(words).index("--") if "--" in words else len(words)
    return [*words[:place], *(["--record"] if place < len(words) else []), *words[place + 1 :]]


def run(args: argparse.Namespace) -> int:
    """Watch, and give the program's exit status if it was started here."""
    if (args.experiment is None) is (args.record is None):
        raise UsageError("watch what? `collector watch EXPT` while it is recorded, or `collector watch -- PROGRAM`")
    if not _SHORTEST_S <= args.interval <= _LONGEST_S:
        raise UsageError(f"--interval is from {_SHORTEST_S:g} to {_LONGEST_S:g} seconds, not {args.interval:g}")
    has_screen = not args.lines and _is_screen()
    if args.record is not None:
        return _watch_program(args.record, args.interval, has_screen)
    _watch(args.experiment, args.interval, has_screen, sys.stdout)
    return 0


def _is_screen() -> bool:
    if not (sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()) or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        import curses
    except ImportError:  # a Python that was built without it
        return False
    with contextlib.suppress(curses.error):
        curses.setupterm()
        return True
    return False


def _watch_program(words: Sequence[str], interval_s: float, has_screen: bool) -> int:
    from collector.capture.program import CannotRun

    sys.stdout.flush()
    try:
        program = RecordedProgram(words, is_apart=has_screen)
    except CannotRun as error:
        say(str(error))
        return error.status
    note = f"the program's output goes to {program.output}" if program.output else ""
    with contextlib.suppress(ExperimentNotFoundError):  # nothing came of it, and the recorder says why
        _watch(program.experiment, interval_s, has_screen, sys.stderr, note, program)
    if not program.has_ended:
        say(f"{program.experiment} is recorded on until the program ends; Ctrl-C is for the program")
    status = program.wait()
    for line in program.closing_words().splitlines():
        say(line.removeprefix("collector: "))
    if program.output:
        say(f"the program's output is in {program.output}")
    return status


def _watch(path: str, interval_s: float, has_screen: bool, stream: TextIO | None, note: str = "", program: RecordedProgram | None = None) -> None:
    """Show an experiment until it is over, or nobody wants to see more. That of a program of ours need not be there yet."""
    from collector.symbols.symbolizer import Symbolizer

    totals, live = LiveTotals(), LiveExperiment(path, Symbolizer())

    def look() -> float | None:
        """Take in what is new; seconds until the next look, None if there is none."""
        was_last, is_first, begun_s = program is not None and program.has_ended, totals.profile is None, time.process_time()
        try:
            totals.add(live.look(), time.monotonic())
        except ExperimentNotFoundError:
            if program is None or was_last or totals.profile is not None:
                raise
        if was_last or (program is None and live.is_over):
            return None
        return interval_s if is_first else max(interval_s, (time.process_time() - begun_s) / _LARGEST_SHARE)

    if has_screen:
        from collector.cli.watching.terminal_screen import TerminalScreen

        TerminalScreen(totals, look, note).show()
        return
    written = ""
    while True:
        pause_s, before = look(), written
        written = text.line(totals)
        if written != before:
            _write_line(written, stream)
        if pause_s is None:
            return
        if program is None:
            time.sleep(pause_s)
        else:
            program.await_end(pause_s)


def _write_line(line: str, stream: TextIO | None) -> None:
    if stream is None:
        return  # standard error was closed; the program runs all the same
    try:
        stream.write(line + "\n")
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CollectorError(f"the lines cannot be written: {(error.strerror or str(error)).lower()}") from error
