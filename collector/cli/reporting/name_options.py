"""name_options -- what code is called and which frames are shown, as options of the commands that show a profile"""

from __future__ import annotations

from collections.abc import Mapping

from collector.profile.model import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--long-names", action="store_true", help="show functions with their template and parameter lists")
    add_frame_arguments(parser)


def add_frame_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those that say which frames there are."""
    add = parser.add_argument
    add("--no-inlines", action="store_true", help="count inlined calls for the functions around them")
    add("--interpreter-frames", action="store_true", help="show the frames of Python's interpreter, not only of the functions that it runs")
    add("--pieces", action="store_true", help="show pieces of functions (f.cold, f.part.0, f.constprop.0) apart from them")


def renamed(profile: Profile, args: argparse.Namespace, source_map: Mapping[str, str]) -> Profile:
    """The profile with the names that were asked for, and its sources where they lie here."""
    if source_map:
        from collector.profile.source_map import with_sources_at

        profile = with_sources_at(profile, source_map)
    if args.long_names:
        from collector.profile.names import with_long_names

        profile = with_long_names(profile)
    return profile
