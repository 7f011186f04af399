"""function -- all that is known of one function, in a few lines."""

from __future__ import annotations

from collector.profile.aggregate import FunctionRow, total_values
from collector.profile.model import Profile
from collector.profile.names import python_functions
from collector.reports import layout
from collector.reports.style import Style
from collector.units import format_percent, format_seconds, plural


def render(profile: Profile, row: FunctionRow, style: Style) -> str:
    """Names, what the program says of it, where it comes from, and its time."""
    function, whole = row.function, total_values(profile)[0]
    position = profile.functions.index(function)
    places = {frame.code for frame in profile.frames if frame.function == position and frame.code >= 0}
    pairs = [
        ("Name", function.name),
        ("Linker", function.raw_name if function.raw_name != function.name and position not in python_functions(profile) else ""),
        ("Alias", function.alias or ""),
        ("Module", row.module.path or row.module.name),
        ("Source", f"{function.file}:{function.line}" if function.line else function.file or ""),
        ("Memory", plural(len(places), "place in memory where it was sampled", "places in memory where it was sampled") if places else ""),
        ("Exclusive", _time(row.exclusive, whole)),
        ("Inclusive", _time(row.inclusive, whole)),
    ]
    return "\n".join([layout.title_line(profile, f"Function {function.short_name}", style, "in"), "", *layout.pair_lines(pairs, style)])


def _time(values: tuple[float, ...], whole: float) -> str:
    return f"{format_seconds(values[0])} s, {format_percent(values[0], whole)} % ({format_seconds(values[1])} user, {format_seconds(values[2])} system)"
