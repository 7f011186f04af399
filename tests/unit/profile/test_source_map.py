"""test_source_map -- directories of sources that are taken for others"""

from __future__ import annotations

import pytest

from collector.profile.source_map import moved_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/build/a/x.c", "/here/x.c"),
        ("/build/b/x.c", "/else/b/x.c"),
        ("/build/ab/x.c", "/else/ab/x.c"),  # whole directories only
        ("/builds/x.c", "/root/builds/x.c"),
        ("lib/x.c", "/relative/lib/x.c"),
        ("deep/lib/x.c", "/deep/lib/x.c"),
    ],
)
def test_the_longest_directory_counts(path: str, expected: str) -> None:
    known = {"/": "/root", "/build": "/else", "/build/a/": "/here/", ".": "/relative", "deep": "/deep"}
    assert moved_path(path, known) == expected
    assert moved_path(path, dict(reversed(known.items()))) == expected


def test_others_stay() -> None:
    assert moved_path("/usr/include/x.h", {"/build": "/here", ".": "/relative"}) == "/usr/include/x.h"
