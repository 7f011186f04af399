"""test_event_holder -- what comes in at the launcher's socket: events of processes, and whatever else somebody sends"""

from __future__ import annotations

import array
import ctypes
import os
import platform
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector.capture import event_holder
from collector.capture.event_holder import SOCKET_FILE, EventHolder
from collector.capture.held_events import HeldEvents

HOLD, RELEASE, NO_LOG, CLOSE = 1, 2, 4, 5
CLOCK, FAULTS = 0, 1  # uses of events
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}.get(platform.machine(), -1)
_TASK_CLOCK = 1
_IS_DISABLED, _EXCLUDES_KERNEL, _EXCLUDES_HYPERVISOR = 1 << 0, 1 << 5, 1 << 6


def open_event() -> int:
    """A perf event of this process, which counts its CPU time."""
    attributes = struct.pack("=IIQQQQQ72x", 1, 112, _TASK_CLOCK, 0, 0, 0, _EXCLUDES_KERNEL | _EXCLUDES_HYPERVISOR)
    number: int = ctypes.CDLL(None, use_errno=True).syscall(_PERF_EVENT_OPEN, attributes, 0, -1, -1, 8)
    if number < 0:
        pytest.skip(f"this system grants no perf events: {os.strerror(ctypes.get_errno())}")
    return number


def count_of(event: int) -> int:
    return int(struct.unpack("=Q", os.read(event, 8))[0])


def burn() -> None:
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass


def is_counting(event: int) -> bool:
    before = count_of(event)
    burn()
    return count_of(event) > before


