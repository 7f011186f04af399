"""imported_code -- what the functions of imported profiles are called: as the profile says"""

from __future__ import annotations

import os
from typing import Final

from collector.format import MapKind
from collector.load.naming import InlinedPlaces, NamedPlace, Place
from collector.target.address_space import AddressSpace, Mapping
from collector.target.dynamic_code import line_at

_MOST_INLINED: Final = 4096


def imported_place(space: AddressSpace, code: Mapping, address: int) -> Place:
    """The place of an address in imported code, and of the calls that it was inlined in."""
    given = code.elf_address(address)
    places = [_named(code, address, given, code.caller is not None)]
    call = code.caller
    while call is not None and len(places) < _MOST_INLINED:
        caller = space.find(call, code.born)
        if caller is None or caller.kind != MapKind.IMPORTED_CODE:
            break
        places.append(_named(caller, call, given, caller.caller is not None))
        call = caller.caller
    return InlinedPlaces(tuple(reversed(places))) if len(places) > 1 else places[0]


def _named(code: Mapping, address: int, given: int, is_inlined: bool) -> NamedPlace:
    """`given` is the address that the profile had."""
    return NamedPlace(
        code.name or "(unnamed)", os.path.basename(code.path) or code.path, None, code.source, line_at(code, address) or None, code.first_line or None, given,
        "inlined" if is_inlined else "native", path=code.path, build_id=code.build_id.hex(), definition=code.definition,
    )
