"""test_outdated -- sources that were changed after the code was built, or after the recording"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from tiny_profile import RECORDING, S, build_profile

from collector.load.outdated import change_of, with_outdated
from collector.profile.model import PYTHON, Profile, SourceDigest

RECORDED = RECORDING.wall_ns + RECORDING.end_ns - RECORDING.start_ns


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """Functions a and b of a program, with their sources, all of them older than the recording."""
    made = build_profile([("a;b", 1, 0)])
    moved = {name: str(tmp_path / name) for name in ("a.c", "b.c", "prog")}
    for path in moved.values():
        write(Path(path), RECORDED - 10 * S)
    frames = tuple(frame._replace(file=moved[os.path.basename(frame.file or "")]) for frame in made.frames)
    return made._replace(frames=frames, modules=(made.modules[0]._replace(name="prog", path=moved["prog"]),))


def write(path: Path, time_ns: int) -> None:
    path.write_text("")
    os.utime(path, ns=(time_ns, time_ns))


def told(profile: Profile) -> list[str]:
    return [message.text for message in with_outdated(profile).messages]


def test_sources_as_old_as_the_code_are_none(profile: Profile) -> None:
    assert told(profile) == []


def test_sources_newer_than_the_code_are_one_message_a_module(profile: Profile, tmp_path: Path) -> None:
    write(tmp_path / "b.c", RECORDED - 9 * S)
    assert told(profile) == ["b.c is newer than prog or the recording; if this is more than a fresh checkout, lines may not be those that were compiled."]
    assert change_of(profile, str(tmp_path / "b.c")).startswith("the file is newer than prog, so, if")
    write(tmp_path / "a.c", RECORDED - 9 * S)
    assert told(profile)[0].startswith("a.c and 1 more source are newer than prog")
    assert [message.outdated for message in with_outdated(profile).messages] == ["prog"]


def test_where_the_compiler_gave_md5_sums_they_decide(profile: Profile, tmp_path: Path) -> None:
    """A fresh checkout has changed nothing; of a file that was edited and has its old time, the view of its source tells."""
    a, b = tmp_path / "a.c", tmp_path / "b.c"
    known = profile._replace(digests=tuple(SourceDigest(str(path), hashlib.md5(b"int x;").hexdigest()) for path in (a, b)))
    for path in (a, b):
        path.write_text("int x;")
    assert told(profile)[0].startswith("a.c and 1 more source are newer") and told(known) == []
    assert change_of(known, str(a)) == ""
    b.write_text("int xx;")
    assert told(known) == ["b.c has changed, by its MD5 sum, since prog was compiled, so lines may not be those that were compiled."]
    assert change_of(known, str(b)).startswith("the file has changed since it was compiled, by its MD5 sum, so")
    write(b, RECORDED - 10 * S)
    assert told(known) == [] and change_of(known, str(b)) != ""
    both = known._replace(digests=(*known.digests, SourceDigest(str(b), hashlib.md5(b"").hexdigest())))
    assert change_of(both, str(b)) == ""


def test_without_the_code_the_recording_counts(profile: Profile, tmp_path: Path) -> None:
    (tmp_path / "prog").unlink()
    write(tmp_path / "a.c", RECORDED - S)
    assert told(profile) == [] and change_of(profile, str(tmp_path / "a.c")) == ""
    write(tmp_path / "a.c", RECORDED + S)
    assert told(profile)[0].startswith("a.c is newer than prog or the recording")
    assert "newer than the recording" in change_of(profile, str(tmp_path / "a.c"))
    (tmp_path / "a.c").unlink()
    assert told(profile) == []


def test_a_python_file_is_compared_with_the_recording(profile: Profile, tmp_path: Path) -> None:
    frames = tuple(frame._replace(kind=PYTHON) for frame in profile.frames)
    functions = tuple(function._replace(file=str(tmp_path / f"{function.name}.c")) for function in profile.functions)
    python = profile._replace(frames=frames, functions=functions, modules=(profile.modules[0]._replace(name="pkg/b.c", path=""),))
    write(tmp_path / "b.c", RECORDED - 9 * S)
    assert told(python) == []
    write(tmp_path / "b.c", RECORDED + S)
    assert told(python) == ["pkg/b.c is newer than the recording; if this is more than a fresh checkout, lines may not be those that ran."]
    assert change_of(python, str(tmp_path / "b.c")) == "the file is newer than the recording, so, if this is more than a fresh checkout, lines may not be those that ran"
