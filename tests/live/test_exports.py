"""test_exports -- a recorded program with threads, inlined calls and hostile names, and one in Python, written in every format and read back"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import read_back
from recorded import TARGETS, Recorded
from test_export_formats import FORMATS, check, expected

from collector.cli.main import main
from collector.load import load
from collector.printable import printable
from collector.profile import aggregate
from collector.profile.model import Profile

HOSTILE = b'evil;na\tme "<b>\n\xff(int) 12'

PYTHON = """
import threading
def in_python(depth):
    return sum(i * i for i in range(3000)) if depth == 0 else in_python(depth - 1)
def work():
    for _ in range(600):
        in_python(5)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.fixture(scope="module")
def paths(record, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The experiments of both programs."""
    if not shutil.which("objcopy"):
        pytest.skip("objcopy is not installed")
    place = tmp_path_factory.mktemp("shapes")
    subprocess.run(["gcc", "-g", "-O2", "-c", TARGETS / "export_shapes.c", "-o", place / "shapes.o"], check=True)
    subprocess.run([b"objcopy", b"--strip-debug", b"--redefine-sym", b"hostile=" + HOSTILE, bytes(place / "shapes.o"), bytes(place / "hostile.o")], check=True)
    subprocess.run(["gcc", "-pthread", place / "hostile.o", "-o", place / "hostile"], check=True)
    subprocess.run(["gcc", "-pthread", place / "shapes.o", "-o", place / "shapes"], check=True)
    (place / "program.py").write_text(PYTHON)
    runs: list[Recorded] = [record([place / "hostile"]), record([place / "shapes"]), record([sys.executable, place / "program.py"])]
    assert [run.outcome.status for run in runs] == [0, 0, 0]
    return tuple(str(run.path) for run in runs)


@pytest.fixture(scope="module")
def profile(paths: tuple[str, ...]) -> Profile:
    """All of them together."""
    return load(paths)


@pytest.mark.parametrize("name", FORMATS)
def test_no_weight_is_lost(name: str, profile: Profile, paths: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["export", *paths, "-f", name, "-o", str(tmp_path / "out")]) == 0
    check(name, profile, (tmp_path / "out").read_bytes())


def test_the_program_has_what_is_to_be_exported(profile: Profile) -> None:
    stacks, _ = expected(profile, False)
    names = {name for stack in stacks for name in stack}
    assert printable(HOSTILE.decode(errors="surrogateescape")) in names
    assert any(stack[-3:] == ("outer", "inlined_middle", "inlined_leaf") for stack in stacks)
    assert max(stack.count("recursive") for stack in stacks) == 10
    assert any(stack.count("in_python") == 6 for stack in stacks)


def test_callgrind_has_the_times_of_report(profile: Profile, paths: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["export", *paths, "-f", "callgrind", "-o", str(tmp_path / "out")]) == 0
    found = read_back.callgrind((tmp_path / "out").read_bytes())
    count = sum(profile.samples.cells().counts)
    assert all(abs(found.get(printable(name), (0, 0))[0] - own * 1e9) <= 2 * count for name, (own, _) in times_of(profile).items())
    assert abs(sum(one for one, _ in found.values()) - aggregate.total_values(profile)[0] * 1e9) <= 1


def test_pprof_tells_inlined_calls_in_one_location(profile: Profile, paths: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["export", *paths, "-f", "pprof", "-o", str(tmp_path / "out")]) == 0
    message = read_back.pprof_message((tmp_path / "out").read_bytes())
    strings = [text.decode() for text in message[6]]
    functions = {known[1][0]: strings[known[2][0]] for known in map(read_back.fields, message[5])}
    chains = {tuple(functions[read_back.fields(line)[1][0]] for line in known[4]) for known in map(read_back.fields, message[4])}
    assert ("inlined_leaf", "inlined_middle", "outer") in chains
    build_ids = {strings[known[6][0]] for known in map(read_back.fields, message[3]) if 6 in known}
    assert {module.build_id for module in profile.modules if module.build_id} == build_ids


@pytest.mark.parametrize("name", ["pprof", "perf-script"])
def test_what_was_exported_can_be_imported(name: str, profile: Profile, paths: tuple[str, ...], tmp_path: Path) -> None:
    """The functions have the times that they had, to a nanosecond a sample."""
    assert main(["export", *paths, "-f", name, "-o", str(tmp_path / "out")]) == 0
    assert main(["import", str(tmp_path / "out"), "-o", str(tmp_path / "back.expt")]) == 0
    before, after = times_of(profile), times_of(load([str(tmp_path / "back.expt")]))
    count = sum(profile.samples.cells().counts)
    for function in ("inlined_leaf", "inlined_middle", "outer", "recursive", "in_python", "work"):
        assert all(abs(was - now) <= 2e-9 * count for was, now in zip(before[function], after[function])), function


def times_of(profile: Profile) -> dict[str, tuple[float, float]]:
    """Exclusive and inclusive time of the functions of each name."""
    times: dict[str, tuple[float, float]] = {}
    for row in aggregate.functions(profile):
        own, inclusive = times.get(row.function.name, (0.0, 0.0))
        times[row.function.name] = own + row.exclusive[0], inclusive + row.inclusive[0]
    return times
