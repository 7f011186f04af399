"""run -- record a program, then show the report: `collector record` and `collector report` in one

The report's overview goes to the terminal when the program has ended. Options are those of record.
The exit status is that of record.
"""

from __future__ import annotations

from collector.cli import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

NAME = "run"
HELP = __doc__ or ""


prepare = record.prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of record."""
    record.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Record, report, and give the program's exit status; a report that fails is told, not hidden."""
    recording = record.record(args)
    if recording.experiment is None:
        return recording.status
    from collector.cli import main

    report_status = main.main(["report", recording.experiment])
    return recording.status or report_status
