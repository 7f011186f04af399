"""node_metrics -- the metrics of the node while a program is recorded: who reads them, and what became of that"""

from __future__ import annotations

import os
import time

from collector.capture.metric_choice import MetricSet
from collector.capture.native import can_host_metrics
from collector.capture.options import Window
from collector.cli.recording.launch_log import LaunchLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.capture.node_reader import NodeReader


class NodeMetrics:
    """Started when the program was, finished when it has ended. `problem` is a sentence then, or ""."""

    def __init__(self, choice: MetricSet, experiment: str, table: str | None, is_ours: bool = True) -> None:
        """`is_ours`: no other rank on this node reads them."""
        self._preloads = choice.node_preloads
        self._experiment = experiment
        self._table = table
        self._reader: NodeReader | None = None
        self.problem = ""
        self._is_ours = is_ours
        self.is_read_here = not is_ours or can_host_metrics()
        """Or else the first recorded process reads them."""

    def start(self, recorder: str, window: Window) -> None:
        """Begin to read, if there is anything to be read. Signals are blocked."""
        if self._table is None or self._preloads is None or not self.is_read_here or not self._is_ours:
            return
        from collector.capture.node_reader import NodeReader

        now_ns = time.monotonic_ns()
        end_ns = (1 << 64) - 1 if window.end_ns is None else now_ns + window.end_ns
        try:
            self._reader = NodeReader(
                recorder, self._preloads, self._experiment, self._table, (now_ns + window.start_ns if window.start_ns else 0, end_ns)
            )
        except OSError as error:
            self.problem = f"the metrics of the machine were not read: {os.strerror(error.errno or 0).lower()}"

    def finish(self, log: LaunchLog) -> None:
        """Have the reading end, and note how it went."""
        if self._reader is not None:
            end = self._reader.finish()
            log.exclude(end.user_s, end.system_s)
            self.problem = end.problem if os.path.isdir(self._experiment) else ""  # or there is a greater one
        if self.problem:
            log.message(self.problem)
