"""native_library -- libcollector_analysis, inside the package (a wheel) or beside it (a source tree that was built)"""

from __future__ import annotations

import os
from collections.abc import Iterator

NAME = "libcollector_analysis.so"


def iter_paths() -> Iterator[str]:
    """Where it may be, the likeliest first."""
    package = os.path.dirname(os.path.abspath(__file__))
    for directory in (os.path.join(package, "native", "lib"), os.path.join(os.path.dirname(package), "libcollector_c", "build")):
        yield os.path.join(directory, NAME)
