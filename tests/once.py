"""once -- what several tests need, made by the first of them, in whichever process of the session it runs"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path


def made_once(session: Path, what: object, make: Callable[[Path], object]) -> Path:
    """A directory that `make(directory)` has filled, the same for all that name the same by `what`; nobody writes into it later.

    `session` is the session's own (TempPathFactory.getbasetemp(), the one above each tmp_path).
    """
    shelf = session / "once"
    shelf.mkdir(exist_ok=True)
    place = shelf / sha256(repr(what).encode()).hexdigest()[:16]
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done := place.with_suffix(".done")).exists():
            place.mkdir(exist_ok=True)
            make(place)
            done.touch()
    return place
