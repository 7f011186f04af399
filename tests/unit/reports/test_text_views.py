"""test_text_views -- every view as text, at three widths, against golden files"""

from __future__ import annotations

import re

import pytest
from busy_profile import LISTINGS, LONG_NAME, SOURCE_TEXT, busy_profile, position_of
from tiny_profile import PROCESS, RECORDING, S, START_NS, THREAD, build_profile
from waiting_profile import waiting_profile

from collector.profile import views
from collector.profile.call_tree import hot_path
from collector.profile.callers_callees import callers_callees
from collector.profile.categories import read_categories
from collector.profile.grouped import grouped_rows, groups as make_groups
from collector.profile.metrics import shown_metrics
from collector.profile.model import Loss, Message, Pause, Process, Thread, Unrecorded
from collector.profile.sample_point import SamplePoint
from collector.profile.source_lines import source_lines
from collector.profile.timeline import timeline as make_timeline
from collector.reports import (
    call_tree,
    callers_callees as callers_callees_text,
    disasm,
    function,
    functions,
    groups,
    header,
    hotpath,
    lines,
    metrics,
    objects,
    overview,
    pcs,
    processes,
    samples,
    source,
    threads,
    timeline,
)
from collector.reports.layout import process_ending
from collector.reports.style import Style, text_width

WIDTHS = (40, 80, 200)
PROFILE = busy_profile()
EMPTY = build_profile([])


def table(module, view: views.TableView, limit: int | None = None):
    return lambda profile, style: module.render(profile, views.choose(view, profile, limit=limit), style)


def timeline_text(profile, style: Style, is_by_thread: bool) -> str:
    chart = make_timeline(profile, timeline.step_count(style), is_by_thread)
    return timeline.render(profile, chart, views.Selection(chart.rows), style)


def by_text(by: str, has_errors: bool = False):
    return lambda profile, style: groups.render(profile, by, views.Selection(make_groups(profile, by, CATEGORIES)), style, has_errors)


def grouped_text(view: str, by: str, has_errors: bool = False):
    def text(profile, style: Style) -> str:
        shown, hidden = grouped_rows(profile, by, view, CATEGORIES, 0.02)
        return groups.render_rows(profile, view, by, shown, 2, hidden, style, has_errors)

    return text


GROUPINGS = ("module", "file", "thread", "process", "label", "category")


CATEGORIES = read_categories(("mine", "[fibres]\nfunction ^fib$"))
VIEWS = {
    "metrics": lambda profile, style: metrics.render(profile, None, style),
    "overview": lambda profile, style: overview.render(profile, None, style),
    "functions": table(functions, views.FUNCTIONS),
    "functions --limit 2": table(functions, views.FUNCTIONS, 2),
    "lines": table(lines, views.LINES),
    "objects": table(objects, views.OBJECTS),
    "threads": table(threads, views.THREADS),
    "processes": table(processes, views.PROCESSES),
    "samples": table(samples, views.SAMPLES),
    "calltree": lambda profile, style: call_tree.render(profile, views.choose_branches(profile, 0.01), 0.01, style),
    "functions --errors": lambda profile, style: functions.render(profile, views.choose(views.FUNCTIONS, profile), style, True),
    "lines --errors": lambda profile, style: lines.render(profile, views.choose(views.LINES, profile), style, True),
    "calltree --errors": lambda profile, style: call_tree.render(profile, views.choose_branches(profile, 0.01), 0.01, style, True),
    "header": header.render,
    "pcs": table(pcs, views.PCS),
    "hotpath": lambda profile, style: hotpath.render(profile, hot_path(profile), style),
    "timeline": lambda profile, style: timeline_text(profile, style, False),
    "timeline --by thread": lambda profile, style: timeline_text(profile, style, True),
    "calltree --bottom-up": lambda profile, style: call_tree.render(
        profile, views.choose_branches(profile, 0.01, is_bottom_up=True), 0.01, style, is_bottom_up=True
    ),
    **{f"--by {by}": by_text(by) for by in GROUPINGS},
    **{f"{view} --by {by}": grouped_text(view, by) for view in ("functions", "lines") for by in GROUPINGS},
    "--by module --errors": by_text("module", True),
    "--by thread --errors": by_text("thread", True),
    "functions --by module --errors": grouped_text("functions", "module", True),
    "lines --by file --errors": grouped_text("lines", "file", True),
}
ARGUMENT_VIEWS = {
    "function work": lambda profile, style: function.render(
        profile, next(row for row in views.choose(views.FUNCTIONS, profile).rows if row.function.name == "work"), style
    ),
    "disasm work": lambda profile, style: disasm.render(profile, "work", LISTINGS, None, style),
    "disasm work --limit 1": lambda profile, style: disasm.render(profile, "work", LISTINGS, 1, style),
    "disasm work --context 1": lambda profile, style: disasm.render(profile, "work", LISTINGS, None, style, None, 1),
    "disasm work with its source": lambda profile, style: disasm.render(profile, "work", LISTINGS, None, style, {"/src/work.c": SOURCE_TEXT}),
    "callers-callees work": lambda profile, style: callers_callees_text.render(
        profile, callers_callees(profile, position_of(profile, "work")), None, style
    ),
    "source work.c": lambda profile, style: source.render(
        profile, "/src/work.c", SOURCE_TEXT, source_lines(profile, "/src/work.c"), 9, 17, None, style
    ),
}


