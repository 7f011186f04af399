"""waiting -- in which functions threads wait, called by whom, and what for"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from collector.profile.groupings import by_function
from collector.profile.metrics import CAUSE
from collector.profile.model import Function, Module, Profile
from collector.profile.samples import NOTHING, CallSums


@dataclass(frozen=True, slots=True)
class Wait:
    """Time in seconds that threads were blocked in a function; `caller` is the nearest one in another module, `cause` what they mostly waited for."""

    function: Function
    module: Module
    caller: Function | None
    cause: str
    blocked: float


def longest_waits(profile: Profile) -> list[Wait]:
    """All of them, the longest first; none unless it was recorded what for."""
    causes = {metric.name.removeprefix(CAUSE): metric.parts[0] for metric in profile.metrics if metric.name.startswith(CAUSE)}
    if not causes:
        return []
    sums = profile.samples.call_sums(by_function(profile))
    found: dict[tuple[int, int], dict[str, float]] = defaultdict(lambda: dict.fromkeys(causes, 0.0))
    for cause, part in causes.items():
        for columns in (sums.finished, sums.unfinished):
            for node, value in enumerate(columns[part]):
                if value:
                    found[sums.groups[node], _caller(profile, sums, node)][cause] += value
    waits = []
    for (index, caller), times in found.items():
        function = profile.functions[index]
        cause = max(times, key=lambda name: times[name])
        waits.append(Wait(function, profile.modules[function.module], None if caller == NOTHING else profile.functions[caller], cause, sum(times.values())))
    return sorted(waits, key=lambda wait: (-wait.blocked, wait.function.name))


def _caller(profile: Profile, sums: CallSums, node: int) -> int:
    """The nearest function above a node that is in another module; NOTHING if there is none."""
    functions = profile.functions
    own = functions[sums.groups[node]].module
    while (node := sums.parents[node]) != NOTHING and sums.groups[node] != NOTHING:
        if functions[sums.groups[node]].module != own:
            return sums.groups[node]
    return NOTHING
