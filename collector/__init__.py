"""collector -- where a program spends its time: recorded without changing it, read back as typed values

In a program that may be recorded:

    import collector
    collector.sample("phase two")
    with collector.phase("load"):
        ...
    with collector.paused():
        ...

At the desk:

    experiment = collector.open("name.expt")
    for row in experiment.functions(): ...

Nothing is imported before it is used: a recorded program pays only for what it calls.
"""

from __future__ import annotations

__version__ = "0.1.0"

_HOMES = {
    "sample": "collector.capture.api:sample",
    "phase": "collector.capture.api:phase",
    "pause": "collector.capture.api:pause",
    "resume": "collector.capture.api:resume",
    "paused": "collector.capture.api:paused",
    "terminate_expt": "collector.capture.api:terminate_expt",
    "func_load": "collector.capture.api:func_load",
    "func_unload": "collector.capture.api:func_unload",
    "module_load": "collector.capture.api:module_load",
    "module_unload": "collector.capture.api:module_unload",
    "writelog": "collector.capture.api:writelog",
    "is_recording": "collector.capture.api:is_recording",
    "version": "collector.capture.api:version",
    "open": "collector.load:open_experiment",
    "events": "collector.experiment.merge:events",
    "CollectorError": "collector.errors:CollectorError",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604  (the keys above are strings)


def __getattr__(name: str) -> object:
    """Import the home of a public name when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'collector' has no attribute {name!r}")
    import importlib  # like everything else

    module, _, attribute = home.partition(":")
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported yet or not."""
    return sorted({*globals(), *__all__})
