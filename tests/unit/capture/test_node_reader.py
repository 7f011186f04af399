"""test_node_reader -- the process that reads the metrics of the node has nothing of the launcher's open"""

from __future__ import annotations

import os
import signal

from collector.capture.node_reader import _keep_only


def test_only_what_it_reads_stays_open() -> None:
    """What the launcher closes is closed: a pidfd or an event that a child still has would live on."""
    reading, writing = os.pipe()
    told, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        _keep_only(tells)
        os.write(tells, b"".join(number.to_bytes(4, "little") for number in range(tells + 10) if _is_open(number)))
        os.close(tells)
        signal.pause()
    os.close(writing)
    os.close(tells)
    assert os.read(reading, 1) == b"", "the last one at its other end was we"
    seen = os.read(told, 400)
    assert {int.from_bytes(seen[at : at + 4], "little") for at in range(0, len(seen), 4)} - {0, 1, 2} == {tells}
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
    os.close(told)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
