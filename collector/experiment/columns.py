"""columns -- a run of unsigned integers as it lies in the log: a base and a little-endian array"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from itertools import repeat
from typing import Literal

TypeCode = Literal["B", "H", "I", "Q"]

_TYPE_OF_WIDTH: dict[int, TypeCode] = {1: "B", 2: "H", 4: "I", 8: "Q"}


class IntegerColumn:
    """n integers: `base + raw[i]`, or n times `base` where `raw` is None.

    `raw` is a memoryview of unsigned integers on the log's own bytes: nothing is copied, nothing is made per value
    until the column is iterated. numpy.asarray(column.raw) works, too.
    """

    __slots__ = ("base", "raw", "count")

    def __init__(self, base: int, raw: memoryview | None, count: int) -> None:
        self.base = base
        self.raw = raw
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        if self.raw is None:
            return repeat(self.base, self.count)
        return map(self.base.__add__, self.raw) if self.base else iter(self.raw)

    def __getitem__(self, index: int) -> int:
        if self.raw is not None:
            return self.base + self.raw[index]
        return self.base + 0 * range(self.count)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntegerColumn) and self.tolist() == other.tolist()

    __hash__ = None  # type: ignore[assignment]  # how Python spells "not hashable", which typeshed has no word for

    def __repr__(self) -> str:
        return f"IntegerColumn({self.tolist()!r})"

    def tolist(self) -> list[int]:
        """The values as a list."""
        if self.raw is None:
            return [self.base] * self.count
        values = self.raw.tolist()
        return [self.base + value for value in values] if self.base else values

    def total(self) -> int:
        """The sum of the values."""
        return self.base * self.count + (sum(self.raw) if self.raw is not None else 0)

    def pack(self) -> list[object]:
        """`[base, bytes]` as the log has it, in the narrowest width."""
        if self.raw is None:
            return [self.base if self.count else 0, b""]
        values = self.tolist()
        base = min(values, default=0)
        spread = max(values, default=0) - base
        if not spread:
            return [base, b""]
        width = next(width for width in _TYPE_OF_WIDTH if spread < 1 << 8 * width)
        packed = array(_TYPE_OF_WIDTH[width], [value - base for value in values])
        if sys.byteorder != "little":
            packed.byteswap()
        return [base, packed.tobytes()]

    @classmethod
    def of(cls, values: list[int]) -> IntegerColumn:
        """A column of these values: for records that were put together in memory."""
        return cls(0, memoryview(array("Q", values)), len(values))


def parse_column(value: object, count: int) -> IntegerColumn | None:
    """The column of `count` values that a record holds as `[base, bytes]`; None if it is not one."""
    if type(value) is not list or len(value) != 2:
        return None
    base, data = value
    if type(base) is not int or base < 0 or type(data) is not bytes:
        return None
    if not data:
        return IntegerColumn(base, None, count)
    width = len(data) // count if count else 0
    if width not in _TYPE_OF_WIDTH or width * count != len(data):
        return None
    return IntegerColumn(base, _as_native(data, _TYPE_OF_WIDTH[width]), count)


def _as_native(data: bytes, type_code: TypeCode) -> memoryview:
    if sys.byteorder == "little" or type_code == "B":
        return memoryview(data).cast(type_code)
    values = array(type_code, data)
    values.byteswap()
    return memoryview(values)
