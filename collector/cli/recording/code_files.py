"""code_files -- which processes of a recording may have left files about their code, and those files taken in"""

from __future__ import annotations

import os
import re

from collector.capture.jit_files import JitProcess, keep_jit_files, remove_v8_logs
from collector.errors import CollectorError
from collector.experiment.directory import open_directory
from collector.experiment.log_outline import read_beginning

_ASKS_FOR_LOG = r"--(log|prof|perf|trace|ll-)"


def keep_code_files(experiment: str, was_asked: bool = False) -> list[str]:
    """Take in what compilers of the recorded processes wrote about their code; sentences about what could not be.

    `was_asked`: we asked for it, so what else they left behind for that is taken away.
    """
    try:
        directory = open_directory(experiment)
    except CollectorError:
        return []
    processes: dict[int, JitProcess] = {}
    asked_by_user: set[int] = set()
    for log in directory.logs:
        if log.origin.pid in processes:
            continue
        try:
            begun = read_beginning(log.path)
        except OSError:
            continue
        if begun:
            user_id = begun.get("uid")
            if was_asked and any(re.match(_ASKS_FOR_LOG, word) for word in begun.get("arguments") or ()):
                asked_by_user.add(log.origin.pid)
            processes[log.origin.pid] = JitProcess(
                log.origin.pid, os.getuid() if user_id is None else user_id, begun.get("directory") or "/", begun.get("wall_ns") or 0
            )
    if was_asked and not re.search(_ASKS_FOR_LOG, os.environ.get("NODE_OPTIONS", "")):
        remove_v8_logs(process for pid, process in processes.items() if pid not in asked_by_user)
    if directory.objects_path is None:
        return []
    return keep_jit_files(directory.objects_path, processes.values())
