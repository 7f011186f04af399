"""paper -- what commands that show experiments have in common: the profile, read or kept, the page, and writing it"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence

from collector.errors import CollectorError, ExperimentError, UsageError
from collector.profile.model import Profile
from collector.reports.style import Style

_WIDTH_OF_FILES = 100


def show_profile(
    paths: tuple[str, ...], show: Callable[[Profile], None], has_inlines: bool = True, has_pieces: bool = False,
    debug_dirs: tuple[str, ...] = (), is_fetching: bool = False, has_interpreter_frames: bool = False,
) -> None:
    """Show the profile of experiments. `show` may be called again, if what was kept of them does not know enough."""

    def read() -> tuple[Profile, set[str]]:
        return load_profile(paths, has_inlines, has_pieces, debug_dirs, is_fetching, has_interpreter_frames)

    if is_fetching:  # servers may know more the next time
        _show_loaded(read()[0], show)
        return
    unusual = {"no inlines": not has_inlines, "pieces": has_pieces, "interpreter frames": has_interpreter_frames}
    _show_kept_or_loaded(paths, show, debug_dirs, [option for option, is_given in unusual.items() if is_given], read)


def _show_kept_or_loaded(
    paths: tuple[str, ...], show: Callable[[Profile], None], debug_dirs: tuple[str, ...], options: Sequence[str], read: Callable[[], tuple[Profile, set[str]]]
) -> None:
    """Show the profile that was kept of the experiments, if it knows enough, else what they say, which is then kept."""
    from collector.load.kept import KeptProfile
    from collector.profile.kept_samples import NotKeptError

    kept = KeptProfile(paths, debug_dirs, options)
    if kept.profile is not None:
        with contextlib.suppress(NotKeptError, ExperimentError):
            show(kept.profile)
            return
    loaded, looked_at = read()
    profile = kept.completing(loaded)
    _show_loaded(profile, show)
    kept.store(profile, looked_at)


def _show_loaded(profile: Profile, show: Callable[[Profile], None]) -> None:
    from collector.profile.kept_samples import NotKeptError

    try:
        show(profile)
    except NotKeptError as error:  # of a profile in a file
        raise UsageError(str(error)) from error


def load_profile(
    paths: tuple[str, ...], has_inlines: bool, has_pieces: bool, debug_dirs: tuple[str, ...], is_fetching: bool, has_interpreter_frames: bool
) -> tuple[Profile, set[str]]:
    """The profile of experiments, and the files that its names depend on."""
    from collector.cli.reporting.progress import ProgressLine
    from collector.load import load
    from collector.symbols.symbolizer import Symbolizer

    progress = ProgressLine(sys.stderr)
    symbolizer = Symbolizer(has_inlines=has_inlines, has_pieces=has_pieces, debug_dirs=debug_dirs, is_fetching=is_fetching, progress=progress)
    try:
        return load(paths, symbolizer=symbolizer, has_interpreter_frames=has_interpreter_frames, progress=progress), symbolizer.looked_at
    finally:
        progress.close()


def page_style(width: int | None, output: str | None) -> Style:
    """The page that text is made for. UsageError if the `width` that was asked for is none."""
    if width is not None and width < 20:
        raise UsageError(f"--width is at least 20 columns, not {width}")
    is_terminal = output is None and sys.stdout.isatty()
    default = _columns_of_terminal() if is_terminal else _columns_asked()
    has_color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(max(20, width or default or _WIDTH_OF_FILES), has_color)


def _columns_of_terminal() -> int:
    import shutil  # brings three ways of compression with it

    return shutil.get_terminal_size().columns


def _columns_asked() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else 0


def write_page(text: str, path: str | None) -> None:
    """Write it to a file, or to standard output."""
    if path is None or path == "-":
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # Output has it, whatever the stream
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
