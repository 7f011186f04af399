"""test_api_headers -- libcollector.h and its kin: compile anywhere, change nothing unrecorded, deliver every call

A fake recorder stands in for the real one: it prints each call it receives on
stderr. So "unrecorded" and "recorded" are the same program without and with a
preload, and its own output and exit status (3) must be the same in both.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from recorded import IS_THOROUGH

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ROOT / "tests" / "targets"
LIBRARY = ROOT / "libcollector_c"
WARNINGS = "-Wall -Wextra -pedantic -Wshadow -Wconversion -Wundef -Wwrite-strings -Wredundant-decls -Werror".split()

C_STANDARDS = ["c89", "gnu89", "c99", "c11", "c17"]
CXX_STANDARDS = ["c++98", "c++11", "c++17", "c++20"]
DYNAMIC = {
    "pie": "-O2 -fPIE -pie",
    "non-pie": "-O2 -fno-pie -no-pie",
    "unoptimised-non-pie": "-O0 -fno-pie -no-pie",
    "intel-syntax": "-O2 -masm=intel",
    "lto": "-O2 -flto -fPIE -pie",
    "lto-non-pie": "-O2 -flto -fno-pie -no-pie",
}
STATIC = {"static": "-O2 -static", "static-pie": "-O2 -fPIE -static-pie"}

ALL_CALLS = """\
sample [if]
sample [else if]
sample [writable]
sample [writable]
sample [counted]
sample [-]
pause
resume
writelog 64 61 74 61
func_load [name] [an alias] [f.src] 0x1000 32 0:7 16:5
func_load [bare] [-] [-] 0x2000 8
func_unload 0x1000
module_load [m.o] 0x3000
module_unload 0x3000
terminate_expt
"""
LINKED_CALLS = """\
sample [before main]
sample [by address]
pause
resume
writelog 64 61 74 61
func_load [name] [an alias] [f.src] 0x1000 32 0:7 16:5
func_unload 0x1000
module_load [m.o] 0x3000
module_unload 0x3000
terminate_expt
"""


def build(*command: object) -> None:
    """Run a compiler; whatever it says, warnings included, fails the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), " ".join(map(str, command))


def run(*command: object, preload: object = None) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a program, under the fake recorder if that is given."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    if preload:
        environment["LD_PRELOAD"] = str(preload)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


@cache
def can_link(compiler: str, flags: str) -> bool:
    """Whether the compiler can build anything with these flags on this machine."""
    probe = [compiler, *flags.split(), "-x", "c++" if "++" in compiler else "c", "-", "-o", os.devnull]
    return subprocess.run(probe, input="int main(void) { return 0; }", capture_output=True, text=True).returncode == 0


def need(compiler: str, flags: str = "") -> None:
    """Skip the test if the compiler, or what these flags need, is not installed."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    if not can_link(compiler, flags):
        pytest.skip(f"{compiler} cannot link with {flags or 'its defaults'} here")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with recorder.so, the fake, and the stub libraries in shared/ and static/."""
    need("gcc")
    made = tmp_path_factory.mktemp("api")
    gcc = ["gcc", "-std=gnu11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{LIBRARY}/include"]
    build(*gcc, "-shared", TARGETS / "api_fake_recorder.c", "-o", made / "recorder.so")
    (made / "shared").mkdir()
    (made / "static").mkdir()
    for name, source in ("collectorAPI", "api/libcollectorAPI.c"), ("fcollector", "fortran/libfcollector.c"):
        build(*gcc, "-shared", LIBRARY / source, "-o", made / "shared" / f"lib{name}.so")
        build(*gcc, "-fvisibility=hidden", "-c", LIBRARY / source, "-o", made / "static" / f"{name}.o")
        build("ar", "rcs", made / "static" / f"lib{name}.a", made / "static" / f"{name}.o")
    return made


def compile_target(compiler: str, standard: str, flags: str, source: str, program: Path) -> None:
    """Build a target with every warning an error, in C or in C++ as the standard says."""
    language = ["-x", "c++"] if "++" in standard else []
    if source.endswith(".cpp"):
        language.append("-Wold-style-cast")
    build(
        compiler, f"-std={standard}", *WARNINGS, *flags.split(), f"-I{LIBRARY}/include",
        *language, TARGETS / source, "-o", program,
    )  # fmt: skip


CXX = ("g++", "clang++")
COMPILERS = {"gcc": C_STANDARDS, "clang": C_STANDARDS, "g++": CXX_STANDARDS, "clang++": CXX_STANDARDS}


def combined(*modes: str) -> pytest.MarkDecorator:
    """Each compiler with each standard; each mode with both makers of compilers, and in C and in C++. A thorough run takes each compiler, standard and mode together."""
    chosen: list[tuple[str, str, str]] = []
    half = len(modes) // 2
    for first, (compiler, standards) in zip((0, half, half, 0), COMPILERS.items(), strict=True):
        pairs = product(standards, modes) if IS_THOROUGH else ((standard, modes[(first + turn) % len(modes)]) for turn, standard in enumerate(standards))
        chosen += [(compiler, *pair) for pair in pairs]
    return pytest.mark.parametrize(("compiler", "standard", "mode"), chosen)


