"""simulated_runs -- runs of a program whose functions take a known time and whose samples fall by chance"""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import exp, sqrt

from collector.profile.compared_run import ComparedPlace, Key, Measure, Run
from collector.profile.model import Clock, Function, Module

NORMAL, HIGH = 1 / 997, 1 / 9973
"""Seconds from one sample to the next, at a rate near the usual one and at `-p hi`."""

EQUAL = {f"f{number}": 0.5 for number in range(20)}
"""A program of 10 s, all in functions of 0.5 s."""

CLOCK = Clock("sigtrap", 1_062_699, 1_062_699)


def made_run(times: Mapping[str, float], name: str = "run", period: float = NORMAL, module: str = "prog", file: str = "/src/prog.c") -> Run:
    """A run in which each function has exactly this time, in samples of one period."""
    measures = {function: Measure(time, time / period) for function, time in times.items()}
    return _run(name, measures, module, file)


def random_run(chance: random.Random, times: Mapping[str, float], period: float = NORMAL, spread: float = 0.0) -> Run:
    """A run in which the samples of each function are Poisson, and everything is faster or slower by chance."""
    speed = chance.gauss(1, spread)
    counts = {function: _poisson(chance, time * speed / period) for function, time in times.items()}
    return _run("run", {function: Measure(count * period, count) for function, count in counts.items() if count}, "prog", "/src/prog.c")


def _run(name: str, measures: Mapping[str, Measure], module: str, file: str) -> Run:
    keys: dict[str, Key] = {function: (function, module, file.rpartition("/")[2]) for function in measures}
    total = Measure(sum(one.time for one in measures.values()), sum(one.samples for one in measures.values()))
    places = {
        key: ComparedPlace(Function(function, function, function, 0, file, 1), Module(module, f"/usr/bin/{module}"), file, 1)
        for function, key in keys.items()
    }
    times = {keys[function]: measure for function, measure in measures.items()}
    return Run(name, ("./prog",), "engine", frozenset({CLOCK}), total, times, places)


def _poisson(chance: random.Random, mean: float) -> int:
    if mean > 100:
        return max(0, round(chance.gauss(mean, sqrt(mean))))
    count, product, least = 0, chance.random(), exp(-mean)
    while product > least:
        count, product = count + 1, product * chance.random()
    return count
