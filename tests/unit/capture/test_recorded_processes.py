"""test_recorded_processes -- a process counts as recorded while it lives and has its own log in its address space"""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collector.capture import recorded_processes
from collector.capture.recorded_processes import RecordedProcesses, read_start

HOLDER = """
import mmap, sys
file = open(sys.argv[1], "r+b")
mapping = mmap.mmap(file.fileno(), 4096)
file.close()
print("ready", flush=True)
sys.stdin.read()
"""


def make_log(directory: Path, stem: str) -> Path:
    log = directory / f"{stem}.log"
    with open(log, "wb") as file:
        file.write(bytes(4096))
        file.truncate(1 << 20)
    return log


def test_alive_then_dead(tmp_path: Path) -> None:
    with open(make_log(tmp_path, f"{os.getpid()}.0"), "r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert RecordedProcesses(str(tmp_path)).live() == {os.getpid(): os.getpid()}
    assert RecordedProcesses(str(tmp_path)).live() == {}


def test_a_number_alone_proves_nothing(tmp_path: Path) -> None:
    """Somebody else has the number now."""
    make_log(tmp_path, f"{os.getpid()}.0")
    make_log(tmp_path, "1.0")
    assert RecordedProcesses(str(tmp_path)).live() == {}


def test_several(tmp_path: Path) -> None:
    holders = []
    for _ in range(2):
        path = make_log(tmp_path, "unnamed")
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert holder.stdout and holder.stdout.readline() == b"ready\n"
        path.rename(tmp_path / f"{holder.pid}.3.log")
        holders.append(holder)
    processes = RecordedProcesses(str(tmp_path))
    assert list(processes.live()) == sorted(holder.pid for holder in holders)
    for holder in holders:
        holder.communicate()
        assert holder.pid not in processes.live()


def test_one_that_hides_its_memory_may_be_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an agent does that keeps secrets. When it began tells it from others of its number."""
    monkeypatch.setattr(recorded_processes, "open", _open_no_maps, raising=False)
    make_log(tmp_path, f"{os.getpid()}.0")
    start_ticks = int(read_start(str(os.getpid())) or 0)
    assert RecordedProcesses(str(tmp_path), lambda path: start_ticks).live() == {os.getpid(): os.getpid()}
    assert RecordedProcesses(str(tmp_path), lambda path: start_ticks - 1).live() == {}
    assert RecordedProcesses(str(tmp_path)).live() == {}


def _open_no_maps(path: str, *how: object, **more: object):
    if path.endswith("/maps"):
        raise PermissionError
    return open(path, *how, **more)  # type: ignore[call-overload]


def test_one_in_a_namespace_has_another_number_there(tmp_path: Path) -> None:
    enter = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system does not let us make PID namespaces")
    command = [*enter, sys.executable, "-c", HOLDER, make_log(tmp_path, "1.0")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as unshare:
        assert unshare.stdout and unshare.stdout.readline() == b"ready\n"
        ((pid, own_pid),) = RecordedProcesses(str(tmp_path)).live().items()
        assert own_pid == 1 and Path(f"/proc/{pid}/stat").read_text().split()[3] == str(unshare.pid)
        unshare.communicate()
    assert RecordedProcesses(str(tmp_path)).live() == {}


def test_all_processes_are_read_once_for_all_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for those that are there; a new log may be of a process that was not."""
    readings = []
    monkeypatch.setattr(recorded_processes, "list_namesakes", lambda: readings.append(1) or {})
    for pid in range(20):
        make_log(tmp_path, f"{4_000_000 + pid}.0")
    processes = RecordedProcesses(str(tmp_path))
    assert processes.live() == {} and len(readings) == 1
    make_log(tmp_path, "4100000.0")
    assert processes.live() == {} and len(readings) == 2


def test_a_log_that_was_cut_is_over(tmp_path: Path) -> None:
    log = make_log(tmp_path, f"{os.getpid()}.0")
    with open(log, "r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert RecordedProcesses(str(tmp_path)).live() == {os.getpid(): os.getpid()}
        file.truncate(4096)
        assert RecordedProcesses(str(tmp_path)).live() == {}


def test_a_directory_that_went_has_none(tmp_path: Path) -> None:
    assert RecordedProcesses(str(tmp_path / "gone")).live() == {}
