"""working_directory -- where we are, and paths from there, even in a directory that was removed"""

from __future__ import annotations

import os


def working_directory() -> str:
    """Its path; empty where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def relative_path(path: str) -> str:
    """An absolute path as seen from here; as it is where nothing is."""
    here = working_directory()
    return os.path.relpath(path, here) if here else path
