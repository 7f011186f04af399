"""test_definitions -- metric definition files: every element and attribute, and what happens when they are wrong"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from collector.capture.colours import resolve_colour
from collector.capture.definition_file import read_definitions
from collector.capture.definitions import DefinitionFile

WHOLE = """<?xml version="1.0" encoding="UTF-8"?>
<metricdefinition version="1">
  <metric id="com.example.power">
    <enabled>default_no</enabled>
    <units>W</units>
    <dataType>double</dataType>
    <domain>time</domain>
    <onePerNode>true</onePerNode>
    <backfill>true</backfill>
    <source ref="com.example.src" functionName="get_power" divideBySampleTime="true" customData="a&#9;b \\ c"/>
    <display>
      <description>Power of
        the node</description>
      <displayName>Power</displayName>
      <type>energy</type>
      <colour>#123456789</colour>
      <rel type="integral" name="com.example.energy"/>
      <unknown/>
    </display>
  </metric>
  <metric id="com.example.energy">
    <units>J</units><dataType>uint64_t</dataType><domain>time</domain>
    <source ref="com.example.src" functionName="get_energy"/>
  </metric>
  <metricGroup id="g">
    <displayName>Energy</displayName><description>All of it</description>
    <metric ref="com.example.power"/><metric ref="com.example.missing"/>
  </metricGroup>
  <source id="com.example.src">
    <sharedLibrary>lib-energy.so</sharedLibrary>
    <preload>lib-one.so</preload><preload>lib-two.so</preload>
    <functions><start>begin</start><stop>end</stop></functions>
  </source>
  <anything else="x"/>
