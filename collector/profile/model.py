"""model -- a profile as tables: modules, functions, frames, processes, threads; and its samples, which can be asked for sums.

Tables refer to each other by position. Times are nanoseconds of the recorded machine's CLOCK_MONOTONIC.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from collector.profile.counted_row import CountedRow
from collector.profile.metrics import CPU_METRICS, Metric
from collector.profile.sample_point import SamplePoint
from collector.profile.samples import Samples, Scales

if TYPE_CHECKING:
    from collector.profile.metric_series import MetricSeries


_STRUCTOR: Final = re.compile(r"([CD])[0-5](?=[EI])")


@lru_cache(maxsize=1 << 12)  # asked for each address; most are in functions that others are in
def identity_of(raw_name: str) -> str:
    """The linker's name, the same for all variants of a C++ constructor or destructor: of whole objects, of bases, inlined."""
    return _STRUCTOR.sub(r"\1", raw_name) if raw_name.startswith("_Z") else raw_name


class Module(NamedTuple):
    """A file that code came from; `build_id` in hexadecimal, empty if it has none.

    `copy` is where the experiment keeps a copy of it, and `layout` how it lay in memory, if the program mapped it itself.
    `file`, if it has no build id: its size, the time of its last change (ns since 1970) and a checksum of its code when it was recorded.
    """

    name: str
    path: str
    build_id: str = ""
    copy: str | None = None
    layout: str = "image"
    file: tuple[int, int, int] | None = None


class Function(NamedTuple):
    """A function; `short_name` has long template and parameter lists abbreviated for tables.

    `alias` is what a program that made the function at run time says of it.
    """

    name: str
    short_name: str
    raw_name: str
    module: int
    file: str | None = None
    line: int | None = None
    alias: str | None = None

    @property
    def identity(self) -> tuple[str, str, int, str | None]:
        """The same name in the same file of the same module is the same function, whatever the line."""
        return self.name, identity_of(self.raw_name), self.module, self.file


PYTHON: Final = "python"
PYTHON_RELEASED: Final = "python without lock"
JAVA: Final = "java"
"""Kind of frames of Java methods, interpreted, compiled or inlined."""
METHOD: Final = "method"
"""Kind of frames of functions that an interpreter brings along in C."""
REGION: Final = "region"
"""Kind of frames that stand for the call which opened a parallel region: its caller is the frame before them."""
REGION_MARK: Final = " [parallel]"
"""What such a frame's function has behind the name of that caller's."""
PYTHON_KINDS: Final = frozenset((PYTHON, PYTHON_RELEASED))
"""Kinds of frames of Python functions. The innermost one of a stack tells whether its thread held the global interpreter lock."""
BYTECODE_KINDS: Final = PYTHON_KINDS | {JAVA}
"""Kinds of frames whose address is an offset in the code of their function."""


class Frame(NamedTuple):
    """A place in the code; `address` as written in the ELF file; `kind` native, inlined, dynamic, unknown, `METHOD`, `REGION` or one of `BYTECODE_KINDS`.

    An address has several frames where functions were inlined: they follow each other, the caller first, and all but the first are inlined.
    For a function that the program made at run time `code` is the position of its code, else -1; `address` is then the process's, and for a
    Python function or Java method the offset in its code.
    """

    function: int
    file: str | None = None
    line: int | None = None
    address: int = 0
    kind: str = "native"
    code: int = -1


class Code(NamedTuple):
    """Where a function that the program made lay in a process, and its instructions; `data` may be shorter, or empty.

    `lines` are pairs of little-endian int32: an offset, and the source line from there on.
    """

    start: int
    end: int
    data: bytes = b""
    lines: bytes = b""


class Clock(NamedTuple):
    """What made the samples of a process, and how fast it could; `detail` says why not a better one."""

    name: str
    period_ns: int
    effective_period_ns: int
    detail: str = ""


class Recording(NamedTuple):
    """One experiment: what ran, where, when.

    `status` is the wait status of the command and `accounted_ns` the CPU time that the kernel accounts for all
    processes that were waited for, recorded or not; None where nobody was there to see it. Times of a job on several nodes are
    put together by their wall clocks: `clock_moved_ns` is by how much one of those was seen to move against its own node's time, None if there is
    one clock only; `clock_error_ns` how far two may be apart, as their time services say, None if one has none.
    `waits` are texts of the form name=value: how each launcher found out where threads wait, and how often a look at one was of use or not;
    empty if it was not asked to.
    """

    path: str
    name: str
    command: tuple[str, ...] = ()
    directory: str = ""
    host: str = ""
    machine: str = ""
    kernel: str = ""
    cpu_count: int = 0
    page_bytes: int = 0
    wall_ns: int = 0
    start_ns: int = 0
    end_ns: int = 0
    status: int | None = None
    accounted_ns: int | None = None
    library_version: str = ""
    format_version: str = ""
    options: tuple[str, ...] = ()
    log_count: int = 0
    log_bytes: int = 0
    clock_moved_ns: int | None = None
    clock_error_ns: int | None = None
    waits: tuple[str, ...] = ()

    @property
    def has_times(self) -> bool:
        """Whether samples have times; some imported profiles have none, and all samples are at the beginning."""
        return "times=none" not in self.options

    @property
    def has_sums(self) -> bool:
        """Whether samples are sums of nobody knows how many, as in some imported profiles."""
        return "samples=sums" in self.options


