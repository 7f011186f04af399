"""tables -- the cases that are no plain C function, class by class, and the order of the classes"""

from __future__ import annotations

from matrix.tables import languages, linking, programs, sandboxes, science, signals, tracers

GROUPS = ("signals", "processes", "threads", "memory", "files", "linking", "sandboxes", "tracers", "interfaces", "ends", "processor", "timing", "programs", "languages", "science")

TABLE = [*signals.CASES, *linking.CASES, *sandboxes.CASES, *tracers.CASES, *programs.CASES, *languages.CASES, *science.CASES]
