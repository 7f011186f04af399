"""pieces -- which function a symbol is a piece of

Compilers move parts of functions away (`f.cold`, `f.part.0`, `f.__part.1`), adapt copies of them to some callers (`f.isra.0`,
`f.constprop.0`) and rename static ones that link-time optimisation shows to other files (`f.lto_priv.0`, `f.llvm.123`, `f.__uniq.123`),
one behind the other: `f.constprop.0.cold`. The programmer wrote one function `f`.
Source: GCC's clone_function_name and its callers; LLVM's PromotedName, UniqueInternalLinkageNames and MachineFunctionSplitter.
"""

from __future__ import annotations

import re

_MOVED = r"\.cold(?:\.\d+)?|\.__part\.\d+"
_MOVED_PART = re.compile(rf"(?<=.)(?:{_MOVED})$")
_PIECE = re.compile(rf"(?<=.)(?:{_MOVED}|\.localalias(?:\.\d+)?|\.(?:part|isra|constprop|lto_priv|llvm|__uniq)\.\d+)+$")


def whole_name(name: str) -> str:
    """The linker's name of the function that `name` is a piece of; `name` itself where it is none."""
    return _PIECE.sub("", name) if "." in name else name


def name_before_move(name: str) -> str:
    """The linker's name of what the compiler moved `name` away from; `name` itself where it did not.

    Such a part begins amid its function; all other pieces begin, for the debug information, where the function does.
    """
    return _MOVED_PART.sub("", name)
