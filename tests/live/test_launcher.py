"""test_launcher -- `collector record` with the real recorder: every option, every sentence, every exit status"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import ROOT, Outcome, clean_environment, collector_command, execute, judge
from terminal import Terminal

from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import is_untruncated
from collector.format import Kind, SampleCause

BURN = 'i=0; while [ "$i" -lt "$0" ]; do i=$((i+1)); done'
SPIN_S = "import sys, time; end = time.process_time() + float(sys.argv[1])\nwhile time.process_time() < end: pass"


@pytest.fixture(autouse=True)
def work_in(recorder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: object, environment: dict[str, str] | None = None, directory: Path | None = None) -> Outcome:
    return execute(collector_command("record", *words), environment, directory)


def sentences(outcome: Outcome) -> list[str]:
    return [line.removeprefix("collector: ") for line in outcome.stderr.splitlines() if line.startswith("collector: ")]


def events(path: Path | str, *kinds: Kind) -> list:  # type: ignore[type-arg]
    return [event for event in EventReader(path) if event.kind in kinds]


def logs(experiment: str = "a.expt") -> list[Path]:
    return sorted(path for path in Path(experiment).glob("*.log") if path.name[0].isdigit())


def sample_count(experiment: str = "a.expt") -> int:
    return sum(1 for log in logs(experiment) for _ in events(log, Kind.PCSAMPLE))


def cpu_clock(log: Path):  # type: ignore[no-untyped-def]
    (clock,) = (event for event in events(log, Kind.PMCALLOCATE) if event.name == "cpu")
    return clock


def programs(experiment: str = "a.expt") -> set[str]:
    return {os.path.basename(event.executable) for log in logs(experiment) for event in events(log, Kind.INITIALIZE)}


def need_linking_with(flag: str) -> None:
    """Skip the test where the compiler has no library for this flag."""
    probe = subprocess.run(["gcc", "-x", "c", "-", flag, "-o", os.devnull], input="int main(void) { return 0; }", text=True, capture_output=True)
    if probe.returncode:
        pytest.skip(f"gcc {flag} cannot link here: {probe.stderr.strip().splitlines()[-1]}")


# --- names and the closing line ----------------------------------------------------------


def test_the_line_says_where_how_many_and_what_was_lost() -> None:
    outcome = run("sh", "-c", BURN, 200000)
    assert outcome.status == 0
    (line,) = sentences(outcome)
    count = f"{sample_count('sh.1.expt'):,}"
    assert re.fullmatch(rf"sh.1.expt: {count} samples of 0\.\d\d\d s CPU time in 1 process, clock [a-z-]+ at \d+ Hz( .*)?, nothing lost", line)


def test_default_names_are_never_overwritten() -> None:
    assert run("true").status == run("true").status == 0
    assert Path("true.1.expt").is_dir() and Path("true.2.expt").is_dir()


def test_a_taken_name_is_kept_and_nothing_is_run() -> None:
    run("-o", "a.expt", "true")
    before = sorted(os.listdir("a.expt"))
    outcome = run("-o", "a.expt", "touch", "ran")
    assert outcome.status == 1
    assert sentences(outcome) == ["a.expt is there already; choose another name, or overwrite it with -O a.expt"]
    assert sorted(os.listdir("a.expt")) == before and not Path("ran").exists()


def test_overwrite() -> None:
    run("-o", "a.expt", "true")
    first = logs()
    assert run("-O", "a.expt", "true").status == 0
    assert logs() and logs() != first


def test_overwrite_spares_what_is_being_written() -> None:
    first = subprocess.Popen(
        collector_command("record", "-o", "a.expt", "cat"), env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert first.stdin is not None and first.stdout is not None
    first.stdin.write(b"begun\n")
    first.stdin.flush()
    assert first.stdout.readline() == b"begun\n"
    outcome = run("-O", "a.expt", "touch", "ran")
    assert outcome.status == 2 and "a.expt is being written by process" in outcome.stderr and not Path("ran").exists()
    first.communicate()
    assert first.returncode == 0 and run("-O", "a.expt", "true").status == 0


def test_overwrite_spares_what_is_no_experiment() -> None:
    Path("work").mkdir()
    Path("work/thesis.txt").write_text("mine")
    outcome = run("-O", "work", "touch", "ran")
    assert outcome.status == 2 and Path("work/thesis.txt").exists() and not Path("ran").exists()


def test_options_behind_the_program_are_the_programs() -> None:
    outcome = run("-o", "a.expt", "--", "echo", "-o", "b.expt", "--", "-h")
    assert (outcome.stdout, outcome.status) == ("-o b.expt -- -h\n", 0)
    assert Path("a.expt").is_dir() and not Path("b.expt").exists()


# --- exit status and what cannot be recorded ---------------------------------------------


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("kill -SEGV $$", -11), ("exit 139", 139)])
def test_the_status_is_the_programs(script: str, status: int) -> None:
    assert run("-o", "a.expt", "sh", "-c", script).status == status


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [("./nosuch", 127, "there is no such file"), ("no-such-program", 127, "no such program in PATH"), ("", 127, "'': there is no such program in PATH"), ("/", 126, "is a directory"), ("/etc/passwd", 126, "is not executable")],
)
def test_what_cannot_be_run(program: str, status: int, words: str) -> None:
    outcome = run("-o", "a.expt", program)
    assert outcome.status == status
    assert len(sentences(outcome)) == 1 and words in sentences(outcome)[0]
    assert not Path("a.expt").exists()


def test_what_the_kernel_cannot_run_leaves_no_experiment() -> None:
    Path("garbage").write_bytes(b"\x00\x01\x02\x03" * 100)
    os.chmod("garbage", 0o755)
    outcome = run("-o", "a.expt", "./garbage")
    assert outcome.status == 126
    assert sentences(outcome) == ["./garbage: Exec format error"]
    assert not Path("a.expt").exists()


@pytest.fixture
def static_program(compiled: Callable[..., Path]) -> Path:
    need_linking_with("-static")
    return compiled("split_cpu.c", "-O1", "-static")


def test_static(static_program: Path) -> None:
    outcome = run("-o", "a.expt", static_program, 1)
    assert outcome.status == 1 and outcome.stdout == ""
    assert sentences(outcome) == [
        f"{static_program} is statically linked, so that no recorder can be preloaded into it: nothing was run;"
        " to record the descendants it may have, say so with -F on"
    ]
    assert not Path("a.expt").exists()


def test_static_program_run_for_its_descendants_which_it_has_not(static_program: Path) -> None:
    outcome = run("-o", "a.expt", "-F", "on", static_program, 1)
    assert outcome.stdout != "" and outcome.status == 1
    assert sentences(outcome)[0].endswith("only its descendants can be recorded")
    assert sentences(outcome)[1:] == [f"nothing was recorded: {static_program}: it is statically linked, so that no recorder can be preloaded into it"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program of another user")
def test_setuid(compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(compiled("split_cpu.c"), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    outcome = run("-o", "a.expt", program, 1)
    assert outcome.status == 1 and outcome.stdout == ""
    assert "runs with the rights of another user (setuid)" in sentences(outcome)[0]


def test_foreign(tmp_path: Path) -> None:
    if not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("aarch64-linux-gnu-gcc is not installed")
    subprocess.run(["aarch64-linux-gnu-gcc", "-x", "c", "-", "-o", tmp_path / "program"], input=b"int main(void) { return 0; }", check=True)
    outcome = run("-o", "a.expt", tmp_path / "program")
    assert outcome.status == 1
    assert "is built for another kind of processor (aarch64) than the recorder (x86_64): nothing was run" in sentences(outcome)[0]


def test_script_is_recorded_as_its_interpreter() -> None:
    Path("script").write_text("#!/bin/sh\necho out; exit 3\n")
    os.chmod("script", 0o755)
    outcome = run("-o", "a.expt", "./script")
    assert (outcome.stdout, outcome.status) == ("out\n", 3)
    assert len(logs()) == 1


def test_text_without_interpreter_runs_in_a_shell() -> None:
    Path("script").write_text('echo "$0" "$1"\n')
    os.chmod("script", 0o755)
    assert run("-o", "a.expt", "./script", "x").stdout == "./script x\n"


def test_unwritable_place() -> None:
    outcome = run("-o", "/sys/a.expt", "touch", "ran")
    assert outcome.status == 1 and not Path("ran").exists()
    assert "/sys/a.expt cannot be made: " in sentences(outcome)[0]


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """A file system with no room left."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system to fill")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"this system does not let us mount: {mounted.stderr.strip()}")
    with open(place / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            pass
    yield place  # type: ignore[misc]
    subprocess.run(["umount", "-l", place], check=True)


def test_full_disk(full_disk: Path) -> None:
    outcome = run("-o", full_disk / "a.expt", "touch", "ran")
    assert outcome.status == 1 and not Path("ran").exists()
    assert sentences(outcome) == [f"{full_disk}/a.expt cannot be written: no space left on device; nothing was run"]
    assert not (full_disk / "a.expt").exists()


def test_a_limit_of_file_sizes_is_no_full_disk() -> None:
    command = collector_command("record", "-o", "a.expt", "touch", "ran")
    outcome = execute(["/bin/sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *command], {"PYTHONDONTWRITEBYTECODE": "1"})
    assert outcome.status == 1 and not Path("ran").exists()
    assert sentences(outcome)[0].endswith("a.expt cannot be written: the size of its files is limited (ulimit -f); nothing was run")


def test_never_sampled_keeps_the_status() -> None:
    outcome = run("-o", "a.expt", "-p", "10000m", "sh", "-c", "exit 5")
    assert outcome.status == 5
    assert sentences(outcome)[0].startswith("a.expt: 0 samples of ")
    assert sentences(outcome)[1].startswith("no sample was taken: ") and sentences(outcome)[1].endswith("(see -p)")


def test_a_program_that_was_never_entered() -> None:
    """env -i takes the recorder away before the shell begins: with -F off only env itself is recorded."""
    outcome = run("-o", "a.expt", "-F", "off", "env", "-i", "/bin/sh", "-c", "exit 4")
    assert outcome.status == 4


def test_killed_program_is_recovered() -> None:
    outcome = run("-o", "a.expt", "-F", "off", sys.executable, "-c", SPIN_S + "\nimport os; os.kill(os.getpid(), 9)", 0.4)
    assert outcome.status == -signal.SIGKILL
    assert not list(Path("a.expt").glob("*.open"))
    assert sentences(outcome)[0].endswith(", killed by signal 9 (SIGKILL), no losses known")
    assert f"a.expt: {sample_count():,} samples" in sentences(outcome)[0]
    judge(sample_count() >= 50, f"{sample_count()} samples")


# --- what is recorded --------------------------------------------------------------------


def test_the_launch_log_tells_the_command_and_its_end() -> None:
    run("-o", "a.expt", "-C", "first", "-C", "second é", "-p", "2m", "sh", "-c", "exit 3")
    (begin,) = events("a.expt/launch.log", Kind.INITIALIZE)
    assert begin.arguments == ("sh", "-c", "exit 3")
    assert os.path.basename(begin.executable) == "sh"
    assert {"period=2000000 ns", "comment=first", "comment=second é", "follow=on"} <= set(begin.options)
    (end,) = events("a.expt/launch.log", Kind.PROCEXIT)
    assert os.waitstatus_to_exitcode(end.status) == 3
    assert logs()[0].name == f"{end.pid}.0.log"
    assert events("a.expt/launch.log", Kind.CLOSELOG)


def test_arguments_that_no_frame_holds() -> None:
    words = ["a" * 100_000] * 15
    outcome = run("-o", "a.expt", "sh", "-c", "echo $#", "sh", *words)
    assert (outcome.status, outcome.stdout) == (0, "15\n")
    for log in (Path("a.expt/launch.log"), *logs()):
        (begin,) = events(log, Kind.INITIALIZE)
        assert begin.arguments[-2:] == (words[0], "...") and 4 < len(begin.arguments) < 18


def test_what_a_shell_ran_before_is_not_the_commands() -> None:
    """A shell that replaces itself by its last command leaves it the account of all its children."""
    record = " ".join(map(str, collector_command("record", "-o", "a.expt", "true")))
    command = f"{sys.executable} -c '{SPIN_S}' 0.3; exec {record}"
    assert execute(["sh", "-c", command]).status == 0
    (close,) = events("a.expt/launch.log", Kind.CLOSELOG)
    assert close.user_ns + close.system_ns < 0.2e9


@pytest.mark.parametrize(("word", "period_ns"), [("on", 1_062_699), ("hi", 100_271), ("500u", 500_000), ("3", 3_000_000)])
def test_period(word: str, period_ns: int) -> None:
    run("-o", "a.expt", "-p", word, "true")
    assert cpu_clock(logs()[0]).period_ns == period_ns


def test_profile_off() -> None:
    outcome = run("-o", "a.expt", "-p", "off", "sh", "-c", BURN, 100000)
    assert sentences(outcome) == ["a.expt: recorded without a clock in 1 process, nothing lost"]
    assert sample_count() == 0


@pytest.mark.parametrize("clock", ["sigtrap", "task-clock", "cpu-timer"])
def test_chosen_clock(clock: str, rung_works: Callable[[str], None]) -> None:
    rung_works(clock)
    run("-o", "a.expt", "--clock", clock, "true")
    assert cpu_clock(logs()[0]).clock == clock


def test_periodic_samples_of_a_process_that_sleeps() -> None:
    outcome = run("-o", "a.expt", "-S", "0.05", "sleep", "0.5")
    assert outcome.status == 0
    samples = events("a.expt/launch.log", Kind.SAMPLE)
    span_ns = samples[-1].time - samples[0].time  # longer on a busy machine than it sleeps
    assert 3 <= len(samples) <= span_ns / 50e6 + 2
    assert {sample.cause for sample in samples} == {SampleCause.PERIODIC}
    assert {f"{sample.pid}.0.log" for sample in samples} == {log.name for log in logs()}
    assert all(sample.minor_faults for sample in samples)
    assert all(sample.resident_bytes for sample in samples[:-1]), "at the last one it may have given its memory back"


def test_periodic_samples_follow_the_cpu_time_of_each_process() -> None:
    run("-o", "a.expt", "-S", "0.05", "sh", "-c", f"{sys.executable} -c '{SPIN_S}' 0.3 & {sys.executable} -c '{SPIN_S}' 0.3; wait")
    by_process: dict[int, list[int]] = {}
    for sample in events("a.expt/launch.log", Kind.SAMPLE):
        by_process.setdefault(sample.pid, []).append(sample.user_ns + sample.system_ns)
    assert len(by_process) == 3
    assert all(readings == sorted(readings) for readings in by_process.values())
    assert sum(readings[-1] > 0.1e9 for readings in by_process.values()) == 2


def test_no_periodic_samples() -> None:
    run("-o", "a.expt", "-S", "off", "sleep", "0.1")
    assert not events("a.expt/launch.log", Kind.SAMPLE)


def test_a_signal_takes_samples_and_the_program_does_not_see_it() -> None:
    outcome = run("-o", "a.expt", "-S", "off", "-l", "USR1", "sh", "-c", "kill -USR1 $$; kill -USR1 $$; echo alive")
    assert (outcome.stdout, outcome.status) == ("alive\n", 0)
    taken = [event for log in logs() for event in events(log, Kind.SAMPLE) if event.cause == SampleCause.SIGNAL]
    assert len(taken) == 2


def test_a_signal_pauses_and_resumes() -> None:
    """Paused at first; two signals, with work before, between and behind them: only the middle part has samples."""
    burn = BURN.replace('"$0"', "200000")
    run("-o", "a.expt", "-F", "off", "-y", "USR2", "sh", "-c", f"{burn}; kill -USR2 $$; {burn}; kill -USR2 $$; {burn}")
    (log,) = logs()
    (resumed,) = events(log, Kind.RESUME)
    paused = [event.time for event in events(log, Kind.PAUSE)]
    assert len(paused) == 2 and paused[0] < resumed.time < paused[1]
    times = [event.time for event in events(log, Kind.PCSAMPLE)]
    assert len(times) >= 10
    assert resumed.time <= min(times) and max(times) <= paused[1]


def test_a_signal_pauses_what_begins_recording() -> None:
    burn = BURN.replace('"$0"', "200000")
    run("-o", "a.expt", "-F", "off", "-y", "USR2,r", "sh", "-c", f"{burn}; kill -USR2 $$; {burn}")
    (log,) = logs()
    (paused,) = events(log, Kind.PAUSE)
    times = [event.time for event in events(log, Kind.PCSAMPLE)]
    assert len(times) >= 10 and max(times) <= paused.time


def test_window() -> None:
    """Of a program that computes for 0.6 s, 0.2 to 0.4 s after its start is recorded: 200 samples of its own processor, 5 of one that it shares with forty."""
    run("-o", "a.expt", "-F", "off", "-t", "0.2-0.4", sys.executable, "-c", SPIN_S, 0.6)
    (log,) = logs()
    start_ns = events("a.expt/launch.log", Kind.INITIALIZE)[0].time
    times = [(event.time - start_ns) / 1e9 for event in events(log, Kind.PCSAMPLE)]
    judge(len(times) >= 5, f"{len(times)} samples in the window")
    # The window is counted from the moment before execve, which is behind the launcher's own first event.
    assert 0.2 <= min(times) and max(times) - min(times) <= 0.2


def test_duration_ends_the_recording_and_not_the_program() -> None:
    outcome = run("-o", "a.expt", "-F", "off", "-t", "0.1", sys.executable, "-c", SPIN_S + "\nprint('done')", 0.4)
    assert (outcome.stdout, outcome.status) == ("done\n", 0)
    times = [event.time for log in logs() for event in events(log, Kind.PCSAMPLE)]
    judge(bool(times), "no sample in the window")
    assert max(times) - min(times) <= 0.1e9


# --- descendants -------------------------------------------------------------------------

FAMILY = "cat /dev/null; head -c1 /dev/zero >out; cat /dev/null"


@pytest.mark.parametrize(
    ("follow", "expected"), [("on", {"sh", "cat", "head"}), ("off", {"sh"}), ("=^cat$", {"sh", "cat"}), ("=nothing", {"sh"})]
)
def test_follow(follow: str, expected: set[str]) -> None:
    shell = os.path.basename(os.path.realpath(shutil.which("sh") or "sh"))
    outcome = run("-o", "a.expt", "-F", follow, "sh", "-c", FAMILY)
    assert outcome.status == 0
    # Between fork and exec a child is still the shell; its image counts as the shell's.
    assert programs() - {shell} == expected - {"sh"}
    assert any(name in programs() for name in (shell, "sh"))


def test_a_descendant_that_lives_on_is_told_and_not_waited_for() -> None:
    begun = time.monotonic()
    # The shell stays until the recorder has begun in the child's new program.
    script = (
        "sleep 30 </dev/null >/dev/null 2>&1 & pid=$!;"
        ' until [ "$(cat /proc/$pid/comm)" = sleep ] && ls a.expt/$pid.*.log >/dev/null 2>&1; do :; done; echo $pid'
    )
    outcome = run("-o", "a.expt", "sh", "-c", script)
    assert time.monotonic() - begun < 20
    pid = int(outcome.stdout)
    try:
        assert sentences(outcome)[-1] == f"1 process is still running and being recorded (pid {pid})"
        assert any(is_untruncated(str(log)) for log in Path("a.expt").glob(f"{pid}.*.log"))
    finally:
        os.kill(pid, signal.SIGKILL)


def test_own_preloads_are_kept(compiled: Callable[..., Path]) -> None:
    library = compiled("preloaded_answer.c", "-shared", "-fPIC", name="answer.so")
    outcome = run("-o", "a.expt", "sh", "-c", 'echo "$LD_PRELOAD"', environment={"LD_PRELOAD": str(library)})
    assert outcome.stdout.strip().split(":")[-1] == str(library)


def test_a_recorder_whose_path_has_blanks(recorder: Path, tmp_path: Path) -> None:
    (tmp_path / "my programs: new").mkdir()
    copied = shutil.copy(recorder, tmp_path / "my programs: new")
    outcome = run("-o", "a b.expt", "true", environment={"COLLECTOR_LIBRARY": str(copied), "TMPDIR": str(tmp_path)})
    assert (outcome.status, len(logs("a b.expt"))) == (0, 1)
    assert not list(tmp_path.glob("collector-*"))


# --- around it ---------------------------------------------------------------------------


def test_standard_input_and_output_are_the_programs() -> None:
    done = subprocess.run(
        collector_command("record", "-o", "a.expt", "cat"), input=b"\x00\xff\n" * 1000, capture_output=True, env=clean_environment()
    )
    assert (done.stdout, done.returncode) == (b"\x00\xff\n" * 1000, 0)


def test_dry_run_does_nothing() -> None:
    outcome = run("-n", "-o", "a.expt", "touch", "ran")
    assert outcome.status == 0
    assert "experiment    a.expt" in outcome.stdout and "would run     touch ran" in outcome.stdout
    assert os.listdir(".") == []


def test_a_dry_run_obeys_no_name() -> None:
    outcome = run("-n", "-o", "a.expt", "touch", "\x1b[2J\n")
    assert outcome.status == 0
    assert "would run     touch \\x1b[2J\\n\n" in outcome.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-p", "often", "true"], "-p takes"),
        (["-S", "never", "true"], "-S takes"),
        (["-l", "KILL", "true"], "-l: no program can catch SIGKILL"),
        (["-l", "USR1", "-y", "USR1", "true"], "-l and -y name the same signal"),
        (["-t", "5-1", "true"], "-t 5-1: it ends before it starts"),
        (["-F", "maybe", "true"], "-F takes"),
        (["-o", "a.expt", "-O", "b.expt", "true"], "-o and -O both name the experiment"),
        (["-o", "", "true"], "the name of the experiment is empty"),
        (["-O", "", "true"], "the name of the experiment is empty"),
        (["--"], "there is no program to record"),
        (["--nosuch", "true"], "unrecognized arguments: --nosuch"),
        (["--clock", "sundial", "true"], "argument --clock: invalid choice: 'sundial'"),
    ],
)
def test_a_command_line_that_makes_no_sense(words: list[str], sentence: str) -> None:
    outcome = run(*words)
    assert outcome.status == 2
    assert len(sentences(outcome)) == 1 and sentences(outcome)[0].startswith(sentence)
    assert os.listdir(".") == []


def test_long_names() -> None:
    outcome = run(
        "--output", "a.expt", "--profile", "on", "--sample", "off", "--sample-signal", "USR1", "--pause-signal", "USR2,r",
        "--time", "1m", "--follow", "off", "--comment", "x", "--clock", "auto", "true",
    )
    assert outcome.status == 0 and logs()


def test_library_without_launcher_and_without_experiment_does_nothing(recorder: Path) -> None:
    outcome = execute(["sh", "-c", "exit 3"], {"LD_PRELOAD": str(recorder)})
    assert (outcome.status, outcome.stdout, outcome.stderr) == (3, "", "")
    assert os.listdir(".") == []


def test_library_without_launcher(recorder: Path) -> None:
    outcome = execute(["sh", "-c", BURN, "100000"], {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": "a.expt"})
    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, "", "")
    assert sample_count() > 10


def test_address_sanitizer_accepts_us(compiled: Callable[..., Path]) -> None:
    need_linking_with("-fsanitize=address")
    program = compiled("split_cpu.c", "-O1", "-fsanitize=address")
    outcome = run("-o", "a.expt", "sh", "-c", f"{program} 30; exit $?")
    assert outcome.status == 0 and outcome.own_stderr == ""
    assert len(logs()) >= 2


def test_closed_standard_error_is_not_replaced_by_output() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *collector_command("record", "-o", "a.expt", "echo", "hello")],
        capture_output=True, env=clean_environment(), text=True,
    )
    assert (done.stdout, done.returncode) == ("hello\n", 0)
    assert logs()


