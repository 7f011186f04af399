"""run -- are inlined functions named as the compiler describes them, and how fast: beside llvm-symbolizer, address by address

    python3 experiments/011-names/run.py [--quick]

A full run also downloads Debian packages with 600 MB of debug information, and unpacks them beside the system.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import USUAL_HZ, Bench, CannotMeasure, Cost, Report, main, remove, run, spread

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "sources" / "big.cc"
BUILDS = {
    "g++, DWARF 5": ("g++", "-gdwarf-5"),
    "g++, DWARF 4": ("g++", "-gdwarf-4"),
    "g++ -O3 -flto": ("g++", "-O3", "-flto"),
    "clang++, DWARF 5": ("clang++", "-gdwarf-5", "-std=c++17"),
    "clang++, DWARF 4": ("clang++", "-gdwarf-4", "-std=c++17"),
}
RUST = """
use std::collections::HashMap;
fn kern(v: &[f64]) -> f64 { v.iter().zip(v.iter().skip(1)).map(|(a, b)| (a * b).sqrt()).filter(|x| *x > 0.5).sum() }
fn main() {
    let v: Vec<f64> = (0..1000).map(|i| i as f64 / 500.0).collect();
    let mut m: HashMap<u64, u64> = HashMap::new();
    for i in 0..4000u64 { *m.entry(i % 100).or_insert(0) += i; }
    println!("{} {}", kern(&v), m.len());
}
"""
LARGE = "ceph-mon-dbg"
PERF_SECONDS = 60


def programs(bench: Bench, report: Report) -> Iterator[tuple[str, Path]]:
    """What can be had here, each with its name; what cannot is said."""
    for name, (compiler, *flags) in BUILDS.items():
        yield from attempt(report, name, lambda: bench.compile(SOURCE, *flags, compiler=compiler, name=name.replace(" ", "_").replace(",", "")))
    source = bench.scratch / "names.rs"
    source.write_text(RUST)
    yield from attempt(report, "rustc -O", lambda: built_by_rustc(source))
    if not bench.is_quick:
        for path in fetched(bench, report):
            yield f"{LARGE}: {path.stat().st_size / 1e6:.0f} MB", path


def attempt(report: Report, name: str, build) -> Iterator[tuple[str, Path]]:
    try:
        yield name, build()
    except CannotMeasure as reason:
        report.say(f"{name:28}not here: {reason}")


def built_by_rustc(source: Path) -> Path:
    run(["rustc", "-O", "-g", source, "-o", source.with_suffix("")])
    return source.with_suffix("")


def fetched(bench: Bench, report: Report) -> list[Path]:
    try:
        run(["apt-get", "download", LARGE], directory=bench.scratch)
        (package,) = bench.scratch.glob(f"{LARGE}_*.deb")
        run(["dpkg-deb", "-x", package, bench.scratch / "large"])
    except (CannotMeasure, ValueError) as reason:
        report.say(f"{LARGE:28}not here: {reason}")
        return []
    return sorted((bench.scratch / "large").rglob("*.debug"))


def by_llvm(text: str) -> dict[int, list[list]]:
    """What llvm-symbolizer said, in the form of chains.py."""
    rows = [json.loads(line) for line in text.splitlines()]
    return {
        int(row["Address"], 16): [[s["FunctionName"], Path(s["FileName"]).name, s["Line"]] for s in reversed(row.get("Symbol") or [])] for row in rows
    }


def is_same(ours: list[list], theirs: list[list]) -> bool:
    """The inlined names, and file and line of each call; a name that is no linkage name may be told with what it is within."""
    if len(ours) != len(theirs):
        return False
    names = all(a[0] == b[0] or a[0].endswith(f"::{b[0]}") for a, b in zip(ours[1:], theirs[1:]))
    return names and [a[1:] for a in ours[:-1]] == [b[1:] for b in theirs[:-1]]


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    if not bench.is_quick:
        compare_first_views(bench, report)
    count = bench.choose(2_000, 20_000)
    report.say(f"up to {count:,} random addresses a file; CPU seconds of the whole command")
    report.say(f"{'file':28}{'addresses':>10}{'inlined':>9}{'the same':>10}{'first time':>13}{'again':>9}{'llvm-symbolizer':>18}")
    compared = equal = 0
    colder: list[float] = []
    for name, path in programs(bench, report):
        addresses, cache = bench.scratch / "addresses", bench.scratch / "cache"
        addresses.write_text(run([bench.python, HERE / "chains.py", path, count]).output)
        words = [bench.python, HERE / "chains.py", path, addresses, cache]
        listed = [int(line) for line in addresses.read_text().split()]
        hexadecimal = bench.scratch / "hexadecimal"
        hexadecimal.write_text("".join(f"{address:#x}\n" for address in listed))
        llvm, plain = (
            ["sh", "-c", f'exec llvm-symbolizer {names} --inlining --output-style=JSON --obj="$1" < "$2"', "sh", path, hexadecimal]
            for names in ("--demangle", "--no-demangle")
        )
        expected = by_llvm(run(plain).output)
        firsts, agains, theirs = [], [], []
        for _ in range(bench.choose(1, 3)):
            remove(cache)
            firsts.append(run(words))
            agains.append(run(words))
            theirs.append(run(llvm))
        ours: dict[int, list[list]] = dict(map(json.loads, agains[0].output.splitlines()))
        same = sum(is_same(ours[address], expected.get(address, [])) for address in listed)
        inlined = sum(len(chain) > 1 for chain in ours.values()) / len(listed)
        compared, equal = compared + len(listed), equal + same
        colder.append(cpu(firsts) / cpu(theirs))
        report.say(f"{name:28}{len(listed):10,}{100 * inlined:7.0f} %{100 * same / len(listed):8.2f} %{cpu(firsts):11.2f} s{cpu(agains):7.2f} s{cpu(theirs):16.2f} s")
    report.head("chains of inlined calls that are llvm-symbolizer's", f"{100 * equal / compared:.3f} % of {compared:,}", "", ">= 99.99 %", equal >= 0.9999 * compared)
    report.head("first time, CPU of llvm-symbolizer", f"{spread(colder).text(1, 1)} times", "1", "<= 1", spread(colder).median <= 1)
    return report


def compare_first_views(bench: Bench, report: Report) -> None:
    """The first table of functions of a program with more than 100 MB of debug information, and of one with none, by each tool of its own recording."""
    report.say("the first table of a recording: CPU seconds, seconds and MB")
    try:
        java = merged_java(bench)
        library = java.parents[1] / "lib" / "server" / "libjvm.so"
        command = [java, "-Xcomp", "-Xshare:off", "-XX:-TieredCompilation", "-version"]
        first, again, symbolizer = first_views(bench, report, f"Java compiling; libjvm.so has {library.stat().st_size / 1e6:.0f} MB", command, [library])
    except (CannotMeasure, ValueError) as reason:
        report.say(f"the Java virtual machine is not here: {reason}")
    else:
        for what, ratios in (
            ("CPU", [mine.cpu_s / other.cpu_s for mine, other in zip(first, symbolizer)]),
            ("wall time", [mine.wall_s / other.wall_s for mine, other in zip(first, symbolizer)]),
        ):
            report.head(f"first table of a program of 100 MB, {what} of llvm-symbolizer", f"{spread(ratios).text(1, 2)} times", "1", "< 1", spread(ratios).median < 1)
        peak_mb = max(cost.peak_kib for cost in first) / 1024
        report.head("its memory", f"{peak_mb:.0f} MB", f"{max(cost.peak_kib for cost in symbolizer) / 1024:.0f} MB", "<= 300 MB", peak_mb <= 300)
        warm = spread([cost.wall_s for cost in again])
        report.head("the same table again", f"{warm.text(1, 2)} s", "", "<= 0.5 s", warm.median <= 0.5)
    try:
        clang = Path(run(["sh", "-c", "readlink -f $(command -v clang++)"]).output.strip())
        command = [clang, "-std=c++17", "-O2", "-c", SOURCE, "-o", bench.scratch / "compiled.o"]
        libraries = [Path(line.split()[-2]) for line in run(["ldd", clang]).output.splitlines() if "clang" in line or "LLVM" in line]
        first_views(bench, report, "clang++ compiling; Debian's has no debug information", command, libraries)
    except CannotMeasure as reason:
        report.say(f"clang++ is not here: {reason}")


def first_views(bench: Bench, report: Report, title: str, command: list, libraries: list[Path]) -> tuple[list[Cost], list[Cost], list[Cost]]:
    """What the first table costs here, the same again, and llvm-symbolizer with the addresses on the stacks."""
    ours, theirs, gprofng, cache = (bench.scratch / name for name in ("first.expt", "first.data", "first.er", "home"))
    for path in (ours, gprofng):
        remove(path)
    run([bench.collector, "record", "-o", ours, *command])
    run(["perf", "record", "-q", "-g", "-F", USUAL_HZ, "-o", theirs, *command])
    addresses = bench.scratch / "addresses"
    wanted = [f'"{library}" {int(line):#x}' for library in libraries for line in run([bench.python, HERE / "chains.py", "--recorded", ours, library]).output.split()]
    addresses.write_text("\n".join(wanted) + "\n")
    report.say(f"{title}; {len(wanted):,} addresses of {', '.join(library.name for library in libraries)} on the stacks")
    view = [bench.collector, "report", ours, "functions"]
    llvm = ["sh", "-c", 'exec llvm-symbolizer --inlining < "$1"', "sh", addresses]
    rows: dict[str, list[Cost]] = {"collector report functions, first time": [], "the same again": [], "llvm-symbolizer, the same addresses": []}
    first, again, symbolizer = rows.values()
    for _ in range(5):
        remove(cache)
        first.append(run(view, environment={"XDG_CACHE_HOME": str(cache)}))
        again.append(run(view, environment={"XDG_CACHE_HOME": str(cache)}))
        symbolizer.append(run(llvm))
    for name, costs in rows.items():
        report.say(described(name, costs))
    nameless = sum(line == "??" for line in symbolizer[0].output.splitlines())
    report.say(f"  llvm-symbolizer has no name for {100 * nameless / len(wanted):.0f} % of its addresses")
    # Only where call chains are shown by address does perf 6 look for inlined functions.
    timed = ["timeout", PERF_SECONDS, "perf", "report", "-i", theirs, "--inline", "--stdio", "--no-children", "-g", "caller,address"]
    inlined = run(timed, expected=None)
    ended = ", CPU without its addr2line's" + ("" if inlined.wall_s < PERF_SECONDS else f"; stopped after {PERF_SECONDS} s without a table")
    report.say(described("perf report --inline", [inlined]) + ended)
    try:
        run(["gprofng", "collect", "app", "-j", "off", "-p", "1003u", "-O", gprofng, *command])
        shown = run(["gprofng", "display", "text", "-metrics", "e.totalcpu:name", "-functions", gprofng])
        total = next((line.split()[0] for line in shown.output.splitlines() if line.endswith("<Total>")), "0")
        report.say(described("gprofng display text -functions", [shown]) + f", of {total} s that it recorded, without inlined functions")
    except CannotMeasure as reason:
        report.say(f"gprofng: {reason}")
    report.say()
    return first, again, symbolizer


def merged_java(bench: Bench) -> Path:
    """A Java of its own, whose virtual machine holds its debug information, as every tool finds it."""
    place = bench.scratch / "java"
    run(["apt-get", "download", "openjdk-17-dbg", "openjdk-17-jre-headless", "elfutils"], directory=bench.scratch)
    for package in [*bench.scratch.glob("openjdk-17-*.deb"), *bench.scratch.glob("elfutils_*.deb")]:
        run(["dpkg-deb", "-x", package, place])
    (library,) = place.rglob("server/libjvm.so")
    debug = max(place.rglob("*.debug"), key=lambda path: path.stat().st_size)
    run([place / "usr" / "bin" / "eu-unstrip", library, debug, "-o", bench.scratch / "whole"])
    (bench.scratch / "whole").replace(library)
    return library.parents[2] / "bin" / "java"


def described(name: str, costs: list[Cost]) -> str:
    peak_mb = max(cost.peak_kib for cost in costs) / 1024
    return f"{name:40}{cpu(costs):8.2f} s{spread([cost.wall_s for cost in costs]).median:8.2f} s{peak_mb:8.0f} MB"


def cpu(costs: list[Cost]) -> float:
    return spread([cost.cpu_s for cost in costs]).median


if __name__ == "__main__":
    main(__file__, measure_it)
