"""source_values -- what the samples of a source stand for, as its definition in the log declares it"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from collector.format import SAMPLE_MAX_VALUES

SAMPLES: Final = "samples"
"""The metric that counts samples, unless their source has another."""

_NAME = re.compile(r"[A-Za-z0-9_.:/=,-]{1,64}")
_TIME: Final = "ns"
_NO_NAMES: Final = (SAMPLES, "cpu", "wall")  # figures that are made of values


@dataclass(frozen=True, slots=True)
class SourceValues:
    """The value columns of a source's samples: their names, empty for one that is to be passed over, and their units.

    `counted_as` is the metric in which each sample counts as one.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    counted_as: str = SAMPLES

    def factors(self, unit_ns: int) -> list[int]:
        """What the stored numbers of each column are multiplied with: those of times are in the record's unit."""
        return [unit_ns if unit == _TIME else 1 for unit in self.units]


CPU_VALUES: Final = SourceValues(("user", "system"), (_TIME, _TIME))
"""Those of a clock, and of a source whose definition is lost."""


@lru_cache(maxsize=1 << 10)
def declared_values(values: Sequence[str], counted_as: str | None) -> SourceValues:
    """What PMCALLOCATE says of a source; without values it is taken for a clock."""
    if not values:
        return CPU_VALUES
    names: list[str] = []
    units = []
    for text in values[:SAMPLE_MAX_VALUES]:
        name, _, unit = text.partition(" ")
        names.append(name if _NAME.fullmatch(name) and name not in (*_NO_NAMES, *names) else "")
        units.append(unit)
    is_known = counted_as is not None and counted_as not in (*names, *_NO_NAMES) and _NAME.fullmatch(counted_as)
    return SourceValues(tuple(names), tuple(units), counted_as if counted_as and is_known else SAMPLES)
