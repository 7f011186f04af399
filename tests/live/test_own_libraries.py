"""test_own_libraries -- libraries come and go: they are found as ever, and each address has the name it had when it ran"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded, judge_at_least, judge_shares, judge_stacks


@pytest.fixture
def plugins(compiled: Callable[..., Path], tmp_path: Path) -> Path:
    """A directory of plugins, one of which finds its neighbour only by its own $ORIGIN."""
    def place(function: str, name: str, *flags: str) -> None:
        made = compiled("plugin_work.c", "-O2", "-shared", "-fPIC", f"-DWORK={function}", *flags, name=name.split("/")[-1])
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(made.read_bytes())

    place("work_in_first", "libfirst.so")
    place("work_in_second", "libsecond.so")
    place("work_beside", "beside/libbeside.so")
    place("work_in_finder", "libfinder.so", "-DFINDS", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/beside")
    return tmp_path


@pytest.mark.parametrize("clock", RUNGS)
def test_the_same_address_twice(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], plugins: Path, clock: str
) -> None:
    rung_works(clock)
    recorded = record([compiled("plugin_games.c"), "reuse", plugins, 10], clock=clock)
    assert recorded.outcome.status == 6
    assert recorded.outcome.truth["reused"] == 1
    judge_shares(recorded, recorded.outcome.truth, names=("work_in_first", "work_in_second", "work_between"))
    judge_stacks(recorded, 0.99)
    modules = {module.name for module in recorded.profile.modules}
    assert {"libfirst.so", "libsecond.so"} <= modules


def test_libraries_are_found_from_where_they_are_asked_for(
    unharmed: Callable[..., Recorded], compiled: Callable[..., Path], plugins: Path
) -> None:
    recorded = unharmed([compiled("plugin_games.c"), "origin", plugins])
    assert "found 1" in recorded.outcome.stdout
    judge_at_least(recorded, "work_in_finder", 0.9 * 150e6)


@pytest.mark.parametrize("clock", RUNGS)
def test_code_of_a_second_namespace(
    unharmed: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], plugins: Path, clock: str
) -> None:
    rung_works(clock)
    recorded = unharmed([compiled("plugin_games.c"), "namespace", plugins], clock=clock)
    judge_at_least(recorded, "work_in_first", 0.9 * 150e6)
    judge_stacks(recorded, 0.99)


@pytest.mark.parametrize("rounds", [1000])
def test_a_library_that_comes_and_goes_a_thousand_times(
    unharmed: Callable[..., Recorded], compiled: Callable[..., Path], plugins: Path, rounds: int
) -> None:
    recorded = unharmed([compiled("plugin_churn.c"), plugins / "libfirst.so", rounds])
    assert recorded.lost_count == 0
    log_bytes = sum(file.stat().st_blocks * 512 for file in recorded.path.iterdir())
    assert log_bytes <= rounds * 1024 + (1 << 18)


def test_the_child_of_a_late_destructor(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Libraries that a program is linked with are taken down after the recorder: what their destructors fork is recorded all the same."""
    library = compiled("late_fork.c", "-O1", "-shared", "-fPIC", "-DLIBRARY", name="liblate.so")
    linked = ("-Wl,--no-as-needed", f"-L{library.parent}", "-llate", f"-Wl,-rpath,{library.parent}")
    recorded = record([compiled("late_fork.c", *linked, name="late_fork")])
    assert recorded.outcome.status == 0
    assert "bare system call" not in recorded.outcome.stderr
    judge_at_least(recorded, "work", 60_000_000)
