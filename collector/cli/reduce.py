"""reduce -- add up experiments of many processes into one small file, with as many workers as there are

    collector reduce EXPERIMENT... -o FILE

The file can stand wherever an experiment can: collector report FILE. Workers are processes on this machine, the ranks of an MPI job
(mpirun -n 64 python3 -m mpi4py.futures -m collector reduce ...), or those of a Dask cluster (--dask).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from collector.cli.reporting import debug_options, name_options
from collector.errors import CollectorError, UsageError
from collector.printable import printable
from collector.units import format_bytes

NAME = "reduce"
OPTIONS_BETWEEN = True
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiments, the file, and who does the work."""
    add = parser.add_argument
    add("experiments", metavar="EXPERIMENT", nargs="+", help="experiments, or files that this command made")
    add("-o", "--output", metavar="FILE", required=True, help="the file to be written")
    add("-j", "--jobs", metavar="N", type=int, help="processes on this machine; default: as many as there are processors")
    add("--dask", metavar="SCHEDULER", help="let the workers of a Dask scheduler do it: its address, or a file that says it")
    name_options.add_frame_arguments(parser)
    debug_options.add_debug_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file and give the exit status."""
    if args.jobs is not None and args.jobs < 1:
        raise UsageError(f"--jobs is a number of processes, not {args.jobs}")
    if os.path.isdir(args.output):
        raise UsageError(f"{args.output} is a directory: -o names the file to be written")
    debug_dirs = debug_options.debug_dirs_of(args)
    from collector.cli.reporting.progress import ProgressLine
    from collector.load.engines import open_engine
    from collector.load.given_names import NamingOptions
    from collector.load.reduction import Options, reduce

    naming = NamingOptions((), debug_dirs, not args.no_inlines, args.pieces, args.debuginfod)
    progress = ProgressLine(sys.stderr)
    try:
        with open_engine(args.jobs, args.dask) as engine:
            data = reduce(args.experiments, engine, Options(args.interpreter_frames, naming=naming), progress)
    finally:
        progress.close()
    if engine.lost_count:
        print(f"collector: workers were lost {engine.lost_count} times; what they were doing was done again", file=sys.stderr)
    _write(data, args.output)
    print(f"{printable(args.output)}: {format_bytes(len(data))}")
    return 0


def _write(data: bytes, path: str) -> None:
    """All of it, or nothing."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path) or ".")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
