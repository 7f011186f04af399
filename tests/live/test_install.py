"""test_install -- from a source tree to a program that can be recorded: pip, make, and a compiler alone"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from call_graph import build_command, built_for_call_graph
from recorded import IS_THOROUGH

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "libcollector_c"
LIBRARIES = {"libcollector.so", "libcollector_analysis.so", "libcollectorAPI.so", "libcollectorAPI.a", "libfcollector.so", "libfcollector.a", "libpmclog.so", "libpmclog.a"}
QUICKLY = {"CFLAGS": "-O0 -g0"}
"""For builds of which nobody looks at the code: who packs and places it is what they show, and test_make_install compiles it with all optimisation and all warnings."""
HEADERS = {"libcollector.h", "libfcollector.h", "pmclog.h"}


def run(*command: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("COLLECTOR_LIBRARY", "PYTHONPATH")}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=cwd, env={**environment, **(env or {})}
    )


def succeed(*command: object, **how: object) -> str:
    done = run(*command, **how)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def exports(library: Path) -> set[str]:
    return {line.split()[-1] for line in succeed("nm", "-D", "--defined-only", library).splitlines()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree without anything that was built in it."""
    copy = tmp_path_factory.mktemp("install") / "tree"
    ignored = shutil.ignore_patterns("build", "__pycache__", ".git", "*.egg-info", ".venv", "*.expt", ".pytest_cache", "dist")
    shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
    return copy


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python in an environment of its own, with setuptools: what pip makes anew for each build, made once."""
    place = tmp_path_factory.mktemp("environment")
    succeed(sys.executable, "-m", "venv", place)
    done = run(place / "bin/python", "-m", "pip", "install", "-q", "setuptools>=77", "msgpack", "pyelftools")
    if done.returncode:
        pytest.skip(f"no package index can be reached from here: {done.stderr.strip().splitlines()[-1]}")
    return place / "bin/python"


@pytest.fixture(scope="module")
def wheel(tree: Path, python: Path) -> Path:
    """Built where there is a compiler, and no make: tests/run installs with make."""
    place = tree.parent / "wheel"
    tools = {"PATH": directory_of(tree.parent / "tools", "gcc", "as", "ld", "ar")}
    succeed(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", place, tree, env={**QUICKLY, **tools})
    (made,) = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, python: Path) -> Path:
    """The command `collector` of an installed wheel."""
    succeed(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel)
    return python.parent / "collector"


def test_wheel_belongs_to_a_platform_and_no_python(wheel: Path) -> None:
    assert wheel.name.split("-")[2:4] == ["py3", "none"]
    assert wheel.name.split("-")[4].startswith("linux_")


def test_wheel_carries_everything(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"collector/native/lib/{name}" for name in LIBRARIES} <= names
    assert {f"collector/native/include/{name}" for name in HEADERS} <= names
    assert "collector/native/fortran/collector.f90" in names
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "collector").rglob("*.py") if "native" not in path.parts}
    assert modules <= names
    assert {f"collector/{path.relative_to(ROOT)}" for path in (ROOT / "docs").rglob("*.md")} <= names
    assert not [name for name in names if name.startswith(("tests", "libcollector_c", "docs"))]


def test_recording_with_an_installed_wheel(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "record", "-o", "a.expt", "sh", "-c", "exit 3", cwd=tmp_path)
    assert done.returncode == 3 and "a.expt: " in done.stderr
    assert succeed(installed, "config", "--preload").strip().endswith("/collector/native/lib/libcollector.so")


def test_documentation_of_an_installed_wheel(installed: Path) -> None:
    directory = Path(succeed(installed, "help", "--path").strip())
    assert directory.parts[-3:] == ("site-packages", "collector", "docs")
    assert succeed(installed, "help", "tutorial") == (ROOT / "docs/tutorial.md").read_text()


def test_manual_pages_and_completions_of_an_installed_wheel(installed: Path) -> None:
    share = installed.parents[1] / "share"
    assert (share / "man/man1/collector-record.1").read_text() == succeed(installed, "man", "record")
    places = {"bash": "bash-completion/completions/collector", "zsh": "zsh/site-functions/_collector", "fish": "fish/vendor_completions.d/collector.fish"}
    for shell, place in places.items():
        assert (share / place).read_text() == succeed(installed, "completion", shell)
    if shutil.which("man"):
        found = succeed("man", "-w", "collector-record", env={"PATH": f"{installed.parent}:{os.environ['PATH']}", "MANPATH": ""})
        assert found.strip() == str(share / "man/man1/collector-record.1")


C_PROGRAM = """
#include "libcollector.h"
#include <stdio.h>
int main(void) { collector_sample("from C"); puts("done"); return 0; }
"""
FORTRAN_PROGRAM = """
program main
  use collector
  call collector_sample('from Fortran')
  print '(a)', 'done'
