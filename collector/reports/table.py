"""table -- columns that line up and fit the page.

Where a table is too wide, the columns one can do without go first (highest `rank` first), then names are
shortened, the longest first. Names that matter most have a `good` width: columns of a high rank go rather than to cut them further.
"""

from collections.abc import Callable, Sequence

from collector.named_tuple import NamedTuple
from collector.reports.style import Style, pad, printable, shorten, text_width

INDENT = "  "
_GAP = 2
_NARROWEST = 8
_SPARE_RANK = 3  # columns from this rank on make way for the good width of others


class Column(NamedTuple):
    """A column: neighbours with the same `title` share it; `unit` stands below it.

    `least` is the width to which text may be shortened, 0 for figures, which are never shortened;
    `rank` 0 is never left out. At its `good` width, if it has one, text is not shortened before others are.
    """

    title: str
    unit: str = ""
    least: int = 0
    keep: str = "middle"
    rank: int = 0
    good: int = 0

    @property
    def is_text(self) -> bool:
        """Whether the column holds names rather than figures."""
        return self.least > 0


def figure(title: str, unit: str = "", rank: int = 0) -> Column:
    """A column of figures, aligned to the right."""
    return Column(title, unit, rank=rank)


def name(title: str, least: int = 12, keep: str = "middle", rank: int = 0, good: int = 0) -> Column:
    """A column of names, aligned to the left and shortened where there is no room."""
    return Column(title, least=least, keep=keep, rank=rank, good=max(least, good))


def table_lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], style: Style) -> list[str]:
    """The table as lines: one or two of headings, then one a row."""
    return column_lines(columns, list(zip(*rows)) or [[] for _ in columns], style)


def column_lines(columns: Sequence[Column], texts_of: Sequence[Sequence[str]], style: Style) -> list[str]:
    """The same of cells column by column, as long tables have them."""
    cells = [texts if "".join(texts).isprintable() else list(map(printable, texts)) for texts in texts_of]
    widths = [max([text_width(column.unit), *map(_measure(texts), texts)]) for column, texts in zip(columns, cells)]
    kept = _kept_columns(columns, widths, style.width - len(INDENT))
    columns = [columns[position] for position in kept]
    widths = _fitting(columns, [widths[position] for position in kept], style.width - len(INDENT))
    lines = [style.bold(line) for line in _heading(columns, widths, style.width)]
    return lines + _padded_lines(columns, widths, [cells[position] for position in kept])


def _kept_columns(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    good = [column.good for column in columns]
    kept = _without_spare(columns, _cut(columns, widths, good), list(range(len(columns))), room, _SPARE_RANK)
    least = [column.least for column in columns]
    return _without_spare(columns, _cut(columns, widths, least), kept, room, 1)


def _cut(columns: Sequence[Column], widths: Sequence[int], most: Sequence[int]) -> list[int]:
    return [min(width, limit) if column.is_text else width for column, width, limit in zip(columns, widths, most)]


def _without_spare(columns: Sequence[Column], widths: Sequence[int], kept: list[int], room: int, rank: int) -> list[int]:
    """The columns that fit, the highest rank left out first, down to `rank`."""
    while True:
        wide_enough = _widened([columns[i] for i in kept], [widths[i] for i in kept])
        spare = [i for i in kept if columns[i].rank >= rank]
        if sum(wide_enough) + _GAP * (len(kept) - 1) <= room or not spare:
            return kept
        kept.remove(max(spare, key=lambda i: columns[i].rank))


def _fitting(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """Widths that fit the room: names give way, the widest first, below their least width only on a very narrow page."""
    fitting = _widened(columns, widths)
    for floors in ([column.good for column in columns], [column.least for column in columns], [min(_NARROWEST, column.least) for column in columns]):
        excess = sum(fitting) + _GAP * (len(columns) - 1) - room
        while excess > 0:
            can_give = [i for i, column in enumerate(columns) if column.is_text and fitting[i] > floors[i]]
            if not can_give:
                break
            widest = max(can_give, key=lambda i: fitting[i])
            others = [fitting[i] for i in can_give if fitting[i] < fitting[widest]]
            give = min(excess, max(1, fitting[widest] - max([floors[widest], *others])))
            fitting[widest] -= give
            excess -= give
    return fitting


def _widened(columns: Sequence[Column], widths: Sequence[int]) -> list[int]:
    """Widths that leave room for the titles."""
    widened = list(widths)
    for first, last in _spans(columns):
        room = sum(widened[first : last + 1]) + _GAP * (last - first)
        widened[first] += max(0, text_width(columns[first].title) - room)
    return widened


def _spans(columns: Sequence[Column]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for position, column in enumerate(columns):
        if spans and column.title == columns[spans[-1][0]].title:
            spans[-1] = (spans[-1][0], position)
        else:
            spans.append((position, position))
    return spans


def _heading(columns: Sequence[Column], widths: Sequence[int], page_width: int) -> list[str]:
    titles = []
    for first, last in _spans(columns):
        room = sum(widths[first : last + 1]) + _GAP * (last - first)
        titles.append(pad(shorten(columns[first].title, room), room, is_right=not columns[first].is_text))
    lines = [(INDENT + (" " * _GAP).join(titles)).rstrip()]
    if any(column.unit for column in columns):
        lines += _padded_lines(columns, widths, [[column.unit] for column in columns])
    return lines


def _padded_lines(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row of the cells, which are given column by column."""
    fitted = [_fitted(column, width, texts) for column, width, texts in zip(columns, widths, cells)]
    line = INDENT + (" " * _GAP).join(form for form, _ in fitted)
    return [(line % row).rstrip() for row in zip(*(texts for _, texts in fitted))]


def _fitted(column: Column, width: int, texts: Sequence[str]) -> tuple[str, Sequence[str]]:
    """How each text of a column is brought to its width, as % has it, and the texts, none of them wider."""
    if not column.is_text:
        return f"%{width}s", texts
    measure = _measure(texts)
    fitted = [text if measure(text) <= width else shorten(text, width, column.keep) for text in texts]
    if measure is not len:
        return "%s", [pad(text, width) for text in fitted]
    return f"%-{width}s", fitted


def _measure(texts: Sequence[str]) -> Callable[[str], int]:
    """What gives the width of each of the texts: in nearly every table just their length."""
    return len if "".join(texts).isascii() else text_width
