"""test_own_children -- programs that a recorded one runs start as ever, also those that cannot take a recorder in, and those are told"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ahead import Plan, plan, planned
from recorded import IS_THOROUGH, TARGETS, Recorded

from collector.experiment.log_reader import EventReader
from collector.format import Kind

# A descriptor of a script is no name that its interpreter could open, so scripts are run by name only.
BY_DESCRIPTOR = ("fexecve", "path_only", "memfd")
WAYS = ("execve", "exec", "bare", "execvp", "execl", "relative", "fexecve", "path_only", "memfd", "execveat", "vfork", "spawn", "spawnp", "system")

LIBRARY = "another C library"
MACHINE = "another kind of processor"
UNREACHABLE = "cannot be read where it runs"
UNWRITABLE = "cannot be written where it runs"

Child = Callable[[str], Path]


@pytest.fixture(scope="session")
def child(tmp_path_factory: pytest.TempPathFactory) -> Child:
    """child(kind) builds plain_child.c as that kind of program, or skips the test where no compiler for it is there."""
    place = tmp_path_factory.mktemp("children")
    linker = place / "linker"
    shutil.copy(os.path.realpath("/proc/self/exe"), linker)  # replaced below, where it is asked for
    commands = {
        "plain": ["gcc", "-DIS_RECORDABLE"],
        "musl": ["musl-gcc"],
        "narrow": ["gcc", "-m32"],
        "static": ["gcc", "-static", "-DIS_RECORDABLE"],
        "static_pie": ["gcc", "-static-pie", "-DIS_RECORDABLE"],
        "own_linker": ["gcc", "-DIS_RECORDABLE", f"-Wl,--dynamic-linker={linker}"],
    }
    made: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind in made:
            return made[kind]
        program = place / kind
        if kind == "musl_script":
            program.write_text(f"#!{make('musl')} argument\n")
        elif kind == "nested_script":
            program.write_text(f"#!{make('musl_script')}\n")
        elif kind == "shell_script":
            program.write_text("#!/bin/sh\necho child of the shell\nexit 5\n")
        else:
            compiler = commands[kind]
            if not shutil.which(compiler[0]):
                pytest.skip(f"{compiler[0]} is not installed")
            done = subprocess.run([*compiler, TARGETS / "plain_child.c", "-o", program], capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"{' '.join(compiler)} cannot link here: {done.stderr.strip().splitlines()[-1]}")
        program.chmod(0o755)
        if kind == "own_linker":
            shutil.copy(interpreter_of(make("plain")), linker)
        made[kind] = program
        return program

    return make


def interpreter_of(program: Path) -> str:
    text = subprocess.run(["readelf", "-l", program], capture_output=True, text=True, check=True).stdout
    return text.partition("program interpreter: ")[2].partition("]")[0]


def unrecorded(recorded: Recorded) -> dict[int, str]:
    """Why nothing was recorded in a process, as the logs of the recorded ones say."""
    logs = recorded.path.glob("[0-9]*.log")
    return {event.pid: event.reason for log in logs for event in EventReader(log) if event.kind is Kind.SYSEXIT}


def runs(recorded: Recorded, program: Path) -> bool:
    return str(program) in {process.executable for process in recorded.profile.processes}


REASONS = {"musl": LIBRARY, "musl_script": LIBRARY, "nested_script": LIBRARY, "narrow": MACHINE}


def pairs(usual: str, *others: str) -> list[tuple[str, str]]:
    """Each way with the usual kind of program and with one of the others, in turns; with all of them where all is to be tried."""
    chosen = [(way, kind) for number, way in enumerate(WAYS) for kind in ((usual, *others) if IS_THOROUGH else (usual, others[number % len(others)]))]
    return [(way, kind) for way, kind in chosen if "script" not in kind or way not in BY_DESCRIPTOR]


def run_in(compiled: Callable[..., Path], child: Child, way: str, kind: str) -> Plan:
    program = child(kind)
    return plan(compiled("runs_a_child.c"), way, program, environment={"PATH": f"{program.parent}:{os.environ['PATH']}"})


@planned(run_in)
@pytest.mark.parametrize("way, kind", pairs(*REASONS))
def test_a_program_that_cannot_load_the_recorder(unharmed_case: Callable[[], Recorded], way: str, kind: str) -> None:
    recorded = unharmed_case()
    reasons = list(unrecorded(recorded).values())
    assert len(reasons) == 1 and REASONS[kind] in reasons[0], reasons
    assert "1 process was not recorded" in recorded.outcome.stderr
    assert recorded.lost_count == 0


@planned(run_in)
@pytest.mark.parametrize("way, kind", pairs("plain", "own_linker", "static", "static_pie", "shell_script"))
def test_a_program_that_can(unharmed_case: Callable[[], Recorded], child: Child, way: str, kind: str) -> None:
    recorded = unharmed_case()
    assert unrecorded(recorded) == {}
    if kind in ("plain", "own_linker") and way != "memfd":
        assert runs(recorded, child(kind))


def test_own_preloads_stay_in_their_order(unharmed: Callable[..., Recorded], child: Child) -> None:
    """Of LD_PRELOAD only what is ours is taken out, wherever it stands."""
    script = 'LD_PRELOAD="/no/first.so${LD_PRELOAD:+:$LD_PRELOAD}:/no/second.so" exec "$0"'
    recorded = unharmed(["bash", "-c", script, child("musl")])
    assert recorded.outcome.stdout == "child, preload /no/first.so:/no/second.so\n"


def as_root() -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become somebody else")


NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_another_user(
    unharmed: Callable[..., Recorded], recorder: Path, child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_hidden: bool
) -> None:
    """The recorder lies below root's home, say; or the experiment does."""
    as_root()
    place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("/var/tmp")
    program = place / f"child-{os.getpid()}"
    shutil.copy(child("plain"), program)
    try:
        if is_hidden:
            hidden = tmp_path / "hidden"
            hidden.mkdir(mode=0o700)
            shutil.copy(recorder, hidden)
            monkeypatch.setenv("COLLECTOR_LIBRARY", str(hidden / recorder.name))
        recorded = unharmed([*NOBODY, program])
    finally:
        program.unlink()
    assert recorded.outcome.status == 5
    (reason,) = unrecorded(recorded).values()
    assert (UNREACHABLE if is_hidden else UNWRITABLE) in reason or UNREACHABLE in reason
    assert reason in recorded.outcome.stderr


