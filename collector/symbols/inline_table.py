"""inline_table -- which calls the compiler inlined where, of one compilation unit

Addresses of a function's own code belong to no inlined call: the symbol names the function. What lies in an inlined
call belongs to the innermost one; its node leads to the call around it, and so on up to the function.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

NOTHING = 0xFFFFFFFF
ARRAYS = ("starts", "nodes", "parents", "functions", "call_files", "call_lines", "declared_files", "declared_lines")


class InlinedCall(NamedTuple):
    """A function that was inlined, and where it was called; None where the compiler does not say.

    `raw_name` is the name as the linker would know it, or that of the source. `file` and `line` are those of the function's
    declaration.
    """

    raw_name: str
    call_file: str | None
    call_line: int | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class InlineTable:
    """From starts[i] on, up to the next start, code belongs to the call nodes[i] (NOTHING: to the function itself).

    By node: `parents` the call it stands in (NOTHING: in the function itself), `functions` what was called, `call_files` and
    `call_lines` where. By function: `names`, `declared_files`, `declared_lines`. Files count into `files` (NOTHING: unknown),
    lines are 0 where unknown. Arrays are "I", but `starts` is "Q".
    """

    starts: array[int]
    nodes: array[int]
    parents: array[int]
    functions: array[int]
    call_files: array[int]
    call_lines: array[int]
    declared_files: array[int]
    declared_lines: array[int]
    names: tuple[str, ...]
    files: tuple[str, ...]
    _chains: dict[int, tuple[InlinedCall, ...]] = field(default_factory=dict)

    @classmethod
    def of_columns(cls, columns: Mapping[str, array[int]], names: Iterable[str], files: Iterable[str]) -> InlineTable:
        """The table of the columns that ARRAYS names."""
        starts, nodes, parents, functions, call_files, call_lines, declared_files, declared_lines = (columns[name] for name in ARRAYS)
        return cls(starts, nodes, parents, functions, call_files, call_lines, declared_files, declared_lines, tuple(names), tuple(files))

    @property
    def columns(self) -> dict[str, array[int]]:
        """All arrays by their names."""
        return {name: getattr(self, name) for name in ARRAYS}

    def chain_at(self, elf_address: int) -> tuple[InlinedCall, ...]:
        """The inlined calls that an instruction belongs to, outermost first; nothing if it is the function's own."""
        index = bisect_right(self.starts, elf_address) - 1
        node = self.nodes[index] if index >= 0 else NOTHING
        if node == NOTHING:
            return ()
        chain = self._chains.get(node)
        if chain is None:
            chain = self._chains[node] = tuple(self._iter_outwards(node))[::-1]
        return chain

    def _iter_outwards(self, node: int) -> Iterator[InlinedCall]:
        while node < len(self.parents):
            function = self.functions[node]
            yield InlinedCall(
                self.names[function], self._file(self.call_files[node]), self.call_lines[node] or None,
                self._file(self.declared_files[function]), self.declared_lines[function] or None,
            )
            parent = self.parents[node]
            node = parent if parent < node else NOTHING  # parents come first

    def _file(self, number: int) -> str | None:
        return self.files[number] if number < len(self.files) else None


def empty_table() -> InlineTable:
    """The table of a unit in which nothing was inlined."""
    nothing = array("I")
    return InlineTable(array("Q"), nothing, nothing, nothing, nothing, nothing, nothing, nothing, (), ())
