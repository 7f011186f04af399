"""test_kept -- the second report of an experiment comes from the cache, shows the same, and is made anew when anything has changed"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from small_experiment import write_small
from test_both_ways import damaged, framed, mutated, random_frames, write

from collector.cli.main import main
from collector.cli.reporting.words import VIEWS
from collector.load import kept, loader
from collector.load.kept import KeptProfile
from collector.profile.model import Loss

ASKED_ANEW = ("pcs", "timeline")  # of addresses and times nothing is kept
WHOLE = [view for view, (argument, _) in VIEWS.items() if not argument and view not in ASKED_ANEW]


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two random logs, whose program is a file without symbols."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    rng = random.Random(7)
    path = write(tmp_path / "a.expt", framed(random_frames(rng)))
    return write(path, framed(random_frames(rng)), 150)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The experiments that were read."""
    read: list[str] = []
    add = loader.Loader.add

    def add_and_note(self: loader.Loader, path: str) -> None:
        read.append(path)
        add(self, path)

    monkeypatch.setattr(loader.Loader, "add", add_and_note)
    return read


def report(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a report shows."""
    assert main(["report", *map(str, words)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
@pytest.mark.parametrize("view", WHOLE)
def test_the_second_report_reads_no_log(experiment: Path, loads: list[str], capsys, view: str, form: tuple) -> None:
    first = report(capsys, experiment, view, *form)
    assert len(loads) == 1
    assert report(capsys, experiment, view, *form) == first
    assert len(loads) == 1


def test_answers_come_together(experiment: Path, loads: list[str], capsys) -> None:
    first = {view: report(capsys, experiment, view) for view in WHOLE}
    loads.clear()
    assert {view: report(capsys, experiment, view) for view in WHOLE} == first
    assert not loads


@pytest.mark.parametrize("option", ["--no-inlines", "--pieces", "--interpreter-frames"])
def test_other_names_are_kept_by_themselves(experiment: Path, loads: list[str], capsys, option: str) -> None:
    usual = report(capsys, experiment, "functions")
    other = report(capsys, experiment, "functions", option)
    assert len(loads) == 2
    assert (report(capsys, experiment, "functions", option), report(capsys, experiment, "functions")) == (other, usual)
    report(capsys, experiment, "functions", *({"--no-inlines", "--pieces"} - {option}))
    assert len(loads) == 3


def test_one_function_after_the_other(experiment: Path, loads: list[str], capsys) -> None:
    report(capsys, experiment, "functions")
    report(capsys, experiment, "callers-callees", "prog+0x3000")
    loads.clear()
    other = report(capsys, experiment, "callers-callees", "prog+0x4000")
    assert not loads
    (experiment / "touched.txt").touch()
    assert report(capsys, experiment, "callers-callees", "prog+0x4000") == other
    assert loads


@pytest.mark.parametrize("part", [("--thread", "100"), ("--process", "150"), ("--time", "0.1-0.5")])
def test_parts_are_read_from_the_logs(experiment: Path, loads: list[str], capsys, part: tuple[str, ...]) -> None:
    whole = report(capsys, experiment, "functions")
    assert report(capsys, experiment, "functions", *part) != whole
    assert len(loads) == 2
    assert report(capsys, experiment, "functions") == whole
    assert len(loads) == 2


def change_log(experiment: Path) -> None:
    os.utime(experiment / "100.0.log", ns=(1, 1))


def change_size(experiment: Path) -> None:
    log = experiment / "100.0.log"
    status = log.stat()
    log.write_bytes(log.read_bytes()[:-3])
    os.utime(log, ns=(status.st_atime_ns, status.st_mtime_ns))


def add_log(experiment: Path) -> None:
    write(experiment, framed(random_frames(random.Random(8))), 200)


def add_copy(experiment: Path) -> None:
    (experiment / "objects").mkdir()


def add_archive(experiment: Path) -> None:
    place = experiment / "archive/debug"
    place.mkdir(parents=True)
    (place / "file").touch()
    os.utime(experiment / "archive", ns=(1, 1))


def damage(experiment: Path) -> None:
    path = cached_file(experiment)
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def empty(experiment: Path) -> None:
    cached_file(experiment).write_bytes(b"")


def remove(experiment: Path) -> None:
    cached_file(experiment).unlink()


def cached_file(experiment: Path) -> Path:
    (path,) = (experiment.parent / "cache" / "collector" / "profiles").iterdir()
    return path


@pytest.mark.parametrize("change", [change_log, change_size, add_log, add_copy, add_archive, damage, empty, remove])
def test_what_has_changed_is_read_again(experiment: Path, loads: list[str], capsys, change) -> None:
    report(capsys, experiment, "functions")
    change(experiment)
    again = report(capsys, experiment, "functions")
    assert len(loads) == 2
    assert report(capsys, experiment, "functions") == again
    assert len(loads) == 2


def test_only_a_change_of_collector_itself_is_one(experiment: Path, tmp_path: Path, loads: list[str], capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what Python compiles it to, which another process may write at any time."""
    package = tmp_path / "package"
    compiled, module = package / "__pycache__" / "errors.cpython-311.pyc", package / "load" / "kept.py"
    for path in (compiled, module):
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, ns=(1, 1))
    monkeypatch.setattr(kept, "_PACKAGE", str(package))
    report(capsys, experiment, "functions")
    compiled.write_bytes(b"later")
    report(capsys, experiment, "functions")
    assert len(loads) == 1
    module.write_bytes(b"later")
    report(capsys, experiment, "functions")
    assert len(loads) == 2


