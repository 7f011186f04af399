"""test_metric_parts -- the C parts below metric plugins, under the sanitizers, and what signal handlers reach of them"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import compiled
import pytest
from compiled import GROUND, SOURCES

TABLE = (
    "interval\t5000000\nnonsense\t1\nplugin\tshort\n\nplugin\tp\t/p.so\tbegin\t\nplugin\tq\t/q.so\t\tend\n"
    "metric\t0\ta.b\tget\tdouble\tdb\tB/s\ttab\\t line\\n back\\\\slash \\\\t\ttype=double\ttitle=x y\n"
    "metric\t1\tc\tget\tuint64_t\tn\t\t\nmetric\t7\tlost\tget\tdouble\t-\t\t\nmetric\t0\tshort\n"
)
SAFE = {
    "memcpy", "memset", "memmove", "memcmp", "strlen", "strnlen", "strcmp", "strncmp", "strchr", "strcspn", "memchr", "getauxval",
    "__errno_location", "__fdelt_chk", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_",
}


@pytest.mark.parametrize("sanitizer, more", [(compiled.SANITIZED, ()), (compiled.THREAD_SANITIZED, ("-DLARGEST=4000",))], ids=["address,undefined", "thread"])
def test_text_memory_and_table(sanitizer: list[str], more: tuple[str, ...], tmp_path: Path) -> None:
    parts = [*GROUND, SOURCES / "sample/metric_table.c"]
    program = compiled.program(tmp_path.parent, compiled.HERE / "metric_parts.c", parts, *sanitizer, more=more)
    (tmp_path / "metrics.tsv").write_text(TABLE)
    ran = subprocess.run([program, tmp_path / "metrics.tsv"], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


def test_what_a_tick_reaches_is_safe_in_signal_handlers(tmp_path: Path) -> None:
    if not (shutil.which("gcc") and shutil.which("nm")):
        pytest.skip("gcc or nm is not installed")
    names = ["base/text_format", "base/signal_heap", "base/own_io", "experiment/messages", "experiment/call_note", "sample/metric_table",
             "sample/plugin_call", "sample/metrics", "target/cores", "entry/allinea_errors", "entry/allinea_memory", "entry/allinea_io"]
    taken = set()
    for name in names:
        (made,) = compiled.objects(tmp_path.parent, [SOURCES / f"{name}.c"], "-O2")
        listed = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout
        taken |= {line.split()[-1] for line in listed.splitlines()}
    assert {name for name in taken if not name.startswith(("col_", "allinea_"))} <= SAFE
