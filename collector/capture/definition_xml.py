"""definition_xml -- the XML of definition files as plain elements that know their lines, from files that may be hostile

Nothing of a file's own making is expanded: document types and entities are refused, and depth is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from xml.parsers import expat

from collector.errors import DefinitionError

_MOST_DEPTH = 32


class Element:
    """An element: `text` is all the text directly in it, without blanks at its ends."""

    __slots__ = ("name", "line", "attributes", "children", "parts")

    def __init__(self, name: str, line: int, attributes: Mapping[str, str] = MappingProxyType({})) -> None:
        self.name = name
        self.line = line
        self.attributes = attributes
        self.children: list[Element] = []
        self.parts: list[str] = []

    @property
    def text(self) -> str:
        """The text directly in the element, blanks and line ends in it made single blanks."""
        return " ".join("".join(self.parts).split())

    def named(self, name: str) -> Iterator[Element]:
        """The children of that name."""
        return (child for child in self.children if child.name == name)

    def child(self, name: str) -> Element | None:
        """The first child of that name."""
        return next(self.named(name), None)

    def text_of(self, name: str) -> str:
        """The text of the first child of that name; empty if there is none."""
        child = self.child(name)
        return child.text if child else ""


def parse_xml(path: str, content: bytes) -> Element:
    """The root element of a file. DefinitionError, with file and line, if it is no XML that we take."""
    elements: list[Element] = []
    roots: list[Element] = []
    parser = expat.ParserCreate()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(elements) == _MOST_DEPTH:
            raise _refuse(path, parser.CurrentLineNumber, f"more than {_MOST_DEPTH} elements are nested")
        element = Element(name, parser.CurrentLineNumber, attributes)
        (elements[-1].children if elements else roots).append(element)
        elements.append(element)

    def end(_: str) -> None:
        elements.pop()

    def add_text(text: str) -> None:
        elements[-1].parts.append(text)

    def refuse_type(*_: object) -> None:
        raise _refuse(path, parser.CurrentLineNumber, "document types and entities are not taken")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add_text
    parser.StartDoctypeDeclHandler = refuse_type
    parser.EntityDeclHandler = refuse_type
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise _refuse(path, error.lineno, f"it is not well-formed XML: {expat.ErrorString(error.code)}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or that is none
        raise _refuse(path, 1, f"its encoding cannot be read: {error}") from None
    return roots[0]


def _refuse(path: str, line: int, reason: str) -> DefinitionError:
    return DefinitionError(f"{path}:{line}: {reason}")
