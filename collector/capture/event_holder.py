"""event_holder -- the socket at which recorded processes hand over their perf events, and the thread that takes them

The other side is libcollector_c/src/target/launcher.c. A process connects, sends one packet and goes on: the kernel keeps
the packet and the event until we take them, so that nobody waits for us. A process that finds no socket keeps its event
itself, and one whose event we have closed, because we were killed, opens another one.
"""

from __future__ import annotations

import os
import resource
import select
import struct
from _socket import (
    AF_UNIX,
    CMSG_SPACE,
    MSG_CMSG_CLOEXEC,
    MSG_DONTWAIT,
    SCM_RIGHTS,
    SO_PEERCRED,
    SOCK_CLOEXEC,
    SOCK_NONBLOCK,
    SOCK_SEQPACKET,
    SOL_SOCKET,
    socket as Socket,  # the module around it takes 3 ms to import, which everyone would wait for
)
from _thread import allocate_lock, start_new_thread  # for the same reason
from contextlib import suppress

from collector.capture.descendants import read_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType

    from collector.capture.held_events import HeldEvents

SOCKET_FILE = "launcher.socket"
_BACKLOG = 4096
_REQUEST = struct.Struct("=16sIIII")  # token, kind, process, thread, use
_HOLD, _RELEASE, _SUSPEND, _NO_LOG, _CLOSE = range(1, 6)
_CREDENTIALS = struct.Struct("=iII")
_SPARE_DESCRIPTORS = 128  # for everything else that the launcher does
_PAUSE_MS = 10  # between looks: to be woken by every process of a make would cost those processes time
_ANSWERED_AT_ONCE = "!"  # behind the abstract name: requests for which a process waits
_PATIENCE_S = 5.0  # with our own thread, which has nothing to do but this
_MOST_SILENT = 256  # connections without a request


