"""test_metrics_rules -- the fourteen rules of hosting metric plugins: each by a plugin that notices when its host breaks it"""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from metric_plugins import Define, MetricRun, Source, compile_plugin, definition_text, run_with  # noqa: F401
from recorded import TARGETS, clean_environment, collector_command, execute, judge

from collector.profile.metric_series import summarise


def assert_content(run: MetricRun, *identifiers: str, least: int = 3) -> None:
    """The plugin had nothing to complain of, and its metrics have values."""
    assert run.texts() == []
    for identifier in identifiers:
        assert len(run.values(identifier)) >= least


def test_1_the_time_lies_on_the_stack_of_the_caller(run_with) -> None:
    assert_content(run_with("metric_rules.c", [Define("time_on_stack")]), "time_on_stack")


def test_2_each_getter_of_a_sample_has_the_same_time_in_a_copy_of_its_own(run_with) -> None:
    run = run_with("metric_rules.c", [Define("time_first"), Define("time_second")])
    assert_content(run, "time_first", "time_second")
    first, second = run.readings("time_first"), run.readings("time_second")
    assert len(first) == len(second)
    # What the getter says of the time is kept: never before the sample, and not a copy of it.
    assert all(changed.time > sample.time for changed, sample in zip(first, second))


def test_3_the_value_is_zero_before_each_call(run_with) -> None:
    metrics = [Define("zero_whole"), Define("zero_real", type="double")]
    assert_content(run_with("metric_rules.c", metrics), "zero_whole", "zero_real")


def test_4_what_cleanup_returns_is_not_looked_at(run_with) -> None:
    run = run_with("metric_rules.c", [Define("alone")])
    assert_content(run, "alone")
    assert "cleanup\n" in run.stdout


@pytest.mark.parametrize(
    "flags, is_used, text",
    [
        (("-DINIT_RESULT=3",), True, None),
        (("-DINIT_RESULT=0", "-DINIT_MESSAGE"), True, "src: no counter on machine 7 (error 42)"),
        (("-DINIT_RESULT=1", "-DINIT_MESSAGE"), False, "src: no counter on machine 7 (error 42)"),
        (("-DINIT_RESULT=-1", "-DINIT_MESSAGE"), False, "src: no counter on machine 7 (error 42)"),
        (("-DINIT_RESULT=-1",), False, "src: allinea_plugin_initialize of plugin.so gave -1 without saying why"),
    ],
)
def test_4_initialize_has_failed_only_with_minus_one_or_a_reason(run_with, flags, is_used: bool, text: str | None) -> None:
    run = run_with("metric_errors.c", [Define("good")], *flags)
    assert bool(run.values("good")) == is_used
    assert run.texts() == ([text] if text else [])
    assert (run.recorded.outcome.status, run.recorded.outcome.own_stderr) == (0, "")


def test_5_a_getter_that_sets_an_error_has_failed_whatever_it_returns(run_with) -> None:
    run = run_with("metric_errors.c", [Define("told"), Define("good")])
    assert run.values("told") == [9, 9]
    assert len(run.values("good")) > 3
    assert run.texts() == ["told: the counter is gone"]
    assert max(message.count for message in run.messages) == 2
    assert re.search(r"^collector: told: the counter is gone \(2 times, first after 0\.\d{3} s\)$", run.stderr, re.MULTILINE)
    header = execute(collector_command("report", run.recorded.path, "header", "--width", 200)).stdout
    assert re.search(r"warning: the counter is gone \(told\), 2 times, first after 0\.\d+ s", header)


def test_5_a_getter_that_fails_without_a_word_is_told_and_asked_again(run_with) -> None:
    run = run_with("metric_errors.c", [Define("mute")])
    assert len(run.values("mute")) >= 2
    assert run.texts() == ["mute: its getter failed without saying why"]
    assert max(message.count for message in run.messages) >= 2


def test_5_an_error_of_the_plugin_ends_all_of_its_metrics(run_with) -> None:
    run = run_with("metric_errors.c", [Define("good"), Define("fatal")])
    assert run.values("fatal") == [9, 9]
    assert len(run.values("good")) in (2, 3)
    assert run.texts() == ["src: the device is gone"]


