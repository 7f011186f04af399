"""definition_reader -- from the XML of a metric definition file to what it says

Source: "Metric definition file" of the Forge metric plugin interface. Both names of the root element are in use,
`metricdefinition` and `metricdefinitions`; elements and attributes that are not known are passed over.
"""

from __future__ import annotations

from collections.abc import Callable

from collector.capture.colours import resolve_colour
from collector.capture.definition_xml import Element, parse_xml
from collector.capture.definitions import DefinitionFile, MetricDefinition, MetricGroupDefinition, SourceDefinition
from collector.errors import DefinitionError

ENABLED_WORDS = ("always", "default_yes", "default_no", "never")
DATA_TYPES = ("uint64_t", "double")
_ROOTS = ("metricdefinition", "metricdefinitions")
_PUNCTUATION = str.maketrans("", "", "_$.@")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Definition = TypeVar("Definition", MetricDefinition, MetricGroupDefinition, SourceDefinition)


class _Refusal(Exception):
    """An element that is left out; the text is the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def parse_definitions(path: str, content: bytes) -> DefinitionFile:
    """What a file says. Never raises for what is in it: a file that is no use at all has only problems."""
    try:
        root = parse_xml(path, content)
    except DefinitionError as error:
        return DefinitionFile(path, problems=(str(error),))
    if root.name not in _ROOTS:
        return DefinitionFile(path, problems=(f"{path}:{root.line}: its root element is <{root.name}>, not <metricdefinitions>",))
    if root.attributes.get("version", "1") != "1":
        version = root.attributes["version"]
        return DefinitionFile(path, problems=(f"{path}:{root.line}: it is of version {version!r}; only version 1 is known",))
    problems: list[str] = []
    sources = _each(path, root, "source", problems, _read_source)
    known = {source.id for source in sources}
    metrics = _each(path, root, "metric", problems, lambda file, element: _read_metric(file, element, known))
    groups = _each(path, root, "metricGroup", problems, _read_group)
    return DefinitionFile(path, tuple(metrics), tuple(groups), tuple(sources), tuple(problems))


def _each(path: str, root: Element, name: str, problems: list[str], read: Callable[[str, Element], Definition]) -> list[Definition]:
    found: dict[str, Definition] = {}
    for element in root.named(name):
        try:
            value = read(path, element)
            if value.id in found:
                raise _Refusal(element.line, "there is another of that id before it")
            found[value.id] = value
        except _Refusal as refusal:
            known = element.attributes.get("id", "")
            problems.append(f"{path}:{refusal.line}: <{name}{f' id={known!r}' if known else ''}> is left out: {refusal}")
    return list(found.values())


def _read_metric(path: str, element: Element, sources: set[str]) -> MetricDefinition:
    identifier = _read_id(element)
    source = element.child("source")
    if source is None:
        raise _Refusal(element.line, "it has no <source>")
    ref = source.attributes.get("ref", "")
    if ref not in sources:
        raise _Refusal(source.line, f"there is no usable <source id={ref!r}> in the file")
    display = element.child("display") or Element("display", element.line)
    category = display.text_of("type") or "other"
    integrals = [rel.attributes.get("name", "") for rel in display.named("rel") if rel.attributes.get("type") == "integral"]
    integrals += [rel.attributes.get("name", "") for rel in element.named("rel") if rel.attributes.get("type") == "integral"]
    return MetricDefinition(
        id=identifier,
        file=path,
        line=element.line,
        source=ref,
        function=_read_symbol(source, source.attributes.get("functionName", ""), "functionName"),
        data_type=_read_word(element, "dataType", DATA_TYPES, None),
        units=element.text_of("units"),
        enabled=_read_word(element, "enabled", ENABLED_WORDS, "default_yes"),
        per_node=_read_flag(element, "onePerNode"),
        backfill=_read_flag(element, "backfill"),
        divided=_parse_flag(source.line, "divideBySampleTime", source.attributes.get("divideBySampleTime", "")),
        custom_data=source.attributes.get("customData", ""),
        title=display.text_of("displayName") or identifier,
        description=display.text_of("description"),
        category=category,
        colour=resolve_colour(display.text_of("colour") or display.text_of("color"), category),
        integral=next(iter(integrals), "") if _read_word(element, "domain", ("time",), "time") else "",
    )


def _read_group(path: str, element: Element) -> MetricGroupDefinition:
    identifier = _read_id(element)
    refs = (metric.attributes.get("ref", "") for metric in element.named("metric"))
    return MetricGroupDefinition(
        identifier, element.text_of("displayName") or identifier, element.text_of("description"), tuple(ref for ref in refs if ref)
    )


def _read_source(path: str, element: Element) -> SourceDefinition:
    identifier = _read_id(element)
    library = _read_library(element, element.text_of("sharedLibrary"), "sharedLibrary")
    preloads = tuple(_read_library(preload, preload.text, "preload") for preload in element.named("preload"))
    functions = element.child("functions") or Element("functions", element.line)
    names = {
        name: _read_symbol(functions, functions.text_of(name), name) if functions.child(name) else "" for name in ("start", "stop")
    }
    return SourceDefinition(identifier, path, element.line, library, preloads, names["start"], names["stop"])


def _read_id(element: Element) -> str:
    identifier = element.attributes.get("id", "")
    if not identifier:
        raise _Refusal(element.line, "it has no id")
    if any(character.isspace() or not character.isprintable() for character in identifier):
        raise _Refusal(element.line, "its id holds a blank or a control character")
    return identifier


def _read_library(element: Element, name: str, what: str) -> str:
    if not name:
        raise _Refusal(element.line, f"its <{what}> names no library")
    return name


def _read_symbol(element: Element, name: str, what: str) -> str:
    if not _is_symbol(name):
        raise _Refusal(element.line, f"its {what} {name!r} is no function's name" if name else f"it has no {what}")
    return name


def _is_symbol(name: str) -> bool:
    """Letters, digits and a few others, no digit first."""
    first, others = name[:1], name.translate(_PUNCTUATION)
    return (first in ("_", "$") or (first.isascii() and first.isalpha())) and (not others or others.isalnum())


def _read_word(element: Element, name: str, words: tuple[str, ...], default: str | None) -> str:
    child = element.child(name)
    word = child.text if child is not None else ""
    if not word and default is not None:
        return default
    if not word:
        raise _Refusal(element.line, f"it has no <{name}>")
    if word not in words:
        raise _Refusal(child.line if child else element.line, f"its <{name}> is {word!r}, not {' or '.join(words)}")
    return word


def _read_flag(element: Element, name: str) -> bool:
    child = element.child(name)
    return child is not None and _parse_flag(child.line, f"<{name}>", child.text)


def _parse_flag(line: int, what: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in ("", "true", "false", "1", "0"):
        raise _Refusal(line, f"its {what} is {text!r}, not true or false")
    return word in ("true", "1")
