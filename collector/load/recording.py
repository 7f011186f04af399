"""recording -- what ran, where and when: from the first and last words of the logs to the profile's tables"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from collector.experiment.events import ProcExit
from collector.experiment.liveness import is_alive
from collector.experiment.origin import ProcessIdentity
from collector.format import CloseReason
from collector.load.log_facts import LogFacts
from collector.load.waits import Waits
from collector.profile.model import Clock, Process, Recording
from collector.units import plural


class PartFacts(NamedTuple):
    """What one launcher recorded, all of an experiment or a rank of it: its own log, node.log, those of the processes, and waits.log; and which rank of which
    node its directory is named after.
    """

    launch: LogFacts | None
    node: LogFacts | None
    logs: list[LogFacts]
    waits: Waits | None = None
    rank: int | None = None
    host: str = ""

    @property
    def with_samples(self) -> list[LogFacts]:
        """Of the logs that have samples."""
        return [*self.logs, *([self.waits.facts] if self.waits else [])]


def recording_of(path: str, parts: Sequence[PartFacts]) -> Recording:
    """The experiment as a whole: the launchers' word where it was recorded by them, else the first process's."""
    launches = [part.launch for part in parts if part.launch]
    logs = [facts for part in parts for facts in part.logs]
    others = [facts for part in parts for facts in (part.node, part.waits and part.waits.facts) if facts]
    known = [facts for facts in launches + _by_time(logs) if facts.initialize is not None]
    all_facts = logs + launches + others
    start_ns = min((facts.start_ns for facts in all_facts if facts.first_ns is not None), default=0)
    end_ns = max((facts.last_ns for facts in all_facts), default=start_ns)
    closed = [launch.close for launch in launches]
    recording = Recording(
        path=os.path.abspath(path),
        name=os.path.basename(os.path.abspath(path)),
        start_ns=start_ns,
        end_ns=max(start_ns, end_ns),
        status=next((end.status for end in telling_ends(launches)), None),
        accounted_ns=sum((one.user_ns or 0) + (one.system_ns or 0) for one in closed if one) if closed and all(closed) else None,
        log_count=len(all_facts),
        log_bytes=sum(facts.size_bytes for facts in all_facts),
    )
    return _introduced(recording, known) if known else recording


def _introduced(recording: Recording, known: list[LogFacts]) -> Recording:
    told = [facts.initialize for facts in known if facts.initialize is not None]
    first = told[0]

    def word(name: str) -> Any:
        # The launcher's log need not say everything; the first process's then does.
        return next((value for event in told if (value := getattr(event, name))), None)

    nodes = {event.host: event.cpu_count or 0 for event in reversed(told) if event.host}
    return recording._replace(
        command=tuple(word("arguments") or ()),
        directory=word("directory") or "",
        host=_host(list(nodes)),
        machine=word("machine") or "",
        kernel=word("kernel") or "",
        cpu_count=sum(nodes.values()) or word("cpu_count") or 0,
        page_bytes=word("page_bytes") or 0,
        wall_ns=(first.wall_ns or 0) - (first.time - recording.start_ns) if first.wall_ns else 0,
        library_version=word("library_version") or "",
        format_version=f"{first.version_major}.{first.version_minor}",
        options=tuple(word("options") or ()),
    )


def _host(nodes: Sequence[str]) -> str:
    """Of several nodes the first in order, and how many more."""
    first, *others = sorted(nodes) or [""]
    return f"{first} and {plural(len(others), 'other node')}" if others else first


def process_of(experiment: int, identity: ProcessIdentity, facts: LogFacts, previous: LogFacts | None, statuses: Mapping[int, int]) -> Process:
    """One process image; `previous` is the image before it of the same process, if there was one, and `statuses` what `launched_statuses` gives."""
    begun, closed = facts.initialize, facts.close
    user_ns = system_ns = None
    before_ns = unrecorded_ns = 0
    if begun is not None:
        earlier = previous.close if previous is not None else None
        begun_ns = (begun.user_ns or 0) + (begun.system_ns or 0)
        before_ns = _attached_ns(facts) or begun_ns
        unrecorded_ns = before_ns - ((earlier.user_ns or 0) + (earlier.system_ns or 0) if earlier else 0)
        if closed is not None and closed.user_ns is not None and closed.system_ns is not None:
            user_ns = max(0, closed.user_ns - (begun.user_ns or 0) - (before_ns - begun_ns))
            system_ns = max(0, closed.system_ns - (begun.system_ns or 0))
    image, process = facts.image, facts.process
    has_execed = closed is not None and closed.reason is CloseReason.EXEC
    seen_status = statuses.get(identity.pid) if identity.first_image == 0 else None  # the launcher's command is the first of its number
    return Process(
        experiment=experiment,
        pid=identity.pid,
        image=facts.log.origin.image,
        first_image=identity.first_image,
        parent_pid=(process.parent_pid or 0) if process else 0,
        executable=(image.executable or "") if image else "",
        arguments=image.arguments if image else (),
        start_ns=facts.start_ns,
        end_ns=facts.last_ns or None,
        status=None if has_execed else process.status if seen_status is None and process else seen_status,
        user_ns=user_ns,
        system_ns=system_ns,
        before_ns=before_ns,
        unrecorded_ns=max(0, unrecorded_ns),
        clock=_clock(facts),
        is_closed=closed is not None,
        has_execed=has_execed,
        was_terminated=closed is not None and closed.reason in (CloseReason.TERMINATED, CloseReason.SECCOMP),
        is_running=closed is None and is_alive(facts.log),
        interpreter=_interpreter(facts),
        rank=begun.rank if begun else None,
        local_rank=begun.local_rank if begun else None,
        node=(begun.host or "") if begun else "",
    )


def _interpreter(facts: LogFacts) -> str:
    event = facts.interpreter
    return f"{event.name or ''} {event.version or ''}".strip() if event else ""


def _attached_ns(facts: LogFacts) -> int:
    """The CPU time that the process had used when its clock was started."""
    return (facts.attached.value or 0) * 1000 if facts.attached is not None else 0


def _clock(facts: LogFacts) -> Clock | None:
    event = facts.clock
    if event is None:
        return None
    periods_ns = (0, 0) if event.clock == "off" else (event.period_ns or 0, event.effective_period_ns or 0)
    return Clock(event.clock or "", *periods_ns, event.detail or "")


def telling_ends(launches: Sequence[LogFacts]) -> list[ProcExit]:
    """Of the ends that launchers saw the one that tells how all of it ended: the first command to fail, or else the first to end; none if none was seen."""
    ends = sorted((end for launch in launches for end in launch.ends if end.status is not None), key=lambda end: (end.time, end.status or 0))
    return [end for end in ends if end.status][:1] or ends[:1]


def launched_statuses(launch: LogFacts | None) -> dict[int, int]:
    """By process id, the wait statuses that the launcher saw."""
    ends = launch.ends if launch else []
    return {event.pid: event.status for event in ends if event.pid is not None and event.status is not None}


def _by_time(logs: list[LogFacts]) -> list[LogFacts]:
    return sorted(logs, key=lambda facts: (facts.start_ns, facts.log.origin))
