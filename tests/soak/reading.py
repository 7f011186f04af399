"""reading -- what a soak's experiment tells: that it reads, and that nothing is missing without a word"""

from __future__ import annotations

from soak.soaking import Soaked

from collector.load import load
from collector.profile import aggregate
from collector.profile.model import Profile

COVERED = 0.98
"""The part of the kernel's account that samples and what is told of stand for, of processes that ended in order."""

KILLED_NS = 5e6
"""A killed child says nothing of its time since its last tick; and its end, and that of its memory, are never its own time."""


def find_loss(run: Soaked, is_disk_full: bool) -> list[str]:
    """What the experiment does not tell."""
    profile = load([str(run.experiment)])
    found = []
    if not sum(profile.samples.cells().counts):
        found.append("there are no samples")
    if "Traceback" in run.stderr:
        found.append("the launcher ended in a traceback")
    if is_disk_full:
        if not profile.losses and not any(message.severity > 0 for message in profile.messages):
            found.append("the disk was full, and nothing is said to be lost")
        return found
    if profile.losses:
        found.append(f"samples were lost on a good disk: {profile.losses[:3]}")
    expected = 1 + run.number("children")
    told = len({process.identity for process in profile.processes}) + len(profile.unrecorded)
    if told != expected:
        found.append(f"{expected} processes ran, the experiment tells of {told}")
    names = {function.name for function in profile.functions}
    found += [f"{name} was never seen" for name in ("run_threads", "run_child", "kill_child", "soaked_work", "made") if name not in names]
    covered_ns, accounted_ns = _covered_ns(profile), profile.recordings[0].accounted_ns or 0
    if covered_ns + KILLED_NS * run.number("killed") < COVERED * accounted_ns:
        found.append(f"{covered_ns / 1e9:.3f} s are told of {accounted_ns / 1e9:.3f} s that the kernel accounts for, with {run.number('killed')} killed")
    return found


def _covered_ns(profile: Profile) -> float:
    """CPU time that samples stand for, and that the experiment says it has none for."""
    sampled_ns = aggregate.total_values(profile)[0] * 1e9
    return sampled_ns + sum(process.unrecorded_ns for process in profile.processes) + sum(thread.unattributed_ns for thread in profile.threads)
