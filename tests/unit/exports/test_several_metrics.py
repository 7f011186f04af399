"""test_several_metrics -- formats with room for more than CPU time: each metric read back by stack, and its total is the report's"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import read_back
from waiting_profile import waiting_profile

from collector.exports.callgrind import callgrind
from collector.exports.chrome import chrome
from collector.exports.firefox import firefox
from collector.exports.perf_script import perf_script
from collector.exports.pprof import pprof
from collector.exports.sample_rows import sample_csv, sample_json
from collector.exports.speedscope import speedscope
from collector.profile import aggregate
from collector.profile.categories import read_categories
from collector.profile.groupings import by_function
from collector.profile.metrics import reported_rows, shown_metrics
from collector.profile.model import Profile

Sums = dict[str, Counter[tuple[str, ...]]]
NAMES = ("cpu", "wall", "blocked", "runnable", "looks")
TITLES = {"wall time": "wall", "time waiting for something": "blocked", "time ready and waiting for a processor": "runnable",
          "number of looks at waiting threads": "looks"}  # fmt: skip


def expected(profile: Profile) -> Sums:
    """Times in nanoseconds, and numbers, by stack."""
    rows = profile.samples.rows(by_function(profile), is_folded=False)
    paths: list[tuple[str, ...]] = [()]
    for parent, group in zip(rows.parents[1:], rows.groups[1:]):
        paths.append((*paths[parent], profile.functions[group].name))
    sums: Sums = {name: Counter() for name in NAMES}
    for node, values in zip(rows.nodes, reported_rows(profile.metrics, rows.values)):
        for metric, value in zip(profile.metrics, values):
            if metric.name in sums and value:
                sums[metric.name][paths[node]] += round(value * 1e9 if metric.unit == "s" else value)
    return sums


def of_speedscope(data: bytes) -> Sums:
    document, sums = json.loads(data), {name: Counter() for name in NAMES}
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    for profile in document["profiles"]:
        name = TITLES.get(profile["name"].rpartition(": ")[2], "cpu")
        assert profile["unit"] == ("none" if name == "looks" else "nanoseconds") and sum(profile["weights"]) == profile["endValue"]
        for sample, weight in zip(profile["samples"], profile["weights"]):
            sums[name][tuple(frames[frame] for frame in sample)] += weight
    return {name: +stacks for name, stacks in sums.items()}


def of_pprof(data: bytes) -> Sums:
    message = read_back.pprof_message(data)
    strings = [text.decode() for text in message[6]]
    types = [read_back.fields(kind) for kind in message[1]]
    names = [strings[kind[1][0]] for kind in types]
    assert {names[place]: strings[kind[2][0]] for place, kind in enumerate(types)}["looks"] == "count"
    sums: Sums = defaultdict(Counter)
    for stack, values, _ in read_back.pprof_samples(message):
        for name, value in zip(names, values):
            sums[name][stack] += value
    assert sums["samples"].total() == 2  # what a look saw is not among them
    return {name: +sums[name] for name in NAMES}


def of_perf_script(data: bytes) -> Sums:
    sums: Sums = {name: Counter() for name in NAMES}
    for paragraph in filter(None, data.decode().split("\n\n")):
        period, event = re.match(r".*: +(\d+) (\S+):", paragraph).groups()  # type: ignore[union-attr]
        stack = tuple(line.split()[1] for line in paragraph.split("\n")[:0:-1])
        sums[event.replace("cpu-clock", "cpu")][stack] += int(period)
    return {name: +stacks for name, stacks in sums.items()}


def of_rows(rows: list[dict[str, Any]]) -> Sums:
    sums: Sums = {name: Counter() for name in NAMES}
    for row in rows:
        stack = tuple(row["stack"].split(";") if isinstance(row["stack"], str) else row["stack"])
        for name in NAMES:
            sums[name][stack] += round(float(row[name]) * (1 if name == "looks" else 1e9))
    return {name: +stacks for name, stacks in sums.items()}


FORMATS: dict[str, tuple[Callable[[Profile], Any], Callable[[bytes], Sums]]] = {
    "speedscope": (speedscope, of_speedscope),
    "pprof": (pprof, of_pprof),
    "perf-script": (perf_script, of_perf_script),
    "json": (sample_json, lambda data: of_rows(json.loads(data)["rows"])),
    "csv": (sample_csv, lambda data: of_rows(list(csv.DictReader(io.StringIO(data.decode()))))),
}


@pytest.mark.parametrize("shown", ["", "blocked,looks,runnable,wall", "cpu,wall,blocked,runnable,looks"])
@pytest.mark.parametrize("name", FORMATS)
def test_each_metric_is_read_back(name: str, shown: str) -> None:
    profile = waiting_profile()
    if shown:
        profile = profile._replace(metrics=shown_metrics(profile.metrics, shown.split(",")))
    write, read = FORMATS[name]
    assert read(b"".join(write(profile))) == expected(waiting_profile())


def test_callgrind_has_an_event_for_each() -> None:
    profile = waiting_profile()
    lines = b"".join(callgrind(profile)).decode().splitlines()
    events, summary = (next(line.split()[1:] for line in lines if line.startswith(key)) for key in ("events:", "summary:"))
    assert {*NAMES, "user", "system", "samples"} == set(events)
    totals = dict(zip((metric.name for metric in profile.metrics), aggregate.total_values(profile)))
    assert {event: int(text) for event, text in zip(events, summary)} == {
        name: round(value if name in ("samples", "looks") else value * 1e9) for name, value in totals.items()
    }
    own, is_call = Counter[str](), False
    for line in lines:
        if line[:1].isdigit() and not is_call:
            own.update(dict(zip(events, map(int, line.split()[1:]))))
        is_call = line.startswith("calls=")
    assert [own[event] for event in events] == list(map(int, summary))


def test_what_was_asked_for_is_shown_first() -> None:
    profile = waiting_profile()._replace(metrics=shown_metrics(waiting_profile().metrics, ["blocked"]))
    message = read_back.pprof_message(b"".join(pprof(profile)))
    assert message[6][message[14][0]] == b"blocked" and len(message[1]) == 5
    document = json.loads(b"".join(speedscope(profile)))
    assert document["profiles"][document["activeProfileIndex"]]["name"].endswith(": time waiting for something")
    assert b"".join(perf_script(profile)).split(b"\n")[0].split()[-1] == b"blocked:"


@pytest.mark.parametrize("write", [chrome, lambda profile: firefox(profile, read_categories())], ids=["chrome", "firefox"])
def test_formats_of_cpu_time_leave_other_samples_out(write: Callable[[Profile], Any]) -> None:
    read = read_back.chrome if write is chrome else read_back.firefox
    found, cpu = read(b"".join(write(waiting_profile()))), expected(waiting_profile())["cpu"]
    assert found == cpu and set(found) == set(cpu)


def test_parquet_has_a_column_for_each(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="this system has no pyarrow")
    from collector.exports.arrow_dataset import write_dataset
    from collector.exports.arrow_table import parquet as write

    profile = waiting_profile()
    (tmp_path / "one").write_bytes(b"".join(write(profile)))
    assert of_rows(parquet.read_table(tmp_path / "one").to_pylist()) == expected(profile)
    write_dataset(profile, str(tmp_path / "many"))
    (samples,) = (tmp_path / "many" / "samples").rglob("*.parquet")
    table = parquet.ParquetFile(samples).read().to_pylist()
    totals = {name: sum(stacks.values()) for name, stacks in expected(profile).items()}
    assert {name: round(sum(row[name] for row in table) * (1 if name == "looks" else 1e9)) for name in NAMES} == totals
