"""test_unwind -- the unwinder: its parts, every instruction of real programs, random registers, and hard stacks

COLLECTOR_TEST_THOROUGH=1 steps and fuzzes several times as long.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import compiled
import pytest
from compiled import FLAGS, SANITIZED, THREAD_SANITIZED, WARNINGS

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "c"
TARGETS = ROOT / "tests" / "targets"
SOURCE = ROOT / "libcollector_c" / "src"
THOROUGH = os.environ.get("COLLECTOR_TEST_THOROUGH") == "1"

GROUND = ["base/os", "base/own_io", "base/clock", "base/text_format"]
PARTS_OF_UNWINDER = [
    "base/safe_read",
    "base/remote_memory",
    "base/instruction",
    "target/range_table",
    "target/mapping_lines",
    "target/executable_mappings",
    "target/stack_room",
    "target/eh_frame_index",
    "target/eh_frame",
    "target/remote_modules",
    "target/code_finder",
    "sample/unwind_cache",
    "sample/unwind_expression",
    "sample/unwind_row",
    "sample/unwind_cfi",
    "sample/unwind_code",
    "sample/unwind_fp",
    "sample/unwind_frames",
    "target/parallel_region",
    "sample/unwind_region",
    "sample/unwind_step",
    "sample/unwind",
]
UNWINDER = [*(SOURCE / f"{part}.c" for part in GROUND + PARTS_OF_UNWINDER), HERE / "no_java.c"]
WITHOUT_FIND_OBJECT = ['-DCOL_FIND_OBJECT_NAME="no_such_function"']
ASKS_FIND_OBJECT = [SOURCE / "target/code_finder.c"]
SHARED_BY_THREADS = [SOURCE / "target/range_table.c", SOURCE / "sample/unwind_cache.c"]
ENDS = ["complete", "depth limit", "no unwind info", "guessed", "unreadable", "bad pc", "bad frame"]

X86_64_PARTS = {"code_bytes", "rows", "registered_frames"}  # their tables and code are written for it
ON_X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="this truth is written in x86-64 assembler")


def run(command: list[str | Path], **environment: str) -> str:
    """The command's output; the test fails with all of it when the command does."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=3000 if THOROUGH else 300, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for what is compiled; skips where there is no C compiler."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc: the unwinder cannot be compiled")
    return tmp_path_factory.mktemp("unwind")


def objects(directory: Path, *options: str, compiler: str = "gcc", of: list[Path] = UNWINDER) -> list[Path]:
    """The unwinder's object files."""
    return compiled.objects(directory.parent, of, *options, compiler=compiler)


def others(directory: Path, of: list[Path]) -> list[Path]:
    """Those of the files that are not among these, as they always are."""
    return objects(directory, "-O2", of=[source for source in UNWINDER if source not in of])


def program(directory: Path, name: str, *options: str, of: list[Path] = UNWINDER) -> Path:
    """tests/c/NAME.c with the unwinder, of which the options are only for these files."""
    return compiled.program(directory.parent, HERE / f"{name}.c", of, *options, more=("-Wl,-z,now",), others=others(directory, of))


# --- parts ---

PARTS = re.findall(r'^    \{"(\w+)", test_\w+\},$', (HERE / "unwind_parts.c").read_text(), re.MULTILINE)


@pytest.mark.parametrize("part", [part for part in PARTS if part != "stack_use"])
def test_part(build: Path, part: str) -> None:
    if part in X86_64_PARTS and platform.machine() != "x86_64":
        pytest.skip("this truth is written in x86-64 code")
    run([program(build, "unwind_parts", *SANITIZED), part])


@pytest.mark.parametrize("part", ["range_table_race", "cache_race"])
def test_part_without_data_races(build: Path, part: str) -> None:
    """Seqlocks stand on fences, which the thread sanitizer does not follow: it still sees every unguarded word."""
    run([program(build, "unwind_parts", *THREAD_SANITIZED, "-Wno-tsan", of=SHARED_BY_THREADS), part])


@pytest.mark.parametrize("part", ["code_finder", "registered_frames"])
def test_part_without_find_object(build: Path, part: str) -> None:
    run([program(build, "unwind_parts", "-O2", *WITHOUT_FIND_OBJECT, of=ASKS_FIND_OBJECT), part])


def test_a_walk_needs_less_than_2_kib_of_stack(build: Path) -> None:
    print(run([program(build, "unwind_parts", "-O2"), "stack_use"]))


