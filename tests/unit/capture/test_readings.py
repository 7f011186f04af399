"""test_readings -- what is read of a process from outside agrees with what it says of itself"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time

from collector.capture.readings import ProcessReadings, read_process
from collector.readings import READINGS


def test_they_are_those_of_the_format() -> None:
    assert ProcessReadings._fields == tuple(name for name, _, _ in READINGS)


def test_own_readings_agree_with_getrusage() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    readings = read_process(os.getpid())
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert readings is not None
    total_ns = readings.user_ns + readings.system_ns
    assert before.ru_utime + before.ru_stime <= total_ns / 1e9 + 1e-6
    assert total_ns / 1e9 <= after.ru_utime + after.ru_stime + 1e-6
    assert before.ru_minflt <= readings.minor_faults <= after.ru_minflt
    assert before.ru_majflt <= readings.major_faults <= after.ru_majflt
    assert readings.voluntary_switches <= after.ru_nvcsw
    assert readings.resident_bytes and readings.resident_bytes % os.sysconf("SC_PAGE_SIZE") == 0
    assert readings.peak_resident_bytes and readings.peak_resident_bytes >= readings.resident_bytes - (1 << 20)  # the kernel adds up in steps


def test_bytes_read_are_counted() -> None:
    before = read_process(os.getpid())
    with open("/dev/zero", "rb", buffering=0) as zeros:
        zeros.read(1 << 20)
    after = read_process(os.getpid())
    assert before and after and before.read_bytes is not None and after.read_bytes is not None
    assert after.read_bytes - before.read_bytes >= 1 << 20


def test_a_process_that_ended_still_has_its_accounts() -> None:
    """Between its end and the wait for it, its CPU time can be read to the nanosecond."""
    process = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    readings = read_process(process.pid)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    assert readings is not None
    assert abs((readings.user_ns + readings.system_ns) / 1e9 - usage.ru_utime - usage.ru_stime) < 1e-5


def test_a_sleeping_process_is_not_woken() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        while b"\nState:\tS" not in (status := open(f"/proc/{process.pid}/status", "rb").read()) or b"\tsleep\n" not in status:
            time.sleep(0.001)
        first = read_process(process.pid)
        for _ in range(20):
            last = read_process(process.pid)
        assert first is not None and last == first
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_no_such_process() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert read_process(process.pid) is None
