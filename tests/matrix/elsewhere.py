"""elsewhere -- cases that the suite already has, on one clock or two, and where: the quick part leaves them out, the whole matrix has them

Only cases of which nothing is tried here alone: another way to send a signal, or a fork after what both do, keeps a case in.
Cases that work for seconds are left to the whole matrix, too.
"""

from __future__ import annotations

import os

from matrix.case import Case

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))

# file of tests/live, test, case of it: the cases of the matrix that are the same
_SAME = {
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "sigwait"): "signals/sigwait_usr1 signals/sigwait_trap signals/sigwait_vtalrm signals/sigwait_prof signals/sigwait_rtmin",
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "sigsuspend"): "signals/sigsuspend_usr1 signals/sigsuspend_vtalrm signals/sigsuspend_prof",
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "signalfd"): "signals/signalfd_usr1 signals/signalfd_trap signals/signalfd_vtalrm",
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "ppoll"): "signals/ppoll_usr1 signals/ppoll_vtalrm",
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "pselect"): "signals/pselect_vtalrm",
    ("test_own_signals.py", "test_every_signal_can_be_waited_for", "epoll_pwait"): "signals/epoll_pwait_vtalrm",
    ("test_own_signals.py", "test_signals", "waits_for_all"): "signals/sigwaitinfo_usr1 signals/sigwaitinfo_trap signals/sigwaitinfo_vtalrm",
    ("test_own_signals.py", "test_signals", "trap_info"): "signals/int3_handled",
    ("test_own_signals.py", "test_signals", "alternate_stack"): "signals/alternate_stack_default",
    ("test_own_signals.py", "test_signals_of_clocks", "trap_blocked"): "signals/int3_blocked",
    ("test_own_signals.py", "test_signals_of_clocks", "trap_ignored"): "signals/int3_ignored",
    ("test_own_signals.py", "test_signals_of_clocks", "vfork_alone"): "signals/vfork_isolation",
    ("test_own_signals.py", "test_signals_of_clocks", "old_calls"): "signals/old_interfaces",
    ("test_own_signals.py", "test_signals_of_clocks", "masks_of_handlers"): "signals/nodefer signals/deferred",
    ("test_own_signals.py", "test_signals_of_clocks", "ignored_and_blocked"): "signals/pending_when_ignored",
    ("test_own_signals.py", "test_signals_of_clocks", "inherit"): "signals/inherit_exec signals/inherit_spawn",
    ("test_own_signals.py", "test_states_that_ticks_find", "alarm_jump"): "signals/siglongjmp_timer",
    ("test_own_signals.py", "test_states_that_ticks_find", "cancelled_anywhere"): "threads/async_cancel",
    ("test_own_signals.py", "test_states_that_ticks_find", "all_keys"): "threads/keys_exhausted",
    ("test_own_signals.py", "test_states_that_ticks_find", "alignment_check"): "processor/alignment_check",
    ("test_own_signals.py", "test_states_that_ticks_find", "own_storage"): "processor/own_fs",
    ("test_own_signals.py", "test_calls_are_not_interrupted", "sleeps"): "timing/sleeps timing/polls",
    ("test_own_processes.py", "test_descendants", "fork"): "processes/forks",
    ("test_own_processes.py", "test_descendants", "raw_fork"): "processes/raw_forks",
    ("test_own_processes.py", "test_descendants", "clone"): "processes/libc_clone",
    ("test_own_processes.py", "test_descendants", "vfork"): "processes/vforks",
    ("test_own_processes.py", "test_descendants", "spawn"): "processes/spawns processes/spawnp_missing",
    ("test_own_processes.py", "test_descendants", "exec"): "processes/execs_l",
    ("test_own_processes.py", "test_descendants", "c11"): "threads/c11_threads",
    ("test_own_processes.py", "test_descendants", "bare_clone"): "threads/bare_clone",
    ("test_own_processes.py", "test_threads_cancelled_at_birth", "async"): "threads/cancelled_at_birth",
    ("test_own_processes.py", "test_sanitizers", "address"): "linking/address_sanitizer",
    ("test_own_processes.py", "test_sanitizers", "thread"): "linking/thread_sanitizer",
    ("test_own_processes.py", "test_sanitizers", "undefined"): "linking/undefined_sanitizer",
    ("test_own_descriptors.py", "test_descriptors", "listed"): "files/lists_descriptors files/lists_descriptors_thread",
    ("test_own_descriptors.py", "test_descriptors", "duplicated"): "files/lowest_free",
    ("test_own_descriptors.py", "test_descriptors", "sixteen"): "files/limit_nofile",
    ("test_own_descriptors.py", "test_descriptors", "a_thousand"): "files/all_descriptors",
    ("test_own_descriptors.py", "test_descriptors", "raw_overwritten"): "files/dup_raw_over_all",
    ("test_own_descriptors.py", "test_descriptors", "standard_closed"): "files/closes_standard",
    ("test_own_sandboxes.py", "test_sandboxes", "strict"): "sandboxes/strict",
    ("test_own_sandboxes.py", "test_sandboxes", "kill"): "sandboxes/killing",
    ("test_sudden_ends.py", "test_data_survives", "returning"): "ends/returns",
    ("test_sudden_ends.py", "test_data_survives", "raw_exit"): "ends/raw_exit_group",
    ("test_sudden_ends.py", "test_data_survives", "abort"): "ends/aborts",
    ("test_sudden_ends.py", "test_data_survives", "killed"): "ends/killed_kill",
    ("test_sudden_ends.py", "test_data_survives", "terminated"): "ends/killed_term",
    ("test_sudden_ends.py", "test_data_survives", "segv"): "ends/null_read",
    ("test_sudden_ends.py", "test_data_survives", "overflow"): "ends/stack_overflow_fatal",
    ("test_sudden_ends.py", "test_data_survives", "other_thread_exits"): "ends/exit_in_thread",
    # Under valgrind there are no signals, whichever clock is asked for
    ("test_own_sandboxes.py", "test_valgrind", "memcheck"): "tracers/memcheck",
    ("test_own_sandboxes.py", "test_valgrind", "callgrind"): "tracers/callgrind",
    ("test_own_sandboxes.py", "test_valgrind", "helgrind"): "tracers/helgrind",
    ("test_own_tracers.py", "test_strace_comes_and_goes", "strace"): "tracers/strace_attach",
    # Whether these may be recorded is decided before any clock is there
    ("test_own_children.py", "test_a_program_that_cannot_load_the_recorder", "musl"): "linking/musl_child",
    ("test_own_children.py", "test_a_program_that_cannot_load_the_recorder", "narrow"): "linking/bits_32_child",
    ("test_own_children.py", "test_a_program_that_can", "static"): "linking/static_child",
}

