"""call_graph -- who refers to whom in compiled C: functions, and tables of functions, by the relocations of their sections

Compiled with -ffunction-sections -fdata-sections, every function and every table has a section, and whatever it calls, or takes the address of, is
a relocation there. So a function whose address is stored counts as reached by the one that stores it. Where a pointer is called, GCC says so
(-fcallgraph-info): who stored what is called there has to be known otherwise.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from once import made_once

NATIVE = Path(__file__).resolve().parents[2] / "libcollector_c"
FLAGS = "-ffunction-sections -fdata-sections -fno-jump-tables -fcallgraph-info=su"
_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
_INDIRECT = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "__indirect_call"')


def build_command(place: Path) -> list[object]:
    """make's command line: everything into place/build, so that a graph can be made of it, with every warning an error."""
    return ["make", "-j2", "-C", NATIVE, f"BUILD={place}/build", "WERROR=1", "CC=gcc", f"CFLAGS={FLAGS} -g0"]


def built_for_call_graph(factory: pytest.TempPathFactory) -> Path:
    """What that builds, and installs into place/root; once for all tests of the session."""

    def make(place: Path) -> None:
        done = subprocess.run([*map(str, build_command(place)), "install", "PREFIX=/usr", f"DESTDIR={place}/root"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(factory.getbasetemp(), FLAGS, make)


class CallGraph:
    """Names are `folder/file:function`, or the bare name of what no object defines."""

    def __init__(self, objects: list[Path]) -> None:
        self.uses: dict[str, set[str]] = {}
        self.sections: set[str] = set()
        self.indirect: set[str] = set()
        self.stack_bytes: dict[str, int] = {}
        self.calls: dict[str, set[str]] = {}
        self._homes: dict[str, str] = {}
        for path in objects:
            self._read(path)

    def _read(self, path: Path) -> None:
        unit = f"{path.parent.name}/{path.stem}"
        with open(path, "rb") as stream:
            image = ELFFile(stream)
            names = [re.sub(r"^\.text\.(unlikely\.|startup\.|exit\.)?", "", section.name) for section in image.iter_sections()]
            self.sections.update(f"{unit}:{name}" for name in names)
            symbols = image.get_section_by_name(".symtab")
            for symbol in symbols.iter_symbols():
                if isinstance(symbol["st_shndx"], int) and symbol["st_info"]["bind"] != "STB_LOCAL":
                    self._homes[symbol.name] = f"{unit}:{names[symbol['st_shndx']]}"
            for section in image.iter_sections():
                if isinstance(section, RelocationSection) and not names[section["sh_info"]].startswith((".debug", ".eh_frame")):
                    uses = self.uses.setdefault(f"{unit}:{names[section['sh_info']]}", set())
                    for relocation in section.iter_relocations():
                        symbol = symbols.get_symbol(relocation["r_info_sym"])
                        home = symbol["st_shndx"]
                        uses.add(f"{unit}:{names[home]}" if isinstance(home, int) else symbol.name)
        text = path.with_suffix(".ci").read_text()
        self.stack_bytes.update({_own_name(unit, title): int(size) for title, size in _NODE.findall(text)})
        for source, target in _EDGE.findall(text):
            self.calls.setdefault(_own_name(unit, source), set()).add(_own_name(unit, target) if ":" in target else target)
        for source in _INDIRECT.findall(text):
            self.indirect.add(f"{unit}:{source.rpartition(':')[2].lstrip('*')}")  # a star: named by asm

    def reach(self, roots: list[str], stored: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
        """{name: the way there, from itself back to a root} of all that the roots reach; `stored`: what else is called by a pointer in whom."""
        ways: dict[str, tuple[str, ...]] = {root: (root,) for root in roots}
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            for used in {*self.uses.get(name, ()), *stored.get(name, ())}:
                found = self._homes.get(used, used)
                if found and found not in ways:
                    ways[found] = (found, *ways[name])
                    waiting.append(found)
        return ways

    def deepest(self, root: str, stored: dict[str, list[str]], without: frozenset[str] = frozenset()) -> tuple[int, tuple[str, ...]]:
        """The bytes of stack of the deepest chain of calls that begins at `root`, and the chain; recursion is counted once, and `without` is not entered."""
        return self._deepest(root, stored, set(without), {})

    def _deepest(self, name: str, stored: dict[str, list[str]], left_out: set[str], known: dict[str, tuple[int, tuple[str, ...]]]) -> tuple[int, tuple[str, ...]]:
        if name not in known:
            left_out.add(name)
            called = {self._homes.get(target, target) for target in (*self.calls.get(name, ()), *stored.get(name, ()))} - left_out
            below = max((self._deepest(target, stored, left_out, known) for target in called), default=(0, ()))
            left_out.discard(name)
            known[name] = (self.stack_bytes.get(name, 0) + 8 + below[0], (name, *below[1]))  # 8: what a call pushes
        return known[name]


def _own_name(unit: str, title: str) -> str:
    return f"{unit}:{title.rpartition(':')[2].lstrip('*')}"
