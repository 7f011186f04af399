"""code_files -- which processes of a recording may have left files about their code, and those files taken in"""

from __future__ import annotations

import os

from collector.capture.jit_files import JitProcess, keep_jit_files, remove_v8_logs
from collector.experiment.log_outline import read_beginning
from collector.experiment.origin import parse_log_name

_ASKS_FOR_LOG = ("--log", "--prof", "--perf", "--trace", "--ll-")


def keep_code_files(experiment: str, was_asked: bool = False) -> list[str]:
    """Take in what compilers of the recorded processes wrote about their code; sentences about what could not be.

    `was_asked`: we asked for it, so what else they left behind for that is taken away.
    """
    try:
        origins = sorted(origin for name in os.listdir(experiment) if (origin := parse_log_name(name)) and origin.is_process)
    except OSError:
        return []
    processes: dict[int, JitProcess] = {}
    asked_by_user: set[int] = set()
    for origin in origins:
        if origin.pid in processes:
            continue
        try:
            begun = read_beginning(os.path.join(experiment, f"{origin}.log"))
        except OSError:
            continue
        if begun:
            user_id = begun.get("uid")
            if was_asked and any(word.startswith(_ASKS_FOR_LOG) for word in begun.get("arguments") or ()):
                asked_by_user.add(origin.pid)
            processes[origin.pid] = JitProcess(
                origin.pid, os.getuid() if user_id is None else user_id, begun.get("directory") or "/", begun.get("wall_ns") or 0
            )
    if was_asked and not any(option in os.environ.get("NODE_OPTIONS", "") for option in _ASKS_FOR_LOG):
        remove_v8_logs(process for pid, process in processes.items() if pid not in asked_by_user)
    objects = os.path.join(experiment, "objects")
    if os.path.lexists(objects) and (os.path.islink(objects) or not os.path.isdir(objects)):
        return []  # somebody else's
    return keep_jit_files(objects, processes.values())