@combined(*DYNAMIC, *STATIC)
def test_every_call_in_every_language_and_code_model(
    made: Path, tmp_path: Path, compiler: str, standard: str, mode: str
) -> None:
    flags = (DYNAMIC | STATIC)[mode]
    need(compiler, flags)
    program = tmp_path / "program"
    compile_target(compiler, standard, flags, "api_calls.c", program)
    unrecorded = 3, "version [] active 0 evaluated 0\n", ""
    assert run(program) == unrecorded
    recorded = run(program, preload=made / "recorder.so")
    if mode in STATIC:
        assert recorded == unrecorded
    else:
        assert recorded == (3, "version [9.8.7] active 1 evaluated 1\n", ALL_CALLS)


@combined("pie", "lto-non-pie")
def test_header_included_inside_functions(
    made: Path, tmp_path: Path, compiler: str, standard: str, mode: str
) -> None:
    need(compiler, DYNAMIC[mode])
    program = tmp_path / "program"
    compile_target(compiler, standard, DYNAMIC[mode], "api_include_inside.c", program)
    assert run(program) == (3, "done\n", "")
    assert run(program, preload=made / "recorder.so") == (3, "done\n", "sample [first]\nsample [second]\n")


@pytest.mark.parametrize(("compiler", "mode"), [(compiler, mode) for turn, mode in enumerate(DYNAMIC) for compiler in (CXX if IS_THOROUGH else CXX[turn % 2 :][:1])])
def test_lambdas_templates_and_unnamed_namespaces(made: Path, tmp_path: Path, compiler: str, mode: str) -> None:
    """With each mode and one compiler, in turns; a thorough run does with both."""
    need(compiler, DYNAMIC[mode])
    program = tmp_path / "program"
    compile_target(compiler, "c++20", DYNAMIC[mode], "api_modern.cpp", program)
    assert run(program) == (3, "done\n", "")
    expected = "sample [lambda]\nsample [template]\nsample [member]\nsample [exception]\n"
    assert run(program, preload=made / "recorder.so") == (3, "done\n", expected)


def test_weak_declarations_serve_other_processors(made: Path, tmp_path: Path) -> None:
    for compiler, standard in ("gcc", "c89"), ("g++", "c++98"):
        need(compiler)
        flags = DYNAMIC["pie"] + " -DCOLLECTOR_WEAK_DECLARATIONS -Wno-redundant-decls"
        compile_target(compiler, standard, flags, "api_calls.c", tmp_path / "program")
        assert run(tmp_path / "program")[2] == ""
        assert run(tmp_path / "program", preload=made / "recorder.so")[2] == ALL_CALLS


@pytest.mark.parametrize(("compiler", "standard"), [(compiler, standard) for compiler, standards in COMPILERS.items() for standard in standards])
def test_plain_prototypes_agree_with_the_macros(tmp_path: Path, compiler: str, standard: str) -> None:
    need(compiler)
    compile_target(compiler, standard, "-DCOLLECTOR_LINKED -c", "api_calls.c", tmp_path / "calls.o")


@pytest.mark.parametrize("flags", ["", "-fno-pie -no-pie"])
def test_aarch64_leaves_the_answer_to_the_dynamic_linker(tmp_path: Path, flags: str) -> None:
    need("aarch64-linux-gnu-gcc", flags)
    compile_target("aarch64-linux-gnu-gcc", "c89", f"-O2 {flags}", "api_calls.c", tmp_path / "program")
    dump = subprocess.run(
        ["aarch64-linux-gnu-readelf", "--wide", "--relocs", tmp_path / "program"], capture_output=True, text=True
    ).stdout
    left_open = {line.split()[4] for line in dump.splitlines() if "GLOB_DAT" in line and "collector_" in line}
    assert left_open == {f"collector_{name}" for name in (
        "sample pause resume writelog version is_active terminate_expt "
        "func_load func_unload module_load module_unload"
    ).split()}  # fmt: skip


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_privately_loaded_plugin(made: Path, tmp_path: Path, compiler: str) -> None:
    need(compiler)
    plugin, host = tmp_path / "plugin.so", tmp_path / "host"
    compile_target(compiler, "c11", "-O2 -fPIC -shared -fvisibility=hidden", "api_plugin.c", plugin)
    build(compiler, TARGETS / "api_plugin_host.c", "-o", host, "-ldl")
    assert run(host, plugin) == (3, "done\n", "")
    assert run(host, plugin, preload=made / "recorder.so") == (3, "done\n", "sample [plugin]\n")


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        *product(["shared", "static"], ["-fPIE -pie", "-fno-pie -no-pie", "-flto"]),
        ("static", "-static"),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_linked_stub_passes_every_call_on(made: Path, tmp_path: Path, compiler: str, mode: str, kind: str) -> None:
    need(compiler, mode)
    libraries = made / kind
    program = tmp_path / "program"
    build(
        compiler, "-Wall", "-O2", *([] if mode == "-static" else ["-rdynamic"]), *mode.split(), f"-I{LIBRARY}/include", TARGETS / "api_linked.c", "-o", program,
        f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcollectorAPI",
    )  # fmt: skip
    status, output, calls = run(program)
    assert (status, output.splitlines()[0], calls) == (3, "version [] active 0", "")
    recorded = run(program, preload=made / "recorder.so")
    if mode == "-static":
        assert recorded == (3, output, "")
        return
    # The shared stub steps back; the static one takes the program's calls, but nobody else's.
    found = {"shared": "same", "static": "different"}[kind]
    assert recorded == (3, f"version [9.8.7] active 1\n{found}\n", LINKED_CALLS)


