"""test_help_pages -- every page of the documentation is found by its name, and is readable on a terminal"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from collector.cli.describing.pages import find_pages, page_text
from collector.cli.main import iter_commands, main

ROOT = Path(__file__).resolve().parents[3]


def test_all_pages_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert listed >= {path.stem for path in (ROOT / "docs").glob("*.md")} | set(iter_commands())


@pytest.mark.parametrize(("word", "page"), [("tutorial", "tutorial.md"), ("rep", "commands/report.md"), ("metric-pl", "metric-plugins.md")])
def test_a_page_by_its_name(word: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", word]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / page).read_text()
    assert main(["help", word, "--path"]) == 0
    assert capsys.readouterr().out == f"{ROOT / 'docs' / page}\n"


def test_names_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "tutorail"]) == 2
    assert capsys.readouterr().err == "collector: there is no page 'tutorail'; did you mean tutorial?\n"
    assert main(["help", "m"]) == 2
    assert capsys.readouterr().err == "collector: the page 'm' is not clear: man or metric-plugins?\n"


def test_where_there_are_no_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("collector.cli.describing.pages._PACKAGE", str(tmp_path / "collector"))
    assert main(["help", "tutorial"]) == 1
    assert capsys.readouterr().err == f"collector: the documentation is not installed: there is no {tmp_path}/docs\n"


PAGE = """# A title

Prose that is [linked](other.md) and **loud**,
of `two lines`
and a third.

* an item that is longer than
  a line
* another

```
code  as   it [is](x)
```

| a | b |
|---|---|
| `x` | one \\| two |
"""
TEXT = """A title

Prose that is linked
and loud, of `two
lines` and a third.

* an item that is
  longer than a line
* another

    code  as   it [is](x)

a  b
`x`  one | two
"""


def test_a_page_as_text() -> None:
    assert page_text(PAGE, 20) == TEXT


@pytest.mark.parametrize("page", sorted(find_pages()))
def test_every_page_fits_but_its_code(page: str) -> None:
    markdown = Path(find_pages()[page]).read_text()
    text = page_text(markdown, 90)
    assert not [line for line in text.splitlines() if len(line) > 90 and not line.startswith("    ") and " " in line]
    assert "](" not in "".join(line for line in text.splitlines() if not line.startswith("    ")).replace("`", "")


@pytest.mark.parametrize(("pager", "seen"), [("sed 's/^/> /'", "> collector cache\r\n"), ("no-such-pager", "collector cache\r\n")])
def test_on_a_terminal(pager: str, seen: str) -> None:
    terminal = Terminal([sys.executable, "-m", "collector", "help", "cache"], {**os.environ, "PAGER": pager, "PYTHONPATH": str(ROOT)})
    assert terminal.await_end() == 0
    terminal.close()
    assert terminal.seen.startswith(seen) and "](" not in terminal.seen
