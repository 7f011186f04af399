"""run -- whether collector compare finds a function that got 5 % slower, and how often it finds something where nothing changed

    python3 experiments/012-compare/run.py [--quick]
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import Bench, Report, main, run

HERE = Path(__file__).resolve().parent
CHANGED, MORE_PERCENT, PERIOD = "second", 5, "hi"
MOST_FALSE = 2
"""Of 20 comparisons at 99 %: more have a finding by chance in 0.1 % of all cases."""


def recorded(bench: Bench, program: Path, seconds: float, more_percent: float, name: str) -> Path:
    """One recording of the program."""
    path = bench.scratch / f"{name}.expt"
    run([bench.collector, "record", "-p", PERIOD, "-o", path, "--", program, seconds, more_percent])
    return path


def compared(bench: Bench, before: Sequence[Path], after: Sequence[Path]) -> dict[str, dict[str, float | str | None]]:
    """The rows by function, and the total."""
    document = json.loads(run([bench.collector, "compare", "--json", *before, "--", *after]).output)
    return {row["function"]: row for row in document["rows"]} | {"": document["total"]}


def findings(rows: dict[str, dict[str, float | str | None]]) -> list[str]:
    """The functions that are called slower, faster, new or gone."""
    return [name for name, row in rows.items() if name and row["verdict"] not in ("none", "too few")]


def measure_it(bench: Bench) -> Report:
    """Both questions."""
    report = Report()
    program = bench.compile(HERE / "planted.c")
    runs, seconds = bench.choose(3, 5), bench.choose(1, 10)
    pairs = [[recorded(bench, program, seconds, more, f"planted-{number}-{more}") for more in (0, MORE_PERCENT)] for number in range(runs)]
    before, after = zip(*pairs)
    rows = compared(bench, before, after)
    report.say(f"{runs} runs of about {seconds} s a side, in turn, at -p {PERIOD}: {CHANGED} is {MORE_PERCENT} % slower, a fifth of the time")
    for name, one in sorted(rows.items(), key=lambda item: -float(item[1]["before"] or 0))[:7]:
        low, ratio, high = (float(one[key] or 0) for key in ("ratio_low", "ratio", "ratio_high"))
        beside = f"beside the rest {one['rest_ratio']:.3f} ({one['rest_low']:.3f} to {one['rest_high']:.3f})" if one["rest_ratio"] else ""
        report.say(f"  {name or 'total':7} {one['before']:7.3f} s {one['after']:7.3f} s  ratio {ratio:.3f} ({low:.3f} to {high:.3f})  {beside:38}  {one['verdict']}")
    found = findings(rows)
    report.head(
        f"a function of 20 % is {MORE_PERCENT} % slower, {runs} runs of {seconds} s a side: found", ", ".join(found) or "nothing", "", CHANGED, found == [CHANGED]
    )
    alone = [findings(compared(bench, pair[:1], pair[1:])) for pair in pairs]
    right, others = sum(names == [CHANGED] for names in alone), sum(any(name != CHANGED for name in names) for names in alone)
    report.say(f"  of one run a side: found in {sum(CHANGED in names for names in alone)} of {runs} pairs, other functions in {others}")
    report.head(f"the same, one run of {seconds} s a side: it alone is found, others", f"{right} of {runs}, {others}", aim="others 0", holds=others == 0)

    count, times = bench.choose(6, 24), bench.choose(4, 20)
    same = [recorded(bench, program, 1, 0, f"same-{number}") for number in range(count)]
    chance = random.Random(1)
    false = []
    for _ in range(times):
        chance.shuffle(same)
        false.append(findings(compared(bench, same[: count // 2], same[count // 2 :])))
    wrong = sum(map(bool, false))
    report.say()
    report.say(f"{count} runs of 1 s of one program, divided {times} times by lot: {wrong} comparisons with a finding")
    report.head(f"{times} comparisons of a program with itself: with a finding", f"{wrong}", aim=f"<= {MOST_FALSE}", holds=wrong <= MOST_FALSE)
    single = [findings(compared(bench, [one], [other])) for one, other in zip(same[::2], same[1::2])]
    report.say(f"  of one run a side: {sum(map(bool, single))} of {len(single)}")
    report.head("the same of one run a side", f"{sum(map(bool, single))} of {len(single)}", aim="0", holds=not any(single))
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
