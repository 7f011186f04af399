"""soaking -- run soak.c natively and recorded, watch the launcher meanwhile, and say what is not as it should be

What may grow, and by how much: the medians of the second sixth of a run and of its last sixth are compared, so that what a start
touches is not counted, and a single sample that fell into a busy moment does not judge.

- Descriptors, files in /dev/shm and temporary files: not at all, they are counted at rest.
- Mappings: by a few, because a window of the log splits or joins its neighbours; a leak has hundreds of turns.
- The program's own memory (RssAnon): by no more than the recorder's tables can still take. They are fixed in size and become
  resident as they are first written: what the second sixth has more than a native run is there already. The rest is about a
  megabyte: 400 bytes a thread in 20 seconds, 10 bytes in ten minutes, a page every third turn in the shortest run.
- Pages of files (VmRSS less RssAnon): a window of the log at most, which the kernel can take back at any time.
- The launcher: its own memory by 64 KiB for every 100 processes, of which it remembers something, and 256 KiB for the allocator.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

WINDOW_KIB = 4096
"""A log is mapped in windows of this size."""

PERIOD = "250u"
FEW_MAPPINGS = 4
LAUNCHER_KIB, LAUNCHER_KIB_A_PROCESS = 256, 0.64
WATCHED_S = 0.2


class CannotSoak(Exception):
    """This system does not allow a part of it; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a process held at one moment; KiB and counts."""

    own: int
    resident: int
    mappings: int
    descriptors: int
    shared_files: int = 0
    temporary_files: int = 0


@dataclass(slots=True)
class Soaked:
    """What came of one run."""

    status: int
    stdout: str
    stderr: str
    experiment: Path
    samples: list[Sizes] = field(default_factory=list)
    launcher: list[Sizes] = field(default_factory=list)

    def number(self, name: str) -> int:
        """A count that the program printed at its end; -1 if it did not."""
        found = [line.split()[1] for line in self.stdout.splitlines() if line.startswith(name + " ")]
        return int(found[0]) if found else -1


def build(folder: Path) -> tuple[Path, Path]:
    """Compile the program and the library that it loads."""
    program, library = folder / "soak", folder / "libsoaked.so"
    include = [f"-I{ROOT}/libcollector_c/include", f"-I{ROOT}/tests/targets"]
    subprocess.run(["gcc", "-O2", "-g", *include, "-pthread", HERE / "soak.c", "-o", program], check=True)
    subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", *include, HERE / "soaked_library.c", "-o", library], check=True)
    return program, library


@contextmanager
def small_disk(place: Path, mib: int = 4) -> Iterator[Path]:
    """A file system that gets full; CannotSoak where one may not mount."""
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", place], capture_output=True, text=True)
    if made.returncode != 0:
        raise CannotSoak(f"a small disk needs the right to mount: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def _own_shared_memory() -> list[str]:
    """Words before a command that give it a /dev/shm of its own, so that nobody else's files are counted; none where that is not allowed."""
    words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return words if allowed else []


