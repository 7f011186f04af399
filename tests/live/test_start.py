"""test_start -- what a process pays before it runs, in figures that do not depend on who else uses the machine."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median

from recorded import clean_environment

from collector.experiment.merge import events
from collector.format import Kind, SampleCause

RUNS = 11
MORE_PAGES = 32  # 29 or 30 on x86-64 with glibc 2.36; 45 while small variables lay between large tables


def page_faults(environment: dict[str, str]) -> float:
    """Of `true`, which touches little of its own; the median, as files may not be in memory at first."""
    counts = []
    for _ in range(RUNS):
        _, status, usage = os.wait4(os.posix_spawnp("true", ["true"], environment), 0)
        assert status == 0
        counts.append(usage.ru_minflt)
    return median(counts)


def test_few_pages_are_touched(recorder: Path, tmp_path: Path) -> None:
    plain = clean_environment()
    more = page_faults(plain | {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": str(tmp_path / "a.expt")}) - page_faults(plain)
    assert 5 <= more <= MORE_PAGES


def test_what_every_process_would_say_is_said_once(recorder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.expt"
    page_faults(clean_environment() | {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": str(path)})
    told = list(events(path))
    counts = [event.cpu_count for event in told if event.kind is Kind.INITIALIZE]
    assert len(counts) == RUNS
    assert [count for count in counts if count is not None] == [os.sysconf("SC_NPROCESSORS_ONLN")]
    memory = {event.cause: event.resident_bytes for event in told if event.kind is Kind.SAMPLE}
    assert memory[SampleCause.START] is None
    assert memory[SampleCause.END]
