"""speedscope -- a profile of each thread in the file format of https://www.speedscope.app

Its schema: https://www.speedscope.app/file-format-schema.json. Samples stand in the order of time, and each is as wide as its CPU time.
What else was measured has profiles of its own, behind those of CPU time or, if it was asked for, before them.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence

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
    separator = b"\n"
    for column in table.measured:
        for thread, places in table.iter_threads():
            total = sum(column.values[place] for place in places)
            title = thread_title(profile, thread)
            if column.metric.name != "cpu":
                if not total:
                    continue
                title += f": {printable(column.metric.title)}"
            unit = "nanoseconds" if column.is_time else "none"
            yield separator
            yield f'{{"type":"sampled","name":{json.dumps(title)},"unit":"{unit}","startValue":0,"endValue":{total},"samples":['.encode()
            weights = yield from _stacks(table, column.values, places, stacks)
            yield f'],"weights":{weights}}}'.replace(" ", "").encode()
            if column is table.shown:
                totals.append(total)
            separator = b",\n"
    yield f'\n],"activeProfileIndex":{busiest(totals)}}}\n'.encode()


def _iter_frames(profile: Profile) -> Iterator[bytes]:
    for function, name in zip(profile.functions, function_names(profile)):
        frame: dict[str, str | int] = {"name": name, "file": printable(function.file or profile.modules[function.module].name)}
        if function.line:
            frame["line"] = function.line
        yield json.dumps(frame).encode()
    yield json.dumps({"name": UNFINISHED}).encode()


def _stacks(table: SampleTable, values: Sequence[int], places: range, stacks: Stacks[str]) -> Generator[bytes, None, list[int]]:
    """The stacks of a thread that weigh anything; gives their weights."""
    weights: list[int] = []
    before = 0
    for place in places:
        node, value = table.nodes[place], values[place]
        if weights and (node == before or not value):
            weights[-1] += value
            continue
        yield (("," if weights else "") + stacks.of(node)).encode()
        weights.append(value)
        before = node
    return weights
