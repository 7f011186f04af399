"""callgrind -- what valgrind --tool=callgrind counted: costs of lines, and of calls with all that they led to

The format is that of valgrind's manual ("Callgrind Format Specification"). Numbers of places may be relative to those before; names are written
once, with a number that stands for them later. A file has no stacks: `call_graph` makes some.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from collector.format import StackEnd
from collector.importing.call_graph import CallGraph, Node, Position
from collector.importing.model import (
    MOST_ID,
    ImportedFunction,
    ImportedLine,
    ImportedLocation,
    ImportedModule,
    ImportedProcess,
    ImportedProfile,
    ImportedStacks,
    ImportedThread,
    ImportedValue,
)
from collector.importing.source_file import SourceFile, text_of
from collector.units import format_count, listed

NAME: Final = "callgrind"
_NAMED: Final = re.compile(rb"(ob|fl|fi|fe|fn|cob|cfi|cfl|cfn)=\s*(?:\((\d{1,18})\))?\s*(.*)")
_COSTS: Final = re.compile(rb"[-+*0-9][-+*0-9a-fx \t]*")
_HEADER: Final = re.compile(rb"([a-z]+):[ \t]*(.*)")
_IGNORED: Final = re.compile(rb"#.*|(?:jump|jcnd|jfi|jfn|frfn|rcalls|rec)=.*|")
_JUDGED_LINES: Final = 40
_NUMBERED: Final = {b"ob": b"ob", b"cob": b"ob", b"fn": b"fn", b"cfn": b"fn"}  # all else are files
_TIME: Final = re.compile(rb"(\S+)\s*:.*\bin (ns|us|ms|s)")
_UNIT_NS: Final = {b"ns": 1, b"us": 1_000, b"ms": 1_000_000, b"s": 1_000_000_000}
_UNKNOWN_FILE: Final = "???"
_MOST_DIGITS: Final = 20
_APPROXIMATE: Final = (
    "Callgrind has no stacks, only what each call cost: the cost of each function is divided among its callers in proportion to their calls, so that callers"
    " of callers are an approximation."
)


def is_callgrind(head: bytes) -> bool:
    """Whether text begins like a file of callgrind."""
    if head.startswith(b"# callgrind format"):
        return True
    names = {match[1] for line in head.split(b"\n")[:_JUDGED_LINES] if (match := _HEADER.fullmatch(line.rstrip()))}
    return b"events" in names and bool(names & {b"creator", b"version", b"positions", b"cmd"})


def read_callgrind(source: SourceFile, event: str | None) -> ImportedProfile:
    """The costs of one event. ForeignProfileError if the file is damaged or has no such event."""
    reader = _Reader(source, event)
    for lines in source.pieces(b"\n"):
        for line in lines:
            reader.read(line.rstrip())
    return reader.profile()


class _Reader:
    def __init__(self, source: SourceFile, event: str | None) -> None:
        self._source = source
        self._wanted = event
        self._events: list[str] = []
        self._units_ns: dict[str, int] = {}
        self._column = 0
        self._position_names = ["line"]
        self._positions = [0]
        self._names: dict[tuple[bytes, int], str] = {}
        self._object = self._file = self._called_object = self._called_file = ""
        self._node: Node | None = None
        self._callee: Node | None = None
        self._is_call = False
        self._line_number = 0
        self._thread = 1
        self._pid = 1
        self._command: list[str] = []
        self._graphs: dict[int, CallGraph] = {}
        self._stated: dict[bytes, int] = {}

    def read(self, line: bytes) -> None:
        """Take a line in."""
        self._line_number += 1
        if _COSTS.fullmatch(line):
            self._read_costs(line.split())
            return
        named = _NAMED.fullmatch(line)
        if named is not None:
            self._read_name(named[1], named[2], named[3])
            return
        if line.startswith(b"calls="):
            self._is_call = True
            return
        header = _HEADER.fullmatch(line)
        if header is not None:
            self._read_header(header[1], header[2])
        elif _IGNORED.fullmatch(line) is None:
            raise self._source.refuse(f"is damaged: line {self._line_number} is none of callgrind's")

    def _read_header(self, name: bytes, text: bytes) -> None:
        if name == b"events":
            self._events = text_of(text).split()
            if self._wanted is not None and self._wanted not in self._events:
                raise self._source.refuse(f"has no event {self._wanted!r}, but {listed(self._events)}")
            self._column = self._events.index(self._wanted) if self._wanted is not None else 0
        elif name == b"event" and (time := _TIME.fullmatch(text)) is not None:
            self._units_ns[text_of(time[1])] = _UNIT_NS[time[2]]
        elif name == b"positions":
            self._position_names = text_of(text).split()
            self._positions = [0] * len(self._position_names)
        elif name in (b"pid", b"thread") and text.isdigit() and len(text) < _MOST_DIGITS:
            number = min(int(text), MOST_ID)
            self._pid, self._thread = (number, self._thread) if name == b"pid" else (self._pid, number)
        elif name == b"cmd":
            try:
                self._command = shlex.split(text_of(text))
            except ValueError:
                self._command = text_of(text).split()
        elif name in (b"summary", b"totals"):
            costs = text.split()
            if self._column < len(costs) and costs[self._column].isdigit() and len(costs[self._column]) < _MOST_DIGITS:
                self._stated[name] = self._stated.get(name, 0) + int(costs[self._column])

    def _read_name(self, kind: bytes, number: bytes | None, text: bytes) -> None:
        name = text_of(text)
        if number is not None:
            key = _NUMBERED.get(kind, b"fl"), int(number)
            if name:
                self._names[key] = name
            elif key not in self._names:
                raise self._source.refuse(f"is damaged: line {self._line_number} has the name number {key[1]}, which was never given")
            name = self._names[key]
        if kind == b"ob":
            self._object = self._called_object = name
        elif kind in (b"fl", b"fi", b"fe"):
            self._file = self._called_file = name
        elif kind == b"cob":
            self._called_object = name
        elif kind in (b"cfi", b"cfl"):
            self._called_file = name
        elif kind == b"fn":
            self._node = Node(self._object, _known(self._file), name)
        else:
            self._callee = Node(self._called_object, _known(self._called_file), name)

    def _read_costs(self, words: list[bytes]) -> None:
        try:
            count = len(self._position_names)
            self._positions = [_position(word, before) for word, before in zip(words[:count], self._positions)]
            cost = int(words[count + self._column]) if count + self._column < len(words) else 0
        except ValueError:
            cost = -1
        if self._node is None or not self._events or len(words) < count or len(self._positions) < count or cost < 0 or min(self._positions, default=0) < 0:
            raise self._source.refuse(f"is damaged: line {self._line_number} is no cost of a place in a function")
        known = dict(zip(self._position_names, self._positions))
        place = Position(_known(self._file), known.get("line") or None, known.get("instr"))
        graph = self._graphs.get(self._thread) or self._graphs.setdefault(self._thread, CallGraph())
        if not self._is_call:
            graph.add_own(self._node, place, cost)
            return
        if self._callee is None:
            raise self._source.refuse(f"is damaged: line {self._line_number} is the cost of a call of nothing")
        graph.add_call(self._node, place, self._callee, cost)
        self._is_call, self._called_object, self._called_file = False, self._object, self._file

    def profile(self) -> ImportedProfile:
        """What was read."""
        if not self._events:
            raise self._source.refuse("is damaged or cut off: it does not say which events it counts")
        event = self._events[self._column]
        table = ImportedStacks()
        threads = []
        unfinished: set[int] = set()
        for number, graph in sorted(self._graphs.items()):
            thread = ImportedThread(number, "")
            for path, has_root, cost in graph.iter_stacks():
                stack = table.stack(tuple([table.location(_location(node, place)) for node, place in path]))
                if not has_root:
                    unfinished.add(stack)
                thread.add(0, cost, stack)
            threads.append(thread)
        value = ImportedValue(event, event, self._units_ns.get(event, 1), event in self._units_ns)
        profile = ImportedProfile(NAME, value, table.locations, table.stacks, has_sums=True)
        profile.ends = dict.fromkeys(unfinished, StackEnd.NO_UNWIND_INFO)
        profile.processes = [ImportedProcess(self._pid, self._command[0] if self._command else "", threads)]
        profile.command = self._command
        profile.warnings.append(_APPROXIMATE)
        total = sum(sum(costs.values()) for graph in self._graphs.values() for costs in graph.own.values())
        stated = self._stated.get(b"totals", self._stated.get(b"summary", total))
        if stated != total:
            profile.warnings.append(f"The file says that it counts {format_count(stated)} {event}, but its lines add up to {format_count(total)}.")
        others = [name for name in self._events if name != event]
        if others:
            profile.notes.append(f"{event} is shown; --event chooses {listed(others)}.")
        return profile


def _known(file: str) -> str | None:
    return file if file and file != _UNKNOWN_FILE else None


def _position(word: bytes, before: int) -> int:
    """A place, which may be told by how far it is from the one before."""
    if word == b"*":
        return before
    sign = word[:1] if word[:1] in (b"+", b"-") else b""
    digits = word[len(sign) :]
    if len(digits) > _MOST_DIGITS:
        raise ValueError
    number = int(digits, 16) if digits.startswith(b"0x") else int(digits)
    return before + number if sign == b"+" else before - number if sign else number


def _location(node: Node, place: Position) -> ImportedLocation:
    line = ImportedLine(ImportedFunction(node.name, node.file), place.file, place.line)
    return ImportedLocation(ImportedModule(node.module or ImportedModule().path), place.address, (line,))
