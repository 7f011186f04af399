"""test_tutorial -- docs/tutorial.md, typed in: its programs are saved, its commands run in order, its sentences come out

Figures differ from run to run, so numbers, clocks and places are masked in what is compared: the sentences of
`collector` itself, and the heading of every report.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from recorded import ROOT, clean_environment

PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = {"c": ["lookup.c", None, "team.c"], "fortran": ["phases.f90"], "python": ["words.py", "phases.py", None]}
MARKS = "    collector_sample"


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the page, and what the page says it prints."""

    command: str
    output: str


def programs() -> dict[str, str]:
    """The page's programs by the names it gives them; marked.c is lookup.c with another end of main."""
    texts = {}
    blocks = BLOCK.findall(PAGE)
    for language, names in NAMES.items():
        found = [text for kind, text in blocks if kind == language]
        assert len(found) == len(names), f"the page has other {language} blocks than this test knows"
        texts.update({name: text for name, text in zip(names, found) if name})
    marks = next(text for kind, text in blocks if kind == "c" and MARKS in text)
    last = '    printf("%ld\\n", ask());\n'
    assert last in texts["lookup.c"]
    texts["marked.c"] = '#include "libcollector.h"\n' + texts["lookup.c"].replace(last, marks[marks.index(MARKS) :])
    return texts


def steps() -> list[Step]:
    """What is typed behind `$ `, but for the installation."""
    found = []
    for _, text in BLOCK.findall(PAGE):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if ".venv" not in command:
                found.append(Step(command, output))
    return found


def sentences(output: str, directory: str) -> list[str]:
    """What must come out again: our sentences and headings, without what differs from run to run."""
    kept = [line for line in output.splitlines() if line.startswith("collector: ") or re.match(r"[A-Z][a-z ]+ (of|in) \S+\.expt|[A-Z].* in \S+\.expt$", line)]
    masked = []
    for line in kept:
        line = line.replace(directory, "/tmp/hour")
        line = re.sub(r"clock [a-z-]+ at \d+ Hz( \([^()]*\))?", "CLOCK", line)
        line = re.sub(r"every [\d.]+ ms", "every N ms", re.sub(r"\d[\d,.]*\d|(?<![\w.])\d", "N", line))
        line = line.replace(" (N program images)", "")  # a shell may run the last command in its own process; python3 is a script here
        # How much CPU time one thread had is told apart where a second could have had some.
        line = line.replace("no sample was taken: no thread used more than ", "no sample was taken: ")
        # A pause is only told where it is long enough to be.
        line = re.sub(r" \(pauses included\)(.*), recording paused for .*? of the (?:run|processes' run time)\), nothing lost while it was on", r"\1, nothing lost", line)
        masked.append(re.sub(r"\b(sample|process|log)(?:s|es)?\b", r"\1", line))
    return masked


def is_as_on_the_page(step: Step, done: subprocess.CompletedProcess[str], directory: Path) -> bool:
    """Whether all sentences came that the page says."""
    came = sentences(done.stdout + done.stderr, str(directory))
    return all(line in came for line in sentences(step.output, "/tmp/hour"))


def missing_tool(command: str) -> str:
    """What this system lacks for a command, "" if nothing."""
    if "gfortran" in command and subprocess.run(["sh", "-c", "command -v gfortran"], capture_output=True).returncode:
        return "gfortran is not installed"
    if "-static" in command:
        probe = subprocess.run(["cc", "-x", "c", "-", "-static", "-o", os.devnull], input="int main(void) { return 0; }", text=True, capture_output=True)
        return "cc -static cannot link here" if probe.returncode else ""
    return ""


@pytest.fixture
def shell(recorder: Path, tmp_path: Path):
    """A directory with the page's programs, and the `collector` of this source tree in PATH."""
    for name, text in programs().items():
        (tmp_path / name).write_text(text)
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    native = recorder.parent
    config = {"--cflags": f"-I{ROOT}/libcollector_c/include", "--libs": f"-L{native} -Wl,-rpath,{native} -lfcollector -lcollectorAPI"}
    config["--fflags --fortran-module"] = f"-I{tmp_path} {ROOT}/libcollector_c/fortran/collector.f90"
    cases = "".join(f'"config {words}") echo "{flags}";;\n' for words, flags in config.items())
    (bin_directory / "collector").write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exec {sys.executable} -m collector "$@";;\nesac\n')
    (bin_directory / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for program in bin_directory.iterdir():
        program.chmod(0o755)
    environment = {**clean_environment(), "PATH": f"{bin_directory}:{os.environ['PATH']}", "COLUMNS": "100"}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    return run


def test_the_page_typed_in(shell, tmp_path: Path) -> None:
    all_steps = steps()
    assert len(all_steps) >= 20
    lacking: list[str] = []
    skipped: set[str] = set()
    for position, step in enumerate(all_steps):
        lack = missing_tool(step.command)
        made = re.findall(r"-o (\w+)", step.command)
        if lack or any(re.search(rf"\./{name}\b|\b{name}\.1", step.command) for name in skipped):
            lacking += [lack] if lack else []
            skipped.update(made if lack else ["sh"] if "./fixed" in step.command else [])
            continue
        if step.command == "echo $?":
            continue
        done = shell(step.command)
        follows = all_steps[position + 1] if position + 1 < len(all_steps) else Step("", "")
        status = int(follows.output) if follows.command == "echo $?" else 0
        assert done.returncode == status, f"$ {step.command}\n{done.stdout}{done.stderr}"
        if not is_as_on_the_page(step, done, tmp_path) and "no sample was taken" in step.output:
            shutil.rmtree(tmp_path / "true.1.expt")  # beside other tests `true` itself may take a period of CPU time, once
            done = shell(step.command)
        assert is_as_on_the_page(step, done, tmp_path), f"$ {step.command}\n{done.stdout}{done.stderr}"
    if lacking:
        pytest.skip(f"all but this was tried: {'; '.join(lacking)}")


def test_the_pages_table(shell, tmp_path: Path) -> None:
    """The last program wants pandas, which is no part of the test's set-up; the rows it is given are looked at instead."""
    assert shell("cc -g -O2 -fno-inline lookup.c -o lookup && collector record ./lookup").returncode == 0
    text = [text for kind, text in BLOCK.findall(PAGE) if kind == "python"][-1].replace("import pandas\n", "")
    (tmp_path / "table.py").write_text(text.replace("pandas.DataFrame(", "list(").replace('table[["function", "exclusive", "inclusive"]].head(3)', "table[0].function"))
    done = shell("python3 table.py")
    assert done.stdout == "find\n", done.stderr
