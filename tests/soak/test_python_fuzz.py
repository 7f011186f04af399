"""test_python_fuzz -- Python programs that do at random what is hard to look into, at 9973 Hz: none is harmed, and no stack is made up

Seconds with each interpreter; COLLECTOR_TEST_THOROUGH=1 takes a million samples in all.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from pathlib import Path

from pythons import Interpreter, counted_stacks, every_interpreter, find_interpreters
from recorded import IS_THOROUGH, Outcome, Recorded, collector_command, execute
from soak.run import find_recorder

HERE = Path(__file__).resolve().parent
SAMPLES = 1_000_000 if IS_THOROUGH else 0
RATE_HZ = 9973
ROOTS = {"<module>", "_bootstrap", "Thread._bootstrap", "_run_code", "_run_module_as_main", "_find_and_load", "(interpreter)", "(Python stack unreadable)"}
FROM_C = {"_install", "_install_external_importers", "search_function", "zipimporter.__init__", "__init__"}
"""What C calls while the interpreter starts."""
AT_THE_END = {"at_exit", "__del__", "Node.__del__", "_shutdown", "shutdown", "_exitfunc", "finalize._exitfunc"}


LOOKED_INTO_MS, PART_MS = 500, 8000


def limit_ms() -> int:
    """How long each interpreter runs beyond the first part: its share of the samples, and half as much again, because not every tick comes."""
    return round(1.5 * SAMPLES / RATE_HZ * 1000 / max(1, len(find_interpreters())))


def fuzz(python: Interpreter, seed: int, milliseconds: int, experiment: Path | None = None) -> Outcome:
    """One run, recorded if there is a path for the experiment."""
    command: list[object] = [python.path, "-W", "ignore", HERE / "python_fuzz.py", seed, milliseconds]
    recorder = collector_command("record", "-p", "hi", "-O", experiment, "--") if experiment else []
    path = os.pathsep.join([str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return execute([*recorder, *command], {"PYTHONPATH": path, "PYTHONHASHSEED": "0"}, timeout_s=60 + milliseconds / 20)


@every_interpreter()
def test_fuzz(python: Interpreter, tmp_path: Path) -> None:
    os.environ.setdefault("COLLECTOR_LIBRARY", str(find_recorder()))
    native = fuzz(python, 1, 100)
    assert (native.status, native.stdout.splitlines()[-1:]) == (0, ["well"]), native.stderr
    for seed, part_ms in enumerate([LOOKED_INTO_MS, *itertools.repeat(PART_MS, -(-limit_ms() // PART_MS))], 1):
        place = tmp_path / f"{seed}.expt"
        outcome = fuzz(python, seed, part_ms, place)
        assert (outcome.status, outcome.stdout.splitlines()[-1:], outcome.own_stderr) == (0, ["well"], ""), f"seed {seed}: {outcome}"
        recorded = Recorded(outcome, place)
        if seed == 1:
            find_made_up(recorded, seed)
        unreadable_ns = recorded.exclusive_ns("(Python stack unreadable)")
        print(f"{python.title}, seed {seed}: {recorded.sample_count} samples, {len(recorded.profile.processes)} processes, {unreadable_ns / 1e6:.1f} ms unreadable", file=sys.stderr)
        assert unreadable_ns <= 0.01 * recorded.total_ns


def find_made_up(recorded: Recorded, seed: int) -> None:
    """Assert that stacks begin where Python begins, name nothing that is not there, and are seldom unreadable."""
    roots: Counter[str] = Counter()
    unreadable = deepest = 0
    for stack in counted_stacks(recorded):
        names = [frame.name for frame in stack.python]
        roots[names[0] if names else "(none)"] += stack.count
        unreadable += stack.count if "(Python stack unreadable)" in names else 0
        deepest = max(deepest, len(names))
        assert not [name for name in stack.names if re.fullmatch(r"0x1[0-9a-f]{14}", name)], f"seed {seed}: {stack.names}"
    count = roots.total()
    strange = {name: number for name, number in roots.items() if name not in ROOTS | FROM_C | AT_THE_END | {"(none)"}}
    told = f"seed {seed}, {count} samples, outermost {roots.most_common(12)}, unreadable {unreadable}, deepest {deepest}"
    print(told, file=sys.stderr)
    assert sum(strange.values()) <= 0.005 * count, told
    assert unreadable <= 0.01 * count, told
    assert deepest < 4096, told
