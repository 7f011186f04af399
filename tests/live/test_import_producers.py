"""test_import_producers -- profiles by perf, valgrind and our own fold of them, imported: their figures are ours

What the producers themselves report of their files decides.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from collector.cli.main import main
from collector.load import load
from collector.profile import aggregate
from collector.profile.model import Profile

_SOURCE = """
#include <pthread.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) double inner(double x) { double s = 0; for (int i = 0; i < 200; i++) s += x / (i + 1.0); return s; }
__attribute__((noinline)) double leaf(int n) { double s = 0; for (int i = 0; i < n; i++) s += inner(i); return s; }
__attribute__((noinline)) double descend(int depth, int n) { if (!depth) return leaf(n); double r = descend(depth - 1, n); return r + 1; }
static void *work(void *count) { volatile double x = descend(5, atoi(count) / 2) + 1; (void)x; return 0; }
int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, 0, work, argv[1]);
    volatile double x = descend(3, atoi(argv[1]));
    pthread_join(thread, 0);
    return (int)x & 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("producers")
    source, target = directory / "burn.c", directory / "burn"
    source.write_text(_SOURCE)
    subprocess.run(["cc", "-O2", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", source, "-o", target, "-lpthread"], check=True)
    return target


def imported(file: Path, *options: str) -> Profile:
    target = file.with_suffix(".expt")
    assert main(["import", str(file), "-O", str(target), *options]) == 0
    return load([target])


def run(*words: str | Path) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def recorded(program: Path) -> Path:
    if not shutil.which("perf"):
        pytest.skip("this system has no perf")
    data = program.with_name("perf.data")
    done = subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "2000", "-o", data, program, "60000"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this system does not let perf record: {done.stderr.strip()[:200]}")
    return data


@pytest.mark.parametrize("fields", ["", "+pid", "+pid,+srcline"])
def test_perf_script(recorded: Path, tmp_path: Path, fields: str) -> None:
    text = tmp_path / "script.txt"
    text.write_text(run("perf", "script", "-i", recorded, *(["-F", fields] if fields else [])))
    profile = imported(text)
    report = run("perf", "report", "-i", recorded, "--no-children", "--no-inline", "--stdio", "-g", "none", "--sort", "sym,dso", "-n", "-F", "sample,period,sym,dso", "-t", "\t")
    theirs = Counter[str]()
    for line in report.splitlines():
        match = re.match(r"\s*(\d+)\s*\t\s*(\d+)\s*\t\[.\] (.*?)\s*\t", line)
        if match and "[.]" in line:
            theirs[match[3]] += int(match[2])
    ours = Counter[str]()
    for row in aggregate.functions(profile):
        ours[row.function.name] += round(row.exclusive[0] * 1e9)
    own = {name: theirs[name] for name in ("leaf", "descend", "main", "work") if name in theirs}
    assert own and own["leaf"] > 0
    assert {"leaf": ours["leaf"] + ours["inner"]} | {name: ours[name] for name in own if name != "leaf"} == own
    periods = [int(match) for match in re.findall(r"(\d+) cpu-clock", text.read_text())]
    assert round(aggregate.total_values(profile)[0] * 1e9) == sum(periods)
    assert len({thread.tid for thread in profile.threads}) == 2
    assert len({process.pid for process in profile.processes}) == 1
    if "srcline" in fields:
        files = {frame.file.rpartition("/")[2] for frame in profile.frames if frame.file}
        assert "burn.c" in files


def test_folded_of_perf_script(recorded: Path, tmp_path: Path) -> None:
    script = run("perf", "script", "-i", recorded)
    stacks, frames = Counter[str](), list[str]()
    for line in [*script.splitlines(), ""]:
        if line.startswith("\t"):
            frames.append(re.sub(r"\+0x[0-9a-f]+$", "", line.split(None, 1)[1].rpartition(" (")[0]))
        elif not line and frames:
            stacks[";".join(reversed(frames))] += 1
            frames = []
    folded = tmp_path / "stacks.folded"
    folded.write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))
    profile = imported(folded)
    text = tmp_path / "script.txt"
    text.write_text(script)
    counts = {row.function.name: row.inclusive[3] for row in aggregate.functions(imported(text))}
    assert {row.function.name: row.inclusive[3] for row in aggregate.functions(profile)} == counts


@pytest.mark.parametrize("options", [(), ("--dump-instr=yes",), ("--separate-threads=yes",)])
def test_callgrind(program: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    if not shutil.which("valgrind"):
        pytest.skip("this system has no valgrind")
    out = tmp_path / "callgrind.out"
    run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *options, program, "300")
    file = max(tmp_path.glob("callgrind.out*"), key=lambda path: path.stat().st_size)
    profile = imported(file)
    annotated = run("callgrind_annotate", "--threshold=100", "--auto=no", file)
    total = re.search(r"^\s*([\d,]+)(?: \(100.0%\))?\s+PROGRAM TOTALS", annotated, re.M)
    assert total and round(aggregate.total_values(profile)[0] * 1e9) == int(total[1].replace(",", ""))
    theirs = Counter[str]()
    for cost, name in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*:(\S+?)(?: \[.*)?$", annotated, re.M):
        theirs[name] += int(cost.replace(",", ""))
    ours = Counter[str]()
    for row in aggregate.functions(profile):
        ours[row.function.name] += round(row.exclusive[0] * 1e9)
    assert theirs["leaf"] > 10_000
    assert {name: ours[name] for name in theirs} == theirs
    assert round(max(row.inclusive[0] for row in aggregate.functions(profile)) * 1e9) >= theirs["leaf"]


def test_go_tool_pprof_says_the_same(tmp_path: Path) -> None:
    if not shutil.which("go"):
        pytest.skip("this system has no go")
    stored = Path(__file__).parents[1] / "unit/importing/profiles/go_cpu.pb.gz"
    file = tmp_path / "go.pb.gz"
    file.write_bytes(stored.read_bytes())
    top = run("go", "tool", "pprof", "-top", "-unit=ns", "-nodefraction=0", file)
    theirs = {name: (int(flat), int(whole)) for flat, whole, name in re.findall(r"^\s*(\d+)(?:ns)?\s+\S+\s+\S+\s+(\d+)(?:ns)?\s+\S+\s+(\S+)$", top, re.M)}
    target = tmp_path / "go.expt"
    assert main(["import", str(file), "-o", str(target)]) == 0
    ours = {row.function.name: (round(row.exclusive[0] * 1e9), round(row.inclusive[0] * 1e9)) for row in aggregate.functions(load([target]))}
    assert theirs and ours == theirs
