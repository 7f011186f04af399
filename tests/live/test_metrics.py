"""test_metrics -- metric plugins from the definition file to the report: the tutorial, deterministic values, built-in metrics, life of processes"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from metric_plugins import Define, MetricRun, Source, compile_plugin, definition_text, run_with  # noqa: F401
from recorded import ROOT, TARGETS, clean_environment, collector_command, execute, judge, judge_total

import collector
from collector.experiment.events import Initialize, Metric, PmcAllocate, ProcFork
from collector.experiment.merge import events
from collector.experiment.origin import LAUNCHER
from collector.profile.metric_series import summarise

TUTORIAL = ROOT / "docs/metric-plugins.md"


def blocks(language: str) -> list[str]:
    """The code of the tutorial in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)


def test_the_tutorials_plugin_compiles_and_runs_as_it_says(recorder, tmp_path: Path) -> None:
    (tmp_path / "faults.c").write_text(blocks("c")[0])
    (tmp_path / "faults.xml").write_text(blocks("xml")[0])
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    (tmp_path / "collector").write_text(f'#!/bin/sh\nexec {sys.executable} -m collector "$@"\n')
    (tmp_path / "collector").chmod(0o755)
    environment = {**clean_environment(), "PATH": f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-e", "-c", "\n".join(commands)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "10000000" in done.stdout and "Page faults" in done.stdout
    faults = collector.open(tmp_path / "faults.expt").metrics["com.example.faults.rate"]
    assert faults.total >= 80_000_000 / 2 / 2**21 and faults.units == "/s"  # at least a fault for each huge page of the list


@pytest.mark.parametrize("clock", ["sigtrap", "task-clock", "cpu-timer"])
def test_a_counter_is_read_as_often_as_it_is_recorded(run_with, rung_works, clock: str) -> None:
    rung_works(clock)
    metrics = [Define("calls"), Define("one", units="/s", divided=True)]
    run = run_with("metric_counts.c", metrics, clock=clock, options=("--metric-interval", 5))
    values = run.values("calls")
    assert values == list(range(1, len(values) + 1)) and len(values) > 10
    (series,) = run.series("one")
    wall_s = sum(series.intervals_ns) / 1e9
    assert summarise(series).mean == pytest.approx(len(values) / wall_s, rel=1e-9)


def test_the_interval_is_kept_and_doubled_after_a_thousand_readings(run_with, compiled) -> None:
    run = run_with("metric_counts.c", [Define("calls")], command=(compiled("metric_load.c"), 2500), options=("--metric-interval", 1, "-p", "hi"))
    intervals = [reading.interval_ns for reading in run.readings("calls")]
    judge(len(intervals) > 1050, f"{len(intervals)} readings are too few to judge")
    first, second = sorted(intervals[:1000]), sorted(intervals[1001:-1])
    assert first[500] >= 900_000
    assert second[len(second) // 2] >= 1_800_000


def test_custom_data_reaches_the_getter_whole(run_with) -> None:
    run = run_with("metric_counts.c", [Define("a", "custom", custom="42"), Define("b", "custom", custom="7 \t\\n & <"), Define("c", "custom")])
    assert (set(run.values("a")), set(run.values("b")), set(run.values("c"))) == ({42}, {7}, {0})


def test_a_plugin_in_cplusplus(record, compiled, tmp_path: Path) -> None:
    (tmp_path / "plugin.cc").write_text(
        '#include <vector>\n#include "allinea_metric_plugin_api.h"\n#include "allinea_metric_plugin_template.h"\n'
        "static std::vector<std::uint64_t> values;\n"
        'extern "C" {\n'
        "int allinea_plugin_initialize(plugin_id_t, void *) { values.assign(3, 11); return 0; }\n"
        "int allinea_plugin_cleanup(plugin_id_t, void *) { return values.size() == 3 ? 0 : -1; }\n"
        "int get(metric_id_t, timespec *, std::uint64_t *value) { *value = values.at(2); return 0; }\n}\n"
    )
    compile_plugin(tmp_path / "plugin.cc", tmp_path / "plugin.so", "-Wall", "-Wextra", compiler="g++")
    (tmp_path / "plugin.xml").write_text(definition_text([Define("get")], Source("plugin.so")))
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path]))
    assert set(run.values("get")) == {11} and run.texts() == []


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("gcc", "gnu17"), ("clang", "c11"), ("g++", "c++98"), ("g++", "c++20")])
def test_headers_compile_by_themselves(compiler: str, standard: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    for header in sorted((ROOT / "libcollector_c/include").glob("allinea_*.h")):
        source = tmp_path / ("x.cc" if "++" in compiler else "x.c")
        source.write_text(f'#include "{header.name}"\nint here;\n')
        words = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wundef", "-Werror", "-pedantic", f"-I{header.parent}", "-c", source, "-o", tmp_path / "x.o"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), header.name


def test_every_function_of_the_headers_is_exported(recorder) -> None:
    declared = set()
    for header in (ROOT / "libcollector_c/include").glob("allinea_*.h"):
        declared |= set(re.findall(r"\b(allinea_\w+)\(", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)))
    listed = subprocess.run(["nm", "-D", "--defined-only", recorder], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in listed.splitlines()}
    declared -= {"allinea_plugin_initialize", "allinea_plugin_cleanup"}  # the plugin's own
    assert len(declared) >= 22 and declared <= exported


