"""counted_profile -- a small profile with events counted at its samples, as recorded with --counters"""

from __future__ import annotations

from tiny_profile import S, START_NS, build_profile

from collector.profile.metrics import CPU_VALUES, Value, metrics_of
from collector.profile.model import Profile
from collector.profile.plain_samples import PlainSample, PlainSamples
from collector.profile.samples import Scales

KINDS = (*CPU_VALUES, Value("cycles"), Value("instructions"), Value("cache-misses"), Value("cache-references"))


def counted_profile(scale: int = 1) -> Profile:
    """A function with samples of very different ratios, one that never accessed the cache, and one that counted nothing; so many times the instructions."""
    base = build_profile([("main;mixed", 1, 0), ("main;bare", 1, 0), ("main;asleep", 1, 0)])
    counts = [(0, 100, 400, 1, 10), (0, 900, 100, 9, 990), (1, 1000, 2000, 0, 0), (2, 0, 0, 0, 0)]
    samples = [PlainSample(0, START_NS + at * S, stack, (S, 0, values[0], values[1] * scale, *values[2:])) for at, (stack, *values) in enumerate(counts)]
    return base._replace(samples=PlainSamples(base.samples.stacks, samples, [Scales()], KINDS), metrics=metrics_of(KINDS))