ELSEWHERE = {name: place for place, names in _SAME.items() for name in names.split()}

LONG = frozenset(
    "linking/debugged_linker linking/dlopen_deep_threads linking/dlopen_loop memory/limit_cpu processes/execs_often processes/fork_depth processes/forks_at_once"
    " processes/forks_beside_threads processes/forks_often processes/zombies programs/gcc programs/make programs/python_asyncio programs/python_fork programs/tar"
    " sandboxes/fakeroot signals/alternate_stack_shared signals/green_threads_prof signals/green_threads_trap signals/green_threads_vtalrm"
    " signals/single_step_calls signals/single_step_processes signals/single_step_to_end threads/openmp_nested threads/openmp_openers threads/thirty"
    " tracers/gdb_attach tracers/gdb_breakpoint tracers/gdb_detach tracers/memcheck_leaks tracers/valgrind_runs_others".split()
)
"""Cases that need most CPU time, up to three seconds each, and have shorter ones like them beside them or in tests/live."""


# case: those of the same file that differ from it in a signal only, and in none that the recorder has a use for
_NEIGHBOURS = {
    "ends/killed_hup": "ends/killed_int ends/killed_quit ends/killed_pipe ends/killed_alarm ends/killed_io ends/killed_stkflt ends/killed_xcpu",
    "signals/pause_vtalrm": "signals/pause_usr2",
    "signals/siglongjmp_vtalrm": "signals/siglongjmp_usr1",
    "signals/child_ends_vtalrm": "signals/child_ends_usr1",
}

LIKE = {name: kept for kept, names in _NEIGHBOURS.items() for name in names.split()}


def is_in_quick_part(case: Case) -> bool:
    """Whether the suite tries it, too; a thorough one tries neighbours that are alike."""
    return case.is_quick and not (case.full_name in ELSEWHERE or case.full_name in LONG or (case.full_name in LIKE and not IS_THOROUGH))
