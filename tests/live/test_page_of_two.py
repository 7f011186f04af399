"""test_page_of_two -- `collector html BEFORE -- AFTER` in a browser: what `collector compare` says, drawn; either side in the other views; instructions"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from recorded import Recorded, collector_command, execute
from tiny_profile import build_profile

from collector.page.compared import ComparedSide, compared_data, compared_run, function_keys
from collector.page.document import experiment_data, render
from collector.printable import printable
from collector.profile.instructions import InstructionRow, Listing
from collector.profile.model import Profile

pytestmark = pytest.mark.waits  # for the browser's next frame

ROUNDS = 30_000


@pytest.fixture(scope="module")
def sides(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> tuple[Recorded, Recorded]:
    old, new = compiled("two_versions.c", "-O2", name="prog"), compiled("two_versions.c", "-O2", "-DHASH_ROUNDS=40", "-DIS_NEW", name="prog")
    return record([old, ROUNDS]), record([new, ROUNDS])


@pytest.fixture(scope="module")
def file(sides: tuple[Recorded, Recorded], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "two.html"
    outcome = execute(collector_command("html", "--sources", "--disasm", "-o", path, sides[0].path, "--", sides[1].path))
    assert outcome.status == 0, outcome.stderr
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Browser]:
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.open(file)
    yield browser
    assert browser.complaints == []


@pytest.fixture
def pictures(browser: Browser, picture: Callable[[str], None]) -> Callable[[str], None]:
    """pictures(name) takes one in each theme."""

    def take(name: str) -> None:
        for theme in ("dark", "light"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            browser.settle()
            picture(f"{name}-{theme}")

    return take


def told(command: str, *words: object) -> Any:
    outcome = execute(collector_command(command, *words, "--json"))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


def box(page: Browser, title: str, graph: str = "collectorPage.views.compare.graph") -> tuple[float, float, str]:
    """The middle of a box of a flame graph on the screen, and its colour there: red, blue or grey."""
    return tuple(page.run(f"""(() => {{
      const graph = {graph}, canvas = graph.canvas.canvas, box = graph.boxes.find((one) => graph.title(one) === {json.dumps(title)});
      const area = canvas.getBoundingClientRect(), ratio = canvas.width / area.width, top = box.depth * ROW - graph.area.scrollTop;
      const x = (box.x + box.width) * area.width - 2, y = top + 3;
      const copy = document.createElement("canvas").getContext("2d", {{willReadFrequently: true}});
      copy.drawImage(canvas, x * ratio, y * ratio, 1, 1, 0, 0, 1, 1);
      const [red, , blue] = copy.getImageData(0, 0, 1, 1).data;
      return [area.left + x, area.top + y, Math.abs(red - blue) < 16 ? "grey" : red > blue ? "red" : "blue"];
    }})()"""))


def test_the_answer_and_all_rows_are_those_of_the_text(page: Browser, sides: tuple[Recorded, Recorded], pictures: Callable[[str], None]) -> None:
    document = told("compare", sides[0].path, "--", sides[1].path)
    assert page.run("document.querySelector('#view-compare .sentence').textContent") == document["answer"]
    figures = page.run("(({facts}) => ({names: facts.functions.name, ...facts.time, total: facts.total}))(collectorPage.comparison)")
    for name in ("before", "after", "difference", "difference_low", "difference_high", "ratio", "rest_ratio", "p"):
        assert figures[name] == [row[name] for row in document["rows"]]
        assert figures["total"][name] == document["total"][name]
    assert figures["names"][: len(document["rows"])] == [printable(row["function"]) for row in document["rows"]]
    findings = [row["function"] for row in document["rows"] if row["verdict"] != "none"]
    assert {"hash", "new_part", "old_part"} <= set(findings)
    shown = page.run("[...document.querySelectorAll('#view-compare .body .cell.wide')].map((cell) => cell.textContent)")
    assert shown[: len(findings)] == findings
    heads = page.run("[...document.querySelectorAll('#view-compare .head .cell')].map((cell) => cell.textContent)")
    assert ("beside rest" in heads) == any(row["rest_ratio"] is not None for row in document["rows"])
    pictures("compare")


def test_colours_are_of_what_is_more_than_chance(page: Browser, sides: tuple[Recorded, Recorded], pictures: Callable[[str], None]) -> None:
    assert [box(page, name)[2] for name in ("work", "hash", "new_part", "old_part")] == ["red", "red", "red", "blue"]
    page.run("collectorPage.state.set({difference: 'exclusive'})")
    page.settle()
    assert box(page, "work")[2] == "grey"
    for row in told("compare", "--by", "path", sides[0].path, "--", sides[1].path)["rows"]:
        if row["function"] in ("hash", "steady", "new_part", "old_part"):
            assert box(page, row["function"])[2] == {"slower": "red", "new": "red", "faster": "blue", "gone": "blue", "none": "grey"}[row["verdict"]]
    page.run("collectorPage.state.set({width: 'before'})")
    page.settle()
    titles = page.run("(({graph}) => graph.boxes.map((box) => graph.title(box)))(collectorPage.views.compare)")
    assert "old_part" in titles and "new_part" not in titles
    page.run("collectorPage.state.set({unit: 'share', width: 'both', difference: 'inclusive'})")
    page.settle()
    assert box(page, "work")[2] == "grey" and box(page, "hash")[2] == "red"
    pictures("compare-share")


def test_the_pointer_tells_before_and_after(page: Browser) -> None:
    x, y, _ = box(page, "hash")
    page.move((x, y))
    change = page.run("(({facts}) => (i => [facts.time.before[i], facts.time.after[i], facts.time.difference[i]].map(formatTime))(facts.functions.name.indexOf('hash')))(collectorPage.comparison)")
    text = page.run("document.getElementById('tooltip').innerText")
    assert f"{change[0]} → {change[1]}" in text and f"+{change[2]} ±" in text and "slower" in text
    page.click((x, y))
    assert page.run("collectorPage.comparison.name(collectorPage.comparison.nodeFunctions[collectorPage.state.branch])") == "hash"
    assert page.run("collectorPage.views.compare.graph.boxes.at(-1).width") == 1
    page.run("collectorPage.views.compare.graph.area.focus()")
    page.press("Escape")
    assert page.run("collectorPage.comparison.name(collectorPage.comparison.nodeFunctions[collectorPage.state.branch])") == "work"


def test_rows_are_sorted_filtered_and_picked(page: Browser) -> None:
    names = "collectorPage.views.compare.table.rows.map((row) => row.name)"
    before = page.run(names)
    page.run("[...document.querySelectorAll('#view-compare .head .cell')].find((cell) => cell.textContent === 'before').click()")
    values = page.run("collectorPage.views.compare.table.rows.map((row) => collectorPage.comparison.facts.time.before[row.number])")
    assert values == sorted(values, reverse=True) and page.run(names) != before
    page.run("[...document.querySelectorAll('#view-compare .head .cell')].find((cell) => cell.textContent === 'before').click()")
    assert page.run(names) == before
    page.press("/")
    for letter in "^hash$":
        page.press(letter)
    assert page.run(names) == ["hash"]
    page.run("document.querySelector('#view-compare .body .row').click()")
    page.settle()
    links = page.run("[...document.querySelectorAll('#view-compare .links button')].map((button) => button.textContent)")
    assert links == ["Callers & callees", "Source", "Disassembly"] * 2
    page.run("document.querySelectorAll('#view-compare .links button')[1].click()")
    page.settle()
    assert page.run("[collectorPage.state.tab, collectorPage.side, document.querySelector('.source .picked code').textContent.includes('hash')]") == ["source", "before", True]


def test_either_side_is_seen_in_the_other_views(page: Browser, sides: tuple[Recorded, Recorded], pictures: Callable[[str], None]) -> None:
    page.run("collectorPage.state.set({tab: 'callers', function: collectorPage.experiment.facts.functions.name.indexOf('hash')})")
    for side, recorded in (("before", sides[0]), ("after", sides[1])):
        page.run(f"[...document.querySelectorAll('#sides button')].find((button) => button.textContent === '{side}').click()")
        page.settle()
        assert page.run("[collectorPage.sums.total, collectorPage.experiment.duration > 0]") == [pytest.approx(recorded.total_ns / 1e9, abs=1e-5), True]
        own = next(row for row in told("report", recorded.path, "functions")["rows"] if row["function"] == "hash")
        assert page.run("document.querySelector('.middle-card h2').textContent") == "hash"
        shown = page.run("collectorPage.sums.functions.exclusive[collectorPage.state.function]")
        assert shown == pytest.approx(own["exclusive"]["cpu"], abs=1e-6 * own["exclusive"]["samples"])  # a cell has whole microseconds
    assert page.run("document.querySelectorAll('#timeline canvas').length") == 1
    page.run("collectorPage.state.set({function: collectorPage.experiment.facts.functions.name.indexOf('new_part')})")
    page.run("document.querySelector('#sides button').click()")
    page.settle()
    assert page.run("collectorPage.state.function") == -1  # it is not there
    pictures("side")


def test_an_address_shows_the_same_again(page: Browser, file: Path) -> None:
    page.run("collectorPage.state.set({unit: 'share', difference: 'exclusive', row: 1, side: 'before', order: 'after'})")
    page.wait_for("location.hash.includes('side=before')")
    fragment = page.run("location.hash")
    page.open(file, fragment)
    assert page.run("(({unit, difference, row, side, order, tab}) => [unit, difference, row, side, order, tab])(collectorPage.state)") == ["share", "exclusive", 1, "before", "after", "compare"]
    assert page.run("collectorPage.experiment === collectorPage.experiments[0]")
    page.open(file, "#side=__proto__&unit=constructor&width=toString&difference=x&order=zz&row=999999&branch=999999")
    assert page.run("document.querySelectorAll('#view-compare .body .row').length") > 3


def hold_instructions(page: Browser, rows: list[dict[str, Any]]) -> None:
    """The times of a selection, to the microseconds that they are rounded to."""
    shown = page.run("(({views: {disassembly}}) => [...disassembly.valuesOf(disassembly.shown.pieces[0])].filter(([, [, whole]]) => whole).sort(([one], [other]) => one - other))(collectorPage)")
    expected = [(place, row) for place, row in enumerate(rows) if row["inclusive"]["samples"]]
    assert [place for place, _ in shown] == [place for place, _ in expected] != []
    for (_, values), (_, row) in zip(shown, expected):
        for value, kind in zip(values, ("exclusive", "inclusive")):
            assert abs(value - row[kind]["cpu"]) <= (row["inclusive"]["samples"] + 1) * 1e-6


def test_instructions_are_those_of_the_text(page: Browser, sides: tuple[Recorded, Recorded], pictures: Callable[[str], None]) -> None:
    rows = told("report", sides[1].path, "disasm", "hash")["rows"]
    page.run("collectorPage.state.set({tab: 'disassembly', function: collectorPage.experiment.facts.functions.name.indexOf('hash')})")
    page.settle()
    texts = page.run("[...document.querySelectorAll('.disassembly .line:not(.head):not(.of-source)')].map((line) => [line.querySelector('.address').textContent, line.querySelector('code').textContent])")
    assert texts == [[format(row["address"], "x") if isinstance(row["address"], int) else row["address"], row["instruction"]] for row in rows]
    hold_instructions(page, rows)
    half = round(sides[1].profile.recordings[0].wall_ns / 2e9, 3)
    page.run(f"collectorPage.state.set({{span: [0.05, {half}]}})")
    page.settle()
    hold_instructions(page, told("report", sides[1].path, "--time", f"0.05-{half}", "disasm", "hash")["rows"])
    page.run("collectorPage.state.set({span: null})")
    page.settle()
    source = page.run("[...document.querySelectorAll('.disassembly .of-source')].map((line) => line.innerText)")
    assert any("value * 33" in line for line in source)
    pictures("disassembly")
    page.run("[...document.querySelectorAll('.disassembly .of-source')].find((line) => line.innerText.includes('value * 33')).click()")
    page.settle()
    assert "value * 33" in page.run("document.querySelector('#view-source .picked code').textContent")
    page.run("document.querySelector('#view-source .picked').click()")
    page.settle()
    page.run("[...document.querySelectorAll('#view-source .links button')].find((button) => button.textContent === 'Disassembly').click()")
    page.settle()
    assert page.run("[collectorPage.state.tab, collectorPage.experiment.functionName(collectorPage.state.function)]") == ["disassembly", "hash"]


def test_what_cannot_be_disassembled_says_why(page: Browser) -> None:
    page.run("collectorPage.state.set({tab: 'disassembly', function: collectorPage.experiment.facts.functions.name.indexOf('main')})")
    page.settle()
    assert "main is not among the" in page.run("document.querySelector('#view-disassembly .empty').textContent")


HOSTILE = ['</script><img src=x onerror="window.hurt=1">', "<svg onload=window.hurt=1>", "__proto__", "constructor", "\u202egnp.exe", "\udc9b1m", "{{script}}", "x" * 5000]


def hostile_profile(weight: int) -> Profile:
    plain = build_profile([(f"main;f{number}", 0.01, 0, {"at": 0.01 * i}) for number in range(len(HOSTILE)) for i in range(20 + weight * number)])
    functions = (plain.functions[0], *(one._replace(name=name, short_name=name, file=name) for one, name in zip(plain.functions[1:], HOSTILE)))
    return plain._replace(functions=functions, modules=tuple(one._replace(name=HOSTILE[0]) for one in plain.modules))


def test_names_are_text_and_nothing_of_them_runs(browser: Browser, tmp_path: Path) -> None:
    profiles = [hostile_profile(0), hostile_profile(9)]
    sides = [ComparedSide((compared_run(profile),), function_keys(profile)) for profile in profiles]
    row = InstructionRow(16, HOSTILE[0], HOSTILE[1], 1, (1.0, 1.0, 0.0, 1), (1.0, 1.0, 0.0, 1))
    listings = {1: (Listing(HOSTILE[0], (row,), HOSTILE[1]),), 2: HOSTILE[0]}
    data = [experiment_data(profile, {HOSTILE[1]: (HOSTILE[0], HOSTILE[0])}, listings) for profile in profiles]
    path = tmp_path / "page.html"
    path.write_text(render(data, HOSTILE[0], True, compared_data(*sides)), encoding="utf-8")
    browser.open(path)
    for state in ({"row": 0}, {"unit": "share"}, {"tab": "disassembly", "function": 1}, {"function": 2}, {"tab": "flame"}, {"side": "before"}, {"tab": "callers"}, {"tab": "compare"}):
        browser.run(f"collectorPage.state.set({json.dumps(state)})")
        browser.settle()
        browser.move((300, 200), (300, 330), (300, 560), (900, 580))
    shown = browser.run("collectorPage.views.compare.table.rows.map((row) => row.name)")
    assert sorted(shown) == sorted(printable(name) for name in HOSTILE)
    assert browser.run("window.hurt") is None
    assert browser.run("document.querySelectorAll('img, svg, iframe').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.complaints == []
