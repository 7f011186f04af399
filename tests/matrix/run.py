"""run -- the whole matrix by one command: python3 tests/matrix/run.py [--only GLOB] [--clock CLOCK] [--write docs/harmless.md]

Every case natively (twice) and recorded on each clock. What differs is printed as it is found; the exit status is 1 if
anything is harmed, or an experiment does not tell the truth. --install puts the programs there (Debian and Ubuntu, root).
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

if not __package__:
    sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
    sys.path.remove(str(Path(__file__).resolve().parent))

from matrix import packages, page
from matrix.building import Workshop
from matrix.case import CLOCKS, Case, all_cases
from matrix.elsewhere import is_in_quick_part
from matrix.trial import Bench, CannotTry, Native, Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what came of it; `skipped` says why nothing did."""

    case: Case
    native: Native | None = None
    verdicts: tuple[Verdict, ...] = ()
    skipped: str = ""

    @property
    def is_good(self) -> bool:
        return all(verdict.is_good for verdict in self.verdicts)


def main() -> int:
    """Run what was asked for."""
    asked = _arguments()
    if asked.install:
        return packages.install()
    cases = [case for case in all_cases() if any(fnmatch.fnmatch(case.full_name, glob) for glob in asked.only)]
    if asked.quick:
        cases = [case for case in cases if is_in_quick_part(case)]
    if asked.list:
        print("\n".join(f"{case.full_name:45} {case.sentence}" for case in cases))
        return 0
    find_recorder()
    start = time.time()
    for signo in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signo, _stop)
    rows = []
    try:
        for number, row in enumerate(_try_all(cases, asked.clock or CLOCKS, asked.jobs), 1):
            rows.append(row)
            for line in page.describe(row, asked.verbose):
                print(f"[{number}/{len(cases)}] {line}", flush=True)
    except KeyboardInterrupt:
        print(f"stopped after {len(rows)} of {len(cases)} cases")
    rows.sort(key=lambda row: cases.index(row.case))
    print(page.sum_up(rows))
    if asked.write:
        text = page.render(rows, start, len(all_cases())).replace(os.path.dirname(os.environ["COLLECTOR_LIBRARY"]) + "/", "")
        text = re.sub(r"/\S*/matrix-\w+/(bench\d+(/work)?/|build/\w+/|\S*(?= \|))", "", text)
        Path(asked.write).write_text(text, encoding="utf-8")
    return 0 if all(row.is_good for row in rows) else 1


def _stop(signo: int, _frame: object) -> None:
    """End the run in order, with what was tried so far; more signals change nothing."""
    for again in (signal.SIGINT, signal.SIGTERM):
        signal.signal(again, signal.SIG_IGN)
    raise KeyboardInterrupt


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="GLOB", help="the cases to try, as class/name; may be repeated")
    parser.add_argument("--clock", action="append", choices=CLOCKS, help="only this clock; may be repeated")
    parser.add_argument("--quick", action="store_true", help="only the cases that the test suite runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="cases at a time")
    parser.add_argument("--write", metavar="PAGE", help="write the table, as docs/harmless.md")
    parser.add_argument("--list", action="store_true", help="name the cases and run none")
    parser.add_argument("-v", "--verbose", action="store_true", help="also say what is as it should be")
    parser.add_argument("--install", action="store_true", help="install the programs that cases need, and run none")
    asked = parser.parse_args()
    asked.only = asked.only or ["*"]
    return asked


def find_recorder() -> None:
    """Let COLLECTOR_LIBRARY name a recorder: the one of the source tree, built as it is now, unless another was given."""
    if "COLLECTOR_LIBRARY" not in os.environ:
        native = Path(__file__).resolve().parents[2] / "libcollector_c"
        subprocess.run(["make", "-s", "-j4", "-C", native], check=True)
        os.environ["COLLECTOR_LIBRARY"] = str(native / "build/libcollector.so")


def build_for(cases: Sequence[Case], root: Path) -> dict[Path, str]:
    """Build what cases need below `root`, with a cache of symbols that is theirs alone; gives what compilers refused, by directory."""
    os.environ["XDG_CACHE_HOME"] = str(root / "cache")
    return Workshop(root / "build").build_all([case for case in cases if not case.lacks()], os.cpu_count() or 1)


def try_case(root: Path, case: Case, clocks: Sequence[str], failures: dict[Path, str], native_runs: int = 2) -> Row:
    """Try one case on clocks; for a process of a pool, each of which has a bench of its own below `root`."""
    workshop = Workshop(root / "build")
    bench = Bench(workshop, root / f"bench{os.getpid()}")
    failure = failures.get(workshop.directory_of(case)) if case.builds else None
    if failure:
        lines = failure.strip().splitlines()
        return Row(case, skipped=f"it does not compile here: {next((line for line in lines if 'error:' in line), lines[-1])}")
    try:
        native = bench.run_natively(case, native_runs)
        if native.skipped:
            return Row(case, skipped=native.skipped)
        return Row(case, native, tuple(bench.try_on(case, native, clock) for clock in clocks))
    except CannotTry as error:
        return Row(case, skipped=str(error))


def _take_signals() -> None:
    """Let a worker end by the signals that end the run."""
    for signo in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signo, signal.SIG_DFL)


def _try_all(cases: Sequence[Case], clocks: Sequence[str], job_count: int) -> Iterator[Row]:
    root = Path(tempfile.mkdtemp(prefix="matrix-"))
    root.chmod(0o755)
    try:
        failures = build_for(cases, root)
        with ProcessPoolExecutor(job_count, initializer=_take_signals) as pool:
            longest_first = sorted(cases, key=lambda case: -case.timeout_s)
            waiting = {pool.submit(try_case, root, case, clocks, failures): case for case in longest_first}
            try:
                for done in as_completed(waiting):
                    error = done.exception()
                    yield Row(waiting[done], skipped=f"the matrix itself failed: {error!r}") if error else done.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
