"""execution -- a plan carried out: the experiment made, the program run in it and watched until it ends"""

from __future__ import annotations

import gc
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from collector.capture import destination, options
from collector.capture.environment import build_environment, make_preloadable
from collector.capture.event_holder import EventHolder
from collector.capture.job_directory import cannot_make
from collector.capture.launch import Child, Ending, StartError, restore_signals, start, wait
from collector.capture.metric_table import definitions, write_table
from collector.capture.program import can_be_preloaded
from collector.capture.readings import ProcessReadings, read_process
from collector.capture.recorded_processes import RecordedProcesses
from collector.cli.recording.launch_log import LaunchLog
from collector.cli.recording.node_metrics import NodeMetrics
from collector.cli.recording.own_errors import OwnErrors
from collector.cli.recording.plan import Plan
from collector.cli.recording.python_command import title_of
from collector.cli.recording.saying import say
from collector.cli.recording.unrecorded import Explainer, UnrecordedDescendants
from collector.errors import ExperimentExistsError, UsageError
from collector.experiment.log_outline import read_start_ticks
from collector.named_tuple import NamedTuple
from collector.regular_file import give_owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.capture.wait_watcher import WaitWatcher


class RecordResult(NamedTuple):
    """What came of it: the experiment (None if there is none to show) and our exit status, -n to be killed by signal n as the program was."""

    experiment: str | None
    status: int


def carry_out(plan: Plan) -> RecordResult:
    """Run the program and record it."""
    if plan.is_overwritten and plan.experiment is not None:
        _refuse_written(plan.experiment)
    experiment = _claim(plan)
    log, table = _begin(plan, experiment)
    run = _Run(plan, experiment, log, table)
    try:
        ending = run.from_start_to_end()
    except StartError as error:
        run.holder.close()
        log.close()
        destination.remove_experiment(experiment)
        say(f"{plan.command[0]}: {error}")
        return RecordResult(None, 126)
    has_recorded = _conclude(run, plan, experiment, ending)
    status = ending.exit_status
    return RecordResult(experiment if has_recorded else None, status if has_recorded else status or 1)


def _conclude(run: _Run, plan: Plan, experiment: str, ending: Ending) -> bool:
    """Say what was recorded; False if nothing was."""
    has_recorded = True  # as far as anybody knows
    with run.errors.outlived(f"{plan.job.title(experiment)}: recorded, but not looked through; reports show what there is"):
        try:
            from collector.cli.recording.conclusion import conclude  # the program has run meanwhile

            _give_owner_all(experiment)
            run.holder.catch_up()
            run.unrecorded.note_recorded(run.holder.recorded, run.holder.without_log)
            has_recorded = os.path.isdir(experiment) and conclude(plan, experiment, ending, run.unrecorded)
            if not os.path.isdir(experiment):
                say(f"{plan.job.title(experiment)}: the experiment was removed while it was recorded: nothing is left of it")
            if run.node.problem:
                say(run.node.problem)
        finally:
            run.log.close()
            run.holder.close()  # last: what still runs is recorded at its best for as long as we are here
    return has_recorded


def _refuse_written(experiment: str) -> None:
    """UsageError if the logs of somebody who writes them would be taken from under him."""
    writers = RecordedProcesses(os.path.abspath(experiment), read_start_ticks).live()
    if writers:
        raise UsageError(f"{experiment} is being written by process {next(iter(writers))}; choose another name, or wait for its end")


def _claim(plan: Plan) -> str:
    if plan.job.shares and plan.experiment is not None:
        return plan.job.claim(plan.experiment)
    return destination.claim_directory(plan.experiment, title_of(plan.command), plan.is_overwritten)


def _begin(plan: Plan, experiment: str) -> tuple[LaunchLog, str | None]:
    """Write what is there before the program: the launcher's log, and the table of metrics, whose path is given if there are any."""
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
    return log, table


def _write_metrics(plan: Plan, experiment: str, log: LaunchLog) -> str | None:
    choice, interval_ns = plan.metrics.choice, plan.metrics.interval_ns
    log.metrics(definitions(choice), interval_ns)
    return write_table(experiment, choice, interval_ns) if choice.plugins else None


