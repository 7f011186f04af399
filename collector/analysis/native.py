"""native -- the analysis in C: this side opens files and lays out buffers"""

from __future__ import annotations

import ctypes
import os
import struct
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING
from weakref import finalize

from collector.analysis.library import (
    COLUMN_COUNT,
    COLUMN_MISSING,
    COLUMN_SYSTEM,
    COLUMN_TIME,
    COLUMN_USER,
    Answer,
    ExpansionBuffers,
    Layout,
    Library,
    Owners,
    Scan,
    by_reference,
    bytes_at,
    check,
)
from collector.analysis.native_samples import AnalysisHandle, NativeSamples, cells_of
from collector.analysis.placed_values import PlacedValues, placed_values
from collector.analysis.scanned_log import FoundRecords, Plans, ScannedLog
from collector.analysis.seam import AddressSpan, Entries, EntryColumns, Expansion
from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.experiment.directory import LogFile
from collector.experiment.events import Event
from collector.experiment.liveness import is_running
from collector.experiment.log_source import find_area
from collector.experiment.merge import iter_records
from collector.experiment.open_frames import MissingRecords, pack_block
from collector.experiment.samples import PcSampleBlock, SampleHead, SourceValues
from collector.format import SAMPLE_MAX_VALUES as MOST_VALUES, Kind
from collector.profile.metrics import CPU_VALUES, MISSING, SYSTEM, USER, Value
from collector.profile.samples import Samples, Scales
from collector.regular_file import open_regular

if TYPE_CHECKING:
    from ctypes import Array

_ITEM = struct.Struct("=4Q")
_SEGMENT = struct.Struct("=3Q2I")
_ENTRY_BYTES = 16  # an address in 8, and twice 4
_HEAD = struct.Struct(f"={6 + MOST_VALUES}Q")
_NONE = (1 << 32) - 1
_NO_FILE = -1


