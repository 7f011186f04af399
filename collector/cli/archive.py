"""archive -- copy into an experiment the programs, libraries and debug files that it needs on another machine

    collector archive EXPT
    collector archive EXPT --sources       the sources of all lines with samples as well

Every view then shows the same without the originals. Pack it with tar, which keeps the times of files.
"""

from __future__ import annotations

import argparse
import sys

from collector.cli.reporting import debug_options
from collector.cli.reporting.progress import ProgressLine
from collector.cli.working_directory import relative_path
from collector.printable import printable
from collector.units import format_bytes, plural

NAME = "archive"
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiment and what to copy."""
    parser.add_argument("experiment", metavar="EXPT", help="the experiment")
    parser.add_argument("--sources", action="store_true", help="copy the sources of all lines with samples")
    debug_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Make the archive, and say what it holds."""
    debug_dirs, source_map = debug_options.debug_dirs_of(args), debug_options.source_map_of(args)
    from collector.load.archiving import archive
    from collector.symbols.symbolizer import Symbolizer

    progress = ProgressLine(sys.stderr)
    symbolizer = Symbolizer(debug_dirs=debug_dirs, is_fetching=args.debuginfod, progress=progress)
    try:
        done = archive(args.experiment, symbolizer, has_sources=args.sources, source_map=source_map, progress=progress)
    finally:
        progress.close()
    for complaint in done.complaints:
        print(f"collector: {printable(complaint.rstrip('.'))}", file=sys.stderr)
    counts = [plural(done.module_count, "module"), plural(done.debug_file_count, "debug file")]
    if args.sources:
        counts.append(plural(done.source_count, "source"))
    new = "" if done.new_bytes == done.size_bytes else f", {format_bytes(done.new_bytes) if done.new_bytes else 'nothing'} of it new"
    print(f"{printable(relative_path(done.path))}: {', '.join(counts)}, {format_bytes(done.size_bytes)}{new}")
    return 0
