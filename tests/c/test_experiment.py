"""test_experiment -- what the recorder writes, read back by an independent decoder"""

from __future__ import annotations

import functools
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import compiled
import experiment_decode as decode
import pytest
from compiled import FLAGS, SANITIZED, THREAD_SANITIZED, WARNINGS, find_compiler

from collector import format as fmt
from collector.experiment.merge import events
from collector.experiment.samples import PcSample

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "libcollector_c" / "src"
PARTS = "crc32 directory event event_fields log_windows log_writer msgpack open_frame open_records open_slots record sample_rows sparse_file stack_table"
WRITER = [*(SOURCE / "experiment" / f"{name}.c" for name in PARTS.split()), *(SOURCE / "base" / name for name in ("os.c", "own_io.c", "clock.c", "text_format.c", "safe_read.c", "remote_memory.c"))]
PCSAMPLE = int(fmt.Kind.PCSAMPLE)
SAYINGS = 5000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 1500
"""Of each thread that appends beside others."""


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory):
    """build(name, flags) compiles tests/c/NAME.c with the writer, once for each set of flags."""
    compiler = find_compiler()

    def compile_all(name: str, flags: list[str] = SANITIZED) -> Path:
        return compiled.program(tmp_path_factory.getbasetemp(), compiled.HERE / f"{name}.c", WRITER, *flags, compiler=compiler, more=(*WARNINGS, f"-DSAYINGS={SAYINGS}"))

    return compile_all


def run(program: Path, *arguments: str | Path, prefix: tuple[str, ...] = ()) -> str:
    # Threads that are meant to be killed have no time to free anything.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([*prefix, str(program), *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120)
    if "ThreadSanitizer: unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not run with this kernel's address layout")
    assert done.returncode == 0, done.stderr
    return done.stdout


def the_log_path(directory: Path) -> Path:
    (log,) = directory.glob("*.log")
    return log


def the_log(directory: Path) -> bytes:
    return decode.read_log(the_log_path(directory))[0]


def in_order(data: bytes) -> list[decode.Frame]:
    """All frames, whose numbers must have no gap."""
    found = list(decode.frames(data))
    assert [frame.sequence for frame in found] == list(range(len(found)))
    return found


def test_every_kind_has_its_fields(build, tmp_path: Path) -> None:
    run(build("experiment_kinds"), tmp_path / "a.expt")
    found = in_order(the_log(tmp_path / "a.expt"))
    assert list((tmp_path / "a.expt").iterdir()) == list((tmp_path / "a.expt").glob("*.log"))
    written = [record for frame in found for record in frame.records]
    NOT_ITS_OWN[fmt.Kind.CLOSELOG, "frame_count"] = len(found) - 1
    assert {record[0] for record in written} == set(map(int, fmt.Kind))
    assert written[0][0] == fmt.Kind.INITIALIZE and written[-1][0] == fmt.Kind.CLOSELOG
    assert all(record[1:3] == [record[0] << 40, record[0] + 70000] for record in written)
    for kind, fields in fmt.FIELDS.items():
        if kind is fmt.Kind.PCSAMPLE:
            continue
        own = [NOT_ITS_OWN.get((kind, name), VALUES[type_name](kind * 1000 + i)) for i, (name, type_name, _) in enumerate(fields)]
        while own[-1] is None:  # what is nil at the end is left out
            own.pop()
        whole, *others = [record[3:] for record in written if record[0] == kind]
        assert whole == own, kind
        if kind is fmt.Kind.METRIC:
            assert others == [[*own[:2], [37002, None, -0.125, 0.1]]]
        elif kind is not fmt.Kind.CLOSELOG:
            version = own[:2] if kind is fmt.Kind.INITIALIZE else []
            assert others == [version, [*version, *[None] * (len(own) - len(version) - 1), own[-1]]], kind


