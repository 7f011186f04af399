"""metric_options -- which metric views are about, as an option of the commands that show a profile"""

from __future__ import annotations

from collector.errors import UsageError
from collector.profile.metrics import is_hidden, ratios_of, shown_metrics
from collector.profile.model import Profile
from collector.profile.precision import is_error_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Add the option; `several`: other metrics may be shown beside the first."""
    what = "what is sorted by and shown first, and what else is shown: cpu, wall, ..." if several else "what is counted: cpu, wall, user, ..."
    parser.add_argument("--metric", metavar="NAME[,NAME]" if several else "NAME", help=what)


def measured(profile: Profile, text: str | None, takes_ratios: bool = False, has_errors: bool = False) -> Profile:
    """The profile with the metrics of these names, for a ratio its two parts, and what errors take. UsageError if there is no such metric."""
    known = [metric.name for metric in profile.metrics]
    places = ratios_of(profile.metrics) if takes_ratios else []
    ratios = {place.ratio.name: (place.ratio.whole, place.ratio.part) for place in places}
    words = text.split(",") if text is not None else []
    names = list(dict.fromkeys(name for word in words for name in ratios.get(word, (word,))))
    for name in names:
        if name not in known:
            raise UsageError(f"there is no metric {name!r} here; there are {', '.join([*(word for word in known if not is_hidden(word)), *ratios])}")
    metrics = shown_metrics(profile.metrics, names, has_errors)
    if has_errors and not is_error_known(metrics):
        known_of = "sampling errors are known of CPU time, waiting and events of -h"
        raise UsageError(f"{known_of}, not of {metrics[0].name}; --errors goes with --metric cpu or blocked")
    return profile._replace(metrics=metrics)
