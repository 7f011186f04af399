"""java_code -- what the frames of Java methods are called"""

from __future__ import annotations

import re
from typing import Final

from collector.load.naming import NamedPlace
from collector.profile.model import JAVA
from collector.target.address_space import Mapping
from collector.target.dynamic_code import first_line, line_at

_ADDRESSES: Final = 8  # of a bytecode
_HIDDEN = re.compile(r"[+/]0x[0-9a-f]+")
"""What HotSpot appends to the name of a class that nobody can find by name: where it lies."""


def java_place(method: Mapping, address: int) -> NamedPlace:
    """The place of a frame of a Java method: the module is its package, the file the one in it that the class says it comes from."""
    name = _HIDDEN.sub("", method.name or "") or "(unnamed)"
    package = name.rpartition(".")[0].rpartition(".")[0]
    file = "/".join([*package.split("."), method.source] if package else [method.source]) if method.source else None
    line = line_at(method, address) if file else None
    first = first_line(method) if file else None
    bytecode = (address - method.start) // _ADDRESSES
    module = package or "(default package)"
    return NamedPlace(name, module, None, file, line, first, bytecode, JAVA, raw_name=name + (method.alias or ""))
