"""test_floors -- the house rules that can be checked: who may import whom, name plates, docstrings, pages

The rules are those of docs/design.md; each test names the files that break one.
"""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "collector"
NATIVE = ROOT / "libcollector_c"

# What each part of the package may import from the rest of it, beside itself.
GROUND = {"errors", "format", "units", "readings", "reading_fields", "printable", "regular_file", "namesakes", "native_library", "runtimes", "named_tuple", "dataclass"}
ANY = GROUND | {"capture", "experiment", "target", "symbols", "profile", "analysis", "load", "importing", "reports", "page", "exports", "cli", ""}
MAY_IMPORT = {
    "errors": set(),
    "format": {"readings"},
    "units": set(),
    "readings": set(),
    "reading_fields": {"readings", "dataclass"},
    "printable": set(),
    "regular_file": set(),
    "namesakes": set(),
    "native_library": set(),
    "runtimes": {"named_tuple"},
    "named_tuple": set(),
    "dataclass": set(),
    "experiment": {"format", "reading_fields", "errors", "regular_file", "namesakes", "named_tuple", "dataclass"},
    "target": {"experiment", "format", "errors", "regular_file"},
    "symbols": {"target", "errors", "regular_file", "native_library"},
    "profile": {"units", "readings", "reading_fields", "runtimes", "named_tuple", "dataclass"},
    "importing": {"experiment", "symbols", "format", "errors", "units", "regular_file"},
    "reports": {"profile", "units", "printable", "named_tuple"},
    "page": {"profile", "units", "printable"},
    "exports": {"profile", "readings", "reading_fields", "units", "printable"},
    "capture": {"errors", "regular_file", "namesakes", "runtimes", "named_tuple"},
    "analysis": {"experiment", "profile", "errors", "format", "units", "regular_file", "native_library"},
    "load": {"analysis", "experiment", "target", "symbols", "profile", "reading_fields", "errors", "format", "units", "regular_file", "named_tuple"},
    "cli": ANY,
    "pytest_phases": {"capture"},
    "": ANY,  # the package itself re-exports
    "__main__": {"cli"},
}
FOREIGN_HOMES = {
    "msgpack": {"experiment", "load/serial.py"},
    "elftools": {"symbols"},
    "pyarrow": {"exports/arrow_table.py", "exports/arrow_dataset.py"},
    "mpi4py": {"load/engines.py"},
    "distributed": {"load/engines.py"},
    "ctypes": {"capture/native.py", "capture/open_watch.py", "symbols/demangle.py", "symbols/native_modules.py", "analysis"},
    "argparse": {"cli"},
    "pytest": {"pytest_phases.py"},  # pytest itself imports it
}

# libcollector_c/src, from the top floor to the ground: a file includes its own and those below.
C_FLOORS = ("entry", "control", "waits", "sample", "target", "experiment", "base")


def python_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "native" not in path.parts)


def c_files() -> list[Path]:
    return sorted(path for kind in ("*.c", "*.h") for path in NATIVE.rglob(kind) if "build" not in path.parts)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imported_modules(path: Path) -> tuple[tuple[int, str], ...]:
    """Every module that a file imports, at its top or inside a function, and the line; relative ones with their dots."""
    return tuple(_imported_modules(path))


def _imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module == "collector":
                for alias in node.names:
                    is_module = (PACKAGE / alias.name).is_dir() or (PACKAGE / f"{alias.name}.py").exists()
                    yield node.lineno, f"collector.{alias.name}" if is_module else "collector"
            else:
                yield node.lineno, module


def part_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is not a git tree, so nothing says which files belong to it")
    tops = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    allowed = {"pyproject.toml", "collector", "libcollector_c", "tests", "experiments", "docs", "README.md", "LICENSE", "CHANGELOG.md"}
    assert {top for top in tops if not top.startswith(".")} <= allowed


def test_no_part_imports_from_a_floor_above() -> None:
    broken = []
    for path in python_files():
        part = part_of(path)
        for line, module in imported_modules(path):
            words = module.split(".")
            if words[0] == "collector" and (target := words[1] if len(words) > 1 else "") not in MAY_IMPORT[part] | {part}:
                broken.append(f"{name_of(path)}:{line} imports collector.{target}")
    assert not broken, "\n".join(broken)


def test_imports_are_absolute() -> None:
    broken = [f"{name_of(path)}:{line}" for path in python_files() for line, module in imported_modules(path) if module.startswith(".")]
    assert not broken


