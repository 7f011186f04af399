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
ROUNDS = 20_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 600
OBJECTS = ("checksum", "columns", "cursor", "frame_finder", "stream")


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the sources of the library in it."""
    native = pmclog_build.NATIVE
    sources = [*sorted((native / "analysis").glob("*.c")), *(native / "pmclog" / f"{name}.c" for name in OBJECTS)]
    includes = [f"-I{native}", f"-I{native / 'include'}", f"-I{native / 'src'}"]
    output = tmp_path_factory.mktemp("analysis") / "analysis_fuzz"
    command = [*pmclog_build.compiler().split(), *pmclog_build.WARNINGS, *pmclog_build.SANITIZERS, *includes]
    subprocess.run([*command, str(HERE / "analysis_fuzz.c"), *map(str, sources), "-o", str(output)], check=True)
    return output


@pytest.mark.parametrize("seed", range(3))
def test_hostile_logs(fuzz: Path, tmp_path: Path, seed: int) -> None:
    log = tmp_path / "seed.log"
    log.write_bytes(logs.framed(logs.random_frames(random.Random(seed))))
    done = subprocess.run([fuzz, str(ROUNDS), str(seed), log], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "all held\n"), done.stderr[-3000:]
