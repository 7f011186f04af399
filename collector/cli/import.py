"""import -- make an experiment of another profiler's file: perf script, pprof (Go, Rust, ...), callgrind, folded stacks

    collector import FILE [-o EXPT]
    perf script -F +pid,+srcline | collector import - -o prog.expt

All views of `collector report` then show it. The format is known by the content of the file, which may be packed by gzip.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re

from collector.cli.working_directory import relative_path
from collector.errors import UsageError
from collector.importing.reading import FORMATS, read_profile
from collector.printable import printable
from collector.units import NS_PER_S, format_seconds

NAME = "import"
HELP = __doc__ or ""

_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(ns|us|ms|s)")
_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and what to take of it."""
    add = parser.add_argument
    add("file", metavar="FILE", help="the profile; - is standard input")
    add("-o", "--output", metavar="EXPT", help="the experiment to make; default: FILE.N.expt in the working directory")
    add("-O", "--overwrite", metavar="EXPT", help="the same, overwriting an experiment of that name")
    add("--format", choices=FORMATS, help="what FILE is, if its content does not say so")
    add("--value", "--event", metavar="NAME", help="which of several values: perf's or callgrind's event, pprof's sample type")
    add("--unit", metavar="DURATION", help="the time that one unit of the values stands for, such as 10ms, if the file has no times")


def run(args: argparse.Namespace) -> int:
    """Read the file, write the experiment, and say what it holds."""
    unit_ns = _parse_unit(args.unit)
    if args.output is not None and args.overwrite is not None:
        raise UsageError("-o and -O both name the experiment; one of them is enough")
    from collector import __version__
    from collector.capture.destination import claim_directory, remove_experiment
    from collector.importing.experiment_files import write_experiment

    profile = read_profile(args.file, args.format, args.value, unit_ns)
    stem = "stdin" if args.file == "-" else os.path.basename(args.file).partition(".")[0] or "profile"
    directory = claim_directory(args.overwrite or args.output, stem, args.overwrite is not None)
    origin = f"imported from {'standard input' if args.file == '-' else os.path.basename(args.file)} ({profile.format}, {profile.value.name})"
    try:
        write_experiment(profile, directory, origin, __version__)
    except BaseException:
        with contextlib.suppress(Exception):
            remove_experiment(directory)
        raise
    shown = f"{'' if profile.value.is_time else 'shown as '}{format_seconds(profile.total * profile.value.unit_ns / NS_PER_S)} s"
    print(printable(f"{relative_path(directory)}: {profile.contents} from {profile.format}, {shown}"))
    return 0


def _parse_unit(text: str | None) -> int | None:
    if text is None:
        return None
    match = _DURATION.fullmatch(text)
    ns = round(float(match[1]) * _UNITS_NS[match[2]]) if match else 0
    if not ns:
        raise UsageError(f"--unit is a time such as 10ms, 1us or 250us, not {text!r}")
    return ns
