"""test_pmclog -- the event-log parser in C: its manual, its guarantees under damage, hostile input, under ASan and UBSan"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from collector.format import DropCause, Kind, StackEnd

TESTS = Path(__file__).parents[1]
HEADER = TESTS.parent / "libcollector_c" / "include" / "pmclog.h"
THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
PAGE_STATES = ("OK", "EOF", "REQUIRE_DATA", "ERROR")
PAGE_MEMBERS = ("pl_state", "pl_offset", "pl_count", "pl_ts", "pl_type", "pl_u")
PAGE_STRUCTURES = {
    "pl_a": "allocate", "pl_c": "proccsw", "pl_d": "dropnotify", "pl_e": "procexit", "pl_i": "initialize",
    "pl_s": "pcsample", "pl_t": "pmcattach", "pl_u": "userdata", "pl_x": "procexec",
}


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


pmclog_build = _load(TESTS / "c" / "pmclog_build.py")
writer = _load(TESTS / "unit" / "experiment" / "writer.py")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for their logs."""
    return tmp_path_factory.mktemp("pmclog")


def run(programs: Path, name: str, *arguments: str, timeout: int = 300) -> str:
    """The output of tests/c/NAME.c, which must end well."""
    program = pmclog_build.build(programs.parent, TESTS / "c" / f"{name}.c")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_calls(programs: Path) -> None:
    assert run(programs, "pmclog_calls") == "all held\n"


def test_cut_at_every_byte_and_grown_again(programs: Path) -> None:
    run(programs, "pmclog_damage", "cut")


def test_grows_byte_by_byte_and_into_reserved_space(programs: Path) -> None:
    run(programs, "pmclog_damage", "grow")


def test_every_bit_flipped(programs: Path) -> None:
    run(programs, "pmclog_damage", "bits")


def test_thousands_of_damages(programs: Path) -> None:
    run(programs, "pmclog_damage", "damage", "10000" if THOROUGH else "1500")


def test_mutated_inputs(programs: Path) -> None:
    count = "1000000" if THOROUGH else "15000"
    assert run(programs, "pmclog_fuzz", "fuzz", count).startswith(f"{count} inputs")


@pytest.mark.parametrize("what", ["lengths", "bombs"])
def test_hostile_logs(programs: Path, what: str) -> None:
    run(programs, "pmclog_fuzz", what)


@pytest.mark.parametrize("claimed", [1 << 10, 100_000, 900_000])
def test_headers_that_overlap_are_not_checksummed_again_and_again(programs: Path, claimed: int) -> None:
    program = pmclog_build.build(programs.parent, TESTS / "c" / "pmclog_work.c", ["-O2"], ("-Wl,--wrap=col_checksum_of",))
    path = programs / "overlapping.log"
    work = {}
    for size in (1 << 20, 1 << 21, 1 << 22):
        good = writer.frame(writer.record(Kind.USERDATA, 1, 0, data=b"good"), size)
        path.write_bytes(writer.overlapping_headers(size, claimed) + good)
        found, work[size] = map(int, subprocess.run([program, path], capture_output=True, text=True, check=True).stdout.split())
        assert found == 1 and work[size] < (16 << 20) + 20 * size
    assert work[1 << 22] - work[1 << 21] < 2.1 * (work[1 << 21] - work[1 << 20]) + (1 << 20)


@pytest.mark.parametrize("slot", [0, 2])
@pytest.mark.parametrize("count", [1, 1200], ids=["short", "almost up to the open frames"])
@pytest.mark.parametrize("writing", [{"pid": 4_194_300}, {"pid": os.getpid(), "start_ticks": 1}], ids=["no such number", "another process's number"])
def test_a_log_ends_where_its_open_frames_begin(programs: Path, writing: dict[str, int], count: int, slot: int) -> None:
    log = writer.LogBuilder().add(writer.initialize(**writing))
    for number in range(count):
        log.add(writer.record(Kind.USERDATA, 2000 + number, 5, data=bytes(750)))
    cut, untruncated = programs / "cut.log", programs / "untruncated.log"
    cut.write_bytes(log.data)
    stack = writer.definitions([((5,), 0)])
    writer.write_untruncated(untruncated, log.data, writer.open_slot(1000, 5, [(1, 10, 0, 0, stack)]), slot if count == 1 else 0)
    assert count == 1 or untruncated.stat().st_size // 16 * 15 - len(log.data) < 65536
    told = run(programs, "pmclog_dump", str(cut)).splitlines()
    *events, state, totals = run(programs, "pmclog_dump", str(untruncated)).splitlines()
    assert len(told) > count and events[:-1] == told[:-2] and [state, totals] == told[-2:]
    assert events[-1] == f"{len(events)} {len(log.data)} 5 2000 5 1 10000 0 10000 0 0 5"


