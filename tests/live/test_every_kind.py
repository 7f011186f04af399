"""test_every_kind -- each kind of pmclog(3) but PROCCSW, and of ours, is written when its case occurs"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import ROOT, Recorded

from collector.experiment.log_reader import EventReader
from collector.format import Kind

# What only plugins, warnings and Python programs write has tests of its own, and switches are counted in samples.
EXPECTED = set(Kind) - {Kind.PROCCSW, Kind.METRIC, Kind.MESSAGE, Kind.INTERPRETER}


@pytest.fixture(scope="module")
def recording(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    place = tmp_path_factory.mktemp("every_kind")
    (place / "idle.c").write_text("int idle(void) { return 0; }\nint main(void) { return 0; }\n")
    for flags, name in ((["-shared", "-fPIC"], "idle.so"), (["-static"], "idle")):
        done = subprocess.run(["gcc", *flags, "-o", place / name, place / "idle.c"], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"gcc {' '.join(flags)} cannot link here: {done.stderr.strip()[:100]}")
    program = compiled("every_kind.c", "-O1", "-pthread", f"-I{ROOT / 'libcollector_c' / 'include'}", "-ldl")
    recorded = record([program, place / "idle.so", place / "idle"])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    return recorded


def kinds_of(recorded: Recorded) -> set[Kind]:
    return {event.kind for log in recorded.path.glob("*.log") for event in EventReader(log)}


def test_each_kind_is_written(recording: Recorded) -> None:
    assert kinds_of(recording) >= EXPECTED


def test_c_reads_the_same_kinds(recording: Recorded, recorder: Path) -> None:
    library = ctypes.CDLL(str(recorder.parent / "libpmclog.so"), use_errno=True)
    library.pmclog_open.restype = ctypes.c_void_p
    library.pmclog_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.pmclog_close.argtypes = [ctypes.c_void_p]
    seen = set()
    for log in recording.path.glob("*.log"):
        with open(log, "rb") as file:
            cookie = library.pmclog_open(file.fileno())
            event = ctypes.create_string_buffer(1 << 16)
            # struct pmclog_ev begins: int state, off_t, size_t, struct timespec, int type
            while library.pmclog_read(cookie, event) == 0:
                seen.add(ctypes.c_int.from_buffer(event, 40).value)
            library.pmclog_close(cookie)
    assert seen >= {int(kind) for kind in EXPECTED}
