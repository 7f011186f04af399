"""read_back -- the exported formats read by their descriptions, and by nothing of ours: CPU time in nanoseconds by stack

A stack is a tuple of names, the caller first. What a reader takes for impossible is an AssertionError.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

Stacks = Counter[tuple[str, ...]]


def folded(data: bytes) -> Stacks:
    """As flamegraph.pl reads it: the last word is the number."""
    stacks: Stacks = Counter()
    for line in data.decode().splitlines():
        names, _, number = line.rpartition(" ")
        stacks[tuple(names.split(";"))] += int(number) * 1000
    return stacks


def speedscope(data: bytes) -> Stacks:
    """By its file-format-schema."""
    document = json.loads(data)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    stacks: Stacks = Counter()
    for profile in document["profiles"]:
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "nanoseconds", 0)
        assert profile["endValue"] == sum(profile["weights"]) and len(profile["samples"]) == len(profile["weights"])
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stacks[tuple(frames[frame] for frame in sample)] += weight
    assert 0 <= document["activeProfileIndex"] < max(1, len(document["profiles"]))
    return stacks


_FIREFOX_TABLES = {
    "stackTable": {"frame": "frameTable", "prefix": "stackTable?"},
    "frameTable": {"func": "funcTable", "category": "categories?", "address": None, "inlineDepth": None, "subcategory": None, "line": None,
                   "column": None, "nativeSymbol": "nativeSymbols?", "innerWindowID": None},
    "funcTable": {"name": "strings", "resource": "resourceTable-", "source": "sources?", "isJS": None, "relevantForJS": None,
                  "lineNumber": None, "columnNumber": None},
    "resourceTable": {"lib": "libs?", "name": "strings", "host": "strings?", "type": None},
    "nativeSymbols": {"libIndex": "libs", "address": None, "name": "strings", "functionSize": None},
    "sources": {"filename": "strings", "uuid": None},
    "samples": {"stack": "stackTable?", "time": None, "weight": None, "threadCPUDelta": None},
    "markers": {"name": "strings", "category": "categories", "startTime": None, "endTime": None, "phase": None, "data": None},
}  # fmt: skip
"""The columns of all tables, and what they are positions in: `?` may be null, `-` may be -1. The last two are those of threads."""


def firefox(data: bytes) -> Stacks:
    """By src/types/profile.ts of the Firefox Profiler, version 60: every table as long as it says, every position in its table."""
    document = json.loads(data)
    meta, shared = document["meta"], document["shared"]
    assert meta["preprocessedProfileVersion"] == 60 and meta["sampleUnits"]["threadCPUDelta"] == "ns"
    assert any(category["color"] == "grey" for category in meta["categories"])
    assert all(category["subcategories"][0] == "Other" for category in meta["categories"])
    schemas = {schema["name"] for schema in meta["markerSchema"]}
    lengths = {"strings": len(shared["stringArray"]), "libs": len(document["libs"]), "categories": len(meta["categories"])}
    lengths |= {name: table["length"] for name, table in shared.items() if name != "stringArray"}
    for name in set(shared) - {"stringArray"}:
        _check_table(name, shared[name], lengths)
    assert all(prefix is None or prefix < place for place, prefix in enumerate(shared["stackTable"]["prefix"]))
    paths = _firefox_paths(shared)
    stacks: Stacks = Counter()
    for thread in document["threads"]:
        samples, markers = thread["samples"], thread["markers"]
        _check_table("samples", samples, lengths)
        _check_table("markers", markers, lengths)
        assert all(data["type"] in schemas and "cause" not in data for data in markers["data"])
        assert isinstance(thread["pid"], str) and samples["weightType"] == "tracing-ms"
        assert samples["time"] == sorted(samples["time"])
        for stack, weight, delta in zip(samples["stack"], samples["weight"], samples["threadCPUDelta"]):
            assert delta == round(weight * 1_000_000)
            stacks[paths[stack]] += delta
    return stacks


def _check_table(name: str, table: dict[str, Any], lengths: dict[str, int]) -> None:
    assert set(table) - {"length", "weightType"} == set(_FIREFOX_TABLES[name])
    for column, of in _FIREFOX_TABLES[name].items():
        assert len(table[column]) == table["length"], (name, column)
        if of:
            _check_positions(table[column], lengths[of.rstrip("?-")], of[-1])


def _check_positions(values: list[Any], length: int, mark: str) -> None:
    for value in values:
        assert (value is None and mark == "?") or (value == -1 and mark == "-") or 0 <= value < length


def _firefox_paths(shared: dict[str, Any]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    depths: list[int] = []
    frames, functions = shared["frameTable"], shared["funcTable"]
    for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"]):
        depth = frames["inlineDepth"][frame]
        assert not depth or prefix is None or depth == depths[prefix] + 1, "a chain of inlined calls goes on"
        depths.append(depth)
        name = shared["stringArray"][functions["name"][frames["func"][frame]]]
        paths.append((*(() if prefix is None else paths[prefix]), name))
    return paths


def pprof(data: bytes) -> Stacks:
    """By profile.proto: the last of the values, which is what is shown."""
    message = pprof_message(data)
    stacks: Stacks = Counter()
    for stack, values, _ in pprof_samples(message):
        assert len(values) == len(message[1]) and values[1] + values[2] == values[3]
        stacks[stack] += values[3]
    return stacks


def pprof_message(data: bytes) -> dict[int, list[Any]]:
    """The fields of the profile."""
    return dict(fields(gzip.decompress(data)))


def pprof_samples(message: dict[int, list[Any]]) -> Iterator[tuple[tuple[str, ...], list[int], dict[str, str | int]]]:
    """Stack, values and labels of each sample."""
    strings = [text.decode() for text in message[6]]
    assert strings[0] == ""
    functions = {known[1][0]: strings[known[2][0]] for known in map(fields, message.get(5, []))}
    mappings = {known[1][0] for known in map(fields, message.get(3, []))}
    locations = {}
    for known in map(fields, message.get(4, [])):
        assert known[2][0] in mappings
        locations[known[1][0]] = [functions[fields(line)[1][0]] for line in known[4]]
    for sample in map(fields, message.get(2, [])):
        innermost_first = [name for location in _varints(sample[1][0]) for name in locations[location]]
        labels: dict[str, str | int] = {}
        for label in map(fields, sample[3]):
            labels[strings[label[1][0]]] = strings[label[2][0]] if 2 in label else label[3][0]
        yield tuple(innermost_first[::-1]), _varints(sample[2][0]), labels


def fields(data: bytes) -> dict[int, list[Any]]:
    """The values of each field of a message, by their numbers."""
    found: dict[int, list[Any]] = defaultdict(list)
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        value, place = _varint(data, place)
        if tag & 7 == 2:
            value, place = data[place : place + value], place + value
        else:
            assert tag & 7 == 0
        found[tag >> 3].append(value)
    assert place == len(data)
    return found


def _varints(data: bytes) -> list[int]:
    values, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        values.append(value)
    return values


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, place, shift = value | (byte & 0x7F) << shift, place + 1, shift + 7
        if not byte & 0x80:
            return value, place


def chrome(data: bytes) -> Stacks:
    """By the Trace Event Format: slices nest, times of a thread rise, and what is on top of the stack is its own time."""
    stacks: Stacks = Counter()
    open_names: dict[tuple[int, int], list[str]] = defaultdict(list)
    last: dict[tuple[int, int], int] = {}
    for event in json.loads(data)["traceEvents"]:
        if event["ph"] not in "BE":
            assert event["ph"] in "Mibe"
            continue
        track, now = (event["pid"], event["tid"]), round(event["ts"] * 1000)
        if open_names[track]:
            assert now >= last[track]
            stacks[tuple(open_names[track])] += now - last[track]
        if event["ph"] == "B":
            open_names[track].append(event["name"])
        else:
            open_names[track].pop()
        last[track] = now
    assert not any(open_names.values())
    return Counter({stack: time for stack, time in stacks.items() if time})


_PERF_HEAD = re.compile(r"^(\S.+?)\s+(\d+)/(\d+)\s+(\d+\.\d+):\s+(\d+)\s+(\S+):\s*$")
_PERF_FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)$")


def perf_script(data: bytes) -> Stacks:
    """By the expressions of stackcollapse-perf.pl."""
    stacks: Stacks = Counter()
    for paragraph in filter(None, data.decode().split("\n\n")):
        head, *lines = paragraph.split("\n")
        period = int(_PERF_HEAD.match(head)[5])  # type: ignore[index]
        stacks[tuple(_PERF_FRAME.match(line)[2] for line in reversed(lines))] += period  # type: ignore[index]
    return stacks


def sample_json(data: bytes) -> Stacks:
    """The rows."""
    return _rows((row["stack"], row["user"], row["system"]) for row in json.loads(data)["rows"])


def sample_csv(data: bytes) -> Stacks:
    """The rows."""
    return _rows((row["stack"].split(";"), float(row["user"]), float(row["system"])) for row in csv.DictReader(io.StringIO(data.decode())))


def _rows(rows: Iterator[tuple[list[str], float, float]]) -> Stacks:
    stacks: Stacks = Counter()
    for names, user, system in rows:
        stacks[tuple(names)] += round(user * 1e9) + round(system * 1e9)
    return stacks


def callgrind(data: bytes) -> dict[str, tuple[int, int]]:
    """By the description of the format: exclusive and inclusive CPU time of each function, which costs and calls add up to."""
    names: dict[tuple[str, str], str] = {}
    own: dict[str, int] = defaultdict(int)
    called: dict[str, int] = defaultdict(int)
    function = callee = ""
    summary, is_call = 0, False
    for line in data.decode().splitlines():
        key, _, value = line.partition("=")
        if key in ("fn", "cfn", "fl", "fi", "fe", "cfi", "cfl", "ob", "cob"):
            name = _short_name(names, key.removeprefix("c").replace("fi", "fl").replace("fe", "fl"), value)
            function = name if key == "fn" else function
            callee = name if key == "cfn" else callee
        elif key == "calls":
            is_call = True
        elif line[:1].isdigit():
            (called if is_call else own)[callee if is_call else function] += int(line.split()[1])
            is_call = False
        elif line.startswith("summary:"):
            summary = int(line.split()[1])
    assert summary == sum(own.values())
    assert set(own) <= set(called), "everything is called by something"
    return {name: (own[name], called[name]) for name in called}


def _short_name(names: dict[tuple[str, str], str], kind: str, value: str) -> str:
    number, _, name = value.partition(" ")
    if name:
        assert (kind, number) not in names
        names[kind, number] = name
    return names[kind, number]