DATA_BYTES = 2000
VALUES: dict[str, Callable[[int], object]] = {
    "uint": int,
    "int": lambda number: -number,
    "str": str,
    "bin": lambda number: str(number).encode().ljust(DATA_BYTES, b"\0"),
    "array of str": lambda number: [str(number), "", "a\udcff\x01"],
    "uint or float or array": int,
}
# What the writer knows itself, and what it does not write.
NOT_ITS_OWN = {
    (fmt.Kind.INITIALIZE, "version_major"): fmt.VERSION_MAJOR,
    (fmt.Kind.INITIALIZE, "version_minor"): fmt.VERSION_MINOR,
    (fmt.Kind.MAPPINGCHANGE, "definition"): None,
    (fmt.Kind.MAPPINGCHANGE, "caller"): None,
    (fmt.Kind.CLOSELOG, "sample_count"): 3,
}


def test_worked_example_of_the_page(build, tmp_path: Path) -> None:
    run(build("experiment_kinds"), tmp_path / "a.expt")
    (record,) = (record for frame in in_order(the_log(tmp_path / "a.expt")) for record in frame.records if record[0] == PCSAMPLE)
    _, _, _, source, count, unit_ns, times, (user, system), stacks, stack_count, definitions = record
    assert (source, count, unit_ns, stack_count) == (5000, 3, 1000, 2)
    assert definitions == bytes.fromhex("00 02 81818210 811F  08 01 43")
    assert times == [0, bytes.fromhex("0000 eb03 e803")]
    assert user == [1000, bytes.fromhex("00000000 2c010000 b8820100")]
    assert system == [7, b""]
    assert stacks == [0, b"\0\1\0"]
    page = (ROOT / "docs" / "format.md").read_text()
    for part in ("00 02", "81 81 82 10", "81 1F", "08 01", "43"):
        assert part in page


def said(frames: list[decode.Frame]) -> Counter[tuple[int, int, int]]:
    """How often (kind, thread, number) was written, having checked what must follow from them."""
    return Counter((record[0], record[2], record[1]) for frame in frames for record in frame.records)


@pytest.mark.parametrize("flags", [SANITIZED, THREAD_SANITIZED], ids=["address", "thread"])
def test_threads_and_handlers_append_side_by_side(build, tmp_path: Path, flags: list[str]) -> None:
    interruptions = list(map(int, run(build("experiment_log", flags), "threads", tmp_path / "a.expt").split()))
    frames = in_order(the_log(tmp_path / "a.expt"))
    expected = Counter({(kind, thread, i): 1 for kind in (14, 38) for thread in range(1, 9) for i in range(SAYINGS)})
    expected.update({(kind, 101 + i, k): 1 for i, count in enumerate(interruptions) for kind in (14, 38) for k in range(count)})
    assert sum(interruptions) > 0
    assert said(frames[:-1]) == expected
    assert all(len(record[3]) == (record[1] * 7919 + record[2]) % 300 for frame in frames for record in frame.records if record[0] == 14)
    latest: dict[int, int] = {}
    for frame in frames[:-1]:
        (record,) = frame.records
        assert record[1] >= latest.get(record[2], 0)
        latest[record[2]] = record[1]
    assert frames[-1].records[0][5] == len(frames) - 1


def test_long_log_keeps_one_window(build, tmp_path: Path) -> None:
    mapped = int(run(build("experiment_log"), "windows", tmp_path / "a.expt"))
    assert mapped == 2  # of the log, and of its open frames
    frames = in_order(the_log(tmp_path / "a.expt"))
    assert said(frames[:-2]) == Counter({(kind, thread, i): 1 for kind in (14, 38) for thread in range(1, 5) for i in range(300)})
    assert frames[-1].offset > 50_000_000


