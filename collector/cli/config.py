"""config -- print what a Makefile needs to use the headers and libraries

    cc $(collector config --cflags) program.c               marks in C and C++ need nothing else
    cc $(collector config --cflags) program.c $(collector config --libs)
    gfortran $(collector config --fflags --fortran-module) program.f90 $(collector config --libs)
    LD_PRELOAD=$(collector config --preload) COLLECTOR_EXPERIMENT=name.expt ./program
"""

from __future__ import annotations

import argparse
import os
import shlex

from collector.capture.installation import Installation, find_installation

NAME = "config"
HELP = __doc__ or ""

_CHOICES = {
    "cflags": "flags to compile C and C++ that includes libcollector.h or pmclog.h",
    "libs": "flags to link with the API as ordinary functions, C, C++ or Fortran (-lcollectorAPI -lfcollector, as needed)",
    "fflags": "flags to compile Fortran that includes libfcollector.h or collector.f90",
    "fortran-module": "the source of the Fortran module `collector`, to be compiled with the program",
    "pmclog-libs": "flags to link with the log parser (-lpmclog)",
    "includes": "the directory of the headers",
    "preload": "the library for LD_PRELOAD",
    "prefix": "the directory that holds everything",
    "metrics-dir": "the directory of the built-in metrics",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one switch for each thing that can be printed; several are printed one a line."""
    for name, meaning in _CHOICES.items():
        parser.add_argument(f"--{name}", dest="wanted", action="append_const", const=name, help=meaning)


def run(args: argparse.Namespace) -> int:
    """Print what was asked for, or everything with its name."""
    values = describe(find_installation())
    for name in args.wanted or values:
        print(values[name] if args.wanted else f"{name:<16}{values[name]}")
    return 0


def describe(installation: Installation) -> dict[str, str]:
    """Give the text of each switch; flags are quoted for the shell, paths are not."""
    include = shlex.quote(f"-I{installation.include_dir}")
    directory = installation.library_dir
    link = shlex.join([f"-L{directory}", f"-Wl,-rpath,{directory}"])
    return {
        "cflags": include,
        "libs": f"{link} -Wl,--push-state,--as-needed -lfcollector -lcollectorAPI -Wl,--pop-state",
        "fflags": f"{include} {shlex.quote(f'-I{installation.fortran_dir}')}",
        "fortran-module": os.path.join(installation.fortran_dir, "collector.f90"),
        "pmclog-libs": f"{link} -lpmclog",
        "includes": installation.include_dir,
        "preload": installation.recorder,
        "prefix": installation.prefix,
        "metrics-dir": installation.metrics_dir,
    }
