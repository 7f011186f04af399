"""test_totals -- the sums of an experiment, and the launcher's log, by what the reader finds in the same files"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from writer import LogBuilder, initialize, open_slot, record, samples, write_untruncated

from collector.experiment.directory import open_directory
from collector.experiment.log_outline import tell_empty
from collector.experiment.log_reader import EventReader
from collector.experiment.log_writer import LogWriter
from collector.experiment.merge import events
from collector.experiment.samples import PcSample
from collector.experiment.totals import DeclaredClock, LastExec, sum_up
from collector.format import FIELDS, CloseReason, DropCause, Kind

COLUMN_OF_ONE = [1, b""]


def begin(path: Path, before_ns: int = 0, options: tuple[str, ...] = ()) -> LogWriter:
    log = LogWriter(str(path))
    numbers = {"user_ns": before_ns, "arguments": ["a"], "options": list(options)}
    log.append(Kind.INITIALIZE, 1, *(numbers.get(name, "" if type_ == "str" else 1 if name == "version_major" else 0) for name, type_, _ in FIELDS[Kind.INITIALIZE]))
    return log


def add_clock(log: LogWriter, period_ns: int = 1_062_699, name: str = "sigtrap") -> None:
    log.append(Kind.PMCALLOCATE, 2, 1, "cpu", name, "ns", period_ns, period_ns, "")


def add_samples(log: LogWriter, count: int) -> None:
    log.append(Kind.PCSAMPLE, 3, 1, count, 1000, COLUMN_OF_ONE, [COLUMN_OF_ONE] * 2, COLUMN_OF_ONE, 1, b"\x00\x00", thread=9)


def test_written_events_are_read_back(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "launch.log"))
    log.append(Kind.MESSAGE, 5, 1, "a sentence", 2, "caf\udce9", thread=3)
    log.close(7, 100, 200)
    message, closing = EventReader(tmp_path / "launch.log")
    assert (message.kind, message.time, message.thread, message.text, message.subject) == (Kind.MESSAGE, 5, 3, "a sentence", "caf\udce9")
    assert (closing.kind, closing.frame_count, closing.user_ns, closing.system_ns) == (Kind.CLOSELOG, 1, 100, 200)


def test_an_existing_log_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "launch.log").write_text("mine")
    with pytest.raises(FileExistsError):
        LogWriter(str(tmp_path / "launch.log"))


def test_a_log_that_was_deleted_is_there_again_at_its_end(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "launch.log"))
    log.append(Kind.MESSAGE, 5, 1, "a sentence", 2, None)
    os.unlink(tmp_path / "launch.log")
    log.append(Kind.MESSAGE, 6, 1, "another", 2, None)
    log.close(7, 100, 200)
    assert log.error is None and [event.time for event in EventReader(tmp_path / "launch.log")] == [5, 6, 7]


def test_what_took_the_place_of_a_deleted_log_is_not_touched(tmp_path: Path) -> None:
    log = LogWriter(str(tmp_path / "launch.log"))
    os.unlink(tmp_path / "launch.log")
    (tmp_path / "launch.log").write_text("mine")
    log.close(7, 100, 200)
    assert isinstance(log.error, FileExistsError) and (tmp_path / "launch.log").read_text() == "mine"


def test_a_write_that_fails_is_kept_not_raised() -> None:
    log = LogWriter.__new__(LogWriter)
    log.__init__(f"/dev/shm/collector-test-{os.getpid()}")  # type: ignore[misc]
    os.unlink(f"/dev/shm/collector-test-{os.getpid()}")
    os.close(log._descriptor)
    log._descriptor = os.open("/dev/full", os.O_WRONLY)
    log.append(Kind.MESSAGE, 5, 1, "a sentence", 2, None)
    log.append(Kind.MESSAGE, 6, 1, "another", 2, None)
    assert log.error is not None and log.error.strerror == "No space left on device"
    log.close(7, 0, 0)


def test_sums(tmp_path: Path) -> None:
    for number, sample_count, before_ns, cpu_ns in (7, 10, 100, 1100), (8, 5, 0, 500):
        log = begin(tmp_path / f"{number}.0.log", before_ns)
        add_clock(log, period_ns=number)
        add_samples(log, sample_count)
        log.append(Kind.CLOSELOG, 9, 0, sample_count, 3, 0, cpu_ns, 50)
    log = begin(tmp_path / "8.1.log", 500)
    log.append(Kind.CLOSELOG, 9, 0, 2, 1, 0, 700, 50)
    (tmp_path / "launch.log").write_bytes(b"")
    totals = sum_up(str(tmp_path), 8)
    assert (totals.log_count, totals.process_count, totals.closed_count, totals.sample_count) == (3, 2, 3, 17)
    assert totals.cpu_ns == 1050 + 550 + 250
    assert totals.clock == DeclaredClock("sigtrap", 8, 8)
    assert not totals.drops


def test_an_exec_whose_image_never_began(tmp_path: Path) -> None:
    def write(name: str, close_reason: int, *last: tuple) -> None:  # type: ignore[type-arg]
        log = begin(tmp_path / name)
        for kind, *fields in last:
            log.append(kind, 8, *fields)
        log.append(Kind.CLOSELOG, 9, close_reason, 0, 1, 0, 10, 10)

    gone_on = (Kind.PROCEXEC, 7, 0, "./static"), (Kind.MESSAGE, 0, "a note", 1, None), (Kind.PMCDETACH, 1, 7)
    write("7.0.log", int(CloseReason.EXEC), *gone_on)
    write("8.0.log", int(CloseReason.EXEC), *gone_on)
    write("8.1.log", int(CloseReason.EXIT))
    write("9.0.log", int(CloseReason.EXIT), (Kind.PROCEXEC, 9, 77, "a"))
    write("10.9.log", int(CloseReason.EXIT))
    write("10.10.log", int(CloseReason.EXEC))
    assert sum_up(str(tmp_path), 7).execs == {(7, 0, 0): LastExec("./static", ""), (10, 9, 0): LastExec("", "")}


def test_processes_that_had_one_number(tmp_path: Path) -> None:
    """An image and the next by exec, then a killed process that was forked, then one that ran another program."""
    processes = {0: (100, 0, CloseReason.EXEC), 1: (100, 0, CloseReason.EXIT), 2: (100, 0, None), 3: (300, 0, CloseReason.EXEC), 4: (300, 1, CloseReason.EXIT)}
    for image, (start_ticks, pid_namespace, reason) in processes.items():
        log = LogBuilder().add(initialize(pid=7, image=image, start_ticks=start_ticks, pid_namespace=pid_namespace))
        if reason is None:
            log.add(record(Kind.PROCFORK, 2, parent_pid=1, child_pid=7))
        else:
            log.add(record(Kind.CLOSELOG, 9, reason=int(reason)))
        (tmp_path / f"7.{image}.log").write_bytes(log.data)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.log_count, totals.process_count, totals.closed_count) == (5, 4, 4)
    assert totals.unclosed == {(7, 2, 100)} and totals.execs.keys() == {(7, 3, 300)}


def test_a_log_without_an_end_is_read_through(tmp_path: Path) -> None:
    log = begin(tmp_path / "7.0.log")
    add_clock(log)
    add_samples(log, 10)
    add_samples(log, 4)
    log.append(Kind.DROPNOTIFY, 4, int(DropCause.BUSY), 2, None, None, thread=9)
    log.append(Kind.DROPNOTIFY, 5, int(DropCause.BUSY), 3, None, None, thread=9)
    log.append(Kind.DROPNOTIFY, 5, int(DropCause.BUSY), 1, None, None, thread=10)
    with open(tmp_path / "7.0.log", "ab") as file:
        file.truncate(1 << 20)  # space that was reserved and never written
    totals = sum_up(str(tmp_path), 7)
    assert (totals.closed_count, totals.sample_count) == (0, 14)
    assert totals.drops == {DropCause.BUSY: 4}


def test_an_end_that_is_damaged_does_not_count(tmp_path: Path) -> None:
    log = begin(tmp_path / "7.0.log")
    add_samples(log, 10)
    log.append(Kind.CLOSELOG, 9, 0, 999, 2, 0, 1, 1)
    content = bytearray((tmp_path / "7.0.log").read_bytes())
    content[-3] ^= 1
    (tmp_path / "7.0.log").write_bytes(content)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.closed_count, totals.sample_count) == (0, 10)


def test_pauses_and_the_window(tmp_path: Path) -> None:
    log = begin(tmp_path / "7.0.log")
    for kind, time in (Kind.PAUSE, 100), (Kind.PAUSE, 150), (Kind.RESUME, 300), (Kind.PAUSE, 900):
        log.append(kind, time, 0)
    log.append(Kind.CLOSELOG, 1001, 0, 0, 1, 0, 0, 0)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.run_ns, totals.paused_ns) == (1000, 200 + 101)
    log = begin(tmp_path / "8.0.log", options=("clock=auto", "start=51", "end=201"))
    log.append(Kind.PAUSE, 101, 0)
    log.append(Kind.RESUME, 151, 0)
    log.append(Kind.CLOSELOG, 301, 0, 0, 1, 0, 0, 0)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.run_ns, totals.paused_ns) == (1300, 301 + 50 + 50 + 100)


def test_clocks_of_others(tmp_path: Path) -> None:
    for number, names in (7, ["sigtrap"]), (8, ["sigtrap", "cpu-timer"]), (9, ["sigtrap"]):
        log = begin(tmp_path / f"{number}.0.log")
        for name in names:
            add_clock(log, name=name)  # the last one took over
    totals = sum_up(str(tmp_path), 9)
    assert (totals.clock and totals.clock.name, totals.other_clocks) == ("sigtrap", {"cpu-timer": 1})


def test_a_process_without_a_clock_has_no_say_on_it(tmp_path: Path) -> None:
    for name, clock, period_ns in ("7.0", "off", 1000), ("7.1", "sigtrap", 1000), ("8.0", "sigtrap", 100_000), ("9.0", "off", 1000):
        add_clock(begin(tmp_path / f"{name}.log"), name=clock, period_ns=period_ns)
    totals = sum_up(str(tmp_path), 9)
    assert totals.clock and (totals.clock.name, totals.clock.period_ns) == ("sigtrap", 1000)
    assert totals.other_clocks == {"at 10000 Hz": 1, "off": 1}


def test_the_longest_thread_of_logs_without_samples(tmp_path: Path) -> None:
    log = begin(tmp_path / "7.0.log", before_ns=10**9)
    add_clock(log)
    for thread, cpu_ns in (7, 10**9 + 600_000), (8, 900_000), (9, 700_000):
        log.append(Kind.THR_EXIT, 5, "a", cpu_ns, 0, 1, 0, thread=thread)
    log.append(Kind.CLOSELOG, 9, 0, 0, 3, 0, 10**9 + 2_200_000, 0)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.cpu_ns, totals.longest_ns) == (2_200_000, 900_000)


def test_the_longest_thread_is_found_past_damage(tmp_path: Path) -> None:
    log = begin(tmp_path / "7.0.log")
    add_clock(log)
    at = (tmp_path / "7.0.log").stat().st_size
    log.append(Kind.THR_EXIT, 5, "a", 1_800_000, 0, 1, 0, thread=8)
    log.append(Kind.THR_EXIT, 5, "a", "odd", 0, 1, 0, thread=8)
    log.append(Kind.THR_EXIT, 5, "a", None, 900_000, 1, 0, thread=9)
    log.append(Kind.CLOSELOG, 9, 0, 0, 4, 0, 2_700_000, 0)
    assert sum_up(str(tmp_path), 7).longest_ns == 1_800_000
    with open(tmp_path / "7.0.log", "r+b") as file:
        file.seek(at)
        file.write(bytes(8))
    assert sum_up(str(tmp_path), 7).longest_ns == 900_000


def test_open_frames_count_as_in_reports(tmp_path: Path) -> None:
    """As on a full disk, where they cannot be moved into the log."""
    frames = LogBuilder().add(initialize(pid=4_000_000)).add(samples(2000, 7, [(1, 5, 0, 0)] * 3)).data
    write_untruncated(tmp_path / "4000000.0.log", bytes(frames), open_slot(9000, 7, [(1, 2, 0, 0, b"")] * 4, pending_ns=600))
    totals = sum_up(str(tmp_path), 4_000_000)
    read = [event for event in events(tmp_path) if isinstance(event, PcSample)]
    assert totals.sample_count == len(read) == 7
    assert (totals.unclosed, totals.cpu_ns) == ({(4_000_000, 0, None)}, 23_600)


def test_nothing(tmp_path: Path) -> None:
    totals = sum_up(str(tmp_path), 7)
    assert (totals.log_count, totals.clock) == (0, None)


@pytest.mark.parametrize("content", [b"", b"\xc9", bytes(100), b"\xc1cev" * 50])
def test_logs_of_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "7.0.log").write_bytes(content)
    totals = sum_up(str(tmp_path), 7)
    assert (totals.log_count, totals.sample_count, totals.empty_count) == (1, 0, not content)
    assert [warning.endswith("7.0.log is empty: it was cut, or its process was killed as it began") for warning in totals.warnings] == [True] * (not content)


@pytest.mark.parametrize(("count", "sentence"), [
    (3, "3 logs are empty ({}/100.0.log, 101.0.log, 102.0.log): they were cut, or their processes were killed as they began"),
    (200, "200 logs are empty ({}/100.0.log, 101.0.log, 102.0.log and 197 more): they were cut, or their processes were killed as they began"),
])  # fmt: skip
def test_many_empty_logs_have_one_sentence(tmp_path: Path, count: int, sentence: str) -> None:
    """Reports have the same."""
    for pid in range(100, 100 + count):
        (tmp_path / f"{pid}.0.log").touch()
    totals = sum_up(str(tmp_path), 0)
    assert totals.warnings == [sentence.format(tmp_path)] and totals.empty_count == count
    assert tell_empty([log.path for log in open_directory(tmp_path).empty_logs]) == totals.warnings
