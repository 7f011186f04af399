"""test_metrics_harm -- what metric plugins, and the recorder's own files, must not do to a program: hang it, kill it, or be said to have done so"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from metric_plugins import Define, MetricRun, run_with  # noqa: F401
from recorded import IS_THOROUGH, Outcome, clean_environment, collector_command, with_clocks

from collector.experiment.events import ThrExit
from collector.experiment.merge import events

NODE_METRICS = ("collector.node.load", "collector.node.memory")
BUSY = "import os, time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: os.stat('/')\nprint(os.getuid())\n"


def test_a_fakeroot_and_node_metrics_do_not_hang(unharmed) -> None:
    if not shutil.which("fakeroot"):
        pytest.skip("fakeroot is not installed")
    if subprocess.run(["fakeroot", "true"], capture_output=True).returncode:
        pytest.skip("fakeroot does not work here")
    run = MetricRun(unharmed(["fakeroot", "/usr/bin/env", "python3", "-c", BUSY.format(seconds=0.4)]))
    assert run.stdout == "0\n"
    for name in NODE_METRICS:
        assert len(run.values(name)) >= 5


def test_the_program_has_nothing_of_a_plugin_of_the_node(run_with) -> None:
    script = "print([line for line in open('/proc/self/maps') if 'plugin.so' in line])"
    run = run_with("metric_node.c", [Define("reader", per_node=True)], command=(sys.executable, "-c", script))
    assert "[]" in run.stdout.splitlines()  # among what the plugin says elsewhere


@pytest.mark.parametrize("function, how", [("crash", f"signal {int(signal.SIGSEGV)} killed the process that reads them"), ("hang", "a plugin did not return")])
def test_a_plugin_of_the_node_fails_alone(run_with, compiled, function: str, how: str) -> None:
    run = run_with("metric_errors.c", [Define(function, per_node=True), Define("good")], command=(compiled("metric_load.c"), 400))
    assert (run.recorded.outcome.status, run.recorded.outcome.own_stderr) == (0, "")
    assert run.values(function) == [1, 1] and len(run.values("good")) > 3
    assert f"collector: the metrics of the machine were not read to the end: {how}" in run.stderr
    assert f"{function} (metric {function}) of " in run.stderr
    assert any(f"{function} (metric {function})" in text for text in run.texts())


@pytest.mark.parametrize("per_node", [False, True], ids=["process", "node"])
def test_programs_that_a_plugin_runs_do_not_load_it(run_with, per_node: bool) -> None:
    run = run_with("metric_runs_programs.c", [Define("get", per_node=per_node)], command=("/bin/true",), start="start")
    said = run.stdout.splitlines()
    assert len(said) == len(set(said)) == 25 and all(line.endswith(": alone") for line in said), said
    assert (run.recorded.outcome.status, run.recorded.outcome.own_stderr) == (0, "")


@pytest.mark.parametrize("getter", ["get", "missing"])
def test_the_program_finds_no_errors_of_a_plugin(run_with, compiled, getter: str) -> None:
    run = run_with("metric_untidy.c", [Define(getter)], command=(compiled("errors_it_finds.c"),), start="start")
    assert run.stdout == "begin: 0, nothing\nlater: 0, nothing\nend: 0, nothing\n"


def test_the_reader_of_the_node_dies_with_the_launcher(compiled, tmp_path: Path) -> None:
    command = collector_command("record", "-o", tmp_path / "x.expt", "--", compiled("waits_for_end.c"))
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment()) as launcher:
        while not (children := children_of(launcher.pid)) or len(children) < 2:
            assert launcher.poll() is None
        program = max(children, key=lambda pid: os.readlink(f"/proc/{pid}/exe").endswith("waits_for_end"))
        (reader,) = set(children) - {program}
        waiting = os.pidfd_open(reader)
        launcher.kill()
        assert select.select([waiting], [], [], 60)[0]
        os.close(waiting)
        os.kill(program, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def test_the_readers_cpu_time_is_not_the_programs(run_with) -> None:
    """A hundred readings of 3 ms at the most, a tenth of that beside many busy processes; the program takes some milliseconds."""
    run = run_with("metric_counts.c", [Define("slow", per_node=True)], command=("/bin/sleep", "1.5"), options=("--metric-interval", 4))
    read_ns = sum(run.values("slow")) * 3_000_000
    (recording,) = run.recorded.profile.recordings
    assert recording.accounted_ns is not None and 0 < recording.accounted_ns < read_ns, (recording.accounted_ns, read_ns)


def table_of(record, tmp_path: Path) -> str:
    """The table of the built-in metrics, as `collector record` writes it."""
    record(["/bin/true"], experiment=tmp_path / "table.expt")
    return str(tmp_path / "table.expt/metrics.tsv")


def test_without_a_launcher_the_first_process_reads_the_node(record, tmp_path: Path) -> None:
    busy = BUSY.format(seconds=0.15)
    script = f"{busy}\nif os.fork() == 0:\n    exec({busy!r})\n    os._exit(0)\nos.wait()\n"
    script += f"os.spawnvp(os.P_WAIT, 'python3', ['python3', '-c', {busy!r}])\nos.execvp('python3', ['python3', '-c', {busy!r}])"
    run = MetricRun(record([sys.executable, "-c", script], environment={"COLLECTOR_METRICS": table_of(record, tmp_path)}, direct=True))
    assert run.recorded.outcome.status == 0
    processes = run.recorded.profile.processes
    first = min(processes, key=lambda process: process.start_ns).pid
    assert len({process.pid for process in processes}) >= 3
    readers = [reading.origin for reading in run.readings("collector.node.load")]
    assert {origin.pid for origin in readers} == {first}
    assert len(set(readers)) >= 2, "and its next program goes on"
    assert {reading.origin.pid for reading in run.readings("collector.cpu.user")} > {first}
    (row,) = (row for row in run.series("collector.node.load")[:1])
    assert row.node == os.uname().nodename


def test_a_recorded_launcher_leaves_the_node_to_the_first_process(record, compiled, tmp_path: Path) -> None:
    inner = collector_command("record", "-o", tmp_path / "inner.expt", "--", compiled("metric_load.c"), 200)
    outer = MetricRun(record(inner))
    assert outer.recorded.outcome.status == 0
    found = [event for event in events(tmp_path / "inner.expt") if event.kind.name == "METRIC"]
    assert found and all(event.origin.is_process for event in found)
    assert {str(reading.origin) for reading in outer.readings("collector.node.load")} == {"node"}


def test_a_thread_cancelled_in_a_getter_leaves_no_trace(run_with, compiled) -> None:
    metrics, count = [Define("slow"), Define("calls")], 60 if IS_THOROUGH else 10
    run = run_with("metric_counts.c", metrics, command=(compiled("metric_cancel.c"), count), options=("--metric-interval", 1, "-p", "hi"))
    assert (run.recorded.outcome.status, run.stdout, run.texts()) == (0, f"cancelled {count}\n", [])
    assert run.values("calls") == list(range(1, len(run.values("calls")) + 1))
    last_exit = max(event.time for event in events(run.recorded.path) if isinstance(event, ThrExit) and event.thread != event.origin.pid)
    assert sum(reading.time > last_exit for reading in run.readings("calls")) >= 3
    times = [reading.time for reading in run.readings("calls")][:-1]  # the last is taken when recording ends
    assert all(later - earlier >= 5 * 3_000_000 for earlier, later in pairwise(times[2:])), "of readings that take 3 ms, a fifth of the time is the most"


LIMITED = "import os, resource, signal, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, {bytes}))\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nos.execv(sys.argv[1], sys.argv[1:])"


def program(compiled) -> Path:
    """One with many different stacks, which fill a log."""
    return compiled("varied_stacks.c", "-O1", "-fno-optimize-sibling-calls")


@pytest.mark.parametrize(("limit", "clock"), with_clocks([0, 1, 65_536, 131_072, 400_000]))
def test_a_limit_of_the_files_size_costs_data_but_not_the_program(unharmed, rung_works, compiled, clock: str, limit: int) -> None:
    rung_works(clock)
    run = unharmed([sys.executable, "-c", LIMITED.format(bytes=limit), program(compiled), 200], clock=clock, options=("-p", "hi"))
    assert_told(run.outcome, run.profile.unrecorded, limit)


def assert_told(outcome: Outcome, unrecorded: object, limit: int) -> None:
    """Without room for a log the program is said not to be recorded, and why."""
    is_without_log = limit < 2 * 65_536
    sentence = "1 process was not recorded: "
    assert (sentence in outcome.stderr) == is_without_log
    if is_without_log:
        assert "no log could be made: the size of its files is limited (ulimit -f)" in outcome.stderr
        assert unrecorded


def test_a_full_log_counts_what_it_loses(record, compiled, rung_works) -> None:
    rung_works("sigtrap")
    run = record([sys.executable, "-c", LIMITED.format(bytes=131_072), program(compiled), 1000], clock="sigtrap", options=("-p", "hi"))
    assert "lost because a log was full" in run.outcome.stderr
    assert {loss.cause for loss in run.profile.losses} == {"log_full"}
