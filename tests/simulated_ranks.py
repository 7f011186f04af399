"""simulated_ranks -- an experiment of as many ranks as one likes, made of real recordings

    python tests/simulated_ranks.py FROM.expt... TO.expt RANKS SAMPLES [SEED]

Each rank ran the program of one of the recordings. Its logs are those of the launcher and of the recorded process with another process id, node and rank; its samples are some
of the recorded PCSAMPLE records, which a seeded generator chose and put in order, at other times.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.experiment.log_outline import RawRecord, iter_raw_records
from collector.experiment.log_writer import LogWriter
from collector.format import FIELDS, Kind

FIRST_PID = 100_000
RANKS_A_NODE = 64
_LATEST_START_NS = 50_000_000


@dataclass(frozen=True)
class Recorded:
    """The records of a process before its samples, its samples with how long each record took, and what came besides and after."""

    before: list[RawRecord]
    samples: list[tuple[RawRecord, int]]
    besides: list[RawRecord]
    after: list[RawRecord]
    launcher: list[RawRecord]
    pid: int


def read_recorded(experiment: Path) -> Recorded:
    """The process of an experiment that has most in its log."""
    log = max(experiment.glob("[0-9]*.log"), key=lambda path: path.stat().st_blocks)
    pid, first_pid = int(log.name.partition(".")[0]), _place(Kind.SAMPLE, "pid")
    records = list(iter_raw_records(log.read_bytes(), 0))
    _resolve_metrics(records)
    samples = [record for record in records if record[0] == Kind.PCSAMPLE]
    first_ns, end_ns = samples[0][1], max(record[1] for record in records)
    starts = [record[1] for record in samples] + [end_ns]
    others = [record for record in records if record[0] not in (Kind.PCSAMPLE, Kind.METRIC, Kind.SAMPLE)]
    last_kinds = (Kind.PMCDETACH, Kind.THR_EXIT, Kind.PROCEXIT, Kind.CLOSELOG)
    return Recorded(
        [record for record in others if record[0] not in last_kinds],
        [(record, end - record[1]) for record, end in zip(samples, starts[1:]) if end > record[1]],
        [record for record in records if record[0] in (Kind.METRIC, Kind.SAMPLE) and record[1] >= first_ns],
        [record for record in others if record[0] in last_kinds],
        [record for record in iter_raw_records((experiment / "launch.log").read_bytes(), 0) if record[0] != Kind.SAMPLE or record[first_pid] == pid],
        pid,
    )


def _resolve_metrics(records: list[RawRecord]) -> None:
    """Write out the values that are those of the record before."""
    before: list[Any] = []
    for record in records:
        if record[0] == Kind.METRIC:
            record[-1] = before = [old if value is True else value for value, old in zip(record[-1], before or record[-1])]


def simulate(recorded: Sequence[Recorded], target: Path, rank_count: int, sample_count: int, seed: int = 1) -> None:
    """Write the experiment. Every rank has `sample_count` samples, or a few more if records do not add up to that."""
    target.mkdir()
    (target / "ranks").touch()
    for rank in range(rank_count):
        chance = random.Random(seed << 32 | rank)
        _write_rank(recorded[rank % len(recorded)], target, rank, sample_count, chance)


def _write_rank(source: Recorded, target: Path, rank: int, sample_count: int, chance: random.Random) -> None:
    pid = FIRST_PID + rank
    shift_ns = chance.randrange(_LATEST_START_NS)
    chosen: list[RawRecord] = []
    now_ns, left = source.samples[0][0][1], sample_count
    favoured = [chance.expovariate(1.0) for _ in source.samples]  # ranks do not all do the same
    while left > 0:
        (record, took_ns), = chance.choices(source.samples, favoured)
        chosen.append([record[0], now_ns + shift_ns, *record[2:]])
        now_ns += took_ns
        left -= record[_place(Kind.PCSAMPLE, "count")]
    besides = [[record[0], record[1] + shift_ns, *record[2:]] for record in source.besides if record[1] < now_ns]
    after = [[record[0], now_ns + shift_ns, *record[2:]] for record in source.after]
    before = [[record[0], record[1] + shift_ns, *record[2:]] for record in source.before]
    changed = _changed(rank, sample_count - left)
    launcher = [[record[0], record[1] + shift_ns, *record[2:]] for record in source.launcher if record[1] < now_ns]
    for record in (*before, *chosen, *besides, *after, *launcher):
        record[2] = pid if record[2] == source.pid else record[2]
        kind = Kind(record[0])
        for name, value in ({"pid": pid} | changed.get(kind, {})).items():
            if name in _NAMES[kind]:
                place = _place(kind, name)
                record += [None] * (place + 1 - len(record))  # fields at the end that are not known are not written
                record[place] = value
    directory = target / _node_of(rank) / f"rank.{rank}"
    directory.mkdir(parents=True)
    for name, records in (("launch.log", launcher), (f"{pid}.0.log", [*before, *chosen, *besides, *after])):
        writer = LogWriter(str(directory / name))
        writer.append_all(records)
        if writer.error is not None:
            raise writer.error


def _node_of(rank: int) -> str:
    return f"node{rank // RANKS_A_NODE:04}"


def _changed(rank: int, sample_count: int) -> dict[Kind, dict[str, Any]]:
    """The fields that are not those of the recorded process. What the kernel accounted for it is nobody's account here."""
    return {
        Kind.INITIALIZE: {
            "ppid": 1, "host": _node_of(rank), "rank": rank, "local_rank": rank % RANKS_A_NODE, "pid_namespace": None,
        },
        Kind.PROCEXIT: {"user_ns": None, "system_ns": None},
        Kind.THR_EXIT: {"user_ns": None, "system_ns": None},
        Kind.CLOSELOG: {"sample_count": sample_count, "user_ns": None, "system_ns": None},
    }  # fmt: skip


_NAMES = {kind: [name for name, _, _ in fields] for kind, fields in FIELDS.items()}


def _place(kind: Kind, name: str) -> int:
    return 3 + _NAMES[kind].index(name)


def main() -> None:
    """Make one."""
    *sources, target, ranks, samples = sys.argv[1:]
    simulate([read_recorded(Path(source)) for source in sources], Path(target), int(ranks), int(samples))


if __name__ == "__main__":
    main()
