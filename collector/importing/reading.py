"""reading -- which profiler's file it is, by its content, and what it says"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from collector.importing.callgrind import is_callgrind, read_callgrind
from collector.importing.experiment_files import MOST_TOTAL_NS
from collector.importing.folded import is_folded, read_folded
from collector.importing.model import ImportedProfile
from collector.importing.perf_script import is_perf_script, read_perf_script
from collector.importing.pprof import is_pprof, read_pprof
from collector.importing.source_file import SourceFile
from collector.units import NS_PER_S, listed


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    fits: Callable[[bytes], bool]
    read: Callable[[SourceFile, str | None], ImportedProfile]


# In the order in which they are tried: lines that end in a number are of several formats.
_FORMATS: Final = {
    one.name: one
    for one in (
        _Format("pprof", is_pprof, read_pprof),
        _Format("callgrind", is_callgrind, read_callgrind),
        _Format("perf", is_perf_script, read_perf_script),
        _Format("folded", is_folded, read_folded),
    )
}
FORMATS: Final = tuple(_FORMATS)
"""The names of all formats."""


def read_profile(path: str, format_name: str | None, value_name: str | None, unit_ns: int | None) -> ImportedProfile:
    """Read a profile of a format, or of the one that it looks like. ForeignProfileError if it cannot be read.

    `value_name` is which of its values to take, `unit_ns` what one of it stands for, if it is not what the file says.
    """
    source = SourceFile(path)
    if not source.head:
        raise source.refuse("is empty")
    if format_name is None:
        format_name = next((one.name for one in _FORMATS.values() if one.fits(source.head)), None)
    if format_name is None:
        raise source.refuse(f"is no profile that is known: text of perf script, pprof, callgrind or folded stacks (--format {listed(FORMATS)} forces one)")
    try:
        profile = _FORMATS[format_name].read(source, value_name)
    except OverflowError as error:
        raise source.refuse("has numbers that are too large for any profile") from error
    if unit_ns is not None:
        profile.value.unit_ns, profile.value.is_time = unit_ns, True
    profile.processes = [process for process in profile.processes if any(len(thread.times) for thread in process.threads)]
    for process in profile.processes:
        process.threads = [thread for thread in process.threads if len(thread.times)]
    if not profile.sample_count:
        raise source.refuse("holds no samples")
    if profile.total * profile.value.unit_ns >= MOST_TOTAL_NS:
        raise source.refuse(f"has values that add up to {profile.total:,} {profile.value.unit}, which is more than can be shown")
    if not profile.has_times:
        _place_in_time(profile)
    return profile


def _place_in_time(profile: ImportedProfile) -> None:
    """All samples at the beginning, because the profile has no times; the moment itself means nothing."""
    profile.start_ns, profile.end_ns = NS_PER_S, NS_PER_S + profile.end_ns
    for process in profile.processes:
        for thread in process.threads:
            thread.times = array("Q", [NS_PER_S]) * len(thread.times)
