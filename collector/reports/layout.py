"""layout -- what all views share on the page: headings, pairs of a word and its meaning, closing remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from collector.profile.aggregate import FunctionRow, total_values
from collector.profile.causes import exit_status, signal_name
from collector.profile.metrics import CAUSE, CPU_METRICS, Metric, RatioPlace, Values, is_hidden, ratios_of
from collector.profile.model import Function, Process, Profile
from collector.profile.precision import error_of, exact_variance
from collector.profile.warnings import Titled, brief_warnings, few_samples, stand_ins
from collector.reports.style import Style, printable, shorten
from collector.reports.table import INDENT, Column, figure, name, table_lines
from collector.units import NS_PER_S, format_amount, format_amounts, format_count, format_duration, format_percent, format_percents, format_seconds, plural

_CAUSE_RANK = 6
_SAMPLES = [metric.name for metric in CPU_METRICS].index("samples")


def title_line(profile: Profile, words: str, style: Style, preposition: str = "of") -> str:
    """First line of a view: what it shows, and of which experiments; and what was left out, if anything was."""
    words = printable(words)
    names = ", ".join(printable(recording.name) for recording in profile.recordings)
    if len(words) + len(names) + 5 > style.width and len(profile.recordings) > 1:
        names = plural(len(profile.recordings), "experiment")
    title = style.bold(shorten(f"{words} {preposition} {names}", style.width))
    return "\n".join([title, *paragraph(f"only {filters_line(profile)}", style)]) if profile.filters else title


def filters_line(profile: Profile) -> str:
    """Which samples are shown, in words; empty if all are."""
    return "; ".join(profile.filters)


def pair_lines(pairs: Iterable[tuple[str, str]], style: Style) -> list[str]:
    """Words in one column, their meanings in the next; long meanings go on below themselves."""
    import textwrap  # late, as below: tables have no sentences

    known = [(word, printable(meaning)) for word, meaning in pairs if meaning]
    width = max((len(word) for word, _ in known), default=0) + 2
    room = max(16, style.width - len(INDENT) - width)
    lines = []
    for word, meaning in known:
        parts = textwrap.wrap(meaning, room, break_on_hyphens=False) or [""]
        lines.append(f"{INDENT}{word:<{width}}{parts[0]}")
        lines += [f"{INDENT}{'':<{width}}{part}" for part in parts[1:]]
    return lines


def paragraph(text: str, style: Style) -> list[str]:
    """A sentence, indented and broken at the page's width."""
    import textwrap

    return textwrap.wrap(
        printable(text),
        max(20, style.width),
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_on_hyphens=False,
    )


_OF_METRIC = {"Exclusive": "Exclusive", "Inclusive": "Inclusive", "Time": "Total", "CPU time": "Total"}
"""Columns of the metric that a view is about, and what they are called if it is not CPU time."""


class Whole(float):
    """The total of the metric that a view is about: what shares are of. `error` says of a row how far off it may be."""

    metric: Metric
    error: Callable[[Values], float | None]

    def __new__(cls, value: float, metric: Metric) -> Whole:
        """A total, and the metric that it is of."""
        whole = super().__new__(cls, value)
        whole.metric = metric
        return whole


def whole_of(profile: Profile, total: Values) -> Whole:
    """The total of the profile's first metric, of all its totals."""
    whole = Whole(total[0], profile.metrics[0])
    whole.error = partial(error_of, profile.metrics, whole=exact_variance(profile, total))
    return whole


def amount(value: float, metric: Metric) -> str:
    """A figure as it is written: seconds, or a number."""
    return format_amount(value, metric.unit)


def time_cells(value: float, whole: Whole) -> tuple[str, str]:
    """A time in seconds, or what else is shown, and its share of the whole in percent."""
    return amount(value, whole.metric), format_percent(value, whole)


def figure_cells(values: Values, whole: Whole, has_errors: bool) -> list[str]:
    """A time in seconds, perhaps its sampling error, and its share of the whole."""
    return [column[0] for column in figure_columns([values], whole, has_errors)]


def figure_columns(rows: Sequence[Values], whole: Whole, has_errors: bool) -> list[list[str]]:
    """The same of many rows, column by column."""
    values = [row[0] for row in rows]
    errors = [[error_cell(row, whole) for row in rows]] if has_errors else []
    return [format_amounts(values, whole.metric.unit), *errors, format_percents(values, float(whole))]


