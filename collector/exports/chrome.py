"""chrome -- trace events for Perfetto and chrome://tracing: the calls of each thread over time, labels and pauses

The format: "Trace Event Format", https://chromium.googlesource.com/catapult. A sample is as long as its CPU time and ends when it was taken,
or as much later as earlier samples need the time: so the widths are CPU time, and nothing overlaps. Samples closer together than a
period touch, so that a function which goes on is one slice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from collector.exports.names import begin_ns, function_names, process_name, process_numbers, thread_name, thread_numbers
from collector.exports.sample_table import UNFINISHED, SampleTable, sample_table
from collector.printable import printable
from collector.profile.groupings import by_function
from collector.profile.model import Process, Profile

_USUAL_PERIOD_NS = 1_000_000


def chrome(profile: Profile, is_folded: bool = False) -> Iterator[bytes]:
    """The file, an event a line."""
    table = sample_table(profile, by_function(profile), has_root=True, is_of_cpu=True, is_folded=is_folded)
    start_ns, pids, tids = begin_ns(profile), process_numbers(profile), thread_numbers(profile)
    names = [json.dumps(name) for name in (*function_names(profile), UNFINISHED)]
    slices = _Slices(table, names, start_ns)
    yield b'{"displayTimeUnit":"ns","otherData":{"made by":"collector"},"traceEvents":['
    separator = "\n"
    for event in _iter_others(profile, pids, tids, start_ns):
        yield (separator + json.dumps(event, separators=(",", ":"))).encode()
        separator = ",\n"
    for thread, places in table.iter_threads():
        known = profile.threads[thread]
        track = f'"pid":{pids[known.process]},"tid":{tids[thread]}'
        for text in slices.iter_thread(places, track, _period(profile.processes[known.process])):
            yield (separator + text).encode()
            separator = ",\n"
    yield b"\n]}\n"


def _period(process: Process) -> int:
    return process.clock.period_ns if process.clock else _USUAL_PERIOD_NS


def _iter_others(profile: Profile, pids: Sequence[int], tids: Sequence[int], start_ns: int) -> Iterator[dict[str, Any]]:
    """What processes and threads are called, labels, and pauses."""
    programs: dict[int, dict[str, None]] = {}
    for process, pid in zip(profile.processes, pids):
        programs.setdefault(pid, {})[process_name(process)] = None
    for pid, names in programs.items():  # several, if it called execve
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": pid, "args": {"name": ", ".join(names)}}
    for number, thread in enumerate(profile.threads):
        yield {"ph": "M", "name": "thread_name", "pid": pids[thread.process], "tid": tids[number], "args": {"name": thread_name(profile, number)}}
    for point in profile.points:
        if point.label:
            pid = point.pid if point.process is None else pids[point.process]
            ts = (point.time_ns - start_ns) / 1000
            yield {"ph": "i", "s": "p", "name": printable(point.label), "cat": "label", "pid": pid, "tid": pid, "ts": ts}
    for number, pause in enumerate(profile.pauses):
        end_ns = pause.end_ns or profile.recordings[profile.processes[pause.process].experiment].end_ns
        for phase, time_ns in (("b", pause.start_ns), ("e", end_ns)):
            where = {"pid": pids[pause.process], "tid": pids[pause.process], "ts": (time_ns - start_ns) / 1000}
            yield {"ph": phase, "cat": "pause", "id": number + 1, "name": "not recorded", "args": {"cause": pause.cause}, **where}


class _Slices:
    """Samples as slices: what the stacks of neighbours have in common goes on."""

    def __init__(self, table: SampleTable, names: Sequence[str], start_ns: int) -> None:
        self._table = table
        self._names = names
        self._start_ns = start_ns
        self._depths = [0] * len(table.parents)
        for node in range(1, len(table.parents)):
            self._depths[node] = self._depths[table.parents[node]] + 1

    def iter_thread(self, places: range, track: str, period_ns: int) -> Iterator[str]:
        """The beginnings and ends of all slices of a thread, in the order of time."""
        path: list[int] = []
        now_ns = 0
        for place in places:
            cpu_ns, node = self._table.cpu_ns[place], self._table.nodes[place]
            begin_ns = self._table.times_ns[place] - self._start_ns - cpu_ns
            if begin_ns >= now_ns + period_ns:
                yield from self._iter_ends(path, 0, track, now_ns)
                now_ns = begin_ns
            new = self._new_nodes(path, node)
            yield from self._iter_ends(path, self._depths[node] - len(new), track, now_ns)
            for callee in reversed(new):
                yield f'{{"ph":"B","name":{self._names[self._table.groups[callee]]},{track},"ts":{_us(now_ns)}}}'
                path.append(callee)
            now_ns += cpu_ns
        yield from self._iter_ends(path, 0, track, now_ns)

    def _new_nodes(self, path: Sequence[int], node: int) -> list[int]:
        """The nodes of a stack that are not on the path, the leaf first."""
        new = []
        while node and not (self._depths[node] <= len(path) and path[self._depths[node] - 1] == node):
            new.append(node)
            node = self._table.parents[node]
        return new

    def _iter_ends(self, path: list[int], depth: int, track: str, now_ns: int) -> Iterator[str]:
        """The ends of what is open above a depth, the innermost first."""
        while len(path) > depth:
            name = self._names[self._table.groups[path.pop()]]
            yield f'{{"ph":"E","name":{name},{track},"ts":{_us(now_ns)}}}'


def _us(time_ns: int) -> str:
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"
