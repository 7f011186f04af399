"""test_cli -- commands are found, helped, and end in one sentence and an exit status"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_experiment import write_small

from collector.cli import config
from collector.cli.main import build_parser, iter_commands, load_command, main
from collector.errors import RecordError, UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorder that is there, as far as its file goes."""
    library = tmp_path / "libcollector.so"
    library.write_bytes(b"")
    monkeypatch.setenv("COLLECTOR_LIBRARY", str(library))
    return library


def test_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in iter_commands():
        does = load_command(name).HELP.splitlines()[0].partition(" -- ")[2]
        assert any(line.split(maxsplit=1) == [name, does] for line in lines)


def test_no_command_is_a_mistake_that_shows_the_overview(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "record" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["recrd", "main", "recording", "__init__", "../x", "", "-z"])
def test_unknown_command(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"collector: there is no command {word!r}") and captured.err.count("\n") == 1


def test_near_miss(capsys: pytest.CaptureFixture[str]) -> None:
    main(["reprot"])
    assert capsys.readouterr().err == "collector: there is no command 'reprot'; did you mean report?\n"


def test_an_empty_name_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """As where a script's variable is not set."""
    assert main(["report", ""]) == 1
    assert capsys.readouterr().err == "collector: there is no experiment at ''\n"


def test_the_beginning_of_a_command_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("rep", "repo", "report"):
        assert main([word, "missing.expt"]) == 1
        assert capsys.readouterr().err == "collector: there is no experiment at missing.expt\n"
    assert main(["re", "missing.expt"]) == 2
    assert capsys.readouterr().err == "collector: the command 're' is not clear: record, reduce or report?\n"


@pytest.mark.parametrize("name", iter_commands())
def test_help_of_each_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: collector {name} " in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from collector import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"collector {__version__}\n"


def test_what_was_not_built(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLLECTOR_LIBRARY", "/nosuch/libcollector.so")
    for command in ["config"], ["record", "true"], ["run", "true"]:
        assert main(command) == 1
        error = capsys.readouterr().err
        assert error == "collector: /nosuch/libcollector.so is not there: COLLECTOR_LIBRARY names a recorder that does not exist\n"


def test_not_built_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from collector.capture import installation

    monkeypatch.delenv("COLLECTOR_LIBRARY", raising=False)
    monkeypatch.setattr(installation, "LIBRARY_NAME", "libnosuch.so")
    with pytest.raises(RecordError, match="libnosuch.so has not been built: run `pip install .` or `make -C libcollector_c`"):
        installation.find_installation()


def test_config_prints_what_was_asked_for(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--preload", "--includes"]) == 0
    preload, include = capsys.readouterr().out.splitlines()
    assert preload == str(built)
    assert (Path(include) / "libcollector.h").is_file()


def test_config_prints_everything_with_names(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(config._CHOICES)


def test_python_dash_m_is_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "collector", "--version"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "collector")


def test_output_into_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m collector --help | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "is_taken_apart"),
    [(["record", "-n", "true"], False), (["rec", "-n", "nosuch-program"], False), (["report", "small.expt"], False), (["config", "--preload"], True)],
)
def test_only_after_a_recording_or_a_report_the_process_ends_at_once(words: list[str], is_taken_apart: bool, built: Path, tmp_path: Path) -> None:
    write_small(tmp_path / "small.expt")
    script = f"import atexit, sys; atexit.register(print, 'taken apart'); sys.argv[1:] = {words}; from collector.cli.main import run_as_command; run_as_command()"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ("taken apart" in done.stdout) == is_taken_apart
    if "nosuch-program" in words:
        assert (done.returncode, done.stderr) == (127, "collector: nosuch-program: there is no such program in PATH\n")
    else:
        assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) > 1  # all that was printed has come out


