"""watched -- how it was found out where threads wait, in a sentence"""

from __future__ import annotations

from collections import Counter

from collector.profile.metrics import Values
from collector.profile.model import Profile
from collector.units import format_count, format_percent, format_seconds

_USELESS = {
    "torn": "{} did not count because the thread ran meanwhile",
    "refused": "{} were refused by the system",
    "unread": "{} found a stack that could not be read",
}
_LOOKS, _THINNED = "looks", "thinned"
_WORTH_TELLING = 0.001
_NS_PER_MS = 1_000_000


def describe_watching(profile: Profile, total: Values) -> str:
    """The time in which threads were on no processor, how that is known, and what was lost; empty where nobody watched."""
    told: list[dict[str, str]] = []
    for text in (text for recording in profile.recordings for text in recording.waits):
        name, _, value = text.partition("=")
        if name == "way" or not told:  # of another launcher
            told.append({})
        told[-1][name] = value
    is_exact = any("wall=exact" in recording.options for recording in profile.recordings)
    if not told and not is_exact:
        return ""
    figures = {metric.name: value for metric, value in zip(profile.metrics, total)}
    blocked, runnable, unseen = (figures.get(name, 0.0) for name in ("blocked", "runnable", "blocked_unseen"))
    counts: Counter[str] = Counter()
    for one in told:
        counts.update({name: int(value) for name, value in one.items() if value.isdigit()})
    parts = [f"{format_seconds(blocked)} s blocked, {format_seconds(runnable)} s runnable", _exactly(profile) if is_exact else _way(told, counts)]
    parts += [text.format(format_count(counts[name])) for name, text in _USELESS.items() if counts[name]]
    if counts["lost"]:
        parts.append(f"{format_count(counts['lost'])} switches were lost, so sums are those of the scheduler")
    if unseen > _WORTH_TELLING * blocked:
        parts.append(f"nobody saw where {format_percent(unseen, blocked)} % of the waiting was")
    return "; ".join(parts)


def _exactly(profile: Profile) -> str:
    thinned = sum(message.count for message in profile.messages if message.subject == _THINNED)
    too_fast = f"; {format_count(thinned)} switches came too fast for that, and their waits are taken to be where those in between were" if thinned else ""
    return f"each wait known by its thread's own word as it ended{too_fast}"


def _way(told: list[dict[str, str]], counts: Counter[str]) -> str:
    period_ms = min(int(one.get("period_ns", 0)) for one in told) / _NS_PER_MS
    looks = f"{format_count(counts['looks'])} looks, {period_ms:g} ms apart or more"
    reason = next((one["detail"] for one in told if one.get("way") == _LOOKS and "detail" in one), "")
    if reason:
        return f"known by the scheduler's account of each thread and {looks}, because {reason[:1].lower()}{reason[1:]}"
    return f"known by the kernel's records of switches and {looks}"
