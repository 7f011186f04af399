"""test_java -- Java without options: methods in their place, compiled, interpreted and inlined, between native frames"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import TARGETS, Recorded, collector_command, execute, judge, judge_at_least, tolerance

from collector.profile import aggregate

Record = Callable[..., Recorded]
NAMELESS = ("(no module)", "(anonymous code)")
WAYS = ("loops", "recursion", "depth", "exceptions", "lambdas", "interfaces", "allocation", "strings", "sorting", "compression", "copying", "reflection")
MODES = {
    "as_it_is": (300, []),
    "interpreted": (300, ["-Xint"]),
    "by_c1": (200, ["-XX:TieredStopAtLevel=1"]),
    "serial_gc": (200, ["-XX:+UseSerialGC", "-Xmx64m"]),
}
"""How the virtual machine runs, and for how many ms."""
LANGUAGE = 17  # that the programs are written in


def is_known(java: str) -> bool:
    """Whether a virtual machine is new enough for the programs."""
    told = Path(java).parents[1] / "release"
    match = re.search(r'JAVA_VERSION="(\d+)', told.read_text()) if told.exists() else None
    return match is not None and int(match[1]) >= LANGUAGE


OTHERS = sorted(filter(is_known, {os.path.realpath(path) for path in glob.glob("/usr/lib/jvm/*/bin/java")} - {os.path.realpath(shutil.which("java") or "")}))
"""Virtual machines beside the one of the PATH."""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("javac") or not shutil.which("java"):
        pytest.skip("this system has no JDK")
    directory = tmp_path_factory.mktemp("java")
    names = ("HotJava", "SplitJava", "ChurnJava", "WaitingJava")
    assert execute(["javac", "-J-XX:TieredStopAtLevel=1", "--release", LANGUAGE, "-d", directory, *(TARGETS / f"{name}.java" for name in names)]).status == 0
    return directory


def judge_whole(recorded: Recorded) -> None:
    nameless = sum(recorded.exclusive_ns(name) for name in NAMELESS) / recorded.total_ns
    count = recorded.sample_count
    judge(nameless <= 0.01 + tolerance(0.01, count, 0), f"{100 * nameless:.2f} % of {count} samples have no name")
    share = recorded.complete_share
    judge(share >= 0.99 - tolerance(0.99, count, 0), f"{100 * share:.2f} % of {count} stacks are whole: {recorded.unfinished}")


def judge_split(recorded: Recorded, truth: dict[str, int], prefix: str) -> None:
    """The shares among these methods, each with what it calls."""
    measured = {name: recorded.inclusive_ns(prefix + name) for name in truth}
    true_total, measured_total = sum(truth.values()), sum(measured.values())
    judge(measured_total > 0, "none of them was seen")
    wrong = []
    for name, true_ns in truth.items():
        share, found = true_ns / true_total, measured[name] / measured_total
        if abs(found - share) > tolerance(share, recorded.sample_count):
            wrong.append(f"{name}: {share:.4f} true, {found:.4f} measured")
    judge(not wrong, f"{'; '.join(wrong)} ({recorded.sample_count} samples)")


def report(recorded: Recorded, *words: object) -> str:
    outcome = execute(collector_command("report", recorded.path, *words))
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout


@pytest.mark.parametrize(("java", "mode"), [*(("java", mode) for mode in MODES), *((java, "as_it_is") for java in OTHERS)])
def test_each_method_has_the_time_that_it_says(record: Record, classes: Path, java: str, mode: str) -> None:
    duration_ms, options = MODES[mode]
    recorded = record([java, *options, "-cp", classes, "SplitJava", duration_ms])
    assert (recorded.outcome.status, recorded.outcome.own_stderr, recorded.lost_count) == (0, "", 0)
    truth = recorded.outcome.truth
    assert tuple(truth) == WAYS
    judge_whole(recorded)
    judge_split(recorded, {name: truth[name] for name in WAYS}, "SplitJava.")
    # On both sides of native code: called by it, and calling it.
    judge_at_least(recorded, "start_thread", 0.9 * sum(truth.values()))
    whole_ns, below_ns = (recorded.inclusive_ns(name) for name in ("java.util.zip.Deflater.deflate", "Java_java_util_zip_Deflater_deflateBytesBytes"))
    count = recorded.sample_count * whole_ns / recorded.total_ns
    # What is made before and after it takes memory from the kernel, which may take as long on a busy machine.
    judge(count >= 1 and below_ns >= (0.9 - tolerance(0.9, round(count))) * whole_ns, f"native methods stand below those that call them: {below_ns / 1e6:.1f} ms of {whole_ns / 1e6:.1f}")
    callers = {name: ns for name, ns in recorded.callers("SplitJava.compression").items() if not re.fullmatch(r"SplitJava\$\$Lambda(\$\d+)?\.run", name)}
    cut_ns = callers.pop("", 0) + callers.pop("Interpreter", 0)  # stacks that are not whole, or whose caller is not known, which are few
    assert not callers
    judge(cut_ns <= (0.01 + tolerance(0.01, round(count), 0)) * whole_ns, f"{cut_ns / 1e6:.1f} of {whole_ns / 1e6:.1f} ms have no caller")
    if mode == "interpreted":
        judge_lines(recorded)


def judge_lines(recorded: Recorded) -> None:
    """The lines are those of the source."""
    text = (TARGETS / "SplitJava.java").read_text().splitlines()
    begin = next(number for number, line in enumerate(text, 1) if "static long loop(" in line)
    frames = [frame for frame in recorded.profile.frames if recorded.profile.functions[frame.function].name == "SplitJava.loop"]
    judge(bool(frames), "the loop was not seen")
    assert {frame.file for frame in frames} == {"SplitJava.java"}
    assert {frame.line for frame in frames} <= set(range(begin + 1, begin + 5))
    judge(any("step(x)" in text[(frame.line or 1) - 1] for frame in frames), "the line that calls was not seen")


def test_what_was_inlined_is_told_to_the_instruction_with_jit(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "SplitJava", 400], options=["--jit"])
    assert "Picked up JAVA_TOOL_OPTIONS" in recorded.outcome.stderr
    assert "jit=1" in recorded.profile.recordings[0].options
    judge_whole(recorded)
    judge(recorded.exclusive_ns("SplitJava.step") > 0.5 * recorded.inclusive_ns("SplitJava.loop"), "step is all that loop does")


def test_classes_that_were_unloaded_are_told_apart(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "ChurnJava", 60])
    assert recorded.outcome.status == 0
    judge_whole(recorded)
    truth = {f"{name}.run": ns for name, ns in recorded.outcome.truth.items() if name.startswith("Work")}
    assert len(truth) == 60
    known = {name: recorded.inclusive_ns(f"ChurnJava${name}") for name in truth}
    judge(all(known.values()), f"not seen: {[name for name, ns in known.items() if not ns]}")
    halves = [[{name: ns for name, ns in values.items() if int(name[4:6]) % 2 == parity} for parity in (0, 1)] for values in (truth, known)]
    shares = [sum(odd.values()) / (sum(even.values()) + sum(odd.values())) for even, odd in halves]
    judge(abs(shares[0] - shares[1]) <= tolerance(shares[0], recorded.sample_count), f"{shares[0]:.4f} true, {shares[1]:.4f} measured")


@pytest.mark.parametrize("end", ["", "KILL"])
def test_hot_java_is_named_however_it_ends(record: Record, classes: Path, end: str) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 700, *([end] if end else [])])
    assert recorded.outcome.status == {"": 0, "KILL": -9}[end]
    assert "Picked up" not in recorded.outcome.stderr
    judge_whole(recorded)
    assert any(name.startswith("java.util.") for name in recorded.function_names())
    assert "HotJava.collatz" in recorded.function_names()
    text = report(recorded, "overview")  # with all hints there are
    assert "unnamed code of Java" not in text and "--jit" not in text
    assert re.search(r"Interpreter +HotSpot \d+", text)
    (row,) = [row for row in aggregate.functions(recorded.profile) if row.function.name == "HotJava.collatz"]
    assert (row.function.file, row.module.name) == ("HotJava.java", "(default package)")
    if end:
        return
    outcome = execute(collector_command("report", recorded.path, "disasm", "HotJava.collatz"))
    assert outcome.status != 0 and "is a Java method" in outcome.stderr


@pytest.mark.parametrize("java", ["java", *OTHERS])
@pytest.mark.parametrize("options", [(), ("-Xint",)], ids=["compiled", "interpreted"])
def test_methods_wait_under_their_names(record: Record, classes: Path, java: str, options: tuple[str, ...]) -> None:
    """Seen from outside, they stand between the native frames, up to the start of the thread."""
    recorded = record([java, *options, "-cp", classes, "WaitingJava", 800], options=["--wall"])
    truth, profile = recorded.outcome.truth, recorded.profile
    rows = {row.function.name: row.inclusive for row in aggregate.functions(profile)}
    blocked, runnable = ([metric.name for metric in profile.metrics].index(name) for name in ("blocked", "runnable"))
    wrong = []
    for name in ("sleeping", "parking", "waiting"):
        figures = rows.get(f"WaitingJava.{name}")
        found_ns = 1e9 * (figures[blocked] + figures[runnable]) if figures else 0.0
        # How exact rows are is told elsewhere: on a busy machine looks come late, and waits are shared out among few of them.
        if not 0.7 * truth[name] <= found_ns <= 1.3 * truth[name]:
            wrong.append(f"{name}: {truth[name] / 1e6:.1f} ms true, {found_ns / 1e6:.1f} recorded")
    judge(not wrong, "; ".join(wrong))
