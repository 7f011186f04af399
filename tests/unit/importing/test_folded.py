"""test_folded -- stacks folded into lines"""

from __future__ import annotations

import pytest
from imported import import_text

from collector.errors import ForeignProfileError
from collector.importing.reading import read_profile


def test_each_count_is_a_sample(tmp_path):
    found = import_text(tmp_path, "main;work (a.py:3);leaf 3\nmain;work (a.py:3) 2\n\nmain;std::f<a, b>(int) 1\nmain;work (a.py:3) 1\r\n")
    assert {stack: user for stack, (user, _) in found.stacks().items()} == {
        ("main", "work (a.py:3)", "leaf"): 3_000_000, ("main", "work (a.py:3)"): 3_000_000, ("main", "std::f<a, b>(int)"): 1_000_000
    }  # fmt: skip
    assert len(found.profile.samples.samples) == 7
    assert "What is shown as time counts samples: 1 s stands for 1,000 of them." in found.messages()
    assert not found.profile.recordings[0].has_times and not found.profile.recordings[0].has_sums


def test_great_weights_are_sums(tmp_path):
    found = import_text(tmp_path, f"a;b {10**12}\na {3}\n", "--unit", "1us")
    assert found.total_ns == (10**12 + 3) * 1000
    assert found.profile.recordings[0].has_sums and "shown as time" not in found.messages()


def test_decimals_are_kept(tmp_path):
    found = import_text(tmp_path, "a;b 1.25\na 0.125\n")
    assert found.stacks() == {("a", "b"): (1_250_000, 0), ("a",): (125_000, 0)}
    assert "counts samples/1000: 1 s stands for 1,000,000 of them" in found.messages()


def test_names_are_any_bytes(tmp_path):
    found = import_text(tmp_path, b"caf\xc3\xa9;\xff\xfe\x01;;<script> 1\n")
    assert list(found.stacks()) == [("café", "\udcff\udcfe\x01", "(unnamed)", "<script>")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a;b 1\nnothing here\n", "is damaged: line 2 is not a stack and its weight"),
        ("a 99999999999999999999\n", "is no profile that is known"),
        ("a 9999999999999999999\n", "has values that add up to 9,999,999,999,999,999,999 samples|has numbers that are too large"),
        ("a 1.1234567\n", "has weights of 7 decimals"),
        ("a 0\n", "holds no samples"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, text, sentence):
    (tmp_path / "p").write_text(text)
    with pytest.raises(ForeignProfileError, match=sentence):
        read_profile(str(tmp_path / "p"), None, None, None)
