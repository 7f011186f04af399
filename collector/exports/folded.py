"""folded -- one line a stack, `main;work;read 1003`: what flamegraph.pl, inferno and speedscope read

The format: https://github.com/brendangregg/FlameGraph#2-fold-stacks. A semicolon in a name becomes a colon, as stackcollapse-perf.pl has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.exports.names import function_names, thread_title
from collector.exports.sample_table import UNFINISHED, sample_table, shared_out
from collector.profile.groupings import by_function
from collector.profile.model import Profile

_NS_PER_US = 1000


def folded(profile: Profile, is_folded: bool = False, is_count: bool = False, has_threads: bool = False) -> Iterator[bytes]:
    """A line for each stack with the profile's first metric, times in whole microseconds, or how many samples it has; with `has_threads` for each thread."""
    table = sample_table(profile, by_function(profile), has_root=True, is_folded=is_folded)
    names = [joinable(name) for name in (*function_names(profile), UNFINISHED)]
    values = table.counts if is_count else table.shown.values
    unit = 1 if is_count or not table.shown.is_time else _NS_PER_US
    if has_threads:
        parts = [(joinable(thread_title(profile, thread)) + ";", table.sums(values, places)) for thread, places in table.iter_threads()]
    else:
        parts = [("", table.sums(values))]
    amounts = shared_out((value for _, sums in parts for value in sums.values()), unit)
    for start, sums in parts:
        for node, amount in zip(sums, amounts):
            if amount:
                yield f"{start}{';'.join([names[group] for group in reversed(table.path(node))])} {amount}\n".encode()


def joinable(name: str) -> str:
    """The name without what stands between names."""
    return name.replace(";", ":")
