"""test_perf_script -- the text of perf script, in the forms that it has"""

from __future__ import annotations

import pytest
from imported import import_text

from collector.errors import ForeignProfileError
from collector.importing.perf_script import is_perf_script
from collector.importing.reading import read_profile

_FULL = """\
# ========
# captured on    : Mon Nov 23 04:44:33 2026
# hostname : box
# os release : 6.18.0
# arch : x86_64
# nrcpus online : 2
# cmdline : /usr/bin/perf record -g ./prog 'a b'
#
perf-exec 100/100 10.000000: PERF_RECORD_COMM: perf-exec:100/100
prog 100/100 10.000000:    2000000 cpu-clock:ppp:\x20
\t            11df inner+0x3f
  prog.h:3 (inlined)
\t            11df leaf(int, char (*)(int))+0x3f (/opt/prog dir/prog)
  prog.c:5
\t            1230 main+0x20 (/opt/prog dir/prog)
  prog.c:8 (discriminator 2)
\t           2724a __libc_start_call_main+0x7a (/usr/lib/libc.so.6)
  libc.so.6[2724a]

prog 100/101 10.500000:    2000000 cpu-clock:ppp:\x20
\tffffffff8168fe53 schedule+0x1 ([kernel.kallsyms])
  [kernel.kallsyms][ffffffff8168fe53]
\t            1254 work+0x14 (/opt/prog dir/prog)
  prog.c:7

Web Content 100/101 11.000000:    2000000 cpu-clock:ppp:\x20
\t            1254 work+0x14 (/opt/prog dir/prog)
  prog.c:7

other 200/200 12.000000:    2000000 cpu-clock:ppp:\x20
\t    7f0011223344 [unknown] (/tmp/gone.so (deleted))

prog 100/100 12.500000:          3 page-faults:\x20
\t            1230 main+0x20 (/opt/prog dir/prog)
  prog.c:8

"""


def test_everything_that_the_text_says_is_in_the_experiment(tmp_path):
    found = import_text(tmp_path, _FULL)
    assert found.stacks() == {
        ("__libc_start_call_main", "main:8", "leaf(int, char (*)(int)):5", "+inner:3"): (2_000_000, 0),
        ("work:7", "schedule"): (0, 2_000_000),
        ("work:7",): (2_000_000, 0),
        ("[unknown]",): (2_000_000, 0),
    }
    profile = found.profile
    assert {(profile.processes[thread.process].pid, thread.tid, thread.name) for thread in profile.threads} == {
        (100, 100, "prog"), (100, 101, "prog"), (100, 101, "Web Content"), (200, 200, "other")
    }  # fmt: skip
    assert [process.executable for process in profile.processes] == ["prog", "other"]
    assert {(module.name, module.path) for module in profile.modules} == {
        ("prog", "/opt/prog dir/prog"), ("libc.so.6", "/usr/lib/libc.so.6"), ("[kernel.kallsyms]",) * 2, ("gone.so (deleted)", "/tmp/gone.so (deleted)")
    }  # fmt: skip
    assert {(function.name, function.file) for function in profile.functions if function.file} == {
        ("inner", "prog.h"), ("leaf(int, char (*)(int))", "prog.c"), ("main", "prog.c"), ("work", "prog.c")
    }  # fmt: skip
    assert {function.short_name for function in profile.functions} >= {"leaf(...)", "inner"}
    (recording,) = profile.recordings
    assert (recording.host, recording.kernel, recording.machine, recording.cpu_count) == ("box", "6.18.0", "x86_64", 2)
    assert recording.command == ("/usr/bin/perf", "record", "-g", "./prog", "a b") and recording.has_times
    assert recording.end_ns - recording.start_ns == 2_000_000_000
    assert [process.clock.period_ns for process in profile.processes if process.clock] == [2_000_000] * 2


def test_addresses_are_those_of_the_text(tmp_path):
    profile = import_text(tmp_path, _FULL).profile
    addresses = {(profile.functions[frame.function].name, frame.address, frame.kind) for frame in profile.frames}
    assert ("inner", 0x11DF, "inlined") in addresses and ("main", 0x1230, "native") in addresses
    assert ("schedule", 0xFFFFFFFF8168FE53, "native") in addresses and ("[unknown]", 0x7F0011223344, "native") in addresses


def test_a_line_of_another_file_does_not_make_another_function(tmp_path):
    text = "".join(f"p 1/1 1.00000{n}: 1 cpu-clock: \n\t 10{n} f+0x{n} (/p)\n  {file}\n\n" for n, file in enumerate(("a.c:1", "b.h:2", "a.c:3"), 1))
    profile = import_text(tmp_path, text).profile
    assert [(function.name, function.file) for function in profile.functions] == [("f", "a.c")]
    assert {(frame.file, frame.line) for frame in profile.frames} == {("a.c", 1), ("b.h", 2), ("a.c", 3)}


