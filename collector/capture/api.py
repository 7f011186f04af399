"""api -- what a Python program may tell the recording it is part of

Every function is harmless in a process that is not recorded: its arguments are
checked, and then nothing happens. Wrong arguments raise TypeError or ValueError,
recorded or not; what the recorder itself cannot do is counted and told in the
experiment's header, never raised. All may be called from any thread.

Source: libcollector(3). The pages of each call are in libcollector.h.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from collector.capture.native import find_recorder

_INT_MAX = 2**31 - 1
_ADDRESS_MAX = 2**64 - 1


def sample(label: str = "") -> None:
    """Record a sample point: readings of the whole process now, under `label`.

    ValueError if the label contains a NUL character.
    """
    text = _encode(label, "label")
    if recorder := find_recorder():
        recorder.sample(text)


class _Phases:
    """The phases that are open, the newest last."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.open: list[list[str]] = []

    def begin(self, label: str) -> list[str]:
        opened = [label]  # a list, since two of the same label are two
        with self.lock:
            sample(label)
            self.open.append(opened)
        return opened

    def end(self, opened: list[str]) -> None:
        with self.lock:
            is_newest = self.open[-1] is opened
            self.open = [other for other in self.open if other is not opened]
            if is_newest:
                sample(self.open[-1][0] if self.open else NO_PHASE)


NO_PHASE = "(no phase)"
_phases = _Phases()


@contextmanager
def phase(label: str) -> Iterator[None]:
    """Give the time of a `with` block, or of each call of a decorated function, the name `label`: that of the whole process.

    It is a sample point at the begin and one at the end, which has the label of the phase around it, or "(no phase)". Where threads have
    phases at the same time the one that began last counts. ValueError if the label contains a NUL character.
    """
    opened = _phases.begin(label)
    try:
        yield
    finally:
        _phases.end(opened)


def writelog(data: bytes | bytearray | memoryview) -> None:
    """Put bytes of the program's own into the log, with time and thread."""
    content = bytes(memoryview(data))
    if recorder := find_recorder():
        recorder.writelog(content)


def version() -> str:
    """The recorder's version, "" if there is no recorder in this process."""
    recorder = find_recorder()
    return recorder.version().decode() if recorder else ""


def is_recording() -> bool:
    """Whether an experiment is open in this process; a paused one is."""
    recorder = find_recorder()
    return bool(recorder and recorder.is_active())


def terminate_expt() -> None:
    """Close the experiment for good; the program runs on, unrecorded."""
    if recorder := find_recorder():
        recorder.terminate_expt()


class _PauseState:
    """Whether Python code has paused recording, and whether a `paused()` block has to end that."""

    def __init__(self) -> None:
        # Reentrant: a Python signal handler may pause while its thread is in here.
        self.lock = threading.RLock()
        self.is_paused = False
        self.is_block_to_resume = False
        self.block_count = 0

    def set(self, is_paused: bool, by_block: bool = False) -> None:
        self.is_paused = is_paused
        self.is_block_to_resume = is_paused and by_block
        if recorder := find_recorder():
            recorder.pause() if is_paused else recorder.resume()


_state = _PauseState()


def _replace_lock_after_fork() -> None:
    # Another thread may have held it, and that thread is not in the child.
    _state.lock = threading.RLock()
    _phases.lock = threading.RLock()


os.register_at_fork(after_in_child=_replace_lock_after_fork)


def pause() -> None:
    """Stop recording profile events for the whole process. Ignored if already paused."""
    with _state.lock:
        _state.set(True)


def resume() -> None:
    """Start recording profile events again. Ignored if not paused; ends any number of pauses."""
    with _state.lock:
        _state.set(False)


@contextmanager
def paused() -> Iterator[None]:
    """Pause recording for a `with` block, or as a decorator for a function.

    Blocks may nest and overlap between threads: recording resumes when the last
    of them ends, and only if a block paused it: after `pause()` it stays paused.
    A pause from elsewhere (a signal, C code) is not known here, and the end of a
    block would end it too.
    """
    with _state.lock:
        _state.block_count += 1
        if not _state.is_paused:
            _state.set(True, by_block=True)
    try:
        yield
    finally:
        with _state.lock:
            _state.block_count -= 1
            if _state.block_count == 0 and _state.is_block_to_resume:
                _state.set(False)


def func_load(
    name: str,
    vaddr: int,
    size: int,
    alias: str | None = None,
    sourcename: str | os.PathLike[str] | None = None,
    lines: Iterable[tuple[int, int]] = (),
) -> None:
    """Tell of a generated function: `size` bytes of code at address `vaddr`, valid from now on.

    Its bytes are kept, so call this once they are written. `name` is what reports
    show, `alias` free text beside it. `lines` are pairs (offset in bytes, line of
    `sourcename`), offsets increasing; each holds up to the next offset.
    ValueError: no name, size below 1, a range that wraps, offsets that do not increase.
    """
    if not name:
        raise ValueError("a function needs a name")
    name_text = _encode(name, "name")
    alias_text = None if alias is None else _encode(alias, "alias")
    source_text = None if sourcename is None else _encode_path(sourcename, "sourcename")
    address = _check_address(vaddr)
    size = _check_int(size, "size", 1, min(_INT_MAX, _ADDRESS_MAX - address + 1))
    table = _flatten(lines)
    if recorder := find_recorder():
        recorder.func_load(name_text, alias_text, source_text, address, size, table)


def func_unload(vaddr: int) -> None:
    """Tell that the function loaded at `vaddr` is gone; earlier samples keep its name."""
    address = _check_address(vaddr)
    if recorder := find_recorder():
        recorder.func_unload(address)


def module_load(modulename: str | os.PathLike[str], vaddr: int) -> None:
    """Tell that the program itself has mapped the object file `modulename` (ELF image or .o) at `vaddr`."""
    path = _encode_path(modulename, "modulename")
    address = _check_address(vaddr)
    if recorder := find_recorder():
        recorder.module_load(path, address)


def module_unload(vaddr: int) -> None:
    """Tell that the module loaded at `vaddr` is gone; earlier samples keep its names."""
    address = _check_address(vaddr)
    if recorder := find_recorder():
        recorder.module_unload(address)


def _encode(text: str, what: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{what} must be str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} must not contain a NUL character")
    return text.encode("utf-8", "surrogateescape")


def _encode_path(path: str | os.PathLike[str], what: str) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"{what} must not contain a NUL character")
    return encoded


def _check_int(value: int, what: str, lowest: int, highest: int) -> int:
    number = operator.index(value)
    if not lowest <= number <= highest:
        raise ValueError(f"{what} must be from {lowest} to {highest}, not {number}")
    return number


def _check_address(vaddr: int) -> int:
    return _check_int(vaddr, "vaddr", 1, _ADDRESS_MAX)


def _flatten(lines: Iterable[tuple[int, int]]) -> list[int]:
    flat: list[int] = []
    lowest = 0
    for offset, line in lines:
        flat.append(_check_int(offset, "offset in lines, in increasing order,", lowest, _INT_MAX))
        flat.append(_check_int(line, "line", -_INT_MAX - 1, _INT_MAX))
        lowest = flat[-2] + 1
    return flat
