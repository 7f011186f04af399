"""programs -- the loads that experiments record: each about a second of CPU time, made ready in a scratch directory"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from measure import SOURCES, TARGETS, Bench, CannotMeasure, run
from peers import install


@dataclass(frozen=True, slots=True)
class Load:
    """A command to record, and what it is like."""

    name: str
    command: tuple[object, ...]
    environment: dict[str, str] = field(default_factory=dict)


def _tight_loop(bench: Bench) -> Load:
    return Load("tight loop", (bench.compile(SOURCES / "tight_loop.c"), bench.choose(700, 2000)))


def _xz(bench: Bench) -> Load:
    words = random.Random(1).choices([f"{number * 7919:x}" for number in range(4000)], k=700_000)
    corpus = bench.scratch / "corpus.txt"
    corpus.write_text(" ".join(words))
    return Load("xz", ("xz", "-T1", "-5", "-k", "-c", corpus))


def _sqlite(bench: Bench) -> Load:
    script = bench.scratch / "load.sql"
    text = (SOURCES / "load.sql").read_text()
    script.write_text("\n".join(text.replace("TABLE t(", f"TABLE t{i}(").replace("INTO t ", f"INTO t{i} ").replace("ON t(", f"ON t{i}(")
                                .replace("INDEX t_b", f"INDEX t_b{i}").replace("FROM t ", f"FROM t{i} ").replace("JOIN t ", f"JOIN t{i} ") for i in range(4)))
    return Load("sqlite3", ("sqlite3", ":memory:", f".read {script}"))


def _compiler(bench: Bench) -> Load:
    return Load("g++ -O2 big.cc", ("g++", "-std=c++17", "-DCOPIES=1", "-O2", "-c", SOURCES / "big.cc", "-o", bench.scratch / "big.o"))


def _threads(bench: Bench) -> Load:
    return Load("4 threads", (bench.compile(SOURCES / "threads.c"), 4, 400))


def locks(bench: Bench) -> Load:
    return Load("4 threads, 2 locks", (bench.compile(SOURCES / "locks.c"), 2500))


def _hand_over(bench: Bench) -> Load:
    return Load("2 threads in turns", (bench.compile(SOURCES / "hand_over.c"), bench.choose(10, 30)))


def _processes_in_turns(bench: Bench) -> Load:
    return Load("2 processes in turns", (bench.compile(SOURCES / "processes_in_turns.c"), bench.choose(100, 300)))


def _short_threads(bench: Bench) -> Load:
    return Load("10,000 short threads", (bench.compile(TARGETS / "short_threads.c"), 10_000))


def _short_processes(bench: Bench) -> Load:
    return Load("1,000 short processes", (bench.compile(SOURCES / "short_processes.c"), 1000, "/bin/true"))


def python(bench: Bench) -> Load:
    return Load("python3", ("/usr/bin/python3", SOURCES / "load.py", 800))


def _fortran(bench: Bench) -> Load:
    program = bench.compile(SOURCES / "load.f90", "-fopenmp", name="load_f")
    return Load("Fortran, 4 OpenMP threads", (program, 900), {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"})


def _java(bench: Bench) -> Load:
    run(["javac", "-d", bench.scratch, SOURCES / "Load.java"])
    return Load("JVM", ("java", "-XX:+UseSerialGC", "-cp", bench.scratch, "Load", 600))


def _node(bench: Bench) -> Load:
    return Load("node", ("node", SOURCES / "load.js", 800))


def _perl(bench: Bench) -> Load:
    return Load("perl", ("perl", SOURCES / "load.pl", 300))


def _git(bench: Bench) -> Load:
    repository = bench.scratch / "repository"
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@nowhere"]
    repository.mkdir(exist_ok=True)
    run(["git", "init", "-q"], directory=repository)
    for turn in range(12):
        chosen = random.Random(turn)
        for number in range(60):
            (repository / f"{number}.txt").write_text("\n".join(str(chosen.randrange(1000)) for _ in range(1500)))
        run(["git", "add", "."], directory=repository)
        run(["git", *identity, "commit", "-q", "-m", str(turn)], directory=repository)
    return Load("git log -p", ("git", "-C", repository, "log", "-p", "--patience", "--stat"))


_NEEDED: dict[Callable[[Bench], Load], tuple[str, ...]] = {
    _tight_loop: ("gcc",), _xz: ("xz",), _sqlite: ("sqlite3",), _compiler: ("g++",), _threads: ("gcc",), locks: ("gcc",), _hand_over: ("gcc",), _processes_in_turns: ("gcc",), _short_threads: ("gcc",),
    _short_processes: ("gcc",), python: (), _fortran: ("gfortran",), _java: ("java", "javac"), _node: ("node",), _perl: ("perl",), _git: ("git",),
}
COMPUTING = (_tight_loop, _xz, _sqlite, _compiler, _threads, locks, _hand_over, _processes_in_turns, python, _fortran, _java)
CREATING = (_short_threads, _short_processes)
CENTRAL = (_tight_loop, _compiler)
DISTRIBUTION = (_compiler, _git, _perl, python, _node, _java)


def prepare(bench: Bench, wanted: tuple[Callable[[Bench], Load], ...]) -> tuple[list[Load], list[str]]:
    """The loads that can be run here, and a line for each that cannot."""
    loads, missing = [], []
    absent = install(sorted({name for make in wanted for name in _NEEDED[make]}))
    for make in wanted:
        lacking = [name for name in _NEEDED[make] if name in absent]
        try:
            if lacking:
                raise CannotMeasure(f"{', '.join(lacking)} cannot be had")
            loads.append(make(bench))
        except CannotMeasure as reason:
            missing.append(f"not measured: {make.__name__.strip('_')}: {reason}")
    return loads, missing
