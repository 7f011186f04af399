"""pprof -- profiles of Go, pprof-rs and others: a message of Protocol Buffers (github.com/google/pprof/blob/main/proto/profile.proto)"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from collector.importing.model import (
    MOST_COUNTED,
    MOST_ID,
    ImportedFunction,
    ImportedLine,
    ImportedLocation,
    ImportedMapping,
    ImportedModule,
    ImportedProcess,
    ImportedProfile,
    ImportedStacks,
    ImportedThread,
    ImportedValue,
)
from collector.importing.protobuf import WireError, iter_fields, numbers_of, signed
from collector.importing.source_file import SourceFile
from collector.units import NS_PER_S, listed

NAME: Final = "pprof"
_TIME_UNITS: Final = {
    "nanoseconds": 1, "ns": 1, "microseconds": 1_000, "us": 1_000, "milliseconds": 1_000_000, "ms": 1_000_000, "seconds": NS_PER_S, "s": NS_PER_S
}  # fmt: skip
_SAMPLE_NS: Final = 1_000_000
_SAMPLE_COUNTS: Final = ("samples", "sample")
_THREAD_NAMES: Final = ("thread", "thread_name", "thread name")
_THREAD_IDS: Final = ("tid", "thread_id", "thread id")
_PROCESS_NAMES: Final = ("process", "process_name", "process name")
_PROCESS_IDS: Final = ("pid", "process_id", "process id")
_PROFILE_FIELDS: Final = range(1, 16)
_TEXT: Final = frozenset(range(32, 127)) | {9, 10, 13}


@dataclass(slots=True)
class _Tables:
    """The parts of the message, as they come: texts, modules and functions refer to each other by number."""

    sample_types: list[dict[int, int]] = field(default_factory=list)
    samples: list[bytes] = field(default_factory=list)
    mappings: list[dict[int, int]] = field(default_factory=list)
    locations: list[tuple[dict[int, int], list[dict[int, int]]]] = field(default_factory=list)
    functions: dict[int, dict[int, int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    period_type: dict[int, int] = field(default_factory=dict)
    comments: list[int] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)

    def text(self, number: int) -> str:
        """The text of that number."""
        return self.texts[number] if 0 <= number < len(self.texts) else ""


def is_pprof(head: bytes) -> bool:
    """Whether bytes begin like the message: no text, and fields that it has."""
    if not head or all(byte in _TEXT or byte >= 0x80 for byte in head):
        return False
    try:
        for count, (number, _) in enumerate(iter_fields(head)):
            if number not in _PROFILE_FIELDS:
                return False
            if count > 2:
                return True
    except WireError:
        return bool(head) and head[0] == 0x0A and head[1:2] in (b"\x02", b"\x04", b"\x06") and head[2:3] == b"\x08"
    return True


def read_pprof(source: SourceFile, value_name: str | None) -> ImportedProfile:
    """The profile of one of its values. ForeignProfileError if the bytes are no profile."""
    try:
        tables = _read_tables(source.read_all())
        if not tables.sample_types or not tables.texts:
            raise WireError("nothing that says what was measured")
        return _Reader(tables, source).read(value_name)
    except (WireError, TypeError) as error:  # the latter: a number where there should be bytes
        detail = f": {error}" if isinstance(error, WireError) else ""
        raise source.refuse(f"is damaged, cut off, or no profile of pprof{detail}") from error


def _read_tables(data: bytes) -> _Tables:
    tables = _Tables()
    for number, value in iter_fields(data):
        if number == 2 and isinstance(value, bytes):
            tables.samples.append(value)
        elif number == 6 and isinstance(value, bytes):
            tables.texts.append(value.decode("utf-8", "surrogateescape"))
        elif number in (1, 3, 4, 5, 11) and isinstance(value, bytes):
            _read_row(tables, number, value)
        elif number == 13:
            tables.comments += numbers_of(value)
        elif isinstance(value, int):
            tables.numbers[number] = value
        else:
            raise WireError(f"field {number} has the wrong type")
    return tables


def _read_row(tables: _Tables, number: int, data: bytes) -> None:
    if number == 4:
        row: dict[int, int] = {}
        lines = []
        for name, value in iter_fields(data):
            if name == 4 and isinstance(value, bytes):
                lines.append(_numbers(value))
            elif isinstance(value, int):
                row[name] = value
        tables.locations.append((row, lines))
        return
    row = _numbers(data)
    if number == 1:
        tables.sample_types.append(row)
    elif number == 3:
        tables.mappings.append(row)
    elif number == 5:
        tables.functions[row.get(1, 0)] = row
    else:
        tables.period_type = row


def _numbers(data: bytes) -> dict[int, int]:
    return {number: value for number, value in iter_fields(data) if isinstance(value, int)}


class _Reader:
    def __init__(self, tables: _Tables, source: SourceFile) -> None:
        self._tables = tables
        self._source = source
        self._stacks = ImportedStacks()
        self._threads: dict[tuple[bytes, ...], ImportedThread] = {}
        self._processes: dict[int, ImportedProcess] = {}

    def read(self, value_name: str | None) -> ImportedProfile:
        """Samples become those of threads, which are told apart by their labels."""
        tables = self._tables
        chosen = self._choose(value_name)
        mappings, modules = self._read_mappings()
        numbers = self._read_locations(modules)
        executable = modules[tables.mappings[0].get(1, 0)].path if tables.mappings else ""
        stacks: dict[tuple[int, ...], int] = {}
        counted = next((number for number in range(len(tables.sample_types)) if self._type_name(number) in _SAMPLE_COUNTS), None)
        left, has_sums = MOST_COUNTED, False
        for data in tables.samples:
            ids: list[int] = []
            values: list[int] = []
            labels: list[bytes] = []
            for number, value in iter_fields(data):
                if number == 1:
                    ids += numbers_of(value)
                elif number == 2:
                    values += numbers_of(value)
                elif number == 3 and isinstance(value, bytes):
                    labels.append(value)
            key = tuple(ids)
            stack = stacks.get(key)
            if stack is None:
                try:
                    stack = stacks[key] = self._stacks.stack(tuple([numbers[one] for one in reversed(ids)]))
                except KeyError as error:
                    raise WireError(f"a sample has the location {error}, which there is not") from None
            if chosen >= len(values):
                raise WireError("a sample lacks values")
            weight = signed(values[chosen])
            if weight < 0:
                raise self._source.refuse("has values below 0, as the difference of two profiles; only whole profiles can be imported")
            count = signed(values[counted]) if counted is not None and counted < len(values) else 0
            left -= max(count, 0)
            if count > 0 and left >= 0:
                self._thread_of(tuple(labels), executable).add_several(weight, count, stack)
            elif weight:
                has_sums = True
                self._thread_of(tuple(labels), executable).add(0, weight, stack)
        profile = ImportedProfile(NAME, self._value(chosen), self._stacks.locations, self._stacks.stacks, has_sums=has_sums)
        profile.processes, profile.mappings = list(self._processes.values()), mappings
        profile.wall_ns = max(0, signed(tables.numbers.get(9, 0)))
        profile.end_ns = max(0, signed(tables.numbers.get(10, 0)))
        others = [self._type_name(number) for number in range(len(tables.sample_types)) if number != chosen]
        if others:
            profile.notes.append(f"The values {self._type_name(chosen)} are shown; --value chooses {listed(others)}.")
        profile.notes += [tables.text(comment) for comment in tables.comments if tables.text(comment)]
        return profile

    def _type_name(self, number: int) -> str:
        return self._tables.text(self._tables.sample_types[number].get(1, 0))

    def _unit(self, row: dict[int, int]) -> str:
        return self._tables.text(row.get(2, 0))

    def _choose(self, wanted: str | None) -> int:
        """Which value: that of the name, else CPU time, any time, what the profile prefers, the last."""
        types = self._tables.sample_types
        names = [self._type_name(number) for number in range(len(types))]
        if wanted is not None:
            if wanted not in names:
                raise self._source.refuse(f"has no values {wanted!r}, but {listed(names)}")
            return names.index(wanted)
        in_time = [number for number, row in enumerate(types) if self._unit(row) in _TIME_UNITS]
        preferred = self._tables.text(self._tables.numbers.get(14, 0))
        for number in in_time:
            if names[number] == "cpu":
                return number
        if preferred in names:
            return names.index(preferred)
        return in_time[0] if in_time else len(types) - 1

    def _value(self, chosen: int) -> ImportedValue:
        row = self._tables.sample_types[chosen]
        name, unit = self._type_name(chosen), self._unit(row)
        unit_ns = _TIME_UNITS.get(unit)
        if unit_ns is None:
            is_count = unit in ("count", "samples", "")
            return ImportedValue(name, (name if is_count else unit) or "samples", _SAMPLE_NS if is_count else 1, False)
        period = self._tables.period_type
        period_unit_ns = _TIME_UNITS.get(self._unit(period), 0) if self._tables.text(period.get(1, 0)) == name else 0
        return ImportedValue(name, unit, unit_ns, True, max(0, signed(self._tables.numbers.get(12, 0))) * period_unit_ns)

    def _read_mappings(self) -> tuple[list[ImportedMapping], dict[int, ImportedModule]]:
        mappings, modules = [], {0: ImportedModule()}
        for row in self._tables.mappings:
            path = self._tables.text(row.get(5, 0)) or ImportedModule().path
            module = modules[row.get(1, 0)] = ImportedModule(path, _build_id(self._tables.text(row.get(6, 0))))
            if row.get(2, 0) < row.get(3, 0):
                mappings.append(ImportedMapping(module, row.get(2, 0), row.get(3, 0), row.get(4, 0)))
        return mappings, modules

    def _read_locations(self, modules: dict[int, ImportedModule]) -> dict[int, int]:
        """The numbers of locations by their ids."""
        functions = {}
        for number, row in self._tables.functions.items():
            name = self._tables.text(row.get(2, 0)) or self._tables.text(row.get(3, 0))
            functions[number] = ImportedFunction(name, self._tables.text(row.get(4, 0)) or None, signed(row.get(5, 0)) or None)
        numbers = {}
        for row, lines in self._tables.locations:
            named = []
            for line in reversed(lines):  # the last is the outermost
                function = functions.get(line.get(1, 0))
                if function is None:
                    raise WireError(f"a location has the function {line.get(1, 0)}, which there is not")
                named.append(ImportedLine(function, function.file, signed(line.get(2, 0)) or None))
            module = modules.get(row.get(2, 0)) or ImportedModule()
            numbers[row.get(1, 0)] = self._stacks.location(ImportedLocation(module, row.get(3) or None, tuple(named)))
        return numbers

    def _thread_of(self, labels: tuple[bytes, ...], executable: str) -> ImportedThread:
        """The thread of a sample's labels: those with the same texts are one."""
        thread = self._threads.get(labels)
        if thread is None:
            texts, numbers = dict[str, str](), dict[str, int]()
            for label in labels:
                row = _numbers(label)
                key, text = self._tables.text(row.get(1, 0)), self._tables.text(row.get(2, 0))
                if text:
                    texts[key] = text
                    numbers.update({key: int(text)} if text.isdecimal() and len(text) < 11 else {})
                elif row.get(3, 0) <= MOST_ID:
                    numbers[key] = row.get(3, 0)
            thread = self._threads[labels] = self._named_thread(texts, numbers, executable)
        return thread

    def _named_thread(self, texts: dict[str, str], numbers: dict[str, int], executable: str) -> ImportedThread:
        pid = next((min(numbers[key], MOST_ID) for key in _PROCESS_IDS if key in numbers), 1)
        program = next((texts[key] for key in _PROCESS_NAMES if key in texts), executable)
        process = self._processes.setdefault(pid, ImportedProcess(pid, program))
        tid = next((min(numbers[key], MOST_ID) for key in _THREAD_IDS if key in numbers), None)
        name = next((texts[key] for key in _THREAD_NAMES if key in texts), "")
        ids = (*(_THREAD_IDS if tid is not None else ()), *(_PROCESS_IDS if pid != 1 else ()))
        told = {*_THREAD_NAMES, *ids, *(_PROCESS_NAMES if program == process.executable else ())}
        name = ", ".join(filter(None, [name, *(f"{key}={text}" for key, text in sorted(texts.items()) if key not in told)]))
        used = {thread.tid: thread for thread in process.threads}
        if tid is None:
            same = [thread for thread in process.threads if thread.name == name]
            if same:
                return same[0]
        elif tid in used and used[tid].name == name:
            return used[tid]
        if tid is None or tid in used:
            tid = max(used, default=0) + 1
        process.threads.append(ImportedThread(tid, name))
        return process.threads[-1]


def _build_id(text: str) -> bytes:
    """GNU build ids are hexadecimal; what else stands there, as Go's, is none."""
    try:
        return bytes.fromhex(text) if text.isascii() and len(text) % 2 == 0 and len(text) <= 64 else b""
    except ValueError:
        return b""