def test_6_a_library_whose_own_library_is_missing_is_a_warning(record, compiled, tmp_path: Path) -> None:
    (tmp_path / "needed.c").write_text("int needed(void) { return 1; }\n")
    needed = compile_plugin(tmp_path / "needed.c", tmp_path / "libneeded.so", "-Wl,-soname,libneeded-of-nobody.so")
    compile_plugin(TARGETS / "metric_counts.c", tmp_path / "plugin.so", "-Wl,--no-as-needed", str(needed))
    (tmp_path / "plugin.xml").write_text(definition_text([Define("calls")], Source("plugin.so")))
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path]))
    assert (run.recorded.outcome.status, run.stdout) == (0, "main\n")
    assert [text for text in run.texts() if "src: its library cannot be loaded: libneeded-of-nobody.so" in text]
    assert "libneeded-of-nobody.so" in run.stderr


def test_6_symbols_are_looked_up_at_once(record, compiled, tmp_path: Path) -> None:
    source = (TARGETS / "metric_counts.c").read_text().replace("*value = 1;", "extern int not_there(void); *value = (uint64_t)not_there();")
    (tmp_path / "lazy.c").write_text(source)
    compile_plugin(tmp_path / "lazy.c", tmp_path / "plugin.so")
    (tmp_path / "plugin.xml").write_text(definition_text([Define("calls")], Source("plugin.so")))
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path]))
    assert (run.recorded.outcome.status, run.stdout) == (0, "main\n")
    assert [text for text in run.texts() if "not_there" in text]


def test_7_one_instance_is_begun_on_the_main_thread_and_called_by_one_thread_at_a_time(run_with, compiled) -> None:
    run = run_with("metric_rules.c", [Define("alone")], command=(compiled("metric_load.c"), 400, 8), start="begin", options=("--metric-interval", 1))
    assert_content(run, "alone")
    assert run.stdout.startswith("initialize\nstart\nmain\n")
    assert run.stdout.count("initialize") == 1


@pytest.mark.parametrize("names", [("plugin.so", "plugin.so"), ("plugin.so", "other_name.so")])
def test_a_library_of_two_sources_is_initialised_and_cleaned_up_once(record, compiled, tmp_path: Path, names: tuple[str, str]) -> None:
    """It is called when the library is loaded, says the specification: once, whatever names it has."""
    compile_plugin(TARGETS / "metric_rules.c", tmp_path / "plugin.so")
    (tmp_path / "other_name.so").symlink_to("plugin.so")
    for number, name in enumerate(names):
        text = definition_text([Define(f"metric{number}", "alone")], Source(name)).replace("'src'", f"'src{number}'")
        (tmp_path / f"plugin{number}.xml").write_text(text)
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path]))
    assert run.stdout.splitlines() == ["initialize", "main", "cleanup"]
    assert run.values("metric0") and run.values("metric1") and not run.texts()


def test_8_values_that_are_not_finite_are_stored_and_some_are_none(run_with) -> None:
    run = run_with("metric_rules.c", [Define("odd_real", type="double"), Define("odd_whole")], options=("--metric-interval", 2))
    real = run.values("odd_real")
    assert math.isnan(real[0]) and real[1:4] == [math.inf, -math.inf, 2.5]
    assert run.values("odd_whole")[:2] == [2**64 - 1, 7]
    real_series, whole_series = run.series("odd_real")[0], run.series("odd_whole")[0]
    assert real_series.values[:4] == [None, math.inf, -math.inf, 2.5]
    assert summarise(whole_series).least == summarise(whole_series).greatest == 7
    text = execute(collector_command("report", run.recorded.path, "metrics", "--width", 160)).stdout
    assert "-inf" in text and " inf " in text


def test_9_what_plugins_read_is_not_the_programs(run_with) -> None:
    run = run_with("metric_rules.c", [Define("greedy")])
    assert sum(run.values("greedy")) >= 3_000_000
    read = sum(run.values("collector.io.read"))
    assert read < 100_000, "the built-in metric counts what a plugin read"
    points = [point for point in run.recorded.profile.points if point.cause in ("start", "end")]
    assert points[-1].read_bytes - points[0].read_bytes < 100_000


def test_10_a_getter_that_crashes_is_named(run_with) -> None:
    run = run_with("metric_errors.c", [Define("crash")])
    assert run.recorded.outcome.status == -signal.SIGSEGV
    assert run.values("crash") == [1, 1]
    (text,) = run.texts()
    assert "crash (metric crash) of " in text and "plugin.so" in text and "metric plugin" in text
    assert "crash (metric crash)" in run.stderr


