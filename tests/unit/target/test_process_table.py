"""test_process_table -- processes, their images and threads, from the records of their logs"""

from __future__ import annotations

from collector.experiment.columns import IntegerColumn
from collector.experiment.events import CloseLog, Initialize, ProcExec, ProcExit, ProcFork, Sample, SysExit, ThrCreate, ThrExit
from collector.experiment.origin import LAUNCHER, Origin
from collector.experiment.samples import PcSampleBlock
from collector.format import CloseReason, SampleCause
from collector.target.process import ProcessTable

_A0, _A1, _B0 = Origin(10, 0), Origin(10, 1), Origin(20, 0)


def _block(time, thread, deltas):
    empty = IntegerColumn.of([0] * len(deltas))
    return PcSampleBlock(time, thread, 0, 1, None, 1, len(deltas), 1000, IntegerColumn.of(deltas), (empty, empty), empty, 0, b"")


def _add(table, origin, records):
    for record in records:
        table.add(origin, record)


def _table() -> ProcessTable:
    table = ProcessTable()
    _add(table, _A1, [
        Initialize(50, pid=10, ppid=5, image=1, executable="/bin/second", arguments=("second",), user_ns=90, system_ns=9),
        ProcExec(51, pid=10, path="/bin/second"), CloseLog(99, reason=CloseReason.EXIT, user_ns=200, system_ns=20),
    ])
    _add(table, _A0, [
        Initialize(1, pid=10, ppid=5, image=0, executable="/bin/first", arguments=("first", "-x"), user_ns=3, system_ns=4),
        ThrCreate(2, 10, name="main"), ThrCreate(5, 11, name="worker", start_address=0x1000), _block(6, 11, [1, 2]),
        ThrExit(30, 11, name="worker!", user_ns=60, system_ns=6, is_exit=1), ThrCreate(32, 11, name="again"),
        ThrExit(40, 10, name="main", user_ns=30, system_ns=3, is_exit=0),
        CloseLog(49, reason=CloseReason.EXEC, user_ns=90, system_ns=9),
    ])
    _add(table, _B0, [Initialize(60, pid=20, ppid=10, image=0), ProcFork(61, parent_pid=10, child_pid=20), _block(70, 20, [5, 5, 5])])
    _add(table, LAUNCHER, [
        Sample(80, cause=SampleCause.PERIODIC, pid=20, user_ns=77, system_ns=7), ProcExit(100, pid=10, status=256),
        SysExit(101, pid=33, path="/bin/static", reason="it is static"), Sample(82, pid=999, user_ns=1),
    ])
    return table


def test_what_was_pending_is_no_end():
    """The end of a thread of a killed process nobody saw."""
    table = ProcessTable()
    _add(table, _A0, [
        Initialize(1, pid=10, image=0), ThrCreate(2, 10, name="main"), ThrCreate(3, 11, name="other"), ThrExit(9, 11, user_ns=8, system_ns=0, is_exit=1),
        ThrExit(4, 11, is_exit=0, pending_ns=6), ThrExit(40, 10, is_exit=0, pending_ns=5),
    ])  # fmt: skip
    (threads,) = [process.threads for process in table.processes()]
    assert [(thread.name, thread.end_time, thread.user_ns, thread.pending_ns) for thread in threads] == [("main", None, None, 5), ("other", 9, 8, 0)]


def test_images_follow_each_other():
    first, second = _table().processes()
    assert (first.pid, first.parent_pid, first.is_forked, first.status) == (10, 5, False, 256)
    assert [image.executable for image in first.images] == ["/bin/first", "/bin/second"]
    assert (first.executable, first.arguments) == ("/bin/second", ("second",))
    assert (first.start_time, first.end_time) == (1, 99)
    assert (first.user_ns, first.system_ns) == (200, 20)


def test_the_killed_end_with_their_last_sample():
    _, killed = _table().processes()
    (image,) = killed.images
    assert (killed.pid, killed.parent_pid, killed.is_forked, killed.status) == (20, 10, True, None)
    assert (image.is_complete, killed.end_time) == (False, 70 + 15_000)
    assert (killed.user_ns, killed.system_ns) == (77, 7)
    assert [thread.thread_id for thread in killed.threads] == [20]


def test_threads_that_share_a_number_are_two():
    first, _ = _table().processes()
    told = [(thread.thread_id, thread.name, thread.start_time, thread.end_time, thread.is_exit) for thread in first.threads]
    assert told == [(10, "main", 2, 40, False), (11, "worker!", 5, 30, True), (11, "again", 32, None, False)]
    assert (first.threads[1].user_ns, first.threads[1].system_ns, first.threads[1].start_address) == (60, 6, 0x1000)


def test_only_what_was_recorded_is_a_process():
    table = _table()
    assert [process.pid for process in table.processes()] == [10, 20]
    assert [event.pid for event in table.unrecorded] == [33]
    assert ProcessTable().processes() == []
