"""test_python_stacks -- the ways in which Python calls Python: each sample has the whole stack in its order, with the line that was executed"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable

import pytest
from pythons import TARGET, CountedStack, Interpreter, PythonFrame, counted_stacks, every_interpreter
from recorded import IS_THOROUGH, Recorded, judge, judge_stacks, tolerance

pytestmark = every_interpreter()
MS = 40 if IS_THOROUGH else 12


@pytest.fixture(scope="module")
def shapes(record: Callable[..., Recorded]) -> Callable[[Interpreter], tuple[Recorded, dict[str, dict], list[CountedStack]]]:
    """shapes(python) is one recording of shapes.py, what the program told, and the stacks; made once."""
    made: dict[Interpreter, tuple[Recorded, dict[str, dict], list[CountedStack]]] = {}

    def of(python: Interpreter) -> tuple[Recorded, dict[str, dict], list[CountedStack]]:
        if python not in made:
            recorded = record([python.path, TARGET / "shapes.py", MS], options=["-p", "hi"])
            assert recorded.outcome.status == 0, recorded.outcome.stderr
            assert recorded.lost_count == 0, recorded.profile.losses
            made[python] = recorded, json.loads(recorded.outcome.stdout.splitlines()[-1]), counted_stacks(recorded)
        return made[python]

    return of


def burning(told: dict[str, dict]) -> dict[tuple[str, int], dict]:
    """The shape that burns in each line; `<executed>` ones share theirs with no other."""
    return {(os.path.basename(shape["stack"][-1][1]), line): shape for shape in told.values() for line in shape["lines"]}


def expected(shape: dict, line: int) -> tuple[PythonFrame, ...]:
    """The stack that a shape told, at this line of its loop."""
    frames = [PythonFrame(*frame) for frame in shape["stack"]]
    return (*frames[:-1], frames[-1]._replace(line=line))


def test_every_stack_is_the_one_that_was_told(shapes: Callable, python: Interpreter) -> None:
    """To the last frame and line, for every sample in a loop that was told."""
    _, told, stacks = shapes(python)
    loops = burning(told)
    right: Counter[bool] = Counter()
    wrong = []
    for stack in stacks:
        leaf = stack.python[-1] if stack.python else None
        shape = leaf and loops.get((os.path.basename(leaf.file), leaf.line or 0))
        if leaf and shape:
            wanted = expected(shape, leaf.line or 0)
            right[stack.python == wanted] += stack.count
            if stack.python != wanted:
                wrong.append(f"{stack.count} samples\n  {stack.python}\n  told: {wanted}")
    assert not right[False], f"{right[False]} of {right.total()} samples:\n" + "\n".join(wrong[:3])
    assert right[True] > 20 * len(told)


def test_time_is_in_the_line_that_burns(shapes: Callable, python: Interpreter) -> None:
    recorded, told, stacks = shapes(python)
    loops, measured = burning(told), Counter()
    for stack in stacks:
        leaf = stack.python[-1] if stack.python else None
        if leaf and (shape := loops.get((os.path.basename(leaf.file), leaf.line or 0))):
            measured[id(shape)] += stack.ns
    whole = sum(shape["ns"] for shape in told.values())
    # What the kernel does between the loops has no ticks of its own, and some of it falls to the next one.
    wrong = [f"all: {whole / 1e6:.1f} ms true, {measured.total() / 1e6:.1f} measured"] if abs(measured.total() - whole) > 0.03 * recorded.total_ns else []
    for name, shape in told.items():
        share, seen = shape["ns"] / whole, measured[id(shape)] / whole
        if abs(share - seen) > tolerance(share, recorded.sample_count, 0.004):
            wrong.append(f"{name}: {share:.4f} true, {seen:.4f} measured")
    judge(not wrong, f"{len(wrong)} of {len(told)}, {recorded.sample_count} samples: {'; '.join(wrong)}")


def test_every_stack_is_complete(shapes: Callable, python: Interpreter) -> None:
    judge_stacks(shapes(python)[0], 0.99)


def test_c_stands_between_the_functions_that_it_connects(shapes: Callable, python: Interpreter) -> None:
    """qsort, which Python called and which calls Python, lies between the two."""
    _, _, stacks = shapes(python)
    seen = [stack for stack in stacks if "from_qsort" in stack.names and any("qsort" in name and name != "from_qsort" for name in stack.names)]
    assert seen
    for stack in seen:
        sorts = [index for index, name in enumerate(stack.names) if name != "from_qsort" and "qsort" in name]
        assert stack.names.index("c_callback") < sorts[0] <= sorts[-1] < stack.names.index("from_qsort")
