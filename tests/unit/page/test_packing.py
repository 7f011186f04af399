"""test_packing -- what was packed is read back as the page reads it"""

from __future__ import annotations

import random
from array import array

import pytest
from unpacked import unpacked

from collector.page.packing import deltas, pack


def test_all_comes_back() -> None:
    chance = random.Random(1)
    columns = {"none": [], "one": [7], "large": [chance.randrange(1 << 32) for _ in range(1000)], "small": [chance.randrange(3) for _ in range(77)]}
    document = {"name": 'é</script>"\\ \u2028 \udc9b', "numbers": [1, 2.5, None]}
    text = pack(document, columns)
    assert unpacked(text) == (document, columns)
    assert text.isascii() and not set(text) & set("<>&\"'")


def test_differences_are_taken_back() -> None:
    numbers = [5, 5, 9, 2, 0, (1 << 31) - 1, 3]
    total, back = 0, []
    for difference in deltas(numbers):
        total = (total + difference) & 0xFFFFFFFF
        back.append(total)
    assert back == numbers and deltas([]) == []
    array("I", deltas(numbers))


def test_what_json_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack({"value": float("nan")}, {})
