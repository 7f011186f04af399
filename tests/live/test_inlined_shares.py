"""test_inlined_shares -- samples of inlined functions and of those around them, beside what llvm-symbolizer makes of the same stacks"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import Recorded

from collector.experiment.directory import open_directory
from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import PathSource
from collector.experiment.samples import PcSampleBlock
from collector.profile import aggregate

MILLISECONDS = 1500
PART = 0.005
ABOVE_THE_PROGRAM = 1 << 32
"""Where libraries are; a program that is linked for fixed addresses is far below."""


def stacks_of(path: Path) -> Iterator[tuple[int, ...]]:
    """The stacks of all samples, leaf first, as they are in the logs."""
    for log in open_directory(str(path)).logs:
        for record in EventReader(PathSource(log.path)).records():
            if isinstance(record, PcSampleBlock):
                yield from (sample.stack.addresses for sample in record.iter_samples())


def chains_of(program: Path, addresses: list[int]) -> dict[int, list[str]]:
    """By address the functions that an instruction belongs to, innermost first, as the linker would know them; nothing where it is not the program's."""
    command = ["llvm-symbolizer", "--no-demangle", "--inlining", "--output-style=JSON", "-e", str(program)]
    told = subprocess.run(command, input="".join(f"{address:#x}\n" for address in addresses), capture_output=True, text=True, check=True)
    symbols = [json.loads(line).get("Symbol", []) for line in told.stdout.splitlines()]
    return {
        address: [name_of(frame["FunctionName"]) for frame in frames if frame["FunctionName"] and address < ABOVE_THE_PROGRAM]
        for address, frames in zip(addresses, symbols, strict=True)
    }


def name_of(raw_name: str) -> str:
    """Without what it is within, for some have no linker's name, and without what says that it is a part or a copy."""
    return raw_name.rpartition("::")[2].partition(".")[0]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_functions_have_the_samples_of_their_chains(record: Callable[..., Recorded], compiled: Callable[..., Path], compiler: str) -> None:
    if shutil.which("llvm-symbolizer") is None or shutil.which(compiler) is None:
        pytest.skip(f"llvm-symbolizer or {compiler} is not installed")
    program = compiled("inlined_parts.cc", "-O2", "-no-pie", compiler=compiler)  # so that addresses are those of the file
    recorded = record([program, MILLISECONDS])
    stacks = [tuple(address - (place > 0) for place, address in enumerate(stack)) for stack in stacks_of(recorded.path)]
    chains = chains_of(program, sorted({address for stack in stacks for address in stack}))
    exclusive = Counter(chains[stack[0]][0] for stack in stacks if chains[stack[0]])
    inclusive = Counter(name for stack in stacks for name in {name for address in stack for name in chains[address]})
    column = [metric.name for metric in recorded.profile.metrics].index("samples")
    found: dict[str, Counter[str]] = {"exclusive": Counter(), "inclusive": Counter()}
    for row in aggregate.functions(recorded.profile):
        if row.module.path == str(program):
            for kind, counter in found.items():
                counter[name_of(row.function.raw_name)] += getattr(row, kind)[column]
    assert len(stacks) > 1000 and len(exclusive) >= 5 and max(map(len, chains.values())) >= 3
    for kind, expected in (("exclusive", exclusive), ("inclusive", inclusive)):
        away = {name: (found[kind][name], expected[name]) for name in {*found[kind], *expected} if abs(found[kind][name] - expected[name]) > PART * len(stacks)}
        assert not away, f"{kind} samples: ours, llvm-symbolizer's: {away}"
