"""test_rank -- the rank of a process, from what launchers put into its environment: in Python, and in the recorder's own words"""

from __future__ import annotations

import os
import subprocess

import pytest

from collector.capture.rank import Rank, read_rank

NOBODY = Rank(None, None)

ENVIRONMENTS = {
    "open-mpi-4": ({"PMIX_RANK": "3", "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, Rank(3, 1)),
    "open-mpi-alone": ({"OMPI_COMM_WORLD_RANK": "12", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}, Rank(12, 0)),
    "mpich": ({"PMI_RANK": "4", "MPI_LOCALRANKID": "2"}, Rank(4, 2)),
    "mvapich": ({"MV2_COMM_WORLD_RANK": "7", "MV2_COMM_WORLD_LOCAL_RANK": "3"}, Rank(7, 3)),
    "pmi-id": ({"PMI_ID": "5"}, Rank(5, None)),
    "platform": ({"MPI_RANKID": "6", "MPI_LOCALRANKID": "6"}, Rank(6, 6)),
    "srun": ({"SLURM_PROCID": "9", "SLURM_LOCALID": "1", "SLURM_STEP_ID": "0"}, Rank(9, 1)),
    "batch-script": ({"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "17"}, NOBODY),
    "srun-with-pmix": ({"PMIX_RANK": "2", "SLURM_PROCID": "2", "SLURM_LOCALID": "1", "SLURM_STEP_ID": "0"}, Rank(2, 1)),
    "mpirun-below-srun": ({"PMIX_RANK": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "0"}, Rank(2, None)),
    "none": ({}, NOBODY),
    "local-only": ({"MPI_LOCALRANKID": "1"}, NOBODY),
    "no-number": ({"PMIX_RANK": "x", "PMI_RANK": ""}, NOBODY),
    "negative": ({"PMI_RANK": "-1"}, NOBODY),
    "too-long": ({"PMI_RANK": "9999999999"}, NOBODY),
    "next-best": ({"PMIX_RANK": "", "PMI_RANK": "8"}, Rank(8, None)),
}


@pytest.mark.parametrize("environment, expected", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_rank_of_an_environment(environment, expected):
    assert read_rank(environment) == expected


def test_recorder_reads_the_same(repository, compile_c):
    """rank.c, compiled alone, gives for every environment what rank.py gives."""
    own = """#include <stdio.h>
#include "control/rank.h"
int main(void) { col_rank_read(); struct col_rank own = col_rank(); printf("%lld %lld\\n", (long long)own.rank, (long long)own.local_rank); }
"""
    sources = repository / "libcollector_c" / "src"
    program = compile_c(own, f"-I{sources}", str(sources / "control" / "rank.c"))
    outside = {name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH")}
    for name, (environment, expected) in ENVIRONMENTS.items():
        told = subprocess.run([program], env={**outside, **environment}, capture_output=True, text=True, check=True).stdout.split()
        assert told == ["-1" if number is None else str(number) for number in expected], name
