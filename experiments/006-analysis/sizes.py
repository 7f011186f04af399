"""sizes -- python sizes.py NAME.expt: samples, bytes in all, those of records of samples, and those of metrics

Metrics are their values, what defines them, node.log and metrics.tsv.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgpack

from collector.experiment.frames import FrameScanner, LogFrame
from collector.format import FIELDS, Kind

DEFINING = (Kind.PMCALLOCATE, Kind.PMCATTACH, Kind.PMCDETACH)


def place(kind: Kind, name: str) -> int:
    """Where a field is in a record."""
    return 3 + [field for field, _, _ in FIELDS[kind]].index(name)


def read(log: Path) -> tuple[int, int, int]:
    """Samples, bytes of their records, bytes of records of metrics."""
    scanner, samples, sample_bytes, metric_bytes = FrameScanner(), 0, 0, 0
    scanner.feed(log.read_bytes())
    metrics: set[int] = set()
    while (frame := scanner.next(is_final=True)) is not None:
        if not isinstance(frame, LogFrame):
            continue
        unpacker = msgpack.Unpacker(raw=True, max_buffer_size=1 << 30)
        unpacker.feed(frame.payload)
        begin = 0
        for record in unpacker:
            size, begin = unpacker.tell() - begin, unpacker.tell()
            kind = record[0]
            if kind == Kind.PMCALLOCATE and record[place(kind, "clock")] == b"plugin":
                metrics.add(record[place(kind, "source")])
            if kind == Kind.PCSAMPLE:
                samples += record[place(kind, "count")]
                sample_bytes += size
            elif kind == Kind.METRIC or kind in DEFINING and record[place(kind, "source")] in metrics:
                metric_bytes += size
    return samples, sample_bytes, metric_bytes


def main() -> None:
    """Print one line."""
    samples = total = sample_bytes = metric_bytes = 0
    for path in Path(sys.argv[1]).iterdir():
        size = path.stat().st_size
        total += size
        if path.name in ("node.log", "metrics.tsv"):
            metric_bytes += size
        elif path.suffix == ".log":
            count, of_samples, of_metrics = read(path)
            samples, sample_bytes, metric_bytes = samples + count, sample_bytes + of_samples, metric_bytes + of_metrics
    print(samples, total, sample_bytes, metric_bytes)


main()
