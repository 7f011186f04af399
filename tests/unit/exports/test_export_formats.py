"""test_export_formats -- every format read back: no weight is lost, stacks are whole, inlined calls are there"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import read_back
from read_back import Stacks
from tiny_profile import CLOCK, PROCESS, RECORDING, S, START_NS, THREAD, build_profile, random_samples

from collector.exports.callgrind import callgrind
from collector.exports.chrome import chrome
from collector.exports.firefox import breakpad_id, firefox
from collector.exports.folded import folded
from collector.exports.perf_script import perf_script
from collector.exports.pprof import pprof
from collector.exports.sample_rows import sample_csv, sample_json
from collector.exports.sample_table import UNFINISHED, shared_out, whole_ns
from collector.exports.speedscope import speedscope
from collector.printable import printable
from collector.profile import aggregate
from collector.profile.categories import read_categories
from collector.profile.groupings import by_function
from collector.profile.metrics import SYSTEM, USER
from collector.profile.model import Pause, Profile
from collector.profile.sample_point import SamplePoint

HOSTILE = 'a;b\n(c) "d"\t<e>\udcff 12'


def to_firefox(profile: Profile) -> Iterator[bytes]:
    return firefox(profile, read_categories())


FORMATS: dict[str, tuple[Callable[[Profile], Iterator[bytes]], Callable[[bytes], Stacks], bool]] = {
    "folded": (folded, read_back.folded, True),
    "speedscope": (speedscope, read_back.speedscope, True),
    "firefox": (to_firefox, read_back.firefox, True),
    "pprof": (pprof, read_back.pprof, False),
    "chrome": (chrome, read_back.chrome, True),
    "perf-script": (perf_script, read_back.perf_script, False),
    "json": (sample_json, read_back.sample_json, False),
    "csv": (sample_csv, read_back.sample_csv, False),
}
"""What writes and what reads a format, and whether stacks without a start hang under a name of their own."""


def expected(profile: Profile, has_root: bool) -> tuple[Stacks, Stacks]:
    """The CPU time of each stack in nanoseconds, and how many samples it has."""
    rows = profile.samples.rows(by_function(profile), is_folded=False)
    paths: list[tuple[str, ...]] = [()]
    for parent, group in zip(rows.parents[1:], rows.groups[1:]):
        paths.append((*paths[parent], printable(profile.functions[group].name)))
    times: Stacks = Counter()
    counts: Stacks = Counter()
    for node, finished, *values in zip(rows.nodes, rows.is_finished, rows.values[USER], rows.values[SYSTEM]):
        stack = paths[node] if finished or not has_root else (UNFINISHED, *paths[node])
        times[stack] += sum(values) * 1e9
        counts[stack] += 1
    return times, counts


def check(name: str, profile: Profile, data: bytes) -> None:
    """The same stacks with the same times: each column to a nanosecond a sample, all together to one; folded to a microsecond a line."""
    _, read, has_root = FORMATS[name]
    found = read(data)
    times, counts = expected(profile, has_root)
    if name in ("folded", "csv"):
        times, counts = (Counter({tuple(one.replace(";", ":") for one in stack): value for stack, value in some.items()}) for some in (times, counts))
    if name == "perf-script":
        times, counts = (Counter({tuple(_bracketed(one) for one in stack): value for stack, value in some.items()}) for some in (times, counts))
    grain = 1000 if name == "folded" else 1
    assert set(found) <= set(times)
    assert all(abs(found[stack] - time) <= 2 * grain * max(1, counts[stack]) for stack, time in times.items())
    assert abs(found.total() - times.total()) <= grain


def _bracketed(name: str) -> str:
    return "[" + name[1:].replace(")", "]", 1) if name.startswith("(") else name


def small() -> Profile:
    """Two threads of one process and one of another, recursion, a gap, an unfinished stack, labels, a pause, and two inlined calls."""
    samples = [
        ("main;work;read@libc.so.6", 3, 1),
        ("main;loop;loop;loop", 1, 0),
        ("main;work;read@libc.so.6", 0.001, 0, {"at": 9}),
        ("callback;deep", 2, 0, {"end": "bad_frame", "at": 12}),
        ("start;worker;main;work", 0.5, 0, {"thread": 1}),
        ("main;other", 0.25, 0.25, {"thread": 2}),
    ]
    processes = (PROCESS, PROCESS._replace(pid=101, executable="/home/ada/o ther"))
    threads = (THREAD, THREAD._replace(tid=102, name="wor ker;1"), THREAD._replace(tid=101, process=1))
    points = (SamplePoint(0, 0, 100, START_NS + 2 * S, 'phase "1"', "API", user_ns=S, system_ns=0, resident_bytes=4096),)
    pauses = (Pause(0, "API", START_NS + 13 * S, None),)
    profile = build_profile(samples, processes=processes, threads=threads, points=points, pauses=pauses)
    frames = [frame._replace(address=0x1000 + place) for place, frame in enumerate(profile.frames)]
    names = [profile.functions[frame.function].name for frame in frames]
    for name, around in (("work", "main"), ("read", "work")):
        inlined, outer = names.index(name), names.index(around)
        frames[inlined] = frames[inlined]._replace(kind="inlined", address=frames[outer].address)
    return profile._replace(frames=tuple(frames))


def renamed(profile: Profile, start: str) -> Profile:
    """The same with hostile names of functions, threads, programs and files."""
    functions = tuple(one._replace(name=start + one.name, raw_name=start + one.raw_name, file=start + (one.file or "")) for one in profile.functions)
    frames = tuple(frame._replace(file=frame.file and start + frame.file) for frame in profile.frames)
    modules = tuple(one._replace(path=start + one.path, name=start + one.name) for one in profile.modules)
    threads = tuple(one._replace(name=start + one.name) for one in profile.threads)
    processes = tuple(one._replace(executable="/" + start.replace("/", "")) for one in profile.processes)
    points = tuple(one._replace(label=start) for one in profile.points)
    return profile._replace(functions=functions, frames=frames, modules=modules, threads=threads, processes=processes, points=points)


@pytest.mark.parametrize("start", ["", HOSTILE], ids=["plain", "hostile"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_was_written_is_read_back(name: str, start: str) -> None:
    profile = renamed(small(), start)
    check(name, profile, b"".join(FORMATS[name][0](profile)))


@pytest.mark.parametrize("name", FORMATS)
def test_a_profile_without_samples(name: str) -> None:
    data = b"".join(FORMATS[name][0](build_profile([])))
    assert not FORMATS[name][1](data)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", FORMATS)
def test_random_profiles(name: str, seed: int) -> None:
    chance = random.Random(seed)
    samples = [(stack, user / 7, system / 3, {**more, "thread": chance.randrange(3)}) for stack, user, system, more in random_samples(chance)]
    profile = build_profile(samples, threads=[THREAD._replace(tid=100 + number, scale=1 + number / 3) for number in range(3)])
    check(name, profile, b"".join(FORMATS[name][0](profile)))


@pytest.mark.parametrize("seed", range(20))
def test_callgrind_gives_exclusive_and_inclusive_times(seed: int) -> None:
    profile = build_profile(random_samples(random.Random(seed)))
    found = read_back.callgrind(b"".join(callgrind(profile)))
    for row in aggregate.functions(profile):
        own, inclusive = found.get(row.function.name, (0, 0))
        assert (own, inclusive) == (round(row.exclusive[0] * 1e9), round(row.inclusive[0] * 1e9))


def test_callgrind_with_hostile_names() -> None:
    profile = renamed(small(), HOSTILE)
    assert set(read_back.callgrind(b"".join(callgrind(profile)))) == {UNFINISHED, *(printable(one.name) for one in profile.functions)}


def test_folded_counts_no_samples_that_nobody_took() -> None:
    samples = [("main", 1, 0), ("start", 1, 0, {"end": "not_sampled"})]
    assert list(folded(build_profile(samples), is_count=True)) == [b"main 1\n"]


def test_folded_in_samples_and_by_thread() -> None:
    profile = small()
    counts = [int(line.rpartition(b" ")[2]) for line in folded(profile, is_count=True)]
    assert sum(counts) == 6
    lines = b"".join(folded(profile, has_threads=True)).decode().splitlines()
    assert lines[-1] == "o ther 101 / test 101;main;other 500000"
    assert "test 100 / wor ker:1 102;start;worker;main;work 500000" in lines


def test_pprof_has_inlined_calls_in_one_location_and_labels() -> None:
    profile = small()
    message = read_back.pprof_message(b"".join(pprof(profile)))
    of_locations = [read_back.fields(location) for location in message[4]]
    assert max(len(location[4]) for location in of_locations) == 3  # read in work in main
    labels = [labels for _, _, labels in read_back.pprof_samples(message)]
    assert {"process": "test", "pid": 100, "tid": 102, "thread": "wor ker;1", "label": 'phase "1"'} in labels
    assert [one.get("label") for one in labels].count(None) == 3  # two before it, and one of a process that has none
    assert [one.get("stack") for one in labels].count("unfinished") == 1
    strings = [text.decode() for text in message[6]]
    assert {strings[read_back.fields(mapping)[6][0]] for mapping in message[3]} == {"c0ffee"}
    assert message[12] == [CLOCK.period_ns] and message[9] == [RECORDING.wall_ns]


def test_firefox_tells_labels_and_pauses() -> None:
    document = json.loads(b"".join(to_firefox(small())))
    first = document["threads"][0]
    names = [document["shared"]["stringArray"][name] for name in first["markers"]["name"]]
    assert list(zip(names, first["markers"]["startTime"], first["markers"]["endTime"])) == [
        ('phase "1"', 2000, None), ("not recorded", 13000, 20000)
    ]  # fmt: skip
    assert first["markers"]["data"][0] == {"type": "label", "why": "API", "user": 1000, "system": 0, "resident_bytes": 4096}
    assert first["pausedRanges"] == [{"startTime": 13000, "endTime": None, "reason": "profiler-paused"}]
    assert max(document["shared"]["frameTable"]["inlineDepth"]) == 2
    assert [thread["isMainThread"] for thread in document["threads"]] == [True, False, True]
    assert document["libs"][0]["codeId"] == "c0ffee"


def test_a_build_id_as_symbol_servers_have_it() -> None:
    assert breakpad_id("00112233445566778899aabbccddeeff01234567") == "33221100554477668899AABBCCDDEEFF0"
    assert breakpad_id("") == 32 * "0" + "0"


def test_chrome_tells_names_labels_and_pauses() -> None:
    events = json.loads(b"".join(chrome(small())))["traceEvents"]
    assert {"ph": "M", "name": "thread_name", "pid": 100, "tid": 102, "args": {"name": "wor ker;1"}} in events
    assert [(event["name"], event["ts"]) for event in events if event["ph"] == "i"] == [('phase "1"', 2_000_000)]
    assert [(event["ph"], event["ts"]) for event in events if event.get("cat") == "pause"] == [("b", 13_000_000), ("e", 20_000_000)]


def test_chrome_draws_a_function_that_goes_on_as_one_slice() -> None:
    samples = [("main;work", 0.001, 0, {"at": 0.001 * place + 0.0001 * (place % 3)}) for place in range(1, 100)]
    samples += [("main;work", 0.001, 0, {"at": 1})]
    events = json.loads(b"".join(chrome(build_profile(samples))))["traceEvents"]
    begun = [event["ts"] for event in events if event["ph"] == "B" and event["name"] == "work"]
    assert len(begun) == 2 and begun[1] == 999_000


def test_rounding_does_not_drift() -> None:
    values = [1 / 3 * 1e-9] * 3000
    assert sum(whole_ns(values)) == 1000
    assert list(shared_out([400, 400, 400, 400, 400], 1000)) == [0, 1, 0, 1, 0]


def test_deep_recursion_is_shared() -> None:
    """Stacks of up to 400 calls, 80,000 frames in all, are 400 nodes."""
    profile = build_profile([(";".join(["f"] * depth), 0.001, 0) for depth in range(1, 400)])
    data = b"".join(to_firefox(profile))
    assert len(data) < 100_000
    check("firefox", profile, data)


@pytest.mark.parametrize("name", ["folded", "speedscope", "chrome", "json", "csv"])
def test_recursion_can_be_folded(name: str) -> None:
    write, read, _ = FORMATS[name]
    data = b"".join(write(build_profile([("main;f;g;f;h", 1, 0), ("main;f;f;f", 2, 0)]), is_folded=True))  # type: ignore[call-arg]
    assert read(data) == {("main", "f", "h"): 10**9, ("main", "f"): 2 * 10**9}


def test_tables_tell_the_phase_of_a_sample() -> None:
    rows = json.loads(b"".join(sample_json(small())))["rows"]
    assert [(row["tid"], row["time"], row["label"]) for row in rows] == [
        (100, 0, None), (100, 1, None), (100, 9, 'phase "1"'), (100, 12, 'phase "1"'), (102, 4, 'phase "1"'), (101, 5, None)
    ]  # fmt: skip


def test_processes_of_two_experiments_are_not_taken_for_one() -> None:
    processes = (PROCESS, PROCESS._replace(executable="/bin/next", image=1), PROCESS._replace(experiment=1))
    threads = tuple(THREAD._replace(process=process) for process in range(3))
    samples = [("main", 1, 0, {"thread": 0}), ("next", 1, 0, {"thread": 1}), ("main", 1, 0, {"thread": 2})]
    profile = build_profile(samples, recordings=(RECORDING, RECORDING._replace(name="b.expt")), processes=processes, threads=threads)
    events = json.loads(b"".join(chrome(profile)))["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {100: "test, next", 10_000_100: "test"}
    assert {(event["pid"], event["tid"]) for event in events if event["ph"] == "B"} == {(100, 100), (10_000_100, 10_000_100)}
    pids = [thread["pid"] for thread in json.loads(b"".join(to_firefox(profile)))["threads"]]
    assert pids == ["100", "100.1", "100.2"]
