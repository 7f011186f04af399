"""test_launch -- a program is started as by a shell, and signals and stops go through as if nobody stood between

The launcher under test is a process of its own (LAUNCHER below), so that signals can be sent to it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector.capture.launch import StartError, restore_signals, start, wait

LAUNCHER = """
import os, sys
from collector.capture.launch import start, wait, restore_signals
from collector.cli.main import end_by_signal
child = start(sys.argv[1], sys.argv[1:], lambda pid: os.environ)
ending = wait(child, None, lambda: None, lambda: None)
restore_signals(child)
sys.exit(end_by_signal(ending.exit_status))
"""

COUNTER = r"""
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t last;
static void note(int number) { last = number; }
int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int number = 1; number < 32; number++)
        if (number != SIGTERM && number != SIGTSTP)
            sigaction(number, &action, NULL);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        last = 0;
        sigsuspend(&old);
        printf("%d\n", (int)last);
        fflush(stdout);
    }
}
"""


@pytest.fixture
def launch() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """launch(*command) starts the launcher with a program; what is left is killed."""
    started = []

    def run(*command: str, prepare: Callable[[], None] = lambda: None, **options: object) -> subprocess.Popen[str]:
        def begin() -> None:
            # A group of its own, as a shell gives to a job. Not a session: nothing can be stopped in one without a shell.
            os.setpgid(0, 0)
            prepare()

        process = subprocess.Popen(  # type: ignore[call-overload]
            [sys.executable, "-c", LAUNCHER, *command], stdout=subprocess.PIPE, text=True, preexec_fn=begin, **options
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.fixture
def counter(launch: Callable[..., subprocess.Popen[str]], compile_c: Callable[..., Path]) -> tuple[subprocess.Popen[str], int]:
    """The launcher with a program that prints the number of each signal it gets, and that program's pid."""
    process = launch(str(compile_c(COUNTER)))
    ready = process.stdout.readline().split()
    assert ready[0] == "ready"
    return process, int(ready[1])


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(pid: int, wanted: str) -> None:
    deadline = time.monotonic() + 20
    while state_of(pid) not in wanted:
        assert time.monotonic() < deadline, f"process {pid} is {state_of(pid)}, not {wanted}"
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("kill -SEGV $$", -11)],
)
def test_exit_status(launch: Callable[..., subprocess.Popen[str]], script: str, status: int) -> None:
    assert launch("/bin/sh", "-c", f"ulimit -c 0; {script}").wait() == status


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE])
def test_a_signal_sent_to_us_reaches_the_program(counter: tuple[subprocess.Popen[str], int], number: signal.Signals) -> None:
    process, _ = counter
    process.send_signal(number)
    assert process.stdout.readline() == f"{int(number)}\n"


def test_termination_ends_both(counter: tuple[subprocess.Popen[str], int]) -> None:
    process, _ = counter
    process.terminate()
    assert process.wait() == -signal.SIGTERM


TO_THE_GROUP = """
import os, signal, sys, time
from collections import Counter
numbers = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD})
got = Counter()
for number in numbers:
    signal.signal(number, lambda number, frame: got.update([number]))
for number in numbers:
    if sys.argv[1] == "child":
        if os.fork() == 0:
            os.kill(0, number)
            os._exit(0)  # nobody waits for it, so that the launcher sees whose child it was
    else:
        os.kill(0, number)
time.sleep(0.2)
print([number for number in numbers if got[number] != 1])
"""


@pytest.mark.parametrize("sender", ["program", "child"])
def test_signals_of_the_program_to_its_group_arrive_once(launch: Callable[..., subprocess.Popen[str]], sender: str) -> None:
    """We are in that group: they neither end us nor are passed on."""
    process = launch(sys.executable, "-c", TO_THE_GROUP, sender)
    assert (process.stdout.read(), process.wait()) == ("[]\n", 0)


