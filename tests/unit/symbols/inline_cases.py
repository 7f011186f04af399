"""inline_cases -- programs in which much is inlined, in every shape in which compilers describe that

`PROGRAMS` are built by `Program.build`, or once for all tests by `build_once`; `differences` compares two ways of reading them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from once import made_once

from collector.symbols.debug_files import find_supplement
from collector.symbols.dwarf_unit import DwarfData
from collector.symbols.elf_image import ElfImage
from collector.symbols.inline_table import InlineTable
from collector.symbols.unit_entries import UnitHeader

# Nested calls, a cold part of an inlined function, a loop that is unrolled, and what is never called.
_C = """\
#include <stdlib.h>
#include <string.h>
volatile int sink;
static inline int square(int x) { return x * x + sink; }
static inline int sum(const int *values, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(values[i] < 0, 0)) { sink = values[i]; abort(); }
        total += square(values[i]);
    }
    return total;
}
static inline int clamp(int x) { if (x > 1000) { sink++; return 1000; } return x; }
__attribute__((noinline)) int first(const int *values) { return clamp(sum(values, 4)) + clamp(sink); }
__attribute__((noinline)) int second(const int *values, int count) { return clamp(sum(values, count) + square(count)); }
int never_called(int x) { return clamp(square(x)); }
int main(int argc, char **argv) {
    int values[4] = {argc, 2, 3, (int)strlen(argv[0])};
    return first(values) + second(values, argc);
}
"""

# A lambda and a local class inside inlined functions, templates, members, a namespace without a name.
_CC = """\
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>
volatile int sink;
namespace {
struct Box {
    int size;
    explicit Box(int n) : size(n + sink) {}
    int doubled() const;
    int doubled(int more) const { return size * more - sink; }
    bool operator<(const Box &other) const { return size < other.size; }
};
inline int Box::doubled() const { return size * 2 + sink; }
template <typename Action> inline void repeat(int count, Action action) {
    for (int i = 0; i < count; i++)
        action(i);
}
inline int fill(std::vector<Box> &boxes, int count) {
    int total = 0;
    repeat(count, [&](int i) {
        boxes.push_back(Box(i));
        repeat(2, [&](int j) { total += boxes.back().doubled() + j; });
    });
    struct Local {
        static int twice(int x) { return x + x + sink; }
        __attribute__((noinline)) static int thrice(int x) { return twice(x) + x; }
    };
    return Local::thrice(total) + Local::twice(total);
}
}
namespace outer { namespace inner {
template <typename T> T best(const std::vector<T> &all) { return *std::max_element(all.begin(), all.end()); }
} }
int main(int argc, char **) {
    std::vector<Box> boxes;
    int total = fill(boxes, argc) + [](int x) { return x * sink; }(argc) + [](auto x) { return x - sink; }(argc) + boxes[0].doubled(3);
    std::sort(boxes.begin(), boxes.end());
    std::map<std::string, int> names;
    names["a"] = outer::inner::best(boxes).doubled();
    for (auto &pair : names)
        total += pair.second + int(pair.first.size());
    return total;
}
"""

# Two files whose functions are inlined into each other only when the linker optimises.
_PAIR = {
    "one.c": "int other(int x);\nint main(int argc, char **argv) {\n    (void)argv;\n    return other(argc) + other(argc + 1);\n}\n",
    "two.c": "volatile int sink;\nstatic inline int helper(int x) { return x * sink; }\nint other(int x) {\n    return helper(x) + helper(3);\n}\n",
}


@dataclass(frozen=True)
class Program:
    """What is compiled, and how."""

    compiler: str
    options: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return " ".join((self.compiler, *self.options))

    def build(self, directory: Path) -> Path:
        """The program; skips where it cannot be built."""
        if shutil.which(self.compiler) is None:
            pytest.skip(f"{self.compiler} is not installed")
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in self.sources:
            (directory / name).write_text(text)
        path = directory / "program"
        line = [self.compiler, *self.options, *(name for name, _ in self.sources), "-o", path.name]
        made = subprocess.run(line, cwd=directory, capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"{self.compiler} cannot build this here: {made.stderr.strip().splitlines()[-1]}")
        return path

    def build_once(self, factory: pytest.TempPathFactory) -> Path:
        """The program, which all tests of the session share: they only read it."""
        return made_once(factory.getbasetemp(), self, self.build) / "program"


def _programs(compilers: tuple[str, ...], sources: dict[str, str], *options: str) -> list[Program]:
    return [Program(compiler, tuple(line.split()), tuple(sources.items())) for compiler in compilers for line in options]


_IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
_PLAIN = ("-O2 -gdwarf-4", "-O2 -gdwarf-5", "-O3 -gdwarf-5 -ffunction-sections -Wl,--gc-sections", "-O1 -gdwarf-4 -gz=zlib")
_OF_CC = (*_PLAIN, "-O2 -gdwarf-5 -fdebug-types-section")
PROGRAMS = [
    *_programs(("gcc", "clang"), {"shapes.c": _C}, *_PLAIN),
    # What is long to compile, by one of the two compilers each; thoroughly, by both.
    *_programs(("g++",), {"shapes.cc": _CC}, *(_OF_CC if _IS_THOROUGH else _OF_CC[::2])),
    *_programs(("clang++",), {"shapes.cc": _CC}, *(_OF_CC if _IS_THOROUGH else _OF_CC[1::2])),
    *_programs(("gcc",), {"shapes.c": _C}, "-O2 -gdwarf-5 -gdwarf64", "-O2 -gdwarf-3 -gstrict-dwarf"),
    *_programs(("gcc",), _PAIR, "-O2 -gdwarf-5 -flto", "-O2 -gdwarf-4"),
]


def iter_units(path: Path) -> Iterator[tuple[DwarfData, UnitHeader]]:
    """The compilation units of a program."""
    with ElfImage(str(path)) as image:
        supplement = find_supplement(image)
        dwarf = DwarfData(image, supplement)
        for unit in dwarf.iter_units():
            yield dwarf, unit
        if supplement is not None:
            supplement.close()


def tables_of(path: Path, read: Callable[[DwarfData, UnitHeader], InlineTable]) -> list[InlineTable]:
    """By unit."""
    return [read(dwarf, unit) for dwarf, unit in iter_units(path)]


def differences(one: InlineTable, other: InlineTable) -> list[int]:
    """The addresses of which the two tables say different things, looked for wherever one of them has a boundary."""
    starts = {*one.starts, *other.starts}
    edges = {address + step for address in starts for step in (-1, 0, 1)}
    return sorted(address for address in edges if one.chain_at(address) != other.chain_at(address))
