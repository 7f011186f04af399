"""experiment_files -- an imported profile as the logs of an experiment (docs/format.md)"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from typing import Any, Final

from collector.errors import RecordError
from collector.experiment.log_writer import LogWriter
from collector.experiment.sample_writer import Stack, sample_records
from collector.format import VERSION_MAJOR, VERSION_MINOR, Kind, StackEnd
from collector.importing.code_places import CodePlaces
from collector.importing.model import ImportedProcess, ImportedProfile, ImportedThread
from collector.units import NS_PER_S, format_count

MOST_TOTAL_NS: Final = 1 << 62
_MOST_VALUE_NS: Final = 1 << 47  # of a sample; readers believe no more than twice that
_SOURCE: Final = 1
_VALUES: Final = ["user ns", "system ns"]
_NOTE, _WARNING, _EVERY_VIEW = 0, 1, 3


def write_experiment(profile: ImportedProfile, directory: str, origin: str, version: str) -> None:
    """Write the logs into an empty directory. `origin` says what was imported; RecordError if they cannot be written."""
    try:
        _write_all(profile, directory, origin, version)
    except OSError as error:
        raise RecordError(f"{directory} cannot be written: {(error.strerror or str(error)).lower()}") from error


def _write_all(profile: ImportedProfile, directory: str, origin: str, version: str) -> None:
    launch = LogWriter(os.path.join(directory, "launch.log"))
    options = [f"comment={origin}", *([] if profile.has_times else ["times=none"]), *(["samples=sums"] if profile.has_sums else [])]
    launch.append(Kind.INITIALIZE, profile.start_ns, *_beginning(profile, None, options, version))
    for severity, text in _messages(profile):
        launch.append(Kind.MESSAGE, profile.start_ns, severity, text, 1, None)
    launch.close(profile.end_ns, None, None)
    writers = [launch]
    places = CodePlaces(profile)
    stacks = _Stacks(profile, places)
    for process in profile.processes:
        log = LogWriter(os.path.join(directory, f"{process.pid}.0.log"))
        _write_process(log, profile, process, places, stacks, version)
        writers.append(log)
    for writer in writers:
        if writer.error is not None:
            raise writer.error


def _write_process(log: LogWriter, profile: ImportedProfile, process: ImportedProcess, places: CodePlaces, stacks: _Stacks, version: str) -> None:
    begun_ns = min((thread.times[0] for thread in process.threads if thread.times), default=profile.start_ns)
    value = profile.value
    log.append(Kind.INITIALIZE, begun_ns, *_beginning(profile, process, [], version))
    log.append(Kind.PMCALLOCATE, begun_ns, _SOURCE, "cpu", value.name, "ns", value.period_ns, value.period_ns, "", [], _VALUES)
    log.append_all(places.records(begun_ns, stacks.locations_of(process)))
    count, end_ns = 0, begun_ns
    for thread in process.threads:
        times, values, numbers = _split(thread, value.unit_ns)
        user = [0 if stacks.is_kernel[number] else amount for amount, number in zip(values, numbers)]
        system = [amount if stacks.is_kernel[number] else 0 for amount, number in zip(values, numbers)]
        log.append(Kind.THR_CREATE, times[0], thread.name, 0, thread=thread.tid)
        log.append_all(sample_records(thread.tid, _SOURCE, times, (user, system), numbers, stacks.stacks))
        log.append(Kind.THR_EXIT, times[-1], thread.name, None, None, 0, 0, thread=thread.tid)
        count, end_ns = count + len(times), max(end_ns, times[-1])
    log.close(end_ns if profile.has_times else profile.end_ns, None, None, count)


def _split(thread: ImportedThread, unit_ns: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Times, values in nanoseconds and stacks, in the order of time; what is too much for one sample is several."""
    order: Sequence[int] = range(len(thread.times))
    if any(after < before for before, after in zip(thread.times, thread.times[1:])):
        order = sorted(order, key=thread.times.__getitem__)
    times, values, stacks = array("Q"), array("Q"), array("I")
    for place in order:
        amount = thread.values[place] * unit_ns
        while True:
            times.append(thread.times[place])
            values.append(min(amount, _MOST_VALUE_NS))
            stacks.append(thread.stacks[place])
            amount -= values[-1]
            if not amount:
                break
    return times, values, stacks


class _Stacks:
    """The stacks of a profile as logs have them, by number."""

    def __init__(self, profile: ImportedProfile, places: CodePlaces) -> None:
        addresses = places.addresses
        self._locations = profile.stacks
        self.stacks: list[Stack] = []
        self.is_kernel: list[bool] = []
        """Whether the innermost frame is the kernel's."""
        for number, locations in enumerate(profile.stacks):
            end = profile.ends.get(number, StackEnd.COMPLETE)
            callers = [addresses[location] + 1 for location in locations[:-1]]
            self.stacks.append((end, (*callers, addresses[locations[-1]]) if locations else ()))
            self.is_kernel.append(bool(locations) and profile.locations[locations[-1]].is_kernel)

    def locations_of(self, process: ImportedProcess) -> set[int]:
        """The locations on the stacks of a process."""
        return {location for number in {number for thread in process.threads for number in thread.stacks} for location in self._locations[number]}


def _beginning(profile: ImportedProfile, process: ImportedProcess | None, options: list[str], version: str) -> list[Any]:
    """The fields of INITIALIZE; without a process those of launch.log."""
    machine = profile.machine
    wall_ns = profile.wall_ns or None
    pid = process.pid if process else None
    executable = process.executable if process else None
    return [
        VERSION_MAJOR, VERSION_MINOR, wall_ns, pid, None, 0, machine.host, machine.name, machine.kernel, machine.cpu_count, None, executable,
        list(profile.command) if process is None else [], None, options, version,
    ]  # fmt: skip


def _messages(profile: ImportedProfile) -> list[tuple[int, str]]:
    value = profile.value
    messages = [(_WARNING, text) for text in profile.warnings]
    messages += [(_NOTE, text) for text in profile.notes]
    if not value.is_time:
        per_second = NS_PER_S // value.unit_ns
        messages.append((_EVERY_VIEW, f"What is shown as time counts {value.unit}: 1 s stands for {format_count(per_second)} of them."))
    messages.append((_NOTE, f"Imported from {profile.format}: {profile.contents}."))
    return messages
