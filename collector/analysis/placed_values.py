"""placed_values -- which of an analysis's values each column of a record is, by their names"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from collector.experiment.samples import SAMPLES, SourceValues
from collector.profile.metrics import Value


class PlacedValues(NamedTuple):
    """The positions of a source's values, None for one that is left out; whether each is a time; the position of the value that counts its samples."""

    columns: tuple[int | None, ...]
    are_times: tuple[bool, ...]
    counted_in: int | None


def values_declared(declared: SourceValues) -> list[Value]:
    """The values of a source."""
    values = [Value(name, unit) for name, unit in zip(declared.names, declared.units) if name]
    return values if declared.counted_as == SAMPLES else [*values, Value(declared.counted_as, "", True)]


def placed_values(declared: SourceValues, values: Sequence[Value]) -> PlacedValues:
    """Where the values of a source go; one that differs from another source's value of its name is left out."""
    positions = {value: position for position, value in enumerate(values)}
    columns = tuple(positions.get(Value(name, unit)) for name, unit in zip(declared.names, declared.units))
    are_times = tuple(Value(name, unit).is_time for name, unit in zip(declared.names, declared.units))
    return PlacedValues(columns, are_times, positions.get(Value(declared.counted_as, "", True)))
