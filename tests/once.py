"""once -- what several tests need, made by the first of them, in whichever process of the session it runs"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, what: object, make: Callable[[Path], object]) -> Path:
    """A directory of the session that `make(directory)` has filled, the same for all that name the same by `what`; nobody writes into it later."""
    shelf = factory.getbasetemp() / "once"
    shelf.mkdir(exist_ok=True)
    place = shelf / sha256(repr(what).encode()).hexdigest()[:16]
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done := place.with_suffix(".done")).exists():
            place.mkdir(exist_ok=True)
            make(place)
            done.touch()
    return place
