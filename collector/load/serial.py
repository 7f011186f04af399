"""serial -- a profile as one file: tables of what ran and what its code is called, and the sums of its samples (docs/profile-file.md)

    write_profile(profile, path), read_profile(path)    a whole profile
    pack(...), open_profile(path)                       what is known of one, with what it was made from

The samples are not in it: only what was asked of them. A string stands once; a column is the bytes of its numbers, little-endian. Each answer is
read when it is wanted.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

import msgpack

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.load.serial_answers import Sizes, check_positions, pack_answer, pack_column, read_answer, read_column
from collector.load.serial_rows import check_references, fields_of, make_rows, pack_row, pack_table, read_table
from collector.profile import model
from collector.profile.kept_samples import Answers, KeptSamples, ask_all, merged_addresses, read_answers
from collector.profile.lazy_table import LazyTable
from collector.profile.metrics import Metric
from collector.profile.sample_point import SamplePoint
from collector.regular_file import open_binary

if TYPE_CHECKING:
    from collector.profile.metric_series import MetricSeries

VERSION: Final = 4
MAGIC: Final = b"collector profile\n"
_PART = struct.Struct("<IQ")  # CRC-32 and length of the bytes
_NO_STRING = 0
_NO_LINE = (1 << 32) - 1

T = TypeVar("T")
Row = TypeVar("Row", model.Function, model.Frame)
Document = dict[str, Any]

_TABLES: Final[dict[str, type]] = {
    "recordings": model.Recording,
    "modules": model.Module,
    "processes": model.Process,
    "threads": model.Thread,
    "points": SamplePoint,
    "losses": model.Loss,
    "messages": model.Message,
    "pauses": model.Pause,
    "unrecorded": model.Unrecorded,
    "digests": model.SourceDigest,
}


def write_profile(profile: model.Profile, path: str | os.PathLike[str]) -> None:
    """Write all that views show of a whole profile. The same profile gives the same bytes. ExperimentError if it cannot be written."""
    pieces = pack_whole(profile)
    try:
        with open(path, "wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise ExperimentError(f"the profile {os.fspath(path)} cannot be written: {(error.strerror or str(error)).lower()}") from error


def read_profile(path: str | os.PathLike[str] | bytes) -> model.Profile:
    """The profile in a file, or in its bytes. ExperimentNotFoundError or ExperimentError if there is none, or it is damaged.

    It answers what was asked when it was written: views of a whole profile, not of some threads or of a span of time.
    """
    profile, _ = open_profile(path)
    for table in (profile.functions, profile.frames, profile.series):
        len(tuple(table))
    return profile._replace(samples=KeptSamples(read_answers(profile)))


def pack_whole(profile: model.Profile) -> list[bytes]:
    """The bytes of write_profile, piece by piece."""
    return pack(profile, answers_of(profile))


def answers_of(profile: model.Profile) -> Answers:
    """What views of a whole profile ask of its samples, and their answers."""
    kept = KeptSamples({}, profile.samples)
    ask_all(profile._replace(samples=kept))
    return kept.answers


def pack(profile: model.Profile, answers: Answers, made_from: Sequence[object] = ()) -> list[bytes]:
    """The bytes of a file, piece by piece. `made_from` is given back by open_profile. ExperimentError if a number has no room."""
    try:
        return _pack(profile, answers, made_from)
    except (OverflowError, ValueError) as error:
        raise ExperimentError(f"the profile cannot be written: {error}") from error


def _pack(profile: model.Profile, answers: Answers, made_from: Sequence[object]) -> list[bytes]:
    strings = _Strings()
    frames = merged_addresses(profile.frames)
    document: Document = {
        "version": VERSION,
        "made_from": made_from,
        **{name: pack_table(getattr(profile, name), row) for name, row in _TABLES.items()},
        "metrics": [pack_row(metric) for metric in profile.metrics],
        "filters": list(profile.filters),
        "series": [_pack_series(series) for series in profile.series],
        "functions": {
            **{name: strings.column(getattr(row, name) for row in profile.functions) for name in _NAMES},
            "module": pack_column("I", (function.module for function in profile.functions)),
            "line": pack_column("I", (_NO_LINE if function.line is None else function.line for function in profile.functions)),
        },
        "frames": {
            "function": pack_column("I", (frame.function for frame in frames)),
            "file": strings.column(frame.file for frame in frames),
            "line": pack_column("I", (_NO_LINE if frame.line is None else frame.line for frame in frames)),
            "kind": strings.column(frame.kind for frame in frames),
            "code": pack_column("i", (frame.code for frame in frames)),
        },
        "strings": strings.all,
    }
    parts = {" of ".join(question): list(_iter_packed(pack_answer(answer))) for question, answer in sorted(answers.items())}
    document["answers"] = {name: _describe(part) for name, part in parts.items()}
    head = list(_iter_packed(document))
    return [MAGIC, _PART.pack(*_describe(head)), *head, *(piece for part in parts.values() for piece in part)]


def open_profile(path: str | os.PathLike[str] | bytes) -> tuple[model.Profile, Sequence[Any]]:
    """The profile in a file, whose parts are read as they are wanted, and what it was made from. Errors are those of read_profile, now or then."""
    file = _File(path)
    document = _telling(file.name, file.read_head)()
    if document["version"] != VERSION:
        raise ExperimentError(f"the profile {file.name} has the version {document['version']}, which this collector cannot read")
    return _telling(file.name, lambda: (_profile(document, file), document["made_from"]))()


class _File:
    def __init__(self, path: str | os.PathLike[str] | bytes) -> None:
        self._file: BinaryIO
        if isinstance(path, bytes):
            self.name, self._file, self._size = "in memory", BytesIO(path), len(path)
            self._parts_at = len(MAGIC) + _PART.size
            return
        self.name = os.fspath(path)
        try:
            self._file = open_binary(path, may_follow=True)
            self._size = os.fstat(self._file.fileno()).st_size
        except FileNotFoundError as error:
            raise ExperimentNotFoundError(f"there is no profile at {self.name}") from error
        except OSError as error:
            raise ExperimentError(f"the profile {self.name} cannot be read: {(error.strerror or str(error)).lower()}") from error
        self._parts_at = len(MAGIC) + _PART.size

    def read_head(self) -> Document:
        """The part that tells of all others."""
        if self._file.read(len(MAGIC)) != MAGIC:
            raise ExperimentError(f"{self.name} is neither an experiment nor a profile: it is a file of another kind")
        checksum, length = _PART.unpack(self._file.read(_PART.size))
        document: Document = self.read_part(0, checksum, length)
        self._parts_at += length
        return document

    def read_part(self, offset: int, checksum: int, length: int) -> Any:
        """The part at an offset behind the head."""
        if length > self._size:
            raise ValueError("it is cut off")
        self._file.seek(self._parts_at + offset)
        data = self._file.read(length)
        if zlib.crc32(data) != checksum:
            raise ValueError("a checksum is wrong")
        return msgpack.unpackb(data, use_list=False, unicode_errors="surrogatepass")


def _iter_packed(value: Any) -> Iterator[bytes]:
    """A value as msgpack, without a copy of its columns."""
    if isinstance(value, dict):
        yield msgpack.Packer().pack_map_header(len(value))
        for key, item in value.items():
            yield msgpack.packb(key)
            yield from _iter_packed(item)
    elif isinstance(value, list) and any(isinstance(item, bytes) for item in value):
        yield msgpack.Packer().pack_array_header(len(value))
        for item in value:
            yield from _iter_packed(item)
    elif isinstance(value, bytes):
        yield b"\xc6" + len(value).to_bytes(4, "big")  # bin 32
        yield value
    else:
        yield msgpack.packb(value, unicode_errors="surrogatepass")


def _describe(part: Sequence[bytes]) -> tuple[int, int]:
    """CRC-32 and length of a part that consists of pieces."""
    return reduce(lambda checksum, piece: zlib.crc32(piece, checksum), part, 0), sum(map(len, part))


class _Numbers(dict[str | None, int]):
    def __missing__(self, text: str | None) -> int:
        self[text] = number = len(self)
        return number


class _Strings:
    """All strings by number; 0 is none."""

    def __init__(self) -> None:
        self._numbers = _Numbers({None: _NO_STRING})

    @property
    def all(self) -> list[str | None]:
        return list(self._numbers)

    def column(self, texts: Iterable[str | None]) -> bytes:
        return pack_column("I", list(map(self._numbers.__getitem__, texts)))


_NAMES: Final = ("name", "short_name", "raw_name", "file", "alias")


def _pack_series(series: MetricSeries) -> list[Any]:
    columns = list(series.times_ns), list(series.intervals_ns), list(series.readings)
    return [pack_row(series.metric), series.process, *columns, series.experiment, series.node]


def _profile(document: Document, file: _File) -> model.Profile:
    name = file.name
    strings = document["strings"]
    if strings[0] is not None or any(type(string) is not str for string in strings[1:]):
        raise ValueError("a string is none")
    tables = {key: read_table(document[key], row) for key, row in _TABLES.items()}
    check_references(tables)
    functions = _read_functions(document["functions"], strings, len(tables["modules"]), name)
    frames = _read_frames(document["frames"], strings, len(functions), name)
    metrics = tuple(make_rows(Metric, document["metrics"]))
    groups, bases = len(functions) + len(frames) + len(tables["modules"]), 1 + max(max(metric.parts) for metric in metrics)
    sizes = Sizes(len(functions), groups, len(tables["modules"]), len(tables["threads"]), bases)
    answers: Answers = {}
    offset = 0
    for title, (checksum, length) in document["answers"].items():
        kind, _, grouping = title.partition(" of ")
        part = offset, checksum, length
        answers[kind, grouping] = _telling(name, partial(_read_answer, file, kind, part, sizes))
        offset += length
    return model.Profile(
        **tables,
        functions=functions,
        frames=frames,
        samples=KeptSamples(answers),
        series=LazyTable(len(document["series"]), _telling(name, lambda: _read_series(document["series"], tables))),
        metrics=metrics,
        filters=_read_filters(document["filters"]),
        chosen=None,  # only asked by who has the samples
    )


def _read_filters(words: object) -> tuple[str, ...]:
    if not isinstance(words, Sequence) or any(type(word) is not str for word in words):
        raise ValueError("a filter is no text")
    return tuple(words)


def _read_answer(file: _File, kind: str, part: tuple[int, int, int], sizes: Sizes) -> object:
    return read_answer(kind, file.read_part(*part), sizes)


def _read_functions(packed: Mapping[str, bytes], strings: Sequence[str | None], module_count: int, name: str) -> LazyTable[model.Function]:
    modules, lines = read_column("I", packed["module"]), read_column("I", packed["line"])
    check_positions(modules, module_count)

    def rows() -> list[model.Function]:
        text = [[strings[number] for number in read_column("I", packed[field])] for field in _NAMES]
        numbers = [None if line == _NO_LINE else line for line in lines]
        if any(name is None for names in text[:3] for name in names):
            raise ValueError("a function has no name")
        return _rows(model.Function, [*text[:3], modules, text[3], numbers, text[4]])

    return LazyTable(len(modules), _telling(name, rows))


def _read_frames(packed: Mapping[str, bytes], strings: Sequence[str | None], function_count: int, name: str) -> LazyTable[model.Frame]:
    functions = read_column("I", packed["function"])
    check_positions(functions, function_count)

    def rows() -> list[model.Frame]:
        files, kinds = ([strings[number] for number in read_column("I", packed[field])] for field in ("file", "kind"))
        lines = [None if line == _NO_LINE else line for line in read_column("I", packed["line"])]
        return _rows(model.Frame, [functions, files, lines, [0] * len(functions), kinds, read_column("i", packed["code"])])

    return LazyTable(len(functions), _telling(name, rows))


def _rows(kind: type[Row], columns: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows of all their fields, column by column; that the fields are all is seen once, not for each of thousands of rows."""
    if len(columns) != len(fields_of(kind)):
        raise ValueError(f"{kind.__name__} has other columns")
    return list(map(partial(tuple.__new__, kind), zip(*columns, strict=True)))


def _read_series(rows: Sequence[Any], tables: Mapping[str, Sequence[Any]]) -> list[MetricSeries]:
    from collector.profile.metric_series import MetricSeries, PluginMetric  # most views show none

    definitions = make_rows(PluginMetric, [row[0] for row in rows])
    series = [MetricSeries(metric, *row[1:]) for metric, row in zip(definitions, rows)]
    for one in series:
        columns = one.times_ns, one.intervals_ns, one.readings
        kinds = [set(map(type, column)) for column in columns]
        are_numbers = kinds[0] | kinds[1] <= {int} and kinds[2] <= {int, float}
        if (type(one.experiment), type(one.node)) != (int, str) or len(set(map(len, columns))) != 1 or not are_numbers:
            raise ValueError("a series of readings is damaged")
    check_references({**tables, "series": series})
    return series


def _telling(name: str, read: Callable[[], T]) -> Callable[[], T]:
    """What reads a part when it is wanted, with ExperimentErrors."""

    def read_or_tell() -> T:
        try:
            return read()
        except (OSError, ValueError, TypeError, LookupError, AttributeError, struct.error, msgpack.UnpackException) as error:
            raise ExperimentError(f"the profile {name} is damaged: {error}") from error

    return read_or_tell
