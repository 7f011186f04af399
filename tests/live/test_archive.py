"""test_archive -- every view of an archived experiment without the originals, byte for byte as with them"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from all_views import FORMS, differing, views_of, words_of_views
from recorded import IS_THOROUGH, Recorded, collector_command, execute

_PART = """
#include <time.h>
static inline long step(long i) { return i * 3 % 7; }
__attribute__((noinline)) long NAME(long until_ms)
{
    struct timespec now = {0, 0};
    long sum = 0;
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < until_ms) {
        for (int j = 0; j < 100000; j++) sum += step(sum + j);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        for (int j = 0; j < 1000; j++) clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    }
    return sum;
}
"""
_MAIN = "long linked(long); long nameless(long); long split(long);\nint main(void) { return (linked(150) + nameless(300) + split(450)) == 42; }\n"


def run(*command: object, directory: Path) -> None:
    done = subprocess.run([str(word) for word in command], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of split units, a library with a debug file of its own, and one without a build id."""
    for tool in ("gcc", "objcopy", "objdump"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    place = tmp_path_factory.mktemp("build")
    for name in ("linked", "nameless", "split"):
        (place / f"{name}.c").write_text(_PART.replace("NAME", name))
    (place / "main.c").write_text(_MAIN)
    library = ("gcc", "-g", "-O2", "-shared", "-fPIC")
    run(*library, "-o", "liblinked.so", "linked.c", directory=place)
    run("objcopy", "--only-keep-debug", "liblinked.so", "linked.debug", directory=place)
    run("objcopy", "--strip-all", "--add-gnu-debuglink=linked.debug", "liblinked.so", directory=place)
    run(*library, "-Wl,--build-id=none", "-o", "libnameless.so", "nameless.c", directory=place)
    run("objcopy", "--only-keep-debug", "libnameless.so", "nameless.debug", directory=place)
    run("objcopy", "--strip-all", "--add-gnu-debuglink=nameless.debug", "libnameless.so", directory=place)
    run("gcc", "-g", "-O2", "-gsplit-dwarf", "-c", "split.c", "main.c", directory=place)
    run("gcc", "-o", "program", "split.o", "main.o", "-L.", "-llinked", "-lnameless", f"-Wl,-rpath,{place}", directory=place)
    return place


@pytest.fixture(scope="module")
def archived(built: Path, record: Callable[..., Recorded], tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The experiment; what every view showed; what was archived, and that the originals are gone."""
    home = tmp_path_factory.mktemp("home")
    path = record([built / "program"], experiment=home / "a.expt").path
    before = views_of(path, home / "before")
    made = execute(collector_command("archive", "--sources", path))
    assert made.status == 0, made.stderr
    again = execute(collector_command("archive", "--sources", path))
    built.rename(built.with_name("gone"))
    return {"path": path, "before": before, "made": made, "again": again, "home": home, "built": built}


def test_every_view_without_the_originals(archived: dict) -> None:
    """With a cache that knows nothing of them, and with the one that does; a thorough run shows every form from that one, too."""
    before = archived["before"]
    assert {words: text for words, text in before.items() if not text.startswith("0\n")} == {}
    assert differing(before, views_of(archived["path"], archived["home"] / "cold")) == {}
    after = views_of(archived["path"], archived["home"] / "before", asked=words_of_views(FORMS if IS_THOROUGH else FORMS[:1]))
    assert after and differing({words: before[words] for words in after}, after) == {}


def test_the_views_have_what_needs_the_files(archived: dict) -> None:
    before = archived["before"]
    functions, listing = before["functions",], before["disasm", "linked"]
    assert re.search(r"step +liblinked", functions) and re.search(r"step +libnameless", functions) and re.search(r"step +program", functions)
    assert "sum += step(sum + j);" in before["source", "split.c"]
    assert re.search(r"call .*<clock_gettime@plt>", listing) and "linked.c:" in listing


def test_on_a_machine_that_is_no_linux(archived: dict) -> None:
    """In another directory, with no module of this system, no /proc, no library of ours: only inlined calls of split units take that."""
    moved = archived["home"] / "elsewhere"
    shutil.copytree(archived["path"], moved / "a.expt", copy_function=shutil.copy2)
    hidden = (archived["built"], archived["path"], "/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/debug")
    after = views_of(moved / "a.expt", archived["home"] / "elsewhere-cache", hidden)
    after = {words: text.replace(str(moved), str(archived["home"])) for words, text in after.items()}
    assert differing(archived["before"], after) == {}


def test_what_is_told(archived: dict) -> None:
    for done in (archived["made"], archived["again"]):
        assert re.search(r"a\.expt/archive: [4-6] modules, [3-6] debug files, \d+ sources, [\d.]+ MiB", done.stdout), done.stdout
    assert "nothing of it new" in archived["again"].stdout and "of it new" not in archived["made"].stdout
    assert all(line.startswith("collector: ") for line in archived["made"].stderr.splitlines())


def test_whose_it_is(archived: dict) -> None:
    root = archived["path"] / "archive"
    assert root.stat().st_mode & 0o777 == 0o700
    for directory, directories, files in os.walk(root):
        assert not [name for name in directories if (Path(directory) / name).stat().st_mode & 0o777 != 0o700]
        assert not [name for name in files if (Path(directory) / name).stat().st_mode & 0o777 != 0o600]
