"""test_archive -- what `collector archive` copies, what it says of the rest, and archives that were made to hurt"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_experiment import BASE, PERIOD_NS, begin, clock, close, mapping, samples, thread_end, write_log

from collector.cli.main import main
from collector.load import archiving
from collector.symbols.archive import Archive, below, place_of_debug_file, place_of_module, place_of_source
from collector.symbols.cache import signature_of
from collector.symbols.elf_image import ElfImage
from collector.symbols.recorded_file import text_checksum
from collector.symbols.symbolizer import Symbolizer

_SOURCE = "volatile int sink;\nint work(int n) { for (int i = 0; i < n; i++) sink += i; return sink; }\nint main(void) { return work(9); }\n"


@dataclass(frozen=True)
class Recorded:
    """A program with its source, and an experiment whose samples all fall into `work`."""

    program: Path
    source: Path
    experiment: Path
    build_id: bytes

    @property
    def archive(self) -> Path:
        """Where its archive is."""
        return self.experiment / "archive"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """With all debug information in the program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(_SOURCE)
    run("gcc", "-g", "-O1", "-fno-inline", "-Wl,--build-id", str(source), "-o", str(program))
    with ElfImage(str(program)) as image:
        build_id = image.build_id or b""
    write_experiment(program, build_id, tmp_path / "a.expt")
    return Recorded(program, source, tmp_path / "a.expt", build_id)


def write_experiment(program: Path, build_id: bytes, path: Path) -> None:
    start, size = next([int(word, 16) for word in row.split()[:2]] for row in run("nm", "-S", str(program)).splitlines() if row.endswith(" work"))
    stacks = [([BASE + address], 0) for address in range(start, start + size, 2)]
    used_ns = len(stacks) * PERIOD_NS
    size_bytes, changed_ns = signature_of(str(program)) or [0, 0]
    with ElfImage(str(program)) as image:
        known = {"file_bytes": size_bytes, "file_changed_ns": changed_ns, "text_checksum": text_checksum(image)}
    records = [begin(), clock(), mapping(str(program), build_id=build_id, **({} if build_id else known)), samples(stacks, range(len(stacks)))]
    write_log(path, "100.0.log", *records, thread_end(user_ns=used_ns), close(user_ns=used_ns))