def test_no_import_goes_in_circles() -> None:
    graph = {}
    for path in python_files():
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = {module for _, module in imported_modules(path) if module.startswith("collector.")}
    visited: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in visited:
            for following in sorted(graph.get(name, ())):
                visit(following, (*trail, name))
            visited.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_only_the_standard_library_and_two_packages() -> None:
    allowed = set(sys.stdlib_module_names) | {"collector", "msgpack", "elftools", "pytest", "pyarrow", "mpi4py", "distributed"}  # the last three only where they are asked for
    used = {(name_of(path), module.split(".")[0]) for path in python_files() for _, module in imported_modules(path)}
    assert not [pair for pair in used if pair[1] not in allowed]


@pytest.mark.parametrize("module", FOREIGN_HOMES)
def test_a_foreign_name_has_one_home(module: str) -> None:
    homes = FOREIGN_HOMES[module]
    strangers = [
        name_of(path)
        for path in python_files()
        if any(name.split(".")[0] == module for _, name in imported_modules(path))
        and part_of(path) not in homes
        and str(path.relative_to(PACKAGE)) not in homes
    ]
    assert not strangers


def test_only_commands_print() -> None:
    broken = [
        f"{name_of(path)}:{node.lineno}"
        for path in python_files()
        if part_of(path) != "cli"
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not broken


def test_every_python_file_has_its_name_plate() -> None:
    files = [*python_files(), *NATIVE.glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    broken = []
    for path in files:
        stem = path.parent.name if path.stem == "__init__" else path.stem
        if not re.match(rf'"""{re.escape(stem)} -- \S', path.read_text(encoding="utf-8")):
            broken.append(name_of(path))
    assert not broken


def test_every_c_and_fortran_file_has_its_name_plate() -> None:
    files = [*c_files(), *NATIVE.rglob("*.f90"), *(path for kind in ("*.c", "*.h") for path in (ROOT / "tests").rglob(kind))]
    broken = []
    for path in files:
        if not re.match(rf"(/\*[\s*]*|! ){re.escape(path.name)} -- \S", path.read_text(encoding="utf-8").lstrip()):
            broken.append(name_of(path))
    assert not broken


def public_names_without_docstring(path: Path) -> Iterator[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)

    def is_exempt(node: ast.AST) -> bool:
        decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])]
        return any(text.endswith((".setter", "overload")) for text in decorators)

    def visit(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if not isinstance(node, (*functions, ast.ClassDef)) or node.name.startswith("_") or is_exempt(node):
                continue
            if ast.get_docstring(node) is None:
                yield f"{name_of(path)}:{node.lineno} {prefix}{node.name}"
            if isinstance(node, ast.ClassDef):
                yield from visit(node.body, f"{prefix}{node.name}.")

    yield from visit(parse(path).body, "")


def test_every_public_name_has_a_docstring() -> None:
    missing = [name for path in [*python_files(), *NATIVE.glob("*.py")] for name in public_names_without_docstring(path)]
    assert not missing, "\n".join(missing)


def test_no_name_is_for_tests_alone() -> None:
    """Functions, classes and constants of modules are used, registered by a decorator, or named in a string, as commands and the package's own names are."""
    called_from_outside = {"pytest_runtest_protocol", "_repr_html_", "_translate_attr_value", "functions_by", "lines_by"}
    used = set(called_from_outside)
    for path in python_files():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update(re.findall(r"\w+", node.value))

    def unused(body: list[ast.stmt]) -> Iterator[str]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in used and not node.name.startswith("__"):
                yield node.name
            elif isinstance(node, ast.Assign):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name) and target.id not in used)
            if isinstance(node, ast.ClassDef) and not any("Enum" in ast.unparse(base) for base in node.bases):
                yield from unused([part for part in node.body if not isinstance(part, ast.Assign)])

    dead = [f"{name_of(path)}: {name}" for path in python_files() for name in unused(parse(path).body) if name != "__all__"]
    assert not dead, "\n".join(dead)


def test_every_command_has_its_page() -> None:
    from collector.cli.main import iter_commands, load_command

    for name in iter_commands():
        command = load_command(name)
        assert command.NAME == name
        page = ROOT / "docs/commands" / f"{name}.md"
        assert page.exists(), f"{name_of(page)} is missing"
        assert f"collector {name}" in page.read_text()


def test_every_long_option_is_on_its_commands_page() -> None:
    from collector.cli.main import build_parser, iter_commands, load_command

    for name in iter_commands():
        page = (ROOT / "docs/commands" / f"{name}.md").read_text()
        if name == "run":
            page += (ROOT / "docs/commands/record.md").read_text()
        for action in build_parser(load_command(name))._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or option in page, f"docs/commands/{name}.md says nothing of {option}"


def test_every_event_kind_has_its_heading() -> None:
    from collector.format import Kind

    page = (ROOT / "docs/format.md").read_text()
    assert not [kind.name for kind in Kind if f"### {kind.name} ({kind.value})" not in page]


