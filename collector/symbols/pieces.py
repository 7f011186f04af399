"""pieces -- which function a symbol is a piece of

Compilers move parts of functions away (`f.cold`, `f.part.0`, `f.__part.1`), adapt copies of them to some callers (`f.isra.0`,
`f.constprop.0`) and rename static ones that link-time optimisation shows to other files (`f.lto_priv.0`, `f.llvm.123`, `f.__uniq.123`),
one behind the other: `f.constprop.0.cold`. The programmer wrote one function `f`.
Source: GCC's clone_function_name and its callers; LLVM's PromotedName, UniqueInternalLinkageNames and MachineFunctionSplitter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MOVED = r"\.cold(?:\.\d+)?|\.__part\.\d+"
_MOVED_PART = re.compile(rf"(?<=.)(?:{_MOVED})$")
_PIECE = re.compile(rf"(?<=.)(?:{_MOVED}|\.localalias(?:\.\d+)?|\.(?:part|isra|constprop|lto_priv|llvm|__uniq)\.\d+)+$")


def whole_name(name: str) -> str:
    """The linker's name of the function that `name` is a piece of; `name` itself where it is none."""
    return _without(_PIECE, name) if "." in name else name


def names_of_whole(name: str) -> list[str]:
    """What a function that `name` is a piece of may be called, the best first; nothing if it is none.

    Of `f.constprop.0.cold` it is `f`, or else `f.constprop.0`: what was moved away begins amid its function.
    """
    if "." not in name:
        return []
    names = dict.fromkeys((whole_name(name), _without(_MOVED_PART, name)))
    return [other for other in names if other != name]


def _without(suffix: re.Pattern[str], name: str) -> str:
    """`name` without a suffix that begins with a dot: what is before the first is long in C++, and not looked through."""
    found = suffix.search(name, name.index("."))
    return name[:found.start()] + name[found.end():] if found else name


def aliases_of_wholes(names: Iterable[str], aliases: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Where functions begin that pieces among `names` call by another of their names. `aliases` are those with their addresses, which rise."""
    wanted = {whole for name in names for whole in names_of_whole(name)}
    found: dict[str, list[int]] = {}
    for start, alias in aliases:
        if alias in wanted and start not in found.setdefault(alias, [])[-1:]:
            found[alias].append(start)
    return found
