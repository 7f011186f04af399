"""test_in_browser -- what people do with the page: select, zoom, search, sort, turn tabs, by mouse and by keyboard; and that all of it can be read"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CTRL, SHIFT, Browser
from busy_profile import busy_profile
from counted_profile import counted_profile
from tiny_profile import PROCESS, S, START_NS, THREAD, build_profile, random_profile
from waiting_profile import waiting_profile

from collector.page.document import experiment_data, render
from collector.profile.aggregate import functions
from collector.profile.callers_callees import callers_callees
from collector.profile.instructions import InstructionRow, Listing
from collector.profile.model import Pause, Profile

pytestmark = pytest.mark.waits  # for the browser's next frame

SAMPLES = [
    ("main:1;parse:2;read@libc.so.6", 2, 1, {"at": 1}),
    ("main:1;parse:3", 3, 0, {"at": 4}),
    ("main:2;solve:5;step:6", 4, 0, {"at": 9}),
    ("main:2;solve:5", 1, 0, {"at": 14}),
    ("start;work:7;step:6", 8, 0, {"at": 11, "thread": 1}),
]  # fmt: skip
PROFILE = build_profile(SAMPLES, threads=(THREAD, THREAD._replace(tid=101, name="worker")))


def open_page(browser: Browser, path: Path, profile: Profile = PROFILE, fragment: str = "") -> None:
    path.write_text(render([experiment_data(profile, {})], "a page"), encoding="utf-8")
    browser.open(path, fragment)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    open_page(browser, tmp_path / "page.html")
    yield browser
    assert browser.complaints == []


def state(page: Browser, name: str) -> Any:
    return page.run(f"((value) => value instanceof Set ? [...value] : value)(collectorPage.state.{name})")


def set_state(page: Browser, script: str) -> None:
    page.run(f"collectorPage.state.set({{{script}}})")
    page.settle()


def total(page: Browser) -> float:
    return float(page.run("collectorPage.sums.total"))


def at(page: Browser, time: float, y: float = 60) -> tuple[float, float]:
    """Where a moment is on the timeline."""
    x, top = page.run(f"((box) => [box.left + collectorPage.timeline.xAt({time}), box.top])(collectorPage.timeline.canvas.canvas.getBoundingClientRect())")
    return x, top + y


def lane(page: Browser, title: str) -> tuple[float, float]:
    """Where the name of a lane is."""
    middle = page.run(f"((lane) => lane.top + lane.height / 2)(collectorPage.timeline.lanes.find((lane) => lane.title.startsWith('{title}')))")
    left, top = page.run("((box) => [box.left, box.top])(collectorPage.timeline.canvas.canvas.getBoundingClientRect())")
    return left + 60, top + middle


def box(page: Browser, title: str) -> tuple[float, float]:
    """The middle of a box of the flame graph."""
    x, y = page.run(
        f"""(({{views: {{flame}}, experiment}}) => {{
          const box = flame.boxes.find((one) => (one.title || experiment.functionName(one.function)) === '{title}'), area = flame.canvas.canvas.getBoundingClientRect();
          return [area.left + (box.x + box.width / 2) * area.width, area.top + (box.depth + 0.5) * ROW];
        }})(collectorPage)"""
    )
    return x, y


def test_drag_selects_and_a_click_clears(page: Browser) -> None:
    assert total(page) == 19
    page.drag(at(page, 3), at(page, 12))
    start, end = state(page, "span")
    assert abs(start - 3) < 0.05 and abs(end - 12) < 0.05
    assert total(page) == 3 + 4 + 8
    assert "of the selection" in page.run("document.getElementById('chips').textContent")
    page.drag(at(page, 12), at(page, 8))
    assert total(page) == 4 + 8, "also from right to left"
    page.click(at(page, 2))
    assert state(page, "span") is None and total(page) == 19


def test_names_select_threads(page: Browser) -> None:
    page.click(lane(page, "worker"))
    assert state(page, "threads") == [1] and total(page) == 8
    page.click(lane(page, "test 100"), modifiers=CTRL)
    assert sorted(state(page, "threads")) == [0, 1]
    page.click(lane(page, "worker"), modifiers=CTRL)
    assert state(page, "threads") == [0] and total(page) == 11
    page.click(lane(page, "all"))
    assert state(page, "threads") is None


def test_chips_take_it_back(page: Browser) -> None:
    set_state(page, "span: [3, 12], threads: new Set([1]), view: [2, 13]")
    assert page.run("document.querySelectorAll('.chip').length") == 3 and total(page) == 8
    page.click_on(".chip button")
    assert state(page, "span") is None and total(page) == 8
    page.click_on(".chip button")
    assert state(page, "threads") is None and total(page) == 19
    page.click_on(".chip button")
    assert page.run("document.querySelectorAll('.chip').length") == 0
    set_state(page, "span: [3, 12], threads: new Set([1])")
    page.run("document.activeElement.blur()")
    page.press("Escape")
    assert state(page, "span") is None and state(page, "threads") is None


def test_timeline_by_keyboard(page: Browser) -> None:
    page.run("document.getElementById('timeline').focus()")
    page.press("ArrowRight")
    start, end = state(page, "span")
    page.press("ArrowRight", SHIFT)
    assert state(page, "span")[0] == start and state(page, "span")[1] > end
    page.press("+")
    assert state(page, "view") is not None
    for _ in range(9):
        page.press("-")
    assert state(page, "view") is None
    page.press("Escape")
    for _ in range(9):
        page.press("ArrowDown")
        if "worker" in page.run("document.getElementById('spoken').textContent"):
            break
    page.press("Enter")
    assert state(page, "threads") == [1]


def test_flame_graph_zooms(page: Browser) -> None:
    page.click(box(page, "parse"))
    assert page.run("collectorPage.views.flame.boxes.filter((one) => one.isAbove).length") == 2
    assert page.run("collectorPage.views.flame.boxes.find((one) => collectorPage.experiment.functionName(one.function) === 'parse').width") == 1
    page.run("document.querySelector('.flame').focus()")
    page.press("Escape")
    page.press("Escape")
    assert state(page, "zoom") == []
    page.press("ArrowUp")
    for key in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown"):
        page.press(key)
    assert "inclusive" in page.run("collectorPage.views.flame.spoken.textContent")
    page.press("Enter")
    assert state(page, "zoom") == page.run("collectorPage.views.flame.cursor.path()") != []
    page.click_on("#view-flame .bar button")
    assert state(page, "zoom") == []
    page.click(box(page, "solve"), count=2)
    assert state(page, "tab") == "callers" and "solve" in page.run("document.querySelector('.middle-card h2').textContent")


def test_pauses_of_a_program_with_one_thread_are_shown(browser: Browser, tmp_path: Path) -> None:
    """It has no lane of its own but that of all."""
    pauses = (Pause(0, "api", START_NS + 5 * S, START_NS + 7 * S), Pause(0, "api", START_NS + 8 * S, None))
    open_page(browser, tmp_path / "page.html", build_profile([("main:1", 1, 0, {"at": 1})], pauses=pauses), "#tab=summary")
    painted = browser.run(
        "((timeline) => { const rows = []; "
        "const spy = { set fillStyle(value) {}, fillRect: (...box) => rows.push(box) }; timeline.paintPauses(spy, 0, 1000); return rows.length; })(collectorPage.timeline)"
    )
    assert painted == 2
    ended_s = (PROCESS.end_ns - START_NS) / S
    assert f"2 times, for {2 + ended_s - 8:.0f}" in browser.run("document.querySelector('#view-summary').textContent")


def test_modes(page: Browser) -> None:
    def rows() -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for name, depth, value in page.run("collectorPage.views.flame.boxes.map((one) => [one.title || collectorPage.experiment.functionName(one.function), one.depth, one.value])"):
            if depth == 1:
                found.setdefault(name.split(" ·")[0], []).append(round(value, 6))
        return found

    assert rows() == {"main": [11], "start": [8]}
    set_state(page, "mode: 'inverted'")
    assert rows() == {"step": [12], "read": [3], "parse": [3], "solve": [1]}
    set_state(page, "mode: 'threads'")
    assert rows() == {"test 100": [11], "worker 101": [8]}
    set_state(page, "mode: 'time', threads: new Set([0])")
    starts = page.run("collectorPage.views.flame.boxes.filter((one) => one.depth === 2).map((one) => [collectorPage.experiment.functionName(one.function), one.x])")
    assert [name for name, _ in sorted(starts, key=lambda one: one[1])][0] == "parse" and "solve" in [name for name, _ in starts]


def test_search(page: Browser) -> None:
    page.press("/")
    for key in "step|solve":
        page.press(key)
    assert "68.4 % in 2 functions" in page.run("document.querySelector('#view-flame .matches').textContent"), "solve calls step: once"
    set_state(page, "tab: 'functions'")
    assert page.run("collectorPage.views.functions.table.rows.length") == 2
    set_state(page, "search: '['")
    assert page.run("document.querySelector('#view-functions input').classList.contains('wrong')")


def test_tables_sort_and_pick(page: Browser) -> None:
    set_state(page, "tab: 'functions'")

    def names() -> list[str]:
        return page.run("collectorPage.views.functions.table.rows.map((row) => collectorPage.experiment.functionName(row.index))")

    assert names()[0] == "step"
    page.run("[...document.querySelectorAll('#view-functions [role=columnheader]')].find((one) => one.textContent === 'inclusive').click()")
    assert names()[:3] == ["step", "main", "start"] or names()[0] == "step"
    page.run("[...document.querySelectorAll('#view-functions [role=columnheader]')].find((one) => one.textContent === 'function').focus()")
    page.press("Enter")
    assert names() == sorted(names())
    assert page.run("document.querySelector('#view-functions [aria-sort=ascending]').textContent") == "function"
    page.run("document.querySelector('#view-functions [role=grid]').focus()")
    page.press("ArrowDown")
    assert page.run("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).classList.contains('focused')")
    page.press("End")
    page.press("Home")
    page.press("Enter")
    assert state(page, "tab") == "callers" and page.run("collectorPage.experiment.functionName(collectorPage.state.function)") == "main"


def test_tabs_by_keyboard(page: Browser) -> None:
    tabs = page.run("[...document.querySelectorAll('[role=tab]')].map((one) => one.id.slice(4))")
    page.run("document.getElementById('tab-flame').focus()")
    for wanted in [*tabs[tabs.index("flame") + 1 :], tabs[0]]:
        page.press("ArrowRight")
        assert state(page, "tab") == wanted and page.run("document.activeElement.id") == f"tab-{wanted}"
    page.press("ArrowLeft")
    assert state(page, "tab") == tabs[-1]
    page.press("Home")
    assert state(page, "tab") == tabs[0]
    for number, tab in enumerate(tabs, 1):
        page.press(str(number))
        assert page.run("[...document.querySelectorAll('[role=tabpanel]')].filter((one) => !one.hidden).map((one) => one.id)") == [f"view-{tab}"]
        assert page.run(f"document.getElementById('tab-{tab}').getAttribute('aria-selected')") == "true"


def test_dialog_theme_and_splitter(page: Browser) -> None:
    set_state(page, "span: [1, 2]")
    page.press("?")
    assert page.run("document.getElementById('keys').open")
    page.press("Escape")
    assert not page.run("document.getElementById('keys').open") and state(page, "span") == [1, 2], "the dialog alone is closed"
    dark = page.run("collectorPage.colours.isDark")
    page.press("t")
    assert page.run("collectorPage.colours.isDark") != dark
    page.click_on("#theme")
    assert page.run("collectorPage.colours.isDark") == dark
    before = page.run("document.getElementById('timeline').clientHeight")
    page.run("document.getElementById('splitter').focus()")
    page.press("ArrowDown")
    after = page.run("document.getElementById('timeline').clientHeight")
    assert after == before + 20 and page.run("document.getElementById('splitter').getAttribute('aria-valuenow')") == str(after)


def test_the_address_shows_the_same(page: Browser, tmp_path: Path) -> None:
    set_state(page, "span: [3, 12.5], threads: new Set([0, 1]), tab: 'functions', sort: 'name', search: 'a&b=%#|s', metric: 'user', view: [1, 19], colour: 'kind', function: 2")
    page.wait_for("location.hash.includes('metric=user')")
    words, fragment = "span threads tab sort search metric view colour function".split(), page.run("location.hash")
    before = [state(page, word) for word in words]
    open_page(page, tmp_path / "again.html", fragment=fragment)
    assert [state(page, word) for word in words] == before
    page.run("location.hash = '#tab=summary'")
    page.wait_for("collectorPage.state.tab === 'summary' && collectorPage.state.span === null")


@pytest.mark.parametrize("seed", range(6))
def test_recursion_is_added_up_as_in_reports(browser: Browser, tmp_path: Path, seed: int) -> None:
    profile = random_profile(random.Random(seed))
    open_page(browser, tmp_path / "page.html", profile)
    rows = browser.run("(({sums: {functions}, experiment}) => experiment.facts.functions.name.map((name, i) => [name, functions.exclusive[i], functions.inclusive[i]]))(collectorPage)")
    shown = {name: [round(exclusive, 6), round(inclusive, 6)] for name, exclusive, inclusive in rows if inclusive}
    assert shown == {row.function.name: [row.exclusive[0], row.inclusive[0]] for row in functions(profile)}
    for index, function in enumerate(profile.functions):
        both = callers_callees(profile, index)
        callers, callees = browser.run(f"(({{callers, callees}}) => [callers, callees].map((rows) => rows.map((row) => [row.function, row.value])))(collectorPage.sums.neighbours({index}))")
        expected = {row.function.name: row.values[0] for row in both.callees if row.function and row.values[0]}
        assert {profile.functions[number].name: round(value, 6) for number, value in callees} == expected, function.name
        start = sum(value for number, value in callers if number < 0 or number >= len(profile.functions))
        assert round(start, 6) == sum(row.values[0] for row in both.callers if row.function is None)


# The least ratio of the brightness of text to that of what is behind it, of all that is drawn and written (WCAG 2.1, 1.4.3).
CONTRAST = """(() => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (colour) => { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (colour) => rgb(colour).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (one, other) => { const [low, high] = [light(one), light(other)].sort((a, b) => a - b); return (high + 0.05) / (low + 0.05); };
  const {colours} = collectorPage, found = {match: ratio("#222", colours.match)};
  for (const name of ["text", "muted", "accent"]) for (const back of ["panel", "background"]) found[`${name} on ${back}`] = ratio(colours[name], colours.theme(back));
  found["text on warning"] = ratio(colours.text, colours.theme("warning"));
  for (const kind of Object.keys(KIND_HUES)) for (let variant = 0; variant < 60; variant++) found[`${kind} ${variant}`] = ratio(colours.text, colours.fill(0, kind, "kind", variant));
  for (let rank = 0; rank <= HUES.length; rank++) {
    colours.ranks = new Map(colours.experiment.facts.modules.name.map((_, module) => [module, rank]));
    colours.fills.clear();
    for (let variant = 0; variant < 60; variant++) found[`module ${rank} ${variant}`] = ratio(colours.text, colours.fill(0, "", "module", variant));
  }
  return Object.entries(found).filter(([, value]) => !(value >= 4.5));
})()"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(page: Browser, theme: str) -> None:
    page.run(f"document.documentElement.dataset.theme = '{theme}'; collectorPage.colours.read()")
    assert page.run(CONTRAST) == []


