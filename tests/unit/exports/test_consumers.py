"""test_consumers -- exports opened by the programs that they are made for, as far as those can be had here"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import read_back
from read_back import Stacks
from test_export_formats import FORMATS, HOSTILE, expected, renamed, small
from tiny_profile import PROCESS, THREAD, build_profile

from collector.exports.arrow_dataset import write_dataset
from collector.exports.arrow_table import arrow, parquet
from collector.exports.callgrind import callgrind
from collector.exports.folded import folded
from collector.printable import printable
from collector.profile import aggregate
from collector.profile.model import Profile
from collector.profile.over_ranks import spreads

HERE = Path(__file__).parent
VENV = HERE.parents[2] / ".venv"
SPEEDSCOPE = VENV / "speedscope/package/dist/release"


@pytest.fixture(params=["", HOSTILE], ids=["plain", "hostile"])
def profile(request: pytest.FixtureRequest) -> Profile:
    """The profile with one of everything, and the same with hostile names."""
    return renamed(small(), request.param)


def program(name: str) -> str:
    """Where it is; the test is skipped where it is not."""
    found = shutil.which(name, path=f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if not found:
        pytest.skip(f"this system has no {name}")
    return found


def run(*command: object, **more: Any) -> str:
    """What a program prints; that it fails is a failure of the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=120, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(tmp_path: Path, name: str, profile: Profile) -> Path:
    """The profile in a format."""
    path = tmp_path / f"out.{name}"
    path.write_bytes(b"".join(FORMATS[name][0](profile)))
    return path


class TestSpeedscope:
    """Its own importer, out of its npm package."""

    @staticmethod
    def read(path: Path) -> list[dict[str, Any]]:
        if not SPEEDSCOPE.is_dir():
            pytest.skip("this system has no speedscope: tests/run gets it by npm")
        found: list[dict[str, Any]] = json.loads(run(program("node"), HERE / "speedscope_import.cjs", SPEEDSCOPE, path).splitlines()[-1])[0]
        return found

    @staticmethod
    def stacks(profiles: list[dict[str, Any]]) -> Stacks:
        sums: Stacks = Counter()
        for profile in profiles:
            for stack, weight in profile["stacks"]:
                sums[tuple(stack)] += round(weight)
        return sums

    def test_its_own_format(self, profile: Profile, tmp_path: Path) -> None:
        profiles = self.read(written(tmp_path, "speedscope", profile))
        assert [one["unit"] for one in profiles] == ["nanoseconds"] * 3
        assert self.stacks(profiles) == read_back.speedscope((tmp_path / "out.speedscope").read_bytes())

    def test_folded(self, profile: Profile, tmp_path: Path) -> None:
        found = self.stacks(self.read(written(tmp_path, "folded", profile)))
        assert {stack: weight * 1000 for stack, weight in found.items()} == read_back.folded((tmp_path / "out.folded").read_bytes())

    def test_pprof(self, profile: Profile, tmp_path: Path) -> None:
        """Of inlined calls it shows what they were inlined into, so only the weights are held against ours."""
        (found,) = self.read(written(tmp_path, "pprof", profile))
        assert (found["unit"], found["total"]) == ("nanoseconds", read_back.pprof((tmp_path / "out.pprof").read_bytes()).total())

    def test_perf_script(self, profile: Profile, tmp_path: Path) -> None:
        """It weighs samples by the time between them, so only the stacks are held against ours."""
        profiles = self.read(written(tmp_path, "perf-script", profile))
        frames = {name for one in profiles for stack, _ in one["stacks"] for name in stack}
        assert len(profiles) == 3 and frames <= {name for stack in expected(profile, False)[0] for name in stack}

    def test_chrome(self, tmp_path: Path) -> None:
        """It cannot tell neighbours of one name apart, as in recursion, so here are none."""
        samples = [("main;work;read", 1, 0), ("main;other", 0.5, 0.25), ("main;work;write", 2, 0), ("main", 1, 0, {"at": 12})]
        path = tmp_path / "out.trace"
        path.write_bytes(b"".join(FORMATS["chrome"][0](build_profile(samples))))
        stacks = {tuple(stack): weight for one in self.read(path) for stack, weight in one["stacks"] if stack}
        assert stacks == {("main", "work", "read"): 1e6, ("main", "other"): 0.75e6, ("main", "work", "write"): 2e6, ("main",): 1e6}

    def test_callgrind(self, profile: Profile, tmp_path: Path) -> None:
        path = tmp_path / "callgrind.out.1"
        path.write_bytes(b"".join(callgrind(profile)))
        profiles = self.read(path)
        total = sum(own for own, _ in read_back.callgrind(path.read_bytes()).values())
        assert [one["name"].rpartition(" ")[2] for one in profiles] == ["cpu", "user", "system", "samples"]
        assert profiles[0]["total"] == total


