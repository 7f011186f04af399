"""functional_names -- the names that the compilers of OCaml and Haskell write, as their programmers know them

OCaml: `caml`, the unit, `__` (a dot from 5.1 on), the name and its number, as `camlStdlib__List__map_456`; other characters are
`$` and two hexadecimal digits. The number stays: a unit has many functions called `loop`. Source: asmcomp/compilenv.ml.

GHC: the package, the module and the name in the "Z-encoding", which knows no underscore, with underscores between them
and what it is behind, as `base_GHCziList_filter_info`. A name of C may look the same, so one counts only if its package
or its letters are nobody else's. Source: GHC.Utils.Encoding.
"""

from __future__ import annotations

import re

_OCAML = re.compile(r"caml([A-Z]\w*?)(?:__|\.)((?!_)(?:[\w'.]|\$[0-9a-f]{2})+_\d+|entry)")
_OCAML_ESCAPE = re.compile(r"\$([0-9a-f]{2})")
_GHC = re.compile(r"(?:([a-z][A-Za-z0-9]*)_)?([A-Z][A-Za-z0-9]*)_([A-Za-z0-9]+)_(?:con_)?info")
_GHC_PACKAGE = re.compile(r"base|main|ghczm[a-z]+|[A-Za-z0-9]+zm\d[A-Za-z0-9]*")
_GHC_CODE = re.compile(r"z([0-9][0-9a-f]*)U|Z(\d+)([TH])|([zZ].)")
_GHC_CHARACTERS = {
    "ZL": "(", "ZR": ")", "ZM": "[", "ZN": "]", "ZC": ":", "ZZ": "Z", "zz": "z", "za": "&", "zb": "|", "zc": "^", "zd": "$", "ze": "=", "zg": ">",
    "zh": "#", "zi": ".", "zl": "<", "zm": "-", "zn": "!", "zp": "+", "zq": "'", "zr": "\\", "zs": "/", "zt": "*", "zu": "_", "zv": "%",
}


def read_functional(name: str) -> str | None:
    """`List.map_456` or `GHC.List.filter`; None if neither compiler can have written that name."""
    if name.startswith("caml"):
        return _read_ocaml(name)
    return _read_ghc(name) if name.endswith("_info") else None


def _read_ocaml(name: str) -> str | None:
    found = _OCAML.fullmatch(name)
    if found is None:
        return None
    inner = _OCAML_ESCAPE.sub(lambda match: chr(int(match[1], 16)), found[2].replace("__", "."))
    return f"{found[1].replace('__', '.')}.{inner}"


def _read_ghc(name: str) -> str | None:
    found = _GHC.fullmatch(name)
    if found is None:
        return None
    package, module, inner = found.groups()
    module_name, plain = _decode(module), _decode(inner)
    is_known = _GHC_PACKAGE.fullmatch(package) if package else module in ("Main", "ZCMain") or "zi" in module or plain != inner
    return f"{module_name.lstrip(':')}.{plain}" if is_known and module_name and plain else None


def _decode(text: str) -> str:
    """Plain text of the Z-encoding; empty if it is none."""
    try:
        return _GHC_CODE.sub(_character, text)
    except (KeyError, ValueError, OverflowError):
        return ""


def _character(match: re.Match[str]) -> str:
    code, count, kind, pair = match.groups()
    if pair:
        return _GHC_CHARACTERS[pair]
    if code:
        value = int(code, 16)
        return chr(value) if 0x20 <= value < 0xD800 else match[0]
    commas = "," * (min(int(count), 64) - 1)
    return f"({commas})" if kind == "T" else f"(#{commas}#)"
