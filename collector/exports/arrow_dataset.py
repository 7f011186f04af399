"""arrow_dataset -- a parallel job as a directory of Parquet files, for questions to all of its ranks in DuckDB, Spark or Dask; needs pyarrow

    frames.parquet  processes.parquet  threads.parquet          one row each
    samples/node=NODE/rank=N/samples.parquet                    a row a sample, with the numbers of its thread, leaf and stack
    stacks/node=NODE/rank=N/stacks.parquet                      the stacks that no file before has

Numbers of frames and stacks are made of what they are: the same in every experiment. docs/commands/export.md has the columns.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import quote

from collector.exports.arrow_table import import_pyarrow
from collector.exports.names import begin_ns, function_names, process_name, thread_name
from collector.exports.sample_table import MetricColumn, SampleTable, sample_table
from collector.printable import printable
from collector.profile.filters import spans_of
from collector.profile.groupings import by_line
from collector.profile.model import Profile
from collector.profile.place_sums import Place, threads_by_place
from collector.units import NS_PER_S

_NO_RANK: Final = "__HIVE_DEFAULT_PARTITION__"
_MASK: Final = (1 << 63) - 1  # a whole number of every database has room for it


def write_dataset(profile: Profile, path: str) -> None:
    """Make the directory, and write everything into it. OSError if that cannot be done, or something is there."""
    pyarrow = import_pyarrow()
    os.mkdir(path)
    writer = _Writer(pyarrow, path)
    writer.write("frames.parquet", _frames(profile))
    writer.write("processes.parquet", _processes(profile))
    writer.write("threads.parquet", _threads(profile))
    grouping, keys = by_line(profile)
    numbers = _frame_numbers(profile)
    known: set[int] = set()
    for place, threads in threads_by_place(profile).items():
        part = profile._replace(samples=profile.samples.select(spans_of(profile, threads)))
        table = sample_table(part, grouping)
        stacks = _stack_numbers(table, numbers)
        writer.write(os.path.join("samples", _directory(place), "samples.parquet"), _samples(profile, table, stacks, numbers))
        new = {stacks[node]: node for node in dict.fromkeys(table.nodes) if stacks[node] not in known}
        known |= new.keys()
        writer.write(os.path.join("stacks", _directory(place), "stacks.parquet"), _stacks(table, new, numbers))


@dataclass(frozen=True, slots=True)
class _Writer:
    pyarrow: Any
    path: str

    def write(self, name: str, columns: Mapping[str, tuple[str, Any]]) -> None:
        """A file of columns, each with its type."""
        from pyarrow import parquet

        file = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        types = {"frames": self.pyarrow.list_(self.pyarrow.int64())}
        fields = [(title, types.get(kind) or getattr(self.pyarrow, kind)()) for title, (kind, _) in columns.items()]
        data = [self.pyarrow.array(values, kind) for (_, values), (_, kind) in zip(columns.values(), fields)]
        schema = self.pyarrow.schema([self.pyarrow.field(title, kind) for title, kind in fields])
        parquet.write_table(self.pyarrow.table(data, schema=schema), file, compression="zstd")


def _directory(place: Place) -> str:
    return os.path.join(f"node={quote(place.node, safe='') or _NO_RANK}", f"rank={_NO_RANK if place.rank < 0 else place.rank}")


def _frames(profile: Profile) -> dict[str, tuple[str, Any]]:
    numbers, names = _frame_numbers(profile), function_names(profile)
    once = dict(zip(reversed(numbers), reversed(by_line(profile)[1])))  # the same code may have been mapped in several ways
    keys = list(once.values())
    modules = [profile.modules[profile.functions[function].module] for _, _, function in keys]
    return {
        "frame": ("int64", list(once)),
        "function": ("string", [names[function] for _, _, function in keys]),
        "module": ("string", [printable(module.name) for module in modules]),
        "path": ("string", [printable(module.path) for module in modules]),
        "build_id": ("string", [module.build_id for module in modules]),
        "file": ("string", [printable(file or "") or None for file, _, _ in keys]),
        "line": ("int32", [line for _, line, _ in keys]),
    }


def _processes(profile: Profile) -> dict[str, tuple[str, Any]]:
    rows, start_ns = profile.processes, begin_ns(profile)
    return {
        "process": ("int32", range(len(rows))),
        "experiment": ("string", [printable(profile.recordings[row.experiment].name) for row in rows]),
        "node": ("string", [printable(row.node) for row in rows]),
        "rank": ("int32", [row.rank for row in rows]),
        "local_rank": ("int32", [row.local_rank for row in rows]),
        "program": ("string", [process_name(row) for row in rows]),
        "pid": ("int64", [row.pid for row in rows]),
        "image": ("int32", [row.image for row in rows]),
        "parent_pid": ("int64", [row.parent_pid for row in rows]),
        "start": ("float64", [(row.start_ns - start_ns) / NS_PER_S for row in rows]),
        "end": ("float64", [None if row.end_ns is None else (row.end_ns - start_ns) / NS_PER_S for row in rows]),
        "status": ("int32", [row.status for row in rows]),
    }


def _threads(profile: Profile) -> dict[str, tuple[str, Any]]:
    rows = profile.threads
    return {
        "thread": ("int32", range(len(rows))),
        "process": ("int32", [row.process for row in rows]),
        "tid": ("int64", [row.tid for row in rows]),
        "name": ("string", [thread_name(profile, position) for position in range(len(rows))]),
    }


def _samples(profile: Profile, table: SampleTable, stacks: Sequence[int], numbers: Sequence[int]) -> dict[str, tuple[str, Any]]:
    start_ns = begin_ns(profile)
    return {
        "thread": ("int32", table.threads),
        "time": ("float64", [(time_ns - start_ns) / NS_PER_S for time_ns in table.times_ns]),
        "cpu": ("float64", [value / NS_PER_S for value in table.cpu_ns]),
        "user": ("float64", [value / NS_PER_S for value in table.user_ns]),
        "system": ("float64", [value / NS_PER_S for value in table.system_ns]),
        **{column.metric.name: _column(column) for column in table.others},
        "finished": ("bool_", list(map(bool, table.is_finished))),
        "frame": ("int64", [numbers[table.groups[node]] for node in table.nodes]),
        "stack": ("int64", [stacks[node] for node in table.nodes]),
    }


def _column(column: MetricColumn) -> tuple[str, Any]:
    return ("float64", [value / NS_PER_S for value in column.values]) if column.is_time else ("int64", column.values)


def _stacks(table: SampleTable, new: Mapping[int, int], numbers: Sequence[int]) -> dict[str, tuple[str, Any]]:
    return {"stack": ("int64", list(new)), "frames": ("frames", list(_iter_paths(table, new.values(), numbers)))}


def _iter_paths(table: SampleTable, nodes: Any, numbers: Sequence[int]) -> Iterator[list[int]]:
    for node in nodes:
        yield [numbers[group] for group in reversed(table.path(node))]


def _frame_numbers(profile: Profile) -> array[int]:
    """A number for each line of a function."""
    modules = [(module.name, module.path, module.build_id) for module in profile.modules]
    functions = [(function.name, function.raw_name, modules[function.module], function.file) for function in profile.functions]
    return array("q", [_digest(repr((file, line, functions[function]))) for file, line, function in by_line(profile)[1]])


def _stack_numbers(table: SampleTable, numbers: Sequence[int]) -> array[int]:
    """A number for each node of the tree, made of its parent's and its frame's."""
    found = array("q", [0])
    for parent, group in zip(table.parents[1:], table.groups[1:]):
        found.append(_digest(b"%d %d" % (found[parent], numbers[group])))
    return found


def _digest(text: str | bytes) -> int:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") & _MASK
