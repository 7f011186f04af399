"""test_table -- columns that line up, and what gives way when there is no room"""

from __future__ import annotations

import pytest

from collector.reports.style import Style, pad, printable, shorten, text_width
from collector.reports.table import figure, name, table_lines

COLUMNS = (figure("Time", "s"), figure("Time", "%"), name("Function", least=10), name("Module", least=6, rank=1))
ROWS = [["1.000", "50.0", "a_function_with_a_long_name", "library.so"], ["10.000", "5.0", "b", "x"]]


def test_columns_line_up_below_their_headings() -> None:
    assert table_lines(COLUMNS, ROWS, Style(80)) == [
        "          Time  Function                     Module",
        "       s     %",
        "   1.000  50.0  a_function_with_a_long_name  library.so",
        "  10.000   5.0  b                            x",
    ]


def test_names_are_shortened_first_and_then_columns_left_out() -> None:
    assert table_lines(COLUMNS, ROWS, Style(44))[2] == "   1.000  50.0  a_functi…ng_name  library.so"
    assert table_lines(COLUMNS, ROWS, Style(30))[2] == "   1.000  50.0  a_funct…g_name"


def test_a_good_width_is_kept_at_the_cost_of_others() -> None:
    columns = (figure("Time"), name("Function", least=10, good=20), name("Module", least=6, rank=2), name("Source", least=6, rank=3))
    row = ["1.000", "a_function_with_a_long_name", "library.so", "a_long_name.c"]
    shown = [table_lines(columns, [row], Style(width))[1] for width in (50, 45, 44, 32, 24)]
    assert shown == [
        "  1.000  a_function…long_name  lib….so  a_lon…me.c",
        "  1.000  a_function…long_name  lib…so  a_l….c",
        "  1.000  a_function_…a_long_name  library.so",
        "  1.000  a_funct…ng_name  lib…so",
        "  1.000  a_funct…ng_name",
    ]


def test_a_title_wider_than_its_figures_makes_room_for_itself() -> None:
    assert table_lines((figure("Involuntary"), name("Who")), [["1", "me"]], Style(80)) == [
        "  Involuntary  Who",
        "            1  me",
    ]


@pytest.mark.parametrize(
    ("keep", "text"), [("middle", "abcd…wxyz"), ("start", "abcdefgh…"), ("end", "…stuvwxyz")]
)
def test_shortening_keeps_what_tells_most(keep: str, text: str) -> None:
    assert shorten("abcdefghijklmnopqrstuvwxyz", 9, keep) == text


def test_wide_and_combining_characters_take_the_columns_that_a_terminal_gives_them() -> None:
    assert text_width("日本") == 4
    assert text_width("e\u0301") == 1
    assert pad("日本", 6) == "日本  "
    for width in range(1, 12):
        assert text_width(shorten("日本語のテキスト", width)) <= width


def test_what_cannot_be_printed_is_spelled_out() -> None:
    assert printable("a\tb\x00\udc80é") == "a\\tb\\x00\\x80é"


def test_a_table_has_its_columns_below_each_other_where_characters_are_wide() -> None:
    columns = (name("Who", least=6), figure("Time"))
    lines = table_lines(columns, [["日本", "1"], ["a_longer_name", "22"], ["e\u0301", "3"], ["100 %", "4"]], Style(40))
    assert {text_width(line) for line in lines} == {text_width("  a_longer_name  Time")}
