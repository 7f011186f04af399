"""definition_file -- a metric definition file read, whatever may be in its place

The built-in file is known by its content, and nothing has to be parsed for it: each recording begins with it.
"""

from __future__ import annotations

import os
import stat
import zlib

from collector.capture import builtin_metrics
from collector.capture.definitions import DefinitionFile, MetricDefinition, MetricGroupDefinition, SourceDefinition
from collector.errors import DefinitionError

MOST_BYTES = 1 << 20


def read_definitions(path: str) -> DefinitionFile:
    """Read a definition file. Never raises for what is in it: a file that is no use at all has only problems."""
    try:
        content = _read(path)
    except DefinitionError as error:
        return DefinitionFile(path, problems=(str(error),))
    if zlib.crc32(content) == builtin_metrics.CHECKSUM:
        return _builtin(path)
    from collector.capture.definition_reader import parse_definitions  # not every recording has a file of its own

    return parse_definitions(path, content)


def _builtin(path: str) -> DefinitionFile:
    """What the built-in file says, by its path here."""
    metrics = tuple(MetricDefinition(identifier, path, *others) for identifier, *others in builtin_metrics.METRICS)
    sources = tuple(SourceDefinition(identifier, path, *others) for identifier, *others in builtin_metrics.SOURCES)
    return DefinitionFile(path, metrics, tuple(MetricGroupDefinition(*group) for group in builtin_metrics.GROUPS), sources)


def _read(path: str) -> bytes:
    try:
        # A file may be a pipe that nobody writes to.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DefinitionError(f"{path}: it is not a regular file")
            content = _read_bounded(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DefinitionError(f"{path}: it cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > MOST_BYTES:
        raise DefinitionError(f"{path}: it is longer than {MOST_BYTES >> 20} MiB")
    return content


def _read_bounded(descriptor: int) -> bytes:
    content = b""
    while len(content) <= MOST_BYTES and (part := os.read(descriptor, MOST_BYTES + 1)):
        content += part
    return content
