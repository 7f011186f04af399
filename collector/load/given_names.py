"""given_names -- names that were looked up somewhere else: which are wanted, looking them up once for each module, and giving them to a Loader"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from collector.errors import SymbolError
from collector.symbols.symbolizer import Location, Symbolizer
from collector.symbols.terms import Layout
from collector.target.address_space import RecordedFile


class ModuleFile(NamedTuple):
    """A module's file as a Symbolizer wants it named."""

    path: str
    build_id: bytes | None
    layout: Layout = "image"
    file: RecordedFile | None = None


@dataclass(slots=True)
class Wanted:
    """What is to be looked up of a module: elf addresses, and which functions of it Python programs can call."""

    addresses: set[int] = field(default_factory=set)
    has_methods: bool = False

    def add(self, other: Wanted) -> None:
        """Want what the other wants as well."""
        self.addresses |= other.addresses
        self.has_methods |= other.has_methods


@dataclass(frozen=True, slots=True)
class NamingOptions:
    """How a Symbolizer is made, and the experiments whose archives it reads."""

    experiments: tuple[str, ...] = ()
    debug_dirs: tuple[str, ...] = ()
    has_inlines: bool = True
    has_pieces: bool = False
    is_fetching: bool = False


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """What was found in a module: chain `numbers[i]` is that of address i."""

    addresses: array[int]
    numbers: array[int]
    chains: Sequence[tuple[Location, ...]]
    methods: dict[int, str]
    warnings: list[str]
    nameless: dict[str, str]
    digests: dict[str, str]



class WantedNames:
    """Takes down what a Loader wants named, and names nothing."""

    has_inlines = True

    def __init__(self) -> None:
        self.modules: dict[ModuleFile, Wanted] = {}
        self.nameless: dict[str, str] = {}
        self.warnings: list[str] = []

    def add_archive(self, experiment: str) -> None:
        """Of no use here."""

    def locate_chains(
        self, path: str, build_id: bytes | None, elf_addresses: Iterable[int], layout: Layout = "image", file: RecordedFile | None = None
    ) -> dict[int, tuple[Location, ...]]:
        """See `naming.Names`."""
        addresses = set(elf_addresses)
        self._module(path, build_id, layout, file).addresses |= addresses
        return dict.fromkeys(addresses, ())

    def python_methods(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, str]:
        """See `naming.Names`."""
        self._module(path, build_id, layout, file).has_methods = True
        return {}

    def digests_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `naming.Names`."""
        return {}

    def _module(self, *key: object) -> Wanted:
        return self.modules.setdefault(ModuleFile(*key), Wanted())  # type: ignore[arg-type]


def look_up(module: ModuleFile, wanted: Wanted, options: NamingOptions) -> ModuleNames:
    """Look up what is wanted of a module."""
    symbolizer = Symbolizer(
        debug_dirs=options.debug_dirs, has_inlines=options.has_inlines, has_pieces=options.has_pieces, is_fetching=options.is_fetching
    )
    complaints = []
    for experiment in options.experiments:
        try:
            symbolizer.add_archive(experiment)
        except SymbolError as error:
            complaints.append(str(error))
    path, build_id, layout, file = module
    located = symbolizer.locate_chains(path, build_id, wanted.addresses, layout, file)
    methods = symbolizer.python_methods(path, build_id, layout, file) if wanted.has_methods else {}
    addresses = array("Q", sorted(located))
    known: dict[int, int] = {}
    chains: list[tuple[Location, ...]] = []
    numbers = array("I")
    for address in addresses:
        chain = located[address]
        number = known.setdefault(id(chain), len(chains))
        if number == len(chains):
            chains.append(chain)
        numbers.append(number)
    sources = {path for chain in chains for where in chain for path in (where.file, where.function_file) if path}
    starts = {chain[0].function_start for chain in chains if chain}
    return ModuleNames(
        addresses, numbers, chains, {start: name for start, name in methods.items() if start in starts},
        [*complaints, *symbolizer.warnings], symbolizer.nameless, symbolizer.digests_of(sources),
    )  # fmt: skip


class GivenNames:
    """Gives a Loader what was looked up. All that it asks for must be there."""

    def __init__(self, modules: Mapping[ModuleFile, ModuleNames], has_inlines: bool = True) -> None:
        self.has_inlines = has_inlines
        self._modules = modules
        self._numbers = {module: dict(zip(names.addresses, names.numbers)) for module, names in modules.items()}

    @property
    def nameless(self) -> dict[str, str]:
        """See `naming.Names`."""
        return {text: module for names in self._modules.values() for text, module in names.nameless.items()}

    @property
    def warnings(self) -> list[str]:
        """See `naming.Names`."""
        return list(dict.fromkeys(text for names in self._modules.values() for text in names.warnings))

    def add_archive(self, experiment: str) -> None:
        """It was read from where names were looked up."""

    def locate_chains(
        self, path: str, build_id: bytes | None, elf_addresses: Iterable[int], layout: Layout = "image", file: RecordedFile | None = None
    ) -> dict[int, tuple[Location, ...]]:
        """See `naming.Names`."""
        module = ModuleFile(path, build_id, layout, file)
        chains, numbers = self._modules[module].chains, self._numbers[module]
        return {address: chains[numbers[address]] for address in elf_addresses}

    def python_methods(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, str]:
        """See `naming.Names`."""
        return self._modules[ModuleFile(path, build_id, layout, file)].methods

    def digests_of(self, paths: Iterable[str]) -> dict[str, str]:
        """See `naming.Names`."""
        digests = {path: digest for names in self._modules.values() for path, digest in names.digests.items()}
        return {path: digests[path] for path in sorted(paths) if path in digests}
