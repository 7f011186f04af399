"""test_programs -- real programs that nobody here wrote: nothing changes for them, and all of their time is there

Recorded through the launcher for output and status, and by the preload alone for the sum: then the CPU time of
all children is the program's own tree, and nothing of the launcher's.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from recorded import IS_THOROUGH, RUNGS, Recorded, clean_environment, execute, judge, judge_stacks, judge_total, with_clocks


@dataclass(frozen=True, slots=True)
class Program:
    """A command; `needs` the programs it is made of; `is_steady` if its output is the same each time; `complete_share` of its stacks at least."""

    command: tuple[str, ...]
    needs: tuple[str, ...]
    is_steady: bool = True
    complete_share: float = 0.995


SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000) insert into t select i, hex(i * 7919) from n;
create index byb on t(b);
select count(*), sum(length(b)), max(b) from t where b like '%3%';
"""
PERL = """
my %seen; my $line = 0;
for my $n (1 .. 300000) { my $w = sprintf("%x", $n * 2654435761 % 4294967291); $seen{substr($w, 0, 3)}++ if $w =~ /^[0-9]+[a-f]/; }
print join(",", map { "$_=$seen{$_}" } (sort keys %seen)[0 .. 9]), "\\n";
"""
PYTHON = """
import json, re
text = json.dumps([{"n": i, "s": str(i) * 3} for i in range(60000)])
print(len(re.findall(r"9+\\d", text)), sum(len(x["s"]) for x in json.loads(text)))
"""
NODE = "let m = new Map(); for (let i = 0; i < 4e6; i++) m.set(i % 5003, (m.get(i % 5003) || 0) + i); console.log(m.get(7));"
JAVA = """
public class Sum { public static void main(String[] a) { long s = 0; for (long i = 0; i < 100000000L; i++) s += i * i ^ (i >> 3); System.out.println(s); } }
"""
TEMPLATES = "#include <map>\n#include <string>\n#include <vector>\n#include <functional>\n" + "".join(
    f"struct S{i} {{ int v; bool operator<(const S{i} &o) const {{ return v < o.v; }} }};\n"
    f"int f{i}(int n) {{ std::map<S{i}, std::vector<std::string>> m; for (int k = 0; k < n; k++) m[S{i}{{k}}].push_back(std::to_string(k)); return (int)m.size(); }}\n"
    for i in range(2)
) + "int main() { return f0(3) + f1(4); }\n"

PROGRAMS = {
    "xz": Program(("xz", "-T1", "-4", "-c", "{data}"), ("xz",)),
    "xz-threads": Program(("xz", "-T3", "-4", "--block-size=256KiB", "-c", "{data}"), ("xz",)),
    "sqlite3": Program(("sqlite3", ":memory:", SQL), ("sqlite3",)),
    "perl": Program(("perl", "-e", PERL), ("perl",)),
    "g++": Program(("g++", "-O2", "-c", "templates.cc", "-o", "templates.o"), ("g++",)),
    "openssl": Program(("openssl", "speed", "-multi", "2", "-seconds", "1", "-bytes", "1024", "sha256"), ("openssl",), is_steady=False),
    "pigz": Program(("pigz", "-p", "3", "-9", "-n", "-c", "{data}"), ("pigz",)),
    "python3": Program((sys.executable, "-c", PYTHON), ()),
    "fortran": Program(("{fortran}",), ("gfortran",), is_steady=False),
    "git": Program(("git", "-C", "{repository}", "gc", "--aggressive", "--prune=now", "--quiet"), ("git",)),
    "node": Program(("node", "-e", NODE), ("node",), complete_share=0.99),
    "java": Program(("java", "-Xshare:auto", "Sum.java"), ("java", "javac"), complete_share=0.97),
    "bash": Program(("bash", "-c", "s=0; for ((i = 0; i < 20000; i++)); do ((s += i % 7)); done; echo $s; seq 30000 | sort -R --random-source=/dev/zero | sort -n | tail -n 1"), ("bash", "sort")),
    "make": Program(("make", "-s", "-j2", "-B", "-f", "Makefile.parts"), ("make", "gcc")),
}


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory, compiled: Callable[..., Path]) -> Callable[[str], str]:
    """A directory with what the programs work on; material("data") is the path or text that stands for {data}."""
    place = tmp_path_factory.mktemp("material")
    (place / "data").write_bytes(text_of(3 << 18))
    (place / "templates.cc").write_text(TEMPLATES)
    (place / "Sum.java").write_text(JAVA)
    parts = [f"part{i}" for i in range(6)]
    for part in parts:
        (place / f"{part}.c").write_text(f"#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint {part}(void) {{ return 0; }}\n")
    rules = "".join(f"{part}.o: {part}.c\n\tgcc -O2 -c {part}.c -o {part}.o\n" for part in parts)
    (place / "Makefile.parts").write_text(f"all: {' '.join(part + '.o' for part in parts)}\n\t@echo made\n{rules}")

    def of(name: str) -> str:
        if name == "fortran":
            return str(compiled("fortran_libm.f90", "-O3", "-fno-inline", "-fno-ipa-cp"))
        if name == "repository" and not (place / "repository").exists():
            make_repository(place / "repository")
        return str(place / name) if name else str(place)

    return of