def test_an_experiment_that_the_program_deletes() -> None:
    outcome = run("-o", "a.expt", "-F", "off", "sh", "-c", "while [ -e a.expt ]; do rm -rf a.expt; done")  # others write into it meanwhile
    assert outcome.status == 1
    assert len(sentences(outcome)) == 1 and sentences(outcome)[0].startswith("a.expt: ")


BROKEN = "import sys; from {module} import {name} as broken; broken.{method} = lambda *_: {{}}['lost']; from collector.cli.main import main; sys.exit(main())"
"""Runs `collector` with a method that fails as nobody expects."""


@pytest.mark.parametrize(
    ("module", "name", "method", "consequence"),
    [
        ("collector.capture.event_holder", "EventHolder", "start", "some of what goes on beside the program is not recorded"),
        ("collector.cli.recording.unrecorded", "UnrecordedDescendants", "look", "periodic samples are missing"),
        ("collector.cli.recording.node_metrics", "NodeMetrics", "finish", "what went on beside the program is not recorded whole"),
        ("collector.cli.recording.unrecorded", "UnrecordedDescendants", "finish", "a.expt: recorded, but not looked through; reports show what there is"),
    ],
)
def test_an_error_of_our_own_leaves_the_program_its_status(module: str, name: str, method: str, consequence: str) -> None:
    script = BROKEN.format(module=module, name=name, method=method)
    words = ["record", "-S", "0.05", "-o", "a.expt", "sh", "-c", "sleep 0.2; echo whole; exit 7"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, env=clean_environment({"PYTHONPATH": str(ROOT)}))
    assert (done.returncode, done.stdout) == (7, "whole\n")
    told = [line for line in done.stderr.splitlines() if "an error of collector itself" in line]
    assert [f"collector: {consequence}: an error of collector itself, KeyError in <string>:1: 'lost'"] == [line for line in told if consequence in line]
    assert "Traceback" not in done.stderr and len(told) == len(set(told))
    (end,) = events("a.expt/launch.log", Kind.PROCEXIT)
    assert end.status == 7 << 8


