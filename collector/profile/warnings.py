"""warnings -- what a reader of any view has to know: what went wrong in recording and reading, and figures that rest on little"""

from __future__ import annotations

from collections.abc import Iterable

from collector.profile.aggregate import objects, stack_ends, total_values
from collector.profile.causes import NOT_SAMPLED
from collector.profile.groupings import by_function
from collector.profile.kept_samples import is_known
from collector.profile.metrics import CPU_METRICS, CPU_NAMES, Values, reported_rows
from collector.profile.model import Message, Profile
from collector.units import format_count, format_percent, plural

_SAMPLES = [metric.name for metric in CPU_METRICS].index("samples")
_MUCH_TIME = 0.02  # of all time
_LITTLE_TIME = 0.01
_HEAVY = 5  # so much more than its share of the samples
_TOLD = 3

Titled = Iterable[tuple[str, Values]]
"""Rows: their title and their figures."""


def graded_warnings(profile: Profile) -> dict[tuple[int, str], int]:
    """How often each warning and error was given, by severity and sentence."""
    seen: dict[tuple[int, str], int] = {}
    for message in _worth_telling(profile):
        if message.severity:
            key = min(message.severity, 2), f"{message.text} ({message.subject})" if message.subject else message.text
            seen[key] = seen.get(key, 0) + message.count
    return seen


def warnings_of(profile: Profile, rows: Titled = ()) -> list[str]:
    """All warnings and errors, a sentence each, and one on those rows that rest on few samples."""
    sentences = [f"{text} ({format_count(count)} times)" if count > 1 else text for (_, text), count in graded_warnings(profile).items()]
    few = few_samples(profile, rows, total_values(profile))
    return [*sentences, few] if few else sentences


def brief_warnings(profile: Profile, says_outdated: bool = False, has_code: bool = True) -> list[str]:
    """
    The same in few sentences, for views that are about something else. `says_outdated`: the view tells of changed sources itself; `has_code`: it shows
    functions, or what belongs to them, so that it matters which have no names.
    """
    told = _worth_telling(profile, has_little=False) if has_code else []
    nameless = list(dict.fromkeys(message.nameless for message in told if message.nameless))
    says_outdated = says_outdated or not has_code
    outdated = list(dict.fromkeys(message.outdated for message in profile.messages if message.outdated))
    others = [text for _, text in graded_warnings(_of_no_kind(profile))]
    sentences = []
    if nameless:
        sentences.append(_only(profile, "nameless") or f"{len(nameless)} modules are shown without function names: {_listed(nameless)} (see the overview).")
    if outdated and not says_outdated:
        sentences.append(_only(profile, "outdated") or f"Sources of {len(outdated)} modules changed, or are newer: {_listed(outdated)} (see the overview).")
    if others:
        sentences.append(_closed(others[0]) if len(others) == 1 else f"The overview has {len(others)} {'more ' if sentences else ''}warnings.")
    return [*(message.text for message in profile.messages if message.is_hint), *sentences]


def few_samples(profile: Profile, rows: Titled, total: Values) -> str:
    """A sentence if rows with much CPU time rest on few samples; empty if none does, or if samples are sums. Without any they rest on the kernel's account."""
    if profile.metrics[0].name not in CPU_NAMES or any(recording.has_sums for recording in profile.recordings):
        return ""
    heavy = [
        (title, values)
        for title, values in rows
        if values[_SAMPLES] and values[0] >= _MUCH_TIME * total[0] and values[0] * total[_SAMPLES] > _HEAVY * max(values[_SAMPLES], 1) * total[0]
    ]
    if not heavy:
        return ""
    told = ", ".join(
        f"{format_percent(values[0], total[0])} % in {title} on {plural(round(values[_SAMPLES]), 'sample')}" for title, values in heavy[:_TOLD]
    )
    return f"Much time rests on few of the {format_count(round(total[_SAMPLES]))} samples, as where the clock's ticks were withheld or lost: {told}."


def stand_in_count(profile: Profile) -> int:
    """How many threads exited before their first sample, so that their time stands under their start function without one."""
    return sum(row.sample_count for row in stack_ends(profile) if row.cause == NOT_SAMPLED)


def stand_ins(profile: Profile) -> str:
    """A sentence on them, for views that count samples; empty if there are none."""
    count = stand_in_count(profile)
    return f"{stand_in_clause(profile, count)}." if count else ""


def stand_in_clause(profile: Profile, count: int) -> str:
    """The same of so many, without a full stop. A thread that called exec is one of the next image too, and may be sampled there."""
    ended = "exited or called exec" if any(process.has_execed for process in profile.processes) else "exited"
    if count == 1:
        return f"1 thread {ended} before its first sample; its time is attributed to its start function"
    return f"{format_count(count)} threads {ended} before their first sample; their time is attributed to their start function"


def _of_no_kind(profile: Profile) -> Profile:
    return profile._replace(messages=tuple(message for message in profile.messages if not (message.nameless or message.outdated or message.is_hint)))


def _worth_telling(profile: Profile, has_little: bool = True) -> list[Message]:
    """All messages, but of modules without names only those that are on stacks, and one for all that are there for little of the time, or none."""
    nameless = [message for message in profile.messages if message.nameless]
    if not nameless:
        return list(profile.messages)
    whole = total_values(profile)[0]
    has_functions = not has_little and is_known(profile, "sum_groups", by_function(profile))
    times = _least_times(profile) if has_functions else _times_of_modules(profile)
    little = [message for message in nameless if times.get(message.nameless, 0.0) < _LITTLE_TIME * whole]
    told = [message for message in little if message.nameless in times and has_little]
    others = [message for message in profile.messages if message not in little]
    return others + (told if len(told) < 2 else [_joined(told, sum(times[message.nameless] for message in told), whole)])


def _times_of_modules(profile: Profile) -> dict[str, float]:
    """Inclusive time by name, of those on stacks."""
    times: dict[str, float] = {}
    for row in objects(profile):
        times[row.module.name] = max(times.get(row.module.name, 0.0), row.inclusive[0])
    return times


def _least_times(profile: Profile) -> dict[str, float]:
    """What these times are at the least, as the functions tell that were asked for anyway: to ask for modules is to follow every stack once more."""
    own: dict[str, float] = {}
    longest: dict[str, float] = {}
    sums = profile.samples.sum_groups(by_function(profile))
    rows = (reported_rows(profile.metrics[:1], columns) for columns in (sums.exclusive, sums.inclusive))
    names = [module.name for module in profile.modules]
    for function, (exclusive,), (inclusive,) in zip(profile.functions, *rows):
        name = names[function.module]
        own[name] = own.get(name, 0.0) + exclusive
        longest[name] = max(longest.get(name, 0.0), inclusive)
    return {name: max(own[name], longest[name]) for name in own}


def _joined(messages: list[Message], time: float, whole: float) -> Message:
    names = _listed([message.nameless for message in messages])
    share = f"are on the stacks of {format_percent(time, whole)} % of the time"
    return messages[0]._replace(text=f"{len(messages)} modules that {share} are shown without function names: {names}.", nameless=names)


def _only(profile: Profile, field: str) -> str:
    """The sentence of the one message of a kind; empty if there are several."""
    texts = [message.text for message in _worth_telling(profile, has_little=False) if getattr(message, field)]
    return _closed(texts[0]) if len(texts) == 1 else ""


def _closed(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more