def test_program_owns_its_descriptors_and_directory(build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(build("experiment_log"), "descriptors", "a.expt").startswith(f"{tmp_path}/a.expt/")
    assert len(in_order(the_log(tmp_path / "a.expt"))) == 201
    assert not decode.is_untruncated(the_log_path(tmp_path / "a.expt"))


def test_forks_write_their_own_logs(build, tmp_path: Path) -> None:
    run(build("experiment_log"), "forks", tmp_path / "a.expt")
    logs = sorted((tmp_path / "a.expt").glob("*.log"))
    threads = [[record[2] for frame in in_order(log.read_bytes()) for record in frame.records] for log in logs]
    assert sorted(threads) == [[1, 1, 0], [2, 0], [2, 0], [3, 0]]
    assert sorted(log.name.split(".")[1] for log in logs) == ["0", "0", "0", "1"]


def test_a_log_is_mapped_before_it_has_a_length(build, tmp_path: Path) -> None:
    """Or, for a moment, it looks like that of a killed process, which the launcher cuts."""
    run(build("experiment_log"), "mapped_first", tmp_path / "a.expt")
    assert not list((tmp_path / "a.expt").glob("*.log"))


def test_file_size_limit_ends_the_log_not_the_program(build, tmp_path: Path) -> None:
    count = int(run(build("experiment_log"), "limit", tmp_path / "a.expt"))
    frames = in_order(the_log(tmp_path / "a.expt"))
    assert count == ((300_000 // 65536 - 1) * 65536 - 8192) // 5032  # whole slots, one of them for open frames, and the room of the last records
    assert [frame.records[0][1] for frame in frames[:count]] == list(range(count))


def test_batch_gathers_one_threads_records(build, tmp_path: Path) -> None:
    run(build("experiment_log"), "batch", tmp_path / "a.expt")
    frames = in_order(the_log(tmp_path / "a.expt"))
    records = [record for frame in frames for record in frame.records]
    assert [record[1] for record in records if record[0] == fmt.Kind.MAPPINGCHANGE and record[2] == 1] == list(range(3000))
    assert [record[2] for record in records].count(2) == [record[2] for record in records].count(3) == 1
    assert len(frames) < 10


def full_disk(program: Path, case: str, tmp_path: Path, *, layer: bool = False) -> tuple[list[int], Path]:
    """Runs a case on a disk of 400 KB, in a mount namespace of its own; returns what it printed and the experiment."""
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("no unshare to mount a small disk with")
    small, result = tmp_path / "small", tmp_path / "result"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=400k none '{small}'"
    if layer:
        mount += f" && mkdir -p '{small}/up' '{small}/work' '{tmp_path}/low' '{tmp_path}/over' && mount -t overlay -o upperdir='{small}/up',workdir='{small}/work',lowerdir='{tmp_path}/low' none '{tmp_path}/over'"
    where = tmp_path / "over" if layer else small
    script = f"({mount}) 2>'{tmp_path}/why' || exit 77; '{program}' {case} '{where}/a.expt' || exit 1; cp -r '{where}/a.expt' '{result}'"
    command = [unshare, "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}, timeout=60)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no right to mount a small disk: " + (tmp_path / "why").read_text() if done.returncode == 77 else done.stderr)
    assert done.returncode == 0, done.stderr
    return list(map(int, done.stdout.split())), result


@pytest.mark.parametrize("case", ["full", "full_old_kernel"])
def test_full_disk_refuses_and_goes_on(build, tmp_path: Path, case: str) -> None:
    (count,), result = full_disk(build("experiment_log"), case, tmp_path)
    frames = in_order(the_log(result))
    assert 20 < count < 100
    assert [frame.records[0][1] for frame in frames[:-1]] == list(range(count + 20))


@pytest.mark.parametrize("layer", [False, True], ids=["tmpfs", "overlay"])
def test_full_disk_keeps_the_samples_it_took(build, tmp_path: Path, layer: bool) -> None:
    refused, result = full_disk(build("experiment_open"), "full", tmp_path, layer=layer)
    in_order(the_log(result))
    found = decode.all_samples(result)
    assert [sample.user for sample in found if sample.thread == 1] == [i for i in range(1, 2001) if i not in set(refused)]
    assert [sample.user for sample in found if sample.thread == 2] == [1]  # in its slot, which was kept
    assert [sample.user for sample in found if sample.thread == 3] == [1]
    assert decode.is_untruncated(the_log_path(result))


@functools.cache
def stack_like(thread: int, depth: int, shift: int) -> tuple[int, ...]:
    return tuple(0x1000 * (thread + 1) + i * 16 + (shift if i > 20 else 0) for i in range(depth))


@pytest.mark.parametrize(("system", "megabytes"), [("ext4", 16), ("btrfs", 130), ("xfs", 320)])
def test_full_disk_that_writes_back(build, tmp_path: Path, system: str, megabytes: int) -> None:
    """On btrfs a page that was written back wants new room at the next store: without care that is SIGBUS."""
    make, unshare = shutil.which(f"mkfs.{system}", path=os.environ["PATH"] + ":/sbin:/usr/sbin"), shutil.which("unshare")
    if not make or not unshare or os.geteuid() != 0:
        pytest.skip(f"no mkfs.{system}" if not make else "only root can mount a disk")
    image, mounted, result = tmp_path / "image", tmp_path / "mounted", tmp_path / "result"
    mounted.mkdir()
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    subprocess.run([make, "-q", str(image)], check=True, capture_output=True)
    program = build("experiment_open", ["-O2"])
    script = f"mount -o loop '{image}' '{mounted}' || exit 77; '{program}' writeback '{mounted}/a.expt' || exit $?; cp -r '{mounted}/a.expt' '{result}'"
    done = subprocess.run([unshare, "-m", "sh", "-c", script], capture_output=True, text=True, timeout=60)
    if done.returncode == 77:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    found = decode.all_samples(result)
    assert len(found) == int(done.stdout) > 500
    assert all(sample.stack == expected_stack(1, sample.user) for sample in found)


def test_log_that_somebody_cuts(build, tmp_path: Path) -> None:
    """The pages behind its end are gone, and a store to them would be SIGBUS: nothing more is recorded."""
    run(build("experiment_open", ["-O2"]), "cut", tmp_path / "a.expt")


def test_file_that_took_the_logs_name_is_left_alone(build, tmp_path: Path) -> None:
    """A log is cut to its length by its name when it is closed."""
    run(build("experiment_open", ["-O2"]), "replaced", tmp_path / "a.expt")


def expected_stack(thread: int, number: int) -> tuple[int, ...]:
    return stack_like(thread, number % 37 + 1, number // 3 % 5)


def check_samples(found: list[decode.Sample], thread: int) -> int:
    """The samples of a thread must be 1, 2, 3 ... with all that follows from it. Returns how many there are."""
    mine = [sample for sample in found if sample.thread == thread]
    assert [sample.user for sample in mine] == list(range(1, len(mine) + 1))
    for sample in mine:
        assert sample == (thread, sample.user * 10_000_000, sample.user, thread, expected_stack(thread, sample.user), 0)
    return len(mine)


@pytest.mark.parametrize("flags", [SANITIZED, THREAD_SANITIZED], ids=["address", "thread"])
def test_samples_of_threads(build, tmp_path: Path, flags: list[str]) -> None:
    run(build("experiment_open", flags), "threads", tmp_path / "a.expt")
    in_order(the_log(tmp_path / "a.expt"))
    found = decode.all_samples(tmp_path / "a.expt")
    assert [check_samples(found, thread) for thread in range(1, 7)] == [7000] * 6
    assert not decode.is_untruncated(the_log_path(tmp_path / "a.expt"))


def test_killed_at_any_instant_nothing_is_lost(build, tmp_path: Path) -> None:
    """What add has returned from is there, however busy the process was when SIGKILL came; mostly soon, when little has to be read back."""
    program = build("experiment_open", ["-O2"])
    chance = random.Random(20051)
    rescued = 0
    for round_number in range(100):
        directory = tmp_path / str(round_number) / "a.expt"
        directory.parent.mkdir()
        instant = {**os.environ, "KILLED_AFTER_NS": str(chance.randrange(1, 3_000_000 if round_number % 4 == 0 else 500_000))}
        assert subprocess.run([program, "kill", directory], env=instant).returncode == -signal.SIGKILL
        progress = struct.unpack_from("<5I", (directory.parent / "a.expt.progress").read_bytes())
        found = decode.all_samples(directory)
        for thread in range(1, 5):
            assert progress[thread] <= check_samples(found, thread) <= progress[thread] + 1
        rescued += sum(map(len, decode.open_samples(decode.read_log(the_log_path(directory))[1]).values()))
        shutil.rmtree(directory.parent)
    assert rescued > 0


def test_slots_are_used_again_and_in_several_windows(build, tmp_path: Path) -> None:
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([build("experiment_open"), "slots", tmp_path / "a.expt"], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    found = decode.all_samples(tmp_path / "a.expt")
    assert sorted(sample.thread for sample in found) == [*range(1, 501), *range(1000, 1200)]
    assert all(sample.stack == expected_stack(sample.thread, sample.user) for sample in found)


def test_sources_with_any_number_of_values(build, tmp_path: Path) -> None:
    """A value of more than 32 bits makes several samples, as long ones do."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([build("experiment_open"), "values", tmp_path / "a.expt"], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    found = [event for event in events(tmp_path / "a.expt") if isinstance(event, PcSample)]
    own = {source: [event for event in found if event.source == source] for source in range(4)}
    assert [len(own[source]) for source in range(3)] == [3, 3, 3] and len(own[3]) == 3 * 3
    assert [event.figures for event in own[1]] == [{"blocked": 100_000}] * 3
    assert [event.figures for event in own[2]] == [{"blocked": 200_000, "minor_faults": 201, "user": 202_000}] * 3
    assert {event.block.declared.counted_as for event in own[3]} == {"looks"}
    sums = {name: sum(event.figures[name] for event in own[3]) for name in ("blocked", "minor_faults", "h", "q")}
    assert sums == {"blocked": 900_000, "minor_faults": 903, "h": 930, "q": 3 * (319 + 2**33) * 1000}
    assert all(event.stack.addresses in ((0x1000,), (0x1001,)) for event in found)


def test_stacks_of_any_shape(build, tmp_path: Path) -> None:
    text = run(build("experiment_open"), "stacks", tmp_path / "a.expt")
    expected = [(int(number), int(end), tuple(int(address, 16) for address in stack)) for number, end, *stack in map(str.split, text.splitlines())]
    found = decode.all_samples(tmp_path / "a.expt")
    assert len(found) == len(expected) > 3000
    for sample, (number, end, stack) in zip(found, expected):
        assert sample.user == number
        assert (sample.stack, sample.end) == ((stack, end) if len(stack) <= 4096 else (stack[-4096:], fmt.StackEnd.DEPTH_LIMIT))


def test_weights_and_times_of_any_size(build, tmp_path: Path) -> None:
    run(build("experiment_open"), "times", tmp_path / "a.expt")
    found = decode.all_samples(tmp_path / "a.expt")
    day_ns, hour_us = 24 * 3600 * 10**9, 3600 * 10**6
    assert sum(sample.user for sample in found) == 3 + 30 * hour_us
    assert sum(sample.system for sample in found) == 6 + 2 * hour_us
    assert sorted({sample.time_ns // 1000 for sample in found}) == [day_ns // 1000, day_ns // 1000 + 1, 3 * day_ns // 1000, 9 * day_ns // 1000]


def test_frames_of_a_forks_parent_are_left_alone(build, tmp_path: Path) -> None:
    run(build("experiment_open"), "forks", tmp_path / "a.expt")
    logs = [log.read_bytes() for log in (tmp_path / "a.expt").glob("*.log")]
    samples = [[sample.user for frame in in_order(log) for record in frame.records for sample in decode.samples(record)] for log in logs]
    assert sorted(samples) == [[1, 2], [3], [3]]


def test_crc_is_zlibs(build, tmp_path: Path) -> None:
    """Over lengths and beginnings that meet every byte of every table."""
    source = tmp_path / "crc.c"
    source.write_text(
        '/* crc.c */\n#include <stdio.h>\n#include "experiment/crc32.h"\n'
        "int main(void) { static unsigned char data[4096]; unsigned x = fread(data, 1, sizeof data, stdin) != sizeof data;\n"
        "for (size_t i = 0; i < 4000; i += 67) { x = col_crc32_update(x, data + i, i % 61); printf(\"%u\\n\", x); } return 0; }\n"
    )
    program = tmp_path / "crc"
    subprocess.run([find_compiler(), *FLAGS, *SANITIZED, str(source), str(SOURCE / "experiment" / "crc32.c"), "-o", str(program)], check=True)
    data = random.Random(1).randbytes(4096)
    expected, crc = [], 0
    for i in range(0, 4000, 67):
        crc = zlib.crc32(data[i : i + i % 61], crc)
        expected.append(crc)
    printed = subprocess.run([program], input=data, capture_output=True, check=True).stdout
    assert list(map(int, printed.split())) == expected


def test_clocks_are_the_kernels_own(build, tmp_path: Path) -> None:
    """Also in a program whose clock_gettime and getrusage lie."""
    liar = tmp_path / "liar.so"
    (tmp_path / "liar.c").write_text("int clock_gettime(int c, long *t) { t[0] = t[1] = c; return 0; }\nint getrusage(int w, long *u) { u[0] = w; return -1; }\n")
    subprocess.run([find_compiler(), "-shared", "-fPIC", str(tmp_path / "liar.c"), "-o", str(liar)], check=True)
    for preload in ("", str(liar)):
        before = time.monotonic_ns(), time.time_ns()
        printed = subprocess.run([build("clock_readings", ["-O2"])], env={**os.environ, "LD_PRELOAD": preload}, capture_output=True, text=True, check=True, timeout=60).stdout
        after = time.monotonic_ns(), time.time_ns()
        first, last = printed.splitlines()
        *numbers, name, name_end = first.split()
        monotonic, wall, own, others, process, process_times, own_times = map(int, numbers)
        assert before[0] < monotonic < after[0] and before[1] < wall < after[1]
        assert own >= 30_000_000 and others >= 20_000_000 and process >= own + others - 1_000_000
        # The kernel scales what it accounts to the exact sum, in microseconds; the sum was read first.
        assert 0 <= process - process_times < 20_000_000 and 0 <= own - own_times < 20_000_000
        assert (name, name_end) == ("other", "one") and last == "0 []"


def test_writer_calls_nothing_that_a_handler_may_not(tmp_path: Path) -> None:
    """What the objects that handlers reach take from libc, beside our own names."""
    nm = shutil.which("nm")
    if not nm:
        pytest.skip("no nm")
    sources = [source for source in WRITER if source.stem not in ("directory", "text_format")]  # of these, nothing runs in a handler here
    objects = compiled.objects(tmp_path.parent, sources, "-O2", compiler=find_compiler())
    text = subprocess.run([nm, "-u", *objects], capture_output=True, text=True, check=True).stdout
    taken = {line.split()[-1] for line in text.splitlines() if " U " in line} - {"_GLOBAL_OFFSET_TABLE_"}
    assert {name for name in taken if not name.startswith("col_")} <= {"memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "getauxval"}


def test_handlers_need_little_stack(tmp_path: Path) -> None:
    """No function of the writer that a handler may reach takes more than 1.5 KB, all that can lie above one another less than 4 KB."""
    compiler = find_compiler()
    told = [path.with_suffix(".su") for path in compiled.objects(tmp_path.parent, WRITER, "-O2", compiler=compiler)]
    usage = [line.split("\t") for path in told if path.exists() for line in path.read_text().splitlines()]
    if not usage:
        pytest.skip(f"{compiler} does not tell stack usage")
    handlers = sorted((int(size), place.split(":")[-1]) for place, size, _ in usage if "directory.c" not in place)
    assert handlers[-1][0] <= 1536, handlers[-3:]
    assert sum(size for size, _ in handlers[-6:]) < 4096, handlers[-6:]


def test_speed(build, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints what a sample costs; a machine's speed is no matter of right or wrong."""
    text = run(build("experiment_speed", ["-O2"]), tmp_path / "a.expt")
    in_order(the_log(tmp_path / "a.expt"))
    with capsys.disabled():
        print("\n" + text, end="")
