"""test_python_command -- what stands in front of a module, a piece of code or a script, and how the experiment is called"""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.cli.main import build_parser, load_command
from collector.cli.recording.python_command import completed, title_of
from collector.errors import UsageError


def command_of(words: list[str]) -> list[str]:
    record = load_command("record")
    command = build_parser(record).parse_args(record.prepare(words)).command
    return command[1:] if command[0] == "--" else command


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["-m", "pytest", "-x", "--", "-o"], ["python3", "-m", "pytest", "-x", "--", "-o"]),
        (["-p", "hi", "-c", "pass", "-m"], ["python3", "-c", "pass", "-m"]),
        (["ls", "-m", "x"], ["ls", "-m", "x"]),
        (["-n", "--jit", "-phi", "--clock=auto", "-o", "y", "-m", "x"], ["python3", "-m", "x"]),
    ],
)
def test_what_is_behind_the_option_is_the_programs(words: list[str], command: list[str]) -> None:
    assert command_of(words) == command


def test_an_option_needs_something_behind_it() -> None:
    with pytest.raises(UsageError, match="-m needs a module"):
        command_of(["--jit", "-m"])


def test_a_script_that_cannot_run_by_itself_is_given_to_python(tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text("pass")
    assert completed([str(script), "-v"]) == ["python3", str(script), "-v"]
    script.chmod(0o755)
    assert completed([str(script)]) == [str(script)]
    assert completed([str(tmp_path / "missing.py")]) == [str(tmp_path / "missing.py")]


@pytest.mark.parametrize(
    ("command", "title"),
    [
        (["python3", "-m", "http.server"], "http.server"),
        (["python3", "-c", "pass"], "python3"),
        (["/usr/bin/python3", "a/work.py", "-m"], "a/work"),
        (["python3", "-X", "dev", "work.py"], "python3"),
        (["python3"], "python3"),
        (["xz", "work.py"], "xz"),
    ],
)
def test_the_title_is_that_of_the_module_or_script(command: list[str], title: str) -> None:
    assert title_of(command) == title