class _Run:
    """The program's run, and who is there beside it: `holder` has its perf events, `unrecorded` finds who has no log, `node` has metrics read.

    Once the program runs, no error of ours keeps us from waiting for it.
    """

    def __init__(self, plan: Plan, experiment: str, log: LaunchLog, table: str | None) -> None:
        self._plan = plan
        self._experiment = experiment
        self._table = table
        self.log = log
        self.errors = OwnErrors()
        self._processes = RecordedProcesses(experiment, read_start_ticks)
        self.holder = EventHolder(experiment)
        explainer = Explainer(plan.follow, os.environ.get("PATH", os.defpath), plan.recorder, plan.wanted.ranks or "")
        self.unrecorded = UnrecordedDescendants(experiment, log, plan.program, explainer)
        self.node = NodeMetrics(plan.metrics.choice, experiment, table, plan.job.claims_node(experiment))

    def from_start_to_end(self) -> Ending:
        """Start the program and wait for it. StartError if it cannot be run."""
        plan = self._plan
        preload, directory = make_preloadable(plan.recorder)
        path, arguments = plan.program.start_with(plan.command)
        watcher = _watcher(plan.recorder, self._experiment) if plan.watches_waits else None
        child = start(path, arguments, lambda pid: self._environment_of(pid, preload), watcher.start if watcher else None)
        with self.errors.outlived("some of what goes on beside the program is not recorded"):
            self.holder.start()
            self.unrecorded.watch(child.pid)
            self.node.start(plan.recorder, plan.window or options.Window())
        ending = self._wait(child)
        with self.errors.outlived("what went on beside the program is not recorded whole"):
            self.node.finish(self.log)
            if watcher:
                _finish_watching(watcher, self.log)
        restore_signals(child)
        if directory is not None:
            with self.errors.outlived(f"{directory} is left behind"):
                self._remove(preload, directory)
        return ending

    def _remove(self, preload: str, directory: str) -> None:
        """The copy of the recorder, unless somebody may need it still."""
        if not self._processes.live():
            os.unlink(preload)
            os.rmdir(directory)

    def _environment_of(self, pid: int, preload: str) -> dict[str, str]:
        plan = self._plan
        if not can_be_preloaded(plan.program):
            return dict(os.environ)
        asked, preloads = plan.options_at(time.monotonic_ns(), pid), plan.metrics.choice.preloads
        return build_environment(
            os.environ, preload, self._experiment, asked, plan.follow, self._table, preloads, self.holder.address, self.node.is_read_here, plan.names_jit_code
        )

    def _wait(self, child: Child) -> Ending:
        """How the program ended, which is written with what was read of it then."""
        last: list[ProcessReadings | None] = []

        def read_last() -> None:
            with self.errors.outlived("the last sample of the program is missing"):
                last.append(read_process(child.pid))

        with _collecting_garbage():
            ending = wait(child, self._plan.interval_ns, self._take_samples, read_last, self._is_recorded)
        self.log.finish(child.pid, last[0] if last else None, ending)
        return ending

    def _take_samples(self) -> None:
        with self.errors.outlived("periodic samples are missing"):
            live = self._processes.live()
            self.unrecorded.look(live)
            for pid, own_pid in live.items():
                readings = read_process(pid) if pid == own_pid else None  # in a namespace, the number would be somebody else's here
                if readings is not None:
                    self.log.sample(pid, readings)

    def _is_recorded(self, pid: int) -> bool:
        return os.path.exists(os.path.join(self._experiment, f"{pid}.0.log"))


def _give_owner_all(experiment: str) -> None:
    """A process whose umask withholds it could neither let its log be read nor, when it is killed, be cut."""
    with suppress(OSError), os.scandir(experiment) as entries:  # the program may have removed it
        for entry in entries:
            if ~entry.stat(follow_symlinks=False).st_mode & (stat.S_IRUSR | stat.S_IWUSR):
                give_owner(entry.path)


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


def _watcher(recorder: str, experiment: str) -> WaitWatcher:
    from collector.capture.wait_watcher import WaitWatcher

    return WaitWatcher(recorder, experiment)


def _finish_watching(watcher: WaitWatcher, log: LaunchLog) -> None:
    problem = watcher.finish()
    if problem:
        log.message(problem)
        say(problem)
