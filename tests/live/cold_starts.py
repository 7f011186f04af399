"""cold_starts -- start a program again and again with its file out of the page cache, recorded, and count what fails

    python tests/live/cold_starts.py [-n COUNT] [PROGRAM ARG...]

The program (default: node with a short script) must end with status 0 and its plain run's output each time. Half of the
runs are at 941 Hz, half at `-p hi`. Exit status 1 if any failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NODE = ("node", "-e", "let s = 0; for (let i = 0; i < 1e6; i++) s = (s + i * i) % 1000003; console.log(s)")


@dataclass(frozen=True, slots=True)
class Start:
    """One start: how often it was to be sampled, and what was wrong with it, "" if nothing was."""

    period: str
    fault: str


def evict(path: str) -> None:
    """Have the kernel forget the file's pages, as far as nobody else has them mapped."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def start_cold(command: Sequence[str], count: int) -> list[Start]:
    """Start the command `count` times recorded, each time cold."""
    executable = os.path.realpath(shutil.which(command[0]) or command[0])
    plain = subprocess.run(command, capture_output=True, check=True).stdout
    starts = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(count):
            period = ("on", "hi")[number % 2]
            experiment = Path(directory) / f"{number}.expt"
            words = [sys.executable, "-m", "collector", "record", "-p", period, "-o", str(experiment), "--", *command]
            evict(executable)
            done = subprocess.run(words, capture_output=True)
            fault = f"status {done.returncode}" if done.returncode else "" if done.stdout == plain else "other output"
            starts.append(Start(period, f"{fault}: {done.stderr.decode()}" if fault else ""))
            shutil.rmtree(experiment, ignore_errors=True)
    return starts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--count", type=int, default=100)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    starts = start_cold(arguments.command or NODE, arguments.count)
    for period in ("on", "hi"):
        chosen = [start for start in starts if start.period == period]
        print(f"-p {period}: {sum(bool(start.fault) for start in chosen)} of {len(chosen)} failed")
    print("".join(f"{start.fault}\n" for start in starts if start.fault), end="")
    return int(any(start.fault for start in starts))


if __name__ == "__main__":
    sys.exit(main())
