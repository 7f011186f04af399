"""analysis -- the samples of logs, from bytes to sums: in C where the library is there, and in plain Python where it is not

    analysis = open_analysis()
    for each log: analysis.scan(log); then analysis.measure(...), if there is more than CPU time
    for each log: analysis.attribute(...) and analysis.collect(...)
    analysis.entries() are to be named; analysis.expand(...) takes the names
    analysis.samples(...) answers the questions of a profile

Both ways give the same answers; a test holds them together. The seam is `seam.py`, and in C libcollector_c/analysis/seam.h.
"""

from __future__ import annotations

from collector.analysis.seam import Analysis
from collector.format import Kind


def open_analysis(skipped: frozenset[Kind] = frozenset()) -> Analysis:
    """The analysis in C, if its library can be loaded, else the one in Python. Records of `skipped` kinds are of no use, and may be left out."""
    from collector.analysis.library import load_library

    library = load_library()
    if library is None:
        from collector.analysis.plain import PlainAnalysis

        return PlainAnalysis()
    from collector.analysis.native import NativeAnalysis

    return NativeAnalysis(library, skipped)