def test_a_module_that_has_changed_is_read_again(experiment: Path, tmp_path: Path) -> None:
    """So is one that appears where none was."""
    from collector.load import load

    module, missing = tmp_path / "module.so", tmp_path / "module.debug"
    module.touch()
    place = KeptProfile([str(experiment)])
    place.store(place.completing(load(experiment)), [str(module), str(missing)])
    assert KeptProfile([str(experiment)]).profile is not None
    missing.touch()
    assert KeptProfile([str(experiment)]).profile is None
    missing.unlink()
    assert KeptProfile([str(experiment)]).profile is not None
    os.utime(module, ns=(5, 5))
    assert KeptProfile([str(experiment)]).profile is None


def test_a_file_that_comes_into_an_archive(experiment: Path, loads: list[str], capsys) -> None:
    """Which changes nothing in the experiment's directory itself."""
    add_archive(experiment)
    report(capsys, experiment, "functions")
    (experiment / "archive/debug/other").touch()
    report(capsys, experiment, "functions")
    assert len(loads) == 2


def test_debug_directories_have_a_profile_of_their_own(experiment: Path, tmp_path: Path, loads: list[str], capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same one whatever the working directory."""
    for name in ("debug", "other"):
        (tmp_path / name).mkdir()
    for options in ((), ("--debug-dir", tmp_path / "debug"), ("--debug-dir", tmp_path / "debug", "--debug-dir", tmp_path / "other")):
        loads.clear()
        first = report(capsys, experiment, "functions", *options)
        assert len(loads) == 1
        assert report(capsys, experiment, "functions", *options) == first
        assert len(loads) == 1
    monkeypatch.chdir(tmp_path / "debug")
    report(capsys, experiment, "functions", "--debug-dir", ".")
    assert len(loads) == 1


def test_warnings_are_told_again(experiment: Path, capsys) -> None:
    first = report(capsys, experiment)
    assert "Warning: " in first
    assert report(capsys, experiment) == first


@pytest.mark.parametrize("seed", range(10))
def test_damaged_logs_are_shown_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, seed: int) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = random.Random(seed)
    payloads = [mutated(rng, payload) if rng.random() < 0.15 else payload for payload in random_frames(rng)]
    path = write(tmp_path / "a.expt", framed(payloads))
    write(path, damaged(rng, framed(random_frames(rng))), 150)
    pages = []
    for _ in range(2):
        for view in WHOLE:
            status = main(["report", str(path), view])
            pages.append((status, *capsys.readouterr()))
    assert pages[: len(WHOLE)] == pages[len(WHOLE) :]


def test_several_experiments_have_a_profile_of_their_own(experiment: Path, tmp_path: Path, loads: list[str], capsys) -> None:
    write_small(tmp_path / "b.expt")
    first = report(capsys, experiment, "functions"), report(capsys, experiment, tmp_path / "b.expt", "functions")
    loads.clear()
    assert (report(capsys, experiment, "functions"), report(capsys, experiment, tmp_path / "b.expt", "functions")) == first
    assert not loads


def test_a_directory_that_cannot_be_written_is_no_error(experiment: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "collector").write_text("")
    assert report(capsys, experiment, "functions") == report(capsys, experiment, "functions")


def test_the_oldest_profiles_go(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    write_small(tmp_path / "b.expt")
    report(capsys, experiment, "functions")
    size = cached_file(experiment).stat().st_size
    os.utime(cached_file(experiment), (1, 1))
    monkeypatch.setattr(kept, "LARGEST_BYTES", size + 10)
    report(capsys, tmp_path / "b.expt", "functions")
    assert cached_file(experiment).stat().st_mtime > 1


def test_there_are_not_too_many_profiles(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(kept, "MOST_PROFILES", 1)
    for number in range(3):
        write_small(tmp_path / f"{number}.expt")
        report(capsys, tmp_path / f"{number}.expt", "functions")
    assert cached_file(experiment).exists()


def test_a_profile_that_cannot_be_written_is_no_error(experiment: Path) -> None:

    from collector.load import load

    place = KeptProfile([str(experiment)])
    profile = place.completing(load(experiment))
    place.store(profile._replace(losses=(Loss(0, "damage", 1 << 70),)), [])
    assert KeptProfile([str(experiment)]).profile is None


def test_an_experiment_that_is_running_is_not_kept(experiment: Path, tmp_path: Path) -> None:

    from collector.load import load

    place = KeptProfile([str(experiment)])
    profile = place.completing(load(experiment))
    place.store(profile._replace(processes=[process._replace(is_running=True) for process in profile.processes]), [])
    assert KeptProfile([str(experiment)]).profile is None
