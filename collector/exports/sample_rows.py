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

COLUMNS: Final = ("experiment", "process", "pid", "thread", "tid", "label", "time", "cpu", "user", "system", "finished", "stack")
_ROWS_A_PIECE = 1000


def sample_json(profile: Profile, is_folded: bool = False) -> Iterator[bytes]:
    """An object with the samples as `rows`, one a line; a stack is a list of functions, the caller first."""
    table = sample_table(profile, by_function(profile), is_folded=is_folded)
    names = [json.dumps(name) for name in function_names(profile)]
    stacks = Stacks(table, lambda path: f"[{', '.join([names[group] for group in reversed(path)])}]")
    labels, numbers = phase_labels(profile, table)
    words = list(map(json.dumps, labels))
    yield b'{"rows": ['
    separator = "\n"
    for thread, places in table.iter_threads():
        start = json.dumps(dict(zip(COLUMNS, thread_facts(profile, thread))))[:-1]
        for label, (time, cpu, user, system), finished, node in iter_figures(profile, table, places, numbers):
            figures = f'"label": {words[label]}, "time": {time}, "cpu": {cpu}, "user": {user}, "system": {system}, "finished": {finished}'
            yield f'{separator}{start}, {figures}, "stack": {stacks.of(node)}}}'.encode()
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
    writer.writerow(COLUMNS)
    for thread, places in table.iter_threads():
        start = [spreadsheet_cell(fact) if isinstance(fact, str) else fact for fact in thread_facts(profile, thread)]
        for count, (label, figures, finished, node) in enumerate(iter_figures(profile, table, places, numbers)):
            writer.writerow((*start, words[label], *figures, finished, stacks.of(node)))
            if count % _ROWS_A_PIECE == 0:
                yield _taken(text)
    yield _taken(text)


def thread_facts(profile: Profile, thread: int) -> tuple[str, str, int, str, int]:
    """What the rows of a thread begin with: the first of the columns."""
    known = profile.threads[thread]
    process = profile.processes[known.process]
    name = printable(profile.recordings[process.experiment].name)
    return name, process_name(process), process.pid, thread_name(profile, thread), known.tid


def iter_figures(
    profile: Profile, table: SampleTable, places: range, labels: Sequence[int]
) -> Iterator[tuple[int, tuple[float, float, float, float], str, int]]:
    """Of each sample the number of its label, its time, CPU, user and system time in seconds, whether its stack is whole, and its node."""
    start_ns = begin_ns(profile)
    for place in places:
        user_ns, system_ns = table.user_ns[place], table.system_ns[place]
        figures = (table.times_ns[place] - start_ns) / NS_PER_S, (user_ns + system_ns) / NS_PER_S, user_ns / NS_PER_S, system_ns / NS_PER_S
        yield labels[place], figures, "true" if table.is_finished[place] else "false", table.nodes[place]


def _taken(text: io.StringIO) -> bytes:
    data = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return data
