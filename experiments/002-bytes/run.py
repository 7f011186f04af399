"""run -- how many bytes a sample takes on disk, ours and the peers', on the same loads

    python3 experiments/002-bytes/run.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
import programs
from measure import USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run

HERE = Path(__file__).resolve().parent
PEERS = ("collector", "collector, no metrics", "perf task-clock:u -g", "perf task-clock:u dwarf", "gprofng", "gperftools")
BARE = PEERS[1]
AIMS = {"g++ -O2 big.cc": 36.0, "tight loop": 9.0}


def sizes(bench: Bench, report: Report, load: programs.Load, rate_hz: int, recorders: dict[str, peers.Recorder]) -> dict[str, float]:
    """Bytes a sample by tool; says a line for each."""
    found: dict[str, float] = {}
    for name, recorder in recorders.items():
        if name.endswith("dwarf") and load.name.startswith(("g++", "1,000")) and rate_hz > 1000:
            continue  # gigabytes
        folder = bench.scratch / "out"
        remove(folder)
        folder.mkdir()
        output = folder / ("data" + recorder.suffix)
        try:
            recorder.record(load.command, rate_hz, output, load.environment)
            size, count = recorder.size(output), recorder.sample_count(output, rate_hz)
        except (CannotMeasure, OSError, IndexError) as reason:
            report.say(f"{load.name:26}{rate_hz:>6}  {name:26}failed: {reason}")
            continue
        if name == "gperftools":  # one file a process
            count = sum(sum(times for times, _ in peers.gperftools_stacks(path)) for path in folder.iterdir() if path.stat().st_size > 40)
        about = ""
        if name == "collector":
            _, depth, unique, new = run([bench.python, HERE / "describe.py", output]).output.split()
            about = f"   {depth} frames a stack, {float(unique) * 100:.0f} % of stacks unlike any before, {new} frames other than in the sample before"
        if count:
            found[name] = size / count
        report.say(f"{load.name:26}{rate_hz:>6}  {name:26}{size / 1000:12.1f} kB{count:9} samples" + (f"{size / count:10.1f} B/sample" if count else "") + about)
    return found


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    everyone = peers.recorders(bench)
    recorders = {name: recorder for name, recorder in everyone.items() if name in PEERS}
    for line in peers.name_missing(everyone):
        report.say(line)
    report.say(peers.GPROFNG_NOTE)
    report.say("Sizes are of everything that was written: module lists, strings, copies. Short runs pay the fixed part with few samples.")
    report.say()
    wanted = programs.CENTRAL if bench.is_quick else programs.COMPUTING + programs.CREATING
    loads, missing = programs.prepare(bench, wanted)
    for load in loads:
        for rate_hz in (USUAL_HZ,) if bench.is_quick else (USUAL_HZ, 9973):
            chosen = {name: recorders[name] for name in recorders if not bench.is_quick or name in PEERS[:3]}
            found = sizes(bench, report, load, rate_hz, chosen)
            if "collector" in found and BARE in found and (load.name in AIMS or not bench.is_quick) and rate_hz == USUAL_HZ:
                aim = AIMS.get(load.name)
                peer = f"perf -g {found[PEERS[2]]:.0f}" if PEERS[2] in found else ""
                report.head(f"bytes a sample, {load.name}, {rate_hz} Hz", f"{found[BARE]:.1f}, with metrics {found['collector']:.1f}", peer, f"<= {aim:.0f}" if aim else "", found[BARE] <= aim if aim else None)
    for line in missing:
        report.say(line)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