class TestInferno:
    """In the words of perf, and by lines."""

    @staticmethod
    def flamegraph(tmp_path: Path, text: Path, after: str) -> None:
        """Make a flame graph: the program is given a perf that prints a text, and a shell command for its collapsed stacks."""
        found = program("flamegraph")
        for name, command in (("perf", f"cat {text}"), ("after", after)):
            script = tmp_path / "bin" / name
            script.parent.mkdir(exist_ok=True)
            script.write_text(f"#!/bin/sh\n{command}\n")
            script.chmod(0o755)
        (tmp_path / "perf.data").touch()
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        run(found, "--perfdata", "perf.data", "-o", "out.svg", "--post-process", "after", cwd=tmp_path, env={**os.environ, "PATH": path})

    def collapsed(self, tmp_path: Path, text: Path) -> Stacks:
        """What inferno-collapse-perf makes of a text of `perf script`."""
        self.flamegraph(tmp_path, text, "tee collapsed")
        stacks: Stacks = Counter()
        for line in (tmp_path / "collapsed").read_text().splitlines():
            names, _, number = line.rpartition(" ")
            stacks[tuple(names.split(";")[1:])] += int(number)  # the first is the thread
        return stacks

    def test_perf_script(self, tmp_path: Path) -> None:
        profile = small()._replace(threads=tuple(thread._replace(name="worker") for thread in small().threads))  # it ends a name at a semicolon
        found = self.collapsed(tmp_path, written(tmp_path, "perf-script", profile))
        assert found == read_back.perf_script((tmp_path / "out.perf-script").read_bytes())

    def test_no_function_is_left_out(self, tmp_path: Path) -> None:
        """Unless it gets another first letter, `(interpreter)` is, and with it the time of a stack that has nothing else."""
        profile = build_profile([("(interpreter)", 1, 0), ("main;(anonymous namespace)::f(int)", 2, 0)])
        found = self.collapsed(tmp_path, written(tmp_path, "perf-script", profile))
        assert found == {("[interpreter]",): 10**9, ("main", "[anonymous namespace]::f"): 2 * 10**9}

    def test_perf_script_with_hostile_names(self, tmp_path: Path) -> None:
        profile = renamed(small(), HOSTILE)
        found = self.collapsed(tmp_path, written(tmp_path, "perf-script", profile))
        assert found.total() == read_back.perf_script((tmp_path / "out.perf-script").read_bytes()).total()

    def test_a_flame_graph_of_folded_stacks(self, profile: Profile, tmp_path: Path) -> None:
        text = written(tmp_path, "folded", profile)
        self.flamegraph(tmp_path, written(tmp_path, "perf-script", profile), f"cat >/dev/null; cat {text}")
        total = sum(int(line.rpartition(b" ")[2]) for line in folded(profile))
        assert f'total_samples="{total}"' in (tmp_path / "out.svg").read_text()


