"""waiting_profile -- a small profile in which threads also wait, as recorded with --wall"""

from __future__ import annotations

from tiny_profile import S, START_NS, THREAD, build_profile

from collector.profile.metrics import CPU_VALUES, Value, metrics_of
from collector.profile.model import Profile
from collector.profile.plain_samples import PlainSample, PlainSamples
from collector.profile.samples import Scales

KINDS = (*CPU_VALUES, Value("blocked", "ns"), Value("runnable", "ns"), Value("looks", "", True))


WITH_CAUSES = (*CPU_VALUES, Value("blocked_file", "ns"), Value("blocked_lock", "ns"), Value("runnable", "ns"), Value("looks", "", True))


def waiting_profile(has_causes: bool = False) -> Profile:
    """Two threads: 3 s CPU time and 12 s of waiting in one, 1 s CPU time, 6 s of waiting and 2 s ready in the other.

    They wait in `lock` for 11 s, in `read` for 7 s; with causes, the former is for a lock and the latter for a file.
    """
    base = build_profile(
        [("main;work", 3, 0), ("main;lock@libc.so.6", 0, 0), ("main;read@libc.so.6", 0, 0), ("start;work", 1, 0)],
        threads=(THREAD, THREAD._replace(tid=101, name="worker")),
    )
    rows = [
        (0, 3, 0, (3, 0, 0, 0, 0)), (0, 8, 1, (0, 0, 5, 0, 1)), (0, 15, 2, (0, 0, 7, 0, 1)),
        (1, 4, 3, (1, 0, 0, 2, 0)), (1, 10, 1, (0, 0, 6, 0, 1)),
    ]  # fmt: skip
    if has_causes:
        rows = [(thread, at, stack, (*v[:2], v[2] * (stack == 2), v[2] * (stack == 1), *v[3:])) for thread, at, stack, v in rows]
    kinds = WITH_CAUSES if has_causes else KINDS
    samples = [PlainSample(thread, START_NS + at * S, stack, (*(value * S for value in values[:-1]), values[-1])) for thread, at, stack, values in rows]
    return base._replace(samples=PlainSamples(base.samples.stacks, samples, [Scales()] * 2, kinds), metrics=metrics_of(kinds))
