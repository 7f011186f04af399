"""demangle -- names as the programmer wrote them, and short ones for narrow tables

The C++ runtime that is installed demangles: __cxa_demangle of libstdc++ or libc++abi, called
in this process. libstdc++ refuses names of more than 1024 characters to spare its stack, and
Rust's newer scheme (`_R...`) and D's are not its own: those go to binutils' c++filt, all of a scheme
in one run. Where nobody can read a name it is shown mangled. Source: Itanium C++ ABI, section
"Demangler API"; Rust's legacy scheme is the same with a hash behind the name. For Fortran: the
manual of GNU Fortran, section "Naming conventions".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from collector.symbols.functional_names import read_functional

# Tried by name only: ctypes.util.find_library would start ldconfig and gcc.
_RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1", "/usr/lib/libc++abi.dylib")

_LONGEST_FOR_LIBSTDCXX = 1024
_FILTER_SECONDS = 10
_LONGEST_TAG = 20  # numba's say which options a function was compiled with, in a hundred letters

_D_NAME = re.compile(r"_D(?:\d|main$)")
_FORTRAN_MODULE = re.compile(r"__([a-z][a-z0-9_.]*)_MOD_(?=.)")
_FORTRAN_EXTERNAL = re.compile(r"([a-z][a-z0-9_]*)_")
_FORTRAN_SOURCE = re.compile(r"\.f(?:or|tn|pp|\d\d)?$", re.IGNORECASE)
_NUMBERED = re.compile(r"([A-Za-z_]\w*)\.\d+")
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}(?=$|[ .])")
_RUST_UNDERSCORE = re.compile(r"(?<![^:])_(?=\$)")  # no identifier of the linker begins with a dollar
_RUST_CRATE_HASH = re.compile(r"(?<=\w)\[[0-9a-f]{8,16}\]")
_RUST_ESCAPE = re.compile(r"\$(SP|BP|RF|LT|GT|LP|RP|C|u[0-9a-f]{1,6})\$")
_RUST_CHARACTERS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}

_OPERATORS = sorted(("()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"), key=len, reverse=True)
_PLAIN_FUNCTION = re.compile(r"([\w:~]+)\(([^()<>{}\[\]]*)\)((?: const)?)")
_WORD = re.compile(r"\w")
_PLAIN_TEXT = re.compile(r"(?:[^<({\[ o]|o(?!perator))+")
_BRACKET_OR_OPERATOR = re.compile(r"[<({\[\])}>]|operator")


def demangle_many(names: Iterable[str]) -> dict[str, str]:
    """{name: name in the notation of C++, Rust, D, Fortran, OCaml or Haskell}, unchanged when it is not mangled or cannot be read.

    Parts that a compiler cut off keep their mark: `f(int) [clone .cold]`. Functions within others lose their number: `inner.0`.
    c++filt runs once for all of a scheme that need it.
    """
    shown: dict[str, str] = {}
    refused: dict[str, list[str]] = {}
    for name in names:
        mangled = name.removesuffix("@plt")
        run = _runtime() if mangled.startswith(("_Z", "__Z", "___Z")) else None
        plain = run(mangled) if run else None
        if plain is not None:
            shown[name] = (_as_rust(plain) if _RUST_HASH.search(plain) else plain) + name[len(mangled):]
        else:
            shown[name] = read_functional(name) or _as_fortran(name)
            scheme = _scheme_for_filter(name)
            if scheme:
                refused.setdefault(scheme, []).append(name)
    for scheme, mangled_names in refused.items():
        shown.update(zip(mangled_names, _run_filter(scheme, tuple(mangled_names))))
    return shown


def _scheme_for_filter(name: str) -> str:
    """What c++filt calls the scheme of a name that it shall read; empty if it shall not."""
    if not (name.isascii() and name.isprintable()):
        return ""
    if _D_NAME.match(name):
        return "dlang"
    if name.startswith("_R"):
        return "rust"
    return "gnu-v3" if len(name) > _LONGEST_FOR_LIBSTDCXX and name.startswith("_Z") else ""


@functools.cache
def _runtime() -> Callable[[str], str | None] | None:
    import ctypes

    for soname in _RUNTIMES:
        try:
            call = ctypes.CDLL(soname).__cxa_demangle
            free = ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        call.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        call.restype = ctypes.c_void_p
        free.argtypes = [ctypes.c_void_p]
        free.restype = None
        return functools.partial(_call, call, free)
    return None


def _call(call: Callable[..., int | None], free: Callable[[int], None], name: str) -> str | None:
    import ctypes

    buffer = call(name.encode("utf-8", "replace"), None, None, None)
    if not buffer:
        return None
    try:
        return ctypes.string_at(buffer).decode("utf-8", "backslashreplace")
    finally:
        free(buffer)


@functools.cache
def _run_filter(scheme: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What c++filt makes of `names`; themselves where there is none."""
    import subprocess

    try:
        made = subprocess.run(["c++filt", "-r", "-s", scheme], input="\n".join(names), capture_output=True, text=True,
                              timeout=_FILTER_SECONDS)
    except (OSError, subprocess.SubprocessError, ValueError):
        return names
    lines = made.stdout.splitlines()
    if scheme == "rust":
        lines = [_RUST_CRATE_HASH.sub("", line) for line in lines]
    return tuple(lines) if made.returncode == 0 and len(lines) == len(names) else names


def _as_rust(name: str) -> str:
    name = _RUST_UNDERSCORE.sub("", _RUST_HASH.sub("", name))
    return _RUST_ESCAPE.sub(_rust_character, name.replace("..", "::"))


