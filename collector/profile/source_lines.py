"""source_lines -- the time of each line of one source file."""


from typing import NamedTuple

from collector.profile.groupings import by_source_line
from collector.profile.metrics import Values, reported_values
from collector.profile.model import Profile


class SourceRow(NamedTuple):
    """A line of a source file that is on a stack, and its time."""

    line: int
    exclusive: Values
    inclusive: Values


def source_lines(profile: Profile, file: str) -> list[SourceRow]:
    """The lines of `file` that are on any stack, in the order of the file."""
    grouping, places = by_source_line(profile)
    sums = profile.samples.sum_groups(grouping)
    rows = [
        SourceRow(
            line,
            reported_values(profile.metrics, [column[group] for column in sums.exclusive]),
            reported_values(profile.metrics, [column[group] for column in sums.inclusive]),
        )
        for group, (path, line) in enumerate(places)
        if path == file and line
    ]
    return sorted((row for row in rows if any(row.inclusive)), key=lambda row: row.line)


def last_line(profile: Profile, file: str) -> int:
    """The last line of `file` that is known; 0 if none is."""
    return max((frame.line or 0 for frame in profile.frames if frame.file == file), default=0)


def function_span(profile: Profile, function: int) -> tuple[str, int, int] | None:
    """Source file, first and last known line of a function; None where its file is not known."""
    known = profile.functions[function]
    frames = [frame for frame in profile.frames if frame.function == function and frame.file and frame.line]
    files = [known.file] if known.file else [frame.file for frame in frames]
    if not files or files[0] is None:
        return None
    hit = [frame.line for frame in frames if frame.file == files[0] and frame.line]
    if known.line:
        hit.append(known.line)
    return (files[0], min(hit), max(hit)) if hit else None
