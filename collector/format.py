"""format -- the experiment's format as one table: kinds, fields, causes, and the constants of a frame.

The page docs/format.md is the same table for people; the C side is libcollector_c/src/experiment/format.h.
A test holds the three against each other.
"""

from __future__ import annotations

from enum import IntEnum

from collector.readings import READINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

VERSION_MAJOR: Final = 1
VERSION_MINOR: Final = 0

FRAME_EXT_CODE: Final = 0xC9
FRAME_EXT_TYPE: Final = 0x50
FRAME_SYNC: Final = b"\xc1cev"
FRAME_HEADER_BYTES: Final = 22
FRAME_MAX_BYTES: Final = 1 << 20

OPEN_MAGIC: Final = b"COLOPEN1"
OPEN_HEADER_BYTES: Final = 64
OPEN_SLOT_BYTES: Final = 1 << 16
OPEN_TAIL_BYTES: Final = 64

METRIC_MAX_VALUES: Final = 64
SAMPLE_MAX_VALUES: Final = 20
FRAMES_LEFT_OUT: Final = 1
"""The address on a stack that stands for frames between its leaf's part and its root's."""
WATCHED_CODE: Final = range(3 << 55, 2 << 56)
"""Addresses on a stack of waits.log at which that log has code of the process."""
PREEMPTED: Final = WATCHED_CODE.stop - 2
"""The leaf of such a stack that stands for time in which the thread's processor had been taken away."""
WAIT_UNSEEN: Final = WATCHED_CODE.stop - 1
"""The same for waits that no look was at."""
REGIONS: Final = range(1 << 63, 3 << 62)
"""Addresses on a stack that stand for parallel regions: the return address of the call that opened it is 2^63 less."""


class Kind(IntEnum):
    """Kinds of records. 1 to 14 are the kinds of pmclog(3); ours begin at 32."""

    CLOSELOG = 1
    DROPNOTIFY = 2
    INITIALIZE = 3
    MAPPINGCHANGE = 4
    PCSAMPLE = 5
    PMCALLOCATE = 6
    PMCATTACH = 7
    PMCDETACH = 8
    PROCCSW = 9
    PROCEXEC = 10
    PROCEXIT = 11
    PROCFORK = 12
    SYSEXIT = 13
    USERDATA = 14
    SAMPLE = 32
    PAUSE = 33
    RESUME = 34
    THR_CREATE = 35
    THR_EXIT = 36
    METRIC = 37
    MESSAGE = 38
    INTERPRETER = 39


class StackEnd(IntEnum):
    """Why a call stack ends where it ends. Everything but COMPLETE and GUESSED means frames towards the root are missing."""

    COMPLETE = 0
    DEPTH_LIMIT = 1
    NO_UNWIND_INFO = 2
    GUESSED = 3
    UNREADABLE = 4
    BAD_PC = 5
    BAD_FRAME = 6
    NOT_SAMPLED = 7


class DropCause(IntEnum):
    """Why data is missing: counted by the recorder (1 to 15) or found by the reader (16 and up)."""

    BUSY = 1
    NO_SPACE = 2
    NO_MEMORY = 3
    LOG_FULL = 4
    BAD_ARGUMENT = 5
    UNSAFE_THREAD = 6
    DAMAGE = 16
    MISSING_FRAMES = 17
    TRUNCATED = 18
    UNKNOWN_KIND = 19


class SampleCause(IntEnum):
    """What made a SAMPLE record."""

    API = 0
    PERIODIC = 1
    SIGNAL = 2
    START = 3
    END = 4


class PauseCause(IntEnum):
    """What made a PAUSE or RESUME record."""

    API = 0
    SIGNAL = 1
    OPTION = 3
    TRACER = 4


class CloseReason(IntEnum):
    """Why a log was closed in order."""

    EXIT = 0
    TERMINATED = 1
    EXEC = 2
    SECCOMP = 4


class MapAction(IntEnum):
    """MAPPINGCHANGE: what happened."""

    INSERT = 1
    DELETE = 2


class MapKind(IntEnum):
    """MAPPINGCHANGE: what it happened to."""

    OBJECT = 0
    DYNAMIC_FUNCTION = 1
    DYNAMIC_MODULE = 2
    ANONYMOUS = 3
    PYTHON_CODE = 4
    IMPORTED_CODE = 5
    JAVA_METHOD = 6


class LineEncoding(IntEnum):
    """MAPPINGCHANGE: how `lines` is encoded. The last three are CPython's own tables."""

    PAIRS = 0
    LNOTAB = 1
    LINETABLE = 2
    LOCATIONS = 3


