"""test_page -- `collector html` of a recording with threads, processes, phases, pauses, Python and inlined calls, in a real browser: its figures are those of `collector report`"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from pythons import TARGET
from recorded import Recorded, collector_command, execute

Picture = Callable[[str], None]
TOP = 6

# Of the selection: all that is compared, in seconds.
FIGURES = """(() => {
  const {sums, experiment} = collectorPage, {functions} = sums, name = (index) => index < 0 || index === experiment.unfinished ? "" : experiment.functionName(index, true);
  const rows = [...functions.inclusive.keys()].filter((index) => functions.inclusive[index]);
  return {
    total: sums.total, samples: sums.count,
    functions: rows.map((index) => [name(index), experiment.moduleName(index), functions.exclusive[index], functions.inclusive[index], functions.counts[index]]),
  };
})()"""

NEIGHBOURS = """((wanted) => {
  const {sums, experiment} = collectorPage, name = (index) => index < 0 || index === experiment.unfinished ? "" : experiment.functionName(index, true);
  const {callers, callees} = sums.neighbours(experiment.facts.functions.name.indexOf(wanted));
  return [callers, callees].map((rows) => rows.map((row) => [name(row.function), row.value]));
})"""

LINES = """((path) => [...collectorPage.sums.linesOf(collectorPage.experiment.facts.files.indexOf(path))].map(([line, row]) => [line, ...row]))"""


@pytest.fixture(scope="module")
def recording(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> Recorded:
    recorded = record([sys.executable, TARGET / "tour.py", 400, compiled("inlined_parts.cc", "-O2")])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    return recorded


@pytest.fixture(scope="module")
def file(browser: Browser, recording: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "tour.html"
    outcome = execute(collector_command("html", recording.path, "--sources", "-o", path))
    assert outcome.status == 0, outcome.stderr
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Browser]:
    browser.open(file)
    yield browser
    assert browser.complaints == []


def report(recording: Recorded, *words: object) -> Any:
    outcome = execute(collector_command("report", recording.path, *words, "--json"))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


def choose(page: Browser, **state: object) -> None:
    """Select in the page; `threads` is a list."""
    parts = ", ".join(f"{name}: {f'new Set({json.dumps(value)})' if name == 'threads' else json.dumps(value)}" for name, value in state.items())
    page.run(f"collectorPage.state.set({{{parts}}})")
    page.settle()


def busiest_thread(recording: Recorded) -> tuple[list[int], int]:
    """Its positions among all (one for each program that it ran), and its number."""
    cells = recording.profile.samples.cells()
    times = {thread: sum(user for other, user in zip(cells.threads, cells.values[0]) if other == thread) for thread in cells.threads}
    thread = max(times, key=lambda one: times[one])
    tid = recording.profile.threads[thread].tid
    return [position for position, one in enumerate(recording.profile.threads) if one.tid == tid], tid


def within(count: float) -> float:
    """Each sample is rounded to a microsecond; what that takes from one is given to the next."""
    return (count + 1) * 1e-6


def hold_figures(page: Browser, recording: Recorded, *options: object) -> None:
    """Functions, the callers and callees of some, and the lines of a file: all as `collector report` has them."""
    shown, expected = page.run(FIGURES), report(recording, *options, "functions")
    assert shown["samples"] == expected["total"]["samples"]
    assert abs(shown["total"] - expected["total"]["cpu"]) <= within(len(recording.profile.threads))  # samples of a thread are rounded one after the other
    found = {(name, module): row for name, module, *row in shown["functions"] if name not in ("", "(unfinished stacks)")}
    assert set(found) == {(row["function"], row["module"]) for row in expected["rows"]}
    for row in expected["rows"]:
        exclusive, inclusive, count = found[row["function"], row["module"]]
        assert count == row["exclusive"]["samples"]
        assert abs(exclusive - row["exclusive"]["cpu"]) <= within(count), row
        assert abs(inclusive - row["inclusive"]["cpu"]) <= within(row["inclusive"]["samples"]), row
    for row in expected["rows"][:TOP]:
        if [one.name for one in recording.profile.functions].count(row["function"]) == 1:
            hold_neighbours(page, recording, row["function"], *options)


def hold_neighbours(page: Browser, recording: Recorded, function: str, *options: object) -> None:
    expected = report(recording, *options, "callers-callees", function)
    for relation, shown in zip(("caller", "callee"), page.run(f"{NEIGHBOURS}({json.dumps(function)})")):
        figures: dict[str, float] = {}
        for name, value in shown:
            figures[name] = figures.get(name, 0) + value
        rows: dict[str, list[float]] = {}
        for row in expected["rows"]:
            if row["relation"] == relation:
                both = rows.setdefault("" if row["module"] is None else row["function"], [0, 0])
                both[0] += row["values"]["cpu"]
                both[1] += row["values"]["samples"]
        assert set(figures) == set(rows), (function, relation)
        for name, (value, count) in rows.items():
            assert abs(figures[name] - value) <= within(count), (function, relation, name)


@pytest.mark.parametrize("span", [None, (0.3, 0.9), (0, 0.0007), (1.1, 5000)])
def test_figures_of_a_span(page: Browser, recording: Recorded, span: tuple[float, float] | None) -> None:
    if span is None:
        hold_figures(page, recording)
        return
    choose(page, span=span)
    words = "--time", f"{span[0]}-{span[1] if span[1] < 100 else ''}"
    if page.run("collectorPage.sums.count"):
        hold_figures(page, recording, *words)
    else:
        assert execute(collector_command("report", recording.path, *words, "functions", "--json")).stdout.count('"function"') == 0


def test_figures_of_a_thread(page: Browser, recording: Recorded) -> None:
    threads, tid = busiest_thread(recording)
    choose(page, threads=threads)
    hold_figures(page, recording, "--thread", tid)
    choose(page, span=[0.2, 0.8])
    hold_figures(page, recording, "--thread", tid, "--time", "0.2-0.8")


def test_recursion_in_turn(page: Browser, recording: Recorded) -> None:
    """`even` calls `odd`, which calls `even`: callers of the outermost, callees of the innermost, and nobody is lost in between."""
    for function in ("even", "odd", "spin", "leaf"):
        hold_neighbours(page, recording, function)


@pytest.mark.parametrize("name", ["tour.py", "inlined_parts.cc"])
def test_lines(page: Browser, recording: Recorded, name: str) -> None:
    expected = report(recording, "source", name)
    shown = {line: row for line, *row in page.run(f"{LINES}({json.dumps(expected['file'])})")}
    with_time = {row["line"]: row for row in expected["rows"] if row["inclusive"]["cpu"]}
    assert set(shown) == set(with_time) and len(with_time) > 3
    for line, row in with_time.items():
        exclusive, inclusive, count = shown[line]
        assert count == row["exclusive"]["samples"]
        assert abs(exclusive - row["exclusive"]["cpu"]) <= within(count)
        assert abs(inclusive - row["inclusive"]["cpu"]) <= within(row["inclusive"]["samples"])


@pytest.mark.parametrize("metric", ["user", "system", "samples"])
def test_other_metrics(page: Browser, recording: Recorded, metric: str) -> None:
    choose(page, metric=metric)
    shown, expected = page.run(FIGURES), report(recording, "functions")
    assert abs(shown["total"] - expected["total"][metric]) <= 1e-6
    found = {(name, module): row for name, module, *row in shown["functions"]}
    for row in expected["rows"][:TOP]:
        if row["inclusive"][metric]:
            both = found[row["function"], row["module"]]
            for value, kind in zip(both, ("exclusive", "inclusive")):
                assert abs(value - row[kind][metric]) <= within(row[kind]["samples"])


def test_search_total(page: Browser, recording: Recorded) -> None:
    """A call below another match counts once. The page takes no account of case."""
    for pattern in ("even|odd", "^spin$", "sort"):
        choose(page, search=pattern, tab="flame")
        part, whole = (report(recording, *words, "functions")["total"] for words in (("--function", f"(?i){pattern}"), ()))
        share = float(page.run("document.querySelector('#view-flame .matches').textContent").split(" %")[0])
        assert abs(share - 100 * part["cpu"] / whole["cpu"]) <= 0.05 + 100 * within(part["samples"]) / whole["cpu"]


def test_views_are_shown(page: Browser, recording: Recorded, picture: Picture) -> None:
    """Each has what it is for, and keeps a picture."""
    for tab, wanted in {
        "flame": "collectorPage.views.flame.boxes.length > 50",
        "functions": "document.querySelectorAll('#view-functions .body .row').length > 10",
        "callers": "document.querySelectorAll('#view-callers .neighbour').length > 1",
        "source": "document.querySelectorAll('#view-source .line code').length > 10 && document.querySelector('#view-source .picked, #view-source .line') !== null",
        "summary": "document.querySelectorAll('#view-summary .card').length >= 5 && document.body.innerText.includes('sigtrap') + document.body.innerText.includes('clock') > 0",
    }.items():
        choose(page, tab=tab)
        assert page.run(wanted), tab
        assert page.run("[...document.querySelectorAll('main > section')].filter((one) => !one.hidden).map((one) => one.id)") == [f"view-{tab}"]
        picture(f"tour-{tab}")
    for mode in ("inverted", "threads", "time"):
        choose(page, tab="flame", mode=mode)
        assert page.run("collectorPage.views.flame.boxes.length > 20"), mode
        picture(f"tour-flame-{mode}")
    page.run("collectorPage.changeTheme()")
    choose(page, mode="calls", span=[0.3, 0.9], search="spin")
    picture("tour-dark")
    page.run("collectorPage.changeTheme()")


def test_titles_stay_on_top(page: Browser) -> None:
    """Of a source that is scrolled, and of a table in which one column says how it is sorted: none is covered, none is cut."""
    choose(page, tab="source")
    page.run("document.querySelector('#view-source .source').scrollTop += 7")
    inside = "[...document.querySelectorAll('#view-source .line.head span')].filter((span) => span.textContent).map((span) => {{ const box = span.getBoundingClientRect(); return {}; }})"
    found = page.run(inside.format("document.elementFromPoint(box.left + box.width / 2, box.bottom - 3).closest('.head') !== null"))
    assert len(found) >= 3 and all(found)
    choose(page, tab="functions")
    assert page.run("[...document.querySelectorAll('#view-functions .head .cell')].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)") == []


def test_callers_of_one_function_after_the_other(page: Browser) -> None:
    """The rows of the view are used again: what stands in them is of the function that is shown."""
    choose(page, tab="callers")
    shown = """(async (index) => {
      collectorPage.state.set({function: index});
      await new Promise(requestAnimationFrame);
      const {sums, experiment} = collectorPage, {callers, callees} = sums.neighbours(index), own = sums.functions.exclusive[index] > 0;
      const lists = [...document.querySelectorAll('#view-callers .neighbours')].map((list) => [...list.querySelectorAll('.neighbour:not([hidden])')].map((row) => row.querySelector('.name').textContent));
      const name = (row) => row.function < 0 ? "(start of the stack)" : experiment.functionName(row.function);
      return [lists, [callers.map(name), [...(own ? ["the function itself"] : []), ...callees.map(name)]]];
    })"""
    many = page.run("""(({sums}) => {
      const seen = [...sums.functions.inclusive.keys()].filter((index) => sums.functions.inclusive[index]);
      const sizes = new Map(seen.map((index) => [sums.neighbours(index).callees.length, index]));  // a function of each length of list, whatever chance has sampled
      return [...new Set([...sizes.values(), ...seen.slice(0, 30)])];
    })(collectorPage)""")
    sizes = set()
    for index in many:
        lists, wanted = page.run(f"{shown}({index})")
        assert lists == [names[:200] for names in wanted]
        sizes.add(len(lists[1]))
    assert len(sizes) > 3


def test_timeline_tells_what_happened(page: Browser, recording: Recorded) -> None:
    facts = page.run("collectorPage.experiment.facts")
    assert set(facts["moments"]["label"]) == {"read input", "solve", "children"}
    assert len(facts["pauses"]["start"]) == 2 and all(end - start > 0.1 for start, end in zip(facts["pauses"]["start"], facts["pauses"]["end"]))
    parents = facts["processes"]["parent"]
    assert parents.count(-1) == 1 and len(parents) >= 4, "all but the first descend from it"


def test_inlined_calls_are_boxes(page: Browser, recording: Recorded) -> None:
    kinds = dict(page.run("collectorPage.views.flame.boxes.map((box) => [collectorPage.experiment.functionName(box.function, true), box.kind])"))
    assert kinds["main"] in ("native", "python")
    assert any(kind == "inlined" and "sort" in name for name, kind in kinds.items())
    assert any(kind.startswith("python") for kind in kinds.values())
