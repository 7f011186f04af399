"""page -- the matrix as lines on a terminal and as the table of docs/harmless.md"""

from __future__ import annotations

import os
import platform
import time
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path

from matrix.case import CLOCKS
from matrix.tables import GROUPS

if typing.TYPE_CHECKING:
    from matrix.run import Row
    from matrix.trial import Verdict

_HEAD = """# What a recording changes in a program

Each row is a program that was run natively, twice, and recorded on each of the three clocks. Its output, its errors, its exit status and the
files it made were compared, it must not have taken two seconds more than three times its CPU time, and the experiment was read back: it must read without an error, the CPU time of work whose amount is known must
be there within what the number of samples allows, and what is missing must be told. *same* says that all of this held. A difference was tried
again, natively too, and counts if it came even once, or, where that is said to be seldom, more than once in three times; about time two of three
recordings decide.

Some things cannot be the same by nature, as when a program prints its environment. Each such row has its sentence.

This page is written by `python3 tests/matrix/run.py --write docs/harmless.md`; nobody edits it.
"""


def sum_up(rows: Sequence[Row]) -> str:
    """Count the rows, in one line."""
    tried = [row for row in rows if not row.skipped]
    harmed = sum(any(verdict.harms for verdict in row.verdicts) for row in tried)
    untrue = sum(any(verdict.defects for verdict in row.verdicts) and not any(verdict.harms for verdict in row.verdicts) for row in tried)
    natural = sum(row.is_good and any(verdict.by_nature for verdict in row.verdicts) for row in tried)
    same = len(tried) - harmed - untrue - natural
    skipped = len(rows) - len(tried)
    return (
        f"{len(tried)} cases on {max((len(row.verdicts) for row in tried), default=0)} clocks: {same} the same, {natural} that differ by nature,"
        f" {harmed} harmed, {untrue} whose experiment is wrong{f'; {skipped} not tried' if skipped else ''}"
    )


def describe(row: Row, is_verbose: bool) -> Iterator[str]:
    """Give the lines that a terminal shows of a row."""
    if row.skipped:
        yield f"{row.case.full_name}: not tried: {row.skipped}"
    for verdict in row.verdicts:
        for kind, findings in (("HARMED", verdict.harms), ("WRONG", verdict.defects), ("by nature", verdict.by_nature)):
            for finding in findings:
                yield f"{row.case.full_name} {verdict.clock}: {kind} {finding}"
        if is_verbose and verdict.is_good:
            yield f"{row.case.full_name} {verdict.clock}: same{_notes(verdict)} | {verdict.said}"
    if row.verdicts and row.is_good and not is_verbose:
        yield f"{row.case.full_name}: same"


def _notes(verdict: Verdict) -> str:
    return f" ({'; '.join(verdict.notes)})" if verdict.notes else ""


def render(rows: Sequence[Row], start: float, case_count: int) -> str:
    """Give the whole page; `case_count` is how many cases there are."""
    part = f" This was a part: {len(rows)} of {case_count} cases." if len(rows) < case_count else ""
    parts = [_HEAD, f"**{sum_up(rows)}.**{part}\n", _machine(start)]
    for group in GROUPS:
        members = [row for row in rows if row.case.group == group and not row.skipped]
        if members:
            parts.append(f"## {group.capitalize()}\n\n| case | what it does | native | {' | '.join(CLOCKS)} | what the recording told |\n|---|---|---|---|---|---|---|")
            parts.append("\n".join(map(_render_row, members)) + "\n")
    natures = [(row.case.full_name, nature) for row in rows for nature in row.case.natures]
    if natures:
        parts.append("## By nature\n\n| case | what differs | why |\n|---|---|---|")
        parts.append("\n".join(f"| {name} | {nature.field} | {_cell(nature.sentence)} |" for name, nature in natures) + "\n")
    skipped = [row for row in rows if row.skipped]
    if skipped:
        parts.append("## Not tried\n\n| case | why |\n|---|---|")
        parts.append("\n".join(f"| {row.case.full_name} | {_cell(row.skipped)} |" for row in skipped) + "\n")
    return "\n".join(parts)


def _render_row(row: Row) -> str:
    native = row.native
    assert native is not None
    status = f"status {native.expected.status}" + (", not steady" if native.unsteady else "")
    by_clock = {verdict.clock: _verdict(verdict) for verdict in row.verdicts}
    cells = [by_clock.get(clock, "not tried") for clock in CLOCKS]
    told = dict.fromkeys(text for verdict in row.verdicts for text in (_without_counts(verdict.said), *verdict.told))
    return "| " + " | ".join([row.case.name, _cell(row.case.sentence), status, *cells, _cell("; ".join(told))]) + " |"


def _verdict(verdict: Verdict) -> str:
    findings = [*(f"**harmed** {text}" for text in verdict.harms), *(f"**wrong** {text}" for text in verdict.defects)]
    findings += [f"by nature {text}" for text in verdict.by_nature]
    return _cell("; ".join([*(findings or ["same"]), *verdict.notes]))


def _without_counts(said: str) -> str:
    """The closing line without what differs from clock to clock: what was lost, and what else there is to say."""
    _, found, rest = said.partition(" Hz")
    text = (rest.partition(", ")[2] if found else said).strip()
    return text or said


def _cell(text: str) -> str:
    shown = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return shown.replace("|", "\\|").replace("<", "&lt;")[:400]


def _machine(start: float) -> str:
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    paranoid = Path("/proc/sys/kernel/perf_event_paranoid")
    facts = {
        "date": time.strftime("%Y-%m-%d", time.gmtime(start)),
        "took": f"{(time.time() - start) / 60:.1f} min",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "CPUs": f"{os.cpu_count()} × {cpu}",
        "C library": " ".join(platform.libc_ver()),
        "perf_event_paranoid": paranoid.read_text().strip() if paranoid.exists() else "absent",
        "user": "root" if os.geteuid() == 0 else "not root",
        "load at the end": f"{os.getloadavg()[0]:.1f}",
    }
    return "| | |\n|---|---|\n" + "\n".join(f"| {name} | {value} |" for name, value in facts.items()) + "\n"
