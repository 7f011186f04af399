"""build_backend -- the setuptools backend, taught to compile libcollector_c on the way

pyproject.toml names this module as its build backend and as the home of four commands:

    build        works in a directory of its own, so that a stale build/ never gets into a wheel
    build_py     compiles the C half: into collector/native/ of a wheel, or, for an editable
                 install, into libcollector_c/build, where `collector` looks next; a wheel gets the
                 pages of docs/ as collector/docs/ as well
    bdist_wheel  tags the wheel with the platform but with no Python version: no C here knows Python;
                 adds manual pages and completions, made from the commands' help, for share/
    sdist        takes the C half and the tests along

The compiling itself is done by make. Where there is a compiler but no make, the variables at the
head of the Makefile are read and the same commands are run from here.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools.build_meta import *  # noqa: F403  (the hooks of PEP 517 and 660, unchanged)
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

SOURCE = Path(__file__).resolve().parent


class Build(build):
    """`build`, in a new temporary directory."""

    def initialize_options(self) -> None:
        """Choose the directory; it goes when the command has run its course."""
        super().initialize_options()
        self._directory = tempfile.TemporaryDirectory(prefix="collector-build-")
        self.build_base = self._directory.name


class BuildPy(build_py):
    """`build_py`, which also compiles."""

    def run(self) -> None:
        """Copy the Python half, then add the compiled one."""
        super().run()
        if getattr(self, "editable_mode", False):
            compile_all(SOURCE / "build")
            return
        native = Path(self.build_lib) / "collector" / "native"
        with tempfile.TemporaryDirectory(prefix="collector-c-") as scratch:
            compile_all(Path(scratch))
            install(Path(scratch), native)
        shutil.copytree(SOURCE.parent / "docs", Path(self.build_lib) / "collector" / "docs")


class BdistWheel(bdist_wheel):
    """`bdist_wheel` for a package with shared libraries that no Python links with."""

    def finalize_options(self) -> None:
        """Say that the wheel belongs to a platform, which is otherwise concluded from Python extensions."""
        self.distribution.has_ext_modules = lambda: True
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        """Give any Python 3, no ABI, this platform."""
        return "py3", "none", super().get_tag()[2]

    def run(self) -> None:
        """Make what belongs into share/ of the environment, then the wheel."""
        with tempfile.TemporaryDirectory(prefix="collector-share-") as scratch:
            self.distribution.data_files = write_shared_files(Path(scratch))
            super().run()


class Sdist(sdist):
    """`sdist`, complete: everything that git would give."""

    def make_distribution(self) -> None:
        """Add what is no Python module: the C half, the tests, the pages."""
        for top in ("libcollector_c", "tests", "docs", "experiments", ".ci", "CHANGELOG.md", "LICENSE"):
            for path in sorted([Path(top), *Path(top).rglob("*")]):
                if path.is_file() and not {"build", "__pycache__", ".pytest_cache"} & set(path.parts):
                    self.filelist.append(str(path))
        super().make_distribution()


def find_compiler() -> list[str]:
    """Give the words of the C compiler's command, or stop with one sentence."""
    command = shlex.split(os.environ.get("CC", ""))
    for candidate in [command] if command else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(candidate[0]):
            return candidate
    missing = f"CC={command[0]} is not there" if command else "there is no cc, no gcc and no clang"
    raise SystemExit(
        f"No C compiler: {missing}; collector compiles its recorder when it is installed,"
        " so install one first (apt install gcc) or name one with CC=."
    )


def compile_all(build_dir: Path) -> None:
    """Compile the C half into build_dir."""
    compiler = find_compiler()
    jobs = str(len(os.sched_getaffinity(0)))
    if shutil.which("make"):
        # Relative, as a later `make` by hand has it: what objects depend on is noted by their names.
        run(["make", "-C", str(SOURCE), "-j", jobs, f"BUILD={os.path.relpath(build_dir, SOURCE)}", f"CC={shlex.join(compiler)}"])
    else:
        compile_without_make(compiler, build_dir)


def install(build_dir: Path, native: Path) -> None:
    """Lay out what was compiled, and the headers, as collector/capture/installation.py expects them."""
    parts = {
        "lib": [*build_dir.glob("lib*.so"), *build_dir.glob("lib*.a")],
        "include": [*SOURCE.glob("include/*.h")],
        "fortran": [*SOURCE.glob("fortran/*.f90")],
        "metrics": [*build_dir.glob("metrics/*")],
    }
    for part, files in parts.items():
        (native / part).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, native / part)