def test_signals_of_the_terminal_arrive_once(launch: Callable[..., subprocess.Popen[str]], compile_c: Callable[..., Path]) -> None:
    """Both are in the terminal's foreground group: what it sends has reached the program without us."""
    master, slave = os.openpty()
    program = str(compile_c(COUNTER))
    take_terminal = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    process = subprocess.Popen(
        [sys.executable, "-c", take_terminal, "-c", LAUNCHER, program],
        stdin=slave, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready")
        for key, number in (b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"\x03", signal.SIGINT):
            os.write(master, key)
            assert process.stdout.readline() == f"{int(number)}\n"
        # Had the launcher passed any of them on as well, it would stand before this one.
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == f"{int(signal.SIGUSR1)}\n"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        os.close(master)
        os.close(slave)


def test_the_terminals_stop_stops_both_and_the_shells_continue_goes_on(counter: tuple[subprocess.Popen[str], int]) -> None:
    process, pid = counter
    os.kill(pid, signal.SIGTSTP)
    wait_for_state(pid, "T")
    wait_for_state(process.pid, "T")
    os.killpg(process.pid, signal.SIGCONT)
    assert process.stdout.readline() == f"{int(signal.SIGCONT)}\n"
    wait_for_state(process.pid, "S")
    process.terminate()
    assert process.wait() == -signal.SIGTERM


def test_a_stop_sent_to_us_stops_both(counter: tuple[subprocess.Popen[str], int]) -> None:
    process, pid = counter
    process.send_signal(signal.SIGTSTP)
    wait_for_state(pid, "T")
    wait_for_state(process.pid, "T")
    process.send_signal(signal.SIGCONT)
    assert process.stdout.readline() == f"{int(signal.SIGCONT)}\n"


def test_sigstop_for_the_program_is_for_the_program_alone(counter: tuple[subprocess.Popen[str], int]) -> None:
    process, pid = counter
    os.kill(pid, signal.SIGSTOP)
    wait_for_state(pid, "T")
    wait_for_state(process.pid, "S")
    os.kill(pid, signal.SIGCONT)
    assert process.stdout.readline() == f"{int(signal.SIGCONT)}\n"


def test_dispositions_and_mask_are_those_we_were_given(launch: Callable[..., subprocess.Popen[str]]) -> None:
    """What the program inherits with us in between is what it inherits without us."""

    def prepare() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})

    show = ["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    expected = subprocess.run(show, preexec_fn=prepare, stdout=subprocess.PIPE, text=True).stdout
    process = launch(*show, prepare=prepare)
    assert process.stdout.read() == expected
    assert process.wait() == 0


def test_descriptors_are_those_we_were_given(launch: Callable[..., subprocess.Popen[str]]) -> None:
    process = launch("/bin/ls", "/proc/self/fd", stdin=subprocess.DEVNULL)
    assert process.stdout.read().split() == ["0", "1", "2", "3"]  # 3 is the directory that ls reads


def test_what_cannot_be_executed() -> None:
    with pytest.raises(StartError, match="Permission denied"):
        start("/etc/passwd", ["passwd"], lambda pid: {})
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_arguments_and_environment_arrive(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    child = start("/usr/bin/env", ["env", "sh", "-c", 'echo "$0 $1 $PID $$"', "a b", "ü\udcff"], lambda pid: {"PID": str(pid), "PATH": "/bin"})
    wait(child, None, lambda: None, lambda: None)
    restore_signals(child)
    assert capfdbinary.readouterr().out == b"a b \xc3\xbc\xff %d %d\n" % (child.pid, child.pid)


def test_intervals_and_end_are_told() -> None:
    ticks: list[float] = []
    ends: list[str] = []
    begin = time.monotonic()
    child = start("/bin/sleep", ["sleep", "0.35"], lambda pid: {})
    ending = wait(child, 50_000_000, lambda: ticks.append(time.monotonic()), lambda: ends.append(state_of(child.pid)))
    restore_signals(child)
    assert 1 <= len(ticks) <= (time.monotonic() - begin) / 0.05  # beside others a program may take longer to start and to end
    assert ends == ["Z"]
    assert (ending.pid, ending.exit_status) == (child.pid, 0)


PREPARED = """
import os, sys, time
from collector.capture.launch import start, wait, restore_signals
from collector.cli.main import end_by_signal
def prepare(pid):
    print(pid, os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(sys.executable), flush=True)
    if sys.argv[1] == "fail":
        os._exit(3)
child = start("/bin/sh", ["sh", "-c", "echo $$ runs"], lambda pid: os.environ, prepare)
wait(child, None, lambda: None, lambda: None)
restore_signals(child)
"""


def test_the_program_waits_until_all_is_prepared() -> None:
    done = subprocess.run([sys.executable, "-c", PREPARED, "well"], stdout=subprocess.PIPE, text=True, timeout=60)
    pid = done.stdout.split()[0]
    assert done.stdout == f"{pid} True\n{pid} runs\n"


def test_no_program_runs_whose_launcher_has_died() -> None:
    with subprocess.Popen([sys.executable, "-c", PREPARED, "fail"], stdout=subprocess.PIPE, text=True) as process:
        output = process.communicate(timeout=60)[0]  # until the child has ended as well
    assert process.returncode == 3 and output.endswith(" True\n")


GROUP_SIGNALS = """
import os, signal
from collector.capture.launch import start, wait, restore_signals
from collector.cli.main import end_by_signal
ordinary = {signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGVTALRM, signal.SIGRTMAX}
child = start("/bin/true", ["true"], lambda pid: os.environ)
wait(child, None, lambda: None, lambda: [os.kill(0, number) for number in (*ordinary, signal.SIGRTMAX)])
restore_signals(child)
print("goes on")
"""


def test_what_a_program_sends_its_group_as_it_ends_ends_nobody_else() -> None:
    done = subprocess.run([sys.executable, "-c", GROUP_SIGNALS], capture_output=True, text=True, timeout=60, start_new_session=True)
    assert (done.returncode, done.stdout) == (0, "goes on\n")


@pytest.mark.parametrize("ignored", ["", "PIPE", "XFSZ", "PIPE XFSZ"])
def test_what_a_shell_ignores_stays_ignored(ignored: str) -> None:
    """Python ignores both of these itself: what was before is seen in the shell that started it."""
    trap = f"trap '' {ignored}; " if ignored else ""
    script = f"{trap}'{sys.executable}' -c \"$0\" /bin/grep SigIgn: /proc/self/status; exit $?"
    done = subprocess.run(["/bin/sh", "-c", script, LAUNCHER], capture_output=True, text=True, check=True)
    bits = sum(1 << (getattr(signal, f"SIG{name}") - 1) for name in ignored.split())
    assert int(done.stdout.split()[1], 16) == bits | ignored_by_parents()


def test_what_another_parent_ignores_is_its_own(launch: Callable[..., subprocess.Popen[str]]) -> None:
    """This Python ignores SIGPIPE, and has its children not do so."""
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
    assert int(launch("/bin/grep", "SigIgn:", "/proc/self/status").communicate()[0].split()[1], 16) == ignored_by_parents()


def ignored_by_parents() -> int:
    """What whoever started the tests has them ignore, as nohup and a shell's `&` do: SIGPIPE and SIGXFSZ are Python's own."""
    others = signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}
    return sum(1 << (number - 1) for number in others if signal.getsignal(number) is signal.SIG_IGN)


def test_a_limit_on_descriptors_leaves_all_as_it_was() -> None:
    script = """
import os, resource, signal
from collector.capture.launch import StartError, start
resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0) + 3, 64))  # one pipe, and half of another
before = os.listdir("/proc/self/fd")
try:
    start("/bin/true", ["true"], lambda pid: os.environ, lambda pid: None)
except StartError as error:
    print(error, os.listdir("/proc/self/fd") == before, signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("Too many open files True set()\n", "")