def test_objects_use_only_what_signal_handlers_may(build: Path) -> None:
    """dl_iterate_phdr is not: it may stand in code_finder's refresh alone."""
    allowed = {"_dl_find_object", "_GLOBAL_OFFSET_TABLE_", "memcpy", "memset", "memcmp", "memmove"}
    for path in objects(build, "-O2")[len(GROUND) :]:
        used = set(re.findall(r"^\s+[Uw] (\S+)$", run(["nm", "-u", path]), re.MULTILINE))
        foreign = {name for name in used if not name.startswith("col_")} - allowed
        assert foreign <= ({"dl_iterate_phdr"} if path.name == "target_code_finder.o" else set()), path.name


def test_clang_has_no_warnings(build: Path) -> None:
    """GCC has none where tests/live/test_install.py builds all, for the other processor too. Clang's come before it makes code."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    run(["clang", *FLAGS, '-DCOLLECTOR_VERSION="0"', "-O2", "-fsyntax-only", *WARNINGS, *UNWINDER])


@ON_X86_64
def test_instruction_lengths(build: Path) -> None:
    """The decoder against objdump, on the C library and its mathematical functions, which know every vector instruction."""
    if not shutil.which("objdump"):
        pytest.skip("no objdump")
    decoder = compiled.program(build.parent, HERE / "instruction_lengths.c", [SOURCE / "base" / "instruction.c"], *SANITIZED)
    libraries = {line.split()[2] for line in run(["ldd", sys.executable]).splitlines() if re.search(r"lib[cm]\.so", line)}
    for library in sorted(libraries):
        listing = run(["objdump", "-d", "--insn-width=16", library])
        lines = re.findall(r"^ +[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t(?!\(bad\)|\.byte)(.*)$", listing, re.MULTILINE)
        told = "".join(f"{code.replace(' ', '')}|{text}\n" for code, text in lines if len(code) <= 45 and code[:2] != "9b")  # fwait: an instruction by itself
        done = subprocess.run([decoder], input=told, capture_output=True, text=True, timeout=300, check=True)
        *wrong, counts = done.stdout.splitlines()
        count, unknown = map(int, counts.split())
        assert not wrong, wrong[:20]
        assert count > 50_000 and unknown <= 0.001 * count, (library, count, unknown)


# --- every instruction ---


@cache
def stepper(directory: Path) -> Path:
    target = directory / "stepper.so"
    run(["gcc", *FLAGS, "-O2", "-shared", HERE / "unwind_stepper.c", *objects(directory, "-O2"), "-o", target])
    return target


@ON_X86_64
@pytest.mark.parametrize(
    ("command", "most"),
    [(["ls", "-l", "/"], 20_000_000 if THOROUGH else 110_000), ([os.path.realpath(sys.executable), "-c", "pass"], 60_000_000 if THOROUGH else 110_000)],
    ids=["ls", "python"],
)
def test_every_instruction(build: Path, tmp_path: Path, command: list[str], most: int) -> None:
    step_through(build, tmp_path / "report", command, most)


@ON_X86_64
def test_every_instruction_of_a_realigned_frame(build: Path, tmp_path: Path) -> None:
    program = tmp_path / "realigned"
    run(["gcc", "-O2", "-fomit-frame-pointer", TARGETS / "unwind_realigned.c", "-o", program])
    step_through(build, tmp_path / "report", [str(program)], 20_000_000, 30_000)


@ON_X86_64
def test_every_instruction_of_a_switch_of_stacks(build: Path) -> None:
    """Where sp is loaded and the return address not yet put back its table is wrong: some of the samples of a program that switches often."""
    run([program(build, "unwind_switch", "-O2")])


def step_through(build: Path, report: Path, command: list[str], most: int, least: int = 100_000) -> None:
    """Asserts that the unwinder is right after all instructions of a program, which are no fewer than `least`, but one in 10,000."""
    run(
        command,
        LD_PRELOAD=str(stepper(build)),
        UNWIND_STEPPER_REPORT=str(report),
        UNWIND_STEPPER_LIMIT=str(most),
        PYTHONHASHSEED="0",  # glibc asks the vDSO for random numbers with SIGTRAP blocked, where the kernel kills whoever is stepped through
    )
    *faults, counts = report.read_text().splitlines()
    instructions, exact = map(int, counts.split())
    share = exact / instructions
    print(f"{command[0]}: {instructions} instructions, {exact} exact, {share:.6%}")
    assert instructions > least
    assert share >= 0.9999, "\n".join(faults)


# --- random registers ---


@pytest.mark.parametrize("seed", [1, 2])
def test_random_registers(build: Path, seed: int) -> None:
    count = 20_000_000 if THOROUGH else 75_000
    output = run([program(build, "unwind_fuzz", "-O2"), str(count), str(seed)])
    ends = dict(zip(ENDS, map(int, output.split(" ends ")[1].split()), strict=True))
    print(output, ends)
    assert sum(ends.values()) == count
    assert all(ends.values()), "an end was never reached: the contexts are too tame"


def test_random_registers_sanitized(build: Path) -> None:
    print(run([program(build, "unwind_fuzz", *SANITIZED), "200000" if THOROUGH else "75000"]))


def test_random_registers_without_find_object(build: Path) -> None:
    print(run([program(build, "unwind_fuzz", "-O2", *WITHOUT_FIND_OBJECT, of=ASKS_FIND_OBJECT), "200000" if THOROUGH else "75000"]))


# --- untrusted tables ---


def search_counts(output: str) -> tuple[int, int, int]:
    """How many searches a run of unwind_tables_fuzz made, how many found an entry, how many were compared."""
    return tuple(map(int, re.fullmatch(r"searches (\d+) found (\d+) compared (\d+)\n", output).groups()))


@pytest.mark.parametrize("seed", [1, 2])
def test_random_tables(build: Path, seed: int) -> None:
    count = 20_000_000 if THOROUGH else 150_000
    output = run([program(build, "unwind_tables_fuzz", "-O2"), str(count), str(seed)])
    print(output)
    searches, found, compared = search_counts(output)
    assert searches >= count
    assert found > count / 10 and compared > count / 10, "the tables are too wild: nearly nothing was found"


def test_random_tables_sanitized(build: Path) -> None:
    count = 10_000_000 if THOROUGH else 150_000
    output = run([program(build, "unwind_tables_fuzz", *SANITIZED), str(count), "3"])
    print(output)
    assert search_counts(output)[0] >= count


# --- hard stacks ---


@dataclass(frozen=True, slots=True)
class Sample:
    """One walk: how it ended, and its functions, outermost first, repeats counted as in "down*7"."""

    end: str
    frames: tuple[str, ...]

    def __contains__(self, function: str) -> bool:
        return function in self.frames

    def under(self, function: str) -> str:
        """What the function calls here, "" when it is innermost."""
        place = self.frames.index(function) + 1
        return self.frames[place] if place < len(self.frames) else ""


def parse(line: str) -> Sample:
    end, *frames = line.split(" ")
    return Sample(ENDS[int(end)], tuple(frames))


@cache
def compiled_target(directory: Path, name: str, without_find_object: bool) -> Path:
    source, target = TARGETS / name, directory / f"{Path(name).stem}{'-snapshot' if without_find_object else ''}"
    compiler = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}[source.suffix]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    shared = directory / "case.o"
    if not shared.exists():
        run(["gcc", *FLAGS, "-O2", f"-I{TARGETS}", "-c", TARGETS / "unwind_case.c", "-o", shared])
    flags = {".c": ["-std=gnu11"], ".cpp": ["-std=c++17"], ".f90": []}[source.suffix]
    flags += [f"-I{SOURCE}", f"-I{TARGETS}"] if source.suffix != ".f90" else []
    asks = objects(directory, "-O2", *(WITHOUT_FIND_OBJECT if without_find_object else ()), of=ASKS_FIND_OBJECT)
    unwinder = [*others(directory, ASKS_FIND_OBJECT), *asks]
    linked = ["-rdynamic", "-Wl,-z,lazy", source, shared, *unwinder, "-lpthread", "-lm"]
    run([compiler, *flags, "-O2", "-g", *linked, "-o", target])
    return target


def samples_of(build: Path, name: str, *arguments: str | Path, without_find_object: bool = False, unfinished: int = 0) -> list[Sample]:
    """Runs a target; every one of its stacks must be complete, but for as many as are allowed, which are left out."""
    samples = [parse(line) for line in run([compiled_target(build, name, without_find_object), *arguments]).splitlines()]
    assert len(samples) == 150
    complete = [sample for sample in samples if sample.end in ("complete", "guessed")]
    assert len(complete) >= 150 - unfinished, incomplete(samples)
    return complete


def incomplete(samples: list[Sample]) -> str:
    return "\n".join(f"{sample.end}: {' '.join(sample.frames)}" for sample in samples if sample.end not in ("complete", "guessed"))


def assert_links(samples: list[Sample], **callees: str) -> None:
    """For each named function: whatever it calls, in any sample, matches the pattern in full."""
    for sample in samples:
        for function, pattern in callees.items():
            if function in sample:
                assert re.fullmatch(pattern, sample.under(function)), (function, sample.frames)


def assert_rooted(samples: list[Sample], root: str = r"_start __libc_start_main \S+ main") -> None:
    for sample in samples:
        assert re.match(rf"{root}( |$)", " ".join(sample.frames)), sample.frames


def assert_seen(samples: list[Sample], *chains: str) -> None:
    """Each chain, a pattern of functions, is the end of some sample."""
    for chain in chains:
        assert any(re.search(rf"(^| ){chain}$", " ".join(sample.frames)) for sample in samples), chain


def test_signal_handlers(build: Path) -> None:
    samples = samples_of(build, "unwind_signal_handler.c")
    assert_rooted(samples)
    assert_links(samples, main="interrupted|counting|case_\\w+|", on_alternate_stack="case_spin|", on_same_stack="case_spin|")
    for sample in samples:
        if "on_alternate_stack" in sample:
            assert sample.under("main") == "interrupted", sample.frames
        if "on_same_stack" in sample:
            assert sample.under("main") == "counting", sample.frames
    assert_seen(samples, r"main interrupted .*(raise|gsignal).* on_alternate_stack case_spin")
    assert_seen(samples, r"main counting (\S+ )+on_same_stack case_spin")


@ON_X86_64
def test_signal_trampoline_of_the_programs_own(build: Path) -> None:
    samples = samples_of(build, "unwind_own_restorer.c")
    assert_rooted(samples)
    assert_links(samples, main="interrupted|case_\\w+|", on_signal="case_spin|")
    assert not any("before" in sample for sample in samples)
    assert_seen(samples, r"main interrupted (\S+ )*trampoline on_signal case_spin", r"main interrupted (\S+ )*trampoline")


def test_coroutines(build: Path) -> None:
    samples = samples_of(build, "unwind_coroutine.c")
    on_coroutine = [sample for sample in samples if "coroutine" in sample]
    assert_rooted(on_coroutine, r"\S+ coroutine")
    assert_rooted([sample for sample in samples if "coroutine" not in sample and "main" in sample])
    assert_seen(samples, r"coroutine step\*4 case_spin")


def test_thread_that_exits(build: Path) -> None:
    samples = samples_of(build, "unwind_thread_exit.c")
    assert_rooted(samples, r"\S+( \S+)? thread_main")
    assert_links(samples, thread_main="cleanup|case_\\w+|leaving|", cleanup="case_\\w+|")
    assert not any("not_called" in sample for sample in samples)
    assert_seen(samples, "thread_main cleanup case_spin")


@ON_X86_64
def test_caller_that_is_not_returned_to(build: Path) -> None:
    samples = samples_of(build, "unwind_noreturn.c")
    assert_rooted(samples)
    assert_links(samples, main="caller|case_\\w+|", caller="forever", forever="case_\\w+|")
    assert not any("neighbour" in sample for sample in samples)


def test_longjmp(build: Path) -> None:
    samples = samples_of(build, "unwind_longjmp.c")
    assert_rooted(samples)
    assert_links(samples, main="again|case_\\w+|")
    for sample in samples:
        if "again" in sample:  # in brackets: the PLT entry of setjmp, and what has no symbol in libc
            assert re.fullmatch(r"(down(\*[2-6])?)?|case_spin|_*(sig)?setjmp|\[libc\.so\.6\]|\[unwind_longjmp.*\]", sample.under("again")), sample.frames


def test_jump_table(build: Path) -> None:
    samples = samples_of(build, "unwind_jump_table.c")
    assert_rooted(samples)
    assert_links(samples, main="interpret|case_\\w+|", interpret="")


def test_memory_functions_hang_on_their_caller(build: Path) -> None:
    samples = samples_of(build, "unwind_memory_functions.c")
    assert_rooted(samples)
    assert_links(samples, main="copying|filling|measuring|case_\\w+|")
    for caller in ("copying", "filling", "measuring"):
        within = [sample for sample in samples if caller in sample]
        assert within, caller
        assert all(len(sample.frames) <= sample.frames.index(caller) + 2 for sample in within)


@ON_X86_64
def test_vector_loops(build: Path) -> None:
    samples = samples_of(build, "unwind_vector_leaf.c")
    assert_rooted(samples)
    assert_links(samples, main="leaf_512|leaf_256|realigned|case_\\w+|", leaf_512="", leaf_256="", realigned="case_spin|")
    assert_seen(samples, "main realigned case_spin")


def test_throw(build: Path) -> None:
    # Just before it jumps to a handler, the runtime overwrites what the frames it leaves had saved: their registers
    # and return addresses. Stepped through, that is 0.7 % of the instructions of such a program; nobody can see these
    # frames any more, and what is left of the stack may end anywhere, at a zero among other places.
    samples = samples_of(build, "unwind_throw.cpp", unfinished=8)
    # The bracket is attempt's cold part, twice if the PLT entry that it calls is another.
    right = re.compile(r"_start __libc_start_main \S+ main( (attempt|\[unwind_throw[^ ]*\](\*2)?|case_\w+)( .*)?)?")
    wrong = [sample.frames for sample in samples if not right.fullmatch(" ".join(sample.frames))]
    assert len(wrong) + 150 - len(samples) <= 8, wrong
    assert all(re.search("_Unwind_R(esume|aiseException)", " ".join(frames)) for frames in wrong), wrong
    assert_seen(samples, r"main attempt down\*9 .*__cxa_throw.* \S+")


def test_fortran_calling_libm(build: Path) -> None:
    samples = samples_of(build, "unwind_libm.f90")
    assert_rooted(samples)
    assert any("waves_" in sample and sample.under("waves_") for sample in samples)
    for sample in samples:
        if "waves_" in sample:
            place = sample.frames.index("waves_")
            assert len(sample.frames) - place <= 4 and "case_spin" not in sample, sample.frames


def test_dynamic_linker(build: Path) -> None:
    plugin = build / "plugin.so"
    run(["gcc", "-O2", "-shared", "-fPIC", "-Wl,-z,lazy", TARGETS / "unwind_loader_plugin.c", "-o", plugin])
    samples = samples_of(build, "unwind_loader.c", plugin)
    assert_rooted(samples)
    assert_links(samples, main="load_once|case_\\w+|")
    assert any("dlopen" in sample for sample in samples)


@pytest.mark.parametrize("without_find_object", [False, True], ids=["find_object", "snapshot"])
def test_recursion(build: Path, without_find_object: bool) -> None:
    samples = samples_of(build, "unwind_recursion.c", without_find_object=without_find_object)
    assert_rooted(samples)
    assert_seen(samples, r"main down\*2000 case_spin")
    assert all("down*2000" in sample for sample in samples if "case_spin" in sample)


@ON_X86_64
def test_code_without_tables(build: Path) -> None:
    samples = samples_of(build, "unwind_without_tables.c")
    assert_rooted(samples)
    assert_links(samples, main="with_\\w+|case_\\w+|", with_frames="bare_frame|", bare_frame="case_spin|")
    assert_links(samples, with_leaf="bare_leaf|", bare_leaf="", with_jit=r"\[anonymous\]|")
    assert_seen(samples, "with_frames bare_frame case_spin", "with_leaf bare_leaf", r"with_jit \[anonymous\] case_spin")
    assert any("with_clock" in sample for sample in samples)


@ON_X86_64
def test_code_says_what_tables_say(build: Path, tmp_path: Path) -> None:
    """The interpreter that runs the tests, as distributed: its functions are left by their instructions, and by their tables."""
    target = build / "by_code.so"
    run(["gcc", *FLAGS, "-O2", "-shared", HERE / "unwind_by_code.c", *objects(build, "-O2"), "-o", target])
    busy = "import json, re, time\nwhile time.process_time() < 0.5: json.loads(json.dumps([[k] for k in range(2000)])); sorted(range(999), key=lambda x: -x); re.findall('a(b|c)*d', 'abcbcd' * 99)"
    run([sys.executable, "-c", busy], LD_PRELOAD=str(target), UNWIND_BY_CODE_REPORT=str(tmp_path / "told"))
    frames, right, wrong, entry_right, entry_wrong = map(int, (tmp_path / "told").read_text().split())
    print(f"{frames} frames; to the exit {right} right, {wrong} wrong; from the entry {entry_right} right, {entry_wrong} wrong")
    assert frames > 500 and right > 0.4 * frames  # the evaluator is seen to return from few of its places
    assert wrong <= 0.0005 * right + 1
    assert entry_wrong <= 0.01 * entry_right + 1


# --- speed ---


def test_speed(build: Path) -> None:
    """Prints what a frame costs; only the comparison with the compiler's own unwinder must hold."""
    output = run([program(build, "unwind_speed", "-O2")])
    print(output)
    hot, libgcc = re.search(r"hot (\S+) .* libgcc (\S+)", output).groups()
    assert float(hot) < float(libgcc)
