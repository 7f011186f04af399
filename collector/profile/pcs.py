"""pcs -- the addresses at which samples were taken, and their time"""

from __future__ import annotations

from dataclasses import dataclass

from collector.profile.metrics import Values, add_values, reported_rows
from collector.profile.model import BYTECODE_KINDS, Frame, Function, Module, Profile
from collector.profile.samples import Grouping


@dataclass(frozen=True, slots=True)
class PcRow:
    """An address, as written in the file of its module, of code that was made at run time in the process, and in a Python function the offset in it;
    the innermost function and line there.
    """

    address: int
    function: Function
    module: Module
    file: str | None
    line: int | None
    exclusive: Values


def pcs(profile: Profile) -> list[PcRow]:
    """The addresses that are the leaf of a stack, the one with most time first."""
    groups, places = _addresses(profile)
    sums = profile.samples.sum_groups(Grouping("", len(places), lambda: groups))
    found: dict[tuple[int, int, int, int], tuple[Frame, Values]] = {}
    for frame, values in zip(places, reported_rows(profile.metrics, sums.exclusive)):
        if any(values):
            in_function = frame.function if frame.kind in BYTECODE_KINDS else -1
            key = profile.functions[frame.function].module, frame.code, in_function, frame.address
            known = found.get(key)
            found[key] = frame, values if known is None else add_values(known[1], values)
    rows = [_row(profile, frame, values) for frame, values in found.values()]
    rows.sort(key=lambda row: (-row.exclusive[0], row.module.name, row.address))
    return rows


def _addresses(profile: Profile) -> tuple[list[int], list[Frame]]:
    """A group for each run of frames of one address, and the innermost of them."""
    groups: list[int] = []
    innermost: list[Frame] = []
    for frame in profile.frames:
        if frame.kind == "inlined" and innermost:
            innermost[-1] = frame
        else:
            innermost.append(frame)
        groups.append(len(innermost) - 1)
    return groups, innermost


def _row(profile: Profile, frame: Frame, values: Values) -> PcRow:
    function = profile.functions[frame.function]
    return PcRow(frame.address, function, profile.modules[function.module], frame.file, frame.line, values)
