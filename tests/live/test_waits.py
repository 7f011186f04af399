"""test_waits -- where threads wait, as the launcher sees it from outside"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from pythons import Interpreter, every_interpreter
from recorded import IS_THOROUGH, TARGETS, Recorded, collector_command, execute, judge

from collector.capture.native import probe_event
from collector.capture.perf_events import exact_waits_problem
from collector.experiment import events
from collector.experiment.log_reader import EventReader
from collector.profile import aggregate
from collector.profile.causes import is_finished
from collector.profile.precision import waiting_error

WATCHED = ("switches", "looks")
EXACT = "exact"
WAYS = (*WATCHED, EXACT)
ON_X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="not an x86-64 processor: elsewhere a register tells the call")
LOOKS_NS = 10e6
ENDS_NS = 5e6
"""When a thread begins is known to half a tick of the kernel's, where there are looks alone."""
GAPS_NS = {"switches": ENDS_NS, "looks": 4 * LOOKS_NS, EXACT: ENDS_NS}
"""Without records, what lies at the ends of pauses is known to a look or two."""
RUN_MS = 1200

LONG = {
    "wait_whole_run": "timer",
    "wait_mutex": "lock",
    "wait_condition": "lock",
    "wait_pipe": "pipe",
    "wait_socket": "socket",
    "wait_child": "child",
}
"""Functions whose waits are at least half the time between looks, and what they wait for."""


SHORT = ("wait_briefly", "wait_a_little")


@pytest.fixture
def watch(compiled: Callable[..., Path], tmp_path: Path) -> Callable[..., Recorded]:
    """watch(way, command) records where a command waits; without perf events there are looks alone, and exact waits take a privilege."""

    def run(way: str, *command: object, around: Sequence[str] = (), options: Sequence[str] = ()) -> Recorded:
        if way == EXACT and exact_waits_problem(partial(probe_event, is_kernels=True), os.uname().release):
            pytest.skip("this system has no right to events in the kernel")
        refusing = [compiled("refuse_events.c")] if way == "looks" else []
        path = tmp_path / "waits.expt"
        option = "--wall=exact" if way == EXACT else "--wall"
        outcome = execute([*around, *refusing, *collector_command("record", option, *options, "-O", path, "--", *command)])
        return Recorded(outcome, path)

    return run


def metric(recorded: Recorded, name: str) -> int:
    """The position of a metric among the figures of a row."""
    return [metric.name for metric in recorded.profile.metrics].index(name)


