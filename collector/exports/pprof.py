"""pprof -- a profile in the format of `go tool pprof`, Pyroscope, Polar Signals and speedscope: a compressed protocol buffer

The format: https://github.com/google/pprof/blob/main/proto/profile.proto; numbers of fields are from there. Addresses are those written in the
ELF file, so each mapping spans all of them, which is how pprof is told that nothing needs to be moved.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from collector.exports.names import begin_ns, function_names, process_name, thread_name
from collector.exports.phase_labels import phase_labels
from collector.exports.protobuf import block, number, packed, varint
from collector.exports.sample_table import SampleTable, Stacks, sample_table
from collector.printable import printable
from collector.profile.groupings import by_frame
from collector.profile.model import Module, Profile

_ALL_ADDRESSES = (1 << 64) - 1
_GZIP = 31
_CPU_VALUES = (("samples", "count"), ("user", "nanoseconds"), ("system", "nanoseconds"), ("cpu", "nanoseconds"))
_USUAL_PERIOD_NS = 1_000_000


def pprof(profile: Profile) -> Iterator[bytes]:
    """The file, compressed. Samples with the same stack in the same thread are one."""
    packer = zlib.compressobj(wbits=_GZIP)
    for piece in _iter_fields(profile):
        data = packer.compress(piece)
        if data:
            yield data
    yield packer.flush()


class _Strings:
    def __init__(self) -> None:
        self.numbers = {"": 0}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


class _Locations:
    """An address with the calls that were inlined there is one location; `frames` are those of each, the innermost first."""

    def __init__(self, profile: Profile) -> None:
        self._frames = profile.frames
        self.numbers: dict[tuple[int, ...], int] = {}

    def on_path(self, path: list[int]) -> bytes:
        """The locations of a stack, as the field of a sample."""
        found = []
        inlined: list[int] = []
        for frame in path:
            inlined.append(frame)
            if self._frames[frame].kind != "inlined":
                found.append(self._number(inlined))
                inlined = []
        if inlined:  # a stack that was cut within an address
            found.append(self._number(inlined))
        return packed(1, found)

    def _number(self, frames: list[int]) -> int:
        return self.numbers.setdefault(tuple(frames), len(self.numbers) + 1)


def _iter_fields(profile: Profile) -> Iterator[bytes]:
    table = sample_table(profile, by_frame(profile))
    strings, locations = _Strings(), _Locations(profile)
    others = ((column.metric.name, "nanoseconds" if column.is_time else column.metric.unit or "count") for column in table.others)
    for kind, unit in (*_CPU_VALUES, *others):
        yield block(1, number(1, strings.number(kind)) + number(2, strings.number(unit)))
    yield from _iter_samples(profile, table, strings, locations)
    yield from (block(3, _mapping(place, module, strings)) for place, module in enumerate(profile.modules, 1))
    for frames, place in locations.numbers.items():
        yield block(4, _location(profile, place, frames))
    used = sorted({profile.frames[frame].function for frames in locations.numbers for frame in frames})
    names = function_names(profile)
    for place in used:
        function = profile.functions[place]
        words = (names[place], printable(function.raw_name), printable(function.file or ""))
        fields = [number(field, strings.number(word)) for field, word in enumerate(words, 2)]
        yield block(5, number(1, place + 1) + b"".join(fields) + number(5, function.line or 0))
    yield from _iter_ends(profile, strings)
    yield b"".join(block(6, text.encode()) for text in strings.numbers)


def _iter_samples(profile: Profile, table: SampleTable, strings: _Strings, locations: _Locations) -> Iterator[bytes]:
    stacks = Stacks(table, locations.on_path)
    titles, phases = phase_labels(profile, table)
    marks = [_label(strings, "label", title) if title else b"" for title in titles]
    ends = _label(strings, "stack", "unfinished"), b""
    columns = [table.counts, table.user_ns, table.system_ns, table.cpu_ns, *(column.values for column in table.others)]
    for thread, places in table.iter_threads():
        labels = _labels(profile, thread, strings)
        sums: dict[tuple[int, int, int], list[int]] = {}
        for place in places:
            known = sums.setdefault((table.nodes[place], table.is_finished[place], phases[place]), [0] * len(columns))
            for event, column in enumerate(columns):
                known[event] += column[place]
        for (node, is_finished, phase), values in sums.items():
            figures = b"".join(map(varint, values))
            yield block(2, stacks.of(node) + block(2, figures) + labels + marks[phase] + ends[is_finished])


def _label(strings: _Strings, key: str, word: str) -> bytes:
    return block(3, number(1, strings.number(key)) + number(2, strings.number(word)))


def _labels(profile: Profile, thread: int, strings: _Strings) -> bytes:
    known = profile.threads[thread]
    process = profile.processes[known.process]
    words = {"process": process_name(process), "thread": thread_name(profile, thread)}
    if len(profile.recordings) > 1:
        words["experiment"] = printable(profile.recordings[process.experiment].name)
    numbers = (block(3, number(1, strings.number(key)) + number(3, value)) for key, value in (("pid", process.pid), ("tid", known.tid)))
    return b"".join((*(_label(strings, key, word) for key, word in words.items()), *numbers))


def _mapping(place: int, module: Module, strings: _Strings) -> bytes:
    name = strings.number(printable(module.path or module.name))
    known = b"".join(number(field, 1) for field in (7, 8, 9, 10))  # functions, files, lines and inlined frames have been looked up
    return number(1, place) + number(3, _ALL_ADDRESSES) + number(5, name) + number(6, strings.number(module.build_id)) + known


def _location(profile: Profile, place: int, frames: tuple[int, ...]) -> bytes:
    outermost = profile.frames[frames[-1]]
    module = profile.functions[outermost.function].module
    lines = (number(1, profile.frames[frame].function + 1) + number(2, profile.frames[frame].line or 0) for frame in frames)
    return number(1, place) + number(2, module + 1) + number(3, outermost.address) + b"".join(block(4, line) for line in lines)


def _iter_ends(profile: Profile, strings: _Strings) -> Iterator[bytes]:
    """When, for how long, how often, and what is shown unless something else is asked for."""
    if profile.recordings:
        first = min(profile.recordings, key=lambda recording: recording.start_ns)
        yield number(9, first.wall_ns) + number(10, max(recording.end_ns for recording in profile.recordings) - begin_ns(profile))
    clocks = [process.clock.period_ns for process in profile.processes if process.clock]
    yield block(11, number(1, strings.number("cpu")) + number(2, strings.number("nanoseconds")))
    yield number(12, min(clocks, default=_USUAL_PERIOD_NS)) + number(14, strings.number(profile.metrics[0].name))
    for recording in profile.recordings:
        yield number(13, strings.number(f"{printable(recording.name)}: {printable(' '.join(recording.command))}"))
