"""run -- the soak by one command: python3 tests/soak/run.py [--minutes 10]

The program runs natively for a moment, then recorded, then recorded on a disk that gets full again and again. The status is 1 if
anything is harmed, lost without a word, or has grown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

if not __package__:
    sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]
    sys.path.remove(str(Path(__file__).resolve().parent))

from soak.reading import find_loss
from soak.soaking import ROOT, CannotSoak, Soaked, describe, find_growth, find_harm, small_disk, soak

NATIVE_S = 5.0


def find_recorder() -> Path:
    """The recorder that is tested: the one of the source tree, built as it is now, unless COLLECTOR_LIBRARY names another."""
    if "COLLECTOR_LIBRARY" not in os.environ:
        subprocess.run(["make", "-s", "-j2", "-C", ROOT / "libcollector_c"], check=True)
        os.environ["COLLECTOR_LIBRARY"] = str(ROOT / "libcollector_c/build/libcollector.so")
    return Path(os.environ["COLLECTOR_LIBRARY"])


def find_all(native: Soaked, run: Soaked, recorder: Path, is_disk_full: bool = False) -> list[str]:
    """Everything that is not as it should be."""
    harm = find_harm(native, run)
    return harm or [*find_growth(native, run, recorder), *find_loss(run, is_disk_full)]


def main() -> int:
    """Run it and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="how long in all; three quarters of it on a good disk (default 10)")
    asked = parser.parse_args()
    recorder, seconds, status = find_recorder(), asked.minutes * 60, 0
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        folder = Path(place)
        native = soak(folder, NATIVE_S, recorded=False)
        for title, part_s in (("a good disk", seconds * 0.75), ("a disk that gets full", seconds * 0.25)):
            try:
                run, found = _part(folder, part_s, native, recorder, title != "a good disk")
            except CannotSoak as reason:
                print(f"{title}: left out, {reason}")
                continue
            print("\n".join([f"{title}, {part_s:.0f} s", *(f"  {line}" for line in (*describe(run), *run.stderr.splitlines()))]))
            print("\n".join(f"  NOT AS IT SHOULD BE: {line}" for line in found) or "  as it should be", flush=True)
            status |= bool(found)
    return status


def _part(folder: Path, seconds: float, native: Soaked, recorder: Path, is_disk_full: bool) -> tuple[Soaked, list[str]]:
    if not is_disk_full:
        run = soak(folder, seconds)
        return run, find_all(native, run, recorder)
    with small_disk(folder / "disk") as disk:
        run = soak(folder, seconds, experiment=disk / "soak.expt", filler=disk / "filler")
        return run, find_all(native, run, recorder, True)


if __name__ == "__main__":
    sys.exit(main())