def test_a_reading_of_sample_points_is_declared_once() -> None:
    """Beside its declaration it stands where it is read and where a table of text has a column for it."""
    from collector.readings import READINGS

    may = {"collector/readings.py", "collector/reading_fields.py", "collector/capture/readings.py", "collector/reports/samples.py", "collector/profile/views.py"}
    may |= {"collector/profile/sample_point.py"}  # made of the declaration
    names = {name for name, _, _ in READINGS} - {"user_ns", "system_ns", "read_bytes"}  # words that other things have as well
    word = re.compile(rf"\b({'|'.join(names)})\b")
    assert len(names) > 5
    assert {name_of(path) for path in python_files() if word.search(path.read_text(encoding="utf-8"))} <= may


def test_every_page_can_be_found_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text()
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert not [str(page) for page in pages if page.name != "index.md" and f"({page})" not in index]


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *NATIVE.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{name_of(page)}: {target}")
    assert not broken, "\n".join(broken)


def test_files_keep_their_size() -> None:
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*python_files(), *c_files()]}
    assert statistics.median(sizes.values()) <= 200
    assert not {name: size for name, size in sizes.items() if size > 500}


def test_c_floors() -> None:
    broken = []
    for floor_number, floor in enumerate(C_FLOORS):
        allowed = set(C_FLOORS[floor_number:])
        for path in sorted((NATIVE / "src" / floor).glob("*.[ch]")):
            for included in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE):
                above = included.partition("/")[0] if "/" in included else None
                is_public = (NATIVE / "include" / included).exists()
                if not is_public and above not in allowed:
                    broken.append(f"{name_of(path)} includes {included}")
    assert not broken, "\n".join(broken)


C_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
C_FUNCTION = re.compile(r"^(?P<head>\w[^\n;{}()=#]*?(?:__attribute__\(\(.*?\)\)[^\n;{}()=#]*?)*)\b(?P<name>\w+)\((?P<parameters>[^;{}]*)\)\s*\n\{", re.MULTILINE)


