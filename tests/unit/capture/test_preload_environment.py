"""test_preload_environment -- the variables that a recorded program is given"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collector.capture.environment import build_environment, make_preloadable, order_preloads
from collector.capture.options import RecorderOptions


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ("", "/r.so"),
        ("/a.so", "/r.so:/a.so"),
        ("/a.so /b.so", "/r.so:/a.so:/b.so"),
        ("/a.so:/b.so", "/r.so:/a.so:/b.so"),
        ("/a.so:/r.so", "/r.so:/a.so"),
        ("/usr/lib/libasan.so.8:/a.so", "/usr/lib/libasan.so.8:/r.so:/a.so"),
        ("/a.so libtsan.so.2", "libtsan.so.2:/r.so:/a.so"),
    ],
)
def test_preloads(present: str, expected: str) -> None:
    assert order_preloads("/r.so", present) == expected


def test_variables() -> None:
    base = {"PATH": "/bin", "ASAN_OPTIONS": "detect_leaks=0", "COLLECTOR_METRICS": "/y/metrics.tsv"}
    before = dict(base)
    assert build_environment(base, "/r.so", "/x/a.expt", RecorderOptions(root=7), "off") == {
        "PATH": "/bin",
        "LD_PRELOAD": "/r.so",
        "COLLECTOR_PRELOAD": "/r.so",
        "COLLECTOR_EXPERIMENT": "/x/a.expt",
        "COLLECTOR_OPTIONS": "clock=auto,period=1062699,root=7",
        "COLLECTOR_FOLLOW": "off",
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
    }
    assert base == before


def test_another_recording_stays_behind() -> None:
    """What it put into LD_PRELOAD, and its recorder where no launcher told what that was."""
    base = {"LD_PRELOAD": "/a/libcollector.so:/a/plugin.so:/mine.so /c/libcollector.so", "COLLECTOR_PRELOAD": "/a/libcollector.so:/a/plugin.so"}
    built = build_environment(base, "/b/libcollector.so", "/x/a.expt", RecorderOptions(), "on")
    assert built["LD_PRELOAD"] == "/b/libcollector.so:/mine.so"


def test_a_plain_path_is_preloaded_as_it_is() -> None:
    assert make_preloadable("/usr/lib/libcollector.so") == ("/usr/lib/libcollector.so", None)


@pytest.mark.parametrize("odd", ["with blank", "a:b", "dollar$LIB"])
def test_a_path_that_ld_so_would_split_is_linked_to(tmp_path: Path, odd: str) -> None:
    library = tmp_path / odd / "libcollector.so"
    library.parent.mkdir()
    library.write_text("")
    link, directory = make_preloadable(str(library))
    assert directory is not None and os.path.dirname(link) == directory
    assert not set(" :$") & set(link)
    assert os.path.samefile(link, library)
    os.unlink(link)
    os.rmdir(directory)
