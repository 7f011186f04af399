"""test_descendants -- who is below a process without being recorded, by real processes that wait on a pipe"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from collector.capture import descendants
from collector.capture.descendants import DescendantWatch

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """start(script) is a shell that has printed a line, and waits for its standard input to end."""
    shells = []

    def begin(script: str) -> subprocess.Popen[bytes]:
        shell = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        shells.append(shell)
        assert shell.stdout and shell.stdout.readline() == b"ready\n"
        return shell

    yield begin
    for shell in shells:
        assert shell.stdin and shell.stdout
        shell.stdin.close()
        shell.wait()
        shell.stdout.close()


def pids(found: list[descendants.Descendant]) -> set[int]:
    return {one.pid for one in found}


def test_seen_then_gone(start: Start) -> None:
    watch = DescendantWatch(os.getpid())
    shell = start("echo ready; read line; :")
    assert watch.look([]) == []
    (seen,) = (one for one in watch.remaining() if one.pid == shell.pid)
    assert os.path.samefile(seen.path, shutil.which("sh") or "")
    assert (seen.own_pid, seen.look_count) == (shell.pid, 1)
    watch.look([])
    assert seen.look_count == 2
    shell.communicate()
    assert shell.pid in pids(watch.look([]))
    assert shell.pid not in pids(watch.remaining()) and watch.look([]) == []


def test_one_that_has_no_number_any_more_is_not_seen(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the kernel takes a process out of its tables its status says NSpid: 0, and no log is called so."""
    shell, read = start("echo ready; read line; :"), descendants._read
    monkeypatch.setattr(descendants, "_read", lambda path: b"NSpid:\t0\n" if path == f"/proc/{shell.pid}/status" else read(path))
    watch = DescendantWatch(os.getpid())
    watch.look([])
    assert shell.pid not in pids(watch.remaining())


def test_one_that_ended_and_is_not_waited_for_is_gone(start: Start) -> None:
    watch = DescendantWatch(os.getpid())
    shell = start("echo ready; read line; :")
    watch.look([])
    assert shell.stdin
    shell.stdin.close()
    os.waitid(os.P_PID, shell.pid, os.WEXITED | os.WNOWAIT)
    assert shell.pid in pids(watch.look([]))


def test_recorded_ones_are_not_there_but_their_children_are(start: Start) -> None:
    watch = DescendantWatch(1 << 30)
    shell = start("echo ready; cat; :")
    while not list(descendants._list_children(shell.pid)):
        os.sched_yield()
    watch.look([shell.pid])
    (child,) = watch.remaining()
    assert child.pid != shell.pid


def test_one_that_began_to_be_recorded_is_forgotten(start: Start) -> None:
    watch = DescendantWatch(os.getpid())
    shell = start("echo ready; read line; :")
    watch.look([])
    assert shell.pid not in pids(watch.look([shell.pid])) | pids(watch.remaining())


def test_the_last_program_counts(start: Start) -> None:
    watch = DescendantWatch(os.getpid())
    shell = start("echo ready; read line; echo again; exec cat")
    watch.look([])
    assert shell.stdin and shell.stdout
    shell.stdin.write(b"go\n")
    shell.stdin.flush()
    shell.stdout.readline()
    shell.stdin.write(b"through cat\n")
    shell.stdin.flush()
    assert shell.stdout.readline() == b"through cat\n"
    watch.look([])
    (seen,) = (one for one in watch.remaining() if one.pid == shell.pid)
    assert os.path.samefile(seen.path, shutil.which("cat") or "")


def test_both_ways_to_find_children_agree(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = start("echo ready; read line; :")
    assert shell.pid in descendants._ParentTable().children_of(os.getpid())
    if not os.path.exists("/proc/thread-self/children"):
        pytest.skip("this kernel does not list children (CONFIG_PROC_CHILDREN)")
    assert set(descendants._ParentTable().children_of(os.getpid())) == set(descendants._list_children(os.getpid()))


def test_a_process_that_is_not_there_has_none() -> None:
    watch = DescendantWatch(1 << 30)
    assert watch.look([(1 << 30) + 1]) == [] and watch.remaining() == []
