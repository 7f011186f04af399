"""test_man_pages -- a page for every command, with all that its help says, that groff takes without a word"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from collector.cli.describing.grammar import read_command
from collector.cli.describing.man_page import _text, man_page
from collector.cli.main import build_parser, iter_commands, load_command, main

PAGES = [None, *iter_commands()]


def formatted(source: str) -> str:
    """The page as groff shows it, without a word broken."""
    if not shutil.which("groff"):
        pytest.skip("this system has no groff")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=400n", "-rHY=0"], input=source, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("command", PAGES)
def test_groff_has_nothing_to_complain_about(command: str | None) -> None:
    assert formatted(man_page(command))


@pytest.mark.parametrize("command", PAGES)
def test_mandoc_has_nothing_to_complain_about(command: str | None) -> None:
    if not shutil.which("mandoc"):
        pytest.skip("this system has no mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=man_page(command), capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


@pytest.mark.parametrize("command", iter_commands())
def test_the_page_says_what_the_help_says(command: str) -> None:
    def words(text: str) -> str:
        return re.sub(r"\s+", " ", text.replace("`", "'").replace("‘", "'").replace("’", "'"))

    page = words(formatted(man_page(command)))
    for action in build_parser(load_command(command))._actions:
        assert words((action.help or "").replace("%%", "%")) in page
        for name in action.option_strings:
            assert f"{name} " in page or f"{name}," in page
    for line in load_command(command).HELP.splitlines()[1:]:
        assert words(line).strip() in page


def test_the_page_of_all_names_every_command() -> None:
    page = formatted(man_page(None))
    for name in iter_commands():
        assert re.search(rf"^ +{name} +{re.escape(read_command(name).summary[:30])}", re.sub(r"\n {9,}", " ", page), re.MULTILINE)
        assert f"collector-{name}(1)" in page


def test_text_is_no_roff() -> None:
    hostile = ".so /etc/passwd\\fB 'quoted' `here` --option ^~"
    assert hostile.replace("`", "'") in formatted(f'.TH A 1 "" "" ""\n{_text(hostile)}\n').replace("‘", "'").replace("`", "'")
    assert "'begins so" in formatted(f'.TH A 1 "" "" ""\n{_text(chr(39) + "begins so")}\n')


def test_written_into_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "-o", str(tmp_path / "man1")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/man1: {len(PAGES)} pages\n"
    assert {path.name for path in (tmp_path / "man1").iterdir()} == {"collector.1", *(f"collector-{name}.1" for name in iter_commands())}
    assert main(["man", "rep", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "collector-report.1").read_text() == man_page("report")


def test_a_directory_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["man", "-o", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err == f"collector: {tmp_path}/file cannot be written: file exists\n"


def test_no_such_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "reprot"]) == 2
    assert capsys.readouterr().err == "collector: there is no command 'reprot'; did you mean report?\n"


def on_a_terminal(path: str, *words: str) -> str:
    """What somebody sees who types this."""
    environment = {**os.environ, "MANPAGER": "cat", "PATH": path, "PYTHONPATH": str(Path(__file__).parents[3])}
    terminal = Terminal([sys.executable, "-m", "collector", *words], environment)
    terminal.await_end()
    terminal.close()
    return terminal.seen


def test_on_a_terminal_man_shows_it() -> None:
    if not shutil.which("man") or not shutil.which("groff"):
        pytest.skip("this system has no man")
    seen = on_a_terminal(os.environ["PATH"], "man", "cache")
    assert "COLLECTOR-CACHE(1)" in re.sub(r"\x1b\[[\d;]*m", "", seen) and ".SH" not in seen


def test_a_terminal_without_man(tmp_path: Path) -> None:
    seen = on_a_terminal(str(tmp_path), "man", "cache")
    assert seen == "collector: there is no man(1) here to show the page; -h behind a command tells the same\r\n"
