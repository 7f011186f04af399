"""test_hostile_page -- whatever functions, files, threads, labels, processes and metrics are named, and sources say: it is shown as text, and nothing of it runs"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Browser
from busy_profile import busy_profile
from test_hostile_names import spoilt
from tiny_profile import THREAD, build_profile

from collector.page.document import experiment_data, render
from collector.printable import printable
from collector.profile.model import Profile

pytestmark = pytest.mark.waits  # for the browser's next frame

NAMES = [
    '</script><img src=x onerror="window.hurt=1">',
    "<script>window.hurt=1</script>",
    "</style></title><svg onload=window.hurt=1>",
    "<!--<script>",
    "{{data}}{{script}}{{title}}",
    "\"'`${window.hurt=1}\\",
    "\u202egnp.exe\u2066",
    "zero\u200bwidth\ufeff\u2028",
    "\udc9b1m\udcff\ud800",
    "new\nline\r\x1b[2J\0",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "javascript:window.hurt=1",
    "x" * 100_000,
    "\N{BUTTERFLY}é漢字",
    "[(*+?",
]
TEXTS = [*NAMES[:6], "".join(name for name in NAMES[6:] if len(name) < 100), "x" * 100_000]
"""Before every text of a profile: what could be markup or code each by itself, so that none hides another, and all others in one."""
STATES = [
    *({"tab": "flame", "mode": mode} for mode in ("calls", "inverted", "threads", "time")),
    {"tab": "flame", "mode": "calls", "colour": "kind"}, {"tab": "functions", "sort": "name"}, {"tab": "callers", "function": 1}, {"tab": "source", "file": 0}, {"tab": "summary"},
]  # fmt: skip


def open_page(browser: Browser, path: Path, profile: Profile, sources: dict[str, tuple[str, str]] | None = None, title: str = "a page", fragment: str = "") -> None:
    path.write_text(render([experiment_data(profile, sources or {})], title), encoding="utf-8")
    browser.open(path, fragment)


WINDOW = 900, 620  # what is drawn some thousand times costs by its area
OVER_ALL = (100, 100), (700, 120), (300, 560)
"""The timeline and the flame graph, to be pointed at."""


def look_at_all(browser: Browser, *places: tuple[float, float]) -> None:
    """Every view, with the pointer at these places."""
    for state in STATES:
        browser.run(f"collectorPage.state.set({json.dumps(state)})")
        browser.settle()
        if places:
            browser.move(*places)


def hold_harmless(browser: Browser) -> None:
    assert browser.complaints == []
    assert browser.run("window.hurt") is None
    assert browser.run("document.querySelectorAll('img, svg, iframe, object, embed, link, a, form').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.run("document.querySelectorAll('.failure').length") == 0
    assert browser.run("Object.keys(Object.prototype).length") == 0


@pytest.mark.parametrize("start", TEXTS, ids=lambda name: ascii(name)[:20])
def test_every_text_of_a_profile(browser: Browser, tmp_path: Path, start: str) -> None:
    profile = spoilt(busy_profile(), start)
    sources = dict.fromkeys({frame.file for frame in profile.frames if frame.file}, (f"{start}\n\t{start}", start))
    open_page(browser, tmp_path / "page.html", profile, sources, start)
    look_at_all(browser, *OVER_ALL)
    hold_harmless(browser)
    assert browser.run("document.title") == " ".join(printable(start).split())


def test_functions_of_such_names_are_apart(browser: Browser, tmp_path: Path) -> None:
    """Each has its row, its own time, and its name as reports show it."""
    plain = build_profile([(f"main;f{number}", number + 1, 0) for number in range(len(NAMES))])
    functions = (plain.functions[0], *(one._replace(name=name, short_name=name) for one, name in zip(plain.functions[1:], NAMES)))
    open_page(browser, tmp_path / "page.html", plain._replace(functions=functions))
    look_at_all(browser, *OVER_ALL)
    browser.run("collectorPage.state.set({tab: 'functions', sort: 'exclusive'})")
    shown = browser.run("(({table}) => table.rows.map((row) => [collectorPage.experiment.functionName(row.index), row.exclusive]))(collectorPage.views.functions)")
    assert shown[: len(NAMES)] == [[printable(name), number + 1] for number, name in reversed(list(enumerate(NAMES)))]
    texts = browser.run("[...document.querySelectorAll('#view-functions .body .cell.wide')].map((cell) => cell.textContent)")
    assert texts[:5] == [printable(name) for name in reversed(NAMES)][:5]
    hold_harmless(browser)


def test_threads_of_such_names(browser: Browser, tmp_path: Path) -> None:
    threads = [THREAD._replace(tid=100 + number, name=name) for number, name in enumerate(NAMES)]
    open_page(browser, tmp_path / "page.html", build_profile([("main", 1, 0, {"thread": number}) for number in range(len(NAMES))], threads=threads))
    for thread in range(len(NAMES)):
        browser.run(f"collectorPage.state.set({{threads: new Set([{thread}])}})")
        browser.settle()
    look_at_all(browser, *OVER_ALL)
    hold_harmless(browser)


@pytest.mark.parametrize(
    "fragment",
    [
        "#__proto__=1&constructor=2&toString=3", "#tab=__proto__", "#tab=constructor&mode=toString&metric=__proto__&colour=constructor&sort=__proto__",
        "#tab=%3Cimg%20src%3Dx%20onerror%3Dwindow.hurt%3D1%3E", "#search=%3Cimg%20src%3Dx%20onerror%3Dwindow.hurt%3D1%3E&tab=functions",
        "#span=9-3", "#span=-1-2", "#span=1e5-2e5", "#span=a-b", "#view=0-0.0000000001", "#view=5-5.000001", "#view=100000-200000", f"#span=0-{'9' * 400}&view=0-{'9' * 400}", f"#view=0-0.{'0' * 200}1",
        "#threads=999999.3", "#threads=..", "#zoom=1.2.3.4.99999999999999999999", "#function=99999999&tab=callers", "#file=99999&line=99999999&tab=source",
        "#%", "#%E0%A4%A&tab=%E0%A4%A", "#&&&===&=", "#search=%5B(*&tab=functions", "#search=(a%2B)%2B%24&tab=flame", "#mode=time&threads=77", "#mode=threads&zoom=0.1.2",
    ],
)  # fmt: skip
def test_garbage_in_the_address(browser: Browser, tmp_path: Path, fragment: str) -> None:
    open_page(browser, tmp_path / "page.html", busy_profile(), fragment=fragment)
    browser.move(*OVER_ALL)
    for tab in ("functions", "flame"):
        browser.run(f"collectorPage.state.set({{tab: '{tab}'}})")
        browser.settle()
    hold_harmless(browser)


INJECTED = {
    "an image with a handler": "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hurt=1\">')",
    "a script": "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hurt=1'}))",
    "a script from elsewhere": "document.body.append(Object.assign(document.createElement('script'), {src: 'data:text/javascript,window.hurt=1'}))",
    "eval": "setTimeout(() => window.eval('window.hurt=1'))",
    "a handler": "document.body.setAttribute('onclick', 'window.hurt=1'), document.body.click()",
    "a style": "document.body.insertAdjacentHTML('beforeend', '<style>body { color: red }</style>')",
    "a frame": "document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<script>parent.hurt=1</script>\"></iframe>')",
    "a request": "fetch('https://example.org/').catch(() => 0)",
    "a base": "document.head.insertAdjacentHTML('beforeend', '<base href=\"https://example.org/\">')",
}


@pytest.mark.parametrize("what", INJECTED)
def test_the_policy_stops_what_gets_in(browser: Browser, tmp_path: Path, what: str) -> None:
    """Even if a name became markup after all."""
    open_page(browser, tmp_path / "page.html", busy_profile())
    browser.run(f"{INJECTED[what]}, true")
    browser.wait_for("true", lambda: bool(browser.complaints))
    assert browser.run("window.hurt") is None
    assert browser.run("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    assert all("Content Security Policy" in complaint for complaint in browser.complaints), browser.complaints
    browser.complaints.clear()
