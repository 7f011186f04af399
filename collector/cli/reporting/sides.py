"""sides -- the two sides of a comparison on the command line: BEFORE... -- AFTER..."""

from __future__ import annotations

import os
from collections.abc import Sequence

from collector.errors import UsageError
from collector.profile.model import Profile

WORDS = "BEFORE... -- AFTER..."


def divided(words: Sequence[str], command: str) -> list[str]:
    """The words as argparse can tell them apart: what stands behind `--` is for an option of its own."""
    if words.count("--") > 1:
        raise UsageError(f"there are two sides, so `--` stands once: collector {command} {WORDS}")
    return ["--after" if word == "--" else word for word in words]


def check_sides(before: Sequence[str], after: Sequence[str] | None, command: str) -> None:
    """UsageError unless there are two sides, and no run is on both or counts twice."""
    usage = f"collector {command} {WORDS}"
    if after is None:
        raise UsageError(f"which runs are compared with which? {usage}")
    for side, name in ((before, "before"), (after, "behind")):
        if not side:
            raise UsageError(f"there is no experiment {name} `--`: {usage}")
    known: set[str] = set()
    for path in (*before, *after):
        if os.path.realpath(path) in known:
            raise UsageError(f"{path} is named twice; every run counts once")
        known.add(os.path.realpath(path))


def check_run(profile: Profile, path: str) -> None:
    """UsageError if the path holds more than a run."""
    if len(profile.recordings) > 1:
        raise UsageError(f"{path} holds several experiments; name them one by one, as each run counts")
