"""test_names -- which function or file a word means"""

from __future__ import annotations

import pytest
from tiny_profile import build_profile

from collector.profile.model import Frame, Function
from collector.profile.names import find_files, find_functions, telling_names, told_apart, with_long_names
from collector.profile.source_lines import function_span, source_lines

PROFILE = build_profile(
    [
        ("main;work:12;read_block@libdata.so", 1, 0),
        ("main;read_line@libdata.so;work:14", 1, 0),
        ("main;app::Parser::parse(std::string const&) const", 1, 0),
        ("main;app::Writer::parse(int)", 1, 0),
        ("main;work:12;work:14", 1, 0),
    ]
)


def found(word: str) -> list[str]:
    return sorted(PROFILE.functions[index].name for index in find_functions(PROFILE, word).found)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("work", ["work"]),
        ("read_block", ["read_block"]),
        ("read", ["read_block", "read_line"]),
        ("block", ["read_block"]),
        ("app::Parser::parse", ["app::Parser::parse(std::string const&) const"]),
        ("Parser::parse", ["app::Parser::parse(std::string const&) const"]),
        ("parse", ["app::Parser::parse(std::string const&) const", "app::Writer::parse(int)"]),
        ("nothing_like_it", []),
    ],
)
def test_functions_are_found_by_the_first_rule_that_fits(word: str, names: list[str]) -> None:
    assert found(word) == names


def test_functions_of_one_name_are_told_apart() -> None:
    """By the linker's name or else by the file; where neither does, by the name alone."""
    alike = (
        Function("inner", "inner", "inner.0", 0, "/a/x.f90"), Function("inner", "inner", "inner.1", 0, "/a/x.f90"),
        Function("check", "check", "check", 0, "/a/x.c"), Function("check", "check", "check", 0, "/b/y.c"),
        Function("work", "work", "work", 0), Function("work", "work", "work", 1), Function("main", "main", "main", 0, "/a/x.c"),
    )
    assert telling_names(alike) == ["inner.0", "inner.1", "x.c:check", "y.c:check", "work", "work", "main"]
    profile = PROFILE._replace(functions=alike, frames=tuple(Frame(index) for index in range(len(alike))))
    assert [find_functions(profile, word).found for word in ("check", "y.c:check", "inner.1")] == [(2, 3), (3,), (1,)]


def test_near_names_are_offered() -> None:
    assert find_functions(PROFILE, "wrok").near == ("work",)
    assert "read_block" in find_functions(PROFILE, "READ_BLOK").near


def test_files_are_found_by_path_end_and_part() -> None:
    assert find_files(PROFILE, "/src/work.c").found == ("/src/work.c",)
    assert find_files(PROFILE, "work.c").found == ("/src/work.c",)
    assert find_files(PROFILE, "src/work.c").found == ("/src/work.c",)
    assert find_files(PROFILE, "wor").found == ("/src/work.c",)
    assert find_files(PROFILE, "wrk.c").near == ("work.c",)


def test_source_lines_count_recursion_once() -> None:
    rows = {row.line: (row.exclusive[0], row.inclusive[0]) for row in source_lines(PROFILE, "/src/work.c")}
    assert rows == {12: (0.0, 2.0), 14: (2.0, 2.0)}


def test_the_span_of_a_function_reaches_from_its_definition_to_its_last_sampled_line() -> None:
    work = find_functions(PROFILE, "work").found[0]
    assert function_span(PROFILE, work) == ("/src/work.c", 10, 14)
    assert function_span(PROFILE, find_functions(PROFILE, "read_block").found[0]) is None


@pytest.mark.parametrize(("word", "is_whole"), [("work", True), ("parse", True), ("read", False)])
def test_a_whole_name_is_told_from_a_piece_of_one(word: str, is_whole: bool) -> None:
    """`source work` means the function, whatever files have "work" in their names."""
    assert find_functions(PROFILE, word).is_whole is is_whole


def test_long_names_are_those_without_abbreviations() -> None:
    short = PROFILE._replace(functions=[function._replace(short_name="f(...)") for function in PROFILE.functions])
    assert [function.short_name for function in with_long_names(short).functions] == [function.name for function in PROFILE.functions]


def test_long_names_are_meant_by_number() -> None:
    """Those of templates can take thousands of columns, in which nobody finds the difference."""
    long = ", ".join(["std::allocator<Row>"] * 20)
    alike = tuple(Function(f"Index<{long}, {kind}>::link(int)", "Index<...>::link(...)", f"_Z{kind}", 0, "/a/index.h", line) for kind, line in ((1, 7), (2, 9)))
    profile = PROFILE._replace(functions=alike, frames=(Frame(1), Frame(0)))
    match = find_functions(profile, "link")
    told = told_apart(profile, "link", match.found)
    assert told == ["link#1 for Index<...>::link(...) in index.h:7 (test)", "link#2 for Index<...>::link(...) in index.h:9 (test)"]
    assert [find_functions(profile, word).found for word in ("link#1", "link#2", "Index#2")] == [(0,), (1,), (1,)]
    assert find_functions(profile, "link#3").found == find_functions(profile, "link#0").found == ()