end program main
"""
INCLUDE_PROGRAM = """
      program main
      implicit none
      include 'libfcollector.h'
      call collector_sample('from Fortran')
      print '(a)', 'done'
      end
"""


@pytest.mark.parametrize("flags", ["", "-DCOLLECTOR_LINKED"])
def test_config_is_enough_for_c(installed: Path, tmp_path: Path, flags: str) -> None:
    (tmp_path / "program.c").write_text(C_PROGRAM)
    libs = "$(collector config --libs)" if flags else ""
    check_program(installed, tmp_path, f"gcc -Wall -Werror {flags} $(collector config --cflags) program.c -o program {libs}", "from C")


@pytest.mark.parametrize(("name", "source", "module"), [("p.f90", FORTRAN_PROGRAM, "--fortran-module"), ("p.f", INCLUDE_PROGRAM, "")])
def test_config_is_enough_for_fortran(installed: Path, tmp_path: Path, name: str, source: str, module: str) -> None:
    if not shutil.which("gfortran"):
        pytest.skip("gfortran is not installed")
    (tmp_path / name).write_text(source)
    command = f"gfortran $(collector config --fflags {module}) {name} -o program $(collector config --libs)"
    check_program(installed, tmp_path, command, "from Fortran")


def check_program(installed: Path, tmp_path: Path, command: str, label: str) -> None:
    """Build it as a user would, run it without us, and by the preload that config prints."""
    path = {"PATH": f"{installed.parent}:{os.environ['PATH']}"}
    succeed("sh", "-c", command, cwd=tmp_path, env=path)
    assert succeed("./program", cwd=tmp_path) == "done\n"
    recorded = "LD_PRELOAD=$(collector config --preload) COLLECTOR_EXPERIMENT=a.expt ./program"
    assert succeed("sh", "-c", recorded, cwd=tmp_path, env=path) == "done\n"
    (log,) = (tmp_path / "a.expt").glob("*.0.log")
    assert label.encode() in log.read_bytes()


def test_pmclog_libs(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests/targets/pmclog_template.c", tmp_path / "reader.c")
    path = {"PATH": f"{installed.parent}:{os.environ['PATH']}"}
    succeed("sh", "-c", "gcc $(collector config --cflags) reader.c -o reader $(collector config --pmclog-libs)", cwd=tmp_path, env=path)
    assert "libpmclog.so" in succeed("ldd", tmp_path / "reader")


def directory_of(place: Path, *tools: str) -> str:
    """A PATH that holds these tools only."""
    place.mkdir()
    for tool in tools:
        if found := shutil.which(tool):
            (place / tool).symlink_to(found)
    return str(place)


def test_no_compiler_is_one_sentence_from_pip(tree: Path, tmp_path: Path, python: Path) -> None:
    path = directory_of(tmp_path / "bin", "sh", "make", "mkdir", "cp")
    done = run(python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, tree, env={"PATH": path})
    assert done.returncode != 0
    (sentence,) = (line.strip() for line in (done.stdout + done.stderr).splitlines() if "No C compiler" in line)
    assert sentence.startswith("No C compiler: there is no cc, no gcc and no clang; collector compiles its recorder")
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(("arguments", "reason"), [((), "there is no cc, no gcc and no clang"), (("CC=xcc -m64",), "CC=xcc is not there")])
def test_no_compiler_is_one_sentence_from_make(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    path = directory_of(tmp_path / "bin", "sh", "make", "mkdir", "cp")
    done = run("make", "-C", NATIVE, f"BUILD={tmp_path}", *arguments, env={"PATH": path})
    assert done.returncode != 0
    assert f"No C compiler: {reason}; install one" in done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What make builds and installs, with every warning an error."""
    for tool in ("make", "gcc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    return built_for_call_graph(tmp_path_factory)


def test_make_install(made: Path) -> None:
    assert {path.name for path in (made / "root/usr/lib").iterdir()} == LIBRARIES
    assert HEADERS <= {path.name for path in (made / "root/usr/include").iterdir()}
    assert (made / "root/usr/share/collector/fortran/collector.f90").is_file()


def test_make_has_nothing_to_do_twice(made: Path) -> None:
    again = succeed(*build_command(made))
    assert "Nothing to be done" in again


def test_libraries_need_libc_only(made: Path) -> None:
    for library in (made / "build").glob("*.so"):
        needed = [line.split("[")[1].rstrip("]") for line in succeed("readelf", "-d", library).splitlines() if "(NEEDED)" in line]
        assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, library.name


def test_exports_are_meant(made: Path) -> None:
    """Nothing of our inside can collide with a name of the program's."""
    assert not [name for name in exports(made / "build/libcollector.so") if name.startswith("col_")]
    assert {"collector_sample", "collector_pause", "sigaction", "execve"} <= exports(made / "build/libcollector.so")
    assert all(name.startswith("collector_") for name in exports(made / "build/libcollectorAPI.so"))
    assert all(name.startswith("collector_") for name in exports(made / "build/libfcollector.so"))
    assert all(name.startswith("pmclog_") for name in exports(made / "build/libpmclog.so"))
    assert all(name.startswith(("col_analysis_", "col_dwarf_", "col_functions_", "col_lines_")) for name in exports(made / "build/libcollector_analysis.so"))


def test_a_compiler_without_make_builds_the_same(wheel: Path, made: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    for library in LIBRARIES:
        if library.endswith(".so"):
            assert exports(tmp_path / "collector/native/lib" / library) == exports(made / "build" / library)


def test_a_source_tree_finds_what_was_built_in_it(tmp_path: Path) -> None:
    """As an editable install does, like that of tests/run."""
    built = NATIVE / "build/libcollector.so"
    if not built.exists():
        pytest.skip("the recorder has not been built in this tree")
    where = succeed(sys.executable, "-m", "collector", "config", "--preload", env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path).strip()
    assert where == str(built)
    done = run(sys.executable, "-m", "collector", "record", "-o", "a.expt", "sh", "-c", "exit 3", env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    assert done.returncode == 3 and "a.expt: " in done.stderr


def test_source_distribution_is_complete(tree: Path, tmp_path: Path, python: Path) -> None:
    script = f"import build_backend; build_backend.build_sdist({str(tmp_path)!r})"
    succeed(python, "-c", script, cwd=tree, env={"PYTHONPATH": str(tree / "libcollector_c")})
    (archive,) = tmp_path.glob("*.tar.gz")
    names = {name.partition("/")[2] for name in succeed("tar", "tzf", archive).splitlines()}
    for part in ("libcollector_c", "tests", "docs", "collector"):
        expected = {str(path.relative_to(tree)) for path in (tree / part).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        assert not {name for name in expected - names if "/build/" not in name}
    assert {"libcollector_c/Makefile", "LICENSE", "README.md", "CHANGELOG.md"} <= names


def test_the_other_processor(tmp_path: Path) -> None:
    for tool in ("make", "aarch64-linux-gnu-gcc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    succeed("make", "-j2", "-C", NATIVE, f"BUILD={tmp_path}", "WERROR=1", "CFLAGS=-O0 -g0", "aarch64")
    header = succeed("readelf", "-h", tmp_path / "aarch64/libcollector.so")
    assert "AArch64" in header


@pytest.mark.skipif(not IS_THOROUGH, reason="all is optimised while it is linked, which takes long; COLLECTOR_TEST_THOROUGH=1 runs it")
def test_flags_of_distributions(tmp_path: Path) -> None:
    """Those that packages are built with; some compilers have -D_FORTIFY_SOURCE by themselves."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    recorder = tmp_path / "libcollector.so"
    flags = "-O2 -g0 -flto=auto -fstack-protector-strong -fstack-clash-protection -fcf-protection -Wformat -Werror=format-security -D_FORTIFY_SOURCE=2"
    succeed("make", "-j2", "-C", NATIVE, f"BUILD={tmp_path}", "CC=gcc", f"CFLAGS={flags}", "LDFLAGS=-Wl,-Bsymbolic-functions -flto=auto -Wl,-z,relro", recorder)
    wanted = {line.split()[-1] for line in succeed("nm", "-D", "--undefined-only", recorder).splitlines()}
    assert not {name for name in wanted if "_chk@" in name or name.startswith(("memcpy@", "memset@", "memmove@", "memcmp@"))}
    said = run(sys.executable, "-m", "collector", "record", "-o", tmp_path / "a.expt", "-p", "hi", sys.executable, "-c", "print(sum(range(3_000_000)))", cwd=ROOT, env={"COLLECTOR_LIBRARY": str(recorder)})
    assert said.stdout.split() == ["4499998500000"] and "nothing lost" in said.stderr
