"""test_soak -- the soak's short part: whatever is made and given back again and again, nothing grows, and nothing is lost without a word

20 seconds on a good disk, and 8 on one that gets full; COLLECTOR_TEST_THOROUGH=1 makes it 60 and 20, and run.py ten minutes.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from soak.run import find_all, find_recorder
from soak.soaking import CannotSoak, Soaked, describe, small_disk, soak

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Soaked:
    return soak(tmp_path_factory.mktemp("native"), 2, recorded=False)


def test_nothing_grows(native: Soaked, tmp_path: Path) -> None:
    recorder = find_recorder()
    run = soak(tmp_path, 60 if IS_THOROUGH else 20)
    found = find_all(native, run, recorder)
    assert not found, "\n".join([*found, *describe(run)])


def test_on_a_disk_that_gets_full(native: Soaked, tmp_path: Path) -> None:
    recorder = find_recorder()
    try:
        with small_disk(tmp_path / "disk") as disk:
            run = soak(tmp_path, 20 if IS_THOROUGH else 8, experiment=disk / "soak.expt", filler=disk / "filler")
            found = find_all(native, run, recorder, is_disk_full=True)
    except CannotSoak as reason:
        pytest.skip(str(reason))
    assert not found, "\n".join([*found, *describe(run)])