class NativeAnalysis:
    """See `seam.Analysis`."""

    def __init__(self, library: Library, skipped: frozenset[Kind] = frozenset()) -> None:
        handle = library.open()
        if not handle:
            raise MemoryError
        self._skipped = skipped
        self._engine = AnalysisHandle(library, handle)
        finalize(self._engine, library.close, handle)
        self._plans: Plans = {}
        self._declared: dict[int, list[SourceValues]] = {}
        self._layouts: dict[tuple[SourceValues, ...], Array[Layout]] = {}
        self.measure(CPU_VALUES)

    def scan(self, log: LogFile) -> tuple[int, list[Event | SampleHead]]:
        """See `seam.Analysis`. A log that is being written is read in Python, which knows what to wait for."""
        with _opened(log) as descriptor:
            is_untruncated = find_area(descriptor) is not None
            if not is_untruncated or not is_running(log):
                return self._scan_whole(log, descriptor, is_untruncated)
        number = self.begin(log)
        return number, [
            self.add_block(number, record) if isinstance(record, PcSampleBlock) else record for record in iter_records(log)
        ]

    def begin(self, log: LogFile) -> int:
        """See `seam.Analysis`."""
        return self._scan(log, _NO_FILE)[0]

    def _scan(self, log: LogFile, descriptor: int) -> tuple[int, Scan]:
        engine, scan = self._engine, Scan()
        number = check(engine.library.scan(engine.handle, descriptor, by_reference(scan)), f"the log {log.path}")
        engine.paths.append(log.path)
        self._declared[number] = []
        return number, scan

    def _scan_whole(self, log: LogFile, descriptor: int, is_untruncated: bool) -> tuple[int, list[Event | SampleHead]]:
        number, scan = self._scan(log, descriptor)
        items = _ITEM.iter_unpack(bytes_at(scan.items, scan.item_count * _ITEM.size))
        heads = list(_HEAD.iter_unpack(bytes_at(scan.heads, scan.record_count * _HEAD.size)))
        numbers = struct.unpack(f"={scan.number_count}Q", bytes_at(scan.numbers, scan.number_count * 8))
        found = FoundRecords(items, heads, bytes_at(scan.bytes, scan.byte_count), numbers, scan.settled)
        reader = ScannedLog(log.origin, found, self._plans, self._skipped)
        records = reader.read_all()
        self._declared[number] = [record.declared for record in records if isinstance(record, SampleHead)]
        if is_untruncated:
            missing = MissingRecords(log.path, log.origin)
            missing.see(records)
            for record in missing.after(reader):
                records.append(self.add_block(number, record) if isinstance(record, PcSampleBlock) else record)
        return number, records

    def add_block(self, log: int, block: PcSampleBlock) -> SampleHead:
        """See `seam.Analysis`."""
        engine, data = self._engine, pack_block(block)
        where = ctypes.c_void_p()
        check(engine.library.add_record(engine.handle, log, data, len(data), by_reference(where)), "a record of samples")
        self._declared[log].append(block.declared)
        return SampleHead.of(_HEAD.unpack(bytes_at(where.value, _HEAD.size)), block.log_offset, block.declared)

    def measure(self, values: Sequence[Value]) -> None:
        """See `seam.Analysis`."""
        engine, kinds = self._engine, array("I", map(_kind_of, values))
        check(engine.library.measure(engine.handle, kinds.buffer_info()[0], len(kinds)), "the values of samples")
        engine.values = tuple(values)
        self._layouts.clear()

    def attribute(self, log: int, threads: Sequence[int], segments: Sequence[AddressSpan], own_space: int) -> None:
        """See `seam.Analysis`."""
        engine, column = self._engine, array("I", threads)
        engine.threads[log] = frozenset(threads)
        packed = b"".join([_SEGMENT.pack(*segment) for segment in segments])
        numbers: dict[SourceValues, int] = {}
        layout_numbers = array("I", [numbers.setdefault(declared, len(numbers)) for declared in self._declared[log]])
        layouts = self._layouts_of(tuple(numbers))
        owners = Owners(column.buffer_info()[0], layout_numbers.buffer_info()[0], len(column), layouts, len(layouts))
        check(engine.library.attribute(engine.handle, log, by_reference(owners), packed, len(segments), own_space), f"the log {engine.paths[log]}")

    def _layouts_of(self, sources: tuple[SourceValues, ...]) -> Array[Layout]:
        """Where the values of sources go; most logs have the same ones."""
        layouts = self._layouts.get(sources)
        if layouts is None:
            values = self._engine.values
            layouts = self._layouts[sources] = (Layout * len(sources))(*(_layout(placed_values(declared, values)) for declared in sources))
        return layouts

    def shift(self, log: int, shift_ns: int) -> None:
        """See `seam.Analysis`."""
        check(self._engine.library.shift(self._engine.handle, log, shift_ns % (1 << 64)), f"the log {self._engine.paths[log]}")

    def collect(self, log: int) -> None:
        """See `seam.Analysis`."""
        self._engine.read(log, self._engine.library.collect)

    def entries(self) -> Entries:
        """See `seam.Analysis`."""
        engine, answer, counts = self._engine, Answer(), (ctypes.c_uint64 * 8)()
        where, count = ctypes.c_void_p(), ctypes.c_size_t()
        engine.library.entries(engine.handle, by_reference(where), by_reference(count), by_reference(answer), counts)
        engine.cells = cells_of(engine, answer)
        addresses, halves = array("Q"), array("I")
        for column in (addresses, halves):
            column.frombytes(bytes_at(where.value, count.value * _ENTRY_BYTES))
        return Entries(EntryColumns(addresses[::2], halves[2::4], halves[3::4]), list(counts))

    def mark(self, expansion: Expansion, logs: Sequence[int]) -> bytearray:
        """See `seam.Analysis`."""
        engine = self._engine
        self.expand(expansion)
        is_met = bytearray(expansion.first_meaning[-1])
        buffer = (ctypes.c_char * len(is_met)).from_buffer(is_met)
        for log in logs:
            engine.read(log, engine.library.mark, ctypes.addressof(buffer))
        del buffer
        return is_met

    def expand(self, expansion: Expansion) -> None:
        """See `seam.Analysis`."""
        engine = self._engine
        engine.expansion = expansion  # the library looks at these buffers until there are others
        frames = expansion.frames.buffer_info()[0] if len(expansion.first_frame) == expansion.first_meaning[-1] + 1 else None
        buffers = ExpansionBuffers(
            expansion.first_meaning.buffer_info()[0],
            expansion.times.buffer_info()[0],
            expansion.first_frame.buffer_info()[0],
            frames or expansion.first_frame.buffer_info()[0] if frames is not None else None,
            len(expansion.first_meaning) - 1,
            (ctypes.c_uint64 * 8)(*expansion.empty_frames),
        )
        check(engine.library.expand(engine.handle, by_reference(buffers)), "what addresses mean")

    def samples(self, scales: Sequence[Scales], frame_count: int, has_all_cells: bool) -> Samples:
        """See `seam.Analysis`."""
        return NativeSamples(self._engine, array("d", chain.from_iterable(scales)), frame_count, self._engine.cells if has_all_cells else None)


def _kind_of(value: Value) -> int:
    kind = COLUMN_USER if value == CPU_VALUES[USER] else COLUMN_SYSTEM if value == CPU_VALUES[SYSTEM] else COLUMN_MISSING if value == MISSING else 0
    return kind | value.is_time * COLUMN_TIME | value.is_count * COLUMN_COUNT


def _layout(placed: PlacedValues) -> Layout:
    columns = [_NONE if column is None else column for column in placed.columns]
    times = sum(1 << number for number, is_time in enumerate(placed.are_times) if is_time)
    padding = [_NONE] * (MOST_VALUES - len(columns))
    return Layout((ctypes.c_uint32 * MOST_VALUES)(*columns, *padding), times, _NONE if placed.counted_in is None else placed.counted_in)


@contextmanager
def _opened(log: LogFile) -> Iterator[int]:
    try:
        descriptor = open_regular(log.path)
    except FileNotFoundError as error:
        raise ExperimentNotFoundError(f"there is no log at {log.path}") from error
    except OSError as error:
        raise ExperimentError(f"the log {log.path} cannot be read: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
