"""library -- the functions of libcollector_analysis (libcollector_c/analysis/seam.h), if it is there"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

try:
    import ctypes
except ImportError:  # a Python built without libffi: everything is read in Python
    ctypes = None  # type: ignore[assignment]

from collector import native_library
from collector.errors import ExperimentError
from collector.format import SAMPLE_MAX_VALUES as MOST_VALUES

if ctypes is not None:
    _SIZE, _POINTER, _U32, _U64 = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64

    class Scan(ctypes.Structure):
        """What a log holds."""

        _fields_ = [
            ("items", _POINTER), ("item_count", _SIZE), ("bytes", _POINTER), ("byte_count", _SIZE),
            ("heads", _POINTER), ("record_count", _SIZE), ("numbers", _POINTER), ("number_count", _SIZE), ("settled", _U64),
        ]

    class Layout(ctypes.Structure):
        """Where the values of a record go."""

        _fields_ = [("columns", _U32 * MOST_VALUES), ("times", _U32), ("counted_in", _U32)]

    class Owners(ctypes.Structure):
        """Whose records are, and their layouts."""

        _fields_ = [
            ("threads", _POINTER), ("layout_numbers", _POINTER), ("record_count", _U64),
            ("layouts", ctypes.POINTER(Layout)), ("layout_count", _U64),
        ]

    class ExpansionBuffers(ctypes.Structure):
        """How entries expand."""

        _fields_ = [
            ("first_meaning", _POINTER), ("times", _POINTER), ("first_frame", _POINTER), ("frames", _POINTER),
            ("entry_count", _U64), ("empty_frames", _U64 * 8),
        ]

    class Question(ctypes.Structure):
        """What is asked of all samples."""

        _fields_ = [
            ("groups", _POINTER), ("spans", _POINTER), ("first_span", _POINTER), ("scales", _POINTER), ("frame_count", _U64),
            ("thread_count", _U64), ("group_count", _U64), ("want", _U64), ("demands", _POINTER), ("demanded", _U64),
            ("roles", ctypes.c_char_p), ("category", _U64),
        ]

    class Answer(ctypes.Structure):
        """Where the answer lies."""

        _fields_ = [
            ("cells", _POINTER), ("cell_count", _SIZE), ("exclusive", _POINTER), ("inclusive", _POINTER), ("parents", _POINTER),
            ("node_groups", _POINTER), ("finished", _POINTER), ("unfinished", _POINTER), ("finished_inclusive", _POINTER),
            ("unfinished_inclusive", _POINTER), ("node_count", _SIZE),
        ]

    _PROTOTYPES = {
        "open": (_POINTER,),
        "measure": (ctypes.c_int, _POINTER, _POINTER, _U32),
        "close": (None, _POINTER),
        "scan": (ctypes.c_int, _POINTER, ctypes.c_int, ctypes.POINTER(Scan)),
        "add_record": (ctypes.c_int, _POINTER, _U32, ctypes.c_char_p, _SIZE, ctypes.POINTER(_POINTER)),
        "needs_file": (ctypes.c_int, _POINTER, _U32),
        "attribute": (ctypes.c_int, _POINTER, _U32, ctypes.POINTER(Owners), ctypes.c_char_p, _SIZE, _U32),
        "shift": (ctypes.c_int, _POINTER, _U32, _U64),
        "collect": (ctypes.c_int, _POINTER, _U32, ctypes.c_int),
        "entries": (ctypes.c_int, _POINTER, ctypes.POINTER(_POINTER), ctypes.POINTER(_SIZE), ctypes.POINTER(Answer), _U64 * 8),
        "expand": (ctypes.c_int, _POINTER, ctypes.POINTER(ExpansionBuffers)),
        "mark": (ctypes.c_int, _POINTER, _U32, ctypes.c_int, _POINTER),
        "begin": (ctypes.c_int, _POINTER, ctypes.POINTER(Question)),
        "follow": (ctypes.c_int, _POINTER, _U32, ctypes.c_int),
        "rows": (ctypes.c_int, _POINTER, ctypes.POINTER(_POINTER), ctypes.POINTER(_SIZE)),
        "finish": (ctypes.c_int, _POINTER, ctypes.POINTER(Answer)),
    }

COLUMN_TIME, COLUMN_USER, COLUMN_COUNT, COLUMN_MISSING, COLUMN_SYSTEM = 1, 2, 4, 8, 16
WANT_GROUPS, WANT_TREE, WANT_EDGES, WANT_ROWS, WANT_UNFOLDED = 1, 2, 4, 8, 16
DEMAND_LAST, DEMAND_NEVER, DEMAND_FROM, DEMAND_UPTO = (1 << bit for bit in (31, 30, 29, 28))


class Library:
    """The functions, each without its prefix; those that give an error raise it."""

    def __init__(self, path: str) -> None:
        loaded = ctypes.CDLL(path)
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = getattr(loaded, f"col_analysis_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def check(status: int, what: str) -> int:
    """The status of a call, if it is none of failure."""
    if status >= 0:
        return status
    if status == -12:
        raise MemoryError(what)
    raise ExperimentError(f"{what} cannot be read: {os.strerror(-status).lower()}")


def bytes_at(address: int | None, count: int) -> bytes:
    """A copy of what lies at an address."""
    return ctypes.string_at(address, count) if address and count else b""


def pointer_and_count() -> tuple[Any, Any]:
    """Where a function says where its rows are, and how many."""
    return _POINTER(), _SIZE()


def by_reference(value: object) -> object:
    """Its address, for a call."""
    return ctypes.byref(value)  # type: ignore[arg-type]


@cache
def load_library() -> Library | None:
    """The library; None if it is not there."""
    if ctypes is None:
        return None
    for path in native_library.iter_paths():
        try:
            return Library(path)
        except (OSError, AttributeError):  # not there, or of another version
            continue
    return None
