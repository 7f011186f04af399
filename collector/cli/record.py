"""record -- run a program and record where its time goes

    collector record [options] [--] PROGRAM [ARG...]
    collector record [options] SCRIPT.py [ARG...]
    collector record [options] -m MODULE [ARG...]    as python3 -m MODULE
    collector record [options] -c CODE [ARG...]      as python3 -c CODE

The options are those of collect(1). Everything after PROGRAM belongs to the program.
The exit status is the program's: 128+n if signal n killed it, 126 or 127, as from a shell, if it could not be run.
It is 1 where the program ended well but nothing was recorded.
"""

import argparse
import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from collector.capture import destination, options
from collector.capture.environment import build_environment, make_preloadable
from collector.capture.event_holder import EventHolder
from collector.capture.installation import find_installation
from collector.capture.job_directory import cannot_make
from collector.capture.launch import Ending, StartError, restore_signals, start, wait
from collector.capture.metric_table import definitions, write_table
from collector.capture.native import probe_event
from collector.capture.program import CannotRun, can_be_preloaded
from collector.capture.readings import ProcessReadings, read_process
from collector.capture.recorded_processes import RecordedProcesses
from collector.cli.recording import metrics
from collector.cli.recording.launch_log import LaunchLog
from collector.cli.recording.node_metrics import NodeMetrics
from collector.cli.recording.plan import Plan, make_plan
from collector.cli.recording.python_command import title_of, with_interpreter
from collector.cli.recording.ranks import become
from collector.cli.recording.saying import say
from collector.cli.recording.unrecorded import Explainer, UnrecordedDescendants, tell_unrecorded, why_no_command
from collector.errors import CollectorError, ExperimentError, ExperimentExistsError, NoSpaceError, RecordError, UsageError
from collector.experiment.log_outline import read_start_ticks

if TYPE_CHECKING:
    from collector.capture.wait_watcher import WaitWatcher

NAME = "record"
HELP = __doc__ or ""


class RecordResult(NamedTuple):
    """What came of it: the experiment (None if there is none to show) and our exit status."""

    experiment: str | None
    status: int


