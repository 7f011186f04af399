"""dry_run -- what would be done, for `collector record -n`"""

from __future__ import annotations

import os
import time

from collector.capture import destination
from collector.capture.environment import build_environment
from collector.capture.metric_table import FILE_NAME
from collector.cli.recording.plan import Plan
from collector.cli.recording.python_command import title_of
from collector.errors import UsageError
from collector.printable import printable


def describe_plan(plan: Plan) -> list[str]:
    """Give it as lines. UsageError if -O names what is no experiment."""
    name = plan.experiment or destination.next_name(title_of(plan.command))
    path, choice = os.path.abspath(name), plan.metrics.choice
    table = os.path.join(path, FILE_NAME) if choice.plugins else None
    asked = plan.options_at(time.monotonic_ns(), 0)
    environment = build_environment({}, plan.recorder, path, asked, plan.follow, table, choice.preloads, names_jit_code=plan.names_jit_code)
    interpreters = f" by {' by '.join(plan.program.interpreters)}" if plan.program.interpreters else ""
    if plan.is_overwritten and os.path.lexists(name) and not destination.is_experiment(name):
        raise UsageError(f"{name} is not an experiment, so -O does not touch it; choose another name")
    lines = [
        "would run     " + " ".join(plan.command),
        f"program       {plan.program.path}{interpreters}",
        f"experiment    {name}",
        *(f"option        {text}" for text in plan.describe()),
        *(f"metric        {offer.metric.id}" for plugin in choice.plugins for offer in plugin.offers),
        *(f"environment   {key}={value}" for key, value in environment.items()),
    ]
    return list(map(printable, lines))
