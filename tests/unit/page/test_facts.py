"""test_facts -- what the page says in words"""

from __future__ import annotations

from pathlib import Path

from small_experiment import PID, T0, begin, close, mapping, write_log
from tiny_profile import THREAD, build_profile

from collector.load import load
from collector.page.cells import cells_of
from collector.page.facts import facts_of


def test_the_parent_of_a_process_began_before_it_whatever_their_numbers(tmp_path: Path) -> None:
    """Numbers begin anew where the kernel has used them up: a child may have a smaller one than its parent."""
    for pid, image, parent, at_ns in ((PID, 0, 60, T0), (PID, 1, 60, T0 + 500), (PID - 5, 0, PID, T0 + 1000), (PID - 9, 0, PID - 5, T0 + 2000)):
        write_log(tmp_path, f"{pid}.{image}.log", begin(pid, at_ns, ppid=parent, image=image), mapping(at_ns=at_ns), close(T0 + 5000, reason=2 if (pid, image) == (PID, 0) else 0))
    processes = facts_of(load([tmp_path]), [], {})["processes"]
    above = {(pid, image): parent for pid, image, parent in zip(processes["pid"], processes["image"], processes["parent"])}
    assert [processes["pid"][above[row]] for row in ((PID, 1), (PID - 5, 0), (PID - 9, 0))] == [PID, PID, PID - 5]
    assert above[PID, 0] == -1 and processes["image"][above[PID - 5, 0]] == 1


def test_threads_that_were_never_sampled_are_no_samples() -> None:
    unsampled = ("start", 0.5, 0, {"end": "not_sampled", "thread": 1})
    profile = build_profile([("main", 1, 0)] * 3 + [unsampled], threads=[THREAD, THREAD._replace(tid=101)])
    facts, cells = facts_of(profile, [], {}), cells_of(profile)
    assert facts["samples"] == sum(facts["stackEnds"]["samples"]) == sum(cells.counts) == 3
    assert facts["standIns"].startswith("1 thread exited before its first sample")
    assert sum(cells.cpu_us) == 3_500_000
