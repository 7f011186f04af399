"""test_notebook -- an experiment at the end of a cell: a table that says what ran and where its time went, and nothing that could run"""

from __future__ import annotations

from html.parser import HTMLParser

from busy_profile import busy_profile
from tiny_profile import build_profile

from collector.load.experiment import Experiment


class Read(HTMLParser):
    """The rows of all tables as texts, and which elements and attributes there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "tr" in self._open:
            self.rows[-1][-1] += data


def shown(experiment: Experiment) -> Read:
    found = Read(experiment._repr_html_())
    assert found.elements <= {"div", "table", "tr", "th", "td", "p", "code"} and found.attributes <= {"style"}
    return found


def test_what_ran_and_where_its_time_went() -> None:
    assert shown(Experiment(build_profile([("main;work", 3, 1), ("main;work;read@libc.so.6", 1, 0)]))).rows == [
        ["Experiment", "test.1.expt"],
        ["Command", "./test -v input file"],
        ["Took", "20.000 s, exited with status 0"],
        ["CPU time", "5.000 s in 1 thread of 1 process"],
        ["Exclusive s", "%", "Inclusive s", "%", "Function", "Module"],
        ["4.000", "80.0", "5.000", "100.0", "work", "test"],
        ["1.000", "20.0", "1.000", "20.0", "read", "libc.so.6"],
        ["0.000", "0.0", "5.000", "100.0", "main", "test"],
    ]


def test_many_functions_are_cut_short() -> None:
    experiment = Experiment(build_profile([(f"main;f{number}", 1, 0) for number in range(30)]))
    assert len(shown(experiment).rows) == 4 + 1 + 10
    assert "and 21 functions more" in experiment._repr_html_()


def test_no_samples_and_several_experiments() -> None:
    assert len(shown(Experiment(build_profile([]))).rows) == 4
    assert sum(row[0] == "Experiment" for row in shown(Experiment(busy_profile())).rows) == 2


def test_hostile_names_stay_names() -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e\udcff"
    profile = build_profile([(f"main;{hostile.replace(';', '')}", 1, 0), ("x" * 100_000, 1, 0)])
    (recording,) = profile.recordings
    experiment = Experiment(profile._replace(recordings=(recording._replace(name=hostile, command=(hostile,)),)))
    texts = [text for row in shown(experiment).rows for text in row]
    visible = hostile.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd").replace("\udcff", "\ufffd")
    assert texts.count(visible) == 3
    experiment._repr_html_().encode()
    assert len(experiment._repr_html_()) < 5000