def write_shared_files(directory: Path) -> list[tuple[str, list[str]]]:
    """Write manual pages and completions; give them as setuptools' data_files has them. Needs what the commands import."""
    sys.path.insert(0, str(SOURCE.parent))
    from collector.cli.describing.completion import completion_script
    from collector.cli.describing.man_page import man_page, page_name
    from collector.cli.main import iter_commands

    files = {
        "share/man/man1": {f"{page_name(name)}.1": man_page(name) for name in (None, *iter_commands())},
        "share/bash-completion/completions": {"collector": completion_script("bash")},
        "share/zsh/site-functions": {"_collector": completion_script("zsh")},
        "share/fish/vendor_completions.d": {"collector.fish": completion_script("fish")},
    }
    for folder, texts in files.items():
        (directory / folder).mkdir(parents=True)
        for name, text in texts.items():
            (directory / folder / name).write_text(text, encoding="utf-8")
    return [(folder, [os.path.relpath(directory / folder / name) for name in texts]) for folder, texts in files.items()]


def run(command: list[str]) -> None:
    """Run a command in libcollector_c; if it fails, its own words and one sentence are all there is to say."""
    print(shlex.join(command), flush=True)
    status = subprocess.call(command, cwd=SOURCE)
    if status:
        raise SystemExit(f"The C half did not compile: {command[0]} ended with status {status}; its messages are above.")


def read_variables() -> dict[str, str]:
    """Give the plain variables at the head of the Makefile, references expanded."""
    head = (SOURCE / "Makefile").read_text().partition("# --- from here on make only")[0]
    variables = dict(re.findall(r"^(\w+) = (.*)$", head, re.MULTILINE))
    for _ in variables:
        variables = _expand(variables)
    return variables


def _expand(variables: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(r"\$\((\w+)\)", lambda m: variables[m[1]], text) for name, text in variables.items()}


def compile_without_make(compiler: list[str], build_dir: Path) -> None:
    """Do what the Makefile's rules do, with every object compiled anew."""
    variables = {name: text.replace('"', r"\"") for name, text in read_variables().items()}
    words = {name: shlex.split(text) for name, text in variables.items()}
    given = shlex.split(os.environ.get("CFLAGS", ""))
    cflags = words["ALL_CFLAGS"] + given

    def compile_objects(kind: str, patterns: str, flags: list[str]) -> list[str]:
        sources = sorted({source for pattern in patterns.split() for source in glob.glob(pattern, root_dir=SOURCE)})
        objects = [build_dir / "obj" / kind / Path(source).with_suffix(".o") for source in sources]
        for directory in {made.parent for made in objects}:
            directory.mkdir(parents=True, exist_ok=True)
        commands = [[*compiler, *cflags, *flags, "-c", s, "-o", str(o)] for s, o in zip(sources, objects)]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(run, commands))
        return [str(made) for made in objects]

    def link(output: Path, objects: list[str], flags: list[str]) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        run([*compiler, *cflags, "-shared", f"-Wl,-soname,{output.name}", *objects, *flags, "-o", str(output)])

    recorder = compile_objects("recorder", variables["RECORDER_SOURCES"], words["RECORDER_CFLAGS"])
    link(build_dir / "libcollector.so", recorder, words["RECORDER_LDFLAGS"])
    for name, sources in (("collectorAPI", "API"), ("fcollector", "FORTRAN"), ("pmclog", "PMCLOG")):
        pattern = variables[f"{sources}_SOURCES"]
        link(build_dir / f"lib{name}.so", compile_objects("shared", pattern, []), words[f"{sources}_LDFLAGS"])
        archive = build_dir / f"lib{name}.a"
        archive.unlink(missing_ok=True)
        run(["ar", "rcs", str(archive), *compile_objects("hidden", pattern, ["-fvisibility=hidden"])])
    analysis = compile_objects("analysis", variables["ANALYSIS_SOURCES"], words["ANALYSIS_CFLAGS"] + given)
    link(build_dir / "libcollector_analysis.so", analysis, words["ANALYSIS_LDFLAGS"])
    for made in compile_objects("shared", variables["PLUGIN_SOURCES"], []):
        link(build_dir / "metrics" / Path(made).with_suffix(".so").name, [made], words["PLUGIN_LDFLAGS"])
    for definition in SOURCE.glob("plugins/*.xml"):
        (build_dir / "metrics").mkdir(exist_ok=True)
        shutil.copy(definition, build_dir / "metrics")
