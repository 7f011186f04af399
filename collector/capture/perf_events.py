"""perf_events -- what -h and --counters count: events by the names of perf, how often one is sampled, and which of them this machine has"""

import errno
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from collector.errors import UsageError

MOST_EVENTS: Final = 4
MOST_COUNTED: Final = 6
USAGE: Final = ("faults", "switches")
"""What the kernel counts of each thread anyway."""
_HARDWARE, _SOFTWARE, _CACHE, _RAW = 0, 1, 3, 4  # enum perf_type_id
_MISSES: Final = 1 << 16
_PERIODS: Final = {
    _HARDWARE: {"on": 1_000_003, "hi": 100_003, "lo": 10_000_019},
    _SOFTWARE: {"on": 101, "hi": 11, "lo": 1009},
    _CACHE: {"on": 1_000_003, "hi": 100_003, "lo": 10_000_019},
    _RAW: {"on": 1_000_003, "hi": 100_003, "lo": 10_000_019},
}
_FREQUENT: Final = {"on": 9_999_991, "hi": 999_983, "lo": 99_999_989}
"""How many events make a sample: primes, so that nothing periodic keeps step with them. The second are for cycles and instructions."""


class PerfEvent(NamedTuple):
    """An event, sampled every `period` times that it happens; 0: only counted."""

    name: str
    type: int
    config: int
    period: int

    def encode(self) -> str:
        """As the recorder takes it."""
        return f"{self.type}.{self.config}.{self.period}.{self.name}"


class _Known(NamedTuple):
    """What an event is; `is_kernels`: it happens in the kernel alone, where not everybody may count."""

    type: int
    config: int
    meaning: str
    aliases: tuple[str, ...] = ()
    is_kernels: bool = False


KNOWN: Final[dict[str, _Known]] = {
    "cycles": _Known(_HARDWARE, 0, "processor cycles", ("cpu-cycles",)),
    "instructions": _Known(_HARDWARE, 1, "instructions"),
    "cache-references": _Known(_HARDWARE, 2, "accesses to the last-level cache"),
    "cache-misses": _Known(_HARDWARE, 3, "accesses that the last-level cache could not serve"),
    "branches": _Known(_HARDWARE, 4, "branch instructions", ("branch-instructions",)),
    "branch-misses": _Known(_HARDWARE, 5, "branches that were predicted wrong"),
    "bus-cycles": _Known(_HARDWARE, 6, "cycles of the bus"),
    "stalled-cycles-frontend": _Known(_HARDWARE, 7, "cycles without an instruction to begin"),
    "stalled-cycles-backend": _Known(_HARDWARE, 8, "cycles in which instructions waited for data or units"),
    "ref-cycles": _Known(_HARDWARE, 9, "cycles at the nominal clock"),
    "L1-dcache-loads": _Known(_CACHE, 0, "loads through the first data cache"),
    "L1-dcache-load-misses": _Known(_CACHE, 0 | _MISSES, "loads that it could not serve"),
    "LLC-loads": _Known(_CACHE, 2, "loads through the last-level cache"),
    "LLC-load-misses": _Known(_CACHE, 2 | _MISSES, "loads that it could not serve"),
    "dTLB-loads": _Known(_CACHE, 3, "look-ups of addresses of data"),
    "dTLB-load-misses": _Known(_CACHE, 3 | _MISSES, "look-ups that took a walk of the page tables"),
    "iTLB-loads": _Known(_CACHE, 4, "look-ups of addresses of code"),
    "iTLB-load-misses": _Known(_CACHE, 4 | _MISSES, "look-ups that took a walk of the page tables"),
    "page-faults": _Known(_SOFTWARE, 2, "page faults", ("faults",)),
    "minor-faults": _Known(_SOFTWARE, 5, "page faults without I/O"),
    "major-faults": _Known(_SOFTWARE, 6, "page faults with I/O"),
    "alignment-faults": _Known(_SOFTWARE, 7, "accesses that were not aligned, where the kernel mends them"),
    "emulation-faults": _Known(_SOFTWARE, 8, "instructions that the kernel emulates"),
    "context-switches": _Known(_SOFTWARE, 3, "context switches", ("cs",), True),
    "cpu-migrations": _Known(_SOFTWARE, 4, "moves to another processor", ("migrations",), True),
}
_BY_ALIAS: Final = {alias: name for name, known in KNOWN.items() for alias in known.aliases}

Probe = Callable[[int, int], int]
"""Whether the kernel lets an event be sampled here: 0, or an errno. It takes type and config."""


