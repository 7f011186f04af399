"""words -- what the words after `collector report` mean: experiments, then a view, then its argument"""

import os
from collections.abc import Sequence
from typing import Final

from collector.errors import UsageError
from collector.named_tuple import NamedTuple
from collector.units import listed

VIEWS: Final[dict[str, tuple[str, str]]] = {
    "overview": ("", "what ran, where, how long, what was lost, top functions, labels"),
    "functions": ("", "time of each function"),
    "function": ("FUNCTION", "all that is known of one function"),
    "lines": ("", "time of each source line"),
    "pcs": ("", "time of each address"),
    "callers-callees": ("FUNCTION", "who called a function, and whom it called"),
    "calltree": ("", "the program's calls as a tree"),
    "hotpath": ("", "the heaviest chain of calls"),
    "calls": ("CATEGORY", "by which calls, and from where, time was spent on MPI, I/O, locks ..."),
    "regions": ("", "parallel regions of OpenMP: time, imbalance, waiting"),
    "source": ("FILE|FUNCTION", "a source file with the time of each line"),
    "disasm": ("FUNCTION", "a function's instructions with the time of each"),
    "samples": ("", "sample points: readings of the process, with labels"),
    "timeline": ("", "CPU use of processes or threads over time, with labels"),
    "metrics": ("", "what metric plugins measured, over time"),
    "threads": ("", "time of each thread"),
    "processes": ("", "time of each process"),
    "objects": ("", "time of each module"),
    "header": ("", "everything the experiments say of themselves"),
}
"""Views, in the order of the help: argument, meaning."""


class Request(NamedTuple):
    """What is to be shown, of what; `argument` is None for views that take none."""

    paths: tuple[str, ...]
    view: str
    argument: str | None


def parse_words(words: Sequence[str]) -> Request:
    """Tell experiments, view and argument apart. UsageError if they make no sense.

    The first word is an experiment. A word that names a view, or is the beginning of one, is that view; an experiment of that name
    is written with a slash, `./functions`.
    """
    if not words:
        raise UsageError("which experiment? collector report EXPERIMENT... [VIEW [ARGUMENT]]")
    if words[0] in VIEWS and not os.path.isdir(words[0]):
        raise UsageError(f"{words[0]!r} is a view; name the experiment before it")
    for place in range(1, len(words)):
        view = _view_of(words[place], has_argument=place + 1 < len(words))
        if view:
            return Request(tuple(words[:place]), view, _argument(view, words[place + 1 :]))
    return Request(tuple(words), "overview", None)


def _view_of(word: str, has_argument: bool) -> str:
    """The view that a word behind the first names; empty if it names an experiment."""
    if word in VIEWS:
        return word
    if os.path.exists(word) or "/" in word or word.endswith(".expt"):
        return ""
    begun = [view for view in VIEWS if word and view.startswith(word)]
    if begun == ["functions", "function"]:  # all of them, or the one that is named
        begun = [begun[has_argument]]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"the view {word!r} is not clear: {listed(begun)}?")
    import difflib

    near = difflib.get_close_matches(word, VIEWS, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; the views are {', '.join(VIEWS)}"
    raise UsageError(f"there is no view and no experiment {word!r}{hint}")


def _argument(view: str, rest: Sequence[str]) -> str | None:
    wanted = VIEWS[view][0]
    if not wanted:
        if rest:
            raise UsageError(f"{view} is shown for the whole experiment: it takes no {rest[0]!r}")
        return None
    if len(rest) != 1:
        what = "is missing" if not rest else "is one word; put names with blanks in quotes"
        raise UsageError(f"{view} {wanted}: the {wanted.lower().replace('|', ' or ')} {what}")
    return rest[0]
