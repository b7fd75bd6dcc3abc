"""XML as a small tree with places, from the expat parser of Python, with everything that can hurt refused.

Declarations of entities are refused (they can grow without bound, or read other files), and so is absurd nesting. A
document type that only declares elements and attributes is accepted, as XMLBIF files carry one; nothing outside of the
text is ever loaded.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from bayeslearn.network.formats.source import floats, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.formats.source import Source

#: No network format nests deeper than a handful of elements.
MOST_NESTING = 64

#: An ampersand that begins no reference, and the value of an attribute.
BARE_AMPERSAND = re.compile(r"&(?!(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z]+);)")
ATTRIBUTE = re.compile(r'="[^"\n]*"')


@dataclass
class Element:
    """A tag with its attributes, its children, its own text, and the line and column it starts at."""

    tag: str
    attributes: dict[str, str]
    mark: tuple[int, int]
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, without blanks at the ends."""
        return "".join(self.parts).strip()

    def every(self, *tags: str) -> list[Element]:
        """The children with one of these tags."""
        return [child for child in self.children if child.tag in tags]

    def first(self, *tags: str) -> Element | None:
        """The first child with one of these tags."""
        return next(iter(self.every(*tags)), None)


def parse_xml(source: Source, root: str) -> Element:
    """The tree of an XML text whose outermost element is `root`."""
    builder = Builder(source)
    text = escaped_agrum(source.text) if "aGrUM" in source.text else source.text
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise source.error(f"this is not XML: {message}", (error.lineno, error.offset + 1)) from None
    tree = builder.top.children[0]
    if tree.tag != root:
        raise source.error(f"expected the element <{root}>, found <{tree.tag}>", tree.mark)
    return tree


def escaped_agrum(text: str) -> str:
    """Escape the characters that aGrUM writes as they are: every bare ``&``, and ``<`` within an attribute."""
    text = BARE_AMPERSAND.sub("&amp;", text)
    return ATTRIBUTE.sub(lambda found: found[0].replace("<", "&lt;"), text)


class Builder:
    """What the parser tells, put together."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.top = Element("", {}, (1, 1))
        self.open = [self.top]
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.specified_attributes = True  # defaults of a document type cannot multiply
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.SkippedEntityHandler = self.entity

    def place(self) -> tuple[int, int]:
        """Where the parser is."""
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        if len(self.open) > MOST_NESTING:
            raise self.source.error(f"elements are nested more than {MOST_NESTING} deep", self.place())
        element = Element(tag, attributes, self.place())
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        """An element closes."""
        self.open.pop()

    def characters(self, text: str) -> None:
        """Text between tags."""
        self.open[-1].parts.append(text)

    def entity(self, name: str, *_: Any) -> None:
        """An entity is declared, or used without a declaration."""
        raise self.source.error(
            f"the entity {name!r} is refused: files of networks need none", self.place(), hint="write its text instead"
        )


def required(source: Source, element: Element, *tags: str) -> Element:
    """A child that must be there."""
    child = element.first(*tags)
    if child is None:
        raise source.error(f"expected <{tags[0]}> inside <{element.tag}>, found none", element.mark)
    return child


def numbers(source: Source, element: Element, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The numbers of an element, as many as the shape asks for."""
    words = element.text.split()
    values = floats(words)
    if isinstance(values, int):
        raise source.error(
            f"expected a number in <{element.tag}>, found {quoted(words[values])} at position {values}", element.mark
        )
    if len(values) != math.prod(shape):
        raise source.error(f"expected {math.prod(shape)} numbers in <{element.tag}>, found {len(values)}", element.mark)
    return np.array(values).reshape(shape)


def escape(text: str) -> str:
    """Text between tags or in an attribute."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, name)
    return text