def test_run_records_and_reports() -> None:
    outcome = execute(collector_command("run", "-o", "a.expt", "-C", "a comment", "sh", "-c", f"{BURN}; echo out; exit 3", 200000))
    assert outcome.status == 3
    assert outcome.stdout.startswith("out\n")
    assert "a.expt" in outcome.stdout and f"{sample_count():,} in 1 thread" in outcome.stdout
    assert sentences(outcome)[0].startswith("a.expt: ")


def test_run_of_nothing_reports_nothing() -> None:
    outcome = execute(collector_command("run", "-o", "a.expt", "./nosuch"))
    assert (outcome.status, outcome.stdout) == (127, "")


def test_an_interrupt_ends_a_shells_loop() -> None:
    """A shell on a terminal leaves the loop if ^C killed the command, and goes on if that only exited, whatever with."""
    record = " ".join(map(str, collector_command("record", "sh", "-c", "'echo round $0; exec sleep 60'")))
    terminal = Terminal(["bash", "-c", f"for i in 1 2; do {record} $i; done; echo not reached"], clean_environment())
    try:
        terminal.await_text("round 1")
        terminal.type("\x03")
        assert terminal.await_end() == -signal.SIGINT
    finally:
        terminal.close()
    assert "round 2" not in terminal.seen and "not reached" not in terminal.seen