def _rust_character(match: re.Match[str]) -> str:
    code = match.group(1)
    if code in _RUST_CHARACTERS:
        return _RUST_CHARACTERS[code]
    value = int(code[1:], 16)
    return chr(value) if 0x20 <= value < 0xD800 else match.group(0)


def _as_fortran(name: str) -> str:
    module = _FORTRAN_MODULE.match(name)
    if module:
        return module[1].replace(".", "::") + "::" + name[module.end():]
    numbered = _NUMBERED.fullmatch(name)  # so are nested functions of GNU C
    return numbered[1] if numbered else name


def without_underscore(name: str, source: str | None) -> str:
    """`name` without the underscore behind names of external procedures, if `source` is a Fortran file."""
    external = _FORTRAN_EXTERNAL.fullmatch(name) if name.endswith("_") else None
    return external[1] if external and source and _FORTRAN_SOURCE.search(source) else name


def short_name(name: str) -> str:
    """A demangled name without return type, template arguments, tags and parameters, for tables.

    `void std::sort<int*>(int*, int*)` becomes `std::sort<...>(...)`. A name whose brackets do
    not match is returned as it is.
    """
    if "(" not in name and "<" not in name:
        return name
    plain = _PLAIN_FUNCTION.fullmatch(name)  # most are
    if plain is not None and not plain[1].endswith(("operator", "decltype")) and plain[2] != "anonymous namespace":
        return f"{plain[1]}({'...' if plain[2] else ''}){plain[3]}"
    try:
        return _Shortener(name, " thunk to " not in name).shorten()
    except IndexError:
        return name


class _Shortener:
    """One pass over a demangled name; IndexError where the text ends inside a bracket."""

    def __init__(self, text: str, is_return_type_possible: bool) -> None:
        self.text = text
        self.position = 0
        self.pieces: list[str] = []
        self.name_starts_at = 0  # piece behind the return type
        self.is_return_type_possible = is_return_type_possible

    def shorten(self) -> str:
        while self.position < len(self.text):
            self._step()
        return "".join(self.pieces[self.name_starts_at:])

    def _step(self) -> None:
        character = self.text[self.position]
        if character == "o" and self._is_operator():
            self._take_operator()
        elif character == "<":
            is_part_of_name = self._is_behind_dot()
            inside = self._bracketed("<", ">")
            if is_part_of_name:
                self.pieces.append(f"<{inside}>")
                return
            is_template = len(self.pieces) > self.name_starts_at  # else it is Rust's <Type as Trait>
            self.pieces.append("<...>" if is_template else f"<{_Shortener(inside, False).shorten()}>")
        elif character == "(":
            self._take_parameters()
        elif character == "{":
            self.pieces.append("{" + short_name(self._bracketed("{", "}")) + "}")
        elif character == "[":
            inside = self._bracketed("[", "]")
            is_hash = inside.startswith("abi:") and len(inside) > _LONGEST_TAG
            self.pieces.append("" if is_hash else f"[{inside}]")
        elif character == " " and self.is_return_type_possible:
            self.position += 1
            self.pieces.append(" ")
            self.name_starts_at = len(self.pieces)
        else:
            plain = _PLAIN_TEXT.match(self.text, self.position)
            self.pieces.append(plain[0] if plain else character)
            self.position += len(self.pieces[-1])

    def _is_behind_dot(self) -> bool:
        """Whether a bracket here is a part of the name: Go's main.(*T).f, Python's f.<locals>.g, JavaScript's Object.<anonymous>."""
        return self.text[self.position - 1:self.position] == "."

    def _take_parameters(self) -> None:
        is_first = self.position == 0 and self.is_return_type_possible  # (garbage collector)
        is_part_of_name = is_first or self._is_behind_dot()
        inside = self._bracketed("(", ")")
        if is_part_of_name or inside == "anonymous namespace":
            self.pieces.append(f"({inside})")
        elif "".join(self.pieces[-2:]).endswith(("decltype", "decltype ")):
            self.pieces.append("(...)")
        else:
            self.pieces.append("(...)" if inside else "()")
            self.is_return_type_possible = False

    def _is_operator(self) -> bool:
        if not self.text.startswith("operator", self.position):
            return False
        before = self.text[self.position - 1:self.position]
        after = self.text[self.position + 8:self.position + 9]
        return not _WORD.match(before or ":") and not _WORD.match(after or ":")

    def _take_operator(self) -> None:
        self.position += 8
        rest = self.text[self.position:]
        symbol = next((s for s in _OPERATORS if rest.startswith(s)), "")
        if not symbol and rest[:1] == " ":  # operator new, or a conversion to the type that follows
            symbol = " "
            self.is_return_type_possible = False
        elif rest[len(symbol):].startswith(" <"):
            symbol += " "
        self.pieces.append("operator" + symbol)
        self.position += len(symbol)

    def _bracketed(self, opening: str, closing: str) -> str:
        """The text up to the bracket that closes the one here; the position moves behind it."""
        start = self.position
        depth = 0
        while True:
            found = _BRACKET_OR_OPERATOR.search(self.text, self.position)
            if found is None:
                raise IndexError
            self.position = found.start()
            if self._is_operator():
                rest = self.text[self.position + 8:]
                symbol = next((s for s in _OPERATORS if rest.startswith(s)), "")
                self.position += 8 + len(symbol)
                continue
            character = self.text[self.position]
            if character in "<({[":
                depth += 1
            elif character in ")}]" or character == ">" and self.text[self.position - 1] != "-":
                depth -= 1
            self.position += 1
            if depth == 0:
                return self.text[start + 1:self.position - 1]
