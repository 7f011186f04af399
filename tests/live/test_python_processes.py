"""test_python_processes -- Python in children of every kind, in sub-interpreters, in virtual environments, by -c and -m, and inside other programs"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pythons import TARGET, Interpreter, counted_stacks, every_interpreter, some_interpreters
from recorded import Recorded, judge, judge_shares, judge_stacks, tolerance

from collector.profile import aggregate

MS = 120
CODE = (TARGET / "as_module" / "__main__.py").read_text(encoding="utf-8").replace("by_module", "by_code")


def well(recorded: Recorded) -> dict[str, int]:
    """What a program told that ended well, of which nothing was lost."""
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert recorded.lost_count == 0, recorded.profile.losses
    return recorded.outcome.truth


def judge_times(recorded: Recorded, truth: dict[str, int]) -> None:
    """Assert that each function has the CPU time that it told, and lies in the file that it is in."""
    for name, ns in truth.items():
        allowed = tolerance(ns / recorded.total_ns, recorded.sample_count) * recorded.total_ns
        judge(abs(recorded.inclusive_ns(name) - ns) <= allowed, f"{name}: {recorded.inclusive_ns(name) / 1e6:.1f} ms, {ns / 1e6:.1f} true, {allowed / 1e6:.1f} allowed")


@some_interpreters()
def test_children(record: Callable[..., Recorded], python: Interpreter) -> None:
    """Each child tells of its own code objects."""
    recorded = record([python.path, TARGET / "processes.py", MS // 2], environment={"PYTHONWARNINGS": "ignore"})
    truth = well(recorded)
    assert len(truth) == 9
    judge_shares(recorded, truth, recorded.total_ns, truth)
    assert len(aggregate.processes(recorded.profile)) >= 9
    judge_stacks(recorded, 0.99)


@every_interpreter("3.12")
@pytest.mark.parametrize("way", ["-m", "-c", "-"])
def test_ways_to_start(record: Callable[..., Recorded], python: Interpreter, way: str, tmp_path: Path) -> None:
    if way == "-":
        (tmp_path / "code.py").write_text(CODE, encoding="utf-8")
        words = ["sh", "-c", f"exec {python.path} - {MS} < {tmp_path / 'code.py'}"]
    else:
        words = [python.path, way, {"-m": "as_module", "-c": CODE}[way], MS]
    recorded = record(words, environment={"PYTHONPATH": str(TARGET)}, directory_to_run_in=TARGET)
    truth = well(recorded)
    judge_times(recorded, truth)
    [name] = truth
    files = {stack.python[[frame.name for frame in stack.python].index(name)].file for stack in counted_stacks(recorded) if name in stack.names}
    assert files == {"-m": {str(TARGET / "as_module" / "__main__.py")}, "-c": {"<string>"}, "-": {"<stdin>"}}[way]


@some_interpreters()
def test_in_a_virtual_environment(record: Callable[..., Recorded], python: Interpreter, tmp_path: Path) -> None:
    done = subprocess.run([python.path, "-m", "venv", "--without-pip", tmp_path / "venv"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"this system has no venv module for {python.version}")
    recorded = record([tmp_path / "venv" / "bin" / "python", TARGET / "as_module", MS], environment={"PYTHONPATH": str(TARGET)})
    judge_times(recorded, well(recorded))


@some_interpreters()
def test_sub_interpreters(record: Callable[..., Recorded], python: Interpreter) -> None:
    """Their functions are seen as those of the main one, whichever thread runs them."""
    recorded = record([python.path, TARGET / "interpreters.py", MS], environment={"PYTHONWARNINGS": "ignore"})
    truth = well(recorded)
    assert len(truth) == 4
    judge_times(recorded, truth)
    for stack in counted_stacks(recorded):
        if "in_another_one" in stack.names:
            names = [frame.name for frame in stack.python]
            assert "<module>" in names[: names.index("in_another_one")]


def libpython_of(python: Interpreter) -> Path:
    """Its shared library; a skip if it has none."""
    ask = "import sysconfig, os; print(os.path.join(sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('INSTSONAME') or ''))"
    library = Path(subprocess.run([python.path, "-c", ask], capture_output=True, text=True).stdout.strip())
    if library.suffix == ".a" or not library.is_file():
        pytest.skip(f"this system has no libpython{python.minor}.so beside {python.path}")
    return library


@some_interpreters()
@pytest.mark.parametrize("way", ["linked", "loaded"])
def test_embedded(record: Callable[..., Recorded], compiled: Callable[..., Path], python: Interpreter, way: str) -> None:
    """C calls Python: beside C's own time, from two threads, and after the interpreter was finalized and begun anew."""
    library = libpython_of(python)
    home = subprocess.run([python.path, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True).stdout.strip()
    flags = [f"-Wl,--no-as-needed,{library},-rpath,{library.parent}"] if way == "linked" else []
    program = compiled("python_embedded.c", "-O2", *flags, "-ldl", name=f"embedded_{way}")
    recorded = record(["env", "-u", "PYTHONPATH", f"PYTHONHOME={home}", program, MS, *([library] if way == "loaded" else [])])
    truth = well(recorded)
    assert list(truth) == ["c_alone", "in_main", "in_a_c_thread", "begun_anew"]
    judge_stacks(recorded, 0.99)
    if way == "loaded" and python.numbers >= (3, 15):  # whose state lies in thread-local memory that a handler cannot ask for then: the log says so
        judge_times(recorded, {"c_alone": truth["c_alone"], "calls_python": sum(truth.values()) - truth["c_alone"]})
        return
    judge_times(recorded, truth)
    for stack in counted_stacks(recorded):
        if "in_main" in stack.names:
            assert "main" in stack.names[: stack.names.index("calls_python")]
            assert stack.names.index("calls_python") < stack.names.index("<module>") < stack.names.index("in_main")


def test_a_program_without_python_has_nothing_of_it(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("split_cpu.c"), 100])
    assert recorded.outcome.status == 0
    assert not any(frame.kind == "python" for frame in recorded.profile.frames)
    assert b"CPython" not in b"".join(log.read_bytes() for log in recorded.path.glob("*.log"))
