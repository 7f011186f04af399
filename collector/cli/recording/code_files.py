"""code_files -- which processes of a recording may have left files about their code, and those files taken in"""

from __future__ import annotations

import os

from collector.capture.jit_files import JitProcess, keep_jit_files
from collector.errors import CollectorError
from collector.experiment.directory import open_directory
from collector.experiment.log_outline import read_beginning


def keep_code_files(experiment: str) -> list[str]:
    """Take in what compilers of the recorded processes wrote about their code; sentences about what could not be."""
    try:
        directory = open_directory(experiment)
    except CollectorError:
        return []
    processes: dict[int, JitProcess] = {}
    for log in directory.logs:
        if log.origin.pid in processes:
            continue
        try:
            begun = read_beginning(log.path)
        except OSError:
            continue
        if begun:
            user_id = begun.get("uid")
            processes[log.origin.pid] = JitProcess(
                log.origin.pid, os.getuid() if user_id is None else user_id, begun.get("directory") or "/", begun.get("wall_ns") or 0
            )
    if directory.objects_path is None:
        return []
    return keep_jit_files(directory.objects_path, processes.values())
