"""multiply -- python multiply.py FROM.expt TO.expt COUNT: the same experiment with its samples so many times over, to about COUNT samples

Frames of samples are written again and again behind the others, and the totals of the log's end are put right.
"""

from __future__ import annotations

import re
import shutil
import struct
import sys
import zlib
from pathlib import Path

import msgpack

from collector.format import FIELDS, Kind

HEADER_BYTES = 22
NOT_ZERO = re.compile(rb"[^\0]")


def frame(payload: bytes, sequence: int) -> bytes:
    """One frame, as docs/format.md draws it."""
    head = struct.pack(">BIB4sI", 0xC9, 16 + len(payload), 0x50, b"\xc1cev", sequence)
    head += struct.pack(">I", zlib.crc32(head))
    return head + struct.pack(">I", zlib.crc32(payload)) + payload


def payloads_of(log: Path) -> list[bytes]:
    """The payloads of all frames."""
    data, at, found = log.read_bytes(), 0, []
    while (start := NOT_ZERO.search(data, at)) and data[start.start()] == 0xC9:  # between frames there may be space that was never written
        at = start.start()
        length = int.from_bytes(data[at + 1 : at + 5], "big")
        found.append(data[at + HEADER_BYTES : at + 6 + length])
        at += 6 + length
    return found


def records_of(payload: bytes) -> list[list]:
    """The records of a payload."""
    unpacker = msgpack.Unpacker(raw=True, max_buffer_size=1 << 30)
    unpacker.feed(payload)
    return list(unpacker)


def place(kind: Kind, name: str) -> int:
    """Where a field is in a record."""
    return 3 + [field for field, _, _ in FIELDS[kind]].index(name)


def multiply(log: Path, target: Path, copies: int) -> None:
    """Write the log with its samples `copies` times."""
    sequence = samples = 0
    with target.open("wb") as out:
        for payload in payloads_of(log):
            kinds = [record[0] for record in records_of(payload)]
            if kinds == [Kind.PCSAMPLE]:
                samples += copies * records_of(payload)[0][place(Kind.PCSAMPLE, "count")]
                for _ in range(copies):
                    out.write(frame(payload, sequence))
                    sequence += 1
                continue
            if Kind.CLOSELOG in kinds:
                records = records_of(payload)
                for record in records:
                    if record[0] == Kind.CLOSELOG:
                        record[place(Kind.CLOSELOG, "sample_count")] = samples
                        record[place(Kind.CLOSELOG, "frame_count")] = sequence
                payload = b"".join(msgpack.packb(record) for record in records)
            out.write(frame(payload, sequence))
            sequence += 1


def sample_count(log: Path) -> int:
    """Samples in the log."""
    return sum(record[place(Kind.PCSAMPLE, "count")] for payload in payloads_of(log) for record in records_of(payload) if record[0] == Kind.PCSAMPLE)


def main() -> None:
    """Multiply, and print how many samples there are now."""
    source, target, wanted = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    logs = [log for log in source.iterdir() if log.name != "launch.log"]
    recorded = sum(map(sample_count, logs))
    copies = max(1, round(wanted / recorded))
    for log in source.iterdir():
        if log in logs:
            multiply(log, target / log.name, copies)
        else:
            shutil.copy(log, target)
    print(recorded * copies)


main()
