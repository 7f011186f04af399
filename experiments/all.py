"""all -- every experiment, one after the other, and one table of what came out

    python3 experiments/all.py --quick     the table, in under ten minutes
    python3 experiments/all.py             all of it, more than two hours; writes each result.txt

Names given behind choose among the experiments: all.py --quick 001 005
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import HOME_PYTHON, machine, table

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run them and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and loads; no file is written")
    parser.add_argument("names", nargs="*", help="only experiments whose names begin so")
    args = parser.parse_args()
    begun, before = time.monotonic(), machine()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for script in sorted(HERE.glob("[0-9]*/run.py")):
            name = script.parent.name
            if args.names and not name.startswith(tuple(args.names)):
                continue
            told = Path(scratch) / name
            print(f"--- {name}", file=sys.stderr, flush=True)
            python = HOME_PYTHON if HOME_PYTHON.exists() else sys.executable  # the experiments' own has msgpack
            status = subprocess.run([python, script, "--json", told, *(["--quick"] if args.quick else [])], stdout=subprocess.DEVNULL).returncode
            rows = [tuple(row) for row in json.loads(told.read_text())] if told.exists() else []
            lines += ["", name + ("" if status == 0 else f" ended with status {status}"), *table(rows)]
    kind = "quick" if args.quick else "full"
    text = "\n".join([before, f"{time.strftime('%Y-%m-%d')}, {kind} run of {(time.monotonic() - begun) / 60:.1f} minutes; medians, in brackets the quartiles", *lines]) + "\n"
    print(text, end="")


if __name__ == "__main__":
    main()