class EventHolder:
    """Listens from the beginning; takes events from `start` to `close`."""

    def __init__(self, experiment: str) -> None:
        self._token = os.urandom(8).hex().encode()
        self._name = f"collector-{os.urandom(12).hex()}"
        self._path = os.path.join(experiment, SOCKET_FILE)
        self._listeners: dict[int, Socket] = {}
        self._urgent: dict[int, Socket] = {}  # those of the listeners that end a pause
        self._silent: dict[int, tuple[Socket, bool]] = {}
        self._pids: dict[int, int] = {}  # by pidfd
        self.recorded: set[int] = set()
        """All processes that have handed over an event, as they count themselves."""
        self.without_log: dict[int, tuple[int, str]] = {}
        """Those that could make no log: why (errno), and their program, as far as the system tells."""
        self._caught_up = allocate_lock()
        self._running: LockType | None = None  # held by our thread for as long as it works
        self._is_closing = False
        self._is_full = False
        if hasattr(os, "pidfd_open") and hasattr(os, "eventfd"):
            self._listen(f"\0{self._name}")
            self._listen(self._path)
            if self._listeners:
                self._urgent = self._listen(f"\0{self._name}{_ANSWERED_AT_ONCE}")

    @property
    def address(self) -> str | None:
        """What recorded processes need to know (COLLECTOR_LAUNCHER); None if nobody listens."""
        return f"{self._name}:{self._token.decode()}" if self._listeners else None

    def start(self) -> HeldEvents | None:
        """Begin to take events, and give those that are held. After the program was started, which inherits neither the thread nor the limit."""
        if not self._listeners:
            return None
        from collector.capture.held_events import HeldEvents  # the program runs meanwhile
        from collector.capture.tracer_watch import TracerWatch

        self._events = HeldEvents()
        self._limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._limits[1], self._limits[1]))
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_DESCRIPTORS
        self._tracers = TracerWatch(self._events)
        self._epoll = select.epoll()
        self._pause = select.poll()
        self._wake = os.eventfd(0)
        for number in (self._wake, *self._listeners):
            self._epoll.register(number, select.EPOLLIN)
        for number in (self._wake, *self._urgent):
            self._pause.register(number, select.POLLIN)
        self._caught_up.acquire()
        running = allocate_lock()
        running.acquire()
        start_new_thread(self._work_holding, (running,))
        self._running = running
        return self._events

    def catch_up(self) -> None:
        """Return when all has been taken that processes sent before."""
        if self._running:
            os.eventfd_write(self._wake, 1)
            self._caught_up.acquire(timeout=_PATIENCE_S)

    def close(self) -> None:
        """Stop listening and close all events: processes that are still recorded open their own. May be called again."""
        self._is_closing = True
        if self._running:
            os.eventfd_write(self._wake, 1)
            self._running.acquire()
            self._running = None
            self._tracers.close()
            self._events.close()
            self._epoll.close()
            os.close(self._wake)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, self._limits)
        for connection in (*self._listeners.values(), *(connection for connection, _ in self._silent.values())):
            connection.close()
        self._listeners.clear()
        self._urgent.clear()
        with suppress(OSError):
            os.unlink(self._path)

    def _listen(self, address: str) -> dict[int, Socket]:
        """Add a listener, and give it; none where there is no room for its name, no sockets on that file system, or none are allowed at all."""
        made: dict[int, Socket] = {}
        with suppress(OSError):
            listener = Socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC)
            listener.bind(address)
            listener.listen(_BACKLOG)
            made[listener.fileno()] = listener
        self._listeners |= made
        return made

    def _work_holding(self, running: LockType) -> None:
        try:
            self._work()
        finally:
            running.release()

    def _work(self) -> None:
        opens = -1  # what tells that the status of a process was opened
        while not self._is_closing:
            for number, _ in self._epoll.poll(self._tracers.interval_s):
                with suppress(OSError):
                    self._attend(number)
            was_opened = self._tracers.look()
            if opens < 0 <= self._tracers.fileno():
                opens = self._tracers.fileno()
                self._epoll.register(opens, select.EPOLLIN)
                self._pause.register(opens, select.POLLIN)
            if opens >= 0:  # a program that reads its own status all the time wakes us but so often
                self._pause.modify(opens, 0 if was_opened else select.POLLIN)
            self._pause.poll(_PAUSE_MS)

    def _attend(self, number: int) -> None:
        if number == self._wake:
            self._take_all()
        elif number in self._pids:
            if _is_readable(number):  # or it was another one's when epoll told us
                self._forget(number)
        elif number in self._urgent:  # what the same process has handed over before comes first
            for listener in list(self._listeners):
                self._accept_all(listener)
        elif number in self._listeners:
            self._accept_all(number)
        elif number in self._silent:
            self._epoll.unregister(number)
            connection, is_urgent = self._silent.pop(number)
            if is_urgent:
                self._pause.unregister(number)
            self._receive(connection, is_urgent)

    def _take_all(self) -> None:
        """Take what has been sent, for who waits in `catch_up`."""
        if self._is_closing:
            return
        os.eventfd_read(self._wake)
        for listener in list(self._listeners):
            self._accept_all(listener)
        if self._caught_up.locked():
            self._caught_up.release()

    def _accept_all(self, listener: int) -> None:
        while not self._is_closing and self._accept(self._listeners[listener], listener in self._urgent):
            continue

    def _accept(self, listener: Socket, is_urgent: bool) -> bool:
        """Take one request; False if there is none, or no room for it."""
        if self._events.count >= self._most:
            self._set_full(True)
            return False
        try:
            number, _ = listener._accept()  # type: ignore[attr-defined]  # typeshed leaves out how socket.accept is made
        except BlockingIOError:
            return False
        connection = Socket(AF_UNIX, SOCK_SEQPACKET, 0, number)
        # One that was accepted before its request came may have it now, from the image before of the same process: in that order.
        for earlier in list(self._silent):
            with suppress(OSError):
                self._attend(earlier)
        with suppress(OSError):
            self._receive(connection, is_urgent)
        return True

    def _set_full(self, is_full: bool) -> None:
        """Leave the events of further processes to the kernel's queue, until there is room."""
        if self._is_full != is_full:
            self._is_full = is_full
            for number in self._listeners:
                self._epoll.modify(number, 0 if is_full else select.EPOLLIN)
            for number in self._urgent:  # a process whose event is in the queue still cannot have it released
                self._pause.modify(number, 0 if is_full else select.POLLIN)

    def _receive(self, connection: Socket, is_urgent: bool) -> None:
        try:
            data, ancillary, _, _ = connection.recvmsg(_REQUEST.size, CMSG_SPACE(4), MSG_CMSG_CLOEXEC | MSG_DONTWAIT)
        except BlockingIOError:
            if len(self._silent) < _MOST_SILENT:
                self._silent[connection.fileno()] = connection, is_urgent
                self._epoll.register(connection.fileno(), select.EPOLLIN)
                if is_urgent:
                    self._pause.register(connection.fileno(), select.POLLIN)
            return
        events = [number for _, kind, numbers in ancillary if kind == SCM_RIGHTS for number in memoryview(numbers).cast("i")]
        try:
            if len(data) == _REQUEST.size and data[:16] == self._token:
                self._carry_out(connection, data, events)
        finally:
            for number in events:
                os.close(number)
            connection.close()

    def _carry_out(self, connection: Socket, data: bytes, events: list[int]) -> None:
        """Do what a request asks; what it takes of `events` it takes out."""
        _, kind, own_pid, thread, use = _REQUEST.unpack(data)
        pid, _, _ = _CREDENTIALS.unpack(connection.getsockopt(SOL_SOCKET, SO_PEERCRED, _CREDENTIALS.size))
        if kind == _RELEASE:
            self._events.release(pid)
            connection.send(b"\1")
        elif kind == _SUSPEND:
            self._events.suspend(pid)
            connection.send(b"\1")
        elif kind == _CLOSE:
            self._events.close_use(pid, use, thread)
        elif kind == _NO_LOG:
            self.without_log[own_pid] = use, read_path(pid)
        elif kind == _HOLD and len(events) == 1:
            ended = self._events.ended(pid)
            if ended is not None:
                self._forget(ended)
            self.recorded.add(own_pid)
            pidfd = self._events.hold(pid, (thread, use), events.pop(), own_pid, _is_perf_event)
            if pidfd is not None:
                self._watch(pid, pidfd)

    def _forget(self, pidfd: int) -> None:
        self._epoll.unregister(pidfd)  # closing it would not do where a forked child has it, too
        self._events.forget(self._pids.pop(pidfd), pidfd)
        self._set_full(False)

    def _watch(self, pid: int, pidfd: int) -> None:
        self._pids[pidfd] = pid
        self._epoll.register(pidfd, select.EPOLLIN)


def _is_perf_event(number: int) -> bool:
    return os.readlink(f"/proc/self/fd/{number}") == "anon_inode:[perf_event]"


def _is_readable(number: int) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))
