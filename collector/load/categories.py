"""categories -- the tables of categories that a user has: those that are named, and one in the configuration directory"""

from __future__ import annotations

import os
from collections.abc import Iterable

from collector.errors import UsageError
from collector.profile.categories import Categories, CategoryError, read_categories
from collector.regular_file import read_regular

_LARGEST_BYTES = 1 << 20


def default_path() -> str:
    """Where a table is looked for: $XDG_CONFIG_HOME/collector/categories, else in ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or ""
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.config"), "collector", "categories")


def categories_of(paths: Iterable[str] = ()) -> Categories:
    """The categories of these files, then of the default one if it is there, then the built-in ones. UsageError if one cannot be used."""
    found = [*paths, *(path for path in (default_path(),) if os.path.exists(path))]
    try:
        return read_categories(*((path, _text(path)) for path in found))
    except CategoryError as error:
        raise UsageError(str(error)) from error


def _text(path: str) -> str:
    try:
        return read_regular(path, _LARGEST_BYTES, may_follow=True).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"the categories in {path} cannot be read: {(error.strerror or str(error)).lower()}") from error
