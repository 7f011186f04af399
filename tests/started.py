"""started -- `collector` commands without the start of an interpreter: forked from a process that has imported what they need

Python's start and its imports are most of what a short command costs, and tests run thousands of them. What comes after is
the same: a process of its own, with the environment, directory, standard streams and exit of `python -m collector`. Tests
of the start itself run the command; COLLECTOR_TEST_THOROUGH does so everywhere.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

COLLECTOR = [sys.executable, "-m", "collector"]
_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("collector.analysis", "collector.cli", "collector.capture", "collector.experiment", "collector.load", "collector.profile", "collector.reports", "collector.symbols", "collector.target", "elftools.elf")
_MOST_BYTES = 100_000  # of a request, which is one message
_READ_AT_START = re.compile("PYTHON|LD_|LC_|LANG|TZ$|MALLOC_|GLIBC_")
"""Variables that say how an interpreter starts, or what runs it."""


class Ended:
    """What came of a command; `usage_ns` is the CPU time of it and of what it waited for."""

    def __init__(self, returncode: int, usage_ns: int, stdout: bytes, stderr: bytes) -> None:
        self.returncode = returncode
        self.usage_ns = usage_ns
        self.stdout = stdout
        self.stderr = stderr


class Starter:
    """A process that forks commands, with the environment that this one has now."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._environment = dict(os.environ)
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = [sys.executable, __file__, str(other.fileno())]
            environment = {**self._environment, "LC_ALL": "C.UTF-8"}
            self._process = subprocess.Popen(command, pass_fds=[other.fileno()], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self._socket.close)

    def begins_as_now(self) -> bool:
        """Whether an interpreter that this process started would begin as this one's did."""
        return begins_alike(self._environment, os.environ)

    def can_start(self, words: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether a command in this environment begins as all others do, and can be told in a message."""
        return begins_alike({**self._environment, "LC_ALL": "C.UTF-8"}, environment) and sum(map(len, (*words, *environment, *environment.values()))) < _MOST_BYTES

    def run(self, words: Sequence[str], environment: Mapping[str, str], directory: str, timeout_s: float) -> Ended:
        """Run `collector WORDS` to its end, with nothing on its standard input. subprocess.TimeoutExpired, and it is killed, if that takes too long."""
        umask = re.search(r"^Umask:\s*(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
        request = {"words": list(words), "environment": dict(environment), "directory": directory, "umask": int(umask[1], 8) if umask else 0o022}
        pipes = [os.pipe() for _ in range(3)]
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode("utf-8", "surrogateescape")], [writing for _, writing in pipes])
        finally:
            for _, writing in pipes:
                os.close(writing)
        texts, is_over = _read_all([reading for reading, _ in pipes], time.monotonic() + timeout_s)
        if is_over:
            os.kill(int(texts[2].split()[0]), signal.SIGKILL)
            raise subprocess.TimeoutExpired(["collector", *words], timeout_s, texts[0], texts[1])
        _, status, usage_ns = map(int, texts[2].split())
        return Ended(status, usage_ns, texts[0], texts[1])


def _read_all(readings: list[int], until: float) -> tuple[list[bytes], bool]:
    """What comes from pipes until all are closed, and whether the time was over first."""
    texts = {reading: bytearray() for reading in readings}
    with select.epoll() as poll:
        for reading in readings:
            poll.register(reading, select.EPOLLIN)
        open_count = len(readings)
        while open_count and (left := until - time.monotonic()) > 0:
            for reading, _ in poll.poll(left):
                data = os.read(reading, 1 << 16)
                texts[reading] += data
                if not data:
                    poll.unregister(reading)
                    open_count -= 1
    for reading in readings:
        os.close(reading)
    return [bytes(text) for text in texts.values()], open_count > 0


def begins_alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether an interpreter begins in both environments in the same way."""
    return all(one.get(name) == other.get(name) for name in {*one, *other} if _READ_AT_START.match(name))


_lock = threading.Lock()
_starters: list[Starter] = []


def starter() -> Starter:
    """The one of this process for what is in its environment now: that may differ from one folder's tests to another's."""
    with _lock:
        for one in _starters:
            if one.pid == os.getpid() and one.begins_as_now():
                return one
        _starters.append(Starter())
        return _starters[-1]


def import_commands() -> None:
    """Import what commands need, so that processes forked later have it."""
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, name + "."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def become(words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Be `python -m collector WORDS` from here on, in a process that was forked for it: its standard streams are in place."""
    status = 1
    try:
        atexit._clear()
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [str(_ROOT / "collector" / "__main__.py"), *words]
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        for number, action in ((signal.SIGPIPE, signal.SIG_IGN), (signal.SIGXFSZ, signal.SIG_IGN), (signal.SIGINT, signal.default_int_handler)):
            signal.signal(number, action)
        try:
            status = importlib.import_module("collector.cli.main").main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        threading._shutdown()  # type: ignore[attr-defined]  # as an interpreter ends
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(importlib.import_module("collector.cli.main").end_by_signal(status))


def _serve(requests: socket.socket) -> None:
    """Fork what is asked for, until nobody asks any more."""
    answers: dict[int, int] = {}
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            os.read(woken, 1 << 12)
            _answer(answers)
        if requests in ready:
            text, descriptors, _, _ = socket.recv_fds(requests, 2 * _MOST_BYTES, 3)
            if not text:
                return
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _begin(json.loads(text.decode("utf-8", "surrogateescape")), descriptors)
            answers[pid] = descriptors[2]
            os.write(descriptors[2], b"%d " % pid)
            for descriptor in descriptors[:2]:
                os.close(descriptor)


def _begin(request: dict, descriptors: list[int]) -> NoReturn:
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate([nothing, *descriptors[:2]]):
            os.dup2(descriptor, number)
        os.closerange(3, 256)
        os.chdir(request["directory"])
        os.umask(request["umask"])
    except BaseException:
        os._exit(127)
    become(request["words"], request["environment"])


def _answer(answers: dict[int, int]) -> None:
    """Tell what came of those that have ended."""
    while answers:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if pid == 0:
            return
        out = answers.pop(pid)
        os.write(out, b"%d %d" % (os.waitstatus_to_exitcode(status), round((usage.ru_utime + usage.ru_stime) * 1e9)))
        os.close(out)


if __name__ == "__main__":
    own = socket.socket(fileno=int(sys.argv[1]))
    own.set_inheritable(False)
    sys.path[0] = str(_ROOT)
    import_commands()
    _serve(own)
