"""imported -- imports a text or bytes as a user would, and gives what the experiment then says"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from both_ways import load_both_ways

from collector.cli.main import main
from collector.profile import aggregate
from collector.profile.model import Profile
from collector.symbols.symbolizer import Symbolizer


@dataclass
class Imported:
    """An experiment, loaded."""

    path: Path
    profile: Profile

    @property
    def total_ns(self) -> int:
        """All samples together."""
        return sum(map(sum, self.stacks().values()))

    def stacks(self) -> dict[tuple[str, ...], tuple[int, int]]:
        """User and system nanoseconds by stack, the root first; inlined frames are marked with a plus."""
        found: dict[tuple[str, ...], tuple[int, int]] = {}
        for sample in self.profile.samples.samples:
            key = tuple(self._told(number) for number in self.profile.samples.stacks[sample.stack].frames)
            user, system = found.get(key, (0, 0))
            found[key] = user + sample.values[0], system + sample.values[1]
        return found

    def _told(self, number: int) -> str:
        frame = self.profile.frames[number]
        function = self.profile.functions[frame.function]
        line = f":{frame.line}" if frame.line else ""
        return f"{'+' if frame.kind == 'inlined' else ''}{function.name}{line}"

    def functions(self) -> dict[str, tuple[float, float]]:
        """Exclusive and inclusive seconds by function."""
        return {row.function.name: (round(row.exclusive[0], 9), round(row.inclusive[0], 9)) for row in aggregate.functions(self.profile)}

    def messages(self) -> str:
        """All that it says."""
        return "\n".join(message.text for message in self.profile.messages)


def import_file(path: Path, *options: str) -> Imported:
    """Import a file, in C and in Python."""
    target = path.parent / f"{path.name}.expt"
    assert main(["import", str(path), "-O", str(target), *options]) == 0
    return Imported(target, load_both_ways(target, symbolizer=Symbolizer()))


def import_text(directory: Path, text: str | bytes, *options: str, name: str = "profile") -> Imported:
    """Import a text."""
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return import_file(path, *options)

