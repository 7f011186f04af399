"""test_round_trips -- what `collector export` writes is read back: functions, lines, modules, inlined calls, threads and all weight"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from imported import Imported, import_text
from test_callgrind import _BODY, _HEAD
from test_perf_script import _FULL
from test_pprof import small_profile

from collector.exports import callgrind, folded, perf_script, pprof
from collector.profile import aggregate
from collector.profile.model import Profile

_WORDS = str.maketrans(" ()", "_[]")
_TEXTS = {"perf": _FULL, "pprof": small_profile(first_ns=2_000_001), "callgrind": _HEAD + _BODY}


def written(pieces: Iterable[str | bytes]) -> bytes:
    return b"".join(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape") for piece in pieces)


def rows(found: Imported) -> dict[tuple[str, str], tuple[int, int]]:
    """Exclusive and inclusive nanoseconds by function and module, which perf script's text has without blanks and parentheses."""
    return {
        (row.function.name, row.module.path.translate(_WORDS)): (round(row.exclusive[0] * 1e9), round(row.inclusive[0] * 1e9)) for row in aggregate.functions(found.profile)
    }


@pytest.mark.parametrize("name", _TEXTS)
@pytest.mark.parametrize("export", [pprof.pprof, perf_script.perf_script], ids=["pprof", "perf script"])
def test_formats_that_keep_all(tmp_path, name: str, export: Callable[[Profile], Iterable[str | bytes]]) -> None:
    before = import_text(tmp_path, _TEXTS[name], name=name)
    after = import_text(tmp_path, written(export(before.profile)), name="again")
    assert rows(after) == rows(before) and after.total_ns == before.total_ns
    assert len(after.profile.threads) == len(before.profile.threads)
    if export is pprof.pprof:
        assert after.stacks().keys() == before.stacks().keys()


@pytest.mark.parametrize("name", _TEXTS)
def test_callgrind(tmp_path, name: str) -> None:
    before = import_text(tmp_path, _TEXTS[name], name=name)
    after = import_text(tmp_path, written(callgrind.callgrind(before.profile)), "--event", "cpu", name="again")
    assert after.total_ns == before.total_ns
    assert {name: own for (name, _), (own, _) in rows(after).items() if own} == {name: own for (name, _), (own, _) in rows(before).items() if own}


@pytest.mark.parametrize("name", _TEXTS)
def test_folded(tmp_path, name: str) -> None:
    before = import_text(tmp_path, _TEXTS[name], name=name)
    lines = written(folded.folded(before.profile)).decode().splitlines()
    if not lines:  # less than the microsecond that folded stacks count
        return
    after = import_text(tmp_path, "\n".join(lines) + "\n", "--unit", "1us", name="again")
    assert after.total_ns == sum(int(line.rpartition(" ")[2]) for line in lines) * 1000