class Process(NamedTuple):
    """One program image of a process; an `execve` begins the next image.

    `image` counts the logs of a process id; `first_image` is that of the process's first one, not 0 where the id was used before.
    `user_ns` and `system_ns` are what the kernel accounted while it was recorded, None if that is not known;
    `before_ns` is its CPU time when this image's recording began, `unrecorded_ns` the part of that which no
    earlier image accounts for, as of the dynamic linker. `is_closed`: its log was ended in order;
    `has_execed`: by an `execve`, so that its status is that of the next image; `was_terminated`: before the process ended, as by
    a call. `is_running`: it was being recorded still when the profile was made. `interpreter` is what runs another language in it:
    `CPython 3.11.2`. `node` is the host it ran on; `rank` is which process of a parallel job it is, or belongs to, and `local_rank` which of those
    on its node; None if none, or if its launcher did not say.
    """

    experiment: int
    pid: int
    image: int = 0
    first_image: int = 0
    parent_pid: int = 0
    executable: str = ""
    arguments: tuple[str, ...] = ()
    start_ns: int = 0
    end_ns: int | None = None
    status: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    before_ns: int = 0
    unrecorded_ns: int = 0
    clock: Clock | None = None
    is_closed: bool = True
    has_execed: bool = False
    was_terminated: bool = False
    is_running: bool = False
    interpreter: str = ""
    rank: int | None = None
    local_rank: int | None = None
    node: str = ""

    @property
    def name(self) -> str:
        """What the program was called by: `ld`, whatever file that leads to."""
        called = self.arguments[0].rpartition("/")[2].removeprefix("-") if self.arguments else ""
        return called or self.executable.rpartition("/")[2] or self.executable

    @property
    def identity(self) -> tuple[int, str, int, int]:
        """What the images of one process share, and those of no other: each node counts its processes for itself."""
        return self.experiment, self.node, self.pid, self.first_image


class Thread(NamedTuple):
    """A thread of one process image, with the kernel's account of its CPU time (None if not known).

    `cpu_ns` is its CPU time from `start_ns` to its end: by that account, or, where nobody read it, what its samples stand for. `scale` makes
    the samples add up to the account, together with `missing_scale`, that of the time of ticks which were missing before them, and
    `system_scale`, more of their system time; `unattributed_ns` is
    the part of it that no sample stands for, as while recording was paused.
    """

    process: int
    tid: int
    name: str = ""
    start_ns: int = 0
    end_ns: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    unattributed_ns: int = 0
    scale: float = 1.0
    cpu_ns: int = 0
    missing_scale: float = 0.0
    system_scale: float = 0.0

    @property
    def scales(self) -> Scales:
        """What the values of its samples are multiplied with."""
        return Scales(self.scale, self.missing_scale, self.scale + self.system_scale)


class Loss(CountedRow):
    """Data that is missing: how much of it, why (a key of `causes.DROP_CAUSES`) and in which log."""

    experiment: int
    cause: str
    count: int
    where: str

    __slots__ = __match_args__ = ("experiment", "cause", "count", "where")

    def __init__(self, experiment: int, cause: str, count: int, where: str = "") -> None:
        self._set(experiment, cause, count, where)


class Message(CountedRow):
    """A sentence that the recorder or the reader has to say, and when first (None: no time); severity 0 note, 1 warning, 2 error.

    `nameless` is the module that has no function names for this reason, `outdated` the one with sources that are newer than it.
    `is_hint`: it says how to see more, and every view tells it in full.
    """

    experiment: int
    severity: int
    text: str
    count: int
    subject: str | None
    time_ns: int | None
    nameless: str
    outdated: str
    is_hint: bool

    __slots__ = __match_args__ = ("experiment", "severity", "text", "count", "subject", "time_ns", "nameless", "outdated", "is_hint")

    def __init__(
        self,
        experiment: int,
        severity: int,
        text: str,
        count: int = 1,
        subject: str | None = None,
        time_ns: int | None = None,
        nameless: str = "",
        outdated: str = "",
        is_hint: bool = False,
    ) -> None:
        self._set(experiment, severity, text, count, subject, time_ns, nameless, outdated, is_hint)


class Pause(NamedTuple):
    """A span during which a process was not recorded; `end_ns` is None if recording never went on."""

    process: int
    cause: str
    start_ns: int
    end_ns: int | None = None


class Unrecorded(NamedTuple):
    """A process in which nothing was recorded: when it was gone, how it ended (None: nobody saw it), its program, and why.

    `is_lost`: the recorder was in it, but there is no log.
    """

    experiment: int
    pid: int
    time_ns: int = 0
    status: int | None = None
    program: str = ""
    reason: str = ""
    is_lost: bool = False


class SourceDigest(NamedTuple):
    """The MD5 sum (hexadecimal) of a source file when it was compiled, if the compiler gives it."""

    path: str
    md5: str


class Profile(NamedTuple):
    """Everything that reports stand on; `filters` say in words which of its samples are left, and `chosen` are the positions of the processes that
    were asked for, None if none were.
    """

    recordings: tuple[Recording, ...]
    modules: tuple[Module, ...]
    functions: Sequence[Function]
    frames: Sequence[Frame]
    processes: tuple[Process, ...]
    threads: tuple[Thread, ...]
    samples: Samples
    points: tuple[SamplePoint, ...] = ()
    losses: tuple[Loss, ...] = ()
    messages: tuple[Message, ...] = ()
    pauses: tuple[Pause, ...] = ()
    codes: tuple[Code, ...] = ()
    unrecorded: tuple[Unrecorded, ...] = ()
    digests: tuple[SourceDigest, ...] = ()
    series: "Sequence[MetricSeries]" = ()
    metrics: tuple[Metric, ...] = CPU_METRICS
    filters: tuple[str, ...] = ()
    chosen: frozenset[int] | None = None
