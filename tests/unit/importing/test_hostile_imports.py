"""test_hostile_imports -- whatever the bytes are: an experiment with all that they say, or one sentence"""

from __future__ import annotations

import gzip
import os
import random
import shutil
from pathlib import Path

import pytest
from test_callgrind import _BODY, _HEAD
from test_perf_script import _FULL
from test_pprof import message, small_profile

from collector.cli.main import main
from collector.errors import ForeignProfileError
from collector.experiment.directory import open_directory
from collector.experiment.merge import iter_records
from collector.experiment.samples import PcSampleBlock
from collector.importing.experiment_files import write_experiment
from collector.importing.reading import FORMATS, read_profile
from collector.load import load
from collector.profile import aggregate

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
_SOUND = {
    "perf": _FULL.encode(),
    "callgrind": (_HEAD + _BODY).encode(),
    "pprof": small_profile(),
    "folded": b"main;work;leaf 3\nmain;work 2\nmain;std::f<a, b>(int) 1.5\n",
}


def import_bytes(directory: Path, data: bytes, format_name: str | None = None) -> bool:
    """Whether it could be imported. What cannot be is a sentence; what can be is there to the last unit, and can be shown."""
    path = directory / "bytes"
    path.write_bytes(data)
    try:
        profile = read_profile(str(path), format_name, None, None)
    except ForeignProfileError as error:
        assert "\n" not in str(error)
        return False
    target = directory / "target.expt"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    write_experiment(profile, str(target), "bytes", "0")
    records = [record for log in open_directory(target).logs for record in iter_records(log)]
    assert sum(record.user_ns + record.system_ns for record in records if isinstance(record, PcSampleBlock)) == profile.total * profile.value.unit_ns
    loaded = load([target])
    assert aggregate.functions(loaded) and not loaded.losses
    return True


@pytest.mark.parametrize("format_name", FORMATS)
def test_files_that_are_cut(tmp_path, format_name):
    data = _SOUND[format_name]
    step = 1 if IS_THOROUGH else max(1, len(data) // 60)
    cut = [import_bytes(tmp_path, data[:size], format_name) for size in range(0, len(data), step)]
    assert not cut[0] and import_bytes(tmp_path, data)


@pytest.mark.parametrize("format_name", FORMATS)
def test_files_with_wrong_bytes(tmp_path, format_name):
    numbers = random.Random(format_name)
    pieces = [b"\0", b"\xff", b"\n", b"9" * 25, b"-", b";" * 100, b"\t", b"((((", b"=", b"\xff" * 9 + b"\x7f", b"1e99", b":", b" "]
    for _ in range(3000 if IS_THOROUGH else 120):
        data = bytearray(_SOUND[format_name])
        for _ in range(numbers.randrange(1, 4)):
            place = numbers.randrange(len(data))
            data[place : place + numbers.randrange(3)] = numbers.choice(pieces)
        import_bytes(tmp_path, bytes(data), format_name)


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_one_format_taken_for_another(tmp_path, format_name, other):
    import_bytes(tmp_path, _SOUND[other], format_name)


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_format_is_known_by_the_content(tmp_path, format_name):
    for data in (_SOUND[format_name], gzip.compress(_SOUND[format_name])):
        (tmp_path / "bytes").write_bytes(data)
        assert read_profile(str(tmp_path / "bytes"), None, None, None).format == {"perf": "perf script"}.get(format_name, format_name)


@pytest.mark.parametrize("format_name", [None, *FORMATS])
@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n\n", bytes(1 << 18), b"\x7fELF" + bytes(range(256)) * 40, b"{}\n", b"hello world\n", b"\x1f\x8b", gzip.compress(bytes(1 << 24)), os.urandom(4096),
     b"<html>\n<body>1</body>\n", "\N{GRINNING FACE}".encode() * 99],
    ids=["empty", "lines", "zeros", "elf", "json", "words", "half a gzip", "zeros in gzip", "noise", "html", "faces"],
)  # fmt: skip
def test_rubbish(tmp_path, data, format_name):
    assert not import_bytes(tmp_path, data, format_name)


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("collector.importing.source_file._LONGEST_PIECE_BYTES", 1 << 20)
    assert not import_bytes(tmp_path, b"a 1\n" + b"x" * (8 << 20))
    monkeypatch.setattr("collector.importing.source_file._MOST_BYTES", 1 << 20)
    (tmp_path / "big").write_bytes(small_profile(more=message((99, bytes(2 << 20)))))
    with pytest.raises(ForeignProfileError, match="has more than"):
        read_profile(str(tmp_path / "big"), "pprof", None, None)


def test_deep_and_long_things(tmp_path):
    assert import_bytes(tmp_path, b";".join(b"f%d" % (n % 7) for n in range(200_000)) + b" 5\n")
    assert import_bytes(tmp_path, b"y;" + b"x" * (1 << 20) + b" 5\n")
    inlined = "".join(f"\t 1000 f{n}+0x1 (inlined)\n" for n in range(2_000))
    assert import_bytes(tmp_path, f"p 1/1 1.000000: 1 cpu-clock: \n{inlined}\t 1000 main+0x1 (/p)\n\n".encode())


@pytest.mark.parametrize("piece", [b" ", b"\t", b"a ", b"1 ", b"+0x1 (", b"(", b": ", b";", b"1:1 ", b"[1] ", b"1/1 "])
@pytest.mark.parametrize("format_name", FORMATS)
def test_long_lines_take_time_in_proportion(tmp_path, format_name, piece):
    """Of this length anything else would take hours."""
    head = {"perf": b"p 1/1 1.000000: 1 cpu-clock: \n\t 10 f+0x1 (/p)\n\n", "callgrind": _HEAD.encode() + b"fn=f\n1 1\n", "pprof": b"", "folded": b"a 1\n"}
    long = piece * ((1 << 20 if IS_THOROUGH else 1 << 19) // len(piece))
    lines = (long + b"x", b"\t 10 " + long + b"x", b"a" + long + b"x 1", b"p 1/1 1.000000: 1 e: " + long, b"fn=" + long + b"x", b"1 " + long + b"x")
    for line in lines[:2] if format_name == "pprof" and not IS_THOROUGH else lines:  # these bytes are fields, however they begin
        import_bytes(tmp_path, head[format_name] + line + b"\n", format_name)


def test_names_are_no_commands_to_the_terminal(tmp_path, capsys):
    path = tmp_path / "evil\x1b[31m.folded"
    path.write_bytes(b"\x1b]0;title\x07;<script>alert(1)</script>;\xff 3\n")
    assert main(["import", str(path), "-o", str(tmp_path / "e.expt")]) == 0
    assert main(["report", str(tmp_path / "e.expt"), "calltree"]) == 0
    assert main(["report", str(tmp_path / "e.expt"), "functions", "--json"]) == 0
    assert main(["import", str(path), "-o", str(tmp_path / "e.expt")]) == 1
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err and "\x07" not in told.out
