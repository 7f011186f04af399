"""jit_files -- what just-in-time compilers write about their code, taken into the experiment when their process has ended

The recorder takes copies when it closes its log, but then the compiler may hold the last part in its buffers; and a process
that was killed closes nothing. So everything is looked for once more at the end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from collector.named_tuple import NamedTuple
from collector.regular_file import create_private, read_regular

_CLOCK_STEP_NS = 20_000_000  # times of files are those of the kernel's last tick
_LARGEST_BYTES = 1 << 29


class JitProcess(NamedTuple):
    """A process that may have left such files: whose it was, where it began, and when (ns since 1970)."""

    pid: int
    user_id: int
    directory: str
    begun_ns: int


def keep_jit_files(objects_path: str, processes: Iterable[JitProcess]) -> list[str]:
    """Copy the perf maps and jitdumps of the processes into `objects_path`; a sentence for each that could not be copied."""
    complaints = []
    dumps_in: dict[str, list[str]] = {}
    for process in processes:
        for path in _iter_candidates(process, dumps_in):
            try:
                _keep(path, objects_path, process)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                complaints.append(f"{path} was not copied into the experiment: {reason.lower()}")
    return complaints


def remove_v8_logs(processes: Iterable[JitProcess]) -> None:
    """Delete the logs that V8 begins in the working directory beside its perf map; for processes in which nobody but us asked for that."""
    for process in processes:
        import glob

        for path in glob.glob(os.path.join(glob.escape(process.directory), f"isolate-0x*-{process.pid}-v8.log")):
            try:
                status = os.lstat(path)
                if _is_of(process, status) and read_regular(path, _LARGEST_BYTES).startswith(b"v8-version,"):
                    os.unlink(path)
            except OSError:
                continue  # it stays, as it would have with the option itself


def _is_of(process: JitProcess, status: os.stat_result) -> bool:
    """Whether the process made the file, and not somebody else who had the same number."""
    is_its_own = stat.S_ISREG(status.st_mode) and status.st_uid == process.user_id
    return is_its_own and status.st_mtime_ns >= process.begun_ns - _CLOCK_STEP_NS


def _iter_candidates(process: JitProcess, dumps_in: dict[str, list[str]]) -> Iterator[str]:
    """Where compilers put them. The first dump that is there is the one; `dumps_in` keeps what a directory has."""
    yield f"/tmp/perf-{process.pid}.map"
    name = f"jit-{process.pid}.dump"
    places = [os.path.join(place, name) for place in (process.directory, "/tmp")]
    of_user = os.path.expanduser("~/.debug/jit")
    dumps = [place for place in places if os.path.exists(place)] or _dumps_of_threads(process, dumps_in)
    if not dumps and os.path.isdir(of_user):
        import glob  # few users have that directory

        dumps = glob.glob(os.path.join(glob.escape(of_user), "*", name))
    yield from dumps[:1]


def _dumps_of_threads(process: JitProcess, dumps_in: dict[str, list[str]]) -> list[str]:
    """Those that JavaScriptCore names jit-THREAD-PID.dump; each directory is read once."""
    for place in (process.directory, "/tmp"):
        if place not in dumps_in:
            dumps_in[place] = _names_of_dumps(place)
    ending = f"-{process.pid}.dump"
    return [os.path.join(place, name) for place in (process.directory, "/tmp") for name in dumps_in[place] if name.endswith(ending)]


def _names_of_dumps(place: str) -> list[str]:
    try:
        return [name for name in os.listdir(place) if name.startswith("jit-")]
    except OSError:
        return []


def _keep(path: str, objects_path: str, process: JitProcess) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as source:
        status = os.fstat(handle)
        if not _is_of(process, status):
            return
        if status.st_size > _LARGEST_BYTES:
            raise ValueError(f"it has more than {_LARGEST_BYTES >> 20} MiB")
        target = os.path.join(objects_path, os.path.basename(path))
        if _size(target) == status.st_size:
            return
        import shutil  # brings three ways of compression with it, and few programs leave such files

        os.makedirs(objects_path, mode=0o700, exist_ok=True)
        new = f"{target}.new"
        try:
            with open(create_private(new), "wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
            os.replace(new, target)
        except OSError:
            if os.path.exists(new):
                os.unlink(new)
            raise


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None
