"""test_completion -- bash, zsh and fish themselves complete command lines of collector"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal

from collector.cli.describing import SHELLS
from collector.cli.describing.completion import completion_script
from collector.cli.describing.grammar import read_grammar
from collector.cli.main import iter_commands, main
from collector.cli.reporting.words import VIEWS

Candidates = Callable[[str], set[str]]

_SHOW = "show() { printf '{%s}' \"$@\"; echo '{end}'; }\n"
_ZSH = """fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D
zle -C every complete-word _generic; bindkey '^Xa' every
zstyle ':completion:every:*' completer _all_matches _complete; zstyle ':completion:every:*' insert true
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments, a directory, a text, a script and the three completions."""
    place = tmp_path_factory.mktemp("completion")
    for folder in ("apple.expt", "apricot.expt", "inner/berry.expt", "blank space.expt"):
        (place / folder).mkdir(parents=True)
    (place / "file.txt").write_text("")
    (place / "script.py").write_text("")
    for shell, name in zip(SHELLS, ("collector.bash", "_collector", "collector.fish")):
        (place / name).write_text(completion_script(shell))
    return place


@pytest.fixture(scope="module", params=SHELLS)
def candidates(request: pytest.FixtureRequest, place: Path) -> Iterator[Candidates]:
    """What a shell offers for a line, as it would stand on the command line."""
    shell = request.param
    if not shutil.which(shell):
        pytest.skip(f"this system has no {shell}")
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "TERM": "dumb", "PS1": "", "LC_ALL": "C.UTF-8"}
    if shell == "fish":
        yield lambda line: _asked_of_fish(line, place, environment)
        return
    terminal = Terminal({"bash": ("bash", "--norc", "--noprofile"), "zsh": ("zsh", "-f")}[shell], environment, place, (24, 4000))
    try:
        if shell == "bash":
            terminal.type(_SHOW + "bind 'set enable-bracketed-paste off'; bind '\"\\C-xa\": insert-completions'; . ./collector.bash; show ready\n")
        else:
            terminal.type(_SHOW + _ZSH + "unset zle_bracketed_paste; show ready\n")
        terminal.await_text(r"\n\{ready\}\{end\}")
        yield lambda line: _inserted(line, terminal)
    finally:
        terminal.close()


def _inserted(line: str, terminal: Terminal) -> set[str]:
    """Have all candidates put into the line, and the line told as words."""
    terminal.type(f"{line}\x18a")
    terminal.type("\x01show \n")
    words = re.findall(r"\{([^{}]*)\}", terminal.await_text(r"\r\n(\{[^\r\n]*)\{end\}")[1])
    typed = line.split(" ")
    return {word.removeprefix(typed[-1].partition("=")[0] + "=") if "=" in typed[-1] else word for word in words[len(typed) - 1 :]} - {typed[-1]}


def _asked_of_fish(line: str, place: Path, environment: dict[str, str]) -> set[str]:
    script = "source collector.fish; complete -C $argv[1]"
    done = subprocess.run(["fish", "--no-config", "-c", script, line], capture_output=True, text=True, cwd=place, env=environment)
    assert done.stderr == ""
    words = {found.partition("\t")[0] for found in done.stdout.splitlines()}
    return {re.sub("^--[a-z-]+=", "", word) for word in words} if "=" in line else words


def test_commands(candidates: Candidates) -> None:
    assert candidates("collector ") >= set(iter_commands())
    assert candidates("collector rep") == {"report"}


@pytest.mark.parametrize("command", iter_commands())
def test_options(candidates: Candidates, command: str) -> None:
    (grammar,) = (each for each in read_grammar() if each.name == command)
    short, long = ({name for option in grammar.options for name in option.names if name.startswith("--") is is_long} for is_long in (False, True))
    assert {word.rstrip("=") for word in candidates(f"collector {command} --")} == long
    assert {word.rstrip("=") for word in candidates(f"collector {command} -")} >= short


LINES = {
    "collector report --gil ": {"held", "released"},
    "collector report apple.expt --by th": {"thread"},
    "collector record --clock=s": {"sigtrap"},
    "collector run -p h": {"hi"},
    "collector report apple.expt fun": {"functions", "function"},
    "collector report apple.expt apricot.expt call": {"calltree", "callers-callees", "calls"},
    "collector events apple.expt -k PCS": {"PCSAMPLE"},
    "collector compare --by l": {"line"},
    "collector completion z": {"zsh"},
    "collector man re": {"record", "reduce", "report"},
    "collector cache cl": {"clear"},
    "collector report apple.expt -o fi": {"file.txt"},
    "collector archive apple.expt --debug-dir in": {"inner"},
    "collector record -o file.txt --jit ./scr": {"./script.py"},
    "collector record -o x.expt cat fi": {"file.txt"},
    "collector record cat --clock=x fi": {"file.txt"},
    "collector watch -- ./scr": {"./script.py"},
    "collector watch -i 2 -- cat fi": {"file.txt"},
    "collector watch aprico": {"apricot.expt"},
}


@pytest.mark.parametrize("line", LINES)
def test_words(candidates: Candidates, line: str) -> None:
    assert {word.rstrip("/") for word in candidates(line)} == LINES[line]


def test_views_behind_an_experiment(candidates: Candidates) -> None:
    assert candidates("collector report apple.expt ") >= set(VIEWS)
    assert not candidates("collector report ") & set(VIEWS)


@pytest.mark.parametrize(("line", "found"), [
    ("collector report ap", {"apple.expt", "apricot.expt"}),
    ("collector events inner/", {"inner/berry.expt"}),
    ("collector compare apple.expt -- apr", {"apricot.expt"}),
    ("collector archive bl", {"blank space.expt"}),
])
def test_experiments(candidates: Candidates, line: str, found: set[str]) -> None:
    assert {name.rstrip("/").replace("\\", "") for name in candidates(line)} == found


def test_programs_and_signals(candidates: Candidates) -> None:
    assert candidates("collector record --jit mkdi") & {"mkdir"}
    assert "mkdir" in {word.rpartition("/")[2] for word in candidates("collector record mkd")}
    assert candidates("collector record -l USR") == {"USR1", "USR2"}


def test_tab_ends_an_experiment_as_a_word(place: Path) -> None:
    """A directory is only on the way, and waits for more of the path."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "TERM": "dumb", "PS1": ""}
    terminal = Terminal(("bash", "--norc", "--noprofile"), environment, place, (24, 400))
    try:
        terminal.type(_SHOW + ". ./collector.bash; show ready\n")
        terminal.await_text(r"\n\{ready\}\{end\}")
        terminal.type("collector report app\tfunctions\x01show \n")
        terminal.await_text(r"\n\{collector\}\{report\}\{apple.expt\}\{functions\}\{end\}")
        terminal.type("collector report bla\tinn\tb\t\x01show \n")
        terminal.await_text(r"\n\{collector\}\{report\}\{blank space.expt\}\{inner/berry.expt\}\{end\}")
    finally:
        terminal.close()


def test_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in SHELLS:
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == completion_script(shell)
    assert main(["completion"]) == 2 and main(["completion", "tcsh"]) == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_help_is_no_script(shell: str) -> None:
    """Quotes and brackets of a help text stay text: the shell itself reads what was made."""
    if not shutil.which(shell):
        pytest.skip(f"this system has no {shell}")
    done = subprocess.run([shell, "-n"], input=completion_script(shell), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
