"""test_perf_events -- what -h counts, on machines that answer this or that"""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from collector.capture.perf_events import KNOWN, PerfEvent, check_events, describe_events, exact_waits_problem, parse_counters, parse_events
from collector.errors import UsageError

HARDWARE, SOFTWARE, CACHE, RAW = 0, 1, 3, 4


def machine(**answers: int) -> Callable[[int, int], int]:
    """A kernel that answers by the type of the event; 0 where nothing is said."""
    types = {HARDWARE: "hardware", SOFTWARE: "software", CACHE: "hardware", RAW: "raw"}
    return lambda event_type, config: answers.get(types[event_type], 0)


VIRTUAL = machine(hardware=errno.ENOENT, raw=errno.ENOENT)
BARE = machine()


def test_words_become_events() -> None:
    assert parse_events("page-faults") == (PerfEvent("page-faults", SOFTWARE, 2, 101),)
    assert parse_events("cpu-cycles,hi,instructions,lo,cache-misses,5000") == (
        PerfEvent("cycles", HARDWARE, 0, 999_983), PerfEvent("instructions", HARDWARE, 1, 99_999_989), PerfEvent("cache-misses", HARDWARE, 3, 5000),
    )  # fmt: skip
    assert parse_events("r01c2")[0] == PerfEvent("r01c2", RAW, 0x1C2, 1_000_003)
    assert parse_events("faults,7")[0].encode() == "1.2.7.page-faults"


@pytest.mark.parametrize(("text", "told"), [
    ("nonsense", "there is no event 'nonsense'; -h alone lists"),
    ("on", "there is no event 'on'"),
    ("cycles,", "there is no event ''"),
    ("rxyz", "there is no event 'rxyz'"),
    ("cycles,0", "a sample is at least 1 event"),
    ("cycles,4294967296", "less than 4294967296"),
    ("cycles,cpu-cycles", "names an event twice"),
    ("cycles,instructions,branches,faults,r1", "counts 4 events at a time, not 5"),
])  # fmt: skip
def test_words_that_make_no_sense(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_events(text)


@pytest.mark.parametrize(("text", "probe", "told"), [
    ("cycles", VIRTUAL, "-h cycles: this machine has none"),
    ("r1c2", VIRTUAL, "-h r1c2: this machine has none"),
    ("cycles", machine(hardware=errno.EOPNOTSUPP), "this machine has none"),
    ("page-faults", machine(software=errno.EACCES), "the kernel does not allow it"),
    ("page-faults", machine(software=errno.EINVAL), "that takes Linux 5.19"),
    ("page-faults", machine(software=errno.EMFILE), "the kernel refuses it .EMFILE."),
    ("cs", BARE, "-h context-switches: it happens in the kernel.* --counters switches"),
])  # fmt: skip
def test_events_that_cannot_be_counted(text: str, probe: Callable[[int, int], int], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        check_events(parse_events(text), probe)


def test_a_machine_with_all_of_them() -> None:
    check_events(parse_events("cycles,instructions,cache-misses,page-faults"), BARE)
    lines = describe_events(BARE)
    assert [name for name in KNOWN if not any(line.split()[:1] in ([name], [f"{name},"]) for line in lines)] == ["context-switches", "cpu-migrations"]
    assert any(line.startswith("  rNNN") for line in lines)


def test_a_machine_without_hardware_counters() -> None:
    lines = describe_events(VIRTUAL)
    assert any(line.startswith("  page-faults, faults ") for line in lines) and not any("rNNN" in line for line in lines)
    (none,) = (line for line in lines if "this machine has none" in line)
    assert none.startswith("Not cycles, instructions, ") and none.count("this machine") == 1


def test_what_is_counted_at_ticks() -> None:
    assert parse_counters("switches,faults") == ({"faults", "switches"}, ())
    usage, events = parse_counters("faults,instructions,LLC-load-misses,r1c2")
    assert usage == {"faults"} and [event.encode() for event in events] == ["0.1.0.instructions", "3.65538.0.LLC-load-misses", "4.450.0.r1c2"]
    words = {"": "there is no event ''", "cycles,hi": "no event 'hi'", "cs,context-switches": "names an event twice", ",".join(KNOWN): "counts 6 events"}
    for text, told in words.items():
        with pytest.raises(UsageError, match=told):
            parse_counters(text)
    with pytest.raises(UsageError, match="^--counters cycles: this machine has none"):
        check_events(parse_counters("page-faults,cycles")[1], VIRTUAL, "--counters")


@pytest.mark.parametrize(
    ("kernel", "code", "sentence"),
    [
        ("6.1.0-9-amd64", 0, ""),
        ("7.0", 0, ""),
        ("6.0.19", 0, "it needs Linux 6.1, and this is 6.0.19"),
        ("5.15.0-generic", 0, "it needs Linux 6.1, and this is 5.15.0-generic"),
        ("6.8.0", errno.EACCES, "it needs CAP_PERFMON, or 1 or less in /proc/sys/kernel/perf_event_paranoid; --wall without it needs neither"),
        ("6.8.0", errno.ENOSYS, "the kernel refuses it (ENOSYS)"),
    ],
)
def test_where_threads_can_tell_their_waits(kernel: str, code: int, sentence: str) -> None:
    assert exact_waits_problem(lambda event_type, config: code if (event_type, config) == (1, 3) else errno.EINVAL, kernel) == sentence
