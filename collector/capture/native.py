"""native -- the recorder's functions, if a recorder is in this process; and the system calls that Python has no function for

The recorder never comes into a program from here: it was preloaded when the
process started, or it is not there at all. So the only question is whether the
process has its symbols. What is loaded here is the library as a host of metric
plugins, in a process of the launcher's own.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from _thread import start_new_thread
from collections.abc import Callable, Sequence
from functools import cache

from collector.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    import ctypes
except ImportError:  # a Python built without libffi: it runs on, unrecorded
    ctypes = None  # type: ignore[assignment]  # a module is never None to mypy


class Recorder(NamedTuple):
    """The C functions of libcollector(3), one field each; strings are bytes without NUL.

    Addresses are integers, sizes are in bytes. `func_load` takes its line table
    as a flat sequence offset, line, offset, line, ... None of them raises.
    """

    sample: Callable[[bytes], None]
    pause: Callable[[], None]
    resume: Callable[[], None]
    writelog: Callable[[bytes], None]
    version: Callable[[], bytes]
    is_active: Callable[[], int]
    terminate_expt: Callable[[], None]
    func_load: Callable[[bytes, bytes | None, bytes | None, int, int, Sequence[int]], None]
    func_unload: Callable[[int], None]
    module_load: Callable[[bytes, int], None]
    module_unload: Callable[[int], None]


@cache
def find_recorder() -> Recorder | None:
    """The recorder in this process, or None. Looked up once: it cannot come or go later."""
    if ctypes is None:
        return None
    process = ctypes.CDLL(None)
    if not hasattr(process, "collector_sample"):
        return None

    text, address, integer = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int

    def bind(name: str, result: type[ctypes._SimpleCData[Any]] | None, *arguments: type[ctypes._SimpleCData[Any]]) -> Callable[..., Any]:
        function: ctypes._NamedFuncPointer | None = getattr(process, f"collector_{name}", None)
        if function is None:  # a recorder older than this function: the call is ignored
            return lambda *_: b"" if result is text else 0
        function.restype = result
        function.argtypes = arguments
        return function

    c_writelog = bind("writelog", None, text, ctypes.c_size_t)
    c_func_load = bind("func_load", None, text, text, text, address, integer, integer, address)

    def writelog(data: bytes) -> None:
        c_writelog(data, len(data))

    def func_load(
        name: bytes, alias: bytes | None, source: bytes | None, vaddr: int, size: int, lines: Sequence[int]
    ) -> None:
        table = (integer * len(lines))(*lines) if lines else None
        c_func_load(name, alias, source, vaddr, size, len(lines) // 2, table)

    return Recorder(
        sample=bind("sample", None, text),
        pause=bind("pause", None),
        resume=bind("resume", None),
        writelog=writelog,
        version=bind("version", text),
        is_active=bind("is_active", integer),
        terminate_expt=bind("terminate_expt", None),
        func_load=func_load,
        func_unload=bind("func_unload", None, address),
        module_load=bind("module_load", None, text, address),
        module_unload=bind("module_unload", None, address),
    )


_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_SOFTWARE, _TASK_CLOCK, _DISABLED, _NO_KERNEL, _CLOSE_ON_EXEC, _ATTRIBUTE_BYTES = 1, 1, 1, 1 << 5, 8, 112


def ready_clock() -> None:
    """Have the kernel make itself ready for the recorder's clock, while this process does something else.

    The first event of a task on an idle machine makes the kernel patch its scheduler and wait for all processors: 7 to
    30 ms that the recorded program would wait for. It stays ready as long as an event is open, even one that counts
    nothing: until this process ends. If the kernel refuses, nothing is lost; the recorder will find out why.
    """
    number = _PERF_EVENT_OPEN.get(os.uname().machine)
    if ctypes is None or number is None or sys.maxsize < 2**32:
        return
    attribute = struct.pack("=IIQQQQQ", _SOFTWARE, _ATTRIBUTE_BYTES, _TASK_CLOCK, 0, 0, 0, _DISABLED | _NO_KERNEL)
    attribute = attribute.ljust(_ATTRIBUTE_BYTES, b"\0")
    call = ctypes.CDLL(None).syscall
    start_new_thread(call, (ctypes.c_long(number), attribute, os.getpid(), -1, -1, ctypes.c_ulong(_CLOSE_ON_EXEC)))


_INHERITED, _IN_THREADS, _ENDS_AT_EXEC, _SIGTRAP = 1 << 1, 1 << 35, 1 << 36, 1 << 37


def probe_event(event_type: int, config: int, is_signalled: bool = True, is_kernels: bool = False) -> int:
    """Whether the kernel lets threads be signalled by a perf event, or count it, as the recorder wants it: 0, or the errno.

    One that `is_kernels` happens in the kernel, and is of one thread.
    """
    number = _PERF_EVENT_OPEN.get(os.uname().machine)
    if ctypes is None or number is None or sys.maxsize < 2**32:
        return errno.ENOSYS
    flags, period = _DISABLED | _NO_KERNEL, 0
    if is_kernels:
        flags, period = _DISABLED | _ENDS_AT_EXEC | _SIGTRAP, 1
    elif is_signalled:
        flags, period = flags | _INHERITED | _IN_THREADS | _ENDS_AT_EXEC | _SIGTRAP, 1 << 30
    attribute = struct.pack("=IIQQQQQ", event_type, _ATTRIBUTE_BYTES, config, period, 0, 0, flags)
    attribute = attribute.ljust(_ATTRIBUTE_BYTES, b"\0")
    call = ctypes.CDLL(None, use_errno=True).syscall
    event = call(ctypes.c_long(number), attribute, 0, -1, -1, ctypes.c_ulong(_CLOSE_ON_EXEC))
    if event < 0:
        return ctypes.get_errno()
    os.close(event)
    return 0


_TIMEX = struct.Struct("@iqqqqi")  # how struct timex begins: modes, offset, frequency, maximum and estimated error, status
_TIMEX_BYTES = 256
_UNSYNCHRONIZED = 0x40
_SET_DUMPABLE = 4  # of prctl(2)
_DIE_WITH_PARENT, _SIGKILL = 1, 9  # PR_SET_PDEATHSIG


def can_host_metrics() -> bool:
    """Whether `host_metrics` can work in a child of this process: not where a recorder is at work already, and has only one table of metrics."""
    return ctypes is not None and find_recorder() is None


def read_clock_error_us() -> int | None:
    """How far off the wall clock may be, as whatever keeps it told the kernel; None if nothing does."""
    if ctypes is None or not hasattr(ctypes.CDLL(None), "adjtimex"):
        return None
    timex = ctypes.create_string_buffer(_TIMEX_BYTES)  # modes 0: nothing is set
    if ctypes.CDLL(None).adjtimex(timex) < 0:
        return None
    _, _, _, most_us, _, status = _TIMEX.unpack_from(timex)
    return None if status & _UNSYNCHRONIZED else int(most_us)


def forbid_cores() -> None:
    """Have this process leave no core when it is killed, not even where cores are given to a program, which heeds no limit."""
    if ctypes is not None:
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def watch_waits(recorder: str, experiment: str, pid: int, looks_ns: int, ready: int, end: int) -> int:
    """Watch where the threads of a process that is about to run a program wait, until the pipe `end` is closed; `ready` is closed when it may begin.

    For a thread of the parent, whom alone some systems let look at it. Gives 0 or -errno.
    """
    process = ctypes.CDLL(None)
    process.unsetenv(b"COLLECTOR_EXPERIMENT")  # or the library would begin to record this process
    run = ctypes.CDLL(recorder).collector_watch_waits
    run.argtypes = ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int
    return int(run(os.fsencode(experiment), pid, looks_ns, ready, end))


def host_metrics(recorder: str, preloads: Sequence[str], experiment: str, table: str, window: tuple[int, int], end: int) -> int:
    """Read the metrics of the node into the experiment until the pipe `end` is closed; `window` are ns of CLOCK_MONOTONIC.

    For a process made for that: it dies with its parent. Gives 0 or -errno.
    """
    process = ctypes.CDLL(None)
    process.prctl(_DIE_WITH_PARENT, _SIGKILL, 0, 0, 0)
    for name in ("COLLECTOR_EXPERIMENT", "COLLECTOR_METRICS"):
        process.unsetenv(name.encode())  # or the library would begin to record this process
    for path in preloads:
        try:
            ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
        except OSError:
            pass  # the plugin that needs it will say what it lacks
    run = ctypes.CDLL(recorder, ctypes.RTLD_GLOBAL).collector_host_metrics
    run.argtypes = ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int
    return int(run(os.fsencode(experiment), os.fsencode(table), *window, end))
