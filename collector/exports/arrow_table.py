"""arrow_table -- samples one a row as Parquet or Arrow, for DuckDB, pandas, Polars and Spark; needs the package pyarrow

The columns of sample_rows, and where a sample was: function, module, file and line of its leaf, and the stack once more as places.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from collector.exports.names import begin_ns, function_names
from collector.exports.phase_labels import phase_labels
from collector.exports.sample_rows import FACTS, thread_facts
from collector.exports.sample_table import MetricColumn, Stacks, sample_table
from collector.printable import printable
from collector.profile.groupings import by_line, numbered
from collector.profile.model import Profile
from collector.units import NS_PER_S

_ROWS_A_BATCH: Final = 1 << 16


def parquet(profile: Profile) -> Iterator[bytes]:
    """A Parquet file."""
    pyarrow = import_pyarrow()
    from pyarrow import parquet

    pieces = _Pieces()
    batches = _Batches(pyarrow, profile)
    with parquet.ParquetWriter(pieces, batches.schema, compression="zstd") as writer:
        for batch in batches.iter_batches():
            writer.write_batch(batch)
            yield pieces.taken()
    yield pieces.taken()


def arrow(profile: Profile) -> Iterator[bytes]:
    """A file of Arrow's inter-process format, also called Feather."""
    pyarrow = import_pyarrow()
    pieces = _Pieces()
    batches = _Batches(pyarrow, profile)
    with pyarrow.ipc.new_file(pieces, batches.schema) as writer:
        for batch in batches.iter_batches():
            writer.write_batch(batch)
            yield pieces.taken()
    yield pieces.taken()


