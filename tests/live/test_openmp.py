"""test_openmp -- parallel regions: whose stacks go on where, what a region's threads do in it, and that no game with regions makes a wrong stack"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from math import sqrt
from pathlib import Path

import pytest
from both_ways import load_plain
from recorded import TARGETS, Recorded, execute, judge, judge_stacks

from collector.profile.categories import read_categories
from collector.profile.category_calls import category_calls
from collector.profile.model import REGION_MARK
from collector.profile.regions import RegionRow, regions

ACTIVE = {"OMP_WAIT_POLICY": "active", "OMP_DYNAMIC": "false"}
COMPILERS = ("gcc", "clang")
PERIOD_NS = 1.1e6


@cache
def has_openmp(compiler: str) -> bool:
    """Whether a C compiler has a runtime here."""
    probe = [compiler, "-fopenmp", "-x", "c", "-", "-o", os.devnull]
    text = "int main(void) {\n#pragma omp parallel\n;\nreturn 0; }\n"
    return shutil.which(compiler) is not None and subprocess.run(probe, input=text, text=True, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def openmp(compiled: Callable[..., Path]) -> Callable[..., Path]:
    """openmp(source, compiler) is the program, if that compiler has a runtime here."""

    def compile_it(source: str, compiler: str, *flags: str) -> Path:
        if compiler != "gfortran" and not has_openmp(compiler):
            pytest.skip(f"this system has no OpenMP by {compiler}")
        return compiled(source, "-O2", "-fopenmp", *flags, compiler=compiler)

    return compile_it


def rows_of(recorded: Recorded) -> dict[str, RegionRow]:
    return {row.function.name.removesuffix(REGION_MARK): row for row in regions(recorded.profile, read_categories())}


def paths_of(recorded: Recorded, names: set[str]) -> set[str]:
    """What of those functions, and of regions, stands on each stack with `labour`, callers first."""
    profile = load_plain(recorded.path)
    functions = [profile.functions[frame.function].name for frame in profile.frames]
    stacks = [[functions[frame] for frame in stack.frames] for stack in profile.samples.stacks]
    return {" ".join(name for name in stack if name in names or name.endswith(REGION_MARK)) for stack in stacks if "labour" in stack}


def judge_ns(what: str, measured_ns: float, true_ns: float) -> None:
    """Four standard errors, and what is systematic."""
    allowed_ns = 4 * sqrt(max(true_ns, PERIOD_NS) * PERIOD_NS) + 0.02 * true_ns + 2e6
    judge(abs(measured_ns - true_ns) <= allowed_ns, f"{what}: {measured_ns / 1e6:.2f} ms in samples, {true_ns / 1e6:.2f} true, {allowed_ns / 1e6:.2f} allowed")


def judge_regions(rows: Mapping[str, RegionRow], truth: Mapping[str, int]) -> None:
    """Work and imbalance of the regions that have a planted one, and the waiting at the barrier."""
    for name in ("uneven", "meets"):
        row, work = rows[name], [truth[f"{name}.{thread}"] for thread in range(2)]
        judge_ns(f"work of {name}", (row.inclusive[0] - row.wait[0] - row.overhead[0]) * 1e9, sum(work))
        true, allowed = max(work) * 2 / sum(work) - 1, 8 * sqrt(0.25 / (sum(work) / PERIOD_NS)) + 0.02
        judge(abs(row.imbalance - true) <= allowed, f"imbalance of {name}: {row.imbalance:.3f}, {true:.3f} true, {allowed:.3f} allowed")
    waited_ns = (rows["meets"].wait[0] + rows["meets"].overhead[0]) * 1e9
    judge(waited_ns >= truth["barrier"] - 4 * sqrt(truth["barrier"] * PERIOD_NS) - 2e6, f"{waited_ns / 1e6:.2f} ms of waiting, {truth['barrier'] / 1e6:.2f} booked")


@pytest.mark.parametrize("policy", ["active", "passive"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_regions_tell_what_was_planted(openmp: Callable[..., Path], record: Callable[..., Recorded], compiler: str, policy: str) -> None:
    recorded = record([openmp("openmp_regions.c", compiler), 60], environment={**ACTIVE, "OMP_WAIT_POLICY": policy})
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    rows, truth = rows_of(recorded), recorded.outcome.truth
    assert {name: row.thread_count for name, row in rows.items()} == {"uneven": 2, "meets": 2, "outer": 2, "inner": 4, "hands_out": 2}
    assert paths_of(recorded, {"main", *rows, "labour"}) == {
        "main labour", "main outer outer [parallel] inner inner [parallel] labour",
        *(f"main {name} {name} [parallel] labour" for name in ("uneven", "meets", "outer", "hands_out")),
    }  # fmt: skip
    judge_stacks(recorded, 1.0)
    judge_regions(rows, truth)
    judge_ns("labour", recorded.inclusive_ns("labour"), sum(ns for name, ns in truth.items() if name != "barrier"))


def test_a_region_in_fortran(openmp: Callable[..., Path], record: Callable[..., Recorded]) -> None:
    if not shutil.which("gfortran"):
        pytest.skip("this system has no gfortran")
    recorded = record([openmp("openmp_planted.f90", "gfortran")], environment=ACTIVE)
    (row,) = rows_of(recorded).values()
    allowed = 8 * sqrt(0.25 / recorded.sample_count) + 0.03
    assert row.thread_count == 2
    judge(abs(row.imbalance - 1 / 3) <= allowed, f"imbalance {row.imbalance:.3f}, 0.333 true, {allowed:.3f} allowed")
    assert paths_of(recorded, {"planted", "solve", "labour"}) == {"planted solve solve [parallel] labour"}


GAMES = {
    "fork": ({"main forks forks [parallel] labour", "main forks labour", "labour"}, "forks"),
    "jump": ({"main jumps left left [parallel] labour", "main jumps after labour", "main region region [parallel] labour"}, ""),
    "jump_inside": ({"main jumps_inside jumps_inside [parallel] labour", "main jumps_inside labour", "labour"}, "jumps_inside"),
    "openers": ({"region region [parallel] labour"}, ""),
    "arguments": ({"main arguments arguments [parallel] labour"}, ""),
    "kinds": ({"main kinds kinds [parallel] labour"}, ""),
    "exits": ({"main exits exits [parallel] labour"}, ""),
}
"""What stands on stacks with `labour`, and the function whose regions are not always known to be open."""


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_game_makes_a_wrong_stack(openmp: Callable[..., Path], unharmed: Callable[..., Recorded], compiler: str, game: str) -> None:
    recorded = unharmed([openmp("openmp_games.c", compiler), game])
    allowed, uncertain = GAMES[game]
    found = paths_of(recorded, {word for path in allowed for word in path.split()})
    assert found <= allowed
    assert uncertain or found == allowed
    judge_stacks(recorded, 1.0)


def test_libraries_that_bring_their_own_runtime(openmp: Callable[..., Path], unharmed: Callable[..., Recorded], tmp_path: Path) -> None:
    """Two runtimes in a program that has none: each library reaches its own."""
    libraries = [openmp("openmp_planted_library.c", compiler, "-shared", "-fPIC") for compiler in COMPILERS]
    host = tmp_path / "host"
    subprocess.run(["gcc", "-g", "-O1", TARGETS / "openmp_host.c", "-o", host, "-ldl"], check=True)
    recorded = unharmed([host, *libraries])
    assert recorded.outcome.stdout == "2 threads\n2 threads\n"
    rows = regions(recorded.profile, read_categories())
    assert sorted((row.module.path, row.thread_count) for row in rows) == sorted((str(library), 2) for library in libraries)


MPIS = ("openmpi", "mpich")


@pytest.mark.parametrize("mpi", MPIS)
def test_time_in_mpi_by_call_and_caller(compiled: Callable[..., Path], record: Callable[..., Recorded], mpi: str) -> None:
    compiler, launcher = f"mpicc.{mpi}", f"mpirun.{mpi}"
    if not shutil.which(compiler) or not shutil.which(launcher):
        pytest.skip(f"this system has no {mpi}")
    program = compiled("mpi_calls.c", "-O2", compiler=compiler)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    command = [launcher, "-n", "2", program, 60]
    recorded = record(command, environment=root)
    if recorded.outcome.status != 0 and execute(command, root).status != 0:
        pytest.skip(f"this system has no {mpi} that can start two processes")
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    truth, found = recorded.outcome.truth, {}
    for row in category_calls(recorded.profile, read_categories(), "MPI"):
        found[row.function.name.removeprefix("P"), row.caller and row.caller.name] = row.values[0] * 1e9
    for call, caller in (("MPI_Allreduce", "add_up"), ("MPI_Barrier", "meet")):
        judge_ns(f"{call} in {caller}", found.get((call, caller), 0.0), truth[f"{caller}.0"] + truth[f"{caller}.1"])
