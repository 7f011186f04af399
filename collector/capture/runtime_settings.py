"""runtime_settings -- the variables that make language runtimes name the code they make (`record --jit`), joined with what the user has there"""

from __future__ import annotations

import os
from collections.abc import Mapping

from collector.runtimes import RUNTIMES, Setting

_FILES = os.path.dirname(os.path.abspath(__file__))


def runtime_settings(base: Mapping[str, str], objects_path: str) -> dict[str, str]:
    """Give the variables that change. `objects_path` is where runtimes put lists of their code if they can be told where."""
    settings = [setting for runtime in RUNTIMES for setting in runtime.settings]
    return {setting.variable: _joined(setting, base.get(setting.variable), objects_path) for setting in settings}


def _joined(setting: Setting, present: str | None, objects_path: str) -> str:
    files = _FILES.replace("\\", "\\\\").replace('"', '\\"')  # inside a string of Lua's
    ours = setting.value.format(objects=objects_path, files=files)
    if not present:
        return ours if present is None else ours.removeprefix(":")  # an empty list of paths is not that which stands for none
    if setting.separator is None or ours in present:
        return present
    if setting.is_first:
        return setting.separator.join((ours, _as_lua(present)))
    return setting.separator.join((present, ours))


def _as_lua(present: str) -> str:
    """What LUA_INIT says, as Lua: code, or the path of a file behind an @."""
    if not present.startswith("@"):
        return present
    path = present[1:].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'dofile("{path}")'