def run(name: str, *arguments: str) -> str:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return subprocess.run([name, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture
def collector(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Status, output and complaints of a command."""

    def call(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return call


def files_of(archive: Path) -> set[str]:
    return {str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file()}


def test_a_module_and_its_source(recorded: Recorded, collector) -> None:
    status, said, complaints = collector("archive", recorded.experiment, "--sources")
    digits = recorded.build_id.hex()
    own = f"debug/.build-id/{digits[:2]}/{digits[2:]}"
    assert (status, complaints) == (0, "")
    assert files_of(recorded.archive) == {own, below("sources", str(recorded.source))}
    assert said.startswith("a.expt/archive: 1 module, 0 debug files, 1 source, ") and said.count("\n") == 1
    assert (recorded.archive / own).read_bytes() == recorded.program.read_bytes()
    assert (recorded.archive / own).stat().st_mtime_ns == recorded.program.stat().st_mtime_ns
    recorded.program.unlink()
    recorded.source.unlink()
    shutil.rmtree("cache")
    assert "work" in collector("report", recorded.experiment, "functions")[1]
    assert "sink += i" in collector("report", recorded.experiment, "source", "work")[1]


def test_sources_only_when_asked_for(recorded: Recorded, collector) -> None:
    said = collector("archive", recorded.experiment)[1]
    assert "source" not in said and not (recorded.archive / "sources").exists()


def test_a_second_time_adds_what_was_missing(recorded: Recorded, collector) -> None:
    collector("archive", recorded.experiment)
    before = files_of(recorded.archive)
    recorded.program.write_bytes(b"another one")
    status, said, complaints = collector("archive", recorded.experiment, "--sources")
    assert (status, complaints) == (0, "") and "of it new" in said
    assert before < files_of(recorded.archive)
    recorded.source.write_text("edited")
    assert "nothing of it new" in collector("archive", recorded.experiment, "--sources")[1]
    assert "sink += i" in collector("report", recorded.experiment, "source", "work")[1]


def test_a_kept_report_notices_that_an_archive_came_and_went(recorded: Recorded, collector) -> None:
    recorded.program.rename("hidden")
    assert "program+0x" in collector("report", recorded.experiment, "functions")[1]
    os.rename("hidden", recorded.program)
    collector("archive", recorded.experiment)
    recorded.program.unlink()
    shutil.rmtree(next(Path("cache/collector").glob("symbols-*")))
    assert "work" in collector("report", recorded.experiment, "functions")[1]
    shutil.rmtree(recorded.archive)
    shutil.rmtree(next(Path("cache/collector").glob("symbols-*")))
    assert "program+0x" in collector("report", recorded.experiment, "functions")[1]


@pytest.mark.parametrize("how", ["gone", "replaced"])
def test_a_module_that_is_not_the_recorded_one(recorded: Recorded, collector, how: str) -> None:
    recorded.program.unlink()
    if how == "replaced":
        run("gcc", "-g", "-O2", "-Wl,--build-id", str(recorded.source), "-o", str(recorded.program))
    status, said, complaints = collector("archive", recorded.experiment)
    assert status == 0 and said.startswith("a.expt/archive: 0 modules, ")
    assert complaints.count("\n") == 1 and complaints.startswith("collector: program is ") and str(recorded.program) in complaints
    assert "cannot be opened" in complaints if how == "gone" else "its build id differs" in complaints
    assert not recorded.archive.exists()


def test_a_module_that_only_the_cache_knows(recorded: Recorded, collector) -> None:
    assert "work" in collector("report", recorded.experiment, "functions")[1]
    recorded.program.unlink()
    complaints = collector("archive", recorded.experiment)[2]
    assert complaints.startswith("collector: program is not archived: ") and complaints.count("\n") == 1


@pytest.mark.parametrize("build_id", [True, False])
def test_a_debug_file_is_found_wherever_it_was(recorded: Recorded, collector, build_id: bool, tmp_path: Path) -> None:
    """By --debug-dir when it is archived, without that afterwards."""
    flags = ["-Wl,--build-id" if build_id else "-Wl,--build-id=none"]
    run("gcc", "-g", "-O1", "-fno-inline", *flags, str(recorded.source), "-o", str(recorded.program))
    with ElfImage(str(recorded.program)) as image:
        own_id = image.build_id or b""
    shutil.rmtree(recorded.experiment)
    write_experiment(recorded.program, own_id, recorded.experiment)
    (tmp_path / "elsewhere").mkdir()
    run("objcopy", "--only-keep-debug", str(recorded.program), "elsewhere/program.debug")
    run("objcopy", "--strip-all", "--add-gnu-debuglink=elsewhere/program.debug", str(recorded.program))
    _, said, complaints = collector("archive", recorded.experiment, "--debug-dir", "elsewhere")
    assert "1 module, 1 debug file, " in said, complaints
    for directory in ("elsewhere", "cache"):
        shutil.rmtree(directory)
    recorded.program.unlink()
    document = collector("report", recorded.experiment, "lines", "--json")[1]
    assert '"work"' in document and f'"{recorded.source}"' in document


def test_what_dwz_moved_out_of_a_module(recorded: Recorded, collector, tmp_path: Path) -> None:
    """Names of inlined functions are in that file."""
    if not shutil.which("dwz"):
        pytest.skip("this system has no dwz")
    text = _SOURCE.replace("int work", "static inline int step(int i) { return i * 3 % 7; }\nint work").replace("+= i;", "+= step(i);")
    recorded.source.write_text(text)
    run("gcc", "-g", "-O2", "-Wl,--build-id", str(recorded.source), "-o", str(recorded.program))
    run("gcc", "-g", "-O2", "-Wl,--build-id", "-DOTHER", str(recorded.source), "-o", "other")
    run("dwz", "-m", str(tmp_path / "common.debug"), str(recorded.program), "other")
    with ElfImage(str(recorded.program)) as image:
        assert image.section(".gnu_debugaltlink") is not None
        build_id = image.build_id or b""
    shutil.rmtree(recorded.experiment)
    write_experiment(recorded.program, build_id, recorded.experiment)
    before = collector("report", recorded.experiment, "lines", "--json")[1]
    assert "1 module, 1 debug file, " in collector("archive", recorded.experiment)[1]
    for path in (recorded.program, tmp_path / "common.debug"):
        path.unlink()
    shutil.rmtree("cache")
    assert collector("report", recorded.experiment, "lines", "--json")[1] == before


@pytest.mark.parametrize("is_packaged", [False, True])
def test_split_units(recorded: Recorded, collector, is_packaged: bool, tmp_path: Path) -> None:
    """The .dwo files of units with samples only, or the .dwp file."""
    text = _SOURCE.replace("int work", "static inline int step(int i) { return i * 3 % 7; }\nint work").replace("+= i;", "+= step(i);")
    recorded.source.write_text(text)
    (tmp_path / "idle.c").write_text("int idle(void) { return 1; }\n")
    compiler = "clang" if is_packaged else "gcc"  # of gcc's files some llvm-dwp finds no end
    run(compiler, "-g", "-O2", "-gsplit-dwarf", "-c", str(recorded.source), str(tmp_path / "idle.c"))
    run("gcc", "-Wl,--build-id", "program.o", "idle.o", "-o", str(recorded.program))
    if is_packaged:
        if not shutil.which("llvm-dwp"):
            pytest.skip("this system has no llvm-dwp")
        run("llvm-dwp", "-e", "program", "-o", "program.dwp")
    with ElfImage(str(recorded.program)) as image:
        build_id = image.build_id or b""
    shutil.rmtree(recorded.experiment)
    write_experiment(recorded.program, build_id, recorded.experiment)
    before = collector("report", recorded.experiment, "functions", "--json")[1]
    assert '"step"' in before
    collector("archive", recorded.experiment)
    own = place_of_module("", build_id)
    assert files_of(recorded.archive) == {own, own + ".dwp" if is_packaged else below("debug", f"{tmp_path}/program.dwo")}
    for name in ("program", "program.dwo", "idle.dwo", "program.dwp"):
        Path(name).unlink(missing_ok=True)
    shutil.rmtree("cache")
    assert collector("report", recorded.experiment, "functions", "--json")[1] == before


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "there is no experiment at"),
        (lambda path: path.write_text(""), "is not an experiment: it is a file"),
        (lambda path: path.mkdir(), "is not an experiment: there is no log in it"),
    ],
)
def test_what_is_no_experiment(make, sentence: str, collector, tmp_path: Path) -> None:
    make(tmp_path / "no.expt")
    status, said, complaints = collector("archive", tmp_path / "no.expt")
    assert (status, said) == (1, "") and sentence in complaints and complaints.count("\n") == 1


def test_one_that_is_being_recorded(recorded: Recorded, collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "is_alive", lambda log: True)
    status, _, complaints = collector("archive", recorded.experiment)
    assert status == 1 and "is being recorded still" in complaints and not recorded.archive.exists()


def test_a_full_disk(recorded: Recorded, collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half written is left, and the next time all is there."""

    def fill(source, target, step: int) -> None:
        target.write(source.read(100))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(archiving, "copyfileobj", fill)
    status, said, complaints = collector("archive", recorded.experiment)
    assert (status, said) == (1, "") and "cannot be written: no space left on device" in complaints and complaints.count("\n") == 1
    assert files_of(recorded.archive) == set()
    monkeypatch.undo()
    os.chdir(recorded.experiment.parent)
    (recorded.archive / ".new-killed").write_text("half")
    assert collector("archive", recorded.experiment)[0] == 0
    assert len(files_of(recorded.archive)) == 1


def test_a_source_that_is_a_pipe_or_not_here(recorded: Recorded, collector) -> None:
    recorded.source.unlink()
    os.mkfifo(recorded.source)
    status, said, complaints = collector("archive", recorded.experiment, "--sources")
    assert status == 0 and "0 sources" in said
    assert f"1 source cannot be read and is not archived: {recorded.source}; --source-map" in complaints


def test_sources_that_lie_elsewhere_keep_their_names(recorded: Recorded, collector, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    recorded.source.rename("moved/program.c")
    said = collector("archive", recorded.experiment, "--sources", "--source-map", f"{tmp_path}={tmp_path}/moved")[1]
    assert "1 source" in said
    shutil.rmtree("moved")
    assert "sink += i" in collector("report", recorded.experiment, "source", "work")[1]


@pytest.mark.parametrize("kind", ["link", "directory link", "pipe", "itself", "file"])
def test_an_archive_with_anything_but_files_and_directories(recorded: Recorded, collector, kind: str, tmp_path: Path) -> None:
    """It is not used, which is told, and nothing is written through it."""
    outside = tmp_path / "outside"
    (outside / "sources").mkdir(parents=True)
    collector("archive", recorded.experiment)
    if kind == "link":
        (recorded.archive / "debug/more").symlink_to(recorded.source)
    elif kind == "directory link":
        (recorded.archive / "sources").symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(recorded.archive / "debug/pipe")
    else:
        shutil.rmtree(recorded.archive)
        recorded.archive.symlink_to(outside) if kind == "itself" else recorded.archive.write_text("")
    status, said, complaints = collector("archive", recorded.experiment, "--sources")
    assert (status, said) == (1, "") and "archive is left out: " in complaints and complaints.count("\n") == 1
    assert not any((outside / "sources").iterdir())
    status, shown, _ = collector("report", recorded.experiment)
    assert status == 0 and "is left out: " in " ".join(shown.split()) and "work" in shown


def test_a_file_of_another_build_in_the_archive(recorded: Recorded, collector) -> None:
    collector("archive", recorded.experiment)
    (path,) = [recorded.archive / name for name in files_of(recorded.archive)]
    run("gcc", "-g", "-O2", "-Wl,--build-id", str(recorded.source), "-o", str(path))
    said = collector("report", recorded.experiment)[1]
    assert "its build id differs" in " ".join(said.split()) and "program+0x" in said


def test_names_never_leave_the_archive() -> None:
    assert below("top", "/../../etc/passwd") == "top/etc/passwd"
    assert place_of_source("../../x.c") == "sources/x.c" and place_of_source("//a/./b//c.c") == "sources/a/b/c.c"
    assert place_of_module("/lib/../../x.so", None) == "modules/x.so" and place_of_module("[vdso]", b"") == "modules/[vdso]"
    assert place_of_module("/x", b"\x01\xfe\x02") == "debug/.build-id/01/fe02" and place_of_debug_file(b"\x01\xfe") == "debug/.build-id/01/fe.debug"
    assert place_of_module("/x", b"\x01") == "modules/x"  # no name would be left


def test_deep_directories(tmp_path: Path) -> None:
    """Deeper than Python's stack and longer than a path may be."""
    (tmp_path / "archive").mkdir()
    home = os.open(tmp_path / "archive", os.O_RDONLY)
    try:
        here = os.dup(home)
        for _ in range(1200):
            os.mkdir("dddd", dir_fd=here)
            deeper = os.open("dddd", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
        os.close(here)
        with pytest.raises(Exception, match="archive is left out: file name too long"):
            Archive(str(tmp_path))
    finally:
        os.close(home)
        subprocess.run(["rm", "-rf", str(tmp_path / "archive")], check=True)


def test_the_vdso(recorded: Recorded, tmp_path: Path) -> None:
    """It is copied out of the running kernel, and read from the copy."""
    symbolizer = Symbolizer(cache_dir=tmp_path / "cold")
    try:
        files = symbolizer.needed_files("[vdso]", None, [])
    except Exception as error:
        pytest.skip(f"this system has no vdso: {error}")
    copier = archiving._Copier(str(recorded.experiment))
    assert [copier.add(file.path, file.place) for file in files] == [True]
    with ElfImage(str(recorded.archive / "modules/[vdso]")) as image:
        address, build_id = image.code_ranges[-1][0], image.build_id
    again = Symbolizer(cache_dir=tmp_path / "again")
    again.add_archive(str(recorded.experiment))
    assert again.locate("[vdso]", None, address).module == "[vdso]" and build_id is not None
    assert str(recorded.archive / "modules/[vdso]") in again.looked_at