class TestCallgrindAnnotate:
    """Valgrind's own."""

    def test_exclusive_and_inclusive_times(self, profile: Profile, tmp_path: Path) -> None:
        path = tmp_path / "callgrind.out.1"
        path.write_bytes(b"".join(callgrind(profile)))
        for is_inclusive in (False, True):
            words = (f"--inclusive={'yes' if is_inclusive else 'no'}", "--threshold=100", "--auto=no", "--show=cpu")
            text = run(program("callgrind_annotate"), *words, path)
            found = dict(_costs(text))
            for row in aggregate.functions(profile):
                time_ns = round((row.inclusive if is_inclusive else row.exclusive)[0] * 1e9)
                name = printable(row.function.name)
                assert found.get(name, 0) == time_ns, text


def _costs(text: str) -> Iterator[tuple[str, int]]:
    """The functions in what callgrind_annotate prints: `1,000 (10.0%)  file:function [object]`."""
    for line in text.splitlines():
        number, _, rest = line.strip().partition(" (")
        name, bracket, _ = rest.partition("%)  ")[2].rpartition(" [")
        if bracket and number.replace(",", "").isdigit():
            yield name.partition(":")[2], int(number.replace(",", ""))


class TestGoToolPprof:
    """Go's, where it is installed."""

    def test_exclusive_and_inclusive_times(self, profile: Profile, tmp_path: Path) -> None:
        go = program("go")
        path = written(tmp_path, "pprof", profile)
        text = run(go, "tool", "pprof", "-raw", path, env={**os.environ, "HOME": str(tmp_path)})
        assert "PeriodType: cpu nanoseconds" in text and "samples/count user/nanoseconds system/nanoseconds cpu/nanoseconds[dflt]" in text
        figures = [line.partition(":")[0].split() for line in text.partition("[dflt]\n")[2].partition("Locations")[0].splitlines() if ":" in line]
        cpu = [int(words[3]) for words in figures if len(words) == 4 and words[0].isdigit()]
        assert sum(cpu) == read_back.pprof(path.read_bytes()).total()


class TestTables:
    """pyarrow and DuckDB."""

    @pytest.mark.parametrize("write", [parquet, arrow])
    def test_arrow_reads_every_row(self, write: Any, profile: Profile, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow", reason="this system has no pyarrow")
        from pyarrow import feather, parquet as parquet_reader

        path = tmp_path / "out"
        path.write_bytes(b"".join(write(profile)))
        rows = (parquet_reader.read_table(path) if write is parquet else feather.read_table(path)).to_pylist()
        stacks: Stacks = Counter()
        for row in rows:
            stacks[tuple(row["stack"])] += round(row["user"] * 1e9) + round(row["system"] * 1e9)
            assert row["function"] == row["stack"][-1] and len(row["lines"]) == len(row["stack"])
            assert row["lines"][-1] == (f"{row['file']}:{row['line']}" if row["line"] else row["file"])
        times, _ = expected(profile, False)
        assert stacks.keys() == times.keys() and abs(stacks.total() - times.total()) <= 1
        assert {(row["pid"], row["tid"]) for row in rows} == {(100, 100), (100, 102), (101, 101)}
        assert [row["finished"] for row in rows].count(False) == 1

    def test_duckdb_asks_for_sums(self, profile: Profile, tmp_path: Path) -> None:
        for package in ("duckdb", "pyarrow"):
            if not find_spec(package):
                pytest.skip(f"this system has no {package}")
        for name, pieces in (("out.parquet", parquet(profile)), ("out.csv", FORMATS["csv"][0](profile)), ("out.json", FORMATS["json"][0](profile))):
            (tmp_path / name).write_bytes(b"".join(pieces))
        total = aggregate.total_values(profile)[0]
        rows = "(select unnest(rows, recursive := true) from 'out.json')"
        for source in ("'out.parquet'", "'out.csv'", rows):
            assert duckdb(tmp_path, f"select count(*), sum(cpu) from {source}") == [[6, pytest.approx(total, abs=2e-9)]]
        found = dict(duckdb(tmp_path, "select function, sum(cpu) from 'out.parquet' group by function"))
        for row in aggregate.functions(profile):
            assert found.get(printable(row.function.name), 0) == pytest.approx(row.exclusive[0], abs=1e-8)
        inclusive = dict(duckdb(tmp_path, "select name, sum(cpu) from (select cpu, unnest(list_distinct(stack)) as name from 'out.parquet') group by name"))
        for row in aggregate.functions(profile):
            assert inclusive[printable(row.function.name)] == pytest.approx(row.inclusive[0], abs=1e-8)


def duckdb(directory: Path, query: str) -> list[list[Any]]:
    """The rows that a query gives, asked in a process of its own."""
    code = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))"
    rows: list[list[Any]] = json.loads(run(sys.executable, "-c", code, query, cwd=directory))
    return rows


