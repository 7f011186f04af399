"""test_watch_pace -- looking at a program takes a tenth of a CPU at most, however much there is to see"""

from __future__ import annotations

import pytest
from tiny_profile import build_profile

from collector.cli import watch
from collector.cli.main import main
from collector.profile.model import Profile

COSTS_S = [2.0, 0.02, 0.3, 0.05, 0.01]


def test_looks_become_rarer_where_they_cost_much(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    used_s, costs_s, pauses_s = [0.0], iter(COSTS_S), list[float]()

    class Looked:
        def __init__(self, path: str, symbolizer: object) -> None:
            self.count = 0

        @property
        def is_over(self) -> bool:
            return self.count == len(COSTS_S)

        def look(self) -> Profile:
            self.count += 1
            used_s[0] += next(costs_s)
            return build_profile([("main", 1, 0)])

    monkeypatch.setattr(watch, "LiveExperiment", Looked)
    monkeypatch.setattr(watch.time, "process_time", lambda: used_s[0])
    monkeypatch.setattr(watch.time, "sleep", pauses_s.append)
    assert main(["watch", "a.expt"]) == 0
    assert pauses_s == pytest.approx([1.0, 1.0, 3.0, 1.0])  # the first look is dear once
    assert capsys.readouterr().out.count("\n") == len(COSTS_S)