@pytest.fixture(autouse=True)
def _universal_time(monkeypatch: pytest.MonkeyPatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*VIEWS, *ARGUMENT_VIEWS])
def test_a_view_is_as_it_was_agreed(name: str, width: int, golden) -> None:
    text = {**VIEWS, **ARGUMENT_VIEWS}[name](PROFILE, Style(width))
    golden(f"report {name} --width {width}.txt", text + "\n")


@pytest.mark.parametrize("width", (40, 60, 80, 100, 200))
@pytest.mark.parametrize("name", [*VIEWS, *ARGUMENT_VIEWS])
def test_no_line_is_wider_than_the_page(name: str, width: int) -> None:
    text = {**VIEWS, **ARGUMENT_VIEWS}[name](PROFILE, Style(width))
    assert max(text_width(line) for line in text.split("\n")) <= width
    assert all(line == line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("name", VIEWS)
def test_an_experiment_without_samples_is_no_error(name: str) -> None:
    text = VIEWS[name](EMPTY, Style(80))
    assert "test.1.expt" in text


def test_colour_changes_nothing_but_colour() -> None:
    for render in (*VIEWS.values(), *ARGUMENT_VIEWS.values()):
        plain, coloured = render(PROFILE, Style(80)), render(PROFILE, Style(80, has_color=True))
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[\d*m", "", coloured) == plain


def test_the_overview_says_everything_that_went_wrong() -> None:
    text = overview.render(PROFILE, None, Style(200))
    for sentence in (
        "3 recorder busy, 1 log cut off",
        "unfinished: 1 no unwind information",
        "Warning: the program closed its clock (2 times)",
        "0.012 s paused or without a sample",
        "0.008 s before recording began",
        "cpu-timer at 941 Hz (250 Hz is what it delivers here)",
        "1 time, for 1.000 s (2.5 % of the processes' run time)",
        "killed by signal 9 (SIGKILL)",
        "read input",
    ):
        assert sentence in text


def test_the_overview_names_other_metrics_with_their_totals() -> None:
    text = overview.render(waiting_profile(), None, Style(200))
    assert "wall 24.000 s, blocked 18.000 s, runnable 2.000 s, looks 3; --metric NAME shows one by function" in text
    assert "  Metrics " in text and "  Metrics " not in overview.render(PROFILE, None, Style(200))


def test_the_overview_shows_where_threads_wait_and_what_for() -> None:
    lines = [line.split() for line in overview.render(waiting_profile(has_causes=True), None, Style(100)).splitlines()]
    first = lines.index(["Top", "waits"])
    assert lines[first + 4 : first + 6] == [["11.000", "61.1", "lock", "lock", "main"], ["7.000", "38.9", "file", "read", "main"]]
    assert "Top waits" not in overview.render(PROFILE, None, Style(100))


@pytest.mark.parametrize(
    "width, wanted",
    [(70, "cpu s  blocked s"), (80, "cpu s  blocked s  runnable s"), (130, "cpu s  blocked s  blocked_lock s  runnable s"), (200, "blocked s  blocked_file s  blocked_lock s  runnable s  looks")],
)
def test_causes_of_waits_make_way_first(width: int, wanted: str) -> None:
    """And of these the one with the least time."""
    profile = waiting_profile(has_causes=True)
    shown = profile._replace(metrics=shown_metrics(profile.metrics))
    assert wanted in VIEWS["functions"](shown, Style(width)).splitlines()[3]


def test_control_characters_of_names_stay_on_their_line() -> None:
    points = (SamplePoint(0, 0, 100, START_NS, "two\nlines \x1b[31m \udcff end", "api"),)
    text = VIEWS["samples"](build_profile([], points=points), Style(120))
    assert "two\\nlines \\x1b[31m \\xff end" in text


def test_a_deep_tree_does_not_leave_the_page() -> None:
    stack = "main"
    stacks = []
    for depth in range(60):
        stacks.append((f"{stack};side_{depth}", 1, 0))
        stack += f";level_{depth}"
    text = VIEWS["calltree"](build_profile([*stacks, (stack, 1, 0)]), Style(80))
    assert "level_50" in text
    assert max(text_width(line) for line in text.split("\n")) <= 80


def test_many_warnings_do_not_bury_the_rest() -> None:
    messages = tuple(Message(0, 1, f"module {number} is gone") for number in range(20))
    text = overview.render(build_profile([("main", 1, 0)], messages=messages), None, Style(80))
    assert "module 4 is gone" in text
    assert "module 5 is gone" not in text
    assert "... and 15 more" in text
    assert "module 19 is gone" in header.render(build_profile([], messages=messages), Style(80))


@pytest.mark.parametrize(("name", "least"), [("functions", 40), ("lines", 37)])
def test_functions_matter_more_than_their_source(name: str, least: int) -> None:
    """Of a page of 100 columns a long name gets about 40."""
    long = build_profile([(f"main;{LONG_NAME}", 1, 0)])
    cut = next(line for line in VIEWS[name](long, Style(100)).split("\n") if "app::" in line)
    shown = next(cell for cell in re.split("  +", cut) if cell.startswith("app::"))
    assert text_width(shown) >= least


def test_what_a_program_says_of_its_own_functions_is_shown() -> None:
    profile = build_profile([("main;stub", 1, 0)])
    stub = profile.functions[1]._replace(alias="interpreter loop")
    profile = profile._replace(functions=(profile.functions[0], stub))
    text = callers_callees_text.render(profile, callers_callees(profile, 1), None, Style(80))
    assert "The program says of it: interpreter loop" in text


def overview_of(samples: list[tuple], **more: object) -> str:
    return " ".join(overview.render(build_profile(samples, **more), None, Style(200)).split())


def with_unsampled(samples: list[tuple], count: int) -> tuple[list[tuple], list[Thread]]:
    """These samples, and so many threads that have CPU time but no sample."""
    unsampled = [("start", 0.001, 0, {"end": "not_sampled", "thread": number}) for number in range(1, count + 1)]
    return [*samples, *unsampled], [THREAD, *(THREAD._replace(tid=100 + number) for number in range(1, count + 1))]


def test_threads_without_a_sample_are_told_apart_and_not_counted() -> None:
    samples, threads = with_unsampled([("main", 1, 0)], 2)
    text = overview_of(samples, threads=threads)
    assert "all reach the start of their thread; 2 threads exited before their first sample; their time is attributed to their start function" in text
    assert "Samples 1 in 3 threads of 1 process Clock" in text
    images = [PROCESS._replace(has_execed=True), PROCESS._replace(image=1)]
    assert "2 threads exited or called exec before their first sample" in overview_of(samples, threads=threads, processes=images)
    samples, threads = with_unsampled([], 1)
    assert "Stacks 1 thread exited before its first sample; its time is attributed to its start function" in overview_of(samples, threads=threads)


@pytest.mark.parametrize("module", [functions, lines, pcs, threads, processes])
def test_tables_say_which_threads_have_no_sample(module) -> None:
    def rendered(count: int) -> str:
        samples, owners = with_unsampled([("main", 1, 0)], count)
        text = table(module, views.TABLE_VIEWS[module.__name__.rpartition(".")[2]])(build_profile(samples, threads=owners), Style(200))
        return " ".join(text.split())

    assert "exited" not in rendered(0)
    assert "1 thread exited before its first sample; its time is attributed to its start function." in rendered(1)
    assert "2 threads exited before their first sample; their time is attributed to their start function." in rendered(2)


@pytest.mark.parametrize("module", [functions, lines, threads, processes])
def test_no_table_counts_samples_that_nobody_took(module) -> None:
    samples, owners = with_unsampled([("main", 1, 0)] * 3, 4)
    rows = views.TABLE_VIEWS[module.__name__.rpartition(".")[2]].rows(build_profile(samples, threads=owners))
    assert sum((getattr(row, "exclusive", None) or row.values)[3] for row in rows) == 3


def test_time_rests_on_samples_that_were_taken() -> None:
    samples, owners = with_unsampled([("main", 1, 0)] + [("idle", 0.0, 0)] * 20, 40)
    text = table(functions, views.FUNCTIONS)(build_profile(samples, threads=owners), Style(200))
    assert "few of the 21 samples" in text and "in start" not in text, "what the kernel accounts to a thread is no guess"


@pytest.mark.parametrize(
    ("process", "more", "told"),
    [
        (PROCESS, {}, "elsewhere"),
        (PROCESS._replace(was_terminated=True), {}, "elsewhere (after recording was terminated)"),
        (PROCESS._replace(is_closed=False), {}, "elsewhere (in processes whose log was not closed)"),
        (PROCESS, {"unrecorded": (Unrecorded(0, 7),)}, "elsewhere (in programs that were not recorded)"),
    ],
)
def test_what_is_elsewhere_has_its_reason(process: Process, more: dict[str, object], told: str) -> None:
    text = overview_of([("main", 1, 0)], processes=[process], recordings=[RECORDING._replace(accounted_ns=3 * S)], **more)
    assert re.search(rf"[\d.]+ s {re.escape(told)} Samples", text), text


def test_images_of_a_process_are_no_processes() -> None:
    images = [PROCESS._replace(image=0, has_execed=True), PROCESS._replace(image=1)]
    threads_of = [THREAD, THREAD._replace(process=1), THREAD._replace(process=1, tid=101)]
    text = overview_of([("main", 1, 0)], processes=images, threads=threads_of)
    assert "1 in 2 threads of 1 process (2 program images)" in text


def test_logs_that_were_not_closed_are_told_by_what_is_known_of_their_process() -> None:
    def losses(*statuses: int | None, **more: object) -> str:
        text = overview_of([("main", 1, 0)], processes=[PROCESS._replace(status=status, is_closed=False) for status in statuses], **more)
        return text.partition("Lost ")[2].partition(" Top functions")[0]

    assert losses(9) == losses(None) == "none known; 1 log not closed"
    assert losses(9, 256) == "unknown: 1 log not closed although its process exited; 1 log not closed"
    assert losses(256) == "unknown: 1 log not closed although its process exited"
    assert losses(0, 0) == "unknown: 2 logs not closed although their processes exited"
    full = (Loss(0, "no_space", 5, "100.0.log"),)
    assert losses(0, losses=full) == "unknown: 1 log not closed because there was no space on the disk; 5 no space on the disk"


def test_more_samples_than_the_kernel_knows_of() -> None:
    text = overview_of([("main", 2, 0)], recordings=[RECORDING._replace(accounted_ns=S)])
    assert "Coverage samples exceed the 1.000 s the kernel charged to the command: some descendants were never waited for" in text


def test_how_a_process_ended_in_a_word() -> None:
    endings = [PROCESS._replace(**known) for known in ({"status": 9}, {"status": 40}, {"status": 512}, {"status": None})]
    assert [process_ending(process) for process in endings] == ["SIGKILL", "signal 40", "status 2", "-"]
    unclosed = PROCESS._replace(status=None, is_closed=False)
    assert (process_ending(unclosed), process_ending(unclosed._replace(is_running=True))) == ("cut short", "running")


def test_rows_of_processes_that_are_left_out_are_images() -> None:
    text = table(processes, views.PROCESSES, 1)(PROFILE, Style(200))
    assert "... and 1 more program image, 6.9 %" in text



def test_the_timeline_tells_pauses_from_idle_time() -> None:
    plain = build_profile([("main", 1, 0)])
    paused = plain._replace(pauses=(Pause(0, "api", START_NS + 5 * S, START_NS + 9 * S),))
    texts = [timeline_text(one, Style(100), False) for one in (plain, paused)]
    assert "paused" not in texts[0]
    assert "Blank is also where recording was paused: 1 time, for 4.000 s (20.0 % of the run)." in " ".join(texts[1].split())


def test_the_hot_path_names_what_is_nearly_as_heavy() -> None:
    profile = build_profile([("main;encode;mix", 51, 0), ("main;decode;mix", 49, 0)])
    told = "Nearly as heavy, but not on this path: decode 49.0 % below main."
    assert told in " ".join(hotpath.render(profile, hot_path(profile), Style(200)).split())
    assert told in overview_of([("main;encode;mix", 51, 0), ("main;decode;mix", 49, 0)])
    one = build_profile([("main;encode;mix", 80, 0), ("main;decode;mix", 20, 0)])
    assert "Nearly" not in hotpath.render(one, hot_path(one), Style(200))

def test_a_hot_path_that_divides_at_its_start_says_so() -> None:
    profile = build_profile([("a", 5, 0), ("b", 4, 0), ("c", 3, 0)])
    text = hotpath.render(profile, hot_path(profile), Style(width=200))
    assert "half of the time. Here the time divides: a 41.7 %, b 33.3 %, c 25.0 %." in text
