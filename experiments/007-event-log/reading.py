"""reading -- how fast is an event log read: pmclog_read, collector's Python reader, and perf on the same samples

    python reading.py SECONDS, as run.py does, in an environment that has msgpack; prints the lines of the result

perf records the workload; its samples are written into a log of our format, 1000 a frame; then every reader reads its own file.
All figures are CPU time (user and system) of one run after a first that warms the cache, median of several.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "unit" / "experiment")]

import writer  # noqa: E402

from collector.experiment.log_reader import EventReader  # noqa: E402

SAMPLES_OF_FRAME = 1000
FEW_STACKS = 40
AIMED_SAMPLES = 3_000_000
HEAD = re.compile(r"\s*(\d+)\s+(\d+)\.(\d+):")

Sample = tuple[int, tuple[int, ...]]


def compile_program(source: Path, output: Path, *more: str) -> Path:
    """The program, optimised."""
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", str(source), *more, "-o", str(output)], check=True)
    return output


def samples_of_perf(data: Path) -> dict[int, list[Sample]]:
    """Per thread: (time in ns, addresses leaf first), as perf script tells them."""
    threads: dict[int, list[Sample]] = defaultdict(list)
    command = ["perf", "script", "-i", str(data), "-F", "tid,time,ip", "--ns"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for paragraph in text.strip("\n").split("\n\n"):
        head, *chain = paragraph.splitlines()
        match = HEAD.match(head)
        assert match, paragraph
        moment = int(match[2]) * 10**9 + int(match[3].ljust(9, "0"))
        threads[int(match[1])].append((moment, tuple(int(line, 16) for line in chain)))
    return threads


def frames_of(threads: dict[int, list[Sample]], most_stacks: int = SAMPLES_OF_FRAME) -> list[bytes]:
    """PCSAMPLE payloads. With no more than `most_stacks` different stacks a frame: the samples beyond take one of those."""
    payloads = []
    for thread, samples in threads.items():
        for first in range(0, len(samples), SAMPLES_OF_FRAME):
            part = samples[first : first + SAMPLES_OF_FRAME]
            places: dict[tuple[int, ...], int] = {}
            rows, before = [], part[0][0]
            for moment, chain in part:
                delta = (moment - before) // 1000
                before += 1000 * delta
                place = len(rows) % most_stacks if len(places) == most_stacks else places.setdefault(chain, len(places))
                rows.append((delta, delta, 0, place))
            payloads.append(writer.samples(part[0][0], thread, rows, [(chain, 0) for chain in places]))
    return payloads


def write_log(path: Path, payloads: list[bytes], copies: int) -> None:
    """The payloads so many times over in one log."""
    log = writer.LogBuilder().add(writer.initialize())
    for _ in range(copies):
        for payload in payloads:
            log.add(payload)
    path.write_bytes(log.data)


def cpu_seconds_of(command: list[str], rounds: int) -> float:
    """Median CPU time of the command."""
    taken = []
    for _ in range(rounds + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(taken[1:])


def cpu_seconds_in_python(read: Callable[[], object], rounds: int = 5) -> float:
    """Median CPU time of the call."""
    taken = []
    for _ in range(rounds + 1):
        start = time.process_time()
        read()
        taken.append(time.process_time() - start)
    return statistics.median(taken[1:])


def read_objects(log: Path) -> int:
    """Every event as a value."""
    return sum(1 for _ in EventReader(log))


def read_blocks(log: Path) -> int:
    """Every sample as part of a block, with the block's CPU time added up."""
    return sum(len(block) + 0 * block.user_ns for block in EventReader(log).blocks())


def read_in_c(program: Path, log: Path) -> tuple[int, int, float]:
    """Samples, frames of all stacks, and nanoseconds a sample."""
    words = subprocess.run([program, log, "9"], check=True, capture_output=True, text=True).stdout.split()
    return int(words[0]), int(words[1]), float(words[2])


def measure(seconds: str, scratch: Path) -> list[str]:
    """The lines of result.txt."""
    workload = compile_program(HERE / "workload.c", scratch / "workload", "-pthread", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    native = ROOT / "libcollector_c"
    sources = [str(source) for source in sorted((native / "pmclog").glob("*.c"))]
    read_speed = compile_program(HERE / "read_speed.c", scratch / "read_speed", *sources, f"-I{native / 'include'}", f"-I{native / 'src'}")
    data = scratch / "perf.data"
    record = ["perf", "record", "-q", "-e", "task-clock:u", "-F", "20000", "-g", "-o", str(data), str(workload), seconds]
    subprocess.run(record, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    threads = samples_of_perf(data)
    payloads = frames_of(threads)
    recorded = sum(map(len, threads.values()))
    stacks = {chain for samples in threads.values() for _, chain in samples}
    copies = -(-AIMED_SAMPLES // recorded)
    log = scratch / "1.0.log"
    write_log(log, payloads, copies)
    few = scratch / "2.0.log"
    write_log(few, frames_of(threads, FEW_STACKS), copies)
    samples, frames, nanoseconds = read_in_c(read_speed, log)
    few_samples, _, few_nanoseconds = read_in_c(read_speed, few)
    assert samples == few_samples == recorded * copies
    stacks_of_frame = [block.stack_count for block in EventReader(log).blocks()]
    lines = [
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"{subprocess.run(['perf', '--version'], capture_output=True, text=True).stdout.strip()}",
        f"{recorded} samples recorded by perf, {frames / samples:.1f} frames deep, {len(stacks)} different stacks, "
        f"{statistics.mean(stacks_of_frame):.0f} a frame of {SAMPLES_OF_FRAME}; {copies} times over in the log",
        f"bytes a sample: log {log.stat().st_size / samples:.1f}, perf.data {data.stat().st_size / recorded:.1f}",
        "",
        f"{'reader':44}{'million samples/s':>18}{'pmclog_read is':>18}",
    ]
    rates = {
        "C: pmclog_read, every sample with its chain": 1e3 / nanoseconds,
        f"the same with {FEW_STACKS} different stacks a frame": 1e3 / few_nanoseconds,
        "Python: EventReader.blocks(), columns": samples / cpu_seconds_in_python(lambda: read_blocks(log)) / 1e6,
        "Python: EventReader, one object a sample": samples / cpu_seconds_in_python(lambda: read_objects(log)) / 1e6,
        "perf report --no-children": recorded / cpu_seconds_of(["perf", "report", "--stdio", "--no-children", "-g", "none", "-i", str(data)], 3) / 1e6,
        "perf report": recorded / cpu_seconds_of(["perf", "report", "--stdio", "-g", "none", "-i", str(data)], 3) / 1e6,
        "perf script -F tid,time,ip": recorded / cpu_seconds_of(["perf", "script", "-F", "tid,time,ip", "-i", str(data)], 3) / 1e6,
    }
    fastest = next(iter(rates.values()))
    return lines + [f"{name:44}{rate:18.2f}{fastest / rate:11.1f} times" for name, rate in rates.items()]


def main() -> None:
    """Measure and print."""
    if not shutil.which("perf"):
        sys.exit("perf is not here: it records the samples that all readers read.")
    with tempfile.TemporaryDirectory() as scratch:
        print("\n".join(measure(sys.argv[1], Path(scratch))))


if __name__ == "__main__":
    main()
