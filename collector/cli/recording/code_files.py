"""code_files -- which processes of a recording may have left files about their code, and those files taken in"""

from __future__ import annotations

import os

from collector.capture.jit_files import JitProcess, keep_jit_files
from collector.errors import CollectorError
from collector.experiment.directory import open_directory
from collector.experiment.events import Initialize
from collector.experiment.log_reader import EventReader


def keep_code_files(experiment: str) -> list[str]:
    """Take in what compilers of the recorded processes wrote about their code; sentences about what could not be."""
    try:
        directory = open_directory(experiment)
    except CollectorError:
        return []
    processes: dict[int, JitProcess] = {}
    for log in directory.logs:
        begun = _first_record(log.path)
        if begun is not None and log.origin.pid not in processes:
            uid = os.getuid() if begun.uid is None else begun.uid
            processes[log.origin.pid] = JitProcess(log.origin.pid, uid, begun.directory or "/", begun.wall_ns or 0)
    return keep_jit_files(directory.objects_path, processes.values())


def _first_record(path: str) -> Initialize | None:
    try:
        first = next(iter(EventReader(path)), None)
    except CollectorError:
        return None
    return first if isinstance(first, Initialize) else None
