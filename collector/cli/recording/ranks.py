"""ranks -- what differs where `collector record` is itself a rank of a parallel job: which are recorded, where, and who says so"""

from __future__ import annotations

import os
import signal

from collector.capture import job_directory
from collector.capture.ignored_signals import signals_to_default
from collector.capture.native import read_clock_error_us
from collector.capture.program import Program
from collector.capture.rank import Rank, RankPeriods, Ranks
from collector.cli.working_directory import relative_path
from collector.errors import UsageError
from collector.named_tuple import NamedTuple


class Job(NamedTuple):
    """What we are in a parallel job: `rank` is None outside of one. `wanted` are the ranks to record, None for all; `periods` what some are sampled at."""

    rank: Rank | None
    wanted: Ranks | None
    periods: RankPeriods = RankPeriods(())

    @property
    def is_left_out(self) -> bool:
        """Whether our program is to run unrecorded."""
        return self.rank is not None and self.wanted is not None and self.rank.rank not in self.wanted

    @property
    def shares(self) -> bool:
        """Whether the experiment is one of several ranks."""
        return job_directory.joins(self.rank)

    @property
    def is_speaker(self) -> bool:
        """Whether this is the one rank that says how it went where all is well."""
        first = min((one.first for one in self.wanted.ranges), default=0) if self.wanted else 0
        return not self.shares or self.rank is None or self.rank.rank == first

    def experiment_name(self, name: str | None, program: str, is_overwritten: bool) -> str | None:
        """The name to claim; all ranks give the same. UsageError if there can be none."""
        if self.rank is None or not self.shares:
            return name
        if is_overwritten:
            raise UsageError(f"the ranks of a job would delete each other's logs with -O: remove {name} before it, or give another name with -o")
        return job_directory.name_of_job(name, program, self.rank)

    def claim(self, name: str) -> str:
        """Make our part of the experiment."""
        assert self.rank is not None
        return job_directory.claim_rank(name, self.rank, os.uname().nodename)

    def claims_node(self, experiment: str) -> bool:
        """Whether we are the one that reads the metrics of this machine."""
        return not self.shares or job_directory.claim_node(experiment)

    def title(self, experiment: str) -> str:
        """What the experiment is called in our sentences."""
        if self.rank is None or not self.shares:
            return relative_path(experiment)
        return f"{relative_path(os.path.dirname(os.path.dirname(experiment)))}: rank {self.rank.rank}"

    def sentences(self, experiment: str, sentences: list[str], is_clean: bool) -> list[str]:
        """What is to be said of them: of several ranks one line each, and of all but one only what went wrong."""
        if not self.shares:
            return sentences
        if is_clean and len(sentences) == 1 and not self.is_speaker:
            return []
        line, title = "; ".join(sentences), self.title(experiment)
        return [line if line.startswith(title) else f"{title}: {line}"]

    def describe(self) -> dict[str, object]:
        """What is kept of it in the experiment, by name."""
        rank = self.rank if self.shares else None
        error_us = read_clock_error_us() if rank else None
        return {
            "ranks": self.wanted,
            "rank_periods": self.periods.encode() or None,
            "job": rank.job or None if rank else None,
            "job_size": rank.size if rank else None,
            "clock_error": None if error_us is None else f"{error_us * 1000} ns",
        }


def become(program: Program, command: list[str]) -> None:
    """Run the program unrecorded in our place. OSError if it cannot be run."""
    for number in signals_to_default():
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    path, arguments = program.start_with(command)
    os.execv(path, arguments)
