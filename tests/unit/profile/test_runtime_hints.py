"""test_runtime_hints -- one line says which option names the code that a runtime made, where that matters"""

from __future__ import annotations

import pytest
from tiny_profile import PROCESS, build_profile

from collector.profile.model import JAVA, Frame, Profile
from collector.profile.runtime_hints import runtime_hint, with_runtime_hints
from collector.profile.warnings import brief_warnings, warnings_of
from collector.runtimes import RUNTIMES

NAMELESS = "(no module)@(no module)"


def mixed(library: str, nameless_s: float, end: str = "complete", **changes: object) -> Profile:
    return build_profile([(f"main;run@{library}", 10 - nameless_s, 0), (f"main;{NAMELESS}", nameless_s, 0, {"end": end})])._replace(**changes)


def with_option(profile: Profile, option: str) -> Profile:
    return profile._replace(recordings=(profile.recordings[0]._replace(options=(option,)),))


def test_nameless_code_of_a_runtime_has_its_remedy() -> None:
    hint = runtime_hint(mixed("libjvm.so", 2))
    assert hint.startswith("20.0 % of the time is in unnamed code of Java: for names run Java with -XX:+PreserveFramePointer ")
    assert runtime_hint(mixed("libnode.so.108", 2)).endswith("run node with --perf-basic-prof --interpreted-frames-native-stack.")
    assert runtime_hint(mixed("libruby-3.3.so.3.3", 2)) == "20.0 % of the time is in unnamed code of Ruby: for names run Ruby with --yjit-perf, from Ruby 3.3 on."
    assert runtime_hint(mixed("libluajit-5.1.so.2", 2)) == "20.0 % of the time is in unnamed code of LuaJIT: for names record it with --jit."


@pytest.mark.parametrize(("library", "nameless_s"), [("libjvm.so", 0.09), ("libjvm.so", 0.0), ("libc.so.6", 0.49)], ids=["little", "none", "no runtime"])
def test_what_does_not_matter_is_not_told(library: str, nameless_s: float) -> None:
    profile = mixed(library, nameless_s)
    assert runtime_hint(profile) == "" and with_runtime_hints(profile) is profile


def test_nameless_code_of_an_unknown_runtime_is_told() -> None:
    hint = runtime_hint(mixed("libc.so.6", 0.5))
    assert hint.startswith("5.0 % of the time is in code that the program made as it ran and that has no names: ") and "collector help dynamic-code" in hint


def test_the_program_itself_may_be_the_runtime() -> None:
    assert "of node" in runtime_hint(mixed("libc.so.6", 1, processes=(PROCESS._replace(executable="/usr/bin/node"),)))


def test_unfinished_stacks_are_told_with_the_names_or_where_an_option_mends_them() -> None:
    hint = runtime_hint(mixed("libjvm.so", 2, "no_unwind_info"))
    assert hint.startswith("20.0 % of the time is in unnamed code of Java, and 20.0 % on stacks that end early: for names and whole stacks run Java with")
    named = build_profile([("main@libjvm.so;hot@(dynamic code)", 1, 0, {"end": "no_unwind_info"})])
    assert runtime_hint(named).startswith("100.0 % of the time is on stacks that end early: for whole stacks run Java with")
    assert runtime_hint(build_profile([("main@node;hot@(dynamic code)", 1, 0, {"end": "no_unwind_info"})])) == ""


def test_a_recording_with_the_option_is_told_why_it_did_not_help() -> None:
    hint = runtime_hint(with_option(mixed("node", 2), "jit=1"))
    assert "--jit did not reach all of it; a node whose NODE_OPTIONS" in hint and "record" not in hint
    assert runtime_hint(with_option(mixed("beam.smp", 2), "jit=1")).endswith('for names run Erlang with ERL_FLAGS="+JPperf true".')


def test_java_whose_methods_are_recorded_needs_no_option() -> None:
    profile = mixed("libjvm.so", 2, "no_unwind_info")
    assert runtime_hint(profile._replace(frames=[replace_kind(frame) for frame in profile.frames])) == ""


def replace_kind(frame: Frame) -> Frame:
    return frame._replace(kind=JAVA)


def test_every_view_has_the_whole_sentence() -> None:
    profile = with_runtime_hints(mixed("libjvm.so", 2))
    hint = runtime_hint(profile)
    assert brief_warnings(profile) == [hint] and warnings_of(profile) == [hint]


def test_each_runtime_is_known_by_its_files() -> None:
    owners = {
        "libjvm.so": "Java", "node": "node", "libnode.so.115": "node", "chrome": "V8", "libcoreclr.so": ".NET", "mono-sgen": "mono", "luajit-2.1.0-beta3": "LuaJIT",
        "libpypy3.9-c.so": "PyPy", "opcache.so": "PHP", "ruby3.1": "Ruby", "beam.smp": "Erlang", "libc.so.6": None, "python3.11": None, "nodemon": None,
        "libv8_monolith.so": "V8", "libv8.a": None, "libmono-2.0.so.1": "mono", "mono.so": None, "chromium": "V8", "beam.smp.old": None, "_libwasmtime.so": "Wasmtime", "bun": "bun", "bun.exe": "bun", "bundle": None,
    }  # fmt: skip
    for file, name in owners.items():
        assert [runtime.name for runtime in RUNTIMES if runtime.owns(file)] == ([name] if name else [])
