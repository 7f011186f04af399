"""debuginfod -- debug files from the servers that DEBUGINFOD_URLS names, by the program debuginfod-find; only for who asks for that

Source: the manual of elfutils, debuginfod-find(1).
"""

from __future__ import annotations

import os

_PROGRAM = "debuginfod-find"
_PATIENCE_S = 900
_NOT_THERE = "No such file or directory"


def cache_directory() -> str:
    """Where clients keep what they fetched: below it, BUILD-ID/debuginfo."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("DEBUGINFOD_CACHE_PATH") or os.path.join(cache, "debuginfod_client")


def fetch_debug_file(name: str, build_id: bytes) -> list[str]:
    """Have the debug file of module `name` fetched into the cache. Complaints; none if no server has it."""
    if not os.environ.get("DEBUGINFOD_URLS"):
        return ["Debug files are not fetched: DEBUGINFOD_URLS names no server."]
    import subprocess  # late: what few reports need

    environment = {**os.environ, "LC_ALL": "C", "DEBUGINFOD_CACHE_PATH": cache_directory()}
    try:
        done = subprocess.run([_PROGRAM, "debuginfo", build_id.hex()], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, env=environment)
    except FileNotFoundError:
        return [f"Debug files are not fetched: there is no {_PROGRAM} here (apt install debuginfod)."]
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"The debug file of {name} is not fetched: {error}."]
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"]
    if done.returncode == 0 or _NOT_THERE in lines[-1]:
        return []
    return [f"The debug file of {name} is not fetched: {_PROGRAM}: {lines[-1].rstrip('.')}."]
