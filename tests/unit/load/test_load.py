"""test_load -- from logs to profiles, on experiments of a few records"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from both_ways import load_both_ways, load_plain
from small_experiment import BASE, PID, S, T0, ArithmeticSymbolizer, begin, clock, close, mapping, samples, source, thread_end, write_log, write_small
from writer import frame, record, write_untruncated

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.format import CloseReason, DropCause, Kind, MapAction, MapKind, PauseCause, SampleCause, StackEnd
from collector.load import load
from collector.profile import aggregate
from collector.profile.model import Profile
from collector.profile.sample_points import sample_points
from collector.profile.samples import sample_count
from collector.reports import overview
from collector.reports.style import Style


def load_here(*paths: Path) -> Profile:
    return load_both_ways(*paths, symbolizer=ArithmeticSymbolizer())


def stacks_of(profile: Profile) -> dict[tuple[str, ...], float]:
    """Seconds by stack, from the root to the leaf; each frame as module:function:line."""
    found: dict[tuple[str, ...], float] = {}
    for sample in profile.samples.samples:
        chain = []
        for number in profile.samples.stacks[sample.stack].frames:
            frame = profile.frames[number]
            function = profile.functions[frame.function]
            line = f":{frame.line:#x}" if frame.line is not None else ""
            chain.append(f"{profile.modules[function.module].name}:{function.name}{line}")
        seconds = sum(sample.values[:2]) * profile.threads[sample.thread].scale / S
        found[tuple(chain)] = found.get(tuple(chain), 0.0) + seconds
    return {key: round(value, 9) for key, value in found.items()}


def one_log(directory: Path, *records: bytes) -> Profile:
    write_log(directory, f"{PID}.0.log", begin(), clock(), *records)
    return load_here(directory)


def test_leaves_are_exact_and_callers_are_one_before_their_return_address(tmp_path: Path) -> None:
    assert stacks_of(load_here(write_small(tmp_path / "a.expt"))) == {
        ("prog:f1:0x7", "prog:f2:0x10"): 0.002,
        ("prog:f1:0x20",): 0.001,
    }


def test_an_address_may_be_a_leaf_in_one_stack_and_a_caller_in_another(tmp_path: Path) -> None:
    stacks = [([BASE + 0x1008], 0), ([BASE + 0x2000, BASE + 0x1008], 0)]
    profile = one_log(tmp_path, mapping(), samples(stacks, [0, 1]))
    assert set(stacks_of(profile)) == {("prog:f1:0x8",), ("prog:f1:0x7", "prog:f2:0x0")}


def test_a_call_at_the_end_of_a_module_is_looked_up_in_that_module(tmp_path: Path) -> None:
    profile = one_log(
        tmp_path,
        mapping(size=0x2000),
        mapping("/lib/next.so", start=BASE + 0x2000, size=0x1000),
        samples([([BASE + 0x2100, BASE + 0x2000], 0)], [0]),
    )
    assert set(stacks_of(profile)) == {("prog:f1:0xfff", "next.so:f0:0x100")}


def test_frames_of_the_recorder_are_hidden_wherever_they_are(tmp_path: Path) -> None:
    ours = 0x900000
    stacks = [
        ([BASE + 0x2010, BASE + 0x1008, ours + 0x10], 0),
        ([ours + 0x20, BASE + 0x1008], 0),
        ([BASE + 0x2010, ours + 0x30, BASE + 0x1008], 0),
        ([ours + 0x40], 0),
    ]
    profile = one_log(
        tmp_path, mapping(), mapping("/opt/lib/libcollector.so", start=ours), samples(stacks, [0, 1, 2, 3])
    )
    assert stacks_of(profile) == {
        ("prog:f1:0x7", "prog:f2:0x10"): 0.002,
        ("prog:f1:0x7",): 0.001,
        ("(stack lost):(stack lost)",): 0.001,
    }


def test_an_address_that_changed_hands_is_looked_up_at_the_time_of_each_sample(tmp_path: Path) -> None:
    there = 0x800000
    profile = one_log(
        tmp_path,
        mapping(),
        mapping("/lib/first.so", start=there, at_ns=T0),
        mapping("/lib/first.so", start=there, at_ns=T0 + 2_500_000, action=MapAction.DELETE),
        mapping("/lib/second.so", start=there, at_ns=T0 + 2_600_000),
        samples([([there + 0x1000, BASE + 0x1008], 0)], [0, 0, 0, 0]),
    )
    assert stacks_of(profile) == {
        ("prog:f1:0x7", "first.so:f1:0x0"): 0.002,
        ("prog:f1:0x7", "second.so:f1:0x0"): 0.002,
    }


def test_dynamic_functions_bring_their_names_and_lines(tmp_path: Path) -> None:
    import struct

    code = 0x800000
    function = dict(
        map_kind=int(MapKind.DYNAMIC_FUNCTION), path="", build_id=b"", name="stub one", alias="made at start", source="stub.java",
        lines=struct.pack("<4i", 0, 7, 16, 9),
    )
    profile = one_log(
        tmp_path,
        mapping(start=code, size=64, at_ns=T0 + 2_500_000, **function),
        samples([([code + 20], 0), ([code + 16, code + 16], 0)], [0, 0, 0, 1]),
    )
    assert stacks_of(profile) == {
        ("(no module):(no module)",): 0.002,
        ("(dynamic code):stub one:0x9",): 0.001,
        ("(dynamic code):stub one:0x7", "(dynamic code):stub one:0x9"): 0.001,
    }
    stub = next(function for function in profile.functions if function.name == "stub one")
    assert (stub.alias, stub.file, stub.line) == ("made at start", "stub.java", 7)


def test_anonymous_memory_is_named_as_such(tmp_path: Path) -> None:
    there = 0x800000
    profile = one_log(
        tmp_path, mapping("", start=there, map_kind=int(MapKind.ANONYMOUS), build_id=b""), samples([([there + 1], 0)], [0])
    )
    assert set(stacks_of(profile)) == {("(anonymous code):(anonymous code)",)}
    anonymous = next(function for function in profile.functions if function.name == "(anonymous code)")
    assert anonymous.short_name == "(anonymous code)"
    assert profile.modules[anonymous.module].path == ""


def test_a_stack_that_is_not_in_the_log_is_counted_as_lost(tmp_path: Path) -> None:
    profile = one_log(tmp_path, mapping(), samples([([BASE + 0x1000], 0)], [0, 5]))
    assert stacks_of(profile) == {("prog:f1:0x0",): 0.001, ("(stack lost):(stack lost)",): 0.001}


def test_the_end_of_a_stack_is_kept(tmp_path: Path) -> None:
    stacks = [([BASE + 0x1000], int(end)) for end in StackEnd]
    profile = one_log(tmp_path, mapping(), samples(stacks, list(range(len(stacks)))))
    assert {row.cause for row in aggregate.stack_ends(profile)} == {end.name.lower() for end in StackEnd}


def test_user_and_system_time_are_told_apart(tmp_path: Path) -> None:
    profile = one_log(tmp_path, mapping(), samples([([BASE + 0x1000], 0)], [0, 0], user_us=[700, 0], system_us=[300, 2000]))
    assert aggregate.total_values(profile) == pytest.approx((0.003, 0.0007, 0.0023, 2))


def test_a_thread_id_that_is_used_again_is_another_thread(tmp_path: Path) -> None:
    stack = [([BASE + 0x1000], 0)]
    profile = one_log(
        tmp_path,
        mapping(),
        record(Kind.THR_CREATE, T0, 101, name="first"),
        samples(stack, [0], thread=101, at_ns=T0),
        thread_end(101, at_ns=T0 + 10_000_000, name="first", user_ns=1_000_000),
        record(Kind.THR_CREATE, T0 + 20_000_000, 101, name="second"),
        samples(stack, [0, 0, 0], thread=101, at_ns=T0 + 20_000_000),
        thread_end(101, at_ns=T0 + 30_000_000, name="second", user_ns=3_000_000),
    )
    rows = [(row.thread.tid, row.thread.name, row.sample_count, row.values[0]) for row in aggregate.threads(profile)]
    assert rows == [(101, "second", 3, 0.003), (101, "first", 1, 0.001)]


def test_what_a_thread_used_around_its_samples_is_spread_over_them(tmp_path: Path) -> None:
    profile = one_log(
        tmp_path, mapping(), samples([([BASE + 0x1000], 0)], [0, 0], thread=101), thread_end(101, user_ns=2_000_000, system_ns=600_000)
    )
    assert aggregate.total_values(profile)[0] == pytest.approx(0.0026)
    assert aggregate.threads(profile)[0].thread.unattributed_ns == 0


def test_time_before_recording_is_not_the_samples(tmp_path: Path) -> None:
    records = [begin(user_ns=3_000_000, system_ns=1_000_000), clock(), mapping(), samples([([BASE + 0x1000], 0)], [0, 0])]
    write_log(tmp_path, f"{PID}.0.log", *records, thread_end(user_ns=5_500_000, system_ns=500_000), close(user_ns=5_500_000, system_ns=500_000))
    profile = load_here(tmp_path)
    assert aggregate.total_values(profile)[0] == pytest.approx(0.002)
    assert profile.processes[0].unrecorded_ns == 4_000_000


def test_a_number_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    """The first process calls execve, the second is forked in the same hundredth of a second, the third runs a program at once."""
    second = record(Kind.PROCFORK, T0 + 2 * S, 0, parent_pid=1, child_pid=PID)
    for image, start_ticks, cpu_ns, *more in ((0, 100, 1_000_000), (1, 100, 3_000_000), (2, 100, 500_000, second), (3, 101, 4_000_000)):
        now_ns = T0 + image * S
        point = record(Kind.SAMPLE, now_ns + 1, PID, label="begun", cause=int(SampleCause.API), pid=PID, user_ns=cpu_ns)
        first = begin(at_ns=now_ns, image=image, start_ticks=start_ticks, pid_namespace=9, user_ns=cpu_ns)
        end = close(at_ns=now_ns + 5, user_ns=cpu_ns, reason=int(CloseReason.EXEC if image == 0 else CloseReason.EXIT))
        write_log(tmp_path / "a.expt", f"{PID}.{image}.log", first, *more, point, end)
    write_log(tmp_path / "a.expt", "launch.log", begin(), record(Kind.SAMPLE, T0 + 3 * S + 2, 0, cause=int(SampleCause.PERIODIC), pid=PID, user_ns=4_500_000))
    profile = load_here(tmp_path / "a.expt")
    assert [(process.image, process.first_image, process.unrecorded_ns) for process in profile.processes] == [
        (0, 0, 1_000_000), (1, 0, 2_000_000), (2, 2, 500_000), (3, 3, 4_000_000)
    ]
    points = [(profile.processes[point.process or 0].image, row.change.user) for point, row in zip(sorted(profile.points, key=lambda point: point.time_ns), sample_points(profile))]
    assert points == [(0, None), (1, 0.002), (2, None), (3, None), (3, 0.0005)]
    assert "in 0 threads of 3 processes (4 program images)" in overview.render(profile, None, Style(120))


def test_what_has_another_reason_is_stated_and_not_spread(tmp_path: Path) -> None:
    profile = one_log(
        tmp_path,
        mapping(),
        record(Kind.PAUSE, T0 + 5_000_000, PID, cause=int(PauseCause.API)),
        record(Kind.PAUSE, T0 + 6_000_000, PID, cause=int(PauseCause.API)),
        record(Kind.RESUME, T0 + 105_000_000, PID, cause=int(PauseCause.API)),
        samples([([BASE + 0x1000], 0)], [0, 0], thread=101),
        thread_end(101, user_ns=102_000_000),
    )
    assert aggregate.total_values(profile)[0] == pytest.approx(0.002)
    assert aggregate.threads(profile)[0].thread.unattributed_ns == 100_000_000
    assert [(pause.cause, pause.start_ns - T0, pause.end_ns - T0) for pause in profile.pauses] == [("api", 5_000_000, 105_000_000)]


def test_the_time_outside_the_window_is_paused(tmp_path: Path) -> None:
    """No event says so. Where a pause goes on into it, the two are one."""
    window = [f"start={T0 + 20_000_000}", f"end={T0 + S // 2}"]
    pause = record(Kind.PAUSE, T0 + 5_000_000, PID, cause=int(PauseCause.API)), record(Kind.RESUME, T0 + 30_000_000, PID, cause=int(PauseCause.API))
    write_log(tmp_path / "a.expt", f"{PID}.0.log", begin(options=window), clock(), *pause, close())
    profile = load_here(tmp_path / "a.expt")
    spans = [(pause.cause, pause.start_ns - T0, pause.end_ns and pause.end_ns - T0) for pause in profile.pauses]
    assert spans == [("time", 0, 30_000_000), ("time", S // 2, None)]


def test_a_process_that_is_still_recorded_is_running(tmp_path: Path) -> None:
    frames = frame(begin(pid=os.getpid()), 0)
    (tmp_path / "a.expt").mkdir()
    write_untruncated(tmp_path / "a.expt" / f"{os.getpid()}.0.log", frames, b"")
    write_untruncated(tmp_path / "a.expt" / "4000000.0.log", frames, b"")
    assert [(process.pid, process.is_running) for process in load_here(tmp_path / "a.expt").processes] == [(os.getpid(), True), (4_000_000, False)]


def test_several_experiments_are_added_up(tmp_path: Path) -> None:
    first, second = write_small(tmp_path / "a.expt"), write_small(tmp_path / "b.expt", [0])
    profile = load_here(first, second)
    assert [recording.name for recording in profile.recordings] == ["a.expt", "b.expt"]
    assert stacks_of(profile) == {("prog:f1:0x7", "prog:f2:0x10"): 0.003, ("prog:f1:0x20",): 0.001}
    assert [process.experiment for process in profile.processes] == [0, 1]
    assert len(profile.functions) == 2


def test_a_module_is_named_once_however_many_processes_had_it(tmp_path: Path) -> None:
    for pid, start in ((100, 0x500000), (200, 0x700000)):
        stack = [([start + 0x2010, start + 0x1008], 0)]
        write_log(tmp_path, f"{pid}.0.log", begin(pid), clock(), mapping(start=start), samples(stack, [0], thread=pid))
    symbolizer = ArithmeticSymbolizer()
    profile = load_plain(tmp_path, symbolizer=symbolizer)
    assert symbolizer.asked == [("/bin/prog", b"\x01\x02", {0x1007, 0x2010})]
    assert stacks_of(profile) == {("prog:f1:0x7", "prog:f2:0x10"): 0.002}


def test_an_image_that_ended_in_execve_has_no_status_of_its_own(tmp_path: Path) -> None:
    write_log(tmp_path, "100.0.log", begin(), clock(), close(reason=int(CloseReason.EXEC), user_ns=7_000_000))
    write_log(
        tmp_path, "100.1.log", begin(at_ns=T0 + 2 * S, image=1, executable="/bin/next", user_ns=9_000_000), clock(), close(at_ns=T0 + 3 * S)
    )
    write_log(
        tmp_path, "launch.log", begin(99, at_ns=T0 - S, arguments=["sh", "-c", "next"]),
        record(Kind.PROCEXIT, T0 + 4 * S, pid=100, status=256, user_ns=0, system_ns=0), close(at_ns=T0 + 5 * S, user_ns=8_000_000, system_ns=1_000_000),
    )  # fmt: skip
    profile = load_here(tmp_path)
    assert [(process.image, process.executable, process.status, process.has_execed) for process in profile.processes] == [
        (0, "/bin/prog", None, True),
        (1, "/bin/next", 256, False),
    ]
    assert profile.processes[1].unrecorded_ns == 2_000_000
    recording = profile.recordings[0]
    assert recording.command == ("sh", "-c", "next")
    assert recording.status == 256
    assert recording.accounted_ns == 9_000_000
    assert (recording.start_ns, recording.end_ns) == (T0 - S, T0 + 5 * S)


def test_sample_points_losses_and_messages_are_kept(tmp_path: Path) -> None:
    profile = one_log(
        tmp_path,
        record(Kind.SAMPLE, T0 + S, 0, label="half", cause=int(SampleCause.API), pid=PID, user_ns=5, resident_bytes=None),
        record(Kind.DROPNOTIFY, T0, 100, cause=int(DropCause.BUSY), count=2, offset=None, length=None),
        record(Kind.DROPNOTIFY, T0 + 1, 100, cause=int(DropCause.BUSY), count=5, offset=None, length=None),
        record(Kind.DROPNOTIFY, T0 + 1, 101, cause=int(DropCause.BUSY), count=1, offset=None, length=None),
        record(Kind.MESSAGE, T0, 0, severity=1, text="no clock", count=1, subject=None),
        record(Kind.MESSAGE, T0, 0, severity=1, text="no clock", count=3, subject=None),
        record(Kind.SYSEXIT, T0, 0, pid=7, status=0, path="/bin/static", reason="it is statically linked"),
    )
    assert [(point.label, point.cause, point.user_ns, point.resident_bytes) for point in profile.points] == [("half", "api", 5, None)]
    assert [(loss.cause, loss.count, loss.where) for loss in profile.losses] == [("busy", 6, "100.0.log")]
    assert [(message.text, message.count) for message in profile.messages] == [("no clock", 3)]
    assert [(one.pid, one.time_ns, one.status, one.program, one.reason) for one in profile.unrecorded] == [
        (7, T0, 0, "/bin/static", "it is statically linked")
    ]


def test_damage_costs_what_is_damaged_and_is_counted(tmp_path: Path) -> None:
    directory = write_small(tmp_path / "a.expt")
    log = directory / f"{PID}.0.log"
    data = bytearray(log.read_bytes())
    second = data.index(b"\xc1cev", data.index(b"\xc1cev") + 1)
    data[second + 14] ^= 1
    log.write_bytes(bytes(data[:-3]))
    profile = load_here(directory)
    assert aggregate.total_values(profile)[0] == pytest.approx(0.003)
    assert {loss.cause for loss in profile.losses} >= {"damage", "truncated"}


def test_a_log_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    directory = write_small(tmp_path / "a.expt")
    write_log(directory, "200.0.log", begin(200, version_major=99))
    profile = load_here(directory)
    assert len(profile.processes) == 1
    assert [(message.severity, message.subject) for message in profile.messages] == [(2, "200.0.log")]


def test_where_nothing_can_be_read_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExperimentNotFoundError):
        load_here(tmp_path / "missing.expt")
    with pytest.raises(ExperimentNotFoundError):
        load_here(tmp_path)
    write_log(tmp_path / "new.expt", "1.0.log", begin(1, version_major=99))
    with pytest.raises(ExperimentError, match="newer collector"):
        load_here(tmp_path / "new.expt")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    load(write_small(tmp_path / "a.expt"), symbolizer=ArithmeticSymbolizer(), progress=lambda *what: told.append(what))
    assert any(text == f"reading {PID}.0.log" for _, _, text in told)
    assert all(done <= total for done, total, _ in told)


def test_a_thread_without_a_sample_stands_under_its_start_function(tmp_path: Path) -> None:
    profile = one_log(
        tmp_path,
        mapping(),
        record(Kind.THR_CREATE, T0, 101, name="brief", start_address=BASE + 0x7010),
        record(Kind.THR_EXIT, T0 + S, 101, name="brief", user_ns=1_500_000, system_ns=500_000, is_exit=1),
        record(Kind.THR_CREATE, T0, 102, name="unseen", start_address=BASE + 0x7010),
        record(Kind.THR_EXIT, T0 + S, 102, name="unseen", user_ns=9_000_000, system_ns=0, is_exit=1),
    )
    assert [(row.function.name, row.inclusive) for row in aggregate.functions(profile)] == [("f7", pytest.approx((0.002, 0.0015, 0.0005, 0, 1)))]
    assert sample_count(profile.samples.cells()) == 0, "nobody took it"
    assert [(row.cause, row.sample_count) for row in aggregate.stack_ends(profile)] == [("not_sampled", 1)]
    assert [thread.unattributed_ns for thread in profile.threads] == [0, 9_000_000], "more than a few ticks are missing for another reason"


def test_time_that_a_thread_without_a_sample_still_owed_is_its_own(tmp_path: Path) -> None:
    """On a busy machine no tick comes for milliseconds: the recorder says that it knows of that time."""
    profile = one_log(
        tmp_path,
        mapping(),
        record(Kind.THR_CREATE, T0, 101, name="calm", start_address=BASE + 0x7010),
        record(Kind.THR_EXIT, T0 + S, 101, name="calm", user_ns=9_000_000, system_ns=0, is_exit=1, pending_ns=8_900_000),
    )
    assert [(row.function.name, row.inclusive[0]) for row in aggregate.functions(profile)] == [("f7", pytest.approx(0.009))]
    assert [thread.unattributed_ns for thread in profile.threads] == [0]


@pytest.mark.parametrize(("reason", "was_terminated"), [(0, False), (1, True), (2, False), (4, True)])
def test_a_log_may_be_closed_before_its_process_ends(tmp_path: Path, reason: int, was_terminated: bool) -> None:
    write_log(tmp_path / "a.expt", f"{PID}.0.log", begin(), mapping(), close(T0 + S, reason=reason))
    assert [process.was_terminated for process in load_plain(tmp_path / "a.expt").processes] == [was_terminated]


def test_a_thread_of_which_nothing_is_known_is_not_an_unfinished_stack(tmp_path: Path) -> None:
    profile = one_log(tmp_path, record(Kind.THR_CREATE, T0, PID, name="prog"), thread_end(user_ns=300_000))
    assert stacks_of(profile) == {("(not sampled):(not sampled)",): 0.0003}
    assert [row.cause for row in aggregate.stack_ends(profile)] == ["not_sampled"]


@pytest.mark.parametrize(("pending_ms", "expected_ms"), [(0, (4, 4)), (1, (4.5, 4.5)), (7, (4.5, 10.5)), (20, (11, 17))])
def test_what_waits_at_the_end_is_put_where_ticks_were_missing(tmp_path: Path, pending_ms: int, expected_ms: tuple[float, float]) -> None:
    """Six of them in front of the samples of f2, none in front of those of f1; a period at the end belongs to all samples alike."""
    stacks = [([BASE + 0x1008], 0), ([BASE + 0x2008], 0)]
    values = [[1000] * 8, [0] * 8, [0, 0, 0, 0, 0, 3000, 0, 3000]]
    end = thread_end(user_ns=(8 + pending_ms) * 1_000_000, is_exit=1, pending_ns=pending_ms * 1_000_000)
    profile = one_log(tmp_path, source(1, ["user ns", "system ns", "missing ns"]), mapping(), samples(stacks, [0] * 4 + [1] * 4, values=values), end)
    found = {row.function.name: 1000 * row.inclusive[0] for row in aggregate.functions(profile)}
    assert (found["f1"], found["f2"]) == pytest.approx(expected_ms)
    assert [metric.name for metric in profile.metrics] == ["cpu", "user", "system", "samples"]
