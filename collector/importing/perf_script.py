"""perf_script -- the text of `perf script`: a line for each sample, and below it its stack, the leaf first

    prog 4711/4712 46555.150169:    2000000 cpu-clock:ppp:
                11df leaf+0x3f (/tmp/prog)
      prog.c:3
                1230 middle+0x20 (inlined)

Lines of the source are there with `-F +srcline`, the process with `-F +pid`. A function that was inlined stands above the one around it.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from collector.importing.model import (
    MOST_ID,
    NO_MODULE,
    ImportedFunction,
    ImportedLine,
    ImportedLocation,
    ImportedMachine,
    ImportedModule,
    ImportedProcess,
    ImportedProfile,
    ImportedStacks,
    ImportedThread,
    ImportedValue,
)
from collector.importing.source_file import SourceFile, text_of
from collector.units import NS_PER_S, listed, plural

NAME: Final = "perf script"
_SAMPLE: Final = re.compile(  # bounded, so that no line takes longer than its length says
    rb"(?:(\S.{0,63}?)[ \t]{1,64})?(-?\d{1,10})(?:/(-?\d{1,10}))?[ \t]{1,64}(?:\[\d{1,9}\][ \t]{1,64})?(?:(\d{1,10})\.(\d{6}|\d{9}):[ \t]{1,64})?"
    rb"(?:(\d{1,19})[ \t]{1,64})?([^\s:]\S*):(?:[ \t](.*))?"
)
_FRAME: Final = re.compile(rb"\s*([0-9a-f]{1,16})\s+(\S.*)")
_STACK: Final = re.compile(rb"(?:(?:\t|  )[^\n]*(?:\n|\Z)|\n)*")
_OFFSET: Final = re.compile(rb"\+0x[0-9a-f]+(?:\Z| \()")
_SOURCE_LINE: Final = re.compile(rb"(.*):(\d{1,9})(?: \(discriminator \d+\))?")
_HEADER: Final = re.compile(rb"# ([a-z ]+?)\s*: (.*)")
_MODIFIERS: Final = re.compile(r":[ukhGHpPSDWIeb]*\Z")
_INLINED: Final = b" (inlined)"
_TIMES: Final = ("cpu-clock", "task-clock")
_PREFERRED: Final = (*_TIMES, "cycles", "cpu-cycles", "instructions")
_COUNTED: Final = ("page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs", "cpu-migrations", "migrations",
                   "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches")  # fmt: skip
_SAMPLE_NS: Final = 1_000_000
_US: Final = 1_000
_US_DIGITS: Final = 6
_MOST_PERIODS: Final = 1000
_JUDGED_LINES: Final = 50


def is_perf_script(head: bytes) -> bool:
    """Whether text begins like that of perf script."""
    for line in head.split(b"\n")[:_JUDGED_LINES]:
        if line.startswith(b"# cmdline : ") and b"perf" in line or b": PERF_RECORD_" in line:
            return True
        match = _sample_of(line)
        if match is not None and (match[4] is not None or match[8] is None):
            return True
        if line.strip() and not line.startswith(b"#"):
            return False
    return False


def read_perf_script(source: SourceFile, event: str | None) -> ImportedProfile:
    """The samples of one event. ForeignProfileError if there are none, or none of that event."""
    script = _Script()
    has_stacks = b"\n\n" in source.head or b"\n\t" in source.head
    pieces = chain.from_iterable(source.pieces(b"\n\n" if has_stacks else b"\n"))
    for block in pieces if has_stacks else _grouped(pieces):
        script.read(block)
    if not script.events:
        raise source.refuse("holds no samples of perf script")
    chosen = _choose(script.events, event, source)
    return script.profile(chosen)


@dataclass(slots=True)
class _Event:
    """The samples of one event, by thread: the newest life of each is the last."""

    name: str
    processes: dict[int, ImportedProcess] = field(default_factory=dict)
    lives: dict[tuple[int, int], ImportedThread] = field(default_factory=dict)
    periods: dict[int, int] = field(default_factory=dict)
    has_period: bool = True
    sample_count: int = 0

    @property
    def kind(self) -> str:
        """Its name without modifiers, as of `cpu-clock:ppp`."""
        return _MODIFIERS.sub("", self.name).rstrip("/")

    @property
    def value(self) -> ImportedValue:
        """What its periods are."""
        if not self.has_period:
            return ImportedValue(self.name, "samples", _SAMPLE_NS, False)
        most = max(self.periods, key=self.periods.__getitem__)
        if self.kind in _TIMES:
            return ImportedValue(self.name, "ns", 1, True, most if self.periods[most] * 2 > self.sample_count else 0)
        is_counted = self.kind in _COUNTED or ":" in self.kind  # a tracepoint
        return ImportedValue(self.name, f"{self.kind} events" if is_counted else self.kind, _SAMPLE_NS if is_counted else 1, False)


class _Script:
    """Reads blocks of text, each a sample and its stack, or what perf puts before."""

    def __init__(self) -> None:
        self.events: dict[bytes, _Event] = {}
        self._table = ImportedStacks()
        self._stacks: dict[bytes, int] = {}
        self._locations: dict[bytes, int] = {}
        self._definitions: dict[tuple[str, str], str] = {}
        self._machine = ImportedMachine()
        self._command: list[str] = []
        self._wall_ns = 0
        self._has_pids = False
        self._has_times = True
        self._strange_lines = 0
        self._owners: dict[tuple[bytes, bytes, bytes | None, bytes], tuple[_Event, ImportedThread]] = {}

    def read(self, block: bytes) -> None:
        """Take a block in."""
        place = 0
        while place < len(block):
            header, place = _line_at(block, place)
            match = _sample_of(header) if header[:1] != b"#" and b" PERF_RECORD_" not in header else None
            if match is None:
                self._read_other(header)
                continue
            leaf = match[8] if match[8] and block[place : place + 1] != b"\t" and _FRAME.fullmatch(match[8]) else None
            end = _end_of_stack(block, place) if leaf is None else _end_of_source_line(block, place)
            self._add(match, self._stack(leaf, block[place:end]))
            place = end

    def _read_other(self, line: bytes) -> None:
        header = _HEADER.fullmatch(line)
        if header is not None:
            read = _HEADERS.get(header[1])
            if read is not None:
                read(self, text_of(header[2]).strip())
        elif line.strip() and not line.startswith(b"#") and b"PERF_RECORD_" not in line:
            self._strange_lines += 1

    def _add(self, match: re.Match[bytes], stack: int) -> None:
        whole, fraction, period = match.group(4, 5, 6)
        time_ns = int(whole) * NS_PER_S + int(fraction) * (_US if len(fraction) == _US_DIGITS else 1) if whole is not None else 0
        value = 1 if period is None else int(period)
        comm, first, second, _, _, _, name, _ = match.groups()
        owner = comm or b"", first, second, name
        known = self._owners.get(owner)
        if known is None:
            known = self._owners[owner] = self._owner(comm or b"", first, second, name, time_ns)
        event, thread = known
        self._has_times &= whole is not None
        event.has_period &= period is not None
        event.sample_count += 1
        if len(event.periods) < _MOST_PERIODS or value in event.periods:
            event.periods[value] = event.periods.get(value, 0) + 1
        thread.add(time_ns, value, stack)

    def _owner(self, comm: bytes, first: bytes, second: bytes | None, name: bytes, time_ns: int) -> tuple[_Event, ImportedThread]:
        """The event and the thread of a sample."""
        event = self.events.get(name)
        if event is None:
            event = self.events[name] = _Event(text_of(name).rstrip(":"))
        self._has_pids |= second is not None
        return event, self._thread(event, _identity(first) if second is not None else 0, _identity(second or first), comm, time_ns)

    def _thread(self, event: _Event, pid: int, tid: int, comm: bytes, time_ns: int) -> ImportedThread:
        """The life of a thread that a sample belongs to: another name, as after an exec, begins another."""
        thread = event.lives.get((pid, tid))
        name = text_of(comm)
        if thread is not None and thread.name == name:
            return thread
        self._owners.clear()  # the thread had another name there
        if thread is not None and time_ns <= thread.times[0]:
            thread.name = name
            return thread
        process = event.processes.get(pid)
        if process is None:
            process = event.processes[pid] = ImportedProcess(pid, name)
        thread = event.lives[pid, tid] = ImportedThread(tid, name)
        process.threads.append(thread)
        if tid == pid:
            process.executable = name
        return thread

    def _stack(self, leaf: bytes | None, text: bytes) -> int:
        """The number of a stack; a sample without callers has its leaf in its own line."""
        whole = text if leaf is None else b"\t%b\n%b" % (leaf, text)
        stack = self._stacks.get(whole)
        if stack is None:
            # A line for each location: below the frame comes its source, and what was inlined stands above the function around it.
            lines = whole.strip(b"\n").replace(b"\n  ", b"\0  ").replace(b" (inlined)\n", b" (inlined)\0").split(b"\n")
            known = self._locations
            locations = [known.get(line) or self._new_location(line) for line in reversed(lines) if line]
            stack = self._stacks[whole] = self._table.stack(tuple(locations))
        return stack

    def _new_location(self, lines: bytes) -> int:
        number = self._locations[lines] = self._table.location(self._location(lines.split(b"\0")))
        return number

    def _location(self, group: list[bytes]) -> ImportedLocation:
        """The location of frames at one address, the innermost first."""
        module, address = NO_MODULE, 0
        named: list[tuple[str, str | None, int | None]] = []
        for line in group:
            frame = _FRAME.fullmatch(line) if line.startswith(b"\t") else None
            if frame is not None:
                name, given = _split(frame[2])
                module = given or module
                address = int(frame[1], 16)
                named.append((name, None, None))
            elif named:
                named[-1] = (named[-1][0], *_source_line(line.strip().removesuffix(_INLINED)))
        lines = [ImportedLine(ImportedFunction(name, self._definition(module, name, file)), file, number) for name, file, number in reversed(named)]
        return ImportedLocation(ImportedModule(module), address, tuple(lines))

    def _definition(self, module: str, name: str, file: str | None) -> str | None:
        """The file of a function: perf tells those of its lines, of which the first has to stand for it."""
        return self._definitions.setdefault((module, name), file) if file else self._definitions.get((module, name))

    def profile(self, chosen: _Event) -> ImportedProfile:
        """What was read, with the samples of one event."""
        profile = ImportedProfile(NAME, chosen.value, self._table.locations, self._table.stacks)
        profile.processes = sorted(chosen.processes.values(), key=lambda process: process.pid)
        profile.machine, profile.command, profile.wall_ns = self._machine, self._command, 0
        profile.has_times = self._has_times
        if self._has_times:
            times = [thread.times for process in profile.processes for thread in process.threads]
            profile.start_ns, profile.end_ns = min(map(min, times)), max(map(max, times))
            profile.wall_ns = self._wall_ns
        if not self._has_pids:
            profile.notes.append("perf script was not asked for processes (-F +pid), so all threads are shown in one.")
            process = profile.processes[0]
            process.pid, process.executable = process.threads[0].tid, process.threads[0].name
        others = [f"{event.name} ({plural(event.sample_count, 'sample')})" for event in self.events.values() if event is not chosen]
        if others:
            profile.notes.append(f"Samples of {chosen.name} are shown; --event chooses {listed(others)}.")
        if self._strange_lines:
            profile.warnings.append(f"{plural(self._strange_lines, 'line')} made no sense as text of perf script; what they may have told is missing.")
        return profile

    def set_command(self, text: str) -> None:
        """What was recorded."""
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        self._command = words

    def set_wall(self, text: str) -> None:
        """When."""
        try:
            self._wall_ns = int(time.mktime(time.strptime(text, "%a %b %d %H:%M:%S %Y"))) * NS_PER_S
        except (ValueError, OverflowError):
            self._wall_ns = 0

    def set_host(self, text: str) -> None:
        """Where."""
        self._machine.host = text

    def set_kernel(self, text: str) -> None:
        """On which kernel."""
        self._machine.kernel = text

    def set_processor(self, text: str) -> None:
        """On which processor."""
        self._machine.name = text

    def set_cpu_count(self, text: str) -> None:
        """On how many."""
        self._machine.cpu_count = int(text) if text.isdecimal() and len(text) < 10 else None


_HEADERS: Final[dict[bytes, Callable[[_Script, str], None]]] = {
    b"cmdline": _Script.set_command, b"captured on": _Script.set_wall, b"hostname": _Script.set_host,
    b"os release": _Script.set_kernel, b"arch": _Script.set_processor, b"nrcpus online": _Script.set_cpu_count,
}  # fmt: skip


def _choose(events: dict[bytes, _Event], wanted: str | None, source: SourceFile) -> _Event:
    found = list(events.values())
    if wanted is not None:
        for event in found:
            if wanted in (event.name, event.kind):
                return event
        raise source.refuse(f"has no samples of an event {wanted!r}, but of {listed(sorted(event.name for event in found)[:10])}")
    for kind in _PREFERRED:
        for event in found:
            if event.kind == kind:
                return event
    return max(found, key=lambda event: event.sample_count)


def _sample_of(line: bytes) -> re.Match[bytes] | None:
    """The line with which a sample begins, if it is one."""
    return _SAMPLE.fullmatch(line.strip())


def _grouped(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Each sample with the lines below it that belong to it, where no empty line says so."""
    block: list[bytes] = []
    for line in lines:
        if not line.startswith(b"\t") and not (line.startswith(b"  ") and _sample_of(line) is None):
            yield b"\n".join(block)
            block = []
        block.append(line)
    yield b"\n".join(block)