def test_safe_memory_serves_getters_on_all_threads(run_with, compiled) -> None:
    run = run_with("metric_rules.c", [Define("memory")], command=(compiled("metric_load.c"), 300, 4), options=("--metric-interval", 1))
    values = run.values("memory")
    assert values and run.texts() == []
    judge(len(values) > 50, f"only {len(values)} readings: on a busy machine they take longer than they are apart, and rest")


def test_builtin_metrics_agree_with_the_kernels_account(record, compiled) -> None:
    run = MetricRun(record([compiled("metric_load.c"), 500, 2]))
    total_s = sum(sum(run.values(f"collector.cpu.{name}")) for name in ("user", "system"))
    judge_total(run.recorded, total_s * 1e9, share=0.05)
    (user,) = run.series("collector.cpu.user")
    main_thread = run.recorded.profile.threads[0]
    lifetime_s = (main_thread.end_ns - main_thread.start_ns) / 1e9  # longer on a busy machine than the 0.5 s that it works
    assert summarise(user).mean == pytest.approx(100 * summarise(user).total / lifetime_s, rel=0.05)
    assert all(2**20 < value < 2**30 for value in run.values("collector.memory.resident"))
    assert all(value >= 0 for value in run.values("collector.node.load"))
    assert all(value > 2**20 for value in run.values("collector.node.memory"))


def test_builtin_io_is_the_programs(record) -> None:
    script = "import os\nfor i in range(300):\n    os.write(w := os.open('/dev/null', 1), bytes(10000)); os.close(w)\n    sum(range(20000))\n"
    run = MetricRun(record([sys.executable, "-c", script]))
    assert sum(run.values("collector.io.written")) == pytest.approx(3_000_000, rel=0.02)


def test_builtin_metrics_survive_a_program_that_closes_everything(record) -> None:
    script = "import os, time\nos.closerange(3, 1 << 16)\nend = time.monotonic() + 0.4\nwhile time.monotonic() < end: os.closerange(3, 4096)\n"
    run = MetricRun(record([sys.executable, "-c", script]))
    assert run.texts() == []
    for name in ("collector.memory.resident", "collector.io.read", "collector.node.memory"):
        assert len(run.values(name)) >= 5


def test_a_fork_child_goes_on_and_counts_from_the_fork(run_with, tmp_path: Path) -> None:
    script = "import os, time\ndef busy(s):\n  end = time.process_time() + s\n  while time.process_time() < end: pass\n"
    script += "busy(0.1)\npid = os.fork()\nbusy(0.15)\nif pid: os.waitpid(pid, 0)\n"
    metrics = [Define("calls"), Define("one", units="/s", divided=True)]
    run = run_with("metric_counts.c", metrics, command=(sys.executable, "-c", script))
    logs = {reading.origin for reading in run.readings("calls")}
    assert len(logs) == 2
    (fork,) = (event for event in events(run.recorded.path) if isinstance(event, ProcFork))
    calls, ones = ([r for r in run.readings(name) if r.origin == fork.origin] for name in ("calls", "one"))
    assert len(calls) == len(ones) > 3
    for first in (calls[0], ones[0]):  # what came up between the parent's last reading and the fork is the parent's
        assert first.time - first.interval_ns >= fork.time
    assert calls[0].value > 1, "the child goes on with the plugin's memory"


def test_a_process_too_short_to_be_sampled_says_nothing_of_metrics(record) -> None:
    run = MetricRun(record(["/bin/sh", "-c", "exec /bin/true"], ["-p", "10"]))
    found = list(events(run.recorded.path))
    assert len({event.origin for event in found if isinstance(event, Initialize) and event.origin.is_process}) == 2  # sh, true
    assert LAUNCHER in {event.origin for event in found if isinstance(event, PmcAllocate) and event.clock == "plugin"}
    assert not any(event.origin.is_process for event in found if isinstance(event, Metric))


def test_without_samples_there_is_a_last_reading(record) -> None:
    run = MetricRun(record(["/bin/sleep", "0.1"], ["-p", "off"]))
    assert len(run.values("collector.memory.resident")) == 1
    (switches,) = run.readings("collector.cpu.switches")
    assert switches.value >= 1 and switches.interval_ns >= 90_000_000


