"""test_callgrind -- callgrind's files: costs to the last unit, and the stacks that can be made of them"""

from __future__ import annotations

import pytest
from imported import import_text

from collector.errors import ForeignProfileError
from collector.importing.reading import read_profile
from collector.profile import aggregate

_HEAD = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 4711
cmd:  ./prog 'a b'
part: 1

desc: I1 cache:
positions: line
events: Ir Dr
"""
_BODY = """
ob=(1) /opt/prog
fl=(1) /src/prog.c
fn=(1) main
10 7 1
cfn=(2) work
calls=2 20
+1 300
cob=(2) /lib/libm.so
cfi=(2) ???
cfn=(3) sin
calls=1 0
* 50 5

fn=(2)
20 90
fi=(3) /src/inlined.h
5 110
jump=3 +1
-2 10
fe=(1)
22 40
cob=(2)
cfi=(2)
cfn=(3)
calls=5 0
+1 50

ob=(2)
fl=(2)
fn=(3)
0 100 9
"""


def test_costs_are_those_of_the_file(tmp_path):
    found = import_text(tmp_path, _HEAD + "summary: 357 15\n" + _BODY)
    rows = {row.function.name: tuple(round(figure * 1e9) for figure in (row.exclusive[0], row.inclusive[0])) for row in aggregate.functions(found.profile)}
    assert rows == {"main": (7, 357), "work": (250, 300), "sin": (100, 100)}
    lines = {(row.file, row.line): round(row.exclusive[0] * 1e9) for row in aggregate.lines(found.profile)}
    assert lines == {
        ("/src/prog.c", 10): 7, ("/src/prog.c", 11): 0, ("/src/prog.c", 20): 90, ("/src/inlined.h", 5): 110, ("/src/inlined.h", 3): 10,
        ("/src/prog.c", 22): 40, ("/src/prog.c", 23): 0, (None, None): 100,
    }  # fmt: skip
    assert found.stacks()["main:11", "work:23", "sin"] == (50, 0) and found.stacks()["main:11", "sin"] == (50, 0)
    assert {(function.name, function.file) for function in found.profile.functions} == {("main", "/src/prog.c"), ("work", "/src/prog.c"), ("sin", None)}
    assert {module.path for module in found.profile.modules} == {"/opt/prog", "/lib/libm.so"}
    assert found.profile.recordings[0].command == ("./prog", "a b") and found.profile.processes[0].pid == 4711
    assert "Callgrind has no stacks" in found.messages() and "What is shown as time counts Ir" in found.messages()
    assert "add up to" not in found.messages()


@pytest.mark.parametrize(("unit", "each_ns"), [("ns", 1), ("us", 1_000), ("ms", 1_000_000)])
def test_an_event_that_says_it_is_time(tmp_path, unit, each_ns):
    """Its long name ends in its unit; an event of another name, or without a unit, is still a count."""
    found = import_text(tmp_path, f"{_HEAD}event: Dr : data reads\nevent: Ir : time in {unit}\n{_BODY}")
    assert found.total_ns == 357 * each_ns and "shown as time counts" not in found.messages()
    counted = import_text(tmp_path, f"{_HEAD}event: Dr : time in ns\n{_BODY}", name="counted")
    assert counted.total_ns == 357 and "What is shown as time counts Ir" in counted.messages()


def test_another_event(tmp_path):
    found = import_text(tmp_path, _HEAD + _BODY, "--event", "Dr")
    assert found.total_ns == 10
    with pytest.raises(ForeignProfileError, match="has no event 'Dw', but Ir or Dr"):
        read_profile(str(tmp_path / "profile"), None, "Dw", None)


def test_a_sum_that_does_not_fit_is_told(tmp_path):
    assert "says that it counts 999 Ir, but its lines add up to 357" in import_text(tmp_path, _HEAD + _BODY + "\ntotals: 999 15\n").messages()


def test_recursion_loses_nothing(tmp_path):
    body = "fn=a\n1 10\ncfn=b\ncalls=1 2\n1 1000\nfn=b\n2 500\ncfn=a\ncalls=3 1\n2 400\ncfn=b\ncalls=9 2\n2 800\ncfn=c\ncalls=1 3\n2 90\nfn=c\n3 90\n"
    found = import_text(tmp_path, _HEAD + body)
    assert {name: round(own * 1e9) for name, (own, _) in found.functions().items()} == {"a": 10, "b": 500, "c": 90}


def test_a_graph_with_endless_ways_is_cut_and_loses_nothing(tmp_path):
    layers = "".join(
        f"fn=f{n}_{k}\n{n + 1} 1000\n" + "".join(f"cfn=f{n + 1}_{j}\ncalls=1 1\n{n + 1} {(24 - n) * 1500}\n" for j in range(2)) for n in range(24) for k in range(2)
    )
    (tmp_path / "p").write_text(_HEAD + layers + "fn=f24_0\n1 5\nfn=f24_1\n1 5\n")
    profile = read_profile(str(tmp_path / "p"), None, None, None)
    assert profile.total == 24 * 2 * 1000 + 10
    assert 1_000 < profile.sample_count < 50_000


def test_instructions_and_threads(tmp_path):
    text = (
        "events: Ir\npositions: instr line\ncreator: x\nthread: 1\nob=/p\nfl=a.c\nfn=f\n0x1000 5 3\n+4 * 2\n\nthread: 2\nfn=f\n0x1000 5 10\n"
    )
    found = import_text(tmp_path, text)
    assert {(frame.address, frame.line) for frame in found.profile.frames} == {(0x1000, 5), (0x1004, 5)}
    assert {thread.tid for thread in found.profile.threads} == {1, 2} and found.total_ns == 15


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (_HEAD + "fn=(9)\n", "line 11 has the name number 9, which was never given"),
        (_HEAD + "10 7\n", "line 11 is no cost of a place in a function"),
        (_HEAD + "fn=f\nwhat is this\n", "line 12 is none of callgrind's"),
        (_HEAD + "fn=f\n-5 3\n", "line 12 is no cost"),
        (_HEAD + "fn=f\n5 3x\n", "line 12 is no cost"),
        (_HEAD + f"fn=f\n{'9' * 19} {'9' * 19}\n", "more than can be shown|too large"),
        (_HEAD + "fn=f\ncalls=1 1\n1 1\n", "line 13 is the cost of a call of nothing"),
        (_HEAD, "holds no samples"),
        ("version: 1\ncreator: x\nevents:\n", "does not say which events it counts"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, text, sentence):
    (tmp_path / "p").write_text(text)
    with pytest.raises(ForeignProfileError, match=sentence):
        read_profile(str(tmp_path / "p"), None, None, None)