def metric_heading(metric: Metric) -> str:
    """A metric's name, and its unit if it has one."""
    return printable(f"{metric.name} {metric.unit}".rstrip())


def measured_columns(columns: Iterable[Column], profile: Profile, has_others: bool = True) -> list[Column]:
    """The columns of a table, those of time named by the metric that is shown; behind that of samples, the other metrics."""
    first, _, _, _, *others = profile.metrics
    others = [other for other in others if not is_hidden(other.name)]
    named: list[Column] = []
    for column in columns:
        if first.name != "cpu" and column.title in _OF_METRIC:
            unit = metric_heading(first) if column.unit == "s" else column.unit
            column = column._replace(title=_OF_METRIC[column.title], unit=unit)
        named.append(column)
        if has_others and column.title == "Samples":
            title = "Exclusive" if named[0].title == "Exclusive" else "Total"
            ranks = _ranks_of(profile, others)
            named += [figure(title, metric_heading(other), rank=ranks[other.name]) for other in others]
            named += [figure(title, f"{place.ratio.name} %" if place.ratio.is_share else place.ratio.name, rank=1) for place in ratios_of(profile.metrics)]
    return named


def _ranks_of(profile: Profile, others: Sequence[Metric]) -> dict[str, int]:
    """Which of the other metrics make way first where there is no room: causes of waits, the least time first."""
    ranks = {other.name: 1 for other in others}
    causes = [other for other in others if other.name.startswith(CAUSE)]
    if causes:
        totals = dict(zip((metric.name for metric in profile.metrics), total_values(profile)))
        causes.sort(key=lambda cause: -totals[cause.name])
        ranks.update({cause.name: _CAUSE_RANK + place for place, cause in enumerate(causes)})
    if "blocked" in ranks:
        ranks.update(runnable=2, looks=_CAUSE_RANK + len(causes))
    return ranks


def other_cells(profile: Profile, values: Values) -> list[str]:
    """The figures of the other metrics and their ratios, for the columns behind that of samples."""
    return [column[0] for column in other_columns(profile, [values])]


def other_rows(profile: Profile, rows: Sequence[Values]) -> Sequence[tuple[str, ...]]:
    """The same of many rows."""
    return list(zip(*other_columns(profile, rows))) or [()] * len(rows)


def other_columns(profile: Profile, rows: Sequence[Values]) -> list[list[str]]:
    """The same column by column."""
    others = [(place, metric) for place, metric in enumerate(profile.metrics) if place >= len(CPU_METRICS) and not is_hidden(metric.name)]
    figures = [format_amounts([values[place] for values in rows], metric.unit) for place, metric in others]
    return figures + [[ratio_text(place, values) for values in rows] for place in ratios_of(profile.metrics)]


def ratio_text(place: RatioPlace, values: Values) -> str:
    """A ratio of a row: in percent, or with two decimals; `-` where there is nothing to divide by."""
    value = place.of(values)
    return "-" if value is None else format_percent(value, 1) if place.ratio.is_share else f"{value:.2f}"


def error_cell(values: Values, whole: Whole) -> str:
    """How far off a time may be; empty without samples."""
    error = whole.error(values)
    return "" if error is None else format_seconds(error)


def error_columns(columns: Iterable[Column], has_errors: bool) -> list[Column]:
    """The columns, each time with one of its sampling error behind it, if that is wanted."""
    pairs = ([column, column._replace(unit="±")] if has_errors and column.unit == "s" else [column] for column in columns)
    return [column for pair in pairs for column in pair]


def sample_number(values: Values) -> int:
    """How many samples a row of figures rests on."""
    return round(values[_SAMPLES])


def sample_cell(values: Values) -> str:
    """The same as text."""
    return format_count(sample_number(values))


def sample_column(rows: Sequence[Values]) -> list[str]:
    """The same of many rows."""
    return format_amounts([values[_SAMPLES] for values in rows], "")


def titled(rows: Iterable[FunctionRow]) -> Titled:
    """Functions as rows that may rest on few samples."""
    return ((function_title(row.function), row.exclusive) for row in rows)


def few_samples_lines(profile: Profile, rows: Titled, total: Values, style: Style) -> list[str]:
    """A remark where rows (title, figures) with much time rest on few samples; nothing where none does."""
    text = few_samples(profile, rows, total)
    return ["", *paragraph(text, style)] if text else []