def test_a_killed_program_leaves_one_core_at_most() -> None:
    """The launcher, which is killed by the same signal, has no core file that could replace the program's."""
    script = "import resource, sys; hard = resource.getrlimit(resource.RLIMIT_CORE)[1]; resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)); from collector.capture.last_signal import die_by; die_by(6)"
    died = subprocess.run([sys.executable, "-c", script], env=clean_environment({"PYTHONPATH": str(ROOT)}), stderr=subprocess.PIPE)
    assert died.returncode == -signal.SIGABRT and not list(Path().iterdir())


def test_in_a_directory_that_was_removed() -> None:
    """Programs run there, and so are they recorded, where the experiment has a place."""
    record, report = (" ".join(map(str, collector_command(name))) for name in ("record", "report"))
    place = Path("a.expt").absolute()
    script = f"mkdir gone; cd gone; rmdir ../gone; {record} -o {place} echo recorded; {report} none.expt; {record} echo not run"
    outcome = execute(["sh", "-c", script], {"PYTHONPATH": str(ROOT)})
    assert (outcome.status, outcome.stdout) == (1, "recorded\n") and logs()
    assert "Traceback" not in outcome.stderr and "collector: no such file or directory\n" in outcome.stderr
    assert sentences(outcome)[-1] == "echo.1.expt cannot be made: the working directory was removed; give an absolute path with -o"


UNFORKED = """
import os, sys
from collector.cli.main import main
def refuse(): raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = refuse
sys.exit(main())
"""


def test_too_many_processes() -> None:
    words = ["record", "-o", "a.expt", "echo", "not run"]
    done = subprocess.run([sys.executable, "-c", UNFORKED, *words], capture_output=True, text=True, env=clean_environment({"PYTHONPATH": str(ROOT)}))
    assert (done.returncode, done.stdout, done.stderr) == (126, "", "collector: echo: Resource temporarily unavailable\n")
    assert not Path("a.expt").exists()
