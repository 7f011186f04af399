"""test_python_shares -- CPU time of Python functions, of what they have C do, and of what C calls back, as the programs themselves measure it"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pythons import TARGET, Interpreter, counted_stacks, some_interpreters
from recorded import IS_THOROUGH, Recorded, judge, judge_shares, judge_stacks, judge_total, tolerance

SPLIT = ("forty", "twenty_five", "fifteen", "ten", "seven", "three")
CALLBACKS = {"sorting": "key_of", "sorting_in_c": "order", "comparing": "compared", "replacing": "doubled", "encoding": "described"}
USUAL_MS = 3000 if IS_THOROUGH else 600
MS = 3000 if IS_THOROUGH else 150
"""At ten kilohertz, at which all but threads and generators are recorded: 1,500 samples of the shorter."""


def take(record: Callable[..., Recorded], python: Interpreter, *words: object, options: tuple[object, ...] = ("-p", "hi")) -> Recorded:
    """Record a program of tests/targets/python; it has to end well, with nothing lost."""
    recorded = record([python.path, TARGET / str(words[0]), *words[1:]], options=options)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert recorded.lost_count == 0, recorded.profile.losses
    return recorded


def usual_callers(recorded: Recorded, function: str) -> set[str]:
    """Its callers, but for those of less than half a percent of its time.

    Where a call begins CPython makes the new frame the current one and links it to its caller; a tick between the two, of
    which one was seen in some hundred runs, finds the link of the call that had the same memory before.
    """
    callers = recorded.callers(function)
    return {name for name, ns in callers.items() if ns >= sum(callers.values()) / 200}


@some_interpreters()
def test_split(record: Callable[..., Recorded], python: Interpreter) -> None:
    """Within the sampling error alone."""
    recorded = take(record, python, "split.py", MS)
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, recorded.process_ns, SPLIT, systematic=0.004)
    judge_total(recorded, recorded.charged_ns)
    judge_stacks(recorded)
    for name in SPLIT:
        assert set(recorded.callers(name)) == {"burst"}


@some_interpreters()
def test_extensions(record: Callable[..., Recorded], python: Interpreter) -> None:
    recorded = take(record, python, "extensions.py", MS)
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, recorded.process_ns, [name for name in truth if name != "process"])
    judge_stacks(recorded)


@some_interpreters()
def test_threads(record: Callable[..., Recorded], python: Interpreter) -> None:
    """Whether they hold the GIL or not, began in Python or in C."""
    recorded = take(record, python, "threads.py", USUAL_MS // 10, options=())
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, recorded.process_ns, [name for name in truth if name != "process"])
    judge_stacks(recorded, 0.99)


@some_interpreters()
def test_callbacks(record: Callable[..., Recorded], python: Interpreter) -> None:
    """C that calls Python back belongs to whom it works for; each callback lies directly within its caller."""
    recorded = take(record, python, "callbacks.py", MS)
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, recorded.process_ns, CALLBACKS, systematic=0.015)
    callees = {callee: caller for caller, callee in CALLBACKS.items()}
    seen: Counter[str] = Counter()
    for stack in counted_stacks(recorded):
        names = [frame.name for frame in stack.python]
        for callee in callees.keys() & set(names):
            callers = set(names[: names.index(callee)])
            assert callees[callee] in callers, names
            assert not callers & (CALLBACKS.keys() - {callees[callee]}), names
            seen[callee] += stack.count
    assert seen.keys() == callees.keys()


@some_interpreters()
def test_generators(record: Callable[..., Recorded], python: Interpreter) -> None:
    recorded = take(record, python, "generators.py", USUAL_MS, options=())
    truth = recorded.outcome.truth
    callers, whole = recorded.callers("burns"), sum(ns for name, ns in truth.items() if name != "process")
    assert set(callers) == truth.keys() - {"process"}
    for name, ns in callers.items():
        judge(abs(ns - truth[name]) <= tolerance(truth[name] / whole, recorded.sample_count) * whole, f"{name}: {ns / 1e6:.1f} ms, {truth[name] / 1e6:.1f} true")
    # At the end both are closed half-way, by the function in C that closes what can be suspended: seldom is that seen.
    assert {"delegate"} <= usual_callers(recorded, "source") <= {"delegate", "coroutine.close"}
    assert {"doubled"} <= usual_callers(recorded, "delegate") <= {"doubled", "coroutine.close"}


@some_interpreters()
def test_coroutines(record: Callable[..., Recorded], python: Interpreter) -> None:
    recorded = take(record, python, "coroutines.py", MS)
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, recorded.process_ns, [name for name in truth if name != "process"], systematic=0.02)
    assert usual_callers(recorded, "lowest") == {"middle"}
    assert usual_callers(recorded, "middle") == {"one_part", "three_parts"}


@some_interpreters()
def test_depths(record: Callable[..., Recorded], python: Interpreter) -> None:
    """Stacks of 50 and 900 functions are whole, to the last one; so is one that goes through C forty times, and one that an exception unwinds."""
    recorded = take(record, python, "depths.py", MS // 4, 50, 900)
    truth = recorded.outcome.truth
    judge_stacks(recorded)
    depths: dict[str, Counter[int]] = {name: Counter() for name in truth}
    for stack in counted_stacks(recorded):
        names = [frame.name for frame in stack.python]
        for name in truth.keys() & set(names) if names and names[-1] == "bottom" else ():
            depths[name][names.count(name)] += stack.count
    assert {name: set(counts) for name, counts in depths.items()} == {"pure_50": {50}, "pure_900": {900}, "through_c": {40}, "raises": {60}}
    judge_shares(recorded, truth, recorded.total_ns, truth, systematic=0.02)


@some_interpreters()
def test_more_functions_than_there_is_room_for(record: Callable[..., Recorded], python: Interpreter) -> None:
    """What they call in C stays at the leaf, and nobody says that such a stack was whole."""
    recorded = take(record, python, "too_deep.py", MS, 9000, options=())
    stacks = [stack for stack in counted_stacks(recorded) if "sink" in stack.names]
    in_c = [stack for stack in stacks if stack.names[-1] != "sink"]
    assert sum(stack.ns for stack in in_c) > 0.9 * (sum(stack.ns for stack in stacks) - recorded.outcome.truth["descent"]) > 0
    assert sum(recorded.unfinished.values()) > 0.9 * sum(stack.count for stack in in_c)


@some_interpreters()
def test_reuse(record: Callable[..., Recorded], python: Interpreter) -> None:
    """A function that lies where another lay before is never taken for it."""
    recorded = take(record, python, "reuse.py", MS)
    truth = recorded.outcome.truth
    spent: Counter[str] = Counter()
    for stack in counted_stacks(recorded):
        kind = {"run_once": "", "run_same": "same"}.get(stack.python[-2].name) if len(stack.python) > 1 else None
        leaf = stack.python[-1] if stack.python else None
        if leaf is None or kind is None:
            continue
        if leaf.file.startswith(("<long", "<short")):
            assert leaf.name in ("<module>", leaf.file[1:-1].replace(" ", "_")), leaf
            spent[leaf.file[1:-1].partition(" ")[0]] += stack.ns if leaf.name != "<module>" else 0
        elif leaf.name == "same":
            assert leaf.line in (1, 4, 5, 12, 13), leaf
            spent["later" if leaf.line in (12, 13) else "sooner"] += stack.ns
    whole = recorded.process_ns
    for kind, ns in spent.items():
        judge(abs(ns - truth[kind]) <= tolerance(truth[kind] / whole, recorded.sample_count) * whole, f"{kind}: {ns / 1e6:.1f} ms, {truth[kind] / 1e6:.1f} true")
    assert spent.keys() == {"long", "short", "later", "sooner"}