def without_right_to_look() -> list[str]:
    """What runs a command without the right to look at others' processes, which root has."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("this system has no setpriv")
    return ["setpriv", "--bounding-set=-sys_ptrace", "--"]


def off_cpu_ns(recorded: Recorded, figures: tuple[float, ...]) -> float:
    return 1e9 * (figures[metric(recorded, "blocked")] + figures[metric(recorded, "runnable")])


def wrong_sums(recorded: Recorded) -> list[str]:
    """The threads of known_waits.c whose sums are off by more than a percent, and what may be at their ends."""
    truth, wrong = recorded.outcome.truth, []
    threads = {row.thread.tid: row.values for row in aggregate.threads(recorded.profile)}
    for name in (*LONG, "wait_file", "wait_both"):
        allowed_ns = 0.01 * truth[name] + ENDS_NS
        sum_ns = off_cpu_ns(recorded, threads[truth[f"{name}.tid"]])
        if not truth[name] - allowed_ns < sum_ns < truth[name] + truth[f"{name}.ends"] + allowed_ns:
            wrong.append(f"thread of {name}: {truth[name] / 1e6:.1f} ms true, {sum_ns / 1e6:.1f} recorded")
    return wrong


@pytest.mark.parametrize("way", WAYS)
def test_known_waits(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    """Sums of threads are within a percent; rows are, too, but for what the thread was ready, or seen by nobody, which is of no row for sure."""
    recorded = watch(way, compiled("known_waits.c"), RUN_MS)
    truth, profile = recorded.outcome.truth, recorded.profile
    threads = {row.thread.tid: row.values for row in aggregate.threads(profile)}
    functions, total = {row.function.name: row.inclusive for row in aggregate.functions(profile)}, aggregate.total_values(profile)
    wrong = wrong_sums(recorded)
    for name in (*LONG, *(SHORT if way != "looks" else ())):
        figures = threads[truth[f"{name if name in LONG else 'wait_both'}.tid"]]
        unseen_s = figures[metric(recorded, "blocked_unseen")] if way != "switches" else 0
        unknown_s = figures[metric(recorded, "runnable")] + unseen_s
        if way == EXACT and unseen_s * 1e9 > truth[name] / 2:  # some, where a thread that is switched too often for a signal each time ends between two bursts
            wrong.append(f"{name}: {truth[name] / 1e6:.1f} ms true, {unseen_s * 1e3:.1f} seen by nobody")
        allowed_ns = 0.02 * truth[name] + 1e9 * unknown_s + ENDS_NS
        allowed_ns += 1e9 * waiting_error(functions[name][metric(recorded, "variance")], total[metric(recorded, "variance")])
        row_ns = off_cpu_ns(recorded, functions[name])
        if abs(row_ns - truth[name]) > allowed_ns:
            wrong.append(f"{name}: {truth[name] / 1e6:.1f} ms true, {row_ns / 1e6:.1f} recorded, {allowed_ns / 1e6:.1f} allowed")
    judge(not wrong, "; ".join(wrong))


@pytest.mark.parametrize("way", WAYS)
def test_nobody_waits_while_recording_is_paused(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    """What begins before a pause and ends after it has only the time outside. Looks alone may be as far off as they are apart, at both ends of a pause."""
    rounds = 20
    recorded = watch(way, compiled("paused_waits.c"), rounds, 30)
    true_ns = recorded.outcome.truth["recorded_naps"]
    # Beside other work it may have to wait for a processor before the clock is read that tells the truth, and nobody may look at it meanwhile.
    total = aggregate.total_values(recorded.profile)
    unknown_s = total[metric(recorded, "runnable")] + (total[metric(recorded, "blocked_unseen")] if way == "looks" else 0)
    allowed_ns = 0.02 * true_ns + 1e9 * unknown_s + GAPS_NS[way]
    rows = {row.function.name: off_cpu_ns(recorded, row.inclusive) for row in aggregate.functions(recorded.profile)}
    expected = {"recorded_naps": true_ns, "other_naps": true_ns} if way == "looks" else {"recorded_naps": true_ns, "paused_naps": 0, "other_naps": true_ns}
    if way == "looks":
        rows["recorded_naps"] += rows.get("paused_naps", 0)
    wrong = [f"{name}: {rows.get(name, 0) / 1e6:.1f} ms recorded, {ns / 1e6:.1f} true" for name, ns in expected.items() if abs(rows.get(name, 0) - ns) > allowed_ns]
    judge(not wrong, f"{'; '.join(wrong)}; {allowed_ns / 1e6:.1f} ms allowed")


@pytest.mark.parametrize("way", WATCHED)
def test_nobody_waits_outside_the_window(watch: Callable[..., Recorded], way: str) -> None:
    """Nor is a nap left out that lies within it. On a busy machine a program may begin later than its window."""
    nap = "import time; print('begin', time.monotonic_ns()); time.sleep(1.2); print('end', time.monotonic_ns())"
    recorded = watch(way, sys.executable, "-c", nap, options=("-t", "0.3-0.9"))
    (log,) = recorded.path.glob("[0-9]*.0.log")
    (begun,) = (event for event in EventReader(log) if isinstance(event, events.Initialize))
    window = {name: int(value) for name, _, value in (word.partition("=") for word in begun.options or ()) if name in ("start", "end")}
    assert window["end"] - window["start"] == 600_000_000
    nap_ns = min(recorded.outcome.truth["end"], window["end"]) - max(recorded.outcome.truth["begin"], window["start"])
    total = aggregate.total_values(recorded.profile)
    blocked_ns, runnable_ns = (1e9 * total[metric(recorded, name)] for name in ("blocked", "runnable"))
    is_true = 0.98 * nap_ns - runnable_ns - GAPS_NS[way] <= blocked_ns <= 0.6e9 + GAPS_NS[way]
    judge(is_true, f"{blocked_ns / 1e6:.1f} ms waited and {runnable_ns / 1e6:.1f} for a processor, of a nap of {nap_ns / 1e6:.1f} ms in a window of 600")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_waited_for_and_from_where(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    recorded = watch(way, compiled("known_waits.c"), RUN_MS)
    functions = {row.function.name: row.inclusive for row in aggregate.functions(recorded.profile)}
    metrics = [metric.name for metric in recorded.profile.metrics]
    seen = [name for name, cause in LONG.items() if name in functions and f"blocked_{cause}" in metrics]
    judge(seen == list(LONG), f"only {seen} were looked at")
    blocked = metric(recorded, "blocked")
    for name in seen:
        # Each wait includes those for a page, and for what else comes between.
        few = 0.02 if way == EXACT else 1e-6
        assert functions[name][metric(recorded, f"blocked_{LONG[name]}")] == pytest.approx(functions[name][blocked], rel=few) and functions[name][blocked] > 0
    ends = [(row.cause, row.values[blocked]) for row in aggregate.stack_ends(recorded.profile)]
    unfinished = sum(value for cause, value in ends if not is_finished(cause))
    judge(unfinished < 0.01 * aggregate.total_values(recorded.profile)[blocked], f"stacks end so: {ends}")


@ON_X86_64
@pytest.mark.parametrize("flags", ["-O2", "-O1 -fno-omit-frame-pointer"])
@pytest.mark.parametrize("way", ["switches", EXACT])
def test_what_is_waited_for_in_calls_that_can_be_cancelled(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str, flags: str) -> None:
    recorded = watch(way, compiled("cancellable_calls.c", *flags.split()))
    functions = {row.function.name: row.inclusive for row in aggregate.functions(recorded.profile)}
    for name, cause in (("sleeps_by_arch", "timer"), ("polls_by_arch", "events"), ("sleeps_by_caller", "timer"), ("polls_by_caller", "events"), ("sleeps_by_constant", "timer")):
        judge(name in functions, f"{name} was not looked at")
        waited_s, blocked_s, runnable_s = (functions[name][metric(recorded, which)] for which in (f"blocked_{cause}", "blocked", "runnable"))
        # Of records of switches alone nobody knows when it was woken: on a busy machine a part of what it waited may be taken for waiting for a processor.
        judge(waited_s > 0 and (waited_s + runnable_s) * 1e9 >= 0.1e9 - ENDS_NS, f"{name} waited {waited_s:.3f} s for {cause}, {runnable_s:.3f} s for a processor")
        assert blocked_s == waited_s, name


@ON_X86_64
def test_what_makes_the_calls_that_can_be_cancelled_is_not_shown(watch: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path) -> None:
    """In a C library without symbols these are the functions in which all waits end; what calls them is, though it has no name either."""
    library = tmp_path / "libc.like.so"
    shutil.copy(compiled("cancellable_library.c", "-O2", "-shared", "-fPIC", "-DLIBRARY", "-s", name="libc.like.so"), library)
    program = compiled("cancellable_library.c", "-O2", f"-L{tmp_path}", "-l:libc.like.so", f"-Wl,-rpath,{tmp_path}")
    recorded = watch("switches", program, "300")
    rows = {row.function.name: row for row in aggregate.functions(recorded.profile) if recorded.profile.modules[row.function.module].name == library.name}
    waited, blocked = metric(recorded, "blocked_events"), metric(recorded, "blocked")
    nameless = [row for name, row in rows.items() if name != "nap"]
    assert "nap" in rows and len(nameless) == 1, sorted(rows)
    assert rows["nap"].inclusive[blocked] == nameless[0].inclusive[blocked] == nameless[0].exclusive[blocked]
    judge(nameless[0].exclusive[waited] * 1e9 >= 0.3e9 - ENDS_NS, f"{nameless[0]}")


def with_ways(mark: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Each interpreter in one of two ways, in turns; a thorough run tries each in both."""
    ways, (_, interpreters) = ("switches", EXACT), mark.args
    cases = [(case, way) for number, case in enumerate(interpreters) for way in (ways if IS_THOROUGH else (ways[number % 2],))]
    return pytest.mark.parametrize(("python", "way"), [pytest.param(*case.values, way, id=f"{case.id}-{way}", marks=case.marks) for case, way in cases])


