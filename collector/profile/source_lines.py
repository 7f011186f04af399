"""source_lines -- the time of each line of one source file."""

from __future__ import annotations

from dataclasses import dataclass

from collector.profile.metrics import Values, reported_values
from collector.profile.model import Profile


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A line of a source file that is on a stack, and its time."""

    line: int
    exclusive: Values
    inclusive: Values


def source_lines(profile: Profile, file: str) -> list[SourceRow]:
    """The lines of `file` that are on any stack, in the order of the file."""
    numbers = sorted({frame.line for frame in profile.frames if frame.file == file and frame.line})
    group_of_line = {line: group for group, line in enumerate(numbers, 1)}
    groups = [group_of_line.get(frame.line or 0, 0) if frame.file == file else 0 for frame in profile.frames]
    sums = profile.samples.sum_groups(groups, len(numbers) + 1)
    exclusive, inclusive = list(zip(*sums.exclusive)), list(zip(*sums.inclusive))
    rows = [
        SourceRow(
            line,
            reported_values(profile.metrics, exclusive[group]),
            reported_values(profile.metrics, inclusive[group]),
        )
        for line, group in group_of_line.items()
    ]
    return [row for row in rows if any(row.inclusive)]


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
