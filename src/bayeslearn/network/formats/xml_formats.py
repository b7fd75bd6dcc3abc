"""XMLBIF and XDSL, the formats of networks in XML.

XML is read as a small tree with places, from the expat parser of Python. Declarations of entities are refused (they can
grow without bound, or read other files), and so is absurd nesting. A document type that only declares elements and
attributes is accepted, as XMLBIF files carry one; nothing outside of the text is ever loaded.

XMLBIF, the Interchange Format in XML (version 0.3).

    <VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>A</FOR><GIVEN>B</GIVEN><GIVEN>C</GIVEN><TABLE>0.1 0.9 ...</TABLE></DEFINITION>

In a table the first GIVEN varies slowest, the last faster, the variable itself fastest. Names that XML or the blanks
around them would spoil are replaced by identifiers, with the originals in a PROPERTY. Files with the ending of aGrUM,
.bifxml, are written without a document type.

XDSL, the format of GeNIe and SMILE.

    <cpt id="A">
      <state id="yes" /><state id="no" /><parents>B C</parents><probabilities>0.1 0.9 ...</probabilities>
    </cpt>

The first parent varies slowest, the last faster, the variable itself fastest. Deterministic nodes are tables of zeros
and ones. Identifiers are letters, digits and underscores; other names are replaced by such, with the originals in a
property of the node.

The files of aGrUM are a dialect: the *first* parent varies fastest among the parents. They declare it,

    <extensions><genie version="1.0" app="aGrUM 2.0" name="n"><node id="A"><name>A</name></node></genie></extensions>

and are read in that order. aGrUM reads every file in its own order, and refuses files without ``<extensions>``. So
:func:`write_xdsl` writes the element only where both orders give the same tables, which is where no variable has two
parents: aGrUM then refuses the others rather than taking them for another network. :func:`write_agrum_xdsl` writes
the dialect.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from bayeslearn.errors import listed
from bayeslearn.network.formats.network_builder import (
    LEGEND,
    Draft,
    aliases,
    carried_by_xml,
    has_control,
    is_identifier,
    legend,
    replaced,
)
from bayeslearn.source_text import floats, quoted, table_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.source_text import Source


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
    """Escape the characters that aGrUM does not escape: every bare ``&``, and ``<`` within an attribute."""
    text = BARE_AMPERSAND.sub("&amp;", text)
    return ATTRIBUTE.sub(lambda found: found[0].replace("<", "&lt;"), text)


class Builder:
    """The elements of an XML document, from the events of the parser."""

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


#: The first line, and the document type of XMLBIF 0.3.
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
DOCUMENT_TYPE = """<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
    <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* )>
    <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
  <!ELEMENT OUTCOME (#PCDATA)>
  <!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )*>
  <!ELEMENT FOR (#PCDATA)>
  <!ELEMENT GIVEN (#PCDATA)>
  <!ELEMENT TABLE (#PCDATA)>
  <!ELEMENT PROPERTY (#PCDATA)>
]>"""

### reading


def read_xmlbif(source: Source) -> BayesianNetwork:
    """The network of an XMLBIF text."""
    draft = Draft(source)
    tree = parse_xml(source, "BIF")
    network = required(source, tree, "NETWORK")
    name = network.first("NAME")
    draft.name = name.text if name and name.text else draft.name
    for variable in network.every("VARIABLE"):
        read_variable(draft, variable)
    for definition in network.every("DEFINITION", "PROBABILITY"):
        read_definition(draft, definition)
    return draft.network()


def read_variable(draft: Draft, element: Element) -> None:
    """One VARIABLE."""
    key = required(draft.source, element, "NAME").text
    kind = element.attributes.get("TYPE", "nature")
    if kind != "nature":
        raise draft.source.error(f"expected variables of type 'nature', found {quoted(kind)}", element.mark)
    properties = [child.text for child in element.every("PROPERTY")]
    ours = [text.partition("=")[2] for text in properties if text.partition("=")[0].strip() == LEGEND]
    states = [child.text for child in element.every("OUTCOME", "VALUE")]
    draft.declare(key, states, element.mark, ours[0] if ours else None)


def read_definition(draft: Draft, element: Element) -> None:
    """One DEFINITION."""
    children = element.every("FOR")
    if len(children) != 1:
        raise draft.source.error(f"expected one <FOR> in a definition, found {len(children)}", element.mark)
    child, parents = children[0].text, [given.text for given in element.every("GIVEN")]
    shape = draft.shape(child, parents, element.mark)
    table = required(draft.source, element, "TABLE")
    draft.fill(child, parents, numbers(draft.source, table, shape), element.mark)


### writing


def write_xmlbif(network: BayesianNetwork) -> str:
    """The network as XMLBIF with its document type, for readers that check it."""
    return "\n".join([HEAD, DOCUMENT_TYPE, *xmlbif_lines(network)]) + "\n"


def write_bifxml(network: BayesianNetwork) -> str:
    """The network as XMLBIF without a document type, at which the reader of aGrUM stops."""
    return "\n".join([HEAD, *xmlbif_lines(network)]) + "\n"


def xmlbif_lines(network: BayesianNetwork) -> list[str]:
    """The element BIF."""
    names = aliases(network, carried_by_xml)
    title = network.name if carried_by_xml(network.name) else "network"
    lines = ['<BIF VERSION="0.3">', "<NETWORK>", f"<NAME>{escape(title)}</NAME>"]
    for cpt in network:
        states, note = legend(cpt.variable, names[cpt.name], carried_by_xml)
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(names[cpt.name])}</NAME>"]
        lines += [f"  <OUTCOME>{escape(state)}</OUTCOME>" for state in states]
        lines += [f"  <PROPERTY>{LEGEND} = {escape(note)}</PROPERTY>"] if note else []
        lines += ["</VARIABLE>"]
    for cpt in network:
        lines += ["<DEFINITION>", f"  <FOR>{escape(names[cpt.name])}</FOR>"]
        lines += [f"  <GIVEN>{escape(names[v.name])}</GIVEN>" for v in cpt.parents]
        lines += [f"  <TABLE>{table_text(cpt.probabilities)}</TABLE>", "</DEFINITION>"]
    return [*lines, "</NETWORK>", "</BIF>"]


### reading


def read_xdsl(source: Source) -> BayesianNetwork:
    """The network of an XDSL text."""
    draft = Draft(source)
    tree = parse_xml(source, "smile")
    draft.name = tree.attributes.get("id") or draft.name
    nodes = required(source, tree, "nodes").children
    named = agrum_names(tree)
    for node in nodes:
        read_node(draft, node, named or {})
    for node in nodes:
        read_table(draft, node, first_fastest=named is not None)
    return draft.network()


def agrum_names(tree: Element) -> dict[str, str] | None:
    """The names of the nodes in a file of aGrUM, by their ids; None for the files of all others."""
    for extensions in tree.every("extensions"):
        for genie in extensions.every("genie"):
            if genie.attributes.get("app", "").lower().startswith("agrum"):
                nodes = [(node.attributes.get("id", ""), node.first("name")) for node in genie.every("node")]
                return {key: name.text for key, name in nodes if name is not None}
    return None


def identifier(draft: Draft, element: Element) -> str:
    """The id of a node or state."""
    if "id" not in element.attributes:
        raise draft.source.error(f"expected an id in <{element.tag}>, found none", element.mark)
    return element.attributes["id"]


def read_node(draft: Draft, node: Element, named: dict[str, str]) -> None:
    """The name and states of a node."""
    key = identifier(draft, node)
    if node.tag not in {"cpt", "deterministic"}:
        raise draft.source.error(
            f"expected <cpt> or <deterministic>, found <{node.tag}>: only nodes with tables can be read",
            node.mark,
            hint=f"turn node {key!r} into a table in GeNIe first",
        )
    states = [identifier(draft, state) for state in node.every("state")]
    ours = [child.text for child in node.every("property") if child.attributes.get("id") == LEGEND]
    draft.declare(key, states, node.mark, ours[0] if ours else None, name=named.get(key))


def read_table(draft: Draft, node: Element, *, first_fastest: bool) -> None:
    """The parents and probabilities of a node."""
    key, given = identifier(draft, node), node.first("parents")
    parents = given.text.split() if given else []
    parents = parents[::-1] if first_fastest else parents
    shape = draft.shape(key, parents, node.mark)
    if node.tag == "cpt":
        p = numbers(draft.source, required(draft.source, node, "probabilities"), shape)
    else:
        p = deterministic(draft, node, shape)
    draft.fill(key, parents, p, node.mark)


def deterministic(draft: Draft, node: Element, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One state for each row, with probability one."""
    element = required(draft.source, node, "resultingstates")
    known = {identifier(draft, state): i for i, state in enumerate(node.every("state"))}
    words = element.text.split()
    odd = [word for word in words if word not in known]
    if odd:
        raise draft.source.error(f"expected states {listed(known)}, found {listed(odd)}", element.mark)
    if len(words) != math.prod(shape[:-1]):
        raise draft.source.error(f"expected {math.prod(shape[:-1])} states, found {len(words)}", element.mark)
    p = np.zeros((len(words), shape[-1]))
    p[np.arange(len(words)), [known[word] for word in words]] = 1
    return p.reshape(shape)


### writing


def write_xdsl(network: BayesianNetwork) -> str:
    """The network as XDSL, parents before their children as GeNIe requires."""
    same = all(len(cpt.parents) <= 1 for cpt in network)
    return document(network, app="bayeslearn" if same else None)


def write_agrum_xdsl(network: BayesianNetwork) -> str:
    """The network as XDSL in the dialect of aGrUM."""
    return document(network, app="aGrUM (bayeslearn)", first_fastest=True)


def document(network: BayesianNetwork, *, app: str | None, first_fastest: bool = False) -> str:
    """The file, with ``<extensions>`` for the program `app`."""
    names = aliases(network, is_identifier)
    title = replaced([network.name], is_identifier)[0]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id="{title}">', "  <nodes>"]
    for name in network.dag.order:
        cpt = network[name]
        states, note = legend(cpt.variable, names[name], carried_by_xml if first_fastest else is_identifier)
        parents = [names[v.name] for v in cpt.parents]
        parents = parents[::-1] if first_fastest else parents
        lines += [f'    <cpt id="{names[name]}">', *(f'      <state id="{escape(state)}" />' for state in states)]
        lines += [f"      <parents>{' '.join(parents)}</parents>"] if parents else []
        numbers = " ".join(map(repr, cpt.probabilities.reshape(-1).tolist()))  # on one line, as pgmpy wants them
        lines += [f"      <probabilities>{numbers}</probabilities>"]
        lines += [f'      <property id="{LEGEND}">{escape(note)}</property>'] if note else []
        lines += ["    </cpt>"]
    lines += ["  </nodes>"]
    if app is not None:
        lines += ["  <extensions>", f'    <genie version="1.0" app="{app}" name="{title}">']
        for name, alias in ((name, names[name]) for name in network.dag.order):
            lines.append(f'      <node id="{alias}"><name>{escape(alias if has_control(name) else name)}</name></node>')
        lines += ["    </genie>", "  </extensions>"]
    return "\n".join([*lines, "</smile>"]) + "\n"
