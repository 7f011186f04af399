"""record -- run a program and record where its time goes

    collector record [options] [--] PROGRAM [ARG...]

The options are those of collect(1). Everything after PROGRAM belongs to the program.
The exit status is the program's: 128+n if signal n killed it, 126 or 127, as from a shell, if it could not be run.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, replace

from collector.capture import destination, options
from collector.capture.environment import build_environment
from collector.capture.installation import find_installation
from collector.capture.launch import StartError, start, wait
from collector.capture.program import CannotRun, find_program

NAME = "record"
HELP = __doc__ or ""


@dataclass(frozen=True, slots=True)
class Recording:
    """What came of it: the experiment (None if there is none), whether anything was written to it, and our exit status."""

    experiment: str | None
    has_log: bool
    status: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of collect(1), each with a long name."""
    add = parser.add_argument
    add("-o", "--output", metavar="NAME.expt", help="the experiment to make; default PROGRAM.N.expt, with the first N that is free")
    add("-O", "--overwrite", metavar="NAME.expt", help="the same, and if an experiment of that name is there, it is deleted first")
    add("-p", "--profile", metavar="on|off|hi|lo|VALUE[u|m]", default="on",
        help="CPU clock: on 997 Hz (default), hi 9973 Hz, lo 97 Hz, or a period in milliseconds (m) or microseconds (u)")
    add("-S", "--sample", metavar="on|off|SECONDS", default="on", help="periodic samples of each process; default on, every second")
    add("-l", "--sample-signal", metavar="SIGNAL", help="a signal that takes a sample when the program gets it")
    add("-y", "--pause-signal", metavar="SIGNAL[,r]",
        help="a signal that pauses and resumes recording; recording starts paused unless ,r is given")
    add("-t", "--time", metavar="DURATION|START-END", help="the part of the run to record, in seconds (s) or minutes (m)")
    add("-F", "--follow", metavar="on|off|=REGEX", default=None,
        help="descendants to record: all (default), none, or those whose program's name matches")
    add("-C", "--comment", metavar="TEXT", action="append", default=[], help="a comment to keep in the experiment; may be repeated")
    add("-n", "--dry-run", action="store_true", help="say what would be done, and do nothing")
    add("--clock", choices=options.CLOCKS, default="auto", help="the clock to use; auto takes the best that works here")
    add("--context-switches", action="store_true", help="also record when threads are switched out")
    add("command", metavar="PROGRAM [ARG...]", nargs=argparse.PARSER, help="the program and its arguments")


def run(args: argparse.Namespace) -> int:
    """Record and give the exit status."""
    return record(args).status


def record(args: argparse.Namespace) -> Recording:
    """Record a program; what there is to say goes to stderr."""
    command = args.command[1:] if args.command[0] == "--" else args.command
    installation = find_installation()
    try:
        program = find_program(command[0], os.environ.get("PATH", os.defpath), installation.recorder)
    except CannotRun as error:
        say(str(error))
        return Recording(None, False, error.status)
    period = options.parse_period(args.profile)
    wanted = options.RecorderOptions(clock=args.clock if period else "off", period=period or options.DEFAULT_PERIOD_NS)
    experiment = destination.claim_directory(args.overwrite or args.output, command[0], args.overwrite is not None)

    def environment_of(pid: int) -> dict[str, str]:
        return build_environment(os.environ, installation.recorder, experiment, replace(wanted, root=pid), args.follow or "on")

    try:
        child = start(program.path, command, environment_of)
    except StartError as error:
        say(f"{command[0]}: {error}")
        return Recording(experiment, False, 126)
    ending = wait(child, None, lambda: None, lambda: None)
    say(f"the experiment is {os.path.relpath(experiment)}")
    return Recording(experiment, True, ending.exit_status)


def say(sentence: str) -> None:
    """Print one sentence of ours where it does not mix with the program's output."""
    print(f"collector: {sentence}", file=sys.stderr)