# kind -> ((field, type, meaning), ...), after the three that every record has.
FIELDS: Final[dict[Kind, tuple[tuple[str, str, str], ...]]] = {
    Kind.INITIALIZE: (
        ("version_major", "uint", "readers refuse a newer one"),
        ("version_minor", "uint", "fields or kinds were added"),
        ("wall_ns", "uint", "CLOCK_REALTIME at `time`"),
        ("pid", "uint", "process id"),
        ("ppid", "uint", "parent's process id"),
        ("image", "uint", "N of the file's name"),
        ("host", "str", "uname -n"),
        ("machine", "str", "uname -m"),
        ("kernel", "str", "uname -r"),
        ("cpu_count", "uint", "processors online; nil but in `launch.log`, `node.log`, and the log of a process that made the experiment's directory"),
        ("page_bytes", "uint", "size of a page"),
        ("executable", "str", "path of the program file"),
        ("arguments", "array of str", "argv"),
        ("directory", "str", "working directory"),
        ("options", "array of str", "`name=value` as the recorder understood them"),
        ("library_version", "str", "version of the recorder"),
        ("uid", "uint", "real user id"),
        ("user_ns", "uint", "user CPU time of the process before recording began"),
        ("system_ns", "uint", "system CPU time of the process before recording began"),
        ("start_ticks", "uint", "when the process began: field 22 of /proc/self/stat, see below; nil if unknown"),
        ("pid_namespace", "uint", "the PID namespace that `pid` counts in: inode of /proc/self/ns/pid; nil if unknown"),
        ("rank", "uint", "which rank of a parallel job it is, or belongs to; nil if none"),
        ("local_rank", "uint", "which of the ranks on its node; nil if none, or unknown"),
    ),
    Kind.CLOSELOG: (
        ("reason", "uint", "CloseReason"),
        ("sample_count", "uint", "PCSAMPLE samples written to this log"),
        ("frame_count", "uint", "frames written before this one"),
        ("drop_count", "uint", "all drops of this log"),
        ("user_ns", "uint", "user CPU time of the process so far"),
        ("system_ns", "uint", "system CPU time of the process so far"),
    ),
    Kind.DROPNOTIFY: (
        ("cause", "uint", "DropCause"),
        ("count", "uint", "how many so far: cumulative per thread and cause"),
        ("offset", "uint", "reader: byte offset of the loss in the log"),
        ("length", "uint", "reader: bytes lost"),
    ),
    Kind.MAPPINGCHANGE: (
        ("action", "uint", "MapAction"),
        ("map_kind", "uint", "MapKind"),
        ("start", "uint", "first address"),
        ("end", "uint", "first address after it"),
        ("bias", "uint", "elf_address = address - bias, modulo 2^64"),
        ("file_offset", "uint", "offset of `start` in the file"),
        ("path", "str", "file, or [vdso], or empty; imported code: its module, as given"),
        ("build_id", "bin", "GNU build id, empty or nil if none"),
        ("name", "str", "dynamic function, imported code: its name; Python code: its qualified name; Java method: its class and name"),
        ("alias", "str", "dynamic function: free text; Java method: its descriptor; nil if none"),
        ("source", "str", "dynamic function, Python and imported code, Java method: source file, nil if none"),
        ("lines", "bin", "the same: lines by offset, encoded as `line_table` says"),
        ("code", "bin", "dynamic function: its bytes when it was registered"),
        ("copy", "str", "dynamic module: file in objects/ that holds a copy, nil if none"),
        ("file_bytes", "uint", "file without a build id: its size, nil if unknown"),
        ("file_changed_ns", "uint", "the same: CLOCK_REALTIME of the last change of its contents"),
        ("text_checksum", "uint", "the same: of its code in memory, see below"),
        ("first_line", "uint", "Python and imported code: line of its definition, nil if unknown"),
        ("line_table", "uint", "LineEncoding"),
        ("definition", "str", "imported code: source file of the function, nil if unknown"),
        ("caller", "uint", "imported code that was inlined: the address that stands for the call; else nil"),
    ),
    Kind.PCSAMPLE: (
        ("source", "uint", "id given by PMCALLOCATE"),
        ("count", "uint", "samples in this record, n"),
        ("unit_ns", "uint", "unit of the times, and of values in ns"),
        ("times", "column", "time of sample i = time + unit_ns * (times[0] + ... + times[i])"),
        ("values", "array of column", "what sample i stands for: a column for each of the source's `values`, at most 20"),
        ("stacks", "column", "index of sample i's stack in the definitions"),
        ("stack_count", "uint", "stacks defined"),
        ("definitions", "bin", "the stacks, see below"),
    ),
    Kind.PMCALLOCATE: (
        ("source", "uint", "id of the source in this log"),
        ("name", "str", "what is measured: cpu, or the id of a metric"),
        ("clock", "str", "how: sigtrap, task-clock, cpu-timer, or plugin; imported samples: what was counted"),
        ("unit", "str", "unit of its values"),
        ("period_ns", "uint", "asked period"),
        ("effective_period_ns", "uint", "shortest period the clock can deliver here"),
        ("detail", "str", "why this clock: what kept the clocks before it from being used"),
        ("attributes", "array of str", "of a metric: `name=value`, see Metrics; empty for a clock"),
        ("values", "array of str", "what its samples stand for, see Values; nil or empty for a metric"),
        ("counted_as", "str", "the metric that counts its samples, nil: samples"),
    ),
    Kind.PMCATTACH: (
        ("source", "uint", "id of the source"),
        ("pid", "uint", "process"),
        ("value", "uint", "reading of the source at this moment, in its unit; nil for a metric"),
    ),
    Kind.PMCDETACH: (
        ("source", "uint", "id of the source"),
        ("pid", "uint", "process"),
    ),
    Kind.PROCCSW: (
        ("source", "uint", "id of the source"),
        ("pid", "uint", "process"),
        ("value", "uint", "reading of the source so far, in its unit"),
        ("voluntary", "uint", "1 the thread gave way itself, 0 it was preempted"),
        ("count", "uint", "how many switches of that kind since the thread's last record of it"),
    ),
    Kind.PROCEXEC: (
        ("pid", "uint", "process"),
        ("entry", "uint", "entry address of the new image, 0 where it is not known yet"),
        ("path", "str", "program file"),
    ),
    Kind.PROCFORK: (
        ("parent_pid", "uint", "who forked"),
        ("child_pid", "uint", "who was born"),
    ),
    Kind.PROCEXIT: (
        ("pid", "uint", "process"),
        ("source", "uint", "id of the source"),
        ("value", "uint", "accumulated reading of the source, in its unit"),
        ("user_ns", "uint", "user CPU time of the process"),
        ("system_ns", "uint", "system CPU time of the process"),
        ("status", "int", "wait status where it is known, else nil"),
    ),
    Kind.SYSEXIT: (
        ("pid", "uint", "a descendant that was not recorded"),
        ("status", "int", "wait status, nil if unknown"),
        ("path", "str", "its program, nil if unknown"),
        ("reason", "str", "why it was not recorded"),
    ),
    Kind.USERDATA: (("data", "bin", "what the program wrote"),),
    Kind.SAMPLE: (
        ("label", "str", "what the program called it; empty for periodic ones"),
        ("cause", "uint", "SampleCause"),
        ("pid", "uint", "process"),
        *READINGS,
    ),
    Kind.PAUSE: (("cause", "uint", "PauseCause"),),
    Kind.RESUME: (("cause", "uint", "PauseCause"),),
    Kind.THR_CREATE: (
        ("name", "str", "the thread's name then"),
        ("start_address", "uint", "function it was started with, 0 if unknown"),
    ),
    Kind.THR_EXIT: (
        ("name", "str", "the thread's name at the end"),
        ("user_ns", "uint", "user CPU time of the thread; nil, as `name` and `system_ns`, of one whose process was killed"),
        ("system_ns", "uint", "system CPU time of the thread"),
        ("is_exit", "uint", "1 the thread ended; 0 it was alive when the log was closed"),
        ("pending_ns", "uint", "CPU time since its last sample, or of missing ticks, that no sample stands for: readers add it, see `missing`"),
    ),
    Kind.METRIC: (
        ("source", "uint", "id given by PMCALLOCATE"),
        ("interval_ns", "uint", "wall time the value covers"),
        ("value", "uint or float or array", "the value, or the raw delta of the interval; several: see Metrics"),
    ),
    Kind.MESSAGE: (
        ("severity", "uint", "0 note, 1 warning, 2 error, 3 what every view has to say"),
        ("text", "str", "one sentence"),
        ("count", "uint", "how often so far"),
        ("subject", "str", "what it is about, nil if the recorder itself"),
    ),
    Kind.INTERPRETER: (
        ("name", "str", "CPython or HotSpot"),
        ("version", "str", "3.11.2"),
        ("start", "uint", "first address of the code of the module that holds the interpreter, 0 if unknown"),
        ("end", "uint", "first address after it, 0 if unknown"),
        ("detail", "str", "why its functions are not recorded, nil if they are"),
    ),
}

ENUMERATIONS: Final[dict[tuple[Kind, str], type[IntEnum]]] = {
    (Kind.CLOSELOG, "reason"): CloseReason,
    (Kind.DROPNOTIFY, "cause"): DropCause,
    (Kind.MAPPINGCHANGE, "action"): MapAction,
    (Kind.MAPPINGCHANGE, "map_kind"): MapKind,
    (Kind.MAPPINGCHANGE, "line_table"): LineEncoding,
    (Kind.SAMPLE, "cause"): SampleCause,
    (Kind.PAUSE, "cause"): PauseCause,
    (Kind.RESUME, "cause"): PauseCause,
}
"""Fields whose numbers have names. A number that has none stays a number."""
