"""perf_script -- samples as the text that `perf script` prints: what stackcollapse-perf.pl, inferno, speedscope and the Firefox Profiler read

A sample's period is its CPU time in nanoseconds, as of the event cpu-clock; what else was measured are events behind these.
Blanks in names of threads and modules become underscores, because readers take them for the end of the name; and they leave out functions that
begin with a parenthesis, so that becomes a bracket.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.exports.names import function_names, process_numbers, thread_name, thread_numbers
from collector.exports.sample_table import Stacks, sample_table
from collector.printable import printable
from collector.profile.groupings import by_frame
from collector.profile.model import Profile
from collector.units import NS_PER_S

_SHORTEST_NAME = 2
_BRACKETS = str.maketrans("()", "[]")


def perf_script(profile: Profile) -> Iterator[bytes]:
    """A paragraph for each sample, thread by thread: a line of its own, then its frames from the leaf to the start."""
    table = sample_table(profile, by_frame(profile))
    names = [_without_parenthesis(name) for name in function_names(profile)]
    modules = [_word(printable(module.path or module.name)).translate(_BRACKETS) for module in profile.modules]

    def line(group: int) -> str:
        frame = profile.frames[group]
        module = "inlined" if frame.kind == "inlined" else modules[profile.functions[frame.function].module]
        return f"\t{frame.address:16x} {names[frame.function]} ({module})\n"

    stacks = Stacks(table, lambda path: "".join([line(group) for group in path]))
    pids, tids = process_numbers(profile), thread_numbers(profile)
    for column in table.measured:
        event = "cpu-clock" if column.metric.name == "cpu" else _word(printable(column.metric.name))
        for thread, places in table.iter_threads():
            known = profile.threads[thread]
            start = f"{_word(thread_name(profile, thread)).ljust(_SHORTEST_NAME, '_')} {pids[known.process]}/{tids[thread]} "
            for place in places:
                if not column.values[place] and (event != "cpu-clock" or not table.counts[place]):
                    continue
                whole, rest = divmod(table.times_ns[place], NS_PER_S)
                yield f"{start}{whole}.{rest:09d}: {column.values[place]} {event}: \n{stacks.of(table.nodes[place])}\n".encode()


def _word(name: str) -> str:
    return "_".join(name.split())


def _without_parenthesis(name: str) -> str:
    return f"[{name[1:].replace(')', ']', 1)}" if name.startswith("(") else name