def parse_events(text: str) -> tuple[PerfEvent, ...]:
    """The events of the -h of collect(1): EVENT[,on|hi|lo|NUMBER], more of them behind commas. UsageError if it makes no sense."""
    events: list[PerfEvent] = []
    for word in text.split(","):
        if events and (word in _FREQUENT or re.fullmatch("[0-9]+", word)):
            last = events.pop()
            events.append(last._replace(period=_period(last.name, last.type, word)))
        else:
            event = _event(word, "-h")
            events.append(event._replace(period=_period(event.name, event.type, "on")))
    _check_number(events, MOST_EVENTS, "-h")
    return tuple(events)


def parse_counters(text: str) -> tuple[frozenset[str], tuple[PerfEvent, ...]]:
    """What --counters reads at each tick: of what the kernel counts anyway, and as events. UsageError if it makes no sense."""
    words = text.split(",")
    events = [_event(word, "--counters") for word in words if word not in USAGE]
    _check_number(events, MOST_COUNTED, "--counters")
    return frozenset(words) & set(USAGE), tuple(events)


def _event(word: str, option: str) -> PerfEvent:
    name = _BY_ALIAS.get(word, word)
    if name in KNOWN:
        return PerfEvent(name, KNOWN[name].type, KNOWN[name].config, 0)
    if re.fullmatch("r[0-9a-f]{1,16}", name):
        return PerfEvent(name, _RAW, int(name[1:], 16), 0)
    raise UsageError(f"{option}: there is no event {word!r}; -h alone lists those of this machine")


def _check_number(events: Sequence[PerfEvent], most: int, option: str) -> None:
    if len(events) > most:
        raise UsageError(f"{option} counts {most} events at a time, not {len(events)}")
    if len({event.name for event in events}) < len(events):
        raise UsageError(f"{option} names an event twice")


def _period(name: str, type_of: int, word: str) -> int:
    if word in _FREQUENT:
        return (_FREQUENT if name in ("cycles", "instructions", "ref-cycles") else _PERIODS[type_of])[word]
    if not 0 < int(word) < 1 << 32:
        raise UsageError(f"-h {name},{word}: a sample is at least 1 event, and less than 4294967296")
    return int(word)


def check_events(events: tuple[PerfEvent, ...], probe: Probe, option: str = "-h") -> None:
    """UsageError with one sentence if one of them cannot be counted here."""
    for event in events:
        problem = _problem(event.name, event.type, event.config, probe)
        if problem:
            raise UsageError(f"{option} {event.name}: {problem}")


def describe_events(probe: Probe) -> list[str]:
    """The events of this machine, a line each; then what there is not, and why."""
    problems = {name: _problem(name, known.type, known.config, probe) for name, known in KNOWN.items()}
    lines = ["Events that can be counted here (-h EVENT[,on|hi|lo|NUMBER],... or --counters EVENT,...):", ""]
    lines += [f"  {', '.join((name, *KNOWN[name].aliases)):<30} {KNOWN[name].meaning}" for name, problem in problems.items() if not problem]
    if not problems["cycles"]:
        lines.append(f"  {'rNNN':<30} what the processor counts under this number (hexadecimal)")
    lines += ["", "--counters takes faults and switches as well: page faults and context switches, as the kernel counts them of each thread anyway."]
    reasons: dict[str, list[str]] = {}
    for name, problem in problems.items():
        if problem:
            reasons.setdefault(problem, []).append(name)
    for problem, names in reasons.items():
        lines += ["", f"Not {', '.join(names)}: {problem}."]
    return lines


def exact_waits_problem(probe: Callable[[int, int], int], kernel: str) -> str:
    """Why threads cannot tell each of their waits themselves; empty if they can. `probe` is of events in the kernel."""
    version = re.match(r"(\d+)\.(\d+)", kernel)
    if version and (int(version[1]), int(version[2])) < (6, 1):
        return f"it needs Linux 6.1, and this is {kernel}"
    code = probe(_SOFTWARE, KNOWN["context-switches"].config)
    if code in (errno.EACCES, errno.EPERM):
        return "it needs CAP_PERFMON, or 1 or less in /proc/sys/kernel/perf_event_paranoid; --wall without it needs neither"
    return f"the kernel refuses it ({errno.errorcode.get(code, code)})" if code else ""


def _problem(name: str, type_of: int, config: int, probe: Probe) -> str:
    """Why an event cannot be counted here; empty if it can."""
    if name in KNOWN and KNOWN[name].is_kernels:
        return "it happens in the kernel, which is not counted; --counters switches counts context switches"
    code = probe(type_of, config)
    if not code:
        return ""
    if type_of != _SOFTWARE and code in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "this machine has none: its processor, or the machine that it is a part of, gives no such counter"
    if code in (errno.EACCES, errno.EPERM):
        return "the kernel does not allow it (/proc/sys/kernel/perf_event_paranoid, or a sandbox)"
    if code == errno.EINVAL:
        return "the kernel cannot signal a thread for it; that takes Linux 5.19"
    return f"the kernel refuses it ({errno.errorcode.get(code, code)})"
