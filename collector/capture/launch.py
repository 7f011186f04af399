"""launch -- start a program as a shell would, wait for it, and be transparent to signals and job control

While the program runs, all signals are blocked here and taken one by one, so that nothing races:
signals that another process sent to us are passed on; those of the terminal have reached the program
already, because it is in our process group. If the terminal stops the program, we stop as well,
so that the shell sees its job stopped.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from collector.capture.ignored_signals import signals_to_default
from collector.named_tuple import NamedTuple

_STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_NOT_PASSED_ON = {signal.SIGCHLD, *_STOPS} - {signal.SIGTSTP}


class StartError(Exception):
    """No process could be made, or execve failed; `errno` says why."""

    def __init__(self, errno: int) -> None:
        super().__init__(os.strerror(errno))
        self.errno = errno


class Child(NamedTuple):
    """A program that was started, and the signals that were blocked before."""

    pid: int
    mask: frozenset[int]


class Ending(NamedTuple):
    """How a program ended: its process, its wait status, and when (ns of CLOCK_MONOTONIC)."""

    pid: int
    status: int
    time_ns: int

    @property
    def exit_status(self) -> int:
        """What it exited with; -n if signal n killed it."""
        return os.waitstatus_to_exitcode(self.status)


def start(
    path: str, arguments: Sequence[str], environment_of: Callable[[int], Mapping[str, str]], prepare: Callable[[int], None] | None = None
) -> Child:
    """Run `path` in a new process with the environment that `environment_of` gives for its pid.

    Before it becomes the program, the process waits until `prepare` has come back, which is given its pid.
    Signal mask and dispositions are those that we were started with, as far as they are known. StartError if it cannot be run.
    From here on all signals are blocked in this thread, until `restore_signals`.
    """
    defaults = signals_to_default()
    # Where SIGCHLD is ignored, children vanish without a status.
    ignores_children = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = frozenset(int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()))
    try:
        pid, ((reading, writing), *gates) = _fork(2 if prepare else 1)
    except StartError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    gate = gates[0] if gates else None
    if pid == 0:
        for number in defaults:
            signal.signal(number, signal.SIG_DFL)
        if ignores_children:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        if gate:
            _pass(*gate)
        _become(path, arguments, environment_of, mask, writing)
    os.close(writing)
    if gate and prepare:
        _open_when_ready(gate, lambda: prepare(pid))
    with open(reading, "rb") as pipe:
        failure = pipe.read()
    if failure:
        os.waitpid(pid, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise StartError(int(failure))
    return Child(pid, mask)


def _fork(pipe_count: int) -> tuple[int, list[tuple[int, int]]]:
    """Make a process, and pipes to it that are not inherited across exec: one closes without a word when that succeeds."""
    pipes: list[tuple[int, int]] = []
    try:
        for _ in range(pipe_count):
            pipes.append(os.pipe())
        return os.fork(), pipes
    except OSError as error:  # descriptors or processes are limited
        for end in (end for pipe in pipes for end in pipe):
            os.close(end)
        raise StartError(error.errno or 0) from None


def _pass(gate: int, other_end: int) -> None:
    """Wait until the parent opens the gate; without a parent there is nothing to be run."""
    os.close(other_end)
    if not os.read(gate, 1):
        os._exit(127)


def _open_when_ready(gate: tuple[int, int], prepare: Callable[[], None]) -> None:
    os.close(gate[0])
    try:
        prepare()
        os.write(gate[1], b"1")
    finally:
        os.close(gate[1])


def _become(
    path: str, arguments: Sequence[str], environment_of: Callable[[int], Mapping[str, str]], mask: frozenset[int], writing: int
) -> None:
    failure = 0
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        environment = environment_of(os.getpid())
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execve(path, list(arguments), dict(environment))
    except OSError as error:
        failure = error.errno or 0
    finally:
        os.write(writing, str(failure).encode())
        os._exit(127)


def wait(
    child: Child,
    interval_ns: int | None,
    on_interval: Callable[[], None],
    on_end: Callable[[], None],
    is_recorded: Callable[[int], bool] = lambda pid: False,
) -> Ending:
    """Wait until the program has ended; call `on_interval` as often as asked, and `on_end` before its last traces are gone.

    `on_end` finds the process dead but still in the process table, so that its accounts can be read. Signals of others are passed on. What the
    program and its descendants send has reached whom it was meant for, as we are in their process group: `is_recorded` knows those that have ended.
    """
    awaited = signal.valid_signals()
    next_ns = time.monotonic_ns() + interval_ns if interval_ns else None
    while not _has_ended(child.pid):
        info = _take_signal(awaited, next_ns)
        if info is not None:
            _handle(info, child.pid, is_recorded)
        if next_ns is not None and interval_ns is not None and time.monotonic_ns() >= next_ns:
            on_interval()
            next_ns += interval_ns * (1 + (time.monotonic_ns() - next_ns) // interval_ns)
    time_ns = time.monotonic_ns()
    on_end()
    _, status = os.waitpid(child.pid, 0)
    return Ending(child.pid, status, time_ns)


def restore_signals(child: Child) -> None:
    """Take signals again as before `start`. Those that came meanwhile were for the program, or of its own making."""
    while signal.sigtimedwait(signal.valid_signals(), 0) is not None:
        pass
    signal.pthread_sigmask(signal.SIG_SETMASK, child.mask)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _take_signal(awaited: set[signal.Signals], until_ns: int | None) -> signal.struct_siginfo | None:
    if until_ns is None:
        return signal.sigwaitinfo(awaited)
    return signal.sigtimedwait(awaited, max(0, until_ns - time.monotonic_ns()) / 1e9)


def _handle(info: signal.struct_siginfo, pid: int, is_recorded: Callable[[int], bool]) -> None:
    if info.si_signo == signal.SIGCHLD:
        _follow_stop(pid)
    elif _is_from_a_process(info) and info.si_signo not in _NOT_PASSED_ON and not (is_recorded(info.si_pid) or _descends(info.si_pid, pid)):
        if info.si_signo != signal.SIGCONT or _is_stopped(pid):
            with suppress(OSError):  # one that cannot be passed on does not end the recording
                os.kill(pid, info.si_signo)


def _is_from_a_process(info: signal.struct_siginfo) -> bool:
    # The kernel's own, such as those of the terminal, have codes above 0.
    return info.si_code <= 0


def _follow_stop(pid: int) -> None:
    try:
        stopped = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:
        return  # it has ended instead
    # Someone who stops the program by SIGSTOP means the program alone.
    if stopped is not None and stopped.si_status in _STOPS:
        os.kill(os.getpid(), signal.SIGSTOP)


def _descends(pid: int, ancestor: int) -> bool:
    """Say whether a process is `ancestor` or was made by it or its descendants. Those whose parents have ended are not known."""
    while pid not in (0, ancestor):
        fields = _stat(pid)
        pid = int(fields[1]) if fields else 0
    return pid == ancestor


def _is_stopped(pid: int) -> bool:
    return _stat(pid)[:1] == [b"T"]


def _stat(pid: int) -> list[bytes]:
    """Give what /proc tells of a process, from its state on. Empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