@with_ways(every_interpreter("3.11", "3.12", "3.13"))
def test_python_functions_wait(watch: Callable[..., Recorded], python: Interpreter, way: str) -> None:
    """Each thread under its functions, with the line that waits and what for; what computing threads wait for is the interpreter's lock."""
    recorded = watch(way, python.path, TARGETS / "python" / "known_waits.py", 500)
    truth, profile = recorded.outcome.truth, recorded.profile
    rows = {row.function.name: row.inclusive for row in aggregate.functions(profile)}
    frames = [(profile.functions[frame.function].name, frame) for frame in profile.frames]
    ready_ns, wrong = 1e9 * aggregate.total_values(profile)[metric(recorded, "runnable")], []
    for name, cause in (("sleeping", "timer"), ("locking", "lock"), ("computing", "gil")):
        waited_ns, off_ns = 1e9 * rows[name][metric(recorded, f"blocked_{cause}")], off_cpu_ns(recorded, rows[name])
        # A wait for a time or lock ends in one for the interpreter's lock.
        allowed_ns = 0.02 * truth[name] + ready_ns + 5e6
        if cause != "gil" and abs(waited_ns - truth[name]) > allowed_ns + 1e9 * rows[name][metric(recorded, "blocked_gil")]:
            wrong.append(f"{name}: {truth[name] / 1e6:.1f} ms true, {waited_ns / 1e6:.1f} for {cause}, {off_ns / 1e6:.1f} in all")
        if cause == "gil" and not truth[name] - allowed_ns - truth[name] / 4 < waited_ns < truth[name] + allowed_ns:
            wrong.append(f"{name}: {truth[name] / 1e6:.1f} ms on no processor, {waited_ns / 1e6:.1f} for the interpreter's lock")
    judge(not wrong, "; ".join(wrong))
    for name in ("sleeping", "locking"):
        assert truth[f"{name}.line"] in [frame.line for function, frame in frames if function == name and frame.kind.startswith("python")]
    names = {profile.functions[frame.function].name for frame in profile.frames if frame.kind.startswith("python")}
    assert {"Thread.run", "wait", "sleeping", "locking", "computing"} <= names
    judge("Thread.join" in names, "main did not wait for the threads: on a busy machine they may be done when it is to")
    assert not any(name.startswith("_PyEval") for name in rows)


