"""test_rank -- the rank of a process, from what launchers put into its environment: in Python, and in the recorder's own words"""

from __future__ import annotations

import os
import subprocess

import pytest

from collector.capture.rank import Rank, RankPeriods, parse_ranks, read_rank

ENVIRONMENTS = {
    "open-mpi-4": ({"PMIX_RANK": "3", "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "8", "PMIX_NAMESPACE": "1755906049"},
                   Rank(3, 1, 8, "1755906049")),
    "open-mpi-alone": ({"OMPI_COMM_WORLD_RANK": "12", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}, Rank(12, 0)),
    "mpich": ({"PMI_RANK": "4", "MPI_LOCALRANKID": "2", "PMI_SIZE": "6"}, Rank(4, 2, 6)),
    "mvapich": ({"MV2_COMM_WORLD_RANK": "7", "MV2_COMM_WORLD_LOCAL_RANK": "3"}, Rank(7, 3)),
    "pmi-id": ({"PMI_ID": "5"}, Rank(5, None)),
    "platform": ({"MPI_RANKID": "6", "MPI_LOCALRANKID": "6"}, Rank(6, 6)),
    "srun": ({"SLURM_PROCID": "9", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_TASKS": "16"}, Rank(9, 1, 16, "17.2")),
    "batch-script": ({"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "17"}, None),
    "srun-with-pmix": ({"PMIX_RANK": "2", "SLURM_PROCID": "2", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0"}, Rank(2, 1, None, "17.0")),
    "mpirun-below-srun": ({"PMIX_RANK": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "0"}, Rank(2, None)),
    "none": ({}, None),
    "local-only": ({"MPI_LOCALRANKID": "1"}, None),
    "no-number": ({"PMIX_RANK": "x", "PMI_RANK": ""}, None),
    "negative": ({"PMI_RANK": "-1"}, None),
    "too-long": ({"PMI_RANK": "9999999999"}, None),
    "next-best": ({"PMIX_RANK": "", "PMI_RANK": "8"}, Rank(8, None)),
}


@pytest.mark.parametrize("environment, expected", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_rank_of_an_environment(environment, expected):
    assert read_rank(environment) == expected


RANGES = ("0", "0+8-10", "0-/4", "9-", "1-7/3+2", "20", "0-0,root=3", "9+0-3,x=9")


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
        numbers = (expected.rank, expected.local_rank) if expected else (None, None)
        assert told == ["-1" if number is None else str(number) for number in numbers], name


def test_recorder_chooses_the_same(repository, compile_c):
    """Of every list of ranks rank.c takes those that rank.py takes."""
    own = """#include <stdio.h>
#include "control/rank.h"
int main(int count, char **arguments) { (void)count; col_rank_read(); for (char **list = arguments + 1; *list; list++) printf("%d ", col_rank_is_among(*list)); }
"""
    sources = repository / "libcollector_c" / "src"
    program = compile_c(own, f"-I{sources}", str(sources / "control" / "rank.c"))
    lists = [parse_ranks(text.partition(",")[0].replace("+", ",")) for text in RANGES]
    for rank in range(12):
        told = subprocess.run([program, *RANGES], env={"PATH": os.environ["PATH"], "PMI_RANK": str(rank)}, capture_output=True, text=True, check=True).stdout
        assert told.split() == [str(int(rank in ranges)) for ranges in lists], rank


PERIODS = ("", "0-:5", "1-3+8:100;2:0", "2:7;0-/2:9,root=3", "7,x=1:2")


def test_recorder_finds_the_same_periods(repository, compile_c):
    """Of lists with periods rank.c takes the number that rank.py takes; 1 stands for that of no list."""
    own = """#include <stdio.h>
#include "control/rank.h"
int main(int count, char **arguments) { (void)count; col_rank_read(); for (char **lists = arguments + 1; *lists; lists++) printf("%d ", (int)col_rank_number(*lists, 1)); }
"""
    sources = repository / "libcollector_c" / "src"
    program = compile_c(own, f"-I{sources}", str(sources / "control" / "rank.c"))
    words = [[one.split(":") for one in text.partition(",")[0].split(";") if ":" in one] for text in PERIODS]
    parsed = [RankPeriods(tuple((parse_ranks(ranks.replace("+", ",")), int(period)) for ranks, period in one)) for one in words]
    for rank in range(12):
        told = subprocess.run([program, *PERIODS], env={"PATH": os.environ["PATH"], "PMI_RANK": str(rank)}, capture_output=True, text=True, check=True).stdout
        assert told.split() == [str(periods.of(rank, 1)) for periods in parsed], rank
    told = subprocess.run([program, *PERIODS], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True).stdout
    assert told.split() == ["1"] * len(PERIODS)
