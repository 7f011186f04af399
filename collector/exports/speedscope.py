"""speedscope -- a profile of each thread in the file format of https://www.speedscope.app

Its schema: https://www.speedscope.app/file-format-schema.json. Samples stand in the order of time, and each is as wide as its CPU time.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator

from collector.exports.names import busiest, function_names, thread_title
from collector.exports.sample_table import UNFINISHED, SampleTable, Stacks, sample_table
from collector.printable import printable
from collector.profile.groupings import by_function
from collector.profile.model import Profile


def speedscope(profile: Profile, is_folded: bool = False) -> Iterator[bytes]:
    """The file, thread by thread. Samples that follow each other with the same stack are one."""
    table = sample_table(profile, by_function(profile), has_root=True, is_folded=is_folded)
    yield b'{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"collector","name":'
    yield json.dumps(", ".join(printable(recording.name) for recording in profile.recordings)).encode()
    yield b',"shared":{"frames":[\n' + b",\n".join(_iter_frames(profile)) + b'\n]},"profiles":['
    stacks = Stacks(table, lambda path: str(path[::-1]).replace(" ", ""))
    totals: list[int] = []
    for thread, places in table.iter_threads():
        total = sum(table.cpu_ns[place] for place in places)
        title = json.dumps(thread_title(profile, thread))
        yield b",\n" if totals else b"\n"
        yield f'{{"type":"sampled","name":{title},"unit":"nanoseconds","startValue":0,"endValue":{total},"samples":['.encode()
        weights = yield from _stacks(table, places, stacks)
        yield f'],"weights":{weights}}}'.replace(" ", "").encode()
        totals.append(total)
    yield f'\n],"activeProfileIndex":{busiest(totals)}}}\n'.encode()


def _iter_frames(profile: Profile) -> Iterator[bytes]:
    for function, name in zip(profile.functions, function_names(profile)):
        frame: dict[str, str | int] = {"name": name, "file": printable(function.file or profile.modules[function.module].name)}
        if function.line:
            frame["line"] = function.line
        yield json.dumps(frame).encode()
    yield json.dumps({"name": UNFINISHED}).encode()


def _stacks(table: SampleTable, places: range, stacks: Stacks[str]) -> Generator[bytes, None, list[int]]:
    """The stacks of a thread; gives their weights."""
    weights: list[int] = []
    before = 0
    for place in places:
        node = table.nodes[place]
        if weights and node == before:
            weights[-1] += table.cpu_ns[place]
            continue
        yield (("," if weights else "") + stacks.of(node)).encode()
        weights.append(table.cpu_ns[place])
        before = node
    return weights
