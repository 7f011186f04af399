"""test_analysis -- the analysis in C under ASan and UBSan: hostile logs, hostile records, entries of any meaning"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pmclog_build
import pytest
import test_both_ways as logs

HERE = Path(__file__).parent
ROUNDS = 20_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 150


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the sources of the library in it."""
    others = tuple(f"pmclog/{name}" for name in pmclog_build.READS_LOGS)
    return pmclog_build.build_reader(tmp_path_factory.getbasetemp(), "analysis_fuzz", "analysis", others)


@pytest.mark.parametrize("seed", range(3))
def test_hostile_logs(fuzz: Path, tmp_path: Path, seed: int) -> None:
    log = tmp_path / "seed.log"
    log.write_bytes(logs.framed(logs.random_frames(random.Random(seed))))
    done = subprocess.run([fuzz, str(ROUNDS), str(seed), log], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "all held\n"), done.stderr[-3000:]
