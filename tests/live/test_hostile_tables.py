"""test_hostile_tables -- programs whose unwind tables are elsewhere, or gone: the recorder must not be what kills them"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable

import pytest
from cold_starts import NODE, start_cold
from recorded import IS_THOROUGH, RUNGS, Recorded, judge_at_least, with_clocks

from collector.profile import aggregate

ON_X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="its loop is written in x86-64 assembler")


@ON_X86_64
@pytest.mark.parametrize("clock", RUNGS)
def test_code_before_all_tables(unharmed: Callable[..., Recorded], compiled: Callable[..., object], rung_works: Callable[[str], None], clock: str) -> None:
    rung_works(clock)
    program = compiled("split_program.c", "-O2", "-no-pie", "-Wl,--section-start=.text=0x900000")
    recorded = unharmed([program], clock=clock)
    for name in ("spin_early", "spin_late"):
        judge_at_least(recorded, name, 0.9 * recorded.outcome.truth[f"{name}_ns"])
    assert recorded.callers("spin_late").keys() == {"main"}, "tables in another segment than the code are found"


@pytest.mark.parametrize(("how", "clock"), with_clocks(["unmap", "protect", "truncate", "all"]))
def test_tables_taken_away(unharmed: Callable[..., Recorded], compiled: Callable[..., object], rung_works: Callable[[str], None], how: str, clock: str) -> None:
    rung_works(clock)
    library = compiled("tables_gone_library.c", "-O2", "-shared", "-fPIC", name="libtablesgone.so")
    recorded = unharmed([compiled("tables_gone.c", "-O2"), library, how], clock=clock)
    ends = {row.cause for row in aggregate.stack_ends(recorded.profile)}
    assert ends & {"guessed", "no_unwind_info"}, f"nothing says that callers may be wrong: {ends}"
    assert recorded.inclusive_ns("work_in_program") > 0


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node_started_cold(recorder: object) -> None:
    starts = start_cold(NODE, 100 if IS_THOROUGH else 12)
    assert not [start for start in starts if start.fault]
