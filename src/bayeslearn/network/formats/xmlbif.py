"""XMLBIF, the Interchange Format in XML (version 0.3).

    <VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>A</FOR><GIVEN>B</GIVEN><GIVEN>C</GIVEN><TABLE>0.1 0.9 ...</TABLE></DEFINITION>

In a table the first GIVEN varies slowest, the last faster, the variable itself fastest. Names that XML or the blanks
around them would spoil are replaced by identifiers, with the originals in a PROPERTY.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn.network.formats.draft import Draft
from bayeslearn.network.formats.names import LEGEND, aliases, carried_by_xml, legend
from bayeslearn.network.formats.source import quoted, table_text
from bayeslearn.network.formats.xmltree import escape, numbers, parse_xml, required

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.network.formats.source import Source
    from bayeslearn.network.formats.xmltree import Element

#: No document type: readers do not need it, and that of aGrUM stops at it.
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>"""

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
    """The network as XMLBIF."""
    names = aliases(network, carried_by_xml)
    title = network.name if carried_by_xml(network.name) else "network"
    lines = [HEAD, f"<NAME>{escape(title)}</NAME>"]
    for cpt in network:
        states, note = legend(cpt.variable, names[cpt.name], carried_by_xml)
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(names[cpt.name])}</NAME>"]
        lines += [f"  <OUTCOME>{escape(state)}</OUTCOME>" for state in states]
        lines += [f"  <PROPERTY>{LEGEND} = {escape(note)}</PROPERTY>"] if note else []
        lines += ["</VARIABLE>"]
    for cpt in network:
        lines += ["<DEFINITION>", f"  <FOR>{escape(names[cpt.name])}</FOR>"]
        lines += [f"  <GIVEN>{escape(names[v.name])}</GIVEN>" for v in cpt.parents]
        lines += [f"  <TABLE>{table_text(cpt.p)}</TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
