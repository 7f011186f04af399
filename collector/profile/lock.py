"""lock -- which samples held the global interpreter lock of Python, as their innermost Python frame tells"""

from __future__ import annotations

from typing import Final

from collector.profile.metrics import SYSTEM, USER
from collector.profile.model import PYTHON_KINDS, PYTHON_RELEASED, Profile
from collector.profile.samples import Cells, StackFilter

HELD: Final = "held"
RELEASED: Final = "released"


def lock_filter(profile: Profile, state: str) -> StackFilter | None:
    """The stacks with Python functions whose thread held the lock, or did not; None if there are no such frames."""
    python = frozenset(index for index, frame in enumerate(profile.frames) if frame.kind in PYTHON_KINDS)
    released = frozenset(index for index in python if profile.frames[index].kind == PYTHON_RELEASED)
    if state == RELEASED:
        return StackFilter((released,)) if released else None
    return StackFilter((python,), nowhere=released) if len(python) > len(released) else None


def held_cells(profile: Profile) -> Cells | None:
    """The sums of the samples that held the lock, by thread; None if no Python function is on any stack."""
    stacks = lock_filter(profile, HELD)
    if stacks is None:
        return None
    return profile.samples.cells_of(HELD, stacks)


def held_seconds(profile: Profile) -> list[float] | None:
    """The CPU time for which each thread held the lock; None if no Python function is on any stack."""
    cells = held_cells(profile)
    if cells is None:
        return None
    seconds = [0.0] * len(profile.threads)
    for thread, values in zip(cells.threads, zip(*cells.values)):
        seconds[thread] += values[USER] + values[SYSTEM]
    return seconds
