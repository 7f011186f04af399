"""record -- run a program and record where its time goes

    collector record [options] [--] PROGRAM [ARG...]
    collector record [options] SCRIPT.py [ARG...]
    collector record [options] -m MODULE [ARG...]    as python3 -m MODULE
    collector record [options] -c CODE [ARG...]      as python3 -c CODE

The options are those of collect(1). Everything after PROGRAM belongs to the program.
The exit status is the program's, and a signal that killed it kills `collector record`, too; 126 or 127, as from a shell, if it could not be run.
It is 1 where the program ended well but nothing was recorded.
"""

from __future__ import annotations

from collector.capture import options
from collector.capture.installation import find_installation
from collector.capture.native import probe_event
from collector.capture.program import CannotRun
from collector.cli.plain_parser import PROGRAM
from collector.cli.recording import metrics
from collector.cli.recording.execution import RecordResult, carry_out
from collector.cli.recording.plan import Plan, make_plan
from collector.cli.recording.python_command import with_interpreter
from collector.cli.recording.ranks import become
from collector.cli.recording.saying import say
from collector.errors import NoSpaceError, RecordError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

NAME = "record"
HELP = __doc__ or ""


def prepare(words: list[str]) -> list[str]:
    """Put the interpreter in front of a Python module or code."""
    return with_interpreter(words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of collect(1), each with a long name."""
    add = parser.add_argument
    add("-o", "--output", metavar="NAME.expt", help="the experiment to make; default PROGRAM.N.expt, with the first N that is free")
    add("-O", "--overwrite", metavar="NAME.expt", help="the same, and if an experiment of that name is there, it is deleted first")
    add("-p", "--profile", metavar="on|off|hi|lo|VALUE[u|m]", default="on",
        help="CPU clock: on 941 Hz (default), hi 9973 Hz, lo 97 Hz, or a period in milliseconds (m) or microseconds (u)")
    add("-S", "--sample", metavar="on|off|SECONDS", default="on", help="periodic samples of each process; on (default) is every second")
    add("-l", "--sample-signal", metavar="SIGNAL", help="a signal that takes a sample when the program gets it")
    add("-y", "--pause-signal", metavar="SIGNAL[,r]",
        help="a signal that pauses and resumes recording; recording starts paused unless ,r is given")
    add("-t", "--time", metavar="DURATION|START-END", help="the part of the run to record, in seconds (s) or minutes (m)")
    add("-F", "--follow", metavar="on|off|=REGEX", help="descendants to record: all (default), none, or those whose program's name matches")
    add("--ranks", metavar="LIST", help="of a parallel job, record only these ranks: 0,8-15 or, every fourth, 0-/4; the others run unrecorded")
    add("--rank-frequency", metavar="LIST=RATE", action="append", default=[],
        help="of a parallel job, sample these ranks at another rate, as -p has it: 1-=lo; may be repeated")
    add("-C", "--comment", metavar="TEXT", action="append", default=[], help="a comment to keep in the experiment; may be repeated")
    add("-n", "--dry-run", action="store_true", help="say what would be done, and do nothing")
    add("--clock", choices=options.CLOCKS, default="auto", help="the clock to use; auto takes the best that works here")
    add("--wall", action="store_const", const="watched", help="also record where each thread waits, watched from outside")
    add("--wall=exact", dest="wall", action="store_const", const="exact",
        help="the same, but each wait with its length and stack, told by the thread itself: needs CAP_PERFMON, and takes the CPU timer for a clock")
    add("-h", "--events", metavar="EVENT[,on|hi|lo|NUMBER],...", nargs="?", const="",
        help="also sample the program whenever such events have happened so often: page faults, cache misses, ...; alone: list them")
    add("--counters", metavar="EVENT,...", help="also count such events, and faults and switches, by the code that the next tick finds")
    add("--jit", action="store_true", help="have Java, node, .NET, mono, LuaJIT, PyPy and PHP name the code they make as they run")
    metrics.add_arguments(parser)
    add("command", metavar="PROGRAM", nargs=PROGRAM, help="the program, or a Python script, and its arguments behind it").required = False


def run(args: argparse.Namespace) -> int:
    """Record and give the exit status."""
    return record(args).status


def record(args: argparse.Namespace) -> RecordResult:
    """Record a program; what there is to say goes to stderr."""
    if args.list_metrics:
        return _list_metrics(args)
    if args.events == "":
        from collector.capture.perf_events import describe_events

        print("\n".join(describe_events(probe_event)))
        return RecordResult(None, 0)
    try:
        plan = make_plan(args)
    except CannotRun as error:
        say(str(error))
        return RecordResult(None, error.status)
    if plan.job.is_left_out and not args.dry_run:
        return _run_unrecorded(plan)
    if plan.program.reason and args.follow in (None, "off"):
        hint = "" if args.follow else "; to record the descendants it may have, say so with -F on"
        raise RecordError(f"{plan.program.reason}: nothing was run{hint}")
    if args.dry_run:
        from collector.cli.recording.dry_run import describe_plan

        print("\n".join(describe_plan(plan)))
        return RecordResult(None, 0)
    if plan.program.reason and plan.job.is_speaker:
        say(f"{plan.program.reason}; only its descendants can be recorded")
    try:
        return carry_out(plan)
    except NoSpaceError as error:
        if not plan.job.shares:
            raise RecordError(f"{error}; nothing was run") from None
        say(f"{error}: this rank runs unrecorded")  # without it, its launcher would end the others
        return _run_unrecorded(plan)


def _run_unrecorded(plan: Plan) -> RecordResult:
    try:
        become(plan.program, plan.command)
    except OSError as error:
        say(f"{plan.command[0]}: {error.strerror}")
    return RecordResult(None, 126)


def _list_metrics(args: argparse.Namespace) -> RecordResult:
    choice = metrics.plan_metrics(args, find_installation()).choice
    print("\n".join(metrics.list_metrics(choice)))
    for problem in choice.problems:
        say(problem)
    return RecordResult(None, 1 if choice.problems else 0)
