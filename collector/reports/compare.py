"""compare -- two sets of runs side by side: the total, then what changed most; and the answer in one sentence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from collector.profile.change import CONFIDENCE, Change
from collector.profile.compared_run import Run
from collector.profile.comparison import ComparedRow, Comparison
from collector.profile.findings import answer, notes, path_steps, rules, signed_amount, word_of
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style, shorten
from collector.reports.table import figure, name, table_lines
from collector.units import plural

_CONFIDENCE = f"{100 * CONFIDENCE:g} %"
COLUMNS = (
    figure("Before", "s", rank=1),
    figure("After", "s"),
    figure("Difference", "s", rank=2),
    figure("Difference", f"± {_CONFIDENCE}", rank=3),
    figure("Ratio"),
    figure("Ratio", _CONFIDENCE, rank=4),
    name("Finding", least=7),
    name("Function", least=20, keep="name", good=32),
    name("Module", least=10, rank=5),
    name("Source", least=14, keep="end", rank=6),
)
_REST_COLUMNS = (figure("Beside rest", rank=3), figure("Beside rest", _CONFIDENCE, rank=4))
_RATIO_END = 6
_LINE_COLUMNS = (*COLUMNS[:-2], COLUMNS[-2]._replace(rank=6), COLUMNS[-1]._replace(rank=0))
_PATH_COLUMNS = (*COLUMNS[:-3], name("Call path", least=20, keep="end", good=44), COLUMNS[-2])
_COLUMNS = {"line": _LINE_COLUMNS, "path": _PATH_COLUMNS}
_COMMAND_WIDTH = 60


def render(comparison: Comparison, selection: Selection, style: Style) -> str:
    """The table of changes; a finding is what differs by more than chance."""
    lines = [style.bold(shorten(f"{comparison.metric.title} of each {comparison.kind} before and after", style.width)), ""]
    lines += layout.pair_lines(_what_is_compared(comparison), style)
    metric = comparison.metric
    columns = [column._replace(unit=metric.unit) if column.unit == "s" else column for column in _COLUMNS.get(comparison.by, COLUMNS)]
    has_rest = any(row.change.rest_ratio is not None for row in comparison.rows)
    if has_rest:
        columns[_RATIO_END:_RATIO_END] = _REST_COLUMNS
    total = [*_cells(comparison.total, comparison, has_rest), f"total {metric.title}", "", ""]
    table = table_lines(columns, [cells[: len(columns)] for cells in (total, *(_row_cells(row, comparison, has_rest) for row in selection.rows))], style)
    lines += ["", *table[:2], style.bold(table[2]), *table[3:]]
    lines += layout.hidden_line(selection.hidden, comparison.kind, style)
    for sentence in (*notes(comparison), answer(comparison)):
        lines += ["", *layout.paragraph(sentence, style)]
    return "\n".join(lines)


def _what_is_compared(comparison: Comparison) -> list[tuple[str, str]]:
    return [("Before", _runs(comparison.before)), ("After", _runs(comparison.after)), *rules(comparison)]


def _runs(runs: Sequence[Run]) -> str:
    commands = dict.fromkeys(shlex.join(run.command) for run in runs)
    command = shorten(next(iter(commands)), _COMMAND_WIDTH, keep="start") + (" and others" if len(commands) > 1 else "")
    return f"{plural(len(runs), 'run')} of {command}: {', '.join(run.name for run in runs)}"


def _cells(change: Change, comparison: Comparison, has_rest: bool) -> list[str]:
    has_ratio, metric = change.ratio_low is not None, comparison.metric
    few = "too few" if comparison.is_sampled else "-"
    return [
        layout.amount(change.before, metric) if change.before else "-",
        layout.amount(change.after, metric) if change.after else "-",
        signed_amount(change.difference, metric),
        "-" if change.difference_high is None else layout.amount(change.difference_high - change.difference, metric),
        f"{change.ratio:.3f}" if change.ratio else "-",
        f"{change.ratio_low:.3f}–{change.ratio_high:.3f}" if has_ratio else "-",
        *(_rest_cells(change) if has_rest else ()),
        few if change.p is None else "" if change.verdict == "none" else word_of(change.verdict, metric),
    ]


def _rest_cells(change: Change) -> list[str]:
    if change.rest_ratio is None:
        return ["-", "-"]
    return [f"{change.rest_ratio:.3f}", f"{change.rest_low:.3f}–{change.rest_high:.3f}"]


def _row_cells(row: ComparedRow, comparison: Comparison, has_rest: bool) -> list[str]:
    place = row.place
    name = layout.function_title(place.function) if place.callers is None else " → ".join(path_steps(place))
    return [*_cells(row.change, comparison, has_rest), name, place.module.name, layout.place(place.file, place.line)]
