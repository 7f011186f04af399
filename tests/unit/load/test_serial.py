"""test_serial -- a profile that was written and read back shows what it showed before, and damage is told"""

from __future__ import annotations

import os
import random
import zlib
from pathlib import Path

import msgpack
import pytest
from tiny_profile import PROCESS, THREAD, build_profile, random_profile, random_samples

from collector.cli.reporting.pages import PageOptions, make_page
from collector.errors import CollectorError, ExperimentError, ExperimentNotFoundError
from collector.load import serial
from collector.load.serial import MAGIC, open_profile, read_profile, write_profile
from collector.profile.filters import select
from collector.profile.kept_samples import NotKeptError, read_answers
from collector.profile.metric_series import MetricSeries, PluginMetric
from collector.profile.model import Frame, Function, Loss, Message, Pause, Profile, Unrecorded
from collector.profile.sample_point import SamplePoint
from collector.readings import READINGS

PART = serial._PART
TABLES = ("functions", "lines", "objects", "threads", "processes", "samples", "header", "overview", "metrics", "calltree")


def every_page(profile: Profile) -> dict[tuple[str, str], str]:
    """Each view of a whole profile, as a document and as text; those of one function for some of them."""
    pages = {}
    for form in ("json", "text"):
        options = PageOptions(form, 0, threshold=0.0)
        for view in TABLES:
            pages[view, form] = make_page(profile, view, None, options)
        for function in profile.functions[:4]:
            for view in ("callers-callees", "function"):
                try:
                    pages[f"{view} {function.name}", form] = make_page(profile, view, function.name, options)
                except CollectorError as error:
                    pages[f"{view} {function.name}", form] = str(error)
    return pages


def with_all_tables(profile: Profile) -> Profile:
    """The same with a row in every other table; a name that is no valid text is among them."""

    points = SamplePoint(0, 0, 100, THREAD.start_ns, "a\udcff", "api", *range(len(READINGS)))
    series = MetricSeries(PluginMetric("m", "M", kind="rate"), 0, [5, 6], [1, 1], [2.5, (1 << 64) - 1])
    return profile._replace(
        points=(points,),
        losses=(Loss(0, "damage", 3, "1.0.log"),),
        messages=(Message(0, 1, "no symbols"), Message(0, 2, "gone", 4, "x", 7)),
        pauses=(Pause(0, "api", 5),),
        unrecorded=(Unrecorded(0, 7, 8, 9, "ls", "static"),),
        series=(series,),
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_view_is_the_same(tmp_path: Path, seed: int) -> None:
    profile = with_all_tables(random_profile(random.Random(seed)))
    write_profile(profile, tmp_path / "a")
    assert every_page(read_profile(tmp_path / "a")) == every_page(profile)


def test_the_same_profile_gives_the_same_bytes(tmp_path: Path) -> None:
    profile = random_profile(random.Random(1))
    write_profile(profile, tmp_path / "a")
    write_profile(random_profile(random.Random(1)), tmp_path / "b")
    write_profile(read_profile(tmp_path / "a"), tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_number_without_room_is_told(tmp_path: Path) -> None:
    profile = build_profile([("main", 1, 0)])
    frames = [frame._replace(line=-5) for frame in profile.frames]
    with pytest.raises(ExperimentError, match="cannot be written"):
        write_profile(profile._replace(frames=frames), tmp_path / "a")


def test_every_field_is_written(tmp_path: Path) -> None:
    write_profile(build_profile([("main", 1, 0)]), tmp_path / "a")
    head = head_of(tmp_path / "a")
    assert head["frames"].keys() == set(Frame._fields) - {"address"}
    assert head["functions"].keys() == set(Function._fields)
    assert head.keys() >= set(Profile._fields) - {"samples", "codes", "chosen"}


def test_an_empty_profile(tmp_path: Path) -> None:
    write_profile(build_profile([]), tmp_path / "a")
    assert every_page(read_profile(tmp_path / "a")) == every_page(build_profile([]))


def test_what_is_not_in_it_is_told(tmp_path: Path) -> None:
    write_profile(build_profile([("main;work", 1, 0)]), tmp_path / "a")
    with pytest.raises(NotKeptError):
        select(read_profile(tmp_path / "a"), tids=[100])


def test_lines_of_frames_without_addresses(tmp_path: Path) -> None:
    """Frames that differ only in their address are one in the file, and the groups of lines keep their numbers."""
    profile = build_profile([("main:3;work:4", 1, 0), ("main:3;work:5", 2, 0), ("main:4;work:4", 4, 0)])
    frames = [frame._replace(address=number) for number, frame in enumerate(profile.frames)]

    write_profile(profile._replace(frames=(*frames, frames[0]._replace(address=99))), tmp_path / "a")
    read = read_profile(tmp_path / "a")
    assert len(read.frames) == len(frames)
    assert make_page(read, "lines", None, PageOptions("json")) == make_page(profile, "lines", None, PageOptions("json"))


@pytest.mark.parametrize("seed", range(4))
def test_damage_is_told(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    write_profile(random_profile(rng), tmp_path / "a")
    data = (tmp_path / "a").read_bytes()
    for _ in range(60):
        changed = bytearray(data)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        (tmp_path / "b").write_bytes(changed[: rng.randrange(len(data))] if rng.random() < 0.3 else changed)
        with pytest.raises(ExperimentError):
            read_profile(tmp_path / "b")


def head_of(path: Path) -> dict:
    data = path.read_bytes()[len(MAGIC) :]
    _, length = PART.unpack_from(data)
    found: dict = msgpack.unpackb(data[PART.size : PART.size + length], unicode_errors="surrogatepass")
    return found


def rewritten(path: Path, change: dict, answer: object = None) -> Path:
    """The file with some entries of its head replaced, or all answers, and the right checksums."""
    data, document = path.read_bytes()[len(MAGIC) :], head_of(path)
    _, length = PART.unpack_from(data)
    parts = data[PART.size + length :]
    if answer is not None:
        part = msgpack.packb(answer)
        parts = part * len(document["answers"])
        document["answers"] = dict.fromkeys(document["answers"], [zlib.crc32(part), len(part)])
    head = msgpack.packb({**document, **change}, unicode_errors="surrogatepass")
    path.write_bytes(MAGIC + PART.pack(zlib.crc32(head), len(head)) + head + parts)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"strings": [None]},
        {"frames": {"function": b"\xff" * 4, "file": bytes(4), "line": bytes(4), "kind": bytes(4), "code": bytes(4)}},
        {"threads": {"columns": ["tid"], "rows": []}},
        {"processes": {}},
        {"answers": {"sum_groups of functions": [0, 1 << 60]}},
        {"answers": {"sum_groups of functions": [0, 0]}},
        {"answers": 5},
    ],
)
def test_contradictions_are_told(tmp_path: Path, change: dict) -> None:
    write_profile(build_profile([("main;work", 1, 0)]), tmp_path / "a")
    with pytest.raises(ExperimentError, match="the profile"):
        read_profile(rewritten(tmp_path / "a", change))


