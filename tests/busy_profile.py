"""busy_profile -- a profile with a little of everything that reports must show"""

from __future__ import annotations

from tiny_profile import CLOCK, MS, PROCESS, RECORDING, S, START_NS, THREAD, build_profile

from collector.profile.instructions import InstructionRow, Listing
from collector.profile.metric_series import MetricSeries, PluginMetric
from collector.profile.model import Loss, Message, Pause, Profile, Unrecorded
from collector.profile.sample_point import SamplePoint

SOURCE_TEXT = [f"line {number};" + "\tx = y;" * (number % 3) for number in range(1, 21)]
"""What /src/work.c might hold."""

LONG_NAME = "app::Table<std::string, std::vector<app::Row> >::insert_or_assign(std::string const&, app::Row&&)"

STATIC = "it is statically linked, so that no recorder can be preloaded into it"


_ZERO, _HALF = (0.0, 0.0, 0.0, 0), (0.5, 0.5, 0.0, 1)
LOAD = PluginMetric("node.load", "Load", per_node=True, description="Threads that run", file="/home/ada/node.xml")
BYTES = PluginMetric("io.read", "Read", "B/s", "rate", "io", "#ff7f0e", "io", "Input and output", integral="io.read_total")


LISTINGS = (
    Listing(
        "/home/ada/test, from 1140",
        tuple(
            InstructionRow(0x1140 + 4 * number, f"add ${number},%eax", "/src/work.c", 12 + number // 4, *times)
            for number, times in enumerate([(_ZERO, _ZERO)] * 5 + [((5.0, 5.0, 0.0, 2), (5.0, 5.0, 0.0, 2)), (_ZERO, (4.0, 3.0, 1.0, 1))] + [(_ZERO, _ZERO)] * 5)
        ),
    ),
    Listing("made at run time: 70,000 bytes at 7f0000001000, 0.500 s of its own", (InstructionRow(0x7F0000001000, "ret", None, None, _HALF, _HALF),), "the first 1 bytes of it were kept"),
)


def busy_profile() -> Profile:
    """A little of everything: two experiments, two threads, recursion, an unfinished stack, losses, labels."""
    points = tuple(
        SamplePoint(
            0, 0, 100, START_NS + i * S, label, cause, i * S, i * S // 10, i * 100, 0, i * 3, i, (20 + i) << 20, i * 5000, i * 123456
        )
        for i, (label, cause) in enumerate(
            [("", "start"), ("read input", "api"), ("", "periodic"), ("solve", "api"), ("", "end")]
        )
    )
    return build_profile(
        [
            ("_start;main;work:12;read@libc.so.6", 3, 1),
            ("_start;main;work:12", 5, 0),
            ("_start;main;work:14", 0.5, 0),
            ("_start;main;fib;fib;fib", 1, 0),
            (f"_start;main;{LONG_NAME}", 0.25, 0.125),
            ("clone@libc.so.6;worker", 2, 0.5, {"thread": 1}),
            ("worker", 0.1, 0, {"thread": 1, "end": "no_unwind_info"}),
            ("_start;main;work:12", 1, 0, {"thread": 2}),
        ],
        recordings=(RECORDING._replace(accounted_ns=15 * S), RECORDING._replace(name="test.2.expt", status=9, accounted_ns=S)),
        processes=(
            PROCESS._replace(unrecorded_ns=8 * MS),
            PROCESS._replace(experiment=1, pid=200, status=9, is_closed=False, clock=CLOCK._replace(name="cpu-timer", effective_period_ns=4 * MS)),
        ),
        threads=(
            THREAD,
            THREAD._replace(tid=101, name="worker with a long name", unattributed_ns=12 * MS),
            THREAD._replace(process=1, tid=200),
        ),
        points=points,
        losses=(Loss(0, "busy", 3, "100.0.log"), Loss(1, "truncated", 1, "200.0.log")),
        messages=(Message(0, 1, "the program closed its clock", 2), Message(1, 0, "the clock is the second choice")),
        pauses=(Pause(0, "api", START_NS + 5 * S, START_NS + 6 * S),),
        series=(
            MetricSeries(LOAD, 0, (START_NS + S, START_NS + 3 * S, START_NS + 4 * S), (S, 2 * S, S), (1.5, 0.5, float("nan"))),
            MetricSeries(BYTES, 0, (START_NS + S, START_NS + 3 * S), (S, 2 * S), (4096, 4096)),
            MetricSeries(BYTES, 1, (START_NS + 2 * S, START_NS + 3 * S), (2 * S, S), (1 << 20, (1 << 64) - 1)),
        ),
        unrecorded=(
            Unrecorded(0, 103, START_NS + 7 * S, None, "/home/ada/bin/busybox", STATIC),
            Unrecorded(0, 104, START_NS + 8 * S, 256, "/home/ada/bin/busybox", STATIC),
            Unrecorded(1, 105, START_NS + 8 * S, None, "", "the recorder did not start in it"),
        ),
    )


def position_of(profile: Profile, name: str) -> int:
    """The position of the function of that name."""
    return next(index for index, function in enumerate(profile.functions) if function.name == name)
