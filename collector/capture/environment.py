"""environment -- the variables that bring the recorder into a program and tell it what to do"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from collector.capture.options import RecorderOptions

# Sanitizer runtimes must stay in front of us if the user preloads one.
_FIRST_COMERS = ("libasan", "libtsan", "libclang_rt", "libhwasan", "liblsan")

# In the environment of a program that is itself being recorded; the others are set anew.
_OF_ANOTHER_RECORDING = ("COLLECTOR_METRICS", "COLLECTOR_LAUNCHER", "COLLECTOR_NODE_READER")


def build_environment(
    base: Mapping[str, str],
    recorder: str,
    experiment: str,
    options: RecorderOptions,
    follow: str,
    metrics: str | None = None,
    preloads: Sequence[str] = (),
    launcher: str | None = None,
    reads_node: bool = False,
    names_jit_code: bool = False,
) -> dict[str, str]:
    """Give the program's environment: `base` with the recorder preloaded. `experiment` is an absolute path.

    `metrics` is the table of metrics, None for none; `preloads` are what metric plugins want preloaded;
    `launcher` is where the launcher takes perf events. `reads_node`: the launcher reads the metrics of the node,
    so that no process has to. `names_jit_code`: language runtimes are asked to name the code they make.
    """
    built = {name: value for name, value in base.items() if name not in _OF_ANOTHER_RECORDING}
    if names_jit_code:
        from collector.capture.runtime_settings import runtime_settings  # seldom asked for

        built |= runtime_settings(base, os.path.join(experiment, "objects"))
    built["LD_PRELOAD"] = order_preloads(recorder, _without_another_recording(base, recorder), preloads)
    # What of that is ours, so that it can be taken out again for a program that cannot load it.
    built["COLLECTOR_PRELOAD"] = ":".join([recorder, *preloads])
    if metrics is not None:
        built["COLLECTOR_METRICS"] = metrics
        if reads_node:
            built["COLLECTOR_NODE_READER"] = "launcher"
    if launcher is not None:
        built["COLLECTOR_LAUNCHER"] = launcher
    built["COLLECTOR_EXPERIMENT"] = experiment
    built["COLLECTOR_OPTIONS"] = options.encode()
    built["COLLECTOR_FOLLOW"] = follow
    # AddressSanitizer refuses to start unless it is the first library. Preloading it for the sake of one program
    # would put it into all of that program's children too, so it is asked not to mind instead.
    asan = [word for word in (base.get("ASAN_OPTIONS", ""), "verify_asan_link_order=0") if word]
    built["ASAN_OPTIONS"] = ":".join(asan)
    return built


def _without_another_recording(base: Mapping[str, str], recorder: str) -> str:
    """Give LD_PRELOAD without what another recording put there, perhaps one of another installation: two recorders would write each sample twice."""
    theirs, name = base.get("COLLECTOR_PRELOAD", "").split(":"), os.path.basename(recorder)
    words = base.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    return ":".join(word for word in words if word not in theirs and os.path.basename(word) != name)


def order_preloads(recorder: str, present: str, plugins: Sequence[str] = ()) -> str:
    """Give LD_PRELOAD: the recorder, then what plugins want, then what was there; a sanitizer's runtime that was there stays first."""
    ours = [recorder, *plugins]
    others = [word for word in present.replace(" ", ":").split(":") if word and word not in ours]
    first = [word for word in others if os.path.basename(word).startswith(_FIRST_COMERS)]
    return ":".join([*first, *ours, *(word for word in others if word not in first)])


def make_preloadable(recorder: str) -> tuple[str, str | None]:
    """Give a path of the recorder that LD_PRELOAD can hold, and the directory made for it, if one was.

    Blanks and colons separate paths there and cannot be escaped; a path with one of them gets a symbolic link elsewhere.
    """
    if not any(separator in recorder for separator in " :\t\n$"):
        return recorder, None
    import tempfile  # seldom needed, and slow to import

    directory = tempfile.mkdtemp(prefix="collector-")
    link = os.path.join(directory, os.path.basename(recorder))
    os.symlink(recorder, link)
    return link, directory
