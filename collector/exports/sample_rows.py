"""sample_rows -- samples one a row, as JSON and CSV: who, when, how long, and the stack

The columns are the same in all tables of samples, and documented in docs/commands/export.md.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Final

from collector.exports.folded import joinable
from collector.exports.names import begin_ns, function_names, process_name, thread_name
from collector.exports.phase_labels import phase_labels
from collector.exports.sample_table import SampleTable, Stacks, sample_table
from collector.printable import printable, spreadsheet_cell
from collector.profile.groupings import by_function
from collector.profile.model import Profile
from collector.units import NS_PER_S

FACTS: Final = ("experiment", "process", "pid", "thread", "tid")
_FIGURES: Final = ("time", "cpu", "user", "system")
_ROWS_A_PIECE = 1000


def sample_json(profile: Profile, is_folded: bool = False) -> Iterator[bytes]:
    """An object with the samples as `rows`, one a line; a stack is a list of functions, the caller first."""
    table = sample_table(profile, by_function(profile), is_folded=is_folded)
    names = [json.dumps(name) for name in function_names(profile)]
    stacks = Stacks(table, lambda path: f"[{', '.join([names[group] for group in reversed(path)])}]")
    labels, numbers = phase_labels(profile, table)
    words = list(map(json.dumps, labels))
    keys = [f", {json.dumps(name)}: " for name in figure_names(table)]
    yield b'{"rows": ['
    separator = "\n"
    for thread, places in table.iter_threads():
        start = json.dumps(dict(zip(FACTS, thread_facts(profile, thread))))[:-1]
        for label, values, finished, node in iter_figures(profile, table, places, numbers):
            figures = "".join([f"{key}{value}" for key, value in zip(keys, values)])
            yield f'{separator}{start}, "label": {words[label]}{figures}, "finished": {finished}, "stack": {stacks.of(node)}}}'.encode()
            separator = ",\n"
    yield b"\n]}\n"


def sample_csv(profile: Profile, is_folded: bool = False) -> Iterator[bytes]:
    """A line of column names and one for each sample; the functions of a stack stand between semicolons, the caller first."""
    table = sample_table(profile, by_function(profile), is_folded=is_folded)
    names = [joinable(name) for name in function_names(profile)]
    stacks = Stacks(table, lambda path: spreadsheet_cell(";".join([names[group] for group in reversed(path)])))
    labels, numbers = phase_labels(profile, table)
    words = [spreadsheet_cell(label or "") for label in labels]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*FACTS, "label", *map(spreadsheet_cell, figure_names(table)), "finished", "stack"))
    for thread, places in table.iter_threads():
        start = [spreadsheet_cell(fact) if isinstance(fact, str) else fact for fact in thread_facts(profile, thread)]
        for count, (label, figures, finished, node) in enumerate(iter_figures(profile, table, places, numbers)):
            writer.writerow((*start, words[label], *figures, finished, stacks.of(node)))
            if count % _ROWS_A_PIECE == 0:
                yield _taken(text)
    yield _taken(text)


def thread_facts(profile: Profile, thread: int) -> tuple[str, str, int, str, int]:
    """What the rows of a thread begin with: `FACTS`."""
    known = profile.threads[thread]
    process = profile.processes[known.process]
    name = printable(profile.recordings[process.experiment].name)
    return name, process_name(process), process.pid, thread_name(profile, thread), known.tid


def figure_names(table: SampleTable) -> list[str]:
    """The names of the columns of figures: time, CPU time, and what else was measured, each once."""
    return [*_FIGURES, *(column.metric.name for column in table.others)]


def iter_figures(profile: Profile, table: SampleTable, places: range, labels: Sequence[int]) -> Iterator[tuple[int, list[float], str, int]]:
    """Of each sample the number of its label, its time in seconds, its figures, whether its stack is whole, and its node."""
    start_ns = begin_ns(profile)
    times = table.cpu_ns, table.user_ns, table.system_ns
    for place in places:
        figures = [(table.times_ns[place] - start_ns) / NS_PER_S, *(column[place] / NS_PER_S for column in times)]
        figures += [column.values[place] / NS_PER_S if column.is_time else column.values[place] for column in table.others]
        yield labels[place], figures, "true" if table.is_finished[place] else "false", table.nodes[place]


def _taken(text: io.StringIO) -> bytes:
    data = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return data
