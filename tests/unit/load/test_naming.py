"""test_naming -- which addresses are of one function, and what several frames an address make of it"""

from __future__ import annotations

from collections.abc import Iterable

from collector.analysis.seam import Entry, EntryColumns
from collector.load.naming import ModuleKey, NameTable
from collector.symbols.symbolizer import Location

MODULE = ModuleKey("/bin/prog", b"\1")


class Symbolizer:
    """Stands in for the real one: chains by address."""

    def __init__(self, chains: dict[int, tuple[Location, ...]]) -> None:
        self._chains = chains

    def locate_chains(self, path: str, build_id: bytes | None, addresses: Iterable[int], *_: object) -> dict[int, tuple[Location, ...]]:
        return {address: self._chains[address] for address in addresses}


def location(name: str, raw_name: str, line: int, kind: str = "symbol") -> Location:
    return Location(name, raw_name, "prog", "a.cc", line, "a.cc", 1, None, kind)  # type: ignore[arg-type]


def named(chains: dict[int, tuple[Location, ...]]) -> tuple[NameTable, list]:
    """The table, and the frames of each address; all are leaves."""
    names = NameTable(Symbolizer(chains))  # type: ignore[arg-type]
    space = names.module_space(MODULE)
    found = names.name_modules([Entry(address, space, True) for address in chains])
    return names, [[names.frames[number] for number in numbers] for numbers in found]


def test_an_inlined_function_is_the_one_that_was_compiled_as_well() -> None:
    names, frames = named({
        0x10: (location("f", "f", 7),),
        0x20: (location("main", "main", 3), location("f", "f", 8, "inlined")),
    })
    assert [function.name for function in names.functions] == ["f", "main"]
    assert [(frame.function, frame.line, frame.address, frame.kind) for frame in frames[1]] == [(1, 3, 0x20, "native"), (0, 8, 0x20, "inlined")]


def test_variants_of_a_constructor_are_one_function() -> None:
    names, _ = named({
        0x10: (location("A::A(int)", "_ZN1AC1Ei", 7),),
        0x20: (location("A::A(int)", "_ZN1AC2Ei", 7), location("A::A(int)", "_ZN1AC4Ei", 8, "inlined")),
        0x30: (location("A::~A()", "_ZN1AD0Ev", 9),),
        0x40: (location("t::f", "_ZN1t1f17h0123456789abcdefE", 9),),
        0x50: (location("t::f", "_ZN1t1f17hfedcba9876543210E", 9),),
    })
    assert [function.name for function in names.functions] == ["A::A(int)", "A::~A()", "t::f", "t::f"]


def test_addresses_of_one_line_share_what_is_known_of_it() -> None:
    chain = (location("main", "main", 3), location("f", "f", 8, "inlined"))
    names, frames = named({0x20: chain, 0x24: chain})
    assert [frame.address for group in frames for frame in group] == [0x20, 0x20, 0x24, 0x24]
    assert len(names.functions) == 2


def test_entries_as_columns_are_the_same_entries() -> None:
    entries = [Entry(0x10, 1, True), Entry(0x20, 0, False), Entry(0x30, 1, False)]
    columns = EntryColumns.of(entries)
    assert list(columns) == list(columns[:]) == entries and columns[-1] == entries[-1] and EntryColumns.of(columns) is columns
    assert list(columns[1:]) == entries[1:] and list(EntryColumns.of([])) == []


def test_addresses_of_several_modules_keep_their_order() -> None:
    chains = {0x10: (location("f", "f", 1),), 0x20: (location("g", "g", 2),), 0x30: ()}
    names = NameTable(Symbolizer(chains))  # type: ignore[arg-type]
    first, second = names.module_space(MODULE), names.module_space(MODULE._replace(path="/bin/other"))
    entries = [Entry(0x10, first, True), Entry(0x20, second, True), Entry(0x20, first, True), Entry(0x30, second, True)]
    found = [[(names.functions[frame.function].name, frame.address) for frame in map(names.frames.__getitem__, numbers)] for numbers in names.name_modules(entries)]
    assert found == [[("f", 0x10)], [("g", 0x20)], [("g", 0x20)], []]
