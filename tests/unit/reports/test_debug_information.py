"""test_debug_information -- debug files and sources that are not where the program's own words lead: --debug-dir, --source-map"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_experiment import BASE, PERIOD_NS, begin, clock, close, mapping, samples, thread_end, write_log

import collector
from collector.cli.main import main
from collector.symbols import zstd
from collector.symbols.archive import build_id_path
from collector.symbols.debuginfod import fetch_debug_file
from collector.symbols.elf_image import ElfImage

_SOURCE = """\
volatile int sink;

__attribute__((noinline)) int work(int count)
{
    for (int i = 0; i < count; i++)
        sink += i;
    return sink;
}

int main(int argc, char **argv) { (void)argv; return work(argc); }
"""
_LOOP = (5, 6)
_BUILT_AT = "/build/tree"


@dataclass(frozen=True)
class Recorded:
    """A program, compiled at a path that is not there, and an experiment whose samples all fall into `work`."""

    program: Path
    source: Path
    experiment: Path
    build_id: bytes


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """With all debug information in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    source, program = here / "program.c", tmp_path / "program"
    source.write_text(_SOURCE)
    options = ["-g", "-O1", "-Wl,--build-id", f"-ffile-prefix-map={here}={_BUILT_AT}"]
    _run("gcc", *options, str(source), "-o", str(program))
    address = next(int(row.split()[0], 16) for row in _run("nm", str(program)).splitlines() if row.endswith(" work"))
    lines = [address + offset for offset in range(0, 16, 4)]
    with ElfImage(str(program)) as image:
        build_id = image.build_id or b""
    records = [begin(), clock(), mapping(str(program), build_id=build_id), samples([([BASE + line], 0) for line in lines], range(len(lines)))]
    used_ns = len(lines) * PERIOD_NS
    write_log(tmp_path / "a.expt", "100.0.log", *records, thread_end(user_ns=used_ns), close(user_ns=used_ns))
    return Recorded(program, source, tmp_path / "a.expt", build_id)


