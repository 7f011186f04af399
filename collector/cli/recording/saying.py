"""saying -- sentences of ours on standard error, where they do not mix with the program's output"""

from __future__ import annotations

import sys

from collector.printable import printable


def say(sentence: str) -> None:
    """Print one sentence."""
    if sys.stderr is None:
        return  # print would take standard output instead
    try:
        print(f"collector: {printable(sentence)}\n", end="", file=sys.stderr)  # in one write: ranks speak at the same time
    except OSError:
        pass  # the program's status matters more than our words
