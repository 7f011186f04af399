"""names -- what functions, threads and processes are called in exports: one line each, whatever the program named them"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

from collector.printable import printable
from collector.profile.groupings import numbered
from collector.profile.model import Process, Profile

_NO_NAME: Final = "(no name)"
_OTHER_PLACE: Final = 10_000_000
"""More than any pid. Perfetto has 32 bits for them."""


def function_names(profile: Profile) -> list[str]:
    """The name of each function."""
    return [printable(function.name) or _NO_NAME for function in profile.functions]


def process_name(process: Process) -> str:
    """The name of its program."""
    return printable(os.path.basename(process.executable)) or f"process {process.pid}"


def process_numbers(profile: Profile) -> list[int]:
    """The pid of each process; those of a further experiment or node are set apart, so that no two processes have the same."""
    places = _places(profile)
    return [process.pid + place * _OTHER_PLACE for process, place in zip(profile.processes, places)]


def _places(profile: Profile) -> list[int]:
    """Which experiment and node each process belongs to, counted from 0."""
    return numbered((process.experiment, process.node) for process in profile.processes)[0]


def thread_numbers(profile: Profile) -> list[int]:
    """The tid of each thread, set apart in the same way."""
    places = _places(profile)
    return [thread.tid + places[thread.process] * _OTHER_PLACE for thread in profile.threads]


def thread_name(profile: Profile, thread: int) -> str:
    """What the thread called itself, or its program."""
    return printable(profile.threads[thread].name) or process_name(profile.processes[profile.threads[thread].process])


def thread_title(profile: Profile, thread: int) -> str:
    """Program, process and thread, as far as it takes to tell them apart; of several experiments with the name of the experiment."""
    known = profile.threads[thread]
    process = profile.processes[known.process]
    program, name = process_name(process), thread_name(profile, thread)
    words = [printable(profile.recordings[process.experiment].name)] if len(profile.recordings) > 1 else []
    words += [f"{program} {process.pid}" + ("" if process.rank is None else f" of rank {process.rank}")]
    if known.tid != process.pid or name != program:
        words += [f"{name} {known.tid}"]
    return " / ".join(words)


def begin_ns(profile: Profile) -> int:
    """When the first of the experiments began: the time that exports count from."""
    return min((recording.start_ns for recording in profile.recordings), default=0)


def busiest(sums: Collection[int]) -> int:
    """The position of the largest."""
    return max(enumerate(sums), key=lambda pair: pair[1])[0] if sums else 0
