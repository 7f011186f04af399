"""test_warnings -- what any view tells of what went wrong"""

from __future__ import annotations

from tiny_profile import build_profile

from collector.profile.aggregate import functions
from collector.profile.groupings import by_module
from collector.profile.kept_samples import KeptSamples, is_known
from collector.profile.model import Message
from collector.profile.warnings import brief_warnings, warnings_of

SAMPLES = [("main", 0.001, 0)] * 200 + [("main;late", 0.1, 0)]


def nameless(*modules: str) -> tuple[Message, ...]:
    return tuple(Message(0, 1, f"{module} is shown without function names: it is gone.", nameless=module) for module in modules)


def brief(*messages: Message, **how: bool) -> list[str]:
    stacks = [(f"main;called@{message.nameless or 'libc.so'}", 1, 0) for message in messages]
    return brief_warnings(build_profile([("main", 1, 0), *stacks], messages=messages), **how)


def test_one_module_without_names_has_its_reason_and_several_are_listed() -> None:
    assert brief() == []
    assert brief(*nameless("a.so")) == ["a.so is shown without function names: it is gone."]
    assert brief(*nameless("a.so", "b.so", "c.so")) == ["3 modules are shown without function names: a.so, b.so, c.so (see the overview)."]
    assert brief(*nameless("a", "b", "c", "d", "e"))[0].endswith(": a, b, c and 2 more (see the overview).")


def test_modules_with_little_time_have_one_warning_and_those_without_any_none() -> None:
    stacks = [("main", 1, 0), ("main;a@a.so", 0.5, 0), ("main;b@b.so", 0.002, 0), ("main;c@c.so", 0.003, 0)]
    profile = build_profile(stacks, messages=nameless("a.so", "b.so", "c.so", "d.so"))
    little = "2 modules that are on the stacks of 0.3 % of the time are shown without function names: b.so, c.so."
    assert warnings_of(profile) == ["a.so is shown without function names: it is gone.", little]
    assert brief_warnings(profile) == ["a.so is shown without function names: it is gone."]
    assert warnings_of(build_profile(stacks[:3], messages=nameless("b.so"))) == ["b.so is shown without function names: it is gone."]


def test_other_warnings_are_told_or_counted_and_notes_are_not() -> None:
    closed, gone = Message(0, 1, "the program closed its clock", 2), Message(0, 2, "a log is gone", subject="1.0.log")
    assert brief(closed, Message(0, 0, "a note")) == ["the program closed its clock."]
    assert brief(closed, gone) == ["The overview has 2 warnings."]
    assert brief(closed, gone, *nameless("a.so"))[1] == "The overview has 2 more warnings."
    profile = build_profile([("main", 1, 0)], messages=(closed, gone, closed))
    assert warnings_of(profile) == ["the program closed its clock (4 times)", "a log is gone (1.0.log)"]


def test_changed_sources_are_not_told_by_a_view_that_tells_them_itself() -> None:
    message = Message(0, 1, "a.c has changed", outdated="prog")
    assert brief(message) == ["a.c has changed."]
    assert brief(message, says_outdated=True) == []


def test_a_view_without_code_does_not_tell_of_names_and_sources() -> None:
    closed = Message(0, 1, "the program closed its clock")
    assert brief(closed, *nameless("a.so"), Message(0, 1, "a.c has changed", outdated="prog"), has_code=False) == ["the program closed its clock."]


def test_rows_on_few_samples_are_told() -> None:
    profile = build_profile(SAMPLES)
    total = 0.3, 0.3, 0.0, 201
    assert warnings_of(profile, [("main", total)]) == []
    (told,) = warnings_of(profile, [("main", total), ("late", (0.1, 0.1, 0.0, 1))])
    assert told.endswith("33.3 % in late on 1 sample.")


def test_modules_are_not_asked_for_where_functions_are_known() -> None:
    stacks = [("main", 1, 0), ("main;a@a.so", 0.5, 0), ("main;b@b.so", 0.002, 0), ("main;c@c.so;d@c.so", 0.009, 0), ("main;e@c.so", 0.009, 0)]
    profile = build_profile(stacks, messages=nameless("a.so", "b.so", "c.so"))
    kept = profile._replace(samples=KeptSamples({}, profile.samples))
    functions(kept)
    assert brief_warnings(kept) == brief_warnings(profile) == ["2 modules are shown without function names: a.so, c.so (see the overview)."]
    assert not is_known(kept, "sum_groups", by_module(kept))