def new_root(tmp_path: Path, program: Path) -> Path:
    """A directory that holds all that the program needs to run in it."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    files = {word for line in text.splitlines() for word in line.split() if word.startswith("/")}
    for path in (*files, str(program)):
        copy = tmp_path / "root" / (path.lstrip("/") if path != str(program) else "child")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return tmp_path / "root"


def test_another_root(unharmed: Callable[..., Recorded], child: Child, tmp_path: Path) -> None:
    as_root()
    recorded = unharmed(["chroot", new_root(tmp_path, child("plain")), "/child"])
    assert recorded.outcome.status == 5
    assert [UNREACHABLE in reason for reason in unrecorded(recorded).values()] == [True]


def test_another_namespace(unharmed: Callable[..., Recorded], child: Child) -> None:
    """The same files are there: it is recorded like any other."""
    enter = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system makes no namespaces for us")
    recorded = unharmed([*enter, child("plain")])
    assert unrecorded(recorded) == {}
    assert runs(recorded, child("plain"))


def test_a_sandbox(unharmed: Callable[..., Recorded], child: Child) -> None:
    program = child("plain")
    enter = ["bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", program, "/child"]
    if not shutil.which("bwrap") or subprocess.run([*enter, "/child"], capture_output=True).returncode != 5:
        pytest.skip("bwrap is not installed, or may not do its work here")
    recorded = unharmed([*enter, "/child"])
    assert [UNREACHABLE in reason for reason in unrecorded(recorded).values()] == [True]


@pytest.mark.parametrize("follow", ["off", "=^nothing$"])
def test_who_is_not_followed_does_no_harm_either(unharmed: Callable[..., Recorded], child: Child, follow: str) -> None:
    """The shell's children are not recorded, and theirs must start even so."""
    unharmed(["bash", "-c", 'bash -c "\\"$0\\"; exit 3" "$0"; echo $?', child("musl")], options=["-F", follow])


@pytest.mark.parametrize("clock", ["sigtrap", "cpu-timer"])
def test_nothing_that_it_runs_is_recorded_once_it_has_ended_its_experiment(record: Callable[..., Recorded], compiled: Callable[..., Path], clock: str) -> None:
    recorded = record([compiled("terminated_family.c")], clock=clock)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    ways = dict(line.split() for line in recorded.outcome.stdout.splitlines())
    assert ways == {"before": "recorded"} | dict.fromkeys(("shell", "spawned", "forked", "replaced"), "free")
    pids = {process.pid for process in recorded.profile.processes}
    assert 2 <= len(pids) <= 3, pids  # itself, and from before the shell and the program in it, which may be one process