ONE, TWO, NODES = [1, *[bytes(8)] * 3], [2, *[bytes(16)] * 3], b"\xff\xff\xff\xff\0\0\0\0"


@pytest.mark.parametrize(
    "answer",
    [
        5,
        {"exclusive": [1 << 40, b"", b"", b""], "inclusive": TWO},
        {"exclusive": TWO, "inclusive": [2, *[bytes(8)] * 3]},
        {"exclusive": TWO, "inclusive": TWO[:2]},
        {"parents": b"\xff" * 8, "groups": NODES, **dict.fromkeys(("finished", "unfinished", "finished_inclusive", "unfinished_inclusive"), TWO)},
        {"parents": NODES, "groups": b"\xff" * 8, **dict.fromkeys(("finished", "unfinished", "finished_inclusive", "unfinished_inclusive"), TWO)},
        {"callers": b"\3\0\0\0", "callees": bytes(4), "outermost": ONE, "innermost": ONE, "exclusive": TWO},
    ],
)
def test_contradictions_of_answers_are_told(tmp_path: Path, answer: object) -> None:
    write_profile(build_profile([("main;work", 1, 0)]), tmp_path / "a")
    profile, _ = open_profile(rewritten(tmp_path / "a", {}, answer))
    with pytest.raises(ExperimentError, match="the profile"):
        read_answers(profile)


def mutated(rng: random.Random, value: object) -> object:
    """The value with one thing in it exchanged."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(sorted(value))
        return {**value, key: mutated(rng, value[key])}
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.95:
        place = rng.randrange(len(value))
        return [*value[:place], mutated(rng, value[place]), *value[place + 1 :]]
    if isinstance(value, bytes) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        return value[:place] + bytes([rng.randrange(256)]) + value[place + 1 :]
    return rng.choice((None, 0, 1, -1, 1 << 63, 0.5, "", "x", b"", bytes(8), [], {}, True))


@pytest.mark.parametrize("seed", range(6 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 3))
def test_hostile_tables_are_refused_or_shown(tmp_path: Path, seed: int) -> None:
    """With right checksums, whatever stands in the file gives a page or a sentence."""
    rng = random.Random(seed)
    write_profile(with_all_tables(random_profile(rng)), tmp_path / "a")
    data, head = (tmp_path / "a").read_bytes(), head_of(tmp_path / "a")
    del head["answers"]
    for _ in range(150):
        (tmp_path / "b").write_bytes(data)
        key = rng.choice(sorted(head))
        rewritten(tmp_path / "b", {key: mutated(rng, head[key])})
        try:
            every_page(read_profile(tmp_path / "b"))
        except ExperimentError:
            pass


def test_other_files_are_no_profiles(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello")
    with pytest.raises(ExperimentError, match="neither an experiment nor a profile"):
        read_profile(tmp_path / "a")
    with pytest.raises(ExperimentNotFoundError):
        read_profile(tmp_path / "b")


def test_several_threads_and_processes(tmp_path: Path) -> None:

    samples = [(text, user, system, {**rest, "thread": number % 3}) for number, (text, user, system, rest) in enumerate(random_samples(random.Random(3)))]
    processes = [PROCESS, PROCESS._replace(pid=101, clock=None, arguments=("a", "b"))]
    threads = [THREAD, THREAD._replace(tid=102), THREAD._replace(tid=101, process=1, scale=1.25)]
    profile = build_profile(samples, processes=processes, threads=threads)
    write_profile(profile, tmp_path / "a")
    assert every_page(read_profile(tmp_path / "a")) == every_page(profile)


def test_the_documented_version_is_the_one_that_is_written() -> None:
    page = Path(__file__).resolve().parents[3] / "docs/profile-file.md"
    assert f"| `version` | {serial.VERSION}. " in page.read_text()