def stand_in_lines(profile: Profile, style: Style) -> list[str]:
    """A remark, below a table with a column of samples, on those that were not taken; nothing where all were."""
    text = stand_ins(profile)
    return ["", *paragraph(text, style)] if text else []


def warning_lines(profile: Profile, style: Style, says_outdated: bool = False, has_code: bool = True) -> list[str]:
    """What went wrong, in short, below any view; nothing if nothing did. `says_outdated`, `has_code`: of the view, as brief_warnings has it."""
    sentences = brief_warnings(profile, says_outdated, has_code)
    return ["", *paragraph(" ".join(sentences), style)] if sentences else []


def hidden_line(hidden: Sequence[object], word: str, style: Style, part: Values | None = None, whole: float = 0.0) -> list[str]:
    """What was left out of a table, as its last line; nothing if nothing was."""
    if not hidden:
        return []
    text = f"{INDENT}... and {plural(len(hidden), *(f'more {form}' for form in word.split('|')))}"
    if part is not None:
        text += f", {format_percent(part[0], whole)} %"
    return [style.dim(text)]


def summed(rows: Iterable[Values], width: int) -> Values:
    """The sum of rows of figures; zeros for no rows."""
    sums = [0.0] * width
    for row in rows:
        for position, value in enumerate(row):
            sums[position] += value
    return tuple(sums)


def group_lines(
    columns: Sequence[Column], grouped: Sequence[tuple[list[str], list[list[str]], list[str]]], style: Style
) -> list[str]:
    """A table of groups: for each the cells of its own row, those of the rows below it, and lines on what was left out."""
    table = table_lines(columns, [cells for own, rows, _ in grouped for cells in (own, *rows)], style)
    place = len(table) - sum(1 + len(rows) for _, rows, _ in grouped)
    lines = table[:place]
    for number, (_, rows, closing) in enumerate(grouped):
        lines += [""] if number else []
        lines += [style.bold(table[place]), *table[place + 1 : place + 1 + len(rows)], *closing]
        place += 1 + len(rows)
    return lines


def nothing_lines(style: Style) -> list[str]:
    """The sentence for a profile without a single sample."""
    return paragraph("There are no samples here: no thread used enough CPU time for one, or recording was paused.", style)


def function_title(function: Function) -> str:
    """A function's name as tables show it."""
    return function.short_name


def place(file: str | None, line: int | None) -> str:
    """`name.c:12`, without the directory; empty if nothing is known."""
    if not file:
        return ""
    base = file.rpartition("/")[2]
    return f"{base}:{line}" if line else base


def place_columns(profile: Profile) -> dict[Column, Callable[[Process], str]]:
    """The columns that say where a process of a parallel job ran, and what each shows: its rank, and its node if there are several."""
    columns: dict[Column, Callable[[Process], str]] = {}
    if any(process.rank is not None for process in profile.processes):
        columns[figure("Rank")] = lambda process: "-" if process.rank is None else str(process.rank)
    if len({process.node for process in profile.processes}) > 1:
        columns[name("Node", least=6)] = lambda process: process.node or "-"
    return columns


def process_ending(process: Process) -> str:
    """How a process image ended; a log that was not closed is one that something cut short, or that is still written."""
    if process.has_execed:
        return "exec"
    if process.is_running:
        return "running"
    if process.status is None and not process.is_closed:
        return "cut short"
    return ending(process.status)


def ending(status: int | None) -> str:
    """How a process ended, from its wait status: `status 1`, `SIGKILL`; `-` if nobody saw it."""
    number = exit_status(status)
    if number is None:
        return "-"
    return signal_name(-number) or f"signal {-number}" if number < 0 else f"status {number}"


def pauses_text(profile: Profile) -> str:
    """How often, how long and for what part of the run recording was paused, in all processes together; empty if it was not."""
    if not profile.pauses:
        return ""
    spans = sum(_end_ns(profile, profile.processes[pause.process], pause.end_ns) - pause.start_ns for pause in profile.pauses)
    lives = sum(_end_ns(profile, process) - process.start_ns for process in profile.processes)
    whose = "run" if len({process.identity for process in profile.processes}) == 1 else "processes' run time"
    return f"{plural(len(profile.pauses), 'time')}, for {format_duration(spans / NS_PER_S)} ({format_percent(spans, lives)} % of the {whose})"


def _end_ns(profile: Profile, process: Process, end_ns: int | None = None) -> int:
    last_ns = process.end_ns or profile.recordings[process.experiment].end_ns
    return min(end_ns or last_ns, last_ns)
