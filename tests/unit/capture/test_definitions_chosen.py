"""test_definitions_chosen -- which metrics a recording gets: search path, libraries, options, and the table for the library"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.capture.environment import order_preloads
from collector.capture.metric_choice import MetricSelection, MetricSet, choose_metrics
from collector.capture.metric_table import definitions, iter_lines, write_table
from collector.cli.recording.metrics import list_metrics

FILE = """<metricdefinitions version="1">
<metric id="{name}"><enabled>{enabled}</enabled><dataType>double</dataType><source ref="s" functionName="f" customData="{custom}"/></metric>
<source id="s"><sharedLibrary>{library}</sharedLibrary>{preloads}</source></metricdefinitions>"""


@pytest.fixture
def plugin(recorder: str) -> bytes:
    """A shared library that stands for a plugin."""
    return Path(recorder).read_bytes()


NOTHING_ASKED = MetricSelection()


class Place:
    """Directories of definition files, and what is chosen from them."""

    def __init__(self, root: Path, recorder: str, plugin: bytes) -> None:
        self.root, self.recorder, self.plugin = root, recorder, plugin
        self.builtin = self.directory("builtin")

    def directory(self, name: str) -> Path:
        (self.root / name).mkdir(parents=True, exist_ok=True)
        return self.root / name

    def define(self, directory: str, name: str, enabled: str = "default_yes", library: str = "p.so", preloads: str = "", custom: str = "") -> Path:
        place = self.directory(directory)
        (place / "p.so").write_bytes(self.plugin)
        (place / f"{name}.xml").write_text(FILE.format(name=name, enabled=enabled, library=library, preloads=preloads, custom=custom))
        return place / f"{name}.xml"

    def choose(self, selection: MetricSelection = NOTHING_ASKED, **environment: str) -> MetricSet:
        given = {"HOME": str(self.root / "home"), **environment}
        return choose_metrics(selection, given, str(self.builtin), self.recorder)


@pytest.fixture
def place(tmp_path: Path, recorder: str, plugin: bytes) -> Place:
    return Place(tmp_path, recorder, plugin)


def states(choice: MetricSet) -> dict[str, str]:
    return {offer.metric.id: offer.state for offer in choice.offers}


def test_files_are_found_along_the_search_path_and_the_first_wins(place: Place) -> None:
    for directory in ("asked", "listed", "config/map/metrics", "home/.allinea/map/metrics", "builtin"):
        place.define(directory, "same")
        place.define(directory, f"of-{directory.split('/')[0]}")
    asked, listed = str(place.root / "asked"), str(place.root / "listed")
    choice = place.choose(MetricSelection((asked,)), COLLECTOR_METRICS_PATH=listed, ALLINEA_CONFIG_DIR=str(place.root / "config"))
    assert set(states(choice)) == {"same", "of-asked", "of-listed", "of-config", "of-builtin"}
    assert [(os.path.basename(os.path.dirname(offer.metric.file)), offer.state) for offer in choice.offers if offer.metric.id == "same"] == [
        ("asked", "on"), ("listed", "hidden"), ("metrics", "hidden"), ("builtin", "hidden"),
    ]
    assert set(states(place.choose())) == {"same", "of-home", "of-builtin"}
    assert choice.problems == ()


def test_a_place_that_was_named_must_be_there(place: Place) -> None:
    choice = place.choose(MetricSelection(("nowhere.xml",)), COLLECTOR_METRICS_PATH="/nowhere")
    assert choice.problems == ("nowhere.xml: there is no such file or directory of metrics", "/nowhere: there is no such file or directory of metrics")


def test_enabled_and_the_options_that_change_it(place: Place) -> None:
    for word in ("always", "default_yes", "default_no", "never"):
        place.define("builtin", word, enabled=word)
    assert states(place.choose()) == {"always": "on", "default_yes": "on", "default_no": "off", "never": "off"}
    every = ("always", "default_yes", "default_no", "never")
    choice = place.choose(MetricSelection(enabled=every))
    assert states(choice) == {"always": "on", "default_yes": "on", "default_no": "on", "never": "off"}
    assert [problem for problem in choice.problems if "--enable-metrics: the definition of never" in problem]
    choice = place.choose(MetricSelection(disabled=(*every, "unknown")))
    assert states(choice) == {"always": "on", "default_yes": "off", "default_no": "off", "never": "off"}
    assert [plugin.offers[0].metric.id for plugin in choice.plugins] == ["always"], "a source without metrics is not loaded"
    assert [problem for problem in choice.problems if "--disable-metrics: there is no metric 'unknown'" in problem]


def test_libraries_lie_beside_the_file_or_in_any_directory_of_metrics(place: Place) -> None:
    place.define("one", "near")
    place.define("two", "far", library="only-there.so")
    (place.directory("three") / "only-there.so").write_bytes(place.plugin)
    choice = place.choose(MetricSelection(tuple(str(place.root / name) for name in ("one", "two", "three"))))
    assert [plugin.library for plugin in choice.plugins] == [str(place.root / "one/p.so"), str(place.root / "three/only-there.so")]


@pytest.mark.parametrize(
    "library, reason",
    [("none.so", "neither beside this file nor in a directory of metrics"), ("loop.so", "neither beside"), ("text.so", "is not a shared library"), ("alien.so", "is for ")],
)
def test_a_library_that_cannot_be_loaded_is_told_and_the_rest_works(place: Place, library: str, reason: str) -> None:
    file = place.define("builtin", "bad", library=library)
    place.define("builtin", "good")
    (place.builtin / "text.so").write_text("not at all")
    (place.builtin / "loop.so").symlink_to("loop.so")
    alien = bytearray(place.plugin)
    alien[18:20] = (21).to_bytes(2, "little")
    (place.builtin / "alien.so").write_bytes(alien)
    choice = place.choose()
    assert states(choice) == {"bad": "broken", "good": "on"}
    (problem,) = choice.problems
    assert problem.startswith(f"{file}:3: <source id='s'>: its library") and reason in problem


def test_preloads_join_once_each_and_never_the_recorder(place: Place) -> None:
    own = os.path.basename(place.recorder)
    os.symlink(place.recorder, place.builtin / own)
    place.define("builtin", "one", preloads=f"<preload>a.so</preload><preload>b.so</preload><preload>a.so</preload><preload>{own}</preload>")
    place.define("builtin", "two", preloads="<preload>b.so</preload><preload>p.so</preload><preload>gone.so</preload>")
    for name in ("a.so", "b.so"):
        (place.builtin / name).write_bytes(place.plugin)
    choice = place.choose()
    assert [os.path.basename(path) for path in choice.preloads] == ["a.so", "b.so", "p.so"]
    assert [problem.split(": its ")[1] for problem in choice.problems] == [
        f"preload {own} is the recorder itself", "preload gone.so is neither beside this file nor in a directory of metrics",
    ]
    assert states(choice) == {"one": "on", "two": "on"}


def test_a_preload_must_fit_the_variable(place: Place) -> None:
    place.define("a place", "one", preloads="<preload>p.so</preload>")
    choice = place.choose(MetricSelection((str(place.root / "a place"),)))
    assert choice.preloads == () and "cannot be preloaded" in choice.problems[0]


def test_preloads_follow_the_recorder() -> None:
    assert order_preloads("/r.so", "/libasan.so.8:/other.so", ["/p.so", "/q.so"]) == "/libasan.so.8:/r.so:/p.so:/q.so:/other.so"


def test_the_table_keeps_any_word_whole(place: Place, tmp_path: Path) -> None:
    place.define("builtin", "m", custom="a&#9;tab, a&#10;line, a \\ and a \\t")
    path = write_table(str(tmp_path), place.choose(), 5_000_000)
    lines = Path(path).read_text().splitlines()
    assert lines[0] == "interval\t5000000"
    assert lines[1].split("\t") == ["plugin", "s", str(place.builtin / "p.so"), "", ""]
    words = lines[2].split("\t")
    assert words[:7] == ["metric", "0", "m", "f", "double", "-", ""]
    assert words[7] == "a\\ttab, a\\nline, a \\\\ and a \\\\t"
    assert words[8:] == ["type=double"], "what is only for people is not told to every process"
    (one,) = definitions(place.choose())
    assert (one.source, one.name, one.unit, one.detail) == (2, "m", "", str(place.builtin / "p.so"))
    assert one.attributes[0] == "type=double" and f"file={place.builtin / 'm.xml'}" in one.attributes
    with pytest.raises(FileExistsError):
        write_table(str(tmp_path), place.choose(), 1)


def test_what_the_launcher_reads_of_the_node_is_marked_and_has_its_preloads(place: Place) -> None:
    text = place.define("builtin", "m", preloads="<preload>p.so</preload>").read_text()
    assert place.choose().node_preloads is None
    (place.builtin / "m.xml").write_text(text.replace('<metric id="m">', '<metric id="m"><onePerNode>true</onePerNode>'))
    assert place.choose().node_preloads == (str(place.builtin / "p.so"),)
    assert [line[5] for line in iter_lines(place.choose(), 1) if line[0] == "metric"] == ["n"]


def test_listing_needs_no_program(place: Place, repository: Path) -> None:
    place.define("listed", "com.example.m", enabled="default_no")
    environment = {**os.environ, "HOME": str(place.root), "COLLECTOR_LIBRARY": place.recorder, "PYTHONPATH": str(repository)}
    words = ["record", "--metrics", str(place.root / "listed"), "--list-metrics"]
    done = subprocess.run([sys.executable, "-m", "collector", *words], capture_output=True, text=True, env=environment)
    if "has not been built" in done.stderr:
        pytest.skip("the recorder has not been built in this tree")
    assert done.returncode == 0, done.stderr
    heading, first = done.stdout.splitlines()[:2]
    assert heading.split() == ["ID", "NAME", "UNITS", "GROUP", "STATE", "FILE"]
    assert first.split() == ["com.example.m", "com.example.m", "-", "-", "off", "(default_no)", str(place.root / "listed/com.example.m.xml")]


def test_the_list_obeys_no_name(place: Place) -> None:
    path = place.define("builtin", "m")
    path.write_text(path.read_text().replace("</metric>", "<display><displayName>&#x9b;2J &#x202e;name</displayName></display></metric>", 1))
    assert "\\x9b2J \\u202ename" in list_metrics(place.choose())[1]
