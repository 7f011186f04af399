"""callers_callees -- one function between those who called it and those it called."""

from __future__ import annotations

from collector.profile.aggregate import total_values
from collector.profile.callers_callees import NeighbourRow, Neighbours
from collector.profile.metrics import Metric, Values
from collector.profile.model import Profile
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import figure, name, table_lines
from collector.units import format_percent

COLUMNS = (
    figure("Time", "s"),
    figure("Time", "%"),
    figure("Samples", rank=2),
    name("Function", least=16, keep="name"),
    name("Module", least=10, rank=1),
)


def render(profile: Profile, neighbours: Neighbours, limit: int | None, style: Style) -> str:
    """Callers above, the function in the middle, callees below; percent are of the function's inclusive time."""
    whole = layout.Whole(neighbours.inclusive[0], profile.metrics[0])
    share = format_percent(whole, total_values(profile)[0])
    title = layout.function_title(neighbours.function)
    lines = [layout.title_line(profile, f"Callers and callees of {title}", style, "in"), ""]
    callers, callees = list(neighbours.callers), list(neighbours.callees)
    shown = limit or max(len(callers), len(callees))
    body = [_neighbour_cells(row, whole, "  ") for row in callers[:shown]]
    here = len(body)
    body.append(_cells(neighbours.exclusive, whole, title, neighbours.module.name))
    body += [_neighbour_cells(row, whole, "  ") for row in callees[:shown]]
    table = table_lines(layout.measured_columns(COLUMNS, profile, has_others=False), body, style)
    heading = len(table) - len(body)
    lines += table[:heading]
    lines.append(style.dim("  called by"))
    lines += table[heading : heading + here]
    lines += layout.hidden_line(callers[shown:], "caller", style, *_hidden(callers[shown:], profile, whole))
    lines.append(style.dim("  itself"))
    lines.append(style.bold(table[heading + here]))
    lines.append(style.dim("  calls"))
    lines += table[heading + here + 1 :] or [style.dim("    nothing")]
    lines += layout.hidden_line(callees[shown:], "callee", style, *_hidden(callees[shown:], profile, whole))
    lines += [""]
    lines += layout.paragraph(
        f"Together {layout.amount(whole, whole.metric)} {_spent(whole.metric)} in it and what it calls, {share} % of the whole.", style
    )
    if neighbours.function.alias:
        lines += layout.paragraph(f"The program says of it: {neighbours.function.alias}", style)
    return "\n".join(lines)


def _spent(metric: Metric) -> str:
    """What stands behind an amount of the metric, in a sentence."""
    if metric.name == "cpu":
        return "s are spent"
    return f"{f'{metric.unit} of' if metric.unit else 'of'} {metric.name} are"


def _hidden(rows: list[NeighbourRow], profile: Profile, whole: layout.Whole) -> tuple[Values, float]:
    return layout.summed((row.values for row in rows), len(profile.metrics)), whole


def _neighbour_cells(row: NeighbourRow, whole: layout.Whole, indent: str) -> list[str]:
    title = layout.function_title(row.function) if row.function else "(start of the stack)"
    return _cells(row.values, whole, indent + title, row.module.name if row.module else "")


def _cells(values: Values, whole: layout.Whole, title: str, module: str) -> list[str]:
    return [*layout.time_cells(values[0], whole), layout.sample_cell(values), title, module]