def test_how_a_metric_is_shown_is_told_once(run_with) -> None:
    shown = "<displayName>Calls made</displayName><description>So many</description><type>io</type>"
    run = run_with("metric_counts.c", [Define("calls", display=shown), Define("one", divided=True)])
    own = {event.name: event.attributes for event in run.definitions.values() if event.origin != LAUNCHER}
    assert own["calls"] == ("type=uint64_t",) and own["one"] == ("type=uint64_t", "divided=1")
    metric = run.series("calls")[0].metric
    assert (metric.title, metric.description, metric.category, metric.kind) == ("Calls made", "So many", "io", "level")
    assert metric.file.endswith("plugin.xml")


def test_a_pause_is_in_no_interval(run_with, compiled) -> None:
    program = compiled("marked_phases.c")
    run = run_with("metric_counts.c", [Define("one", divided=True), Define("calls")], command=(program,))
    pauses = run.recorded.profile.pauses
    assert pauses, "the target does not pause"
    for reading in run.readings("one"):
        for pause in pauses:
            assert reading.time <= pause.start_ns or reading.time - reading.interval_ns >= pause.start_ns


def test_preloads_join_the_program_and_may_call_the_interface(record, compiled, tmp_path: Path) -> None:
    (tmp_path / "wrapper.c").write_text(
        '#include "allinea_metric_plugin_api.h"\n__attribute__((constructor)) static void begin(void) { allinea_safe_printf("preloaded %d\\n", 1); }\n'
    )
    compile_plugin(tmp_path / "wrapper.c", tmp_path / "wrapper.so")
    compile_plugin(TARGETS / "metric_counts.c", tmp_path / "plugin.so")
    (tmp_path / "plugin.xml").write_text(definition_text([Define("calls")], Source("plugin.so", preloads=("wrapper.so",))))
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path]))
    assert run.stdout == "preloaded 1\nmain\n" and run.values("calls")


def test_wrong_files_are_told_and_the_program_is_run_with_the_rest(record, compiled, tmp_path: Path) -> None:
    compile_plugin(TARGETS / "metric_counts.c", tmp_path / "plugin.so")
    metrics = [Define("calls"), Define("nobody_has_this"), Define("bad", type="float")]
    (tmp_path / "a.xml").write_text(definition_text(metrics, Source("plugin.so")))
    (tmp_path / "b.xml").write_text("<!DOCTYPE x [<!ENTITY a 'b'>]><metricdefinitions/>")
    (tmp_path / "c.xml").write_text(definition_text([Define("lost")], Source("gone.so")))
    run = MetricRun(record([compiled("metric_load.c"), 100], ["--metrics", tmp_path, "--enable-metrics=unknown"]))
    assert (run.recorded.outcome.status, run.stdout) == (0, "main\n")
    assert run.values("calls") and run.values("collector.memory.resident")
    told = "\n".join(line for line in run.stderr.splitlines() if line.startswith("collector: "))
    for part in (f"{tmp_path}/a.xml:", "its <dataType> is 'float'", f"{tmp_path}/b.xml:1: document types", "gone.so is neither", "'unknown'",
                 "nobody_has_this: plugin.so has no function nobody_has_this"):
        assert part in told
    header = execute(collector_command("report", run.recorded.path, "header", "--width", 300)).stdout
    assert "document types" in header and "has no function nobody_has_this" in header


def test_metrics_can_be_switched_off(record, compiled, tmp_path: Path) -> None:
    run = MetricRun(record([compiled("metric_load.c"), 60], ["--metric-interval", "off"]))
    assert not run.definitions and not (run.recorded.path / "metrics.tsv").exists()
    run = MetricRun(record([compiled("metric_load.c"), 60], ["--disable-metrics=collector.io.read,collector.io.written"]))
    assert {event.name for event in run.definitions.values()} == {
        "collector.cpu.user", "collector.cpu.system", "collector.cpu.switches", "collector.memory.resident", "collector.node.load", "collector.node.memory",
    }


def test_the_report_and_its_json(run_with) -> None:
    metrics = [Define("half", type="double", units="%", divided=True, display="<displayName>Half</displayName><type>cpu_time</type>")]
    run = run_with("metric_counts.c", metrics)
    text = execute(collector_command("report", run.recorded.path, "metrics", "--width", 160)).stdout
    (line,) = [line for line in text.splitlines() if "Half" in line]
    assert "%" in line and "█" in line
    document = json.loads(execute(collector_command("report", run.recorded.path, "metrics", "--json")).stdout)
    (row,) = [row for row in document["rows"] if row["id"] == "half"]
    (series,) = [series for series in document["series"] if series["id"] == "half"]
    assert row["mean"] == pytest.approx(50, abs=1) and row["total_units"] == "s"
    assert len(series["values"]) == len(series["times"]) == row["readings"]
    half = collector.open(run.recorded.path).metrics["half"]
    assert half.values == pytest.approx(series["values"]) and half.times == pytest.approx(series["times"])