def test_everything_has_a_name(page: Browser) -> None:
    """For those who do not see it."""
    for tab in page.run("[...document.querySelectorAll('[role=tab]')].map((one) => one.id.slice(4))"):
        set_state(page, f"tab: '{tab}'")
        tree = page.call("Accessibility.getFullAXTree")["nodes"]
        roles = {"button", "textbox", "searchbox", "combobox", "tab", "grid", "slider", "splitter", "application", "columnheader", "tabpanel"}
        nameless = [node["role"]["value"] for node in tree if not node["ignored"] and node["role"]["value"] in roles and not node.get("name", {}).get("value")]
        assert nameless == [], tab
        assert page.run("[...document.querySelectorAll('[id]')].map((one) => one.id).filter((id, i, all) => all.indexOf(id) !== i)") == []


@pytest.mark.parametrize("width", [700, 1400])
def test_nothing_is_cut_off(page: Browser, width: int) -> None:
    """In a narrow window, and as at 200 %."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=450 if width == 700 else 900, deviceScaleFactor=2, mobile=False)
    try:
        for tab in ("flame", "functions", "callers", "source", "summary"):
            set_state(page, f"tab: '{tab}'")
            assert page.run("document.documentElement.scrollWidth") <= width, tab
            assert page.run(f"document.getElementById('view-{tab}').clientHeight") >= 100, tab
        for selector in ("#metric", "#theme", "#help", "#tab-summary"):
            assert page.run(f"((box) => box.right <= innerWidth && box.bottom <= innerHeight && box.width > 0)(document.querySelector('{selector}').getBoundingClientRect())"), selector
    finally:
        page.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)


def test_paper(browser: Browser, tmp_path: Path) -> None:
    """All of a view instead of what a screen has of it; and then the screen again."""
    deep = ";".join(f"f{number}" for number in range(90))
    open_page(browser, tmp_path / "page.html", build_profile([(deep, 1, 0), *((f"g{number}", 1, 0) for number in range(80))]))
    for tab in ("flame", "functions"):
        set_state(browser, f"tab: '{tab}'")
        seen = "[...document.querySelectorAll('main canvas, main .row')].map((one) => [one.clientWidth, one.clientHeight, one.textContent])"
        before = browser.run(seen)
        browser.run("window.dispatchEvent(new Event('beforeprint'))")
        assert browser.run("collectorPage.colours.isDark") is False
        if tab == "flame":
            assert browser.run("collectorPage.views.flame.canvas.canvas.height") >= 2 * 90 * 18
        else:
            assert browser.run("document.querySelectorAll('#view-functions .body .row').length") >= 100
        browser.run("window.dispatchEvent(new Event('afterprint'))")
        browser.settle()
        assert browser.run(seen) == before
    assert len(browser.call("Page.printToPDF")["data"]) > 10_000
    assert browser.complaints == []


# What is cut on paper: is wider than that, hides a part of itself, or lies on what is above it.
CUT = """(() => {
  const seen = (one) => one.getClientRects().length > 0, told = (one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`;
  const all = [...document.querySelectorAll("body *")].filter((one) => seen(one) && !one.closest(".spoken, canvas, option"));
  const wide = all.filter((one) => one.getBoundingClientRect().right > PAPER_WIDTH + 1);
  const hidden = all.filter((one) => getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1);
  const rows = [...document.querySelectorAll(".body .row, .source > .line")].filter(seen).map((one) => [one, { top: one.getBoundingClientRect().top, bottom: Math.max(...[...one.children].map((child) => child.getBoundingClientRect().bottom)) }]);
  const covered = rows.filter(([, box], i) => i && box.top < rows[i - 1][1].bottom - 1).map(([one]) => one);
  return [...wide, ...hidden, ...covered].map(told);
})()"""


def test_nothing_is_cut_on_paper(browser: Browser, tmp_path: Path) -> None:
    """Whatever is shown, with long names and many processes; and all of it is on pages as wide as A4."""
    long = "ns::function_template<" + "std::pair<int, int>, " * 12 + "void>::operator()"
    profile = build_profile([(f"main:1;{long}:7", 9, 0), *((f"main:2;g{number}:3", 1, 0) for number in range(90))])
    processes = tuple(profile.processes[0]._replace(pid=100 + number, arguments=("./a-program", "--option=" + "x" * 300)) for number in range(30))
    profile = profile._replace(processes=processes, recordings=tuple(one._replace(command=processes[0].arguments) for one in profile.recordings))
    listing = Listing("prog, from 10", tuple(InstructionRow(number, "call " + long, "/src/" + "x" * 200 + ".c", number, (0.0,) * 4, (0.0,) * 4) for number in range(0x10, 0x60)), end=0x60)
    (tmp_path / "page.html").write_text(render([experiment_data(profile, {"/src/main.c": ("a long line of source " * 20 + "\n") * 200 and (("a long line " * 30 + "\n") * 200, "")}, {0: (listing,)})], "a page", has_disassembly=True), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        for tab in browser.run("[...document.querySelectorAll('[role=tab]')].map((one) => one.id.slice(4))"):
            set_state(browser, f"tab: '{tab}'")
            browser.run("window.dispatchEvent(new Event('beforeprint'))")
            assert browser.run(CUT.replace("PAPER_WIDTH", "700")) == [], tab
            assert browser.run("document.getElementById('command').innerText").endswith("xxx")
            browser.run("window.dispatchEvent(new Event('afterprint'))")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    assert browser.complaints == []


def test_ranks_and_nodes_are_named(browser: Browser, tmp_path: Path) -> None:
    """By lanes in the order of ranks, by tooltips, and by the summary."""
    ranks = ((2, "north"), (0, "south"), (1, "north"))
    processes = tuple(PROCESS._replace(pid=100 + rank, parent_pid=1, rank=rank, node=node) for rank, node in ranks)
    threads = tuple(THREAD._replace(process=place, tid=100 + rank) for place, (rank, _) in enumerate(ranks))
    open_page(browser, tmp_path / "page.html", build_profile([("main:1", 2, 0, {"thread": place}) for place in range(3)], processes=processes, threads=threads))
    assert browser.run("collectorPage.timeline.lanes.map((lane) => lane.title)") == ["all", "rank 0 · test 100", "rank 1 · test 101", "rank 2 · test 102"]
    browser.move(lane(browser, "rank 1"))
    assert browser.run("[...document.querySelectorAll('#tooltip tr')].slice(0, 2).map((row) => row.innerText.split('\\t'))") == [["rank", "1"], ["node", "north"]]
    browser.click(lane(browser, "rank 1"))
    assert "rank 1 · test 101" in browser.run("document.querySelector('.chip').textContent")
    set_state(browser, "tab: 'summary', threads: null")
    assert "north (2 ranks), south (1 rank)" in browser.run("document.getElementById('view-summary').innerText")
    open_page(browser, tmp_path / "page.html")
    set_state(browser, "tab: 'summary'")
    assert "rank" not in browser.run("document.getElementById('view-summary').innerText")
    assert browser.complaints == []


def test_no_samples(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path / "page.html", busy_profile()._replace(samples=build_profile([]).samples, frames=(), functions=(), modules=()))
    for tab in ("flame", "functions", "callers", "source", "summary"):
        set_state(browser, f"tab: '{tab}'")
    assert total(browser) == 0 and browser.complaints == []


@pytest.mark.parametrize("has_causes", [False, True])
def test_waiting_is_a_metric_like_others(browser: Browser, tmp_path: Path, has_causes: bool) -> None:
    """A page of a recording with waiting time begins with wall time; each metric of the list adds up to its total, and functions follow."""
    open_page(browser, tmp_path / "page.html", waiting_profile(has_causes))
    titles = browser.run("[...document.querySelectorAll('#metric option')].map((one) => one.value)")
    assert titles == ["cpu", "user", "system", "samples", "wall", "blocked", *(["blocked_file", "blocked_lock"] if has_causes else []), "runnable", "looks"]
    assert state(browser, "metric") == "wall" and total(browser) == pytest.approx(24)
    for metric, wanted in (("blocked", {"lock": 11, "read": 7}), ("runnable", {"work": 2}), ("cpu", {"work": 4}), ("looks", {"lock": 2, "read": 1})):
        set_state(browser, f"metric: '{metric}', tab: 'functions'")
        found = browser.run("(({experiment, sums}) => [...sums.functions.exclusive].map((value, i) => [experiment.functionName(i), value]))(collectorPage)")
        assert {name: value for name, value in found if value > 0} == pytest.approx(wanted)
    assert browser.run("document.getElementById('facts').textContent").startswith("24.00 s wall time of threads · 4.000 s CPU time")
    assert browser.complaints == []


def test_ratios_are_columns_of_functions(browser: Browser, tmp_path: Path) -> None:
    """Of the sums of a row, whatever metric is shown; where there is nothing to divide by they are not. Errors are known of CPU time alone."""
    open_page(browser, tmp_path / "page.html", counted_profile())
    texts = "(() => Object.fromEntries([...document.querySelectorAll('#table-functions .body .row')].map((row) => [...row.children].map((one) => one.textContent)).map((row) => [row[8], [row[2], row[6], row[7]]])))()"
    for metric, has_error in (("cpu", True), ("cycles", False)):
        set_state(browser, f"metric: '{metric}', tab: 'functions'")
        rows = browser.run(texts)
        assert rows["mixed"][1:] == ["0.50", "1.0 %"] and rows["bare"][1:] == ["2.00", "–"] and (rows["mixed"][0] != "") is has_error
    set_state(browser, "sort: 'IPC'")
    assert list(browser.run(texts))[:2] == ["bare", "mixed"] and browser.complaints == []


@pytest.mark.parametrize("has_causes", [False, True])
def test_waiting_of_a_thread_is_on_the_timeline(browser: Browser, tmp_path: Path, has_causes: bool) -> None:
    open_page(browser, tmp_path / "page.html", waiting_profile(has_causes))
    shape = "((timeline, lane) => timeline.shape(lane, timeline.canvas.canvas.clientWidth).values)(collectorPage.timeline, {})"
    lane_of = "collectorPage.timeline.lanes.find((lane) => lane.title.startsWith('worker'))"
    sums = browser.run(
        f"((values, columns) => Object.fromEntries(Object.entries(values).map(([name, one]) => [name, one.reduce((sum, value) => sum + value, 0) * 20 / columns])))"
        f"({shape.format(lane_of)}, {shape.format(lane_of)}.cpu.length)".replace("lane_of", lane_of)
    )
    assert sums == pytest.approx({"cpu": 1, "system": 0, "runnable": 2, "blocked": 6}, abs=0.1)
    written = browser.run("""(({timeline}) => {
      const found = [], context = {fillRect: () => {}, measureText: (text) => { const own = timeline.canvas.canvas.getContext('2d'); own.font = context.font; return own.measureText(text); }, fillText: (text, x) => found.push([text, x + context.measureText(text).width])};
      timeline.paintKey(context);
      return found;
    })(collectorPage)""")
    assert [word for word, _ in written] == ["user", "system", "ready", "blocked"] and all(end < 210 for _, end in written), "left of the axis"
    everybody = browser.run(f"Object.keys({shape.format('collectorPage.timeline.lanes[0]')})")
    assert everybody == ["cpu", "system"], "waiting of several threads is no part of anything"