def import_pyarrow() -> Any:
    """The package. ImportError, with a sentence, if it is not there."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("parquet and arrow need the package pyarrow: pip install 'collector[parquet]'", name="pyarrow") from error
    return pyarrow


class _Pieces:
    """A file that is written to memory and taken away in pieces."""

    closed = False

    def __init__(self) -> None:
        self._data = bytearray()
        self._taken = 0

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def tell(self) -> int:
        return self._taken + len(self._data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def taken(self) -> bytes:
        data = bytes(self._data)
        self._taken += len(data)
        self._data.clear()
        return data


class _Batches:
    """The samples, some of them at a time. Texts are numbers in dictionaries, which all batches share."""

    def __init__(self, pyarrow: Any, profile: Profile) -> None:
        self._pyarrow = pyarrow
        self._profile = profile
        grouping, self._lines = by_line(profile)
        self._table = sample_table(profile, grouping)
        self._functions = array("i", [function for _, _, function in self._lines])
        self._names = pyarrow.array(function_names(profile))
        self._files, self._file_numbers = self._numbered([printable(file or "") or None for file, _, _ in self._lines])
        self._places, self._place_numbers = self._numbered([_place(file, line) for file, line, _ in self._lines])
        self._facts: dict[str, list[Any]] = dict(zip(FACTS, map(list, zip(*(thread_facts(profile, thread) for thread in range(len(profile.threads)))))))
        text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        whole, real, texts, truth = pyarrow.int64(), pyarrow.float64(), pyarrow.list_(text), pyarrow.bool_()
        others = {column.metric.name: real if column.is_time else whole for column in self._table.others}
        kinds = {
            "experiment": text, "process": text, "pid": whole, "thread": text, "tid": whole, "label": text, "time": real, "cpu": real, "user": real,
            "system": real, **others, "finished": truth, "stack": texts, "function": text, "module": text, "file": text, "line": pyarrow.int32(),
            "lines": texts,
        }  # fmt: skip
        self.schema = pyarrow.schema(list(kinds.items()))

    def iter_batches(self) -> Iterator[Any]:
        """All samples, in record batches."""
        functions, places = self._functions, self._place_numbers
        names = Stacks(self._table, lambda path: array("i", [functions[group] for group in reversed(path)]))
        lines = Stacks(self._table, lambda path: array("i", [places[group] for group in reversed(path)]))
        modules = self._numbered([printable(self._profile.modules[function.module].name) for function in self._profile.functions])
        known = {column: self._numbered(values) for column, values in self._facts.items() if column not in ("pid", "tid")}
        titles, of_samples = phase_labels(self._profile, self._table)
        labels, label_numbers = self._numbered(titles)
        start_ns = begin_ns(self._profile)
        for begin in range(0, len(self._table.nodes), _ROWS_A_BATCH):
            part = slice(begin, begin + _ROWS_A_BATCH)
            threads, nodes = self._table.threads[part], self._table.nodes[part]
            leaves = [self._table.groups[node] for node in nodes]
            leaf_functions = array("i", [functions[leaf] for leaf in leaves])
            columns = {column: self._texts(words, (numbers[thread] for thread in threads)) for column, (words, numbers) in known.items()}
            columns |= {column: self._pyarrow.array([self._facts[column][thread] for thread in threads], "int64") for column in ("pid", "tid")}
            columns |= {
                "label": self._texts(labels, (label_numbers[label] for label in of_samples[part])),
                "time": self._seconds(time_ns - start_ns for time_ns in self._table.times_ns[part]),
                "cpu": self._seconds(self._table.cpu_ns[part]),
                "user": self._seconds(self._table.user_ns[part]),
                "system": self._seconds(self._table.system_ns[part]),
                **{column.metric.name: self._values(column, part) for column in self._table.others},
                "finished": self._pyarrow.array(map(bool, self._table.is_finished[part]), "bool", size=len(nodes)),
                "stack": self._lists(self._names, names, nodes),
                "function": self._texts(self._names, leaf_functions),
                "module": self._texts(modules[0], (modules[1][function] for function in leaf_functions)),
                "file": self._texts(self._files, (self._file_numbers[leaf] for leaf in leaves)),
                "line": self._pyarrow.array([self._lines[leaf][1] for leaf in leaves], "int32"),
                "lines": self._lists(self._places, lines, nodes),
            }
            yield self._pyarrow.record_batch([columns[name] for name in self.schema.names], schema=self.schema)

    def _seconds(self, values_ns: Iterable[int]) -> Any:
        return self._pyarrow.array([value / NS_PER_S for value in values_ns], "float64")

    def _values(self, column: MetricColumn, part: slice) -> Any:
        values = column.values[part]
        return self._seconds(values) if column.is_time else self._pyarrow.array(values, "int64")

    def _numbered(self, texts: Sequence[str | None]) -> tuple[Any, Sequence[int]]:
        """The distinct texts, and the number of each, -1 for none."""
        _, words = numbered(text for text in texts if text is not None)
        numbers = {text: number for number, text in enumerate(words)}
        return self._pyarrow.array(words, "string"), [-1 if text is None else numbers[text] for text in texts]

    def _texts(self, words: Any, numbers: Iterable[int]) -> Any:
        packed = array("i", numbers)
        if packed and min(packed) < 0:
            column = self._pyarrow.array([None if number < 0 else number for number in packed], "int32")
        else:
            column = self._pyarrow.Array.from_buffers(self._pyarrow.int32(), len(packed), [None, self._pyarrow.py_buffer(packed)])
        return self._pyarrow.DictionaryArray.from_arrays(column, words)

    def _lists(self, words: Any, stacks: Stacks[array[int]], nodes: Sequence[int]) -> Any:
        """What the stacks of these nodes consist of."""
        ends, numbers = array("i", [0]), array("i")
        for node in nodes:
            numbers.extend(stacks.of(node))
            ends.append(len(numbers))
        offsets = self._pyarrow.Array.from_buffers(self._pyarrow.int32(), len(ends), [None, self._pyarrow.py_buffer(ends)])
        return self._pyarrow.ListArray.from_arrays(offsets, self._texts(words, numbers))


def _place(file: str | None, line: int | None) -> str | None:
    return f"{printable(file)}:{line}" if file and line else printable(file or "") or None