def test_only_help_puts_the_usage_together(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parser = build_parser(load_command("report"))
    with pytest.raises(SystemExit):
        parser.parse_intermixed_args(["--help"])
    assert capsys.readouterr().out.startswith("usage: collector report [-l N]") and parser.usage is None
    monkeypatch.setattr(type(parser), "format_usage", lambda self: pytest.fail("nobody reads it"))
    assert parser.parse_intermixed_args(["a.expt", "-l", "3", "lines"]).words == ["a.expt", "lines"]
    with pytest.raises(UsageError, match="--nonsense"):
        parser.parse_intermixed_args(["a.expt", "--nonsense"])


def imported_by(words: list[str], tmp_path: Path) -> set[str]:
    """The modules that a command has imported when it ends."""
    script = f"import sys; sys.argv[1:] = {words}; from collector.cli.main import main; main(); print('\\n', *sys.modules)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COLLECTOR_")}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    return set(done.stdout.splitlines()[-1].split())


def test_help_needs_no_parser(tmp_path: Path) -> None:
    assert not {"argparse", "typing", "re"} & (imported_by(["--help"], tmp_path) - imported_by_nothing())


@pytest.mark.parametrize("experiment", ["true.expt", "true"])
def test_a_whole_recording_needs_few_imports(experiment: str, tmp_path: Path) -> None:
    """Generated classes and the reader of logs are for those who look at a recording, not for those who make one."""
    if not (ROOT / "libcollector_c/build/libcollector.so").exists():
        pytest.skip("the recorder is not built")
    imported = imported_by(["record", "-o", experiment, "true"], tmp_path)
    assert (tmp_path / experiment).is_dir() and "collector.experiment.totals" in imported
    slow = {"dataclasses", "typing", "threading", "locale", "inspect", "glob", "json", "shutil", "subprocess", "tempfile", "elftools", "collector.reading_fields"}
    slow |= {f"collector.experiment.{name}" for name in ("events", "records", "log_reader", "frames", "samples", "merge", "stacks", "directory")}
    slow |= {"collector.capture.perf_events", "collector.capture.wait_watcher", "collector.capture.runtime_settings", "collector.reports", "collector.profile"}
    slow |= {"argparse", "gettext", "importlib", "re", "pyexpat", "xml", "collector.capture.definition_reader"}
    assert not slow & (imported - imported_by_nothing("ctypes"))


def test_a_report_that_was_made_before_needs_few_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its figures were kept: it neither reads logs nor names code, and generates no classes, which takes longer than all that it does."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_small(tmp_path / "small.expt")
    words = ["report", "small.expt", "functions"]
    first, again = imported_by(words, tmp_path), imported_by(words, tmp_path)
    assert "collector.experiment.events" in first and "collector.load.kept" in again
    slow = {"argparse", "dataclasses", "inspect", "ast", "json", "statistics", "subprocess", "tempfile", "elftools", "ctypes", "collector.reading_fields"}
    slow |= {f"collector.profile.{name}" for name in ("sample_points", "metric_series", "place_sums", "over_ranks", "filters", "categories")}
    slow |= {"collector.experiment.events", "collector.symbols.symbolizer", "collector.analysis", "collector.page", "collector.exports"}
    assert not slow & (again - imported_by_nothing("typing", *(["annotationlib"] if sys.version_info >= (3, 14) else [])))


def imported_by_nothing(*wanted: str) -> set[str]:
    """What an interpreter imports by itself, which differs between systems, and with modules of its own that are needed: 3.14 has new needs."""
    script = f"import {', '.join(('sys', *wanted))}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.split()) - set(wanted)


def test_recording_needs_few_imports() -> None:
    """What takes long to import has no part in starting a program."""
    script = (
        "import sys; from collector.cli.main import main; main(['record', '-n', 'true']);"
        "print(*sorted({name.split('.')[0] for name in sys.modules} & {'elftools', 'asyncio', 'subprocess', 'tempfile', 'json'}),"
        "*(name for name in sys.modules if name.startswith('collector.') and name.split('.')[1] not in ('capture', 'cli', 'errors', 'experiment', 'format', 'namesakes', 'named_tuple', 'printable', 'readings', 'regular_file')),"
        "*(name for name in sys.modules if name.endswith(('.events', '.log_reader'))))"
    )
    environment = {"COLLECTOR_LIBRARY": "/bin/true", "PATH": "/bin:/usr/bin"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.stderr == "" and done.stdout.splitlines()[-1] == ""
