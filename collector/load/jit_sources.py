"""jit_sources -- what else is known of code that was made at run time: perf maps, jitdumps, and what a parent had made"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence

from collector.load.log_facts import LogFacts
from collector.target.address_space import Mapping


def add_jit_sources(objects_path: str | None, logs: Sequence[LogFacts]) -> list[str]:
    """Add to the address spaces of all logs what the experiment's copies and the logs of their parents say; complaints about what is unreadable."""
    complaints: list[str] = []
    kept = _names_in(objects_path)
    dumps = _dumps_in(kept)
    for facts in logs if kept else ():
        pid = facts.log.origin.pid
        sources = (f"perf-{pid}.map", _add_perf_map), (dumps.get(str(pid), ""), _add_jitdump), (f"pypy-{pid}.log", _add_pypy_log)
        for name, add in sources:
            if name in kept:
                add(facts, os.path.join(objects_path or "", name), complaints)
    in_order = sorted(logs, key=lambda facts: facts.start_ns)
    images: dict[int, list[LogFacts]] = {}
    for facts in in_order:
        images.setdefault(facts.log.origin.pid, []).append(facts)
    for facts in in_order:
        parent = _parent_of(facts, images)
        if parent is not None:
            facts.space.inherit(parent.space, facts.start_ns)
            facts.interpreter = facts.interpreter or parent.interpreter
    return complaints


def _dumps_in(names: set[str]) -> dict[str, str]:
    """By process: jit-PID.dump, or jit-THREAD-PID.dump as JavaScriptCore names it."""
    dumps = [name for name in names if name.startswith("jit-") and name.endswith(".dump")]
    return {name.removesuffix(".dump").rpartition("-")[2]: name for name in sorted(dumps, key=len, reverse=True)}


def _names_in(path: str | None) -> set[str]:
    try:
        return set(os.listdir(path)) if path is not None else set()
    except OSError:
        return set()  # most experiments have no copies


def _add_perf_map(facts: LogFacts, path: str, complaints: list[str]) -> None:
    from collector.target.perf_map import read_perf_map

    _add_untimed(facts, path, read_perf_map, complaints)


def _add_pypy_log(facts: LogFacts, path: str, complaints: list[str]) -> None:
    from collector.target.pypy_log import read_pypy_log

    _add_untimed(facts, path, read_pypy_log, complaints)


def _add_untimed(facts: LogFacts, path: str, read: Callable[[str], list[Mapping]], complaints: list[str]) -> None:
    try:
        facts.space.add_untimed(read(path))
    except OSError as error:
        complaints.append(f"{path} cannot be read: {(error.strerror or str(error)).lower()}")


def _add_jitdump(facts: LogFacts, path: str, complaints: list[str]) -> None:
    from collector.target.jitdump import read_jitdump

    try:
        dump = read_jitdump(path)
    except (OSError, ValueError) as error:
        complaints.append(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")
        return
    if dump.is_timed:
        for change in dump.changes:
            facts.space.add(change)
    else:
        facts.space.add_untimed(dump.untimed())


def _parent_of(facts: LogFacts, images: dict[int, list[LogFacts]]) -> LogFacts | None:
    """The image that forked this one; its first image only, for what comes after an execve has nothing of it.

    `images` are those of each process, in order of their beginnings.
    """
    if facts.process is None or not facts.process.is_forked:
        return None
    candidates = images.get(facts.process.parent_pid or 0, [])
    count = bisect_right(candidates, facts.start_ns, key=lambda other: other.start_ns)
    return next((other for other in reversed(candidates[max(0, count - 2) : count]) if other is not facts), None)
