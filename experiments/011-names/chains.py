"""chains -- name addresses of a file, inlined calls included: python chains.py FILE ADDRESSES CACHE; or, without a cache, choose COUNT of them

    python chains.py FILE COUNT          prints COUNT random addresses of its functions, by their bytes
    python chains.py FILE ADDRESSES CACHE    prints, as JSON lines, [address, [[name, file, line], ...]], the function first
    python chains.py --recorded EXPERIMENT FILE    prints the addresses of FILE that are on the stacks of an experiment
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from collector.symbols.cache import SymbolCache
from collector.symbols.module_symbols import ModuleSymbols
from collector.symbols.symbolizer import Symbolizer


def choose(path: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        table = ModuleSymbols(path, None, SymbolCache(scratch))._functions
    spans = [(start, end) for start, end, name in zip(table.starts, table.ends, table.name_offsets) if end > start and table._name(name)]
    chosen = random.Random(path).choices(spans, [end - start for start, end in spans], k=count)
    print("\n".join(map(str, sorted({random.randrange(*span) for span in chosen}))))


def name(path: str, addresses: list[int], cache: str) -> None:
    chains = Symbolizer(cache_dir=cache).locate_chains(path, None, addresses)
    rows = [[address, [[where.raw_name, os.path.basename(where.file or ""), where.line or 0] for where in chains[address]]] for address in addresses]
    sys.stdout.write("".join(json.dumps(row) + "\n" for row in rows))


def recorded(experiment: str, file: str) -> None:
    from collector.load import load  # what naming alone has no use for

    wanted: set[int] = set()

    class Noting(Symbolizer):
        def locate_chains(self, path, build_id, elf_addresses, *rest):
            addresses = list(elf_addresses)
            if os.path.realpath(path) == os.path.realpath(file):
                wanted.update(addresses)
            return super().locate_chains(path, build_id, addresses, *rest)

    with tempfile.TemporaryDirectory() as scratch:
        load(Path(experiment), symbolizer=Noting(cache_dir=scratch))
    print("\n".join(map(str, sorted(wanted))))


if __name__ == "__main__":
    gc.disable()  # as `collector report` does
    if len(sys.argv) == 3:
        choose(sys.argv[1], int(sys.argv[2]))
    elif sys.argv[1] == "--recorded":
        recorded(*sys.argv[2:])
    else:
        with open(sys.argv[2]) as file:
            name(sys.argv[1], [int(line) for line in file], sys.argv[3])
