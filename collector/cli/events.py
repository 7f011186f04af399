"""events -- print the events of an experiment, one a line, in order of time

    collector events EXPT                      all events of all processes
    collector events EXPT --kind sample        only those of a kind (may be given several times)
    collector events EXPT --json               one JSON object a line
    collector events EXPT --follow             go on while the program runs
    collector events 4711.0.log                one log, in its own order; - is a log on standard input

A line is: time in seconds, process id and image, thread, kind, and the fields that have a value, as name=value.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from collector.errors import UsageError
from collector.experiment.event_text import event_to_json, event_to_line
from collector.experiment.events import AnyEvent
from collector.format import Kind

NAME = "events"
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiment and what to show of it."""
    parser.add_argument("experiment", metavar="EXPT", help="an experiment, one of its logs, or - for standard input")
    parser.add_argument("--kind", "-k", action="append", metavar="KIND", help="show only events of this kind, as PCSAMPLE")
    parser.add_argument("--thread", "-t", action="append", type=int, metavar="TID", help="show only events of this thread")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--follow", "-f", action="store_true", help="go on until the recorded program has ended")


def run(args: argparse.Namespace) -> int:
    """Print the events that were asked for."""
    kinds = {_find_kind(name) for name in args.kind or ()}
    threads = set(args.thread or ())
    to_text = event_to_json if args.json else event_to_line
    # Names of files are bytes; a terminal's encoding may lack some.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # Output has it, whatever the stream
    for event in _read_events(args.experiment, args.follow):
        if (not kinds or event.kind in kinds) and (not threads or event.thread in threads):
            sys.stdout.write(to_text(event) + "\n")
            if args.follow:
                sys.stdout.flush()
    sys.stdout.flush()
    return 0


def _find_kind(name: str) -> Kind:
    try:
        return Kind[name.upper()]
    except KeyError:
        names = ", ".join(kind.name for kind in Kind)
        raise UsageError(f"there is no event kind {name!r}; the kinds are {names}") from None


def _read_events(path: str, is_followed: bool) -> Iterator[AnyEvent]:
    if is_followed:
        from collector.experiment.follow import follow_events

        if path == "-":
            raise UsageError("--follow needs an experiment; standard input is followed to its end anyway")
        return follow_events(path)
    from collector.experiment.merge import events

    return events(sys.stdin.fileno() if path == "-" else path)
