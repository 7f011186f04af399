"""test_signal_safety -- what our handlers, and the calls that are promised to handlers, can reach is safe in a signal handler"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from call_graph import FLAGS, NATIVE, CallGraph, built_for_call_graph

HANDLERS = ["control/signals:on_clock", "control/signals:on_sample", "control/signals:on_pause", "control/dispositions:on_surrogate"]
# What a program may call in its own handler (signal-safety(7)) and finds us in front of.
HOOKS = {"close", "dup2", "sigaction", "sigprocmask", "pthread_sigmask", "sigpending", "sigsuspend", "ppoll", "pselect", "signal"}

# What is reached and not ours. No system call is among it, though signal-safety(7) lists many: whoever else is preloaded may stand in front of the
# C library's name for it (libfakeroot's fstat takes a lock), so that system calls go by base/arch_abi.h. No function of <string.h> either: ThreadSanitizer's
# memcpy runs the program's waiting handlers, on top of a tick; base/own_string.c has them.
FOREIGN = {
    "__errno_location": "an address in the thread's own block",
    "_GLOBAL_OFFSET_TABLE_": "no function: where the linker keeps addresses",
    "_dl_find_object": "made for signal handlers: which object an address belongs to",
    "pthread_self": "reads the thread's own register",
    "_r_debug": "data: where the dynamic linker's list begins, which is read with proof",
    "dlsym": "not reached: col_real_resolve has looked up all names before a handler is installed, and col_real_find only asks where it has not",
}

STORED_BY_CALLER = "the caller, who is reached as well, names the function: it is followed from there"
REAL = "the C library's own function of the name, one system call, which the program asked for or we ask in its place"
HANDLER_OF_PROGRAM = "the program's own handler, as the kernel would have called it"
PLUGIN = "a plugin's function, which is told that it runs in a handler (docs/metric-plugins.md)"

# Where a pointer is called, and what is in it.
INDIRECT = {
    "base/own_libc:getauxval": "the C library's, which reads what the kernel laid down when the program began",
    "base/own_libc:pthread_setcancelstate": "the C library's: one atomic exchange in the thread's own block",
    "base/own_libc:pthread_setcanceltype": "the same",
    "base/text_format:col_text_format": STORED_BY_CALLER,
    "base/text_format:put_padded": STORED_BY_CALLER,
    "control/session:take_sample": STORED_BY_CALLER,
    "experiment/record:col_record_encode": STORED_BY_CALLER,
    "target/code_finder:col_code_finder_find": "what col_code_finder_observe was given, see STORED",
    "target/executable_mappings:read_mappings": "what col_executable_mappings_observe was given, see STORED",
    "control/dispositions:change_ignored": REAL,
    "control/dispositions:change_other": REAL,
    "control/dispositions:col_dispositions_change": REAL,
    "control/dispositions:col_dispositions_die": REAL,
    "control/dispositions:move": REAL,
    "control/dispositions:set_surrogate": REAL,
    "control/dispositions:on_surrogate": HANDLER_OF_PROGRAM,
    "control/signals:col_signals_is_on_small_stack": REAL,
    "control/signals:deliver": HANDLER_OF_PROGRAM,
    "sample/metrics:call_getter": PLUGIN,
    "target/python_runtime:col_python_runtime_thread_state": "PyGILState_GetThisThreadState, which reads thread-local storage",
    "sample/plugin_call:col_plugin_call_function": PLUGIN,
    **dict.fromkeys([f"entry/interpose_descriptor:{name}" for name in ("close", "dup2")], REAL),
    **dict.fromkeys([f"entry/interpose_signal:{name}" for name in ("change_mask", "sigpending")], REAL),
    **dict.fromkeys([f"entry/interpose_signal_wait:{name}" for name in ("sigsuspend", "ppoll", "pselect", "let_in")], REAL),
    "entry/interpose_signal_old:signal": REAL,
}
# Pointers that ordinary code has stored before: who calls them, and what they hold.
STORED = {"target/code_finder:col_code_finder_find": ["col_modules_meet"], "target/executable_mappings:read_mappings": ["target/modules:meet_mapping"]}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> CallGraph:
    for tool in ("make", "gcc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    return CallGraph(sorted((built_for_call_graph(tmp_path_factory) / "build/obj/recorder/src").rglob("*.o")))


def promised() -> set[str]:
    """The functions that a header says may be called in a signal handler."""
    names = set()
    for path in (NATIVE / "include").glob("*.h"):
        text = re.split(r"-- From ordinary threads|==== FROM ORDINARY", path.read_text())[0]
        start = re.search(r"-- From anywhere|FROM ANYWHERE", text)
        if start is not None:
            names |= set(re.findall(r"\b((?:collector|allinea)_\w+)\(", text[start.end() :]))
    return names


def entries(graph: CallGraph, names: set[str]) -> list[str]:
    """Those functions, as the library exports them."""
    return [name for name in graph.uses if name.startswith("entry/") and name.rpartition(":")[2] in names]


def reached(graph: CallGraph) -> dict[str, tuple[str, ...]]:
    return graph.reach([*HANDLERS, *entries(graph, promised() | HOOKS)], STORED)


def test_the_graph_is_whole(graph: CallGraph) -> None:
    """What must be in it, or else nothing below means anything."""
    ways = reached(graph)
    assert {"collector_sample", "collector_writelog", "allinea_safe_malloc", "allinea_safe_open"} <= promised()
    assert "collector_terminate_expt" not in promised() and "allinea_read_config_file" not in promised()
    assert all(handler in graph.uses for handler in HANDLERS)
    assert {name.rpartition(":")[2] for name in entries(graph, HOOKS)} == HOOKS
    for name in ("sample/unwind:col_unwind_walk", "experiment/log_writer:col_log_writer_append", "experiment/record:col_record_encode", "target/modules:col_modules_meet", "target/modules:meet_mapping"):
        assert name in ways, f"{name} is not reached"
    assert graph.indirect and graph.indirect <= graph.sections


def test_only_safe_functions_are_reached(graph: CallGraph) -> None:
    foreign = {name: " < ".join(way[1:]) for name, way in reached(graph).items() if ":" not in name}
    # On aarch64 an atomic operation is a call into libgcc, which chooses the instruction by the processor.
    unsafe = {name: way for name, way in foreign.items() if name not in FOREIGN and not name.startswith("__aarch64_")}
    assert not unsafe, "\n".join(f"{name} < {way}" for name, way in unsafe.items())


def test_every_pointer_that_is_called_is_known(graph: CallGraph) -> None:
    ways = reached(graph)
    called = {re.sub(r"\.(part|constprop|isra|cold)\.?\d*", "", name): name for name in graph.indirect if name in ways}
    unknown = {name: " < ".join(ways[full]) for name, full in called.items() if name not in INDIRECT}
    assert not unknown, "\n".join(f"{name} calls a pointer: {way}" for name, way in unknown.items())


def test_what_is_stored_is_what_the_tables_say(graph: CallGraph) -> None:
    """Whoever gives col_code_finder_observe another function has to say so here."""
    given = {name for path in (NATIVE / "src").rglob("*.c") for name in re.findall(r"col_code_finder_observe\((\w+)\);", path.read_text())}
    assert given == set(STORED["target/code_finder:col_code_finder_find"])


def test_only_the_look_up_asks_the_linker(graph: CallGraph) -> None:
    ways = reached(graph)
    assert [name for name in ways if "dlsym" in graph.uses.get(name, ())] == ["base/real:col_real_find"]
    assert "base/real:col_real_resolve" not in ways


# Whose own ROOM_BYTES is asked for before they go on (target/stack_room.h); and what runs in the launcher alone, or asks for room of its own.
ROOMY = ("target/executable_mappings:read_mappings", "target/modules:col_modules_meet", "target/modules:meet_mapping")
ELSEWHERE = ("target/remote_modules:is_code", "base/remote_memory:read_by_call", "sample/metrics:col_metrics_tick")


def room_of(source: str) -> int:
    """The ROOM_BYTES of a C file."""
    match = re.search(r"ROOM_BYTES =? ?(\d+)", (NATIVE / f"src/{source}.c").read_text())
    assert match, source
    return int(match.group(1))


def test_a_tick_fits_into_its_room(graph: CallGraph) -> None:
    """Alternate signal stacks of 8 KiB are usual, and a page that is not there may be below them."""
    for name in (*ROOMY, *ELSEWHERE):
        assert name in graph.stack_bytes, f"{name} is no function any more"
    size, way = graph.deepest("control/signals:on_clock", STORED, frozenset({*ROOMY, *ELSEWHERE}))
    assert size - graph.stack_bytes["control/signals:on_clock"] <= room_of("control/signals"), f"{size} bytes: {' > '.join(way)}"


@pytest.mark.parametrize("name", ROOMY)
def test_rare_work_fits_into_its_room(graph: CallGraph, name: str) -> None:
    size, way = graph.deepest(name, STORED, frozenset({*ROOMY, *ELSEWHERE} - {name}))
    assert size <= room_of(name.partition(":")[0]), f"{size} bytes: {' > '.join(way)}"


UNSAFE = r"""
#include <signal.h>
#include <stdlib.h>
struct action { void (*run)(void); };
void *kept;
static void allocate(void) { free(kept); kept = malloc(1); }
static __attribute__((noinline)) void perform(const struct action *action) { action->run(); }
void on_signal(int signo) { struct action action = {signo ? allocate : NULL}; perform(&action); }
"""


def test_an_unsafe_call_behind_a_pointer_is_found(tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    (tmp_path / "unsafe.c").write_text(UNSAFE)
    subprocess.run(["gcc", "-O2", "-fPIC", *FLAGS.split(), "-c", "unsafe.c"], cwd=tmp_path, check=True)
    graph = CallGraph([tmp_path / "unsafe.o"])
    unit = f"{tmp_path.name}/unsafe"
    ways = graph.reach([f"{unit}:on_signal"], {})
    assert {"malloc", "free", f"{unit}:allocate"} <= set(ways)
    assert graph.indirect & set(ways)
