"""test_soak -- the soak's short part: whatever is made and given back again and again, nothing grows, and nothing is lost without a word

A minute on a good disk, and 8 seconds on one that gets full; run.py goes on for ten minutes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from soak.run import find_all, find_recorder
from soak.soaking import CannotSoak, Soaked, describe, small_disk, soak

pytestmark = [pytest.mark.waits, pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Soaked:
    return soak(tmp_path_factory.mktemp("native"), 2, recorded=False)


def test_nothing_grows(native: Soaked, tmp_path: Path) -> None:
    recorder = find_recorder()
    run = soak(tmp_path, 60)
    found = find_all(native, run, recorder)
    assert not found, "\n".join([*found, *describe(run)])


def test_on_a_disk_that_gets_full(native: Soaked, tmp_path: Path) -> None:
    recorder = find_recorder()
    try:
        with small_disk(tmp_path / "disk") as disk:
            run = soak(tmp_path, 8, experiment=disk / "soak.expt", filler=disk / "filler")
            found = find_all(native, run, recorder, is_disk_full=True)
    except CannotSoak as reason:
        pytest.skip(str(reason))
    assert not found, "\n".join([*found, *describe(run)])