@every_interpreter("3.11", "3.12", "3.13")
def test_python_functions_that_wake_at_once_are_all_told(watch: Callable[..., Recorded], python: Interpreter) -> None:
    """Each has its wait, though all are new to the log when they tell of it."""
    recorded = watch(EXACT, python.path, TARGETS / "python" / "wake_at_once.py", 6)
    waiting = {row.function.name for row in aggregate.functions(recorded.profile) if row.inclusive[metric(recorded, "blocked")]}
    assert {f"nap_{number}" for number in range(6)} <= waiting, sorted(waiting)


@pytest.mark.parametrize("way", WATCHED)
def test_sums_hold_where_nobody_may_look(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    """Of a program that has made itself undumpable the time is known and no stack; the overview says so."""
    recorded = watch(way, compiled("known_waits.c"), 600, "undumpable", around=without_right_to_look())
    profile = recorded.profile
    wrong = wrong_sums(recorded)
    judge(not wrong, "; ".join(wrong))
    rows = {row.function.name: row.inclusive for row in aggregate.functions(profile)}
    total = aggregate.total_values(profile)
    for name in ("blocked", "blocked_unseen"):
        assert rows["(wait not seen)"][metric(recorded, name)] > 0.99 * total[metric(recorded, "blocked")]
    overview = execute(collector_command("report", recorded.path, "--width", 400)).stdout
    assert "were refused by the system" in overview and "nobody saw where" in overview


def test_preempted_time_has_a_name(watch: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Four threads that compute on one processor are ready for most of their time, and wait for nothing."""
    recorded = watch("switches", "taskset", "1", compiled("uneven_threads.c"), "split", 100)
    runnable, rows = metric(recorded, "runnable"), {row.function.name: row.inclusive for row in aggregate.functions(recorded.profile)}
    workers = [row for row in aggregate.threads(recorded.profile) if row.values[0] > 0.005]
    # Ready time is more: a thread that has not run yet does not know that it is there.
    off_s, ready_s = (sum(figures) for figures in zip(*[(row.off_cpu_s, row.values[runnable]) for row in workers]))
    preempted_s = rows["(preempted)"][runnable]
    judge(ready_s > 0.98 * off_s - 0.01, f"{off_s:.3f} s on no processor, {ready_s:.3f} ready")
    judge(preempted_s > 0.9 * ready_s, f"{preempted_s:.3f} s of {ready_s:.3f} preempted")  # the main thread's waits end before it has a processor
    assert rows["(preempted)"][metric(recorded, "blocked")] == 0


def test_a_busy_machine_is_told_of(watch: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Where threads wait for a processor after waking, rows of short waits are less certain than their errors say."""
    one_processor = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    spinning = subprocess.Popen([*one_processor, "timeout", "20", "sh", "-c", "while :; do :; done"])
    try:
        recorded = watch("switches", "nice", "-n", "19", *one_processor, compiled("known_waits.c"), 600)
    finally:
        spinning.terminate()
        spinning.wait()
    told = execute(collector_command("report", recorded.path, "functions", "--metric", "blocked", "--width", 400)).stdout
    judge("threads that had been woken waited for a processor" in told, told[-400:])


def test_the_overview_names_the_way(watch: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    texts = {way: execute(collector_command("report", watch(way, compiled("known_waits.c"), 50).path, "--width", 400)).stdout for way in WAYS}
    assert "known by the kernel's records of switches and " in texts["switches"]
    assert "because the kernel gives no records of context switches: Permission denied" in texts["looks"]


def test_without_the_option_nobody_watches(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("known_waits.c"), 50])
    assert not (recorded.path / "waits.log").exists()
    assert "blocked" not in [metric.name for metric in recorded.profile.metrics]


@pytest.mark.parametrize("way", WAYS)
def test_calls_that_wait_answer_as_always(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    program = compiled("blocking_calls.c", "-O1", "-D_GNU_SOURCE", "-lrt")
    plain, watched = execute([program]).stdout, watch(way, program).outcome.stdout
    assert len({line.split()[0] for line in plain.splitlines()}) >= 50
    assert watched == plain


def test_images_outlive_the_signals_of_their_waits(watch: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """A signal that is due as a thread becomes another program would kill that: one image in ten would die on a busy machine."""
    assert watch(EXACT, compiled("execs_amid_waits.c"), 40).outcome.status == 7


@pytest.mark.parametrize("way", ["together", "deferring"])
def test_waits_for_several_completions_are_whole(watch: Callable[..., Recorded], compiled: Callable[..., Path], way: str) -> None:
    """Where a signal would cut them short there is none, and the overview says so."""
    recorded = watch(EXACT, compiled("ring_waits.c"), way, 200)
    if recorded.outcome.stdout == "none\n":
        pytest.skip("this system has no io_uring")
    assert recorded.outcome.stdout == "short 0\n"
    overview = execute(collector_command("report", recorded.path, "--width", 400)).stdout
    assert ("DEFER_TASKRUN" in overview) is (way != "deferring")
    assert way != "deferring" or 1e3 * aggregate.total_values(recorded.profile)[metric(recorded, "blocked")] > 190 * 0.2


def test_waits_that_come_too_fast_are_shared_out(watch: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Sums are exact, whatever goes by; the overview says how much that is."""
    recorded = watch(EXACT, compiled("ping_pong.c"), 30000)
    profile = recorded.profile
    off_ns = sum(off_cpu_ns(recorded, row.values) for row in aggregate.threads(profile))
    allowed_ns = 0.02 * recorded.outcome.truth["off"] + 30e6  # what the program waits for as it begins
    judge(abs(off_ns - recorded.outcome.truth["off"]) < allowed_ns, f"{recorded.outcome.truth['off']} ns true, {off_ns} recorded")
    assert aggregate.total_values(profile)[metric(recorded, "wait-rows")] < 30000
    assert "switches came too fast" in execute(collector_command("report", recorded.path, "--width", 400)).stdout


@pytest.mark.parametrize(("words", "sentence"), [(["-h", "page-faults"], "-h both signal threads"), (["-p", "off"], "needs a clock beside it")])
def test_what_does_not_go_with_exact_waits(words: list[str], sentence: str) -> None:
    if exact_waits_problem(partial(probe_event, is_kernels=True), os.uname().release):
        pytest.skip("this system has no right to events in the kernel")
    outcome = execute(collector_command("record", "--wall=exact", *words, "-n", "--", "true"))
    assert outcome.status == 2 and sentence in outcome.stderr


def test_go_programs_are_spared(watch: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path) -> None:
    """They run others past the C library, which may then be killed: known by the note of their linker, here in a program in C."""
    note = tmp_path / "note.s"
    note.write_text('.section .note.go.buildid, "a", %note\n.balign 4\n.long 4, 4, 4\n.asciz "Go\\0"\n.ascii "xxxx"\n')
    recorded = watch(EXACT, compiled("ping_pong.c", note), 1000)
    assert [message.text for message in recorded.profile.messages if "Go may run another program" in message.text]
    assert "waits" not in [one.name for one in recorded.profile.metrics]