def prepare(words: list[str]) -> list[str]:
    """Put the interpreter in front of a Python module or code."""
    return with_interpreter(words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of collect(1), each with a long name."""
    add = parser.add_argument
    add("-o", "--output", metavar="NAME.expt", help="the experiment to make; default PROGRAM.N.expt, with the first N that is free")
    add("-O", "--overwrite", metavar="NAME.expt", help="the same, and if an experiment of that name is there, it is deleted first")
    add("-p", "--profile", metavar="on|off|hi|lo|VALUE[u|m]", default="on",
        help="CPU clock: on 997 Hz (default), hi 9973 Hz, lo 97 Hz, or a period in milliseconds (m) or microseconds (u)")
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
    add("command", metavar="PROGRAM", nargs=argparse.PARSER, help="the program, or a Python script, and its arguments behind it").required = False


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
        return _carry_out(plan)
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


def _carry_out(plan: Plan) -> RecordResult:
    if plan.is_overwritten and plan.experiment is not None:
        writers = RecordedProcesses(os.path.abspath(plan.experiment), read_start_ticks).live()
        if writers:  # whose logs would be taken from under them
            raise UsageError(f"{plan.experiment} is being written by process {next(iter(writers))}; choose another name, or wait for its end")
    experiment = _claim(plan)
    try:
        log = LaunchLog(experiment)
        log.begin(plan.program.path, plan.command, plan.describe())
        for problem in plan.metrics.choice.problems:
            log.message(problem)
        table = _write_metrics(plan, experiment, log)
        if plan.names_jit_code:
            os.makedirs(os.path.join(experiment, "objects"), mode=0o700, exist_ok=True)  # where runtimes write what they can be told to
        if log.error:
            raise log.error
    except FileExistsError:
        raise ExperimentExistsError(f"{experiment} is being written already") from None  # whose files are left alone
    except OSError as error:
        destination.remove_experiment(experiment)
        raise cannot_make(experiment, error, "written") from None
    holder = EventHolder(experiment)
    try:
        explainer = Explainer(plan.follow, os.environ.get("PATH", os.defpath), plan.recorder, plan.wanted.ranks or "")
        unrecorded = UnrecordedDescendants(experiment, log, plan.program, explainer)
        node = NodeMetrics(plan.metrics.choice, experiment, table, plan.job.claims_node(experiment))
        ending = _run_program(plan, experiment, log, table, unrecorded, holder, node)
    except StartError as error:
        holder.close()
        destination.remove_experiment(experiment)
        say(f"{plan.command[0]}: {error}")
        return RecordResult(None, 126)
    try:
        has_recorded = _conclude(plan, experiment, ending, unrecorded)
        if node.problem:
            say(node.problem)
    finally:
        log.close()
        holder.close()  # last: what still runs is recorded at its best for as long as we are here
    status = ending.exit_status
    return RecordResult(experiment if has_recorded else None, status if has_recorded else status or 1)


def _claim(plan: Plan) -> str:
    if plan.job.shares and plan.experiment is not None:
        return plan.job.claim(plan.experiment)
    return destination.claim_directory(plan.experiment, title_of(plan.command), plan.is_overwritten)


def _write_metrics(plan: Plan, experiment: str, log: LaunchLog) -> str | None:
    choice, interval_ns = plan.metrics.choice, plan.metrics.interval_ns
    log.metrics(definitions(choice), interval_ns)
    return write_table(experiment, choice, interval_ns) if choice.plugins else None


def _run_program(
    plan: Plan, experiment: str, log: LaunchLog, table: str | None, unrecorded: UnrecordedDescendants, holder: EventHolder, node: NodeMetrics
) -> Ending:
    preload, directory = make_preloadable(plan.recorder)

    def environment_of(pid: int) -> dict[str, str]:
        if not can_be_preloaded(plan.program):
            return dict(os.environ)
        asked = plan.options_at(time.monotonic_ns(), pid)
        preloads = plan.metrics.choice.preloads
        return build_environment(
            os.environ, preload, experiment, asked, plan.follow, table, preloads, holder.address, node.is_read_here, plan.names_jit_code
        )

    processes = RecordedProcesses(experiment, read_start_ticks)
    last: list[ProcessReadings | None] = [None]

    def take_samples() -> None:
        live = processes.live()
        unrecorded.look(live)
        for pid, own_pid in live.items():
            readings = read_process(pid) if pid == own_pid else None  # in a namespace, the number would be somebody else's here
            if readings is not None:
                log.sample(pid, readings)

    def take_last() -> None:
        last[0] = read_process(child.pid)

    path, arguments = plan.program.start_with(plan.command)
    watcher = _watcher(plan.recorder, experiment) if plan.watches_waits else None
    child = start(path, arguments, environment_of, watcher.start if watcher else None)
    holder.start()
    unrecorded.watch(child.pid)
    try:
        node.start(plan.recorder, plan.window or options.Window())
        with _collecting_garbage():
            ending = wait(child, plan.interval_ns, take_samples, take_last, lambda pid: os.path.exists(os.path.join(experiment, f"{pid}.0.log")))
        log.finish(child.pid, last[0], ending)
    finally:
        node.finish(log)
        if watcher:
            _finish_watching(watcher, log)
        restore_signals(child)
        if directory is not None and not processes.live():
            os.unlink(preload)
            os.rmdir(directory)
    return ending


@contextmanager
def _collecting_garbage() -> Iterator[None]:
    """For as long as a program may run; what there is already stays."""
    is_enabled = gc.isenabled()
    if not is_enabled:
        gc.freeze()
        gc.enable()
    yield
    if not is_enabled:
        gc.disable()


def _watcher(recorder: str, experiment: str) -> "WaitWatcher":
    from collector.capture.wait_watcher import WaitWatcher

    return WaitWatcher(recorder, experiment)


def _finish_watching(watcher: "WaitWatcher", log: LaunchLog) -> None:
    problem = watcher.finish()
    if problem:
        log.message(problem)
        say(problem)


def _conclude(plan: Plan, experiment: str, ending: Ending, unrecorded: UnrecordedDescendants) -> bool:
    """Bring the logs of killed processes to their end and say what was recorded; False if nothing was."""
    from collector.cli.recording.code_files import keep_code_files
    from collector.cli.recording.outcome import tell_outcome
    from collector.experiment.totals import sum_up

    live: dict[int, int] = {}
    try:
        processes = RecordedProcesses(experiment, read_start_ticks)
        if processes.untruncated_logs():
            live = processes.live()
            _recover(experiment, processes)
        totals = sum_up(experiment, ending.pid)
        found = unrecorded.finish(totals, live, ending)
    except (CollectorError, OSError) as error:
        say(f"{plan.job.title(experiment)}: {error}")
        return False
    why_not = "" if totals.log_count else why_no_command(found)
    outcome = tell_outcome(experiment, plan.job.title(experiment), plan.command[0], totals, live, plan.wanted.clock == "off", ending, why_not)
    complaints = keep_code_files(experiment, plan.names_jit_code)
    problems = plan.metrics.choice.problems if plan.job.is_speaker else ()
    others = [one for one in found if not (why_not and one.is_command)]
    sentences = [sentence for sentence in (*outcome.sentences, tell_unrecorded(others), *problems, *complaints) if sentence]
    for sentence in plan.job.sentences(experiment, sentences, outcome.is_clean):
        say(sentence)
    return outcome.has_recorded


def _recover(experiment: str, processes: RecordedProcesses) -> None:
    from collector.experiment.open_frames import recover

    try:
        recover(experiment, lambda log: processes.find_writer(os.path.basename(log.path)) is not None)
    except ExperimentError as error:
        say(f"{error}; reports find them where they are")
