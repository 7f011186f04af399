"""load -- from the files of experiments to a profile: the one place where reading and showing meet

    load(paths) -> Profile             for reports and exports
    open_experiment(path) -> Experiment    for Python programs

Logs are read one after the other: what each says of its process and of what was mapped where and when, and which addresses its samples
have on their stacks. At the end all addresses are named together, so that each module's symbols are read only once. The samples stay
with the analysis (collector/analysis), which adds them up when it is asked.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Iterable, Sequence

if typing.TYPE_CHECKING:
    from collector.analysis.seam import Analysis
    from collector.load.experiment import Experiment
    from collector.profile.model import Profile
    from collector.symbols.symbolizer import Symbolizer

Progress = Callable[[int, int, str], None]
Path = str | os.PathLike[str]


def load(
    paths: Path | Sequence[Path],
    *,
    symbolizer: Symbolizer | None = None,
    has_inlines: bool = True,
    has_pieces: bool = False,
    has_interpreter_frames: bool = False,
    debug_dirs: Iterable[str] = (),
    progress: Progress | None = None,
    analysis: Analysis | None = None,
) -> Profile:
    """The profile of one experiment, or of several added up; a path may also be a file that write_profile made.

    Without `has_inlines` an inlined call counts for the function around it. With `has_pieces` a piece of a function that the compiler
    cut off or adapted (`f.cold`, `f.constprop.0`) is a function of its own. With `has_interpreter_frames` an interpreter's own code is shown,
    whose time else counts for the functions that it runs. Separate debug files are looked for below `debug_dirs`, before the places where the
    system keeps them.
    `progress(done, total, text)` is called during long work. `analysis` is a new one, if it is not to be the fastest there is.
    ExperimentNotFoundError if there is no experiment at a path, ExperimentError if it cannot be read; damaged parts
    are left out and counted in `Profile.losses`.
    """
    # Imported here, because a report of a profile that is kept needs nothing of it.
    from collector.analysis import open_analysis
    from collector.load.loader import Loader
    from collector.symbols.symbolizer import Symbolizer

    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    symbolizer = symbolizer or Symbolizer(has_inlines=has_inlines, has_pieces=has_pieces, debug_dirs=debug_dirs, progress=progress)
    files = [path for path in listed if os.path.isfile(path)]
    loader = Loader(symbolizer, analysis or open_analysis(), progress, has_interpreter_frames)
    for path in listed:
        if path not in files:
            loader.add(os.fspath(path))
    return loader.finish() if not files else _merge_files(files, loader.finish() if len(files) < len(listed) else None)


def _merge_files(files: Sequence[Path], loaded: Profile | None) -> Profile:
    from collector.load.serial import read_profile
    from collector.profile.merge import merge

    profiles = [*([loaded] if loaded is not None else []), *map(read_profile, files)]
    return profiles[0] if len(profiles) == 1 else merge(profiles)


def open_experiment(path: Path | Sequence[Path], *, debug_dirs: Iterable[str] = (), progress: Progress | None = None) -> Experiment:
    """An experiment, or several added up, as values for analysis in Python; arguments and errors are those of `load`."""
    from collector.load.experiment import Experiment

    return Experiment(load(path, debug_dirs=debug_dirs, progress=progress))
