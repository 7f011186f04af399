"""recording -- what ran, where and when: from the first and last words of the logs to the profile's tables"""

from __future__ import annotations

import os

from collector.experiment.events import ProcExit
from collector.load.log_facts import LogFacts
from collector.profile.model import Clock, Process, Recording


def recording_of(path: str, launch: LogFacts | None, logs: list[LogFacts]) -> Recording:
    """The experiment as a whole: the launcher's word where it was recorded by one, else the first process's."""
    known = [facts for facts in ([launch] if launch else []) + _by_time(logs) if facts.initialize is not None]
    all_facts = logs + ([launch] if launch else [])
    start_ns = min((facts.start_ns for facts in all_facts if facts.first_ns is not None), default=0)
    end_ns = max((facts.last_ns for facts in all_facts), default=start_ns)
    recording = Recording(
        path=os.path.abspath(path),
        name=os.path.basename(os.path.abspath(path)),
        start_ns=start_ns,
        end_ns=max(start_ns, end_ns),
        status=_status(launch, logs),
        log_count=len(all_facts),
        log_bytes=sum(facts.size_bytes for facts in all_facts),
    )
    return _introduced(recording, known) if known else recording


def _introduced(recording: Recording, known: list[LogFacts]) -> Recording:
    first = known[0].initialize
    assert first is not None
    wall_ns = (first.wall_ns or 0) - (first.time - recording.start_ns) if first.wall_ns else 0
    # The launcher's log need not say everything; the first process's then does.
    told = [facts.initialize for facts in known if facts.initialize is not None]

    def word(name: str):
        return next((value for event in told if (value := getattr(event, name))), None)

    return Recording(
        path=recording.path,
        name=recording.name,
        command=tuple(word("arguments") or ()),
        directory=word("directory") or "",
        host=word("host") or "",
        machine=word("machine") or "",
        kernel=word("kernel") or "",
        cpu_count=word("cpu_count") or 0,
        page_bytes=word("page_bytes") or 0,
        wall_ns=wall_ns,
        start_ns=recording.start_ns,
        end_ns=recording.end_ns,
        status=recording.status,
        library_version=word("library_version") or "",
        format_version=f"{first.version_major}.{first.version_minor}",
        options=tuple(word("options") or ()),
        log_count=recording.log_count,
        log_bytes=recording.log_bytes,
    )


def process_of(experiment: int, facts: LogFacts, previous: LogFacts | None, launch: LogFacts | None) -> Process:
    """One process image; `previous` is the image before it of the same process, if there was one."""
    begun, closed = facts.initialize, facts.close
    pid = facts.log.origin.pid
    user_ns = system_ns = None
    unrecorded_ns = 0
    if begun is not None:
        earlier = previous.close if previous is not None else None
        unrecorded_ns = (begun.user_ns or 0) + (begun.system_ns or 0)
        if earlier is not None:
            unrecorded_ns -= (earlier.user_ns or 0) + (earlier.system_ns or 0)
        if closed is not None and closed.user_ns is not None and closed.system_ns is not None:
            user_ns = max(0, closed.user_ns - (begun.user_ns or 0))
            system_ns = max(0, closed.system_ns - (begun.system_ns or 0))
    return Process(
        experiment=experiment,
        pid=pid,
        image=facts.log.origin.image,
        parent_pid=_parent(facts),
        executable=(begun.executable or "") if begun else "",
        arguments=tuple((begun.arguments or ()) if begun else ()),
        start_ns=facts.start_ns,
        end_ns=facts.last_ns or None,
        status=_process_status(facts, launch),
        user_ns=user_ns,
        system_ns=system_ns,
        unrecorded_ns=max(0, unrecorded_ns),
        clock=clock_of(facts),
        is_closed=closed is not None,
    )


def clock_of(facts: LogFacts) -> Clock | None:
    """The clock of a process; None if it never began to measure CPU time."""
    for event in facts.clocks.values():
        if event.name == "cpu":
            return Clock(event.clock or "", event.period_ns or 0, event.effective_period_ns or 0, event.detail or "")
    return None


def _parent(facts: LogFacts) -> int:
    if facts.fork is not None and facts.fork.parent_pid:
        return facts.fork.parent_pid
    return (facts.initialize.ppid or 0) if facts.initialize else 0


def _process_status(facts: LogFacts, launch: LogFacts | None) -> int | None:
    if facts.exit is not None and facts.exit.status is not None:
        return facts.exit.status
    return _launched_statuses(launch).get(facts.log.origin.pid)


def _status(launch: LogFacts | None, logs: list[LogFacts]) -> int | None:
    """The wait status of the command: the launcher saw it, or else the first process told it."""
    statuses = _launched_statuses(launch)
    if statuses:
        return next(iter(statuses.values()))
    for facts in _by_time(logs)[:1]:
        if facts.exit is not None:
            return facts.exit.status
    return None


def _launched_statuses(launch: LogFacts | None) -> dict[int, int]:
    if launch is None:
        return {}
    return {
        event.pid: event.status
        for event in launch.exits
        if isinstance(event, ProcExit) and event.pid is not None and event.status is not None
    }


def _by_time(logs: list[LogFacts]) -> list[LogFacts]:
    return sorted(logs, key=lambda facts: (facts.start_ns, facts.log.origin))