def text_of(byte_count: int) -> bytes:
    """Text that compresses about as well as prose; the same each time."""
    random = Random(7)
    words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(4000)]
    return " ".join(words[int(random.paretovariate(0.7)) % 4000] for _ in range(byte_count // 6)).encode()[:byte_count]


def make_repository(place: Path) -> None:
    """A repository with enough history for git to have work."""
    place.mkdir()
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "n"), ("EMAIL", "e@example.com"))}
    script = (
        "git init -q . && for i in $(seq 1 20); do seq $i 37 60000 > a; seq $i 41 60000 | rev > b; git add -A; git commit -q -m $i; done"
    )
    done = execute(["bash", "-c", script], identity, place)
    assert done.status == 0, done.stderr


def prepare(program: Program, material: Callable[[str], str]) -> tuple[list[str], Path]:
    """The command with its paths in place, and the directory to run it in."""
    for name in program.needs:
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed")
    words = [word if not (word.startswith("{") and word.endswith("}")) else material(word[1:-1]) for word in program.command]
    return words, Path(material(""))


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_status_and_stacks(record: Callable[..., Recorded], material: Callable[[str], str], name: str) -> None:
    program = PROGRAMS[name]
    words, place = prepare(program, material)
    recorded = record(words, directory_to_run_in=place)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    if program.is_steady:
        expected = execute(words, directory=place)
        assert (recorded.outcome.stdout, recorded.outcome.own_stderr, recorded.outcome.status) == (expected.stdout, expected.stderr, expected.status)
    judge(recorded.sample_count >= 50, f"{recorded.sample_count} samples")
    judge_stacks(recorded, program.complete_share)
    assert recorded.lost_count == 0


OTHER_RUNGS = [pair for pair in with_clocks(["xz", "xz-threads", "sqlite3", "perl", "g++", "openssl", "pigz", "python3", "fortran"]) if pair[1] != RUNGS[0]]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if IS_THOROUGH or name not in dict(OTHER_RUNGS)])
def test_all_its_time_is_there(record: Callable[..., Recorded], material: Callable[[str], str], name: str) -> None:
    """The sum of all samples of the whole tree against the kernel's account of it; of those of test_other_rungs in a thorough run only."""
    words, place = prepare(PROGRAMS[name], material)
    judge_sum(record(words, directory_to_run_in=place, direct=True))


def judge_sum(recorded: Recorded) -> None:
    """Assert that samples stand for all that the logs account for, and that this is what the kernel accounts for the tree.

    The dynamic linker works before any library can, and the kernel after the last one, where it frees the memory: no
    sample can stand for that. The logs say how much was used before; behind them it was at most 1.5 % and 1.1 ms an image.
    """
    used_ns, image_count = recorded.outcome.usage_ns, len(recorded.profile.processes)
    behind_ns = used_ns - recorded.unrecorded_ns - recorded.logged_ns
    text = f"{used_ns / 1e6:.1f} ms used in {image_count} process images, {recorded.unrecorded_ns / 1e6:.1f} of it before and {behind_ns / 1e6:.1f} behind the logs"
    judge_total(recorded, recorded.logged_ns, slack_ns=2e6 + 0.5e6 * image_count)
    judge(-0.01 * used_ns <= behind_ns <= 0.03 * used_ns + 2.5e6 * image_count, text)


@pytest.mark.parametrize(("name", "clock"), OTHER_RUNGS)
def test_other_rungs(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], material: Callable[[str], str], name: str, clock: str
) -> None:
    rung_works(clock)
    words, place = prepare(PROGRAMS[name], material)
    recorded = record(words, directory_to_run_in=place, direct=True, clock=clock)
    assert recorded.outcome.status == 0
    assert recorded.clocks == {clock}
    judge_stacks(recorded, PROGRAMS[name].complete_share)
    judge_sum(recorded)


def test_environment_is_clean() -> None:
    """What these tests compare with is a run without a recorder."""
    assert not {name for name in clean_environment() if name.startswith("COLLECTOR_") and name != "COLLECTOR_LIBRARY"} - {"COLLECTOR_TEST_THOROUGH"}
    assert "LD_PRELOAD" not in clean_environment() and os.path.isabs(sys.executable)