@pytest.mark.parametrize("order", ["recorder first", "stub first"])
def test_stub_and_recorder_preloaded_in_either_order(made: Path, tmp_path: Path, order: str) -> None:
    need("gcc")
    program = tmp_path / "program"
    compile_target("gcc", "c11", DYNAMIC["pie"], "api_calls.c", program)
    both = [made / "recorder.so", made / "shared" / "libcollectorAPI.so"]
    if order == "stub first":
        both.reverse()
    assert run(program, preload=":".join(map(str, both)))[2] == ALL_CALLS


FORTRAN = {
    "api_fixed.f": (
        "done\n",
        "sample [fixed]\nsample [padded]\npause\nresume\nsample [  inner  blanks]\nsample []\nterminate_expt\n",
    ),
    "api_free.f90": (
        "done\n",
        f"sample [free]\nsample [padded]\npause\nresume\nsample [contained]\nsample [{'a' * 1022}]\nterminate_expt\n",
    ),
    "api_module.f90": (
        "[9.8.7]\n",
        f"sample [module]\nsample [padded]\npause\nresume\nsample [{'x' * 1023}]\nsample []\nterminate_expt\n",
    ),
}  # fmt: skip


FORTRAN_WAYS = [*product(["shared", "static"], ["-fPIE -pie", "-fno-pie -no-pie", "-fsecond-underscore"]), ("static", "-static")]


@pytest.mark.parametrize(("source", "kind", "flags"), [(source, *way) for turn, way in enumerate(FORTRAN_WAYS) for number, source in enumerate(FORTRAN) if IS_THOROUGH or (turn + number) % 3])
def test_fortran_labels_without_padding(made: Path, tmp_path: Path, source: str, flags: str, kind: str) -> None:
    """Two of the three programs each way; a thorough run takes all."""
    need("gfortran")
    libraries = made / kind
    program = tmp_path / "program"
    module = [LIBRARY / "fortran" / "collector.f90"] if "module" in source else []
    build(
        "gfortran", "-Wall", "-Wextra", "-Werror", *flags.split(), f"-I{LIBRARY}/include", f"-J{tmp_path}",
        *module, TARGETS / source, "-o", program, f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lfcollector",
    )  # fmt: skip
    output, calls = FORTRAN[source]
    unrecorded = 3, output.replace("9.8.7", ""), ""
    assert run(program) == unrecorded
    recorded = run(program, preload=made / "recorder.so")
    assert recorded == (unrecorded if flags == "-static" else (3, output, calls))


@pytest.mark.parametrize("standard", ["f2003", "f2008", "f2018"])
def test_fortran_module_is_standard(tmp_path: Path, standard: str) -> None:
    need("gfortran")
    build(
        "gfortran", f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-J{tmp_path}",
        "-c", LIBRARY / "fortran" / "collector.f90", "-o", tmp_path / "collector.o",
    )  # fmt: skip


PYTHON_CALLS = """\
sample [plain]
sample [umlaut ä]
pause
resume
pause
sample [inside]
resume
writelog 64 61 00 74 61
func_load [name] [an alias] [f.src] 0x1000 32 0:7 16:5
func_load [bare] [-] [-] 0xfffffffffffffff8 8
func_unload 0x1000
module_load [m.o] 0x3000
module_unload 0x3000
terminate_expt
"""


def test_python_calls(made: Path) -> None:
    program = ["env", f"PYTHONPATH={ROOT}", sys.executable, TARGETS / "api_python.py"]
    assert run(*program) == (3, "version [] active False\n", "")
    assert run(*program, preload=made / "recorder.so") == (3, "version [9.8.7] active True\n", PYTHON_CALLS)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_unrecorded_call_costs_no_more_than_a_few_empty_calls(tmp_path: Path, compiler: str) -> None:
    need(compiler)
    program = tmp_path / "program"
    compile_target(compiler, "c11", "-O2", "api_cost.c", program)
    call_ns, empty_ns = map(float, run(program)[1].split())
    print(f"{compiler}: unrecorded call {call_ns} ns, empty function {empty_ns} ns")
    assert call_ns < 4 * empty_ns