def _line_at(block: bytes, place: int) -> tuple[bytes, int]:
    """The line that begins there, and where the next one does."""
    end = block.find(b"\n", place)
    return (block[place:], len(block)) if end < 0 else (block[place:end], end + 1)


def _end_of_stack(block: bytes, place: int) -> int:
    """Where frames and their lines of source end."""
    match = _STACK.match(block, place)
    return match.end() if match else place


def _end_of_source_line(block: bytes, place: int) -> int:
    """Where the source of the one frame of a sample ends; the next sample may begin with blanks as well."""
    line, after = _line_at(block, place)
    return after if line.startswith(b"  ") and _sample_of(line) is None else place


def _identity(digits: bytes) -> int:
    return min(max(int(digits), 0), MOST_ID)


def _split(text: bytes) -> tuple[str, str]:
    """Name and module of a frame: `f(int)+0x1c (/lib/x.so)`."""
    text = text.removesuffix(_INLINED)
    match = _OFFSET.search(text)
    if match is not None:
        return text_of(text[: match.start()]), text_of(text[match.end() :].removesuffix(b")"))
    place = text.rfind(b" (", 0, -len(b" (deleted))") if text.endswith(b" (deleted))") else None) if text.endswith(b")") else -1
    return (text_of(text), "") if place < 0 else (text_of(text[:place]), text_of(text[place + 2 : -1]))


def _source_line(text: bytes) -> tuple[str | None, int | None]:
    """File and line; `prog[11df]` is neither."""
    match = _SOURCE_LINE.fullmatch(text)
    if match is None or match[1] in (b"", b"??"):
        return None, None
    return text_of(match[1]), int(match[2]) or None
