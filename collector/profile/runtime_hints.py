"""runtime_hints -- which option gives names to code that a runtime made, and whole stacks, where a profile lacks them"""

from __future__ import annotations

import os

from collector.profile.aggregate import stack_ends
from collector.profile.causes import is_finished
from collector.profile.groupings import by_module
from collector.profile.metrics import reported_rows
from collector.profile.model import Message, Profile
from collector.runtimes import RUNTIMES, Runtime
from collector.units import format_percent

_WORTH_SAYING = 0.01  # of all time
_WORTH_SAYING_OF_UNKNOWN = 0.05
_UNKNOWN = (
    "{} % of the time is in code that the program made as it ran and that has no names: they are taken from a perf map, a jitdump, GDB's interface or "
    "collector_func_load (collector help dynamic-code)."
)
_NAMELESS = ("(no module)", "(anonymous code)")


def with_runtime_hints(profile: Profile) -> Profile:
    """The profile with one warning if a known runtime ran, and a percent of the time or more is in nameless code or on unfinished stacks; without one, 5 %."""
    text = runtime_hint(profile)
    return profile._replace(messages=(*profile.messages, Message(0, 1, text, is_hint=True))) if text else profile


def runtime_hint(profile: Profile) -> str:
    """The sentence; empty if there is none to be said."""
    found = _runtimes(profile)
    runtimes = _without_recorded(found, profile)
    nameless = _nameless(profile)
    if (found and not runtimes) or (not found and not nameless):
        return ""
    ends = stack_ends(profile)
    whole = sum(row.values[0] for row in ends)
    if not runtimes:
        return _UNKNOWN.format(format_percent(nameless, whole)) if nameless >= _WORTH_SAYING_OF_UNKNOWN * whole else ""
    unfinished = sum(row.values[0] for row in ends if not is_finished(row.cause))
    lacks_names = nameless > 0 and nameless >= _WORTH_SAYING * whole
    lacks_stacks = unfinished > 0 and unfinished >= _WORTH_SAYING * whole and (lacks_names or any(runtime.has_whole_stacks for runtime in runtimes))
    lacks = [f"in unnamed code of {' or '.join(runtime.name for runtime in runtimes)}"] if lacks_names else []
    lacks += ["on stacks that end early"] if lacks_stacks else []
    shares = [format_percent(part, whole) for part, is_lacking in ((nameless, lacks_names), (unfinished, lacks_stacks)) if is_lacking]
    told = ", and ".join(f"{share} %{' of the time is' if not number else ''} {words}" for number, (share, words) in enumerate(zip(shares, lacks)))
    gains = (["names"] if lacks_names else []) + (["whole stacks"] if lacks_stacks and any(runtime.has_whole_stacks for runtime in runtimes) else [])
    return f"{told}: {_advice(profile, runtimes, ' and '.join(gains))}." if told else ""


def _advice(profile: Profile, runtimes: list[Runtime], gains: str) -> str:
    """What to do. Where it was done already, what may have gone wrong."""
    was_helped = any("jit=1" in recording.options for recording in profile.recordings)
    if was_helped and all(_is_named_by_jit(runtime) for runtime in runtimes):
        caveats = [runtime.caveat for runtime in runtimes if runtime.caveat]
        return "; ".join(["--jit did not reach all of it", *caveats])
    is_helpful = not was_helped and any(map(_is_named_by_jit, runtimes))
    remedies = [f"{runtime.name} with {runtime.remedy}" for runtime in runtimes if runtime.remedy]
    ways = ["record it with --jit"] if is_helpful else []
    if remedies:
        ways.append(f"run {', '.join(remedies)}")
    return f"for {gains} {', or '.join(ways)}"


def _is_named_by_jit(runtime: Runtime) -> bool:
    return bool(runtime.settings) and runtime.is_named_by_jit


def _runtimes(profile: Profile) -> list[Runtime]:
    """Those with code on a stack, or whose program ran."""
    files = {module.name for module in profile.modules} | {os.path.basename(process.executable) for process in profile.processes}
    return [runtime for runtime in RUNTIMES if any(map(runtime.owns, files))]


def _without_recorded(runtimes: list[Runtime], profile: Profile) -> list[Runtime]:
    """Those whose functions are not recorded."""
    kinds = {frame.kind for frame in profile.frames} if any(runtime.read_as for runtime in runtimes) else set()
    return [runtime for runtime in runtimes if runtime.read_as not in kinds]


def _nameless(profile: Profile) -> float:
    """Seconds in code of no module; nothing is added up where there is none."""
    numbers = [number for number, module in enumerate(profile.modules) if module.name in _NAMELESS]
    if not numbers:
        return 0.0
    rows = list(reported_rows(profile.metrics, profile.samples.sum_groups(by_module(profile)).exclusive))
    return sum(rows[number][0] for number in numbers)