def test_10_a_getter_that_never_returns_is_named(record, compiled, tmp_path: Path) -> None:
    compile_plugin(TARGETS / "metric_errors.c", tmp_path / "plugin.so")
    (tmp_path / "plugin.xml").write_text(definition_text([Define("hang")], Source("plugin.so")))
    program = compiled("metric_load.c")
    command = collector_command("record", "-o", tmp_path / "x.expt", "--metrics", tmp_path, "--", "/bin/sh", "-c", f"{program} 60000 & echo $!; wait")
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment()) as process:
        assert process.stdout and process.stderr
        pid = 0
        for line in process.stdout:
            pid = int(line) if line.strip().isdigit() else pid
            if line == "hanging\n":
                break
        os.kill(pid, signal.SIGKILL)
        assert "hang (metric hang) of " in process.stderr.read()


def test_11_a_delta_is_kept_with_its_interval(run_with) -> None:
    metrics = [Define("one", units="/s", divided=True), Define("half", type="double", units="%", divided=True), Define("calls")]
    run = run_with("metric_counts.c", metrics)
    count = len(run.values("calls"))
    assert run.values("calls") == list(range(1, count + 1))
    assert run.values("one") == [1] * count
    (series,) = run.series("one")
    span_s = sum(series.intervals_ns) / 1e9
    assert summarise(series).total == count
    assert summarise(series).mean == pytest.approx(count / span_s)
    # The first interval is that since the start: intervals leave no gap.
    times = [0, *series.times_ns]
    assert all(time - before == interval for before, time, interval in zip(times[1:], times[2:], series.intervals_ns[1:]))
    assert 0 < series.intervals_ns[0] < 1e9
    (state,) = run.series("half")
    assert all(0 <= value <= 100 for value in state.values)
    assert summarise(state).mean == pytest.approx(50, abs=1)


def test_11_without_a_baseline_the_first_delta_is_dropped(run_with, compiled) -> None:
    metrics = [Define("one", units="/s", divided=True), Define("calls")]
    whole = run_with("metric_counts.c", metrics, command=(compiled("metric_load.c"), 400), options=("-t", "0.1-0.3"))
    # A program that begins within the window, on a machine that stalls, has a baseline.
    judge(len(whole.values("calls")) == len(whole.values("one")) + 1, f"{len(whole.values('calls'))} readings, {len(whole.values('one'))} of them with a delta")
    assert sum(reading.interval_ns for reading in whole.readings("one")) < 300_000_000


def test_12_backfill_asks_for_every_sample_once_when_sampling_has_stopped(run_with) -> None:
    metrics = [Define("live", type="double"), Define("filled", type="double", backfill=True), Define("meddling", type="double", backfill=True)]
    run = run_with("metric_backfill.c", metrics, start="start_profiling", stop="stop_profiling")
    live, filled = run.readings("live"), run.readings("filled")
    assert len(live) > 3
    assert [reading.time for reading in live] == [reading.time for reading in filled]
    assert [reading.value for reading in live] == [reading.value for reading in filled]
    assert run.values("meddling") == []
    assert run.texts() == ["meddling: it changed the time of a sample that it was asked to fill in"]


def test_13_the_launcher_reads_the_node_whichever_processes_come_and_go(run_with, compiled) -> None:
    run = run_with("metric_node.c", [Define("reader", per_node=True)], command=(compiled("metric_heir.c"),), timeout_s=60)
    readings = run.readings("reader")
    assert {str(reading.origin) for reading in readings} == {"node"}
    (reader,) = {reading.value for reading in readings}
    assert reader not in {process.pid for process in run.recorded.profile.processes}
    assert [line for line in run.stdout.splitlines() if line.startswith(("leader", "cleanup"))] == [f"leader {reader}", f"cleanup {reader}"]
    # Nothing is missing between the first reading and the last: the program slept, its first child was killed, its second one went on.
    assert all(later.time - later.interval_ns == earlier.time for earlier, later in zip(readings, readings[1:]))
    ends = {process.pid: process.end_ns for process in run.recorded.profile.processes}
    assert readings[-1].time > ends[run.recorded.outcome.truth["second"]]


@pytest.mark.parametrize("end", ["return", "_exit", "terminate"])
def test_14_start_and_stop_are_called_once_around_the_sampling(run_with, compiled, end: str) -> None:
    run = run_with("metric_rules.c", [Define("alone")], command=(compiled("metric_load.c"), 100, 1, end), start="begin", stop="end")
    assert run.texts() == []
    cleanup = [] if end == "_exit" else ["cleanup"]
    assert run.stdout.splitlines() == ["initialize", "start", "main", "stop", *cleanup]


def test_14_a_start_that_fails_ends_the_plugin(run_with) -> None:
    run = run_with("metric_errors.c", [Define("good")], "-DSTART_RESULT=-1", start="begin")
    assert run.values("good") == []
    assert run.texts() == ["src: it does not start"]
