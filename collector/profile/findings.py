"""findings -- what a comparison says in plain words: notes on what it rests on, and its answer"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.profile.change import LEAST_SAMPLES, LEVEL, Change
from collector.profile.compared_run import ComparedPlace, Run
from collector.profile.comparison import ComparedRow, Comparison
from collector.profile.metrics import Metric
from collector.units import format_amount, format_percent, format_rate, plural

_FEW_RUNS = 5
_OF_AMOUNTS = {"slower": "more", "faster": "less"}
_TOLD = 3
_MOST = 0.5


def rules(comparison: Comparison) -> list[tuple[str, str]]:
    """What is compared, and what counts as a finding."""
    chance = "spread between runs" if comparison.has_spread else "number of samples"
    enough = f" with {LEAST_SAMPLES} samples or more" if comparison.is_sampled else ""
    words = "by itself or beside the rest" if comparison.has_spread else "by itself and beside the rest"
    beside = f", {words}" if any(row.change.rest_ratio for row in comparison.rows) else ""
    found = f"more than chance by the {chance}{beside}, at {100 * (1 - LEVEL):g} % for all rows together"
    return [
        ("Compared", f"{plural(_row_count(comparison), comparison.kind)}{enough}: exclusive {comparison.metric.title}, mean of a run"),
        ("Finding", found if _is_judged(comparison) else "none without several runs"),
    ]


def _is_judged(comparison: Comparison) -> bool:
    return comparison.is_sampled or comparison.has_spread


def _row_count(comparison: Comparison) -> int:
    return comparison.compared if _is_judged(comparison) else len(comparison.rows)


def notes(comparison: Comparison) -> list[str]:
    """What to keep in mind, a sentence each."""
    told = []
    for words, facts in (("Machines differ", _hosts), ("Clocks differ, and each costs CPU time of its own", _clocks)):
        sides = [_listed(facts(side)) for side in (comparison.before, comparison.after)]
        if sides[0] != sides[1]:
            told.append(f"{words}: {sides[0] or 'unknown'} before, {sides[1] or 'unknown'} after.")
    if not _is_judged(comparison):
        told.append(
            f"One run on each side does not say how much its {comparison.metric.title} differs from one to the next:"
            f" record {_FEW_RUNS} of each, taking turns."
        )
    elif not comparison.has_spread:
        told.append(
            "With one run on each side, chance is only that of samples: how much runs differ from one to the next is not known."
            f" Record {_FEW_RUNS} of each, taking turns."
        )
    elif min(len(comparison.before), len(comparison.after)) < _FEW_RUNS:
        told.append(f"So few runs can only show what is much larger than the spread between them: {_FEW_RUNS} or more on each side show more.")
    judged = sum(row.change.before + row.change.after for row in comparison.rows if row.change.p is not None)
    whole = comparison.total.before + comparison.total.after
    if comparison.is_sampled and judged < _MOST * whole:
        told.append(
            f"Only {format_percent(judged, whole)} % of the time is in {comparison.kind}s with {LEAST_SAMPLES} samples or more:"
            " take more runs, longer ones, or more samples a second (record -p hi)."
        )
    return told


def _hosts(runs: Sequence[Run]) -> Iterable[str]:
    return {run.host for run in runs if run.host}


def _clocks(runs: Sequence[Run]) -> Iterable[str]:
    return {f"{clock.name} at {format_rate(clock.period_ns)}" for run in runs for clock in run.clocks}


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))


def answer(comparison: Comparison) -> str:
    """The whole comparison in one sentence."""
    total, changed = comparison.total, [row for row in comparison.rows if row.change.verdict != "none"]
    compared = plural(comparison.compared, comparison.kind)
    metric = comparison.metric
    if not total.before_samples and not total.after_samples:
        return "There are no samples to compare."
    if not _is_judged(comparison):
        return f"Its {metric.title} went from {_amount(total.before, metric)} to {_amount(total.after, metric)}; whether by more than chance is not known."
    span = _span(total, metric)
    if total.verdict != "none":
        words = "more" if total.difference > 0 else "less"
        verb = "takes" if comparison.is_sampled else "has"
        text = f"The program {verb} {words} {metric.title}: {percent(total, metric)} ({span})"
        return f"{text}; {_groups(changed, metric)}." if changed else f"{text}{_likely(comparison)}."
    if changed:
        return f"The total does not differ for certain ({span}), but {len(changed)} of {compared} did change; {_groups(changed, metric)}."
    is_hint = total.difference_low is not None and total.difference_high is not None and (total.difference_low > 0 or total.difference_high < 0)
    words = "There may be a difference, but none is certain" if is_hint else "No difference that these runs can show"
    return f"{words}: the total changed by {span}, and none of {compared} differs by more than chance."


def _likely(comparison: Comparison) -> str:
    """Where no row is certain: the one that most of the difference may be in, if there is one."""
    certain = f", but in no {comparison.kind} for certain"
    whole = comparison.total.difference
    judged = (row for row in comparison.rows if row.change.p is not None)
    most = max(judged, key=lambda row: row.change.difference / whole, default=None)
    if most is None or most.change.difference / whole < _MOST:
        return certain
    return f"{certain}; most likely in {_changed(most, comparison.metric)}"


def _span(change: Change, metric: Metric) -> str:
    """The interval in words."""
    if change.ratio_low is None or change.ratio_high is None:
        low, high = change.difference_low or 0.0, change.difference_high or 0.0
        return f"{signed_amount(low, metric)} to {signed_amount(high, metric)} {metric.unit}".rstrip()
    return f"{_percent(change.ratio_low)} to {_percent(change.ratio_high)}"


def _groups(rows: Sequence[ComparedRow], metric: Metric) -> str:
    groups = []
    for verdict in ("slower", "faster", "new", "gone"):
        names = [_changed(row, metric) for row in rows if row.change.verdict == verdict]
        if names:
            more = [f"{len(names) - _TOLD} more"] if len(names) > _TOLD else []
            groups.append(f"{word_of(verdict, metric)}: {', '.join(names[:_TOLD] + more)}")
    return "; ".join(groups)


def word_of(verdict: str, metric: Metric) -> str:
    """A verdict as it is said of the metric: only time makes a program slower."""
    return verdict if metric.unit == "s" else _OF_AMOUNTS.get(verdict, verdict)


def _changed(row: ComparedRow, metric: Metric) -> str:
    change = row.change
    by_itself = change.difference_low is None or change.difference_high is None or change.difference_low > 0 or change.difference_high < 0
    if change.verdict in ("slower", "faster") and change.rest_ratio is not None and not by_itself:
        return f"{title(row)} ({_percent(change.rest_ratio)} beside the rest)"
    return f"{title(row)} ({percent(change, metric)})"


def title(row: ComparedRow) -> str:
    """What a row is about: `work`, `work in work.c:12`, `main → run → work`, or the end of that."""
    name = row.place.function.short_name
    if row.place.callers is not None:
        steps = path_steps(row.place)
        return " → ".join(["…", *steps[-_TOLD:]] if len(steps) > _TOLD else steps)
    if row.place.line is None or row.place.line == row.place.function.line:
        return name
    return f"{name} in {(row.place.file or '').rpartition('/')[2]}:{row.place.line}"


def path_steps(place: ComparedPlace, is_short: bool = True) -> list[str]:
    """The functions of a call path, from the start of its thread on."""
    functions = (*(place.callers or ()), place.function)
    return ["(unfinished stacks)" if function is None else function.short_name if is_short else function.name for function in functions]


def percent(change: Change, metric: Metric) -> str:
    """By how much it changed: in percent, or as it is where it is on one side only."""
    return f"{signed_amount(change.difference, metric)} {metric.unit}".rstrip() if not change.ratio else _percent(change.ratio)


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %".replace("-0.0 ", "+0.0 ")


def signed_amount(value: float, metric: Metric) -> str:
    """Seconds, or a number, with their sign."""
    text = format_amount(value, metric.unit)
    return text if text.startswith("-") else f"+{text}"


def _amount(value: float, metric: Metric) -> str:
    return f"{format_amount(value, metric.unit)} {metric.unit}".rstrip()


def failure(found: Sequence[Change | ComparedRow], limit: float, metric: Metric) -> str:
    """What is slower than `limit` allows."""
    names: list[str] = [_changed(one, metric) if isinstance(one, ComparedRow) else f"the total ({percent(one, metric)})" for one in found]
    return f"{word_of('slower', metric)} by more than {100 * limit:g} %: {', '.join(names)}"