def await_truth(is_true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not is_true() and time.monotonic() < end:
        time.sleep(0.001)
    return is_true()


@pytest.fixture
def child() -> Iterator[int]:
    """A process that waits to be killed."""
    pid = os.fork()
    if pid == 0:
        signal.pause()
        os._exit(0)
    yield pid
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[EventHolder]:
    made = EventHolder(str(tmp_path))
    yield made
    made.close()


class Visitor:
    """What a recorded process does, and what it should not."""

    def __init__(self, holder: EventHolder, path: Path | None = None, wants_answer: bool = False) -> None:
        assert holder.address
        name, _, token = holder.address.partition(":")
        self.token = token.encode()
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.settimeout(20)
        self.connection.connect(str(path) if path else f"\0{name}{'!' if wants_answer else ''}")

    def ask(self, kind: int, *descriptors: int, thread: int = 0, use: int = 0, token: bytes | None = None) -> None:
        data = struct.pack("=16sIIII", self.token if token is None else token, kind, os.getpid(), thread, use)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.connection.sendmsg([data], ancillary)

    def answer(self) -> bytes:
        return self.connection.recv(16)


def visit(holder: EventHolder, kind: int, *descriptors: int, thread: int = 0, use: int = 0) -> bytes:
    """One request, and what comes back: nothing, unless a release was asked for."""
    visitor = Visitor(holder)
    visitor.ask(kind, *descriptors, thread=thread, use=use)
    return visitor.answer()


def test_an_event_is_held_and_released(holder: EventHolder) -> None:
    events, event = holder.start(), open_event()
    assert events is not None
    assert visit(holder, HOLD, event) == b""
    assert events.count == 2, "a pidfd and the event"
    assert holder.recorded == {os.getpid()}
    assert events.disable(os.getpid()) == 1 and not is_counting(event)
    assert events.enable(os.getpid()) == 1 and is_counting(event)
    assert visit(holder, RELEASE) == b"\1"
    assert not is_counting(event)
    assert events.count == 1
    os.close(event)


def test_what_is_no_event_is_not_held(holder: EventHolder) -> None:
    events = holder.start()
    assert events is not None
    reading, writing = os.pipe()
    assert visit(holder, HOLD, writing) == b""
    os.close(writing)
    assert os.read(reading, 1) == b"" and events.count == 0
    os.close(reading)


def test_a_process_stops_its_clock(holder: EventHolder) -> None:
    """Its other events stay; and another clock is taken later."""
    events, clock, faults, pid = holder.start(), open_event(), open_event(), os.getpid()
    assert events is not None
    visit(holder, HOLD, clock, use=CLOCK)
    visit(holder, HOLD, faults, thread=pid, use=FAULTS)
    visit(holder, CLOSE, use=CLOCK)
    assert events.count == 2, "a pidfd and the event of faults"
    assert events.disable(pid) == 1 and is_counting(clock) and not is_counting(faults)
    visit(holder, HOLD, clock, thread=pid, use=CLOCK)
    assert events.disable(pid) == 2 and not is_counting(clock)
    os.close(clock)
    os.close(faults)


def test_a_thread_ends_one_of_its_events(holder: EventHolder) -> None:
    """Those of other threads stay, and those for another use."""
    events, own, others, faults, pid = holder.start(), open_event(), open_event(), open_event(), os.getpid()
    assert events is not None
    visit(holder, HOLD, own, thread=pid, use=CLOCK)
    visit(holder, HOLD, faults, thread=pid, use=FAULTS)
    visit(holder, HOLD, others, thread=pid + 1, use=CLOCK)
    visit(holder, CLOSE, thread=pid, use=CLOCK)
    assert events.disable(pid) == 2 and is_counting(own) and not is_counting(others) and not is_counting(faults)
    for event in (own, others, faults):
        os.close(event)


def test_who_can_make_no_log_says_so(holder: EventHolder) -> None:
    """`catch_up` waits for words that nobody has taken yet."""
    for number in range(40):
        if number == 20:
            holder.start()
        Visitor(holder).ask(NO_LOG, use=number)
    holder.catch_up()
    ((pid, (error, path)),) = holder.without_log.items()
    assert (pid, error, path) == (os.getpid(), 39, os.path.realpath("/proc/self/exe"))


def test_a_process_that_waits_ends_a_pause(holder: EventHolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_holder, "_PAUSE_MS", 600_000)
    event = open_event()
    Visitor(holder).ask(HOLD, event)  # before the holder begins, or it may be accepted before its request comes, which then waits for a pause's end
    events = holder.start()
    assert events is not None
    assert await_truth(lambda: events.count == 2)  # and then there is a pause
    for _ in range(3):
        silent = Visitor(holder, wants_answer=True)  # accepted before its request comes
        visitor = Visitor(holder, wants_answer=True)
        visitor.ask(RELEASE)
        assert visitor.answer() == b"\1"
        silent.ask(RELEASE)
        assert silent.answer() == b"\1"
    assert not is_counting(event)
    os.close(event)


@pytest.fixture
def without_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder's work is done by the test, step by step."""
    monkeypatch.setattr(event_holder, "start_new_thread", lambda work, arguments: arguments[0].release())


@pytest.mark.usefixtures("without_thread")
def test_what_was_handed_over_before_is_released(holder: EventHolder) -> None:
    events, event = holder.start(), open_event()
    assert events is not None
    Visitor(holder).ask(HOLD, event)
    visitor = Visitor(holder, wants_answer=True)
    visitor.ask(RELEASE)
    (urgent,) = holder._urgent
    holder._attend(urgent)
    assert visitor.answer() == b"\1" and events.count == 1 and not is_counting(event)
    holder.close()
    os.close(event)


def test_requests_wait_until_the_holder_begins(holder: EventHolder) -> None:
    event = open_event()
    visitor = Visitor(holder)
    visitor.ask(HOLD, event)
    visitor.connection.close()
    events = holder.start()
    assert events is not None
    assert await_truth(lambda: events.count == 2)
    os.close(event)


@pytest.mark.usefixtures("without_thread")
def test_a_late_request_is_not_overtaken(holder: EventHolder) -> None:
    """A process connects, and before its request comes it is accepted; then it asks, calls execve, and its new image asks."""
    events, old, new = holder.start(), open_event(), open_event()
    assert events is not None
    (listener, *_) = holder._listeners
    first = Visitor(holder)
    holder._attend(listener)
    first.ask(HOLD, old)
    second = Visitor(holder)
    second.ask(HOLD, new)
    for number in (listener, *holder._silent):
        holder._attend(number)
    assert events.disable(os.getpid()) == 1
    assert is_counting(old) and not is_counting(new), "the new image's event is held"
    holder.close()
    os.close(old)
    os.close(new)


@pytest.mark.usefixtures("without_thread")
def test_a_process_that_asks_and_ends_takes_no_other_with_it(holder: EventHolder) -> None:
    """Its last request is read when it has ended; somebody else, forked meanwhile, has its pidfd open; and the number becomes another process's."""
    events, event = holder.start(), open_event()
    assert events is not None

    def fork(work: Callable[[], object]) -> int:
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)  # if the test fails
            work()
            os._exit(0)
        return pid

    def pids() -> list[int]:
        for number, _ in holder._epoll.poll(0):
            holder._attend(number)
        return events.pids()

    go, gone = os.pipe()
    brief = fork(lambda: (Visitor(holder).ask(HOLD, event), os.read(go, 1), Visitor(holder).ask(HOLD, event)))
    assert await_truth(lambda: pids() == [brief])
    onlooker = fork(signal.pause)
    os.write(gone, b"x")
    os.waitpid(brief, 0)
    assert await_truth(lambda: pids() == [])
    lasting = fork(lambda: (Visitor(holder).ask(HOLD, event), signal.pause()))
    assert await_truth(lambda: pids() == [lasting])
    assert pids() == [lasting]
    holder.close()
    for pid in (onlooker, lasting):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    for number in (event, go, gone):
        os.close(number)


