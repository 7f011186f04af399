"""test_disasm_page -- instructions in the page: those that `collector report disasm` shows, with the same times"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_instructions import CODE, at_addresses
from tiny_profile import build_profile
from unpacked import unpacked

from collector.page.document import experiment_data
from collector.page.instructions import disassembly_of, places_of
from collector.profile.instructions import Listing, annotate, code_times

NOP = [(address, "nop") for address in range(0x1000, 0x1000 + 10_000)]


def test_rows_and_their_times() -> None:
    profile = at_addresses(build_profile([("main:1", 2, 0.5), ("main:2;leaf:9", 3, 1)]), {("main", 1): (0x16, -1), ("main", 2): (0x16, -1)})
    (piece,) = code_times(profile, 0)
    listing = Listing("prog, from 10", annotate(piece, CODE, {0x10: ("/src/main.c", 4), 0x16: ("/src/main.c", 5)}, 4), "as it is now", end=0x1E)
    document, columns = unpacked(experiment_data(profile, {}, {0: (listing,), 1: "leaf cannot be disassembled: it has gone"}))
    first, second = document["disassembly"]
    (shown,) = first["pieces"]
    assert (first["function"], second["function"], second["pieces"]) == (0, 1, [])
    assert second["note"] == "leaf cannot be disassembled: it has gone"
    assert (shown["title"], shown["note"], shown["hidden"], shown["files"]) == ("prog, from 10", "as it is now", 0, ["/src/main.c"])
    assert shown["rows"] == [["10", "push", 0, 4], ["11", "call leaf", -1, 0], ["16", "add", 0, 5], ["18", "call main", -1, 0], ["1d", "ret", -1, 0]]
    (call, called), (add, leaf) = shown["places"]
    assert (call, add) == (1, 2), "behind the call lies the instruction that a leaf is at"
    paths = [(columns["places"][group - 2], columns["places"][columns["groups"][node - way] - 2] if node != way else 0) for node, (way, group) in enumerate(zip(columns["parents"], columns["groups"])) if node]
    assert sorted(paths) == sorted([(leaf + 1, 0), (called + 1, 0), (0, called + 1)])


def test_of_a_long_function_what_is_near_to_time_is_kept() -> None:
    profile = at_addresses(build_profile([("main:1", 2, 0)]), {("main", 1): (0x1000 + 5000, -1)})
    (piece,) = code_times(profile, 0)
    listings = {0: (Listing("prog", annotate(piece, NOP, {}, 4), end=0x1000 + 10_000),)}
    (shown,) = disassembly_of(listings, places_of(profile, listings))[0]["pieces"]
    assert shown["index"] == list(range(4960, 5041)) and shown["hidden"] == 10_000 - 81
    assert shown["rows"][40][0] == f"{0x1000 + 5000:x}" and [row for row, _ in shown["places"]] == [40]


def test_names_are_made_printable() -> None:
    profile = build_profile([("main", 1, 0)])
    row = replace(annotate(code_times(profile, 0)[0], [(0, "call <a\x1b[2J\u202e>")], {0: ("/src/\x07.c", 1)}, 4)[0])
    listings = {0: (Listing("\x1b]0;t\x07", (row,), "\udc9b", end=1),)}
    (shown,) = disassembly_of(listings, places_of(profile, listings))[0]["pieces"]
    assert all(text.isprintable() for text in (shown["title"], shown["note"], shown["rows"][0][1], *shown["files"]))


@pytest.mark.parametrize("words", [(), ("--disasm",)])
def test_what_is_not_asked_for_is_not_there(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Nor is objdump run."""
    from small_experiment import write_small

    from collector.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_small(tmp_path / "a.expt", [0] * 100 + [1] * 200)
    if not words:
        monkeypatch.setattr(subprocess, "run", None)
    assert main(["html", "a.expt", *words]) == 0
    text = (tmp_path / "a.html").read_text()
    document, _ = unpacked(text.partition('class="experiment">')[2].partition("<")[0])
    assert ("disassembly" in document) == bool(words) == ("class DisassemblyView" in text)
    if words:
        assert [one["pieces"] for one in document["disassembly"]] == [[], []]
        assert all("cannot be disassembled" in one["note"] for one in document["disassembly"])
