"""small_experiment -- experiments of a few records, and a symbolizer that names addresses by simple arithmetic

Everything is mapped at BASE with the bias BASE. Address BASE + 0x1234 is function f1 of its module, line 0x234, so a test
can say which instruction was looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from writer import column, definitions, frame, record

from collector.format import Kind, LineEncoding, MapAction, MapKind
from collector.symbols.symbolizer import Location

BASE = 0x500000
PERIOD_NS = 1_000_000
T0 = 1_000_000_000_000
S = 1_000_000_000
PID = 100


class ArithmeticSymbolizer:
    """Stands in for collector.symbols: no files needed."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.nameless: dict[str, str] = {}
        self.asked: list[tuple[str, bytes | None, set[int]]] = []

    def add_archive(self, experiment: str) -> None:
        """It needs no files."""

    def digests_of(self, paths: Iterable[str]) -> dict[str, str]:
        """None are known."""
        return {}

    def python_methods(self, path: str, build_id: bytes | None, layout: str = "image", file: object = None) -> dict[int, str]:
        """Function f9 is a method."""
        return {0x9000: "list.sort"}

    def locate_chains(
        self, path: str, build_id: bytes | None, addresses: Iterable[int], layout: str = "image", file: object = None
    ) -> dict[int, tuple[Location, ...]]:
        """Function f<thousands>, line the rest."""
        wanted = set(addresses)
        self.asked.append((path, build_id, wanted))
        module = path.rpartition("/")[2]
        return {
            address: (
                Location(
                    f"f{address >> 12}", f"f{address >> 12}", module, f"/src/{module}.c", address & 0xFFF, f"/src/{module}.c", 1, address & ~0xFFF, "symbol"
                ),
            )
            for address in wanted
        }


def begin(pid: int = PID, at_ns: int = T0, **fields: object) -> bytes:
    """The first record of a log."""
    known = dict(
        version_major=1, version_minor=0, wall_ns=1_700_000_000 * S, pid=pid, ppid=1, host="engine", machine="x86_64", kernel="6.1",
        cpu_count=4, page_bytes=4096, executable="/bin/prog", arguments=["prog", "-x"], directory="/tmp", options=["clock=auto"],
        library_version="0.1.0", start_ticks=None, pid_namespace=None, rank=None, local_rank=None,
    )
    return record(Kind.INITIALIZE, at_ns, 0, **{**known, **fields})


def clock(name: str = "sigtrap") -> bytes:
    """The definition of the clock, with a period of 1 ms."""
    return record(
        Kind.PMCALLOCATE, T0, source=1, name="cpu", clock=name, unit="ns", period_ns=PERIOD_NS, effective_period_ns=PERIOD_NS, detail=""
    )


def source(number: int, values: Sequence[str], counted_as: str | None = None, at_ns: int = T0) -> bytes:
    """The definition of another source, whose samples stand for these values."""
    return record(
        Kind.PMCALLOCATE, at_ns, source=number, name=f"source {number}", clock="test", unit="", period_ns=0, effective_period_ns=0, detail="",
        attributes=[], values=list(values), counted_as=counted_as,
    )


def mapping(path: str = "/bin/prog", start: int = BASE, size: int = 0x100000, at_ns: int = T0, action=MapAction.INSERT, **fields) -> bytes:
    """A module comes or goes."""
    known = dict(action=int(action), map_kind=int(MapKind.OBJECT), start=start, end=start + size, bias=start, path=path, build_id=b"\x01\x02")
    return record(Kind.MAPPINGCHANGE, at_ns, 0, **{**known, **fields})


PYTHON_BASE = 1 << 56
LIBPYTHON = 0x7F0000000000


def python_code(number: int, name: str, source: str | None = "/src/app.py", *, first_line: int = 1, table: bytes = b"", size: int = 64, **fields) -> bytes:
    """A code object; its frames are at `python_frame(number, lasti)`. Without a table, instruction i (2 bytes each) has line first_line + i."""
    start = PYTHON_BASE + 0x1000 * number
    lines = table or (bytes([0, 0, *[2, 1] * (size // 2)]) if source is not None else b"")
    known = dict(
        action=int(MapAction.INSERT), map_kind=int(MapKind.PYTHON_CODE), start=start, end=start + 2 * size, bias=start, name=name, alias=None, source=source,
        lines=lines, code=None, copy=None, first_line=first_line, line_table=int(LineEncoding.LNOTAB),
    )
    return record(Kind.MAPPINGCHANGE, fields.pop("at_ns", T0), fields.pop("thread", 0), **{**known, **fields})


def python_frame(number: int, lasti: int = 0, has_lock: bool = True) -> int:
    """The address of a frame that executes the instruction at `lasti`."""
    return PYTHON_BASE + 0x1000 * number + 2 * lasti + (1 if has_lock else 3)


def interpreter(detail: str | None = None, start: int = LIBPYTHON, end: int = LIBPYTHON + 0x100000, **fields) -> bytes:
    """CPython is in the process."""
    return record(Kind.INTERPRETER, T0, 0, name="CPython", version="3.11.2", start=start, end=end, detail=detail, **fields)


def samples(
    stacks: Sequence[tuple[Sequence[int], int]],
    indexes: Sequence[int],
    *,
    thread: int = PID,
    at_ns: int = T0,
    user_us: Sequence[int] | None = None,
    system_us: Sequence[int] | None = None,
    gap_us: int = 1000,
    source: int = 1,
    values: Sequence[Sequence[int]] | None = None,
) -> bytes:
    """One PCSAMPLE record; stacks are (addresses leaf first, end). `values` are columns in place of user and system time."""
    count = len(indexes)
    columns = (user_us or [1000] * count, system_us or [0] * count) if values is None else values
    return record(
        Kind.PCSAMPLE, at_ns, thread, source=source, count=count, unit_ns=1000, times=column([gap_us] * count),
        values=[column(list(own)) for own in columns], stacks=column(list(indexes)),
        stack_count=len(stacks), definitions=definitions(stacks),
    )


def thread_end(thread: int = PID, user_ns: int = 0, system_ns: int = 0, at_ns: int = T0 + S, **fields) -> bytes:
    """The end of a thread with the kernel's account."""
    return record(Kind.THR_EXIT, at_ns, thread, **{"name": "prog", "user_ns": user_ns, "system_ns": system_ns, "is_exit": 1, **fields})


def close(at_ns: int = T0 + S, **fields: object) -> bytes:
    """The last record of a log."""
    return record(Kind.CLOSELOG, at_ns, 0, **fields)


def write_log(directory: Path, name: str, *records: bytes) -> Path:
    """A log of these records, one frame each."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_bytes(b"".join(frame(payload, number) for number, payload in enumerate(records)))
    return path


def write_small(directory: Path, indexes: Sequence[int] = (0, 0, 1)) -> Path:
    """An experiment with two stacks: f2 called by f1, and f1 alone."""
    stacks = [([BASE + 0x2010, BASE + 0x1008], 0), ([BASE + 0x1020], 0)]
    used_ns = len(indexes) * 1_000_000
    write_log(
        directory, f"{PID}.0.log", begin(), clock(), mapping(), samples(stacks, indexes), thread_end(user_ns=used_ns), close(user_ns=used_ns)
    )
    return directory