@cache
def c_code(path: Path) -> str:
    """A file without its comments, strings and continued lines."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n") or " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def unit_of(path: Path) -> str:
    """A .c file and the header of its name are one unit."""
    return name_of(path.with_suffix(""))


def c_uses() -> dict[str, dict[str, str]]:
    """{unit: {unit it needs: why}}: what it includes, and whose functions it names, in whatever header they are declared."""
    homes: dict[str, set[str]] = {}
    for path in c_files():
        for function in C_FUNCTION.finditer(c_code(path)):
            if path.suffix == ".c" and not function["head"].startswith("static"):
                homes.setdefault(function["name"], set()).add(unit_of(path))
    uses: dict[str, dict[str, str]] = {unit_of(path): {} for path in c_files()}
    for path in c_files():
        into = uses[unit_of(path)]
        for included in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            for folder in (path.parent, NATIVE / "src", NATIVE / "include", NATIVE / "pmclog"):
                if (folder / included).exists():
                    into.setdefault(unit_of((folder / included).resolve()), f"includes {included}")
                    break
        if path.suffix == ".c":
            for word in set(C_WORD.findall(re.sub(r"\bstruct \w+", "struct", c_code(path)))) & {name for name in homes if name.startswith("col_")}:
                if len(homes[word]) == 1:
                    into.setdefault(next(iter(homes[word])), f"names {word}")
    for unit, needed in uses.items():
        needed.pop(unit, None)
    return uses


def test_no_c_unit_needs_itself() -> None:
    """Neither by includes nor by calls: of two units, one stands on the other."""
    uses = c_uses()
    assert len(uses) > 100 and uses["libcollector_c/src/control/session"]["libcollector_c/src/sample/sampler"]
    visited: set[str] = set()

    def visit(unit: str, trail: tuple[str, ...]) -> None:
        if unit in trail:
            circle = [*trail[trail.index(unit) :], unit]
            raise AssertionError("\n".join(f"{one} {uses[one][other]}" for one, other in zip(circle, circle[1:])))
        if unit not in visited:
            for following in sorted(uses[unit]):
                visit(following, (*trail, unit))
            visited.add(unit)

    for unit in sorted(uses):
        visit(unit, ())


def test_no_c_function_is_for_tests_alone() -> None:
    """What the product does not call is exported, by name or by a version script."""
    exported = "".join(path.read_text() for path in NATIVE.rglob("*.map") if "build" not in path.parts)
    names, prefixes = set(re.findall(r"\b(\w+);", exported)), tuple(re.findall(r"\b(\w+)\*;", exported))
    words = Counter(word for path in c_files() if path.suffix == ".c" or "static inline" in c_code(path) for word in C_WORD.findall(c_code(path)))
    declared = Counter(word for path in c_files() if path.suffix == ".h" and "static inline" in c_code(path) for word in re.findall(r"^[^\n ]*\b(\w+)\([^{}]*?\);", c_code(path), re.MULTILINE))
    dead = [
        f"{name_of(path)}: {function['name']}"
        for path in c_files()
        if path.suffix == ".c" and path.parent.name not in ("api", "fortran", "plugins", "entry")
        for function in C_FUNCTION.finditer(c_code(path))
        if words[function["name"]] - declared[function["name"]] < 2 and function["name"] not in names and not function["name"].startswith(prefixes)
    ]
    assert not dead, "\n".join(dead)


def functions_handed_down() -> Iterator[str]:
    """Where a function is given, as an argument or in a struct, to a function of a floor below its own."""
    floor_of = {floor: number for number, floor in enumerate(reversed(C_FLOORS))}
    paths = [path for path in c_files() if path.is_relative_to(NATIVE / "src")]
    shared: dict[str, int] = {}
    own: dict[Path, dict[str, int]] = {path: {} for path in paths}
    for path in paths:
        for function in C_FUNCTION.finditer(c_code(path)):
            homes = own[path] if function["head"].startswith("static") else shared
            homes[function["name"]] = floor_of[path.parent.name]
    for path in paths:
        code = c_code(path)
        known = {name: floor for name, floor in {**shared, **own[path]}.items() if name.startswith("col_") or name in own[path]}
        for call in re.finditer(r"\b(col_\w+)\(", code):
            callee_floor = shared.get(call[1])
            if callee_floor is None:
                continue
            for word in re.finditer(r"(?<![\w.>])(?<!struct )(\w+)\b(?!\s*[\w(.\[]|->)", argument_text(code, call.end())):
                if known.get(word[1], callee_floor) > callee_floor and not re.search(rf"(?<![\w.>]){word[1]}\s*=[^=]", code):
                    yield f"{name_of(path)}: {call[1]} is given {word[1]}"


def argument_text(code: str, start: int) -> str:
    """What is between the parentheses of a call."""
    depth, end = 1, start
    while depth and end < len(code):
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return code[start : end - 1]


def test_no_c_floor_is_given_a_function_of_one_above() -> None:
    broken = sorted(set(functions_handed_down()))
    assert not broken, "\n".join(broken)


def test_c_folders_are_the_floors() -> None:
    assert {path.name for path in (NATIVE / "src").iterdir() if path.is_dir()} == set(C_FLOORS)


def test_systems_and_processors_are_told_apart_in_base_only() -> None:
    """The choice of an unwinder is free; everything else asks base/."""
    pattern = re.compile(r"^\s*#\s*(?:el)?if.*(__x86_64__|__aarch64__|__linux__|__i386__|__arm__|__GLIBC__|\bSYS_\w+|\b__NR_\w+)", re.MULTILINE)
    broken = [
        f"{name_of(path)}: {match[0].strip()}"
        for path in c_files()
        if path.is_relative_to(NATIVE / "src") and path.parent.name != "base" and not path.name.startswith("unwind")
        for match in pattern.finditer(path.read_text())
    ]
    assert not broken, "\n".join(broken)


def test_only_entry_exports() -> None:
    broken = [
        name_of(path)
        for path in c_files()
        if path.is_relative_to(NATIVE / "src") and path.parent.name != "entry" and 'visibility("default")' in path.read_text()
    ]
    assert not broken


def test_at_most_one_state_a_file() -> None:
    broken = []
    for path in c_files():
        if path.is_relative_to(NATIVE / "src"):
            states = re.findall(r"^static (?:_Thread_local |__thread )?struct[^;(]*?\} (\w+)[^;(]*;", path.read_text(), re.MULTILINE)
            if len(states) > 1:
                broken.append(f"{name_of(path)}: {', '.join(states)}")
    assert not broken


def test_atomics_have_one_dialect() -> None:
    """The builtins, whose operands are ordinary types: a word may be atomic in one place and its thread's own in another."""
    pattern = re.compile(r"stdatomic\.h|\b_Atomic\b|\batomic_\w+|\b__sync_\w+")
    assert not [f"{name_of(path)}: {match[0]}" for path in c_files() for match in pattern.finditer(path.read_text(encoding="utf-8"))]


def test_versions_agree() -> None:
    import collector

    project = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    native = re.search(r"^VERSION = (\S+)", (NATIVE / "Makefile").read_text(), re.MULTILINE)
    assert project and native
    assert collector.__version__ == project[1] == native[1]
    assert f"## {project[1]}" in (ROOT / "CHANGELOG.md").read_text()
