"""installation -- where the compiled half of this package lies"""

from __future__ import annotations

import os

from collector.errors import RecordError
from collector.named_tuple import NamedTuple

LIBRARY_NAME = "libcollector.so"


class Installation(NamedTuple):
    """Absolute paths of what users and the launcher need.

    recorder     the library to preload
    library_dir  the stub libraries, libpmclog
    include_dir  the headers
    fortran_dir  the source of the Fortran module
    metrics_dir  the built-in metrics: definition files and plugins
    prefix       the directory that holds all of these
    """

    prefix: str
    recorder: str
    library_dir: str
    include_dir: str
    fortran_dir: str
    metrics_dir: str


def find_installation() -> Installation:
    """Find the compiled half: inside the package (a wheel), else beside it (a source tree that was built).

    COLLECTOR_LIBRARY in the environment names another recorder to preload, for those who work on it; built-in metrics that lie
    beside it in metrics/ belong to it.
    RecordError if there is none.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    native = os.path.join(package, "native")
    tree = os.path.join(os.path.dirname(package), "libcollector_c")
    build = os.path.join(tree, "build")
    if os.path.isfile(os.path.join(native, "lib", LIBRARY_NAME)):
        found = _describe(native, os.path.join(native, "lib"), native, os.path.join(native, "metrics"))
    else:
        found = _describe(tree, build, tree, os.path.join(build, "metrics"))
    if not os.path.isfile(found.recorder) and "COLLECTOR_LIBRARY" in os.environ:
        raise RecordError(f"{found.recorder} is not there: COLLECTOR_LIBRARY names a recorder that does not exist")
    if not os.path.isfile(found.recorder):
        raise RecordError(f"{LIBRARY_NAME} has not been built: run `pip install .` or `make -C libcollector_c`, then try again")
    return found


def _describe(prefix: str, library_dir: str, source: str, metrics_dir: str) -> Installation:
    own = os.path.join(library_dir, LIBRARY_NAME)
    recorder = os.path.abspath(os.environ.get("COLLECTOR_LIBRARY") or own)
    beside = os.path.join(os.path.dirname(recorder), "metrics")
    return Installation(
        prefix=prefix,
        recorder=recorder,
        library_dir=library_dir,
        include_dir=os.path.join(source, "include"),
        fortran_dir=os.path.join(source, "fortran"),
        metrics_dir=beside if recorder != os.path.abspath(own) and os.path.isdir(beside) else metrics_dir,
    )
