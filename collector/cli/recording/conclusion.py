"""conclusion -- the end of a recording: logs of killed processes brought to theirs, all added up, and what came of it said"""

from __future__ import annotations

import os

from collector.capture.launch import Ending
from collector.capture.recorded_processes import RecordedProcesses
from collector.cli.recording.code_files import keep_code_files
from collector.cli.recording.outcome import tell_outcome
from collector.cli.recording.plan import Plan
from collector.cli.recording.saying import say
from collector.cli.recording.unrecorded import UnrecordedDescendants, count_missing_logs, tell_unrecorded, why_no_command
from collector.errors import CollectorError, ExperimentError
from collector.experiment.log_outline import read_start_ticks
from collector.experiment.totals import Totals, sum_up

_MOST_TURNS = 5


def conclude(plan: Plan, experiment: str, ending: Ending, unrecorded: UnrecordedDescendants) -> bool:
    """Bring the logs of killed processes to their end and say what was recorded; False if nothing was."""
    try:
        totals, live = add_up(experiment, ending.pid)
        found = unrecorded.finish(totals, live, ending)
    except (CollectorError, OSError) as error:
        say(f"{plan.job.title(experiment)}: {error}")
        return False
    why_not = "" if totals.log_count else why_no_command(found)
    missing_count, is_clock_off = count_missing_logs(found), plan.wanted.clock == "off"
    outcome = tell_outcome(experiment, plan.job.title(experiment), plan.command[0], totals, live, is_clock_off, ending, why_not, missing_count)
    complaints = keep_code_files(experiment, plan.names_jit_code)
    problems = plan.metrics.choice.problems if plan.job.is_speaker else ()
    others = [one for one in found if totals.log_count or not one.is_command]  # of which it is said already that nothing was recorded
    sentences = [sentence for sentence in (*outcome.sentences, tell_unrecorded(others), *problems, *complaints) if sentence]
    for sentence in plan.job.sentences(experiment, sentences, outcome.is_clean):
        say(sentence)
    return outcome.has_recorded


def add_up(experiment: str, root_pid: int) -> tuple[Totals, dict[int, int]]:
    """The totals of all logs, and RecordedProcesses.live of the processes that go on: both are of one time, unless logs keep beginning."""
    processes = RecordedProcesses(experiment, read_start_ticks)
    for _ in range(_MOST_TURNS):
        begun, live = processes.begun_logs(), dict[int, int]()
        if processes.untruncated_logs():
            live = processes.live()
            _recover(experiment, processes)
        totals = sum_up(experiment, root_pid)
        if processes.begun_logs() == begun:
            break
    return totals, live


def _recover(experiment: str, processes: RecordedProcesses) -> None:
    from collector.experiment.open_frames import recover

    try:
        recover(experiment, lambda log: processes.find_writer(os.path.basename(log.path)) is not None)
    except ExperimentError as error:
        say(f"{error}; reports find them where they are")