def soak(folder: Path, seconds: float, recorded: bool = True, experiment: Path | None = None, filler: Path | None = None) -> Soaked:
    """Run the program for so long; with `filler` the disk of that file is full for half of the time."""
    program, library = build(folder)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    experiment = experiment or folder / "soak.expt"
    command: list[object] = [program, round(seconds * 1000), library, temporary, *([filler] if filler else [])]
    if recorded:
        command = [*_own_shared_memory(), sys.executable, "-m", "collector", "record", "-p", PERIOD, "-O", experiment, "--", *command]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": path}
    with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
        process = subprocess.Popen([str(word) for word in command], env=environment, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        launcher = _watch(process, folder / "stdout", 3 * seconds + 60)
        texts = [Path(file.name).read_text() for file in (out, err)]
    lines = (line.split() for line in texts[0].splitlines() if line.startswith("sizes "))
    return Soaked(process.returncode, *texts, experiment, [Sizes(*map(int, words[2:])) for words in lines], launcher)


def _watch(process: subprocess.Popen, output: Path, limit_s: float) -> list[Sizes]:
    """Wait for a process; how large it was between the program's first line and its last, which is when the launcher has begun and does not read yet."""
    seen: list[Sizes] = []
    begun = time.monotonic()
    while True:
        try:
            process.wait(WATCHED_S)
            return seen
        except subprocess.TimeoutExpired:
            lines = output.read_text()
            if lines and "\nturns " not in lines:
                seen += _sizes_of(process.pid)
        if time.monotonic() - begun > limit_s:
            process.kill()
            process.wait()
            raise TimeoutError(f"the program did not end within {limit_s:.0f} s")


def _sizes_of(pid: int) -> list[Sizes]:
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        mappings = Path(f"/proc/{pid}/maps").read_text().count("\n")
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return []
    if "VmRSS" not in status:
        return []
    own, resident = (int(status[name].split()[0]) for name in ("RssAnon", "VmRSS"))
    return [Sizes(own, resident, mappings, descriptors)]


def growth(samples: Sequence[Sizes], name: str) -> float:
    """By how much the last sixth exceeds the second."""
    sixth = max(1, len(samples) // 6)
    values = [getattr(sample, name) for sample in samples]
    return median(values[-sixth:]) - median(values[sixth : 2 * sixth])


def tables_kib(recorder: Path) -> float:
    """The recorder's own writable memory: what can become resident of its tables."""
    with recorder.open("rb") as file:
        parts = [part for part in ELFFile(file).iter_segments("PT_LOAD") if part["p_flags"] & 2]
        return sum(part["p_memsz"] for part in parts) / 1024


def _touched_kib(native: Soaked, run: Soaked) -> float:
    """What of the tables is resident in the second sixth of a run."""
    sixth = max(1, len(run.samples) // 6)
    return median(sample.own for sample in run.samples[sixth : 2 * sixth]) - native.samples[-1].own


def find_harm(native: Soaked, recorded: Soaked) -> list[str]:
    """What the program showed that it does not show natively."""
    found = []
    for which, run in (("natively", native), ("recorded", recorded)):
        bad = [line for line in run.stdout.splitlines() if line.startswith("not as it must be")]
        if run.status != 0 or bad:
            found.append(f"{which} it ended with status {run.status}: {'; '.join(bad) or run.stderr.strip()[-300:]}")
    foreign = [line for line in recorded.stderr.splitlines() if not line.startswith("collector: ")]
    if foreign:
        found.append(f"standard error has {foreign[:3]}")
    return found


def find_growth(native: Soaked, run: Soaked, recorder: Path) -> list[str]:
    """What a recorded run holds more of at its end."""
    allowed = {
        "own": tables_kib(recorder) - _touched_kib(native, run), "mappings": FEW_MAPPINGS, "descriptors": 0, "shared_files": 0, "temporary_files": 0,
    }
    own_kib = LAUNCHER_KIB + LAUNCHER_KIB_A_PROCESS * run.number("children")
    launcher = {"own": own_kib, "mappings": FEW_MAPPINGS, "descriptors": 2}
    if not _own_shared_memory():
        del allowed["shared_files"]
    found = [
        f"{who}: {name} grew by {growth(samples, name):g}, {limit:.0f} allowed"
        for who, samples, limits in (("the program", run.samples, allowed), ("the launcher", run.launcher, launcher))
        for name, limit in limits.items()
        if growth(samples, name) > limit
    ]
    pages = [sample.resident - sample.own for sample in run.samples]
    if max(pages) - min(pages) > WINDOW_KIB + 1024:
        found.append(f"the program: {max(pages) - min(pages)} KiB more of files are resident, a window has {WINDOW_KIB}")
    return found


def describe(run: Soaked) -> list[str]:
    """The sizes of a run, for people."""
    lines = []
    for who, samples in (("program", run.samples), ("launcher", run.launcher)):
        names = [name for name in Sizes.__slots__ if samples and max(getattr(sample, name) for sample in samples)]
        texts = (f"{name} {median(getattr(sample, name) for sample in samples):g} ({growth(samples, name):+g})" for name in names)
        lines.append(f"{who:10}{len(samples):5} looks: {', '.join(texts)}")
    lines.append(", ".join(f"{run.number(name)} {name}" for name in ("turns", "threads", "children", "killed")))
    return lines