def _run(name: str, *arguments: str) -> str:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return subprocess.run([name, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def report(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Status and output, or the complaint, of `collector report` of the experiment."""

    def show(*words: str) -> tuple[int, str]:
        status = main(["report", str(recorded.experiment), *words])
        captured = capsys.readouterr()
        return status, captured.err or captured.out

    return show


def _split(recorded: Recorded, place: Path) -> None:
    """Move the debug information out of the program, into a file."""
    place.parent.mkdir(parents=True)
    _run("objcopy", "--only-keep-debug", str(recorded.program), str(place))
    _run("objcopy", "--strip-all", f"--add-gnu-debuglink={place}", str(recorded.program))


def _by_build_id(recorded: Recorded, directory: Path) -> Path:
    return Path(build_id_path(str(directory), recorded.build_id))


def _by_link(recorded: Recorded, directory: Path) -> Path:
    return directory / str(recorded.program.parent).lstrip("/") / "program.debug"


def _by_link_alone(recorded: Recorded, directory: Path) -> Path:
    return directory / "program.debug"


@pytest.mark.parametrize("place", [_by_build_id, _by_link, _by_link_alone])
def test_a_debug_file_below_the_directory_that_was_given(place, recorded: Recorded, report, tmp_path: Path) -> None:
    _split(recorded, place(recorded, tmp_path / "debug"))
    (tmp_path / "empty").mkdir()

    def functions(*options: str) -> set[str]:
        return {row["function"] for row in json.loads(report("functions", "--json", *options)[1])["rows"]}

    both = ["--debug-dir", str(tmp_path / "empty"), "--debug-dir", str(tmp_path / "debug")]
    assert "work" not in functions()
    assert functions(*both) == {"work"}
    assert "work" not in functions("--debug-dir", str(tmp_path / "empty"))
    rows = json.loads(report("disasm", "work", "--json", *both)[1])["rows"]
    assert {row["line"] for row in rows if row["file"] == f"{_BUILT_AT}/program.c"} >= set(_LOOP)
    assert [row.function for row in collector.open(recorded.experiment, debug_dirs=[str(tmp_path / "debug")]).functions()] == ["work"]


def test_instructions_are_shown_where_none_of_the_samples_that_were_chosen_is(recorded: Recorded, report) -> None:
    """The function has samples, so that it is known where it is; none at this time, at which all of its rows are nothing."""
    rows = json.loads(report("disasm", "work", "--json", "--time", "100-200")[1])["rows"]
    assert {row["line"] for row in rows} >= set(_LOOP)
    assert not any(any(row[name].values()) for row in rows for name in ("exclusive", "inclusive"))


def test_a_comparison_knows_where_debug_files_and_sources_lie(recorded: Recorded, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _split(recorded, _by_build_id(recorded, tmp_path / "debug"))
    shutil.copytree(recorded.experiment, tmp_path / "b.expt")

    def places(*options: str) -> set[tuple[str, str | None]]:
        words = ["compare", "--by", "line", "--json", str(recorded.experiment), *options, "--", str(tmp_path / "b.expt")]
        assert main(words) == 0
        return {(row["function"], row["file"]) for row in json.loads(capsys.readouterr().out)["rows"]}

    known = ["--debug-dir", str(tmp_path / "debug")]
    assert "work" not in {name for name, _ in places()}
    assert places(*known) == {("work", f"{_BUILT_AT}/program.c")}
    assert places(*known, "--source-map", f"{_BUILT_AT}=/here") == {("work", "/here/program.c")}
    assert main(["compare", str(recorded.experiment), "--debug-dir", str(tmp_path / "nowhere"), "--", str(tmp_path / "b.expt")]) == 2
    assert "there is no such directory" in capsys.readouterr().err


def test_a_directory_that_is_not_there(report, tmp_path: Path) -> None:
    status, sentence = report("--debug-dir", str(tmp_path / "nowhere"))
    assert status == 2 and "there is no such directory" in sentence


def test_lines_with_times_are_shown_without_their_text(report) -> None:
    status, text = report("source", "program.c")
    assert status == 0
    said = " ".join(text.split())
    assert f"the text cannot be read at {_BUILT_AT}/program.c (no such file or directory); --source-map FROM=TO says where it lies." in said
    document = json.loads(report("source", "work", "--json")[1])
    rows = document["rows"]
    assert {row["line"] for row in rows} & set(_LOOP) and {row["source"] for row in rows} == {None}
    assert "cannot be read" in document["note"]
    shown = [line.split()[-1] for line in text.splitlines()[-len(rows):]]
    assert shown == [str(row["line"]) for row in rows]


def test_sources_are_read_where_the_map_says(recorded: Recorded, report) -> None:
    """And shown so, in every view; the longest match counts."""
    here = str(recorded.source.parent)
    options = ["--source-map", "/build=/nowhere", "--source-map", f"{_BUILT_AT}/={here}"]
    status, text = report("source", "program.c", *options)
    assert status == 0
    assert "sink += i;" in text and "cannot be read" not in text and _BUILT_AT not in text
    for view in (["lines"], ["functions"], ["function", "work"], ["disasm", "work"], ["source", str(recorded.source)]):
        shown = report(*view, "--json", *options)[1]
        assert str(recorded.source) in shown and _BUILT_AT not in shown


@pytest.mark.parametrize("view", ["source", "disasm"])
def test_context_keeps_what_has_time_and_its_neighbours(view: str, recorded: Recorded, report) -> None:
    moved = "--source-map", f"{_BUILT_AT}={recorded.source.parent}"

    def rows(*options: str) -> tuple[list[str], list[str]]:
        """Those with a time, and those without."""
        text = report(view, "work", *moved, *options, "--width", "150")[1]
        return re.findall(r"^ +\d\.\d{3} .*$", text, re.MULTILINE), re.findall(r"^ {25,}[0-9a-f]+  \S.*$", text, re.MULTILINE)

    (timed, others), (whole, rest) = rows("--context", "1"), rows()
    assert rows("--context", "0") == (timed, []) and timed == whole != []
    assert 0 < len(others) < len(rest)


def test_a_source_that_was_cut_keeps_the_times_beyond_its_end(recorded: Recorded, report) -> None:
    recorded.source.write_text("".join(_SOURCE.splitlines(keepends=True)[:3]))
    options = ["--source-map", f"{_BUILT_AT}={recorded.source.parent}"]
    times = {row["line"]: row["source"] for row in json.loads(report("source", "program.c", "--json", *options)[1])["rows"]}
    assert times.keys() & set(_LOOP)
    text = report("source", "program.c", *options)[1]
    assert "the file is newer than program, so, if this is more than a fresh checkout, lines" in " ".join(text.split())
    assert {line.rpartition(" ")[2] for line in text.splitlines()} >= {str(line) for line, source in times.items() if source is None}


@pytest.mark.parametrize("text", ["/build", "=/here", "/build="])
def test_a_map_that_makes_no_sense(text: str, report) -> None:
    status, sentence = report("--source-map", text)
    assert status == 2 and "--source-map is FROM=TO" in sentence


def test_lines_are_shown_once_what_reads_them_is_installed(recorded: Recorded, report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kept profile stands in the way."""
    _run("zstd", "--version")
    if subprocess.run(["objcopy", "--compress-debug-sections=zstd", recorded.program], capture_output=True).returncode:
        pytest.skip("this objcopy knows no zstd")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(zstd, "_iter_modules", lambda: iter(()))
    monkeypatch.setattr(zstd, "_PROGRAM", "zstd-of-tests")
    assert "the program zstd (apt install zstd)" in " ".join(report()[1].split())
    assert {row["line"] for row in json.loads(report("lines", "--json")[1])["rows"]} == {None}
    (tmp_path / "bin/zstd-of-tests").symlink_to(shutil.which("zstd") or "")
    assert {row["line"] for row in json.loads(report("lines", "--json")[1])["rows"]} & set(_LOOP)


@pytest.fixture
def servers(recorded: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A debuginfod-find that has the debug file of the program; what it was asked for is in the file that this gives."""
    _split(recorded, tmp_path / "server/program.debug")
    (tmp_path / "bin").mkdir()
    asked, program = tmp_path / "asked", tmp_path / "bin/debuginfod-find"
    program.write_text(f"""#!/bin/sh
echo "$1 $2" >> {asked}
[ "$2" = {recorded.build_id.hex()} ] || {{ echo "Server query failed: ${{SAYS:-No such file or directory}}" >&2; exit 1; }}
mkdir -p "$DEBUGINFOD_CACHE_PATH/$2" && cp {tmp_path}/server/program.debug "$DEBUGINFOD_CACHE_PATH/$2/debuginfo"
echo "$DEBUGINFOD_CACHE_PATH/$2/debuginfo"
""")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://localhost:9")
    monkeypatch.delenv("DEBUGINFOD_CACHE_PATH", raising=False)
    return asked


def test_debug_files_are_fetched_for_who_asks(recorded: Recorded, report, servers: Path) -> None:
    assert "work" not in report("functions")[1] and not servers.exists()
    assert "work" in report("functions", "--debuginfod")[1]
    assert servers.read_text() == f"debuginfo {recorded.build_id.hex()}\n"
    assert "work" in report("functions", "--debuginfod")[1] and "work" in report("functions")[1]  # it is in the cache now
    assert len(servers.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("DEBUGINFOD_URLS", "", "DEBUGINFOD_URLS names no server"),
        ("PATH", "/nonexistent", "there is no debuginfod-find here (apt install debuginfod)"),
    ],
)
def test_what_keeps_debug_files_from_being_fetched(name: str, value: str, sentence: str, report, servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    text = report("--debuginfod")[1]
    assert f"Debug files are not fetched: {sentence}." in " ".join(text.split())


@pytest.mark.parametrize(("says", "is_told"), [("No such file or directory", False), ("Connection refused", True)])
def test_a_server_that_has_nothing_is_no_complaint(says: str, is_told: bool, servers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYS", says)
    complaints = fetch_debug_file("other", b"\x12\x34")
    assert complaints == (["The debug file of other is not fetched: debuginfod-find: Server query failed: Connection refused."] if is_told else [])
    assert servers.read_text() == "debuginfo 1234\n"