@pytest.mark.parametrize(("path", "reason"), [("/dev/zero", "Invalid argument"), ("/", "Is a directory")])
def test_a_device_or_a_directory_is_no_log(programs: Path, path: str, reason: str) -> None:
    empty = programs / "empty.log"
    empty.touch()
    run(programs, "pmclog_dump", str(empty))
    done = subprocess.run([pmclog_build.build(programs.parent, TESTS / "c" / "pmclog_dump.c"), path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, f"pmclog_open: {reason}\n")


def test_the_manual_pages_template(programs: Path) -> None:
    program = pmclog_build.build(programs.parent, TESTS / "targets" / "pmclog_template.c")
    log = writer.LogBuilder()
    log.add(writer.initialize())
    given = {"pid": 5, "source": 1, "value": 9, "path": "/bin/true", "data": b"x"}
    for kind in Kind:
        if kind not in (Kind.INITIALIZE, Kind.PCSAMPLE, Kind.CLOSELOG):
            fields = {name for name, type_name, _ in writer.FIELDS[kind] if (name, type_name) != ("source", "str")}
            log.add(writer.record(kind, 2000, 5, **{name: value for name, value in given.items() if name in fields}))
    log.add(writer.samples(3000, 5, [(1, 1, 0, 0)] * 3))
    log.add(writer.record(Kind.CLOSELOG, 4000))
    path = programs / "template.log"
    path.write_bytes(log.data)
    done = subprocess.run([program, path], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "version 1",
        "allocations 1 switches 1 drops 1 exits 1 samples 3 attaches 1 data 1 execs 1 marks 5 others 8",
        "end of file",
    ], done.stderr


def test_the_header_has_every_name_of_the_page_and_the_format() -> None:
    text = HEADER.read_text(encoding="utf-8")
    states = re.search(r"enum pmclog_state \{(.*?)\}", text, re.S)
    assert states and re.findall(r"PMCLOG_(\w+)", states[1]) == list(PAGE_STATES)
    assert {name: int(number) for name, number in re.findall(r"PMCLOG_TYPE_(\w+) = (\d+)", text)} == {kind.name: int(kind) for kind in Kind}
    assert {name: int(number) for name, number in re.findall(r"PMCLOG_DROP_(\w+) = (\d+)", text)} == {cause.name: int(cause) for cause in DropCause}
    assert {name: int(number) for name, number in re.findall(r"PMCLOG_END_(\w+) = (\d+)", text)} == {end.name: int(end) for end in StackEnd}
    event = text[text.index("struct pmclog_ev {") :]
    assert re.findall(r"^    (?:\w+ )*?(?:\} )?(pl_\w+);", event, re.M)[: len(PAGE_MEMBERS)] == list(PAGE_MEMBERS)
    for member, name in PAGE_STRUCTURES.items():
        assert f"struct pmclog_ev_{name} {member};" in event


@pytest.mark.parametrize("language", ["gcc -std=gnu99", "gcc -std=c17", "clang -std=c11", "g++ -std=c++98", "g++ -std=c++20"])
def test_the_header_compiles_alone(language: str) -> None:
    compiler, standard = language.split()
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-x", "c++" if "++" in standard else "c", "-fsyntax-only"]
    # C++98 has no <stdint.h> of its own: long long is the system's extension.
    flags += ["-Wno-long-long", "-D__STDC_LIMIT_MACROS"] if standard == "-std=c++98" else []
    program = "#include <pmclog.h>\nstruct pmclog_ev event;\nuint64_t unknown = PMCLOG_UNKNOWN;\n"
    done = subprocess.run([compiler, standard, *flags, f"-I{HEADER.parent}", "-"], input=program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