def test_the_file_leads_there_too(holder: EventHolder, tmp_path: Path) -> None:
    events, event = holder.start(), open_event()
    assert events is not None
    visitor = Visitor(holder, tmp_path / SOCKET_FILE)
    visitor.ask(HOLD, event)
    assert visitor.answer() == b"" and events.count == 2
    os.close(event)


def test_an_event_of_the_process_takes_the_place_of_all_before(holder: EventHolder) -> None:
    events = holder.start()
    assert events is not None
    for thread, use in ((1, 0), (2, 0), (0, 0), (3, 0), (3, 1), (3, 0)):
        event = open_event()
        visit(holder, HOLD, event, thread=thread, use=use)
        os.close(event)
    assert events.disable(os.getpid()) == 3, "that of the process, and the later ones of a thread, one for each use"


def test_strangers_are_turned_away(holder: EventHolder) -> None:
    events, event = holder.start(), open_event()
    assert events is not None
    reading, writing = os.pipe()
    stranger = Visitor(holder)
    stranger.ask(HOLD, event, token=b"0" * 16)
    assert stranger.answer() == b""
    visit(holder, HOLD, reading), visit(holder, HOLD), visit(holder, HOLD, event, event), visit(holder, 7, event)
    brief = Visitor(holder)
    brief.connection.send(b"x")
    assert brief.answer() == b""
    assert events.count == 0
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"x")  # nobody else has kept the other end
    os.close(writing)
    os.close(event)


def test_those_who_connect_and_say_nothing_keep_nobody_waiting(holder: EventHolder) -> None:
    events, event = holder.start(), open_event()
    assert events is not None
    silent = [Visitor(holder) for _ in range(400)]
    assert visit(holder, HOLD, event) == b""
    assert events.count == 2
    silent[0].ask(RELEASE)
    assert silent[0].answer() == b"\1"
    os.close(event)


def test_no_descriptors_left(holder: EventHolder, child: int) -> None:
    """What finds no room stays in the kernel's queue, and is taken when there is some again."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    events, event = holder.start(), open_event()
    assert events is not None
    holder._most = 2
    held = events.hold(child, (0, 0), os.dup(event), child)
    assert held is not None
    holder._watch(child, held)
    visitor = Visitor(holder)
    visitor.ask(HOLD, event)
    assert events.count == 2
    os.kill(child, signal.SIGKILL)
    assert visitor.answer() == b""
    os.waitpid(child, 0)
    assert await_truth(lambda: events.disable(os.getpid()) == 1 and events.disable(child) == 0)
    holder.close()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
    os.close(event)


def test_a_process_ends(holder: EventHolder, child: int) -> None:
    events = HeldEvents()
    reading, writing = os.pipe()
    pidfd = events.hold(child, (0, 0), writing, child)
    assert pidfd is not None
    assert events.hold(child, (5, 0), os.dup(writing), child) is None, "the process is known"
    assert events.count == 3
    events.forget(child, pidfd)
    assert events.count == 0 and os.read(reading, 1) == b""
    os.close(reading)


def test_a_process_that_is_gone_already(child: int) -> None:
    events = HeldEvents()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert events.hold(child, (0, 0), os.open(os.devnull, os.O_RDONLY), child) is None
    assert events.count == 0


def test_threads_that_have_ended_are_found_in_time(child: int) -> None:
    events = HeldEvents()
    for thread in range(1, 1000):
        events.hold(child, (10_000_000 + thread, 0), os.open(os.devnull, os.O_RDONLY), child)
    assert events.count < 80
    events.close()
    assert events.count == 0


def test_threads_of_another_namespace(child: int) -> None:
    """Their numbers are others here; the kernel tells which."""
    events = HeldEvents()
    events.hold(child, (child, 0), os.open(os.devnull, os.O_RDONLY), 1)
    for thread in range(1, 1000):
        events.hold(child, (10_000_000 + thread, 0), os.open(os.devnull, os.O_RDONLY), 1)
    assert events.count < 80
    assert (child, 0) in events._processes[child].events
    events.close()


def test_closing_takes_the_file_away(tmp_path: Path) -> None:
    holder = EventHolder(str(tmp_path))
    assert (tmp_path / SOCKET_FILE).is_socket()
    holder.close()
    assert list(tmp_path.iterdir()) == [] and holder.address is None
