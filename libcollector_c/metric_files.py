"""metric_files -- what follows from the built-in metric definitions: `python3 libcollector_c/metric_files.py` writes it

collector/capture/builtin_metrics.py, which says what plugins/builtin.xml says. tests/unit/capture/test_builtin_metrics.py sees to it that it does.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from collector.capture.definition_reader import parse_definitions  # noqa: E402  (found by the path above)
from collector.capture.definitions import MetricDefinition, SourceDefinition  # noqa: E402

XML = ROOT / "libcollector_c" / "plugins" / "builtin.xml"
MODULE = ROOT / "collector" / "capture" / "builtin_metrics.py"

_LONGEST_LINE = 140
_HEAD = '''"""builtin_metrics -- what the built-in metric definitions say, made of libcollector_c/plugins/builtin.xml by libcollector_c/metric_files.py

To read the XML takes longer than `true` runs, and every recording would wait for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
'''


def text() -> str:
    """The module."""
    content = XML.read_bytes()
    file = parse_definitions(str(XML), content)
    assert not file.problems, file.problems
    parts = {
        "CHECKSUM: int": (repr(zlib.crc32(content)), "The CRC-32 of the file."),
        "METRICS: tuple[tuple[Any, ...], ...]": (_rows(map(_without_file, file.metrics)), "The fields of each MetricDefinition but for its file."),
        "GROUPS: tuple[tuple[Any, ...], ...]": (_rows(map(tuple, file.groups)), "Those of each MetricGroupDefinition."),
        "SOURCES: tuple[tuple[Any, ...], ...]": (_rows(map(_without_file, file.sources)), "Those of each SourceDefinition but for its file."),
    }
    return _HEAD + "".join(f'\n{name} = {value}\n"""{meaning}"""\n' for name, (value, meaning) in parts.items())


def _without_file(one: MetricDefinition | SourceDefinition) -> tuple[object, ...]:
    return (one.id, *one[2:])


def _rows(rows: Iterable[tuple[object, ...]]) -> str:
    return "(\n" + "".join(f"    ({_in_lines([*map(_literal, row)])}),\n" for row in rows) + ")"


def _in_lines(words: list[str]) -> str:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) < _LONGEST_LINE:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return ",\n     ".join(lines)


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return json.dumps(value) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    MODULE.write_text(text(), encoding="utf-8")
