"""test_live_screen -- the live view fits any window, and says what matters in each"""

from __future__ import annotations

import pytest
from busy_profile import busy_profile
from tiny_profile import build_profile

from collector.profile.live_totals import LiveTotals
from collector.profile.model import Loss
from collector.reports.live import VIEWS, Choice, line, screen
from collector.reports.style import text_width


@pytest.fixture
def totals() -> LiveTotals:
    found = LiveTotals()
    found.add(build_profile([("main;work", 3, 1), ("main;work;read@libc.so.6", 1, 0)]), 10.0)
    found.add(build_profile([("main;read@libc.so.6", 0.5, 0), ("main;work", 0.25, 0)]), 11.0)
    return found


def test_functions(totals: LiveTotals) -> None:
    assert screen(totals, Choice(note="a note"), 100, 12) == [
        "test.1.expt  ./test -v input file",
        "20.000 s: 5.750 s CPU time in all, 0 threads, nothing lost; exited with status 0",
        "",
        "  Recent  Recent incl.       In all  In all incl.  Function  Module",
        "       %             %      s     %      s      %",
        "    66.7          66.7  1.500  26.1  1.500   26.1  read      libc.so.6",
        "    33.3          33.3  4.250  73.9  5.250   91.3  work      test",
        "     0.0         100.0  0.000   0.0  5.750  100.0  main      test",
        "",
        "",
        "a note",
        "f FUNCTIONS t threads m metrics l log | e EXCLUSIVE i inclusive | s RECENT/all | q quit",
    ]


@pytest.mark.parametrize(("choice", "first"), [
    (Choice(), "read"),
    (Choice(is_recent=False), "work"),
    (Choice(is_inclusive=True), "main"),
])
def test_order(totals: LiveTotals, choice: Choice, first: str) -> None:
    rows = screen(totals, choice, 100, 20)[5:8]
    assert rows[0].split()[6] == first


@pytest.mark.parametrize("view", VIEWS.values())
@pytest.mark.parametrize(("width", "height"), [(200, 60), (80, 24), (40, 9), (20, 5), (10, 2), (1, 1), (3, 30)])
def test_any_window_is_filled_exactly(view: str, width: int, height: int) -> None:
    found = LiveTotals()
    assert len(screen(found, Choice(), width, height)) == height
    for now_s in (1.0, 2.0):
        found.add(busy_profile(), now_s)
        lines = screen(found, Choice(view, note="said"), width, height)
        assert len(lines) == height and max(map(text_width, lines)) <= width


@pytest.mark.parametrize(("span_s", "told"), [(0.25, "3.00 CPUs in the last 0.2 s"), (1.0, "0.75 CPUs in the last 1 s"), (3.0, "0.25 CPUs in the last 3 s")])
def test_what_runs_is_told_as_cpus(span_s: float, told: str) -> None:
    found = LiveTotals()
    profile = build_profile([("main;work", 0.75, 0)])
    running = profile._replace(processes=(profile.processes[0]._replace(is_running=True),))
    found.add(running, 10.0)
    found.add(running, 10.0 + span_s)
    assert told in screen(found, Choice(), 120, 12)[1] and "exited" not in screen(found, Choice(), 120, 12)[1]


def test_a_program_that_ended_before_it_had_a_process_has_ended() -> None:
    found = LiveTotals()
    found.add(build_profile([])._replace(processes=(), threads=()), 10.0)
    assert "exited" not in screen(found, Choice(), 120, 12)[1]
    assert screen(found, Choice(is_over=True), 120, 12)[1].endswith("; exited with status 0")


def test_losses_are_told(totals: LiveTotals) -> None:
    assert totals.profile is not None
    totals.profile = totals.profile._replace(losses=(Loss(0, "busy", 1200, "7.0.log"), Loss(0, "busy", 34, "8.0.log")))
    assert "1,234 lost: recorder busy" in screen(totals, Choice(), 120, 12)[1]
    assert screen(totals, Choice("log"), 100, 12)[3:5] == ["1,200 lost in 7.0.log: recorder busy", "34 lost in 8.0.log: recorder busy"]


def test_a_line(totals: LiveTotals) -> None:
    assert line(totals) == "20.0 s  0.75 CPUs  0 threads  read 66.7 %, work 33.3 %  nothing lost"
    assert line(LiveTotals()) == ""


def test_long_names_are_short(totals: LiveTotals) -> None:
    long = "std::__unguarded_partition<" + "std::pair<int, int>*, " * 20 + "Less>(void*, void*)"
    profile = build_profile([(long, 100, 0)])
    totals.add(profile._replace(functions=[one._replace(short_name="std::__unguarded_partition<...>(...)") for one in profile.functions]), 12.0)
    told = line(totals)
    assert "std::__unguarded_partition<...>(...) 9" in told and len(told) < 200
    assert any("std::__unguarded_partition<...>(...)" in one for one in screen(totals, Choice(), 140, 20))


def test_the_first_line_of_what_runs_for_long_is_of_all() -> None:
    found = LiveTotals()
    found.add(build_profile([("main;work", 3, 1), ("main;read", 1, 0)]), 10.0)
    assert line(found) == "20.0 s  0.25 CPUs  0 threads  work 80.0 %, read 20.0 %  nothing lost"


def test_hostile_names_obey_nobody() -> None:
    found = LiveTotals()
    found.add(build_profile([("main;\x1b[2Jevil\n", 3, 1)]), 1.0)
    found.add(build_profile([("main;\x1b[2Jevil\n", 3, 1)]), 2.0)
    shown = "".join([*screen(found, Choice(), 100, 20), line(found)])
    assert "\\x1b[2Jevil\\n" in shown and "\x1b" not in shown
