"""test_builtin_metrics -- the built-in metrics are what their XML says, and are known without reading it"""

from __future__ import annotations

import sys
from pathlib import Path

import metric_files
import pytest

from collector.capture.definition_file import read_definitions
from collector.capture.definition_reader import parse_definitions


def test_the_module_is_what_the_xml_makes_of_it(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        metric_files.MODULE.write_text(metric_files.text(), encoding="utf-8")
    assert metric_files.MODULE.read_text(encoding="utf-8") == metric_files.text(), "python3 libcollector_c/metric_files.py writes it"


def test_they_are_known_wherever_the_file_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, content = str(tmp_path / "mine.xml"), metric_files.XML.read_bytes()
    Path(path).write_bytes(content)
    parsed = parse_definitions(path, content)
    assert parsed.metrics and parsed.groups and parsed.sources
    monkeypatch.setitem(sys.modules, "collector.capture.definition_reader", None)
    assert read_definitions(path) == parsed


def test_a_changed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "builtin.xml"
    path.write_bytes(metric_files.XML.read_bytes().replace(b"User CPU time", b"Time of the user"))
    assert read_definitions(str(path)).metrics[0].title == "Time of the user"
