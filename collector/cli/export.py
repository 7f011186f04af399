"""export -- write samples for other programs: flame graphs, profile viewers, databases

    collector export EXPERIMENT... --format FORMAT [-o FILE]

Several experiments are written as one.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from collector.cli.reporting import debug_options, filter_options, metric_options, name_options
from collector.errors import CollectorError, UsageError
from collector.profile.model import Profile
from collector.units import listed

if TYPE_CHECKING:
    from collector.profile.categories import Categories

_BINARY: Final = ("pprof", "parquet", "arrow")
_OF_CPU_TIME: Final = ("firefox", "chrome")
_OF_FUNCTIONS: Final = ("folded", "speedscope", "chrome", "json", "csv")

FORMATS: Final = {
    "folded": ("folded", "folded", "a line a stack: flamegraph.pl, inferno, speedscope"),
    "speedscope": ("speedscope", "speedscope", "speedscope.app, a profile of each thread"),
    "firefox": ("firefox", "firefox", "profiler.firefox.com: threads, labels and pauses over time"),
    "pprof": ("pprof", "pprof", "go tool pprof, Pyroscope, Polar Signals"),
    "chrome": ("chrome", "chrome", "Perfetto and chrome://tracing: calls over time"),
    "callgrind": ("callgrind", "callgrind", "KCachegrind, QCachegrind, callgrind_annotate"),
    "perf-script": ("perf_script", "perf_script", "what perf script prints: stackcollapse-perf.pl, inferno, speedscope"),
    "json": ("sample_rows", "sample_json", "a row a sample"),
    "csv": ("sample_rows", "sample_csv", "a row a sample"),
    "parquet": ("arrow_table", "parquet", "a row a sample: DuckDB, pandas, Polars, Spark; needs the package pyarrow"),
    "arrow": ("arrow_table", "arrow", "the same as an Arrow file; needs pyarrow"),
}
"""Formats, in the order of the help: the module in collector/exports and its function, and what reads them."""

NAME = "export"
OPTIONS_BETWEEN = True
HELP = (__doc__ or "") + "\nformats:\n" + "\n".join(f"  {name:<12} {meaning}" for name, (_, _, meaning) in FORMATS.items())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiments, the format, and what of them is written."""
    add = parser.add_argument
    add("experiments", metavar="EXPERIMENT", nargs="+", help="experiments")
    add("-f", "--format", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    add("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    add("--unit", choices=("us", "samples"), help="folded: microseconds of CPU time, which is the default, or numbers of samples")
    metric_options.add_arguments(parser)
    add("--threads", action="store_true", help="folded: begin stacks with their process and thread")
    add("--fold-recursion", action="store_true", help=f"{', '.join(_OF_FUNCTIONS)}: let a function that is on the stack already go on from there")
    name_options.add_arguments(parser)
    debug_options.add_arguments(parser)
    filter_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the samples and give the exit status."""
    _check(args)
    debug_dirs, source_map = debug_options.debug_dirs_of(args), debug_options.source_map_of(args)
    categories = filter_options.categories_of(args, args.format == "firefox")
    from collector.cli.reporting.paper import load_profile
    from collector.profile.kept_samples import NotKeptError

    loaded, _ = load_profile(tuple(args.experiments), not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)
    try:
        profile = filter_options.chosen(name_options.renamed(loaded, args, source_map), args, categories)
        if args.metric is not None:
            profile = metric_options.measured(profile, args.metric)
        if args.format == "parquet" and _is_dataset(profile, args.output):
            _write_dataset(profile, args.output)
        else:
            _write(_pieces(profile, args, categories), args.output)
    except NotKeptError as error:
        raise UsageError(str(error)) from error
    except ImportError as error:
        if error.name != "pyarrow":
            raise
        raise CollectorError(str(error)) from error
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.format not in FORMATS:
        raise UsageError(f"there is no format {args.format!r}; the formats are {', '.join(FORMATS)}")
    for option, is_given in (("--unit", args.unit), ("--threads", args.threads)):
        if is_given and args.format != "folded":
            raise UsageError(f"{option} is for the format folded, not for {args.format}")
    if args.metric is not None and args.format in _OF_CPU_TIME:
        raise UsageError(f"{args.format} shows CPU time over time, and takes no --metric")
    if args.metric is not None and "," in args.metric and args.format == "folded":
        raise UsageError("folded has one number a stack: --metric NAME")
    if args.fold_recursion and args.format not in _OF_FUNCTIONS:
        raise UsageError(f"--fold-recursion is for {listed(_OF_FUNCTIONS)}, not for {args.format}")
    if args.format in _BINARY and args.output in (None, "-") and sys.stdout.isatty():
        raise UsageError(f"{args.format} is not text for a terminal: -o FILE says where it goes")


def _pieces(profile: Profile, args: argparse.Namespace, categories: Categories | None) -> Iterator[bytes]:
    module, name, _ = FORMATS[args.format]
    write = getattr(importlib.import_module(f"collector.exports.{module}"), name)
    more: dict[str, Any] = {"categories": categories} if args.format == "firefox" else {}
    if args.format in _OF_FUNCTIONS:
        more = {"is_folded": args.fold_recursion}
    if args.format == "folded":
        more |= {"is_count": args.unit == "samples", "has_threads": args.threads}
    pieces: Iterator[bytes] = write(profile, **more)
    return pieces


def _is_dataset(profile: Profile, path: str | None) -> bool:
    """Whether it is a parallel job that is to be written, or a directory was named."""
    if path is not None and path.endswith("/"):
        return True
    return path not in (None, "-") and any(process.rank is not None for process in profile.processes)


def _write_dataset(profile: Profile, path: str) -> None:
    from collector.exports.arrow_dataset import write_dataset

    try:
        write_dataset(profile, path)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error


def _write(pieces: Iterator[bytes], path: str | None) -> None:
    """Write them to a file, or to standard output. A file is only begun when there is something to be written."""
    first = next(pieces, b"")
    if path is None or path == "-":
        sys.stdout.flush()
        for piece in chain((first,), pieces):
            sys.stdout.write_bytes(piece)  # type: ignore[union-attr]  # Output has it
        return
    try:
        with open(path, "wb") as file:
            file.write(first)
            file.writelines(pieces)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