</metricdefinition>
"""


def read(tmp_path: Path, text: str | bytes) -> DefinitionFile:
    path = tmp_path / "x.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_definitions(str(path))


def metric(body: str = "", source: str = 'functionName="f"', identifier: str = "m", ref: str = "s") -> str:
    """A file of two metrics, the second of which is always good; `body` replaces what the first has."""
    good = '<metric id="good"><dataType>double</dataType><domain>time</domain><source ref="s" functionName="f"/></metric>'
    return (
        f'<metricdefinitions version="1">\n<metric id="{identifier}">\n{body}\n<source ref="{ref}" {source}/>\n</metric>\n{good}\n'
        '<source id="s"><sharedLibrary>l.so</sharedLibrary></source></metricdefinitions>'
    )


def test_every_element_and_attribute(tmp_path: Path) -> None:
    file = read(tmp_path, WHOLE)
    assert file.problems == ()
    power, energy = file.metrics
    assert (power.id, power.line, power.source, power.function, power.data_type) == ("com.example.power", 3, "com.example.src", "get_power", "double")
    assert (power.units, power.enabled, power.per_node, power.backfill, power.divided) == ("W", "default_no", True, True, True)
    assert (power.custom_data, power.title, power.description) == ("a\tb \\ c", "Power", "Power of the node")
    assert (power.category, power.colour, power.integral) == ("energy", "#124578", "com.example.energy")
    assert (energy.enabled, energy.per_node, energy.backfill, energy.divided) == ("default_yes", False, False, False)
    assert (energy.title, energy.category, energy.data_type) == ("com.example.energy", "other", "uint64_t")
    (group,) = file.groups
    assert (group.title, group.description, group.metrics) == ("Energy", "All of it", ("com.example.power", "com.example.missing"))
    (source,) = file.sources
    assert (source.library, source.preloads, source.start, source.stop) == ("lib-energy.so", ("lib-one.so", "lib-two.so"), "begin", "end")


def test_both_names_of_the_root_are_taken_and_sources_may_come_first(tmp_path: Path) -> None:
    assert len(read(tmp_path, WHOLE.replace("metricdefinition ", "metricdefinitions ").replace("/metricdefinition>", "/metricdefinitions>")).metrics) == 2
    begin, end = WHOLE.index("  <source id"), WHOLE.index("  <anything")
    head = WHOLE.index("  <metric id")
    moved = WHOLE[:head] + WHOLE[begin:end] + WHOLE[head:begin] + WHOLE[end:]
    assert len(read(tmp_path, moved).metrics) == 2


@pytest.mark.parametrize(
    "body, source, identifier, line, reason",
    [
        ("<domain>time</domain>", 'functionName="f"', "m", 2, "it has no <dataType>"),
        ("<dataType>int</dataType>", 'functionName="f"', "m", 3, "its <dataType> is 'int', not uint64_t or double"),
        ("<dataType>double</dataType><domain>space</domain>", 'functionName="f"', "m", 3, "its <domain> is 'space', not time"),
        ("<dataType>double</dataType>", "", "m", 4, "it has no functionName"),
        ("<dataType>double</dataType>", 'functionName="f g"', "m", 4, "its functionName 'f g' is no function's name"),
        ("<dataType>double</dataType>", 'functionName="2f"', "m", 4, "its functionName '2f' is no function's name"),
        ("<dataType>double</dataType>", 'functionName=".f"', "m", 4, "its functionName '.f' is no function's name"),
        ("<dataType>double</dataType>", 'functionName="äf"', "m", 4, "its functionName 'äf' is no function's name"),
        ("<dataType>double</dataType>", 'functionName="f-g"', "m", 4, "its functionName 'f-g' is no function's name"),
        ("<dataType>double</dataType>", 'functionName="f"', "m m", 2, "its id holds a blank or a control character"),
        ("<dataType>double</dataType>", 'functionName="f"', "", 2, "it has no id"),
        ("<dataType>double</dataType><enabled>maybe</enabled>", 'functionName="f"', "m", 3, "its <enabled> is 'maybe', not always or"),
        ("<dataType>double</dataType><onePerNode>2</onePerNode>", 'functionName="f"', "m", 3, "its <onePerNode> is '2', not true or false"),
        ("<dataType>double</dataType>", 'functionName="f" divideBySampleTime="often"', "m", 4, "its divideBySampleTime is 'often', not true or false"),
        ("<dataType>double</dataType>", 'functionName="f"', "good", 6, "there is another of that id before it"),
    ],
)
def test_a_wrong_metric_is_left_out_with_file_line_and_reason(tmp_path: Path, body: str, source: str, identifier: str, line: int, reason: str) -> None:
    file = read(tmp_path, metric(body, source, identifier))
    (problem,) = file.problems
    assert problem.startswith(f"{file.path}:{line}: <metric") and reason in problem
    assert [known.id for known in file.metrics] == ["good"]


@pytest.mark.parametrize("name", ["f", "_", "$", "_ZN1aC2Ev", "f.cold.2", "f@VERS_1.0", "$f$"])
def test_names_of_functions_are_those_of_linkers(tmp_path: Path, name: str) -> None:
    file = read(tmp_path, metric("<dataType>double</dataType>", f'functionName="{name}"'))
    assert file.problems == () and file.metrics[0].function == name


def test_a_dangling_source_is_told(tmp_path: Path) -> None:
    file = read(tmp_path, metric("<dataType>double</dataType>", ref="nobody"))
    assert file.problems == (f"{file.path}:4: <metric id='m'> is left out: there is no usable <source id='nobody'> in the file",)


@pytest.mark.parametrize(
    "body",
    [
        "<dataType>double</dataType><units></units>",
        "<dataType>double</dataType><units>furlongs per fortnight</units>",
        "<dataType>double</dataType><display><type>weather</type><colour>a nice one</colour><rel type='integral' name='nobody'/></display>",
        "<dataType>double</dataType><enabled></enabled><domain>time</domain><future>1</future>",
    ],
)
def test_what_is_only_odd_is_taken(tmp_path: Path, body: str) -> None:
    file = read(tmp_path, metric(body))
    assert file.problems == () and len(file.metrics) == 2


@pytest.mark.parametrize(
    "text, colour",
    [("#fff", "#ffffff"), ("#A1b2C3", "#a1b2c3"), ("#123456789", "#124578"), ("#111122223333", "#112233"), (" Teal ", "teal"),
     ("#12", "#d62728"), ("reddish", "#d62728"), ("", "#d62728"), ("#ggg", "#d62728")],
)
def test_colours(text: str, colour: str) -> None:
    assert resolve_colour(text, "memory") == colour


LAUGHS = "<!DOCTYPE m [<!ENTITY a 'ha'>" + "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(12)) + "]><metricdefinitions version='1'>&m;</metricdefinitions>"


@pytest.mark.parametrize(
    "text, reason",
    [
        (LAUGHS, ":1: document types and entities are not taken"),
        ("<!DOCTYPE m SYSTEM 'file:///etc/passwd'><metricdefinitions/>", ":1: document types and entities are not taken"),
        ("<metricdefinitions>&undefined;</metricdefinitions>", ":1: it is not well-formed XML"),
        ("", ":1: it is not well-formed XML"),
        ("<metricdefinitions>\n<metric", ":2: it is not well-formed XML"),
        ("<html/>", ":1: its root element is <html>, not <metricdefinitions>"),
        ("<metricdefinitions version='2'/>", ":1: it is of version '2'; only version 1 is known"),
        ("<a>" * 40 + "</a>" * 40, ":1: more than 32 elements are nested"),
        ("<?xml version='1.0' encoding='klingon'?><metricdefinitions/>", ":1: "),
        (b"<metricdefinitions>\xff\xfe\x00</metricdefinitions>", ":1: it is not well-formed XML"),
        ("<metricdefinitions>" + " " * (1 << 20) + "</metricdefinitions>", ": it is longer than 1 MiB"),
    ],
)
def test_a_file_that_is_no_use_is_one_sentence(tmp_path: Path, text: str | bytes, reason: str) -> None:
    file = read(tmp_path, text)
    (problem,) = file.problems
    assert problem.startswith(f"{file.path}{reason}")
    assert (file.metrics, file.sources) == ((), ())


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    for name, reason in (("none.xml", "it cannot be read: no such file or directory"), ("pipe.xml", "it is not a regular file"), ("", "it is not a regular file")):
        assert read_definitions(str(tmp_path / name)).problems == (f"{tmp_path / name}: {reason}",)


def test_two_hundred_mutations_give_sentences_and_nothing_else(tmp_path: Path) -> None:
    rng = random.Random(5)
    changed = 0
    for _ in range(200):
        data = bytearray(WHOLE.encode())
        for _ in range(rng.randrange(1, 6)):
            at, length = rng.randrange(len(data)), rng.randrange(1, 40)
            match rng.randrange(5):
                case 0:
                    data[at] ^= 1 << rng.randrange(8)
                case 1:
                    del data[at : at + length]
                case 2:
                    data[at:at] = data[(start := rng.randrange(len(data))) : start + length]
                case 3:
                    data[at:at] = rng.choice([b"<metric>", b"</metric>", b"&#0;", b"&lt;", b"]]>", b"<!--", b"\0", b"<source id='x'/>", b"<![CDATA["])
                case 4:
                    data[at : at + length] = rng.randbytes(length)
        file = read(tmp_path, bytes(data))
        changed += bool(file.problems) or file != read(tmp_path, WHOLE)
        for problem in file.problems:
            assert problem.startswith(f"{file.path}:") and len(problem.splitlines()) == 1
        for known in file.metrics:
            assert known.id and not any(character.isspace() for character in known.id)
            assert known.source in {source.id for source in file.sources}
    assert changed > 190
