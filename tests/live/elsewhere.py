"""elsewhere -- makes a process as on a machine that is no Linux and has none of the recorded files

Below what is hidden nothing is there for Python code; what `os`, `time`, `mmap`, `select` and `signal` have on Linux only is gone, and
no library of ours can be loaded.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import mmap
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

LINUX_ONLY = {  # as the manual of Python has them
    os: "copy_file_range eventfd getrandom getresgid getresuid getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate "
        "removexattr sched_getaffinity sched_setaffinity setns setresgid setresuid setxattr splice unshare "
        "O_DIRECT O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE",
    time: "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
    mmap: "MAP_POPULATE MAP_STACK",
    select: "epoll EPOLLIN",
    signal: "SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT sigtimedwait sigwaitinfo",
}


def hide(hidden: tuple[str, ...]) -> None:
    """Make all of that so."""

    def is_hidden(path: object) -> bool:
        if isinstance(path, int):
            return False
        text = os.fsdecode(path)  # type: ignore[arg-type]
        return any(text == place or text.startswith(place + "/") for place in hidden)

    def guarded(call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(path: object, *arguments: Any, **options: Any) -> Any:
            if is_hidden(path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            return call(path, *arguments, **options)

        return checked

    for name in ("open", "stat", "lstat", "scandir", "listdir", "readlink"):
        setattr(os, name, guarded(getattr(os, name)))
    builtins.open = io.open = guarded(io.open)  # type: ignore[assignment]
    for module, names in LINUX_ONLY.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    load = ctypes.CDLL

    def load_others(name: str | None, *arguments: Any, **options: Any) -> Any:
        if name and "collector" in os.path.basename(name):
            raise OSError(f"{name}: there is no such library")
        return load(name, *arguments, **options)

    ctypes.CDLL = load_others  # type: ignore[assignment, misc]
