"""live_totals -- where a running program's time goes: in the last seconds, and in all, added up from look to look"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from collector.profile import aggregate
from collector.profile.metric_series import MetricSeries, PluginMetric, Value, known_or_none, summarise, total_of
from collector.profile.model import Profile
from collector.units import NS_PER_S

RECENT_S: Final = 5.0
"""The last seconds are so many, or as many as there are."""

_NEW_METRIC_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LiveFunction:
    """A function with its CPU seconds, recently and in all."""

    name: str
    short_name: str
    module: str
    recent_exclusive: float
    recent_inclusive: float
    exclusive: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class LiveThread:
    """A thread with its CPU seconds, recently and in all."""

    name: str
    tid: int
    pid: int
    program: str
    recent: float
    total: float
    is_over: bool


@dataclass(frozen=True, slots=True)
class LiveMetric:
    """What plugins read of a metric in the last second, summed over processes unless it is of the node."""

    metric: PluginMetric
    now: Value


_FunctionKey = tuple[str, str, str]
_ThreadKey = tuple[int, int, int, int]


@dataclass(slots=True)
class _Look:
    span_s: float
    cpu_s: float
    functions: dict[_FunctionKey, tuple[float, float]]
    threads: dict[_ThreadKey, float]


class LiveTotals:
    """`add` the profile of each look, then ask. `profile` is the last one, which knows all processes and threads."""

    def __init__(self) -> None:
        self.profile: Profile | None = None
        self.cpu_s = 0.0
        self._recent: deque[_Look] = deque()
        self._functions: dict[_FunctionKey, tuple[float, float]] = {}
        self._threads: dict[_ThreadKey, float] = {}
        self._last_s: float | None = None

    def add(self, profile: Profile, now_s: float) -> None:
        """Take in what came since the last look; `now_s` is a clock's reading that only the difference counts of."""
        rows = aggregate.functions(profile)
        functions = {(row.function.name, row.function.short_name, row.module.name): (row.exclusive[0], row.inclusive[0]) for row in rows}
        threads = {_key(row): row.values[0] for row in aggregate.threads(profile)}
        look = _Look(self._span(profile, now_s), sum(threads.values()), functions, threads)
        for function, (exclusive, inclusive) in look.functions.items():
            before = self._functions.get(function, (0.0, 0.0))
            self._functions[function] = before[0] + exclusive, before[1] + inclusive
        for thread, cpu_s in threads.items():
            self._threads[thread] = self._threads.get(thread, 0.0) + cpu_s
        self.cpu_s += look.cpu_s
        self.profile, self._last_s = profile, now_s
        if look.span_s:
            self._recent.append(look)
        while len(self._recent) > 1 and self.recent_s - self._recent[0].span_s >= RECENT_S:
            self._recent.popleft()

    def _span(self, profile: Profile, now_s: float) -> float:
        """How long the look reaches back; 0 if too far to be recent."""
        if self._last_s is not None:
            return now_s - self._last_s
        age_s = self.age_s(profile)
        return age_s if age_s <= RECENT_S else 0.0

    @staticmethod
    def age_s(profile: Profile) -> float:
        """For how long the program has been recorded, as far as its logs know."""
        return max(((one.end_ns - one.start_ns) / NS_PER_S for one in profile.recordings), default=0.0)

    @property
    def recent_s(self) -> float:
        """How many seconds the last seconds are."""
        return sum(look.span_s for look in self._recent)

    @property
    def recent_cpu_s(self) -> float:
        """CPU seconds in them."""
        return sum(look.cpu_s for look in self._recent)

    def functions(self) -> list[LiveFunction]:
        """All functions, in no order."""
        recent: dict[_FunctionKey, tuple[float, float]] = {}
        for look in self._recent:
            for function, (exclusive, inclusive) in look.functions.items():
                before = recent.get(function, (0.0, 0.0))
                recent[function] = before[0] + exclusive, before[1] + inclusive
        return [LiveFunction(*key, *recent.get(key, (0.0, 0.0)), *sums) for key, sums in self._functions.items()]

    def threads(self) -> list[LiveThread]:
        """All threads, in no order."""
        found = []
        for row in aggregate.threads(self.profile) if self.profile else ():
            key = _key(row)
            recent = sum(look.threads.get(key, 0.0) for look in self._recent)
            is_over = row.thread.end_ns is not None or not row.process.is_running
            program = row.process.name
            found.append(LiveThread(row.thread.name, row.thread.tid, row.process.pid, program, recent, self._threads.get(key, 0.0), is_over))
        return found

    def metrics(self) -> list[LiveMetric]:
        """All metrics, in the order in which they were first defined."""
        by_metric: dict[str, list[MetricSeries]] = {}
        for series in self.profile.series if self.profile else ():
            by_metric.setdefault(series.metric.id, []).append(series)
        return [LiveMetric(members[0].metric, _now(members)) for members in by_metric.values()]


def _key(row: aggregate.ThreadRow) -> _ThreadKey:
    return row.process.pid, row.process.image, row.thread.tid, row.thread.start_ns


def _now(members: list[MetricSeries]) -> Value:
    """The mean over the last second of each process that still reads it."""
    newest_ns = max((series.times_ns[-1] for series in members if series.times_ns), default=0)
    means = [summarise(_newest(series)).mean for series in members if series.times_ns and series.times_ns[-1] >= newest_ns - 2 * _NEW_METRIC_NS]
    known = [mean for mean in means if mean is not None]
    if not known:
        return None
    return known_or_none(max(known) if members[0].metric.per_node else total_of(known))


def _newest(series: MetricSeries) -> MetricSeries:
    first = len(series.times_ns) - 1
    while first > 0 and series.times_ns[first - 1] > series.times_ns[-1] - _NEW_METRIC_NS:
        first -= 1
    return series._replace(times_ns=series.times_ns[first:], intervals_ns=series.intervals_ns[first:], readings=series.readings[first:])
