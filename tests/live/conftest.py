"""conftest -- the recorder built once, targets compiled once, and a function that records one"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import judged_again
import pytest
from ahead import Comparison, plan
from once import made_once
from recorded import ROOT, TARGETS, Recorded, Untrue, collector_command, execute

Compile = Callable[..., Path]

USUAL_GAP_MS = 12.0  # 4 on a machine with nothing else to do; a tick or two may always find somebody else


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """libcollector.so: the one that COLLECTOR_LIBRARY names, else the source tree's, built for this session."""
    given = os.environ.get("COLLECTOR_LIBRARY")
    if given:
        yield Path(given)
        return
    build = tmp_path_factory.mktemp("recorder")
    done = subprocess.run(
        ["make", "-j4", "-C", str(ROOT / "libcollector_c"), f"BUILD={build}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    os.environ["COLLECTOR_LIBRARY"] = str(build / "libcollector.so")
    yield build / "libcollector.so"
    del os.environ["COLLECTOR_LIBRARY"]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Symbols are cached for this session only, so that no test lives on what another session found."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Programs begin with SIGINT at its default, as the commands do that are forked for us, even where a shell's `&` has this process ignore it."""
    was = signal.getsignal(signal.SIGINT)
    if was is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, was)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """compiled(source, *flags, compiler=...) is the program made of tests/targets/source; each combination is built once."""

    def compile_target(source: str, *flags: object, compiler: str | None = None, name: str | None = None) -> Path:
        words = tuple(map(str, flags))
        program = name or Path(source).stem
        chosen = compiler or {".cc": "g++", ".f90": "gfortran"}.get(Path(source).suffix, "gcc")
        if not shutil.which(chosen):
            pytest.skip(f"{chosen} is not installed")

        def make(place: Path) -> None:
            libraries = [word for word in words if word.startswith(("-l", "-L", "-Wl,"))]
            others = [word for word in words or ("-O2",) if word not in libraries]
            build(chosen, "-g", *others, f"-I{ROOT}/libcollector_c/include", "-pthread", TARGETS / source, "-o", place / program, *libraries)

        return made_once(tmp_path_factory.getbasetemp(), (source, words, chosen, program), make) / program

    return compile_target


def build(*command: object) -> None:
    """Run a compiler; a failure is a failure of the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"


@pytest.fixture(scope="session")
def record(recorder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Recorded]:
    """record(command, options=[...], environment={...}) records through `collector record`; direct=True preloads without it."""
    directory = tmp_path_factory.mktemp("experiments")
    numbers = itertools.count()

    def run(
        command: Sequence[object],
        options: Sequence[object] = (),
        environment: Mapping[str, str] | None = None,
        directory_to_run_in: Path | None = None,
        experiment: Path | None = None,
        direct: bool = False,
        clock: str | None = None,
        timeout_s: float = 120,
    ) -> Recorded:
        path = experiment or directory / f"{next(numbers)}.expt"
        if direct:
            preload = {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": str(path), **({"COLLECTOR_OPTIONS": f"clock={clock}"} if clock else {})}
            outcome = execute(command, {**(environment or {}), **preload}, directory_to_run_in, timeout_s)
        else:
            words = ["-o", path, *(["--clock", clock] if clock else []), *options]
            outcome = execute(collector_command("record", *words, "--", *command), environment, directory_to_run_in, timeout_s)
        for kept in path.glob("objects/perf-*.map"):
            (Path("/tmp") / kept.name).unlink(missing_ok=True)
        return Recorded(outcome, path)

    return run


@pytest.fixture(scope="session")
def rung_works(record: Callable[..., Recorded], compiled: Compile) -> Callable[[str], None]:
    """rung_works(clock) skips the test where the kernel refuses that clock to a program that asks for it; a recorder that does not get it then has failed."""
    answers: dict[str, tuple[bool, set[str]]] = {}

    def check(clock: str) -> None:
        if clock not in answers:
            granted = execute([compiled("granted_clocks.c")]).truth
            answers[clock] = bool(granted[clock]), record([compiled("split_cpu.c"), 30], clock=clock).clocks
        is_granted, given = answers[clock]
        if not is_granted:
            pytest.skip(f"this system has no {clock}; it gave {', '.join(given) or 'no clock'}")
        assert given == {clock}, f"the kernel grants {clock}, and the recorder took {', '.join(given) or 'no clock'}"

    return check


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """The time that the CPU timer measured, or had to find, is not judged where the kernel's own timer cannot do it: beside other work it may not look at a program for 200 ms."""
    try:
        return (yield)
    except Untrue:  # and nothing else: harm is harm on every clock
        callspec = getattr(pyfuncitem, "callspec", None)
        is_its_clock = callspec is not None and callspec.params.get("clock") == "cpu-timer"
        if not (is_its_clock or pyfuncitem.get_closest_marker("slow_timer")):
            raise
        program = pyfuncitem._request.getfixturevalue("compiled")("cpu_timer_gaps.c")
        gap_ms = max(execute([program]).truth["longest_gap"] for _ in range(3)) / 1e6  # the neighbours may have changed since
        if gap_ms < USUAL_GAP_MS:
            raise
        pytest.skip(f"by construction: the kernel's CPU timer leaves a plain program unseen for {gap_ms:.0f} ms of CPU time here")


pytest_runtest_makereport = judged_again.pytest_runtest_makereport


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let two of three recordings decide where time is judged."""
    return judged_again.run(item, nextitem) if Path(__file__).parent in item.path.parents else None


@pytest.fixture(scope="session")
def comparison(record: Callable[..., Recorded]) -> Iterator[Comparison]:
    """What runs programs plain and recorded, and compares."""
    found = Comparison(record)
    yield found
    found.close()


@pytest.fixture(scope="session")
def unharmed(comparison: Comparison) -> Callable[..., Recorded]:
    """unharmed(command, ...) runs it plain and recorded, asserts that nobody could tell the two apart, and gives the recording."""
    return lambda command, **how: comparison.run(plan(*command, **how))


@pytest.fixture
def unharmed_case(comparison: Comparison, request: pytest.FixtureRequest) -> Callable[[], Recorded]:
    """unharmed_case() is the same for the case of a test under `planned`, run beside the others of that test."""
    return comparison.case_of(request)
