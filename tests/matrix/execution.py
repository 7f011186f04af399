"""execution -- run a command once, plain or recorded, and keep all that can be seen of it from outside

Each run has a keeper: a forked process that becomes the reaper of everything the command leaves behind, waits for it,
and ends it when the time is over. So nothing of a case, however it hides, outlives its run.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import resource
import select
import shutil
import signal
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from started import COLLECTOR, become, begins_alike, import_commands

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None)
_GRACE_S = 5  # how long what was left behind may go on after the command has ended
_BIG_BYTES = 32 << 20  # of a bigger file the size is enough
_OWN_WORDS = re.compile(r"collector: [^\n]*\n")

_usual_environment: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed: `status` as a shell gives it, `files` the traces it left in its directory."""

    status: int | str
    stdout: str
    stderr: str
    files: dict[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()  # the sentences of `collector record`
    cpu_ns: int = 0
    wall_ns: int = 0
    was_stopped: bool = False  # it, or what it left behind, had to be ended

    def shown(self) -> dict[str, object]:
        """What must be the same recorded or not."""
        return {"status": self.status, "stdout": self.stdout, "stderr": self.stderr, "files": self.files}


def fork_commands(environment: Mapping[str, str]) -> None:
    """From here on fork `collector` commands from this process, where their interpreter would begin as in this environment."""
    import_commands()
    global _usual_environment
    _usual_environment = environment


def run(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, timeout_s: float, scrubs: Sequence[tuple[str, str]] = ()
) -> Outcome:
    """Run a command in `directory` with nothing on its standard input."""
    pipes = [os.pipe() for _ in range(3)]  # its output, its errors, the keeper's result
    start_ns = time.monotonic_ns()
    keeper = os.fork()
    if keeper == 0:
        _keep(command, environment, directory, pipes)
    for _, writing in pipes:
        os.close(writing)
    texts, is_over = _read_all([reading for reading, _ in pipes], keeper, start_ns + round(timeout_s * 1e9))
    os.waitpid(keeper, 0)
    wall_ns = time.monotonic_ns() - start_ns
    result = json.loads(texts[2] or b'{"status": "nobody knows", "cpu_ns": 0, "left": 0}')
    stdout, stderr = (_readable(text, scrubs) for text in texts[:2])
    return Outcome(
        "hangs" if is_over else result["status"],
        stdout,
        _OWN_WORDS.sub("", stderr),
        _traces(directory, scrubs),
        tuple(words.strip()[len("collector: ") :] for words in _OWN_WORDS.findall(stderr)),
        result["cpu_ns"],
        wall_ns,
        is_over or bool(result["left"]),
    )


def _keep(command: Sequence[str], environment: Mapping[str, str], directory: Path, pipes: Sequence[tuple[int, int]]) -> None:
    """The keeper's life; never returns."""
    try:
        stopped = False
        told_by = {signal.SIGCHLD, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, told_by)
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        child = os.fork()
        if child == 0:
            _become(command, environment, directory, pipes)
        for _, writing in pipes[:2]:
            os.close(writing)
        status, left, until = None, 0, None
        while True:
            pid, ended, _usage = os.wait4(-1, os.WNOHANG) if _has_children() else (-1, 0, None)
            if pid == child:
                status = os.waitstatus_to_exitcode(ended)
                until = time.monotonic() + _GRACE_S
            if pid == -1:
                break
            if pid == 0:
                if stopped or (until is not None and time.monotonic() > until):
                    left += _end_all()
                woken = signal.sigtimedwait(told_by, 0.002 if stopped else 0.1)
                stopped = stopped or (woken is not None and woken.si_signo == signal.SIGTERM)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = {
            "status": None if status is None else status if status >= 0 else 128 - status,
            "cpu_ns": round((usage.ru_utime + usage.ru_stime) * 1e9),
            "left": left,
        }
        os.write(pipes[2][1], json.dumps(result).encode())
    finally:
        os._exit(0)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _end_all() -> int:
    """Kill all descendants that are there now; their number."""
    victims, pending = [], [os.getpid()]
    while pending:
        pid = pending.pop()
        try:
            children = [int(word) for task in os.listdir(f"/proc/{pid}/task") for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
        except OSError:
            continue
        victims += children
        pending += children
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return len(victims)


def _become(command: Sequence[str], environment: Mapping[str, str], directory: Path, pipes: Sequence[tuple[int, int]]) -> None:
    try:
        os.setsid()
        os.chdir(directory)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(pipes[0][1], 1)
        os.dup2(pipes[1][1], 2)
        os.closerange(3, 256)
        os.umask(0o022)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if _usual_environment and list(command[: len(COLLECTOR)]) == COLLECTOR and begins_alike(_usual_environment, environment):
            become(command[len(COLLECTOR) :], environment)
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def _read_all(readings: Sequence[int], keeper: int, until_ns: int) -> tuple[list[bytes], bool]:
    texts: dict[int, list[bytes]] = {reading: [] for reading in readings}
    open_ones, is_over = set(readings), False
    while open_ones:
        left_s = (until_ns - time.monotonic_ns()) / 1e9
        if left_s <= 0 and not is_over:
            is_over = True
            os.kill(keeper, signal.SIGTERM)
        ready, _, _ = select.select(list(open_ones), [], [], max(0.05, left_s))
        for reading in ready:
            data = os.read(reading, 1 << 16)
            texts[reading].append(data)
            if not data:
                open_ones.remove(reading)
                os.close(reading)
    return [b"".join(texts[reading]) for reading in readings], is_over


def _readable(data: bytes, scrubs: Sequence[tuple[str, str]]) -> str:
    text = data.decode("utf-8", "backslashreplace")
    for pattern, replacement in scrubs:
        text = re.sub(pattern, replacement, text)
    return text


def _traces(directory: Path, scrubs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Each file below a directory with its kind, permissions and content."""
    traces = {}
    for root, folders, names in os.walk(directory):
        for name in (*folders, *names):
            path = Path(root, name)
            about = path.lstat()
            text = stat.filemode(about.st_mode)
            if stat.S_ISREG(about.st_mode) and about.st_size > _BIG_BYTES:
                text += f" {about.st_size} bytes"
            elif stat.S_ISREG(about.st_mode):
                content = path.read_bytes()
                if scrubs:
                    content = _readable(content, scrubs).encode()
                text += f" {len(content)} bytes {hashlib.sha256(content).hexdigest()[:12]}"
            elif stat.S_ISLNK(about.st_mode):
                text += f" to {os.readlink(path)}"
            traces[str(path.relative_to(directory))] = text
    return traces


def empty(directory: Path) -> None:
    """Make a directory anew, with nothing in it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    directory.chmod(0o755)
