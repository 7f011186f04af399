"""test_replaced_files -- programs and sources that were changed after the recording: their names and lines are not taken for the recorded ones"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from collector.cli.main import main
from collector.load import load

_SOURCE = """
#include <time.h>
#ifdef SHIFTED
int before_everything(int x) { return x * 3 + 1; }
#endif
__attribute__((noinline)) void NAME(void)
{
    struct timespec now = {0, 0};
    for (volatile long i = 0; now.tv_sec * 1000 + now.tv_nsec / 1000000 < 150;) {
        for (int j = 0; j < 100000; j++) i++;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    }
}
int main(void) { NAME(); return 0; }
"""


def _build(directory: Path, name: str, *flags: str) -> Path:
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    source, program = directory / "program.c", directory / "program"
    source.write_text(_SOURCE)
    program.unlink(missing_ok=True)
    command = ["gcc", "-g", "-O1", f"-DNAME={name}", *flags, "-o", str(program), str(source)]
    subprocess.run(command, check=True)
    return program


def _record(program: Path, recorder: Path, experiment: Path) -> Path:
    environment = {**os.environ, "COLLECTOR_EXPERIMENT": str(experiment), "LD_PRELOAD": str(recorder)}
    subprocess.run([program], env=environment, check=True)
    return experiment


def _names(experiment: Path) -> tuple[set[str], str]:
    """The functions of the program that took time, and all that there is to say about them."""
    profile = load(experiment)
    said = " ".join(message.text for message in profile.messages)
    return {f.name for f in profile.functions if profile.modules[f.module].name == "program"}, said


@pytest.mark.parametrize("link", ["-pie", "-no-pie", "-static-pie"])
def test_another_program_without_a_build_id(link: str, recorder: Path, tmp_path: Path) -> None:
    """Its file is told by size and time, or else by its code; a copy of it is as good as itself."""
    flags = ["-Wl,--build-id=none", *([link] if link != "-static-pie" else ["-rdynamic", "-Wl,-z,noseparate-code"])]
    program = _build(tmp_path, "the_recorded_one", *flags)
    experiment = _record(program, recorder, tmp_path / "a.expt")
    assert "the_recorded_one" in _names(experiment)[0]

    kept = tmp_path / "kept"
    shutil.copyfile(program, kept)
    _build(tmp_path, "another_one", *flags, "-DSHIFTED")
    names, said = _names(experiment)
    assert names and all(name.startswith("program+0x") for name in names)
    assert f"program is shown without function names: {program} has changed since the recording" in said

    os.replace(kept, program)
    os.utime(program, (1_000_000, 1_000_000))
    names, said = _names(experiment)
    assert "the_recorded_one" in names and "changed" not in said


def test_a_source_that_was_changed_since_the_build(recorder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = _build(tmp_path, "spin")
    experiment = _record(program, recorder, tmp_path / "a.expt")
    source = tmp_path / "program.c"
    assert main(["report", str(experiment), "source", "spin"]) == 0
    assert "is newer" not in capsys.readouterr().out
    built = program.stat().st_mtime_ns
    os.utime(source, ns=(built + 10**9, built + 10**9))
    for format, escaped in (((), False), (("--json",), True)):
        assert main(["report", str(experiment), "source", "spin", *format]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert "the file is newer than program," in text
    program.unlink()
    os.utime(source, ns=(built - 10**9, built - 10**9))
    assert main(["report", str(experiment), "source", str(source)]) == 0
    assert "is newer" not in capsys.readouterr().out
    os.utime(source, ns=(built + 10**15, built + 10**15))
    assert main(["report", str(experiment), "source", str(source)]) == 0
    assert "the file is newer than the recording," in " ".join(capsys.readouterr().out.split())
