"""builtin_metrics -- what the built-in metric definitions say, made of libcollector_c/plugins/builtin.xml by libcollector_c/metric_files.py

To read the XML takes longer than `true` runs, and every recording would wait for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHECKSUM: int = 2946432358
"""The CRC-32 of the file."""

METRICS: tuple[tuple[Any, ...], ...] = (
    ("collector.cpu.user", 3, "collector.builtin_src", "process_cpu_user", "double", "%", "default_yes", False, False, True, "", "User CPU time",
     "Time spent in the program's own code, of all its threads, in percent of one processor", "cpu_time", "#2ca02c", ""),
    ("collector.cpu.system", 15, "collector.builtin_src", "process_cpu_system", "double", "%", "default_yes", False, False, True, "",
     "System CPU time", "Time spent in the kernel, of all threads, in percent of one processor", "cpu_time", "#98df8a", ""),
    ("collector.cpu.switches", 27, "collector.builtin_src", "process_cpu_switches", "uint64_t", "/s", "default_yes", False, False, True, "",
     "Context switches", "How often threads gave way to others, of their own will or not", "cpu_time", "#2ca02c", ""),
    ("collector.io.read", 45, "collector.builtin_src", "process_io_read", "uint64_t", "B/s", "default_yes", False, False, True, "", "Read",
     "Bytes that system calls read, from files, pipes and the like, with those of child processes that were waited for", "io", "#1f77b4", ""),
    ("collector.io.written", 57, "collector.builtin_src", "process_io_written", "uint64_t", "B/s", "default_yes", False, False, True, "",
     "Written", "Bytes that system calls wrote, to files, pipes and the like, with those of child processes that were waited for", "io", "#ff7f0e",
     ""),
    ("collector.memory.resident", 75, "collector.builtin_src", "process_memory_resident", "uint64_t", "B", "default_yes", False, False, False, "",
     "Resident memory", "Memory of the process that is in RAM", "memory", "#d62728", ""),
    ("collector.node.load", 92, "collector.builtin_src", "node_load", "double", "", "default_yes", True, False, False, "", "Load",
     "Threads of the whole machine that run or wait to run, averaged over the last minute", "other", "#7f7f7f", ""),
    ("collector.node.memory", 104, "collector.builtin_src", "node_memory", "uint64_t", "B", "default_yes", True, False, False, "", "Memory in use",
     "Memory of the whole machine that could not be had by a new program", "memory", "#d62728", ""),
)
"""The fields of each MetricDefinition but for its file."""

GROUPS: tuple[tuple[Any, ...], ...] = (
    ("collector.cpu", "CPU", "CPU time of the process", ("collector.cpu.user", "collector.cpu.system", "collector.cpu.switches")),
    ("collector.io", "Input and output", "What the process reads and writes", ("collector.io.read", "collector.io.written")),
    ("collector.memory", "Memory", "Memory of the process", ("collector.memory.resident",)),
    ("collector.node", "Node", "The machine as a whole", ("collector.node.load", "collector.node.memory")),
)
"""Those of each MetricGroupDefinition."""

SOURCES: tuple[tuple[Any, ...], ...] = (
    ("collector.builtin_src", 122, "builtin.so", (), "", ""),
)
"""Those of each SourceDefinition but for its file."""
