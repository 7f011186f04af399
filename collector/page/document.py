"""document -- the HTML file: the page's own parts, in order, and the data

All is in the file, and its content security policy says so: nothing may be fetched, and no script may run but the page's own, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from collector.page.cells import CellTable, cells_of
from collector.page.facts import facts_of
from collector.page.instructions import Listings, Places, disassembly_of, places_of
from collector.page.packing import deltas, pack
from collector.printable import printable
from collector.profile.model import Profile

_ASSETS: Final = os.path.join(os.path.dirname(__file__), "assets")
_SCRIPTS: Final = (
    "format.js", "data.js", "sums.js", "state.js", "links.js", "colours.js", "canvas.js", "lanes.js", "timeline.js", "layouts.js", "flame.js",
    "tables.js", "callers.js", "tree.js", "figures.js", "source.js", "summary.js", "paper.js",
)  # fmt: skip
"""In the order in which they build on each other; then what only some pages need, and the page itself."""
_COMPARING: Final = ("difference.js", "compare.js", "sides.js")

Sources = Mapping[str, tuple[str, str]]
"""By path, the text of a source file and a note about it."""


def render(experiments: Sequence[str], title: str, has_disassembly: bool = False, comparison: str = "") -> str:
    """The page of one packed experiment, or of two, before and after, and their packed comparison."""
    data = [f'<script type="application/octet-stream" class="experiment">{text}</script>' for text in experiments]
    scripts, styles = [*_SCRIPTS], ["style.css"]
    if has_disassembly:
        scripts.append("disassembly.js")
        styles.append("disassembly.css")
    if comparison:
        data.append(f'<script type="application/octet-stream" class="comparison">{comparison}</script>')
        scripts += _COMPARING
        styles.append("compare.css")
    script = "".join(f"// {name}\n{_asset(name)}\n" for name in (*scripts, "page.js"))
    style = "".join(map(_asset, styles))
    parts = {
        "title": html.escape(printable(title)), "style": style, "styleDigest": _digest(style), "data": "\n".join(data), "script": script,
        "digest": _digest(script),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))  # at once: a part may have such a word in it


def experiment_data(profile: Profile, sources: Sources, listings: Listings | None = None) -> str:
    """All of a profile, packed. NotKeptError if it has no samples."""
    places = places_of(profile, listings) if listings else Places([], {})
    cells = cells_of(profile, places=places.of_frames)
    document = {
        **facts_of(profile, cells.lines, sources), "step": cells.step_ns / 1e9, "stepCount": cells.step_count, "small": cells.small_s,
    }  # fmt: skip
    if listings is not None:
        document["disassembly"] = disassembly_of(listings, places)
    return pack(document, {**_columns(cells), "places": [place + 1 for place in cells.places] if listings else []})


def _columns(cells: CellTable) -> dict[str, Sequence[int]]:
    """A parent as the way back to it; groups from UNFINISHED and SMALL on; what rises, and what is near to the one before, as differences."""
    return {
        "parents": [node - parent for node, parent in enumerate(cells.parents)],
        "groups": [group + 2 for group in cells.groups],
        "threads": deltas(cells.threads),
        "steps": deltas(cells.steps),
        "nodes": cells.nodes,
        "cpu": cells.cpu_us,
        "system": cells.system_us,
        "counts": cells.counts,
        **{f"other {name}": column for name, column in cells.others.items()},
    }


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    with open(os.path.join(_ASSETS, name), encoding="utf-8") as file:
        return file.read()
