"""habits -- what people type who come from perf, py-spy, gprofng, memray or samply, and what to type here instead

Asked only when a command line made no sense, or would write a report where a picture is expected.
"""

from __future__ import annotations

from collector.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_ATTACH: Final = (
    "a process that runs already cannot be attached to: start it with `collector record PROGRAM`,"
    " where -t START-END, or -y SIGNAL sent to it, chooses the part to record"
)
_COMMANDS: Final = {
    "annotate": "source lines and instructions with their times are `collector report EXPT source FUNCTION` and `collector report EXPT disasm FUNCTION`",
    "attach": _ATTACH,
    "collect": "programs are recorded by `collector record PROGRAM`",
    "diff": "`collector compare BEFORE... -- AFTER...` shows what changed, and whether it is more than chance",
    "display": "an experiment is shown by `collector report EXPT`, its functions by `collector report EXPT functions`",
    "dump": _ATTACH,
    "flamegraph": "`collector html EXPT` makes a page with the flame graph, `collector export EXPT --format folded` what flamegraph.pl reads",
    "list": "`collector record --list-metrics` lists what can be measured besides CPU time, `collector record -h` the events that can be counted",
    "live": "`collector watch -- PROGRAM` records a program and shows meanwhile where its time goes",
    "profile": "programs are recorded by `collector record PROGRAM`",
    "script": "samples one by one are printed by `collector events EXPT --kind sample`, in perf's words by `collector export EXPT --format perf-script`",
    "stat": "`collector run PROGRAM` shows CPU time, `collector record -h EVENT PROGRAM` samples events by function; -h alone lists them",
    "table": "an experiment is shown by `collector report EXPT`, its functions by `collector report EXPT functions`",
    "top": "`collector watch -- PROGRAM`, or `collector watch EXPT` while it is recorded, shows where time goes now; only recorded programs can be watched",
    "tree": "the program's calls are `collector report EXPT calltree`",
}
_RECORD_OPTIONS: Final = {
    "-a": "only a program that it starts is recorded, with its descendants, never the whole system: `collector record PROGRAM`",
    "--call-graph": "whole stacks are always recorded, without an option",
    "-d": "the part of a run to record is chosen by -t: `-t 30s` is its first 30 seconds",
    "--duration": "the part of a run to record is chosen by -t: `-t 30s` is its first 30 seconds",
    "-e": "events are chosen by -h, beside CPU time; -h alone lists them",
    "-f": "record makes an experiment; its form is chosen afterwards, by `collector report`, `collector html` and `collector export`",
    "--format": "record makes an experiment; its form is chosen afterwards, by `collector report`, `collector html` and `collector export`",
    "-g": "whole stacks are always recorded, without an option",
    "--native": "native functions are always recorded beside those of Python, without an option",
    "--pid": _ATTACH,
    "-r": "the rate is chosen by -p, as hi, lo or a period: `-p 10m` is 100 samples a second",
    "--rate": "the rate is chosen by -p, as hi, lo or a period: `-p 10m` is 100 samples a second",
    "-s": "descendants are always recorded, unless -F says otherwise",
    "--subprocesses": "descendants are always recorded, unless -F says otherwise",
}
_ENDINGS: Final = {".svg": "", ".html": "", ".png": "", ".pdf": "", ".folded": "folded", ".pb.gz": "pprof", ".speedscope.json": "speedscope"}
"""How files of pictures and of other viewers' data are named, with the format of export."""
_RECORDERS: Final = ("record", "run")


def tell_habit(words: Sequence[str], complaint: str) -> str | None:
    """One sentence for a command line of which something was wrong, as `complaint` says; None if it is like nothing that is known."""
    if words[0] not in _RECORDERS:
        hint = _COMMANDS.get(words[0])
        return hint and f"{complaint.partition(';')[0]}: {hint}"
    has_number = {option for option, value in zip(words, words[1:]) if value.isdecimal()}
    if "-p" in has_number and complaint.startswith(("there is no program", "-p takes")):
        return _ATTACH
    if "-F" in has_number and complaint.startswith("-F takes"):
        return _RECORD_OPTIONS["--rate"]
    refused = complaint.removeprefix("unrecognized arguments: ").partition(" ")[0]
    return _RECORD_OPTIONS.get(refused.partition("=")[0])


def check_output(name: str, output: str) -> None:
    """UsageError if the command makes something else than the name of its output says."""
    ending = next((ending for ending in _ENDINGS if output.endswith(ending)), None)
    if ending is None or name not in (*_RECORDERS, "report"):
        return
    experiment = "EXPT" if name == "report" else f"{output.removesuffix(ending) or 'NAME'}.expt"
    makes = "report writes text" if name == "report" else f"{name} makes an experiment: `collector {name} -o {experiment} PROGRAM`"
    form = _ENDINGS[ending]
    picture = f"`collector html {experiment}` makes a page with the flame graph"
    data = f"`collector export {experiment} --format {form}` makes what other viewers read"
    raise UsageError(f"{makes}; {data if form else picture}")