def test_samples_without_callers_stand_in_one_line(tmp_path):
    text = (
        "            prog  2497 46882.998506:          1 cpu-clock:  ffffffff817554ea elf_load+0x28a ([kernel.kallsyms])\n"
        "            prog  2498 46882.998575:          1 cpu-clock:      7fdc86a57b70 operator new(unsigned long)+0x0 (/usr/lib/ld.so)\n"
    )
    found = import_text(tmp_path, text)
    assert found.stacks() == {("elf_load",): (0, 1), ("operator new(unsigned long)",): (1, 0)}
    assert "so all threads are shown in one" in found.messages() and len(found.profile.processes) == 1
    with_lines = "".join(line + "\n  x.c:7\n" for line in text.splitlines())
    assert import_text(tmp_path, with_lines, name="lined").stacks() == {("elf_load:7",): (0, 1), ("operator new(unsigned long):7",): (1, 0)}


def test_the_form_is_known_behind_any_number_of_other_lines(tmp_path):
    maps = "".join(f"p 1/1 0.00000{n % 10}: PERF_RECORD_MMAP2 1/1: [0x{n:x}000(0x1000) @ 0 00:00 0 0]: r-xp /lib/{n}.so\n" for n in range(2_000))
    assert import_text(tmp_path, maps + _FULL).stacks() == import_text(tmp_path, _FULL, name="bare").stacks()


def test_samples_are_whole_wherever_the_file_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("collector.importing.source_file._CHUNK_BYTES", 512)
    monkeypatch.setattr("collector.importing.source_file.HEAD_BYTES", 700)
    single = "".join(f"     prog  2497 46.99{n:04}: 1 cpu-clock:  11{n:02} f+0x2 (/p)\n  x.c:{n + 1}\n" for n in range(99))
    assert import_text(tmp_path, single).stacks() == {(f"f:{n + 1}",): (1, 0) for n in range(99)}
    assert len(import_text(tmp_path, _FULL * 20, name="stacks").profile.samples.samples) == 80


def test_of_several_events_one_is_chosen(tmp_path):
    faults = import_text(tmp_path, _FULL, "--event", "page-faults")
    assert faults.stacks() == {("main:8",): (3_000_000, 0)}
    assert "What is shown as time counts page-faults events: 1 s stands for 1,000 of them." in faults.messages()
    assert "Samples of cpu-clock:ppp are shown; --event chooses page-faults (1 sample)." in import_text(tmp_path, _FULL).messages()
    with pytest.raises(ForeignProfileError, match="has no samples of an event 'cycles', but of cpu-clock:ppp or page-faults"):
        read_profile(str(tmp_path / "profile"), None, "cycles", None)


@pytest.mark.parametrize(
    ("event", "unit", "unit_ns"), [("cycles:uH", "cycles", 1), ("sched:sched_switch", "sched:sched_switch events", 1_000_000), ("task-clock:u", "ns", 1), ("cpu/mem-loads/", "cpu/mem-loads", 1)]
)
def test_values_have_the_unit_of_their_event(tmp_path, event, unit, unit_ns):
    (tmp_path / "p").write_text(f"p 1 1.000000: 7 {event}: \n\t 100 f+0x1 (/p)\n\n")
    value = read_profile(str(tmp_path / "p"), None, None, None).value
    assert (value.unit, value.unit_ns, value.is_time) == (unit, unit_ns, unit == "ns")


def test_a_tracepoint_has_words_between_it_and_its_stack(tmp_path):
    found = import_text(tmp_path, "p 1/1 1.000000: 1 sched:sched_switch: prev_comm=p prev_pid=1 ==> next_comm=q\n\t 100 f+0x1 (/p)\n\n")
    assert found.stacks() == {("f",): (1_000_000, 0)}


def test_without_times_all_is_at_the_beginning(tmp_path):
    found = import_text(tmp_path, "a 1/1 5 cpu-clock: \n\t 100 f+0x1 (/p)\n\nb 1/1 6 cpu-clock: \n\t 100 f+0x1 (/p)\n\n", "--format", "perf")
    assert found.stacks() == {("f",): (11, 0)} and not found.profile.recordings[0].has_times


def test_times_that_fall_are_put_in_order(tmp_path):
    text = "".join(f"p 1/1 {10 - n}.000000: 1 cpu-clock: \n\t 10{n} f+0x{n} (/p)\n\n" for n in range(5))
    found = import_text(tmp_path, text)
    assert found.total_ns == 5 and found.profile.recordings[0].end_ns == 10_000_000_000


def test_strange_lines_are_counted(tmp_path):
    text = _FULL.replace("Web Content 100/101", "[some debug output\nWeb Content 100/101")
    found = import_text(tmp_path, text)
    assert "1 line made no sense as text of perf script" in found.messages()
    assert sum(map(sum, found.stacks().values())) == 8_000_000


def test_a_sample_without_a_stack_keeps_its_weight(tmp_path):
    found = import_text(tmp_path, "p 1/1 1.000000: 5 cpu-clock: \n\np 1/1 2.000000: 6 cpu-clock: \n\t 100 f+0x1 (/p)\n\n")
    assert found.total_ns == 11 and found.stacks()["(stack lost)",] == (5, 0)


def test_other_text_is_not_taken_for_it():
    assert not is_perf_script(b"main;work 12\n") and not is_perf_script(b"12:34:56 error: it failed\n") and not is_perf_script(b"")
