"""views -- runs `collector` for each of many command lines, each in a forked process that has only the imports of the others

    echo '[["report", "a.expt", "functions"], ...]' | python views.py [HIDDEN...]

Prints what each gave: `[[status, output], ...]`. With HIDDEN, as on a machine that is no Linux: see elsewhere.py.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import tempfile
from typing import IO

from elsewhere import hide

from collector import load, profile, reports, symbols
from collector.cli import reporting
from collector.cli.main import main


def answer(words: list[str], output: IO[bytes]) -> int:
    """The status of a command, whose output goes to a file."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.dup2(output.fileno(), 1)
            sys.argv = ["collector", *words]
            status = main()
            sys.stdout.flush()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    lines = json.load(sys.stdin)
    files = [tempfile.TemporaryFile() for _ in lines]
    if sys.argv[1:]:
        hide(("/proc", *sys.argv[1:]))
    for package in (reporting, load, reports, profile, symbols):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    statuses = [answer(words, output) for words, output in zip(lines, files)]
    for file in files:
        file.seek(0)
    json.dump([[status, file.read().decode()] for status, file in zip(statuses, files)], sys.stdout)