class TestDataset:
    """A parallel job as a directory of Parquet files, and the queries of its page."""

    @pytest.fixture
    def job(self, tmp_path: Path) -> Profile:
        for package in ("duckdb", "pyarrow"):
            if not find_spec(package):
                pytest.skip(f"this system has no {package}")
        processes = [PROCESS._replace(pid=99), *(PROCESS._replace(pid=200 + rank, rank=rank, node=f"n/{rank // 2}") for rank in range(4))]
        threads = [THREAD._replace(process=number, tid=process.pid) for number, process in enumerate(processes)]
        samples = [("mpirun", 7, 0, {"thread": 0})]
        samples += [(f"main;{'solve;' * (rank % 2)}step:{rank % 2}", 1 + rank, 0, {"thread": 1 + rank}) for rank in range(4) for _ in range(3)]
        profile = build_profile(samples, processes=processes, threads=threads)
        write_dataset(profile, str(tmp_path / "job"))
        return profile

    def test_nothing_is_lost(self, job: Profile, tmp_path: Path) -> None:
        total = aggregate.total_values(job)[0]
        assert duckdb(tmp_path, "select count(*), sum(cpu) from 'job/samples/**/*.parquet'") == [[13, pytest.approx(total, abs=2e-8)]]
        stacks = "select stack, frames from 'job/stacks/**/*.parquet'"
        assert duckdb(tmp_path, f"select count(*), count(distinct stack) from ({stacks})") == [[3, 3]]
        leaves = f"select count(*) from 'job/samples/**/*.parquet' join ({stacks}) using (stack) where frames[-1] = frame"
        assert duckdb(tmp_path, leaves) == [[13]]
        assert duckdb(tmp_path, "select name, tid, pid, rank from 'job/threads.parquet' join 'job/processes.parquet' using (process) where rank = 2") == [["test", 202, 202, 2]]

    def test_worked_queries(self, job: Profile, tmp_path: Path) -> None:
        """They are taken from the page."""
        page = (Path(__file__).resolve().parents[3] / "docs/commands/export.md").read_text()
        excess, share, busy = (duckdb(tmp_path, query) for query in re.findall(r"```sql\n(.*?)```", page, re.DOTALL))
        rows = {row.function.name: row for row in spreads(job, "rank") if row.function}
        step = rows["step"].exclusive
        assert [excess[0][0], *excess[0][3:4]] == ["step", step.max_at]
        assert [excess[0][1], excess[0][2], excess[0][4]] == pytest.approx([step.mean, step.max, step.excess], rel=1e-6)
        assert dict(share) == pytest.approx({"n/0": 2 / 3, "n/1": 4 / 7}, rel=1e-6)
        assert sum(row[2] for row in busy) == pytest.approx(30, rel=1e-6) and {row[0] for row in busy} == {"n/0", "n/1"}

    def test_numbers_are_the_same_in_other_datasets(self, job: Profile, tmp_path: Path) -> None:
        other = build_profile([("main;step:0", 1, 0)])
        write_dataset(other, str(tmp_path / "other"))
        both = "select count(*) from 'job/stacks/**/*.parquet' join 'other/stacks/**/*.parquet' using (stack)"
        assert duckdb(tmp_path, both) == [[1]]

    def test_a_directory_that_is_there_stays_as_it_is(self, job: Profile, tmp_path: Path) -> None:
        with pytest.raises(FileExistsError):
            write_dataset(job, str(tmp_path / "job"))
