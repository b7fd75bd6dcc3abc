"""XDSL, the format of GeNIe and SMILE.

    <cpt id="A">
      <state id="yes" /><state id="no" /><parents>B C</parents><probabilities>0.1 0.9 ...</probabilities>
    </cpt>

The first parent varies slowest, the last faster, the variable itself fastest. Deterministic nodes are tables of zeros
and ones. Identifiers are letters, digits and underscores; other names are replaced by such, with the originals in a
property of the node.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import listed
from bayeslearn.network.formats.draft import Draft
from bayeslearn.network.formats.names import LEGEND, aliases, is_identifier, legend, replaced
from bayeslearn.network.formats.source import table_text
from bayeslearn.network.formats.xmltree import escape, numbers, parse_xml, required

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network import BayesianNetwork
    from bayeslearn.network.formats.source import Source
    from bayeslearn.network.formats.xmltree import Element

### reading


def read_xdsl(source: Source) -> BayesianNetwork:
    """The network of an XDSL text."""
    draft = Draft(source)
    tree = parse_xml(source, "smile")
    draft.name = tree.attributes.get("id") or draft.name
    nodes = required(source, tree, "nodes").children
    for node in nodes:
        read_node(draft, node)
    for node in nodes:
        read_table(draft, node)
    return draft.network()


def identifier(draft: Draft, element: Element) -> str:
    """The id of a node or state."""
    if "id" not in element.attributes:
        raise draft.source.error(f"expected an id in <{element.tag}>, found none", element.mark)
    return element.attributes["id"]


def read_node(draft: Draft, node: Element) -> None:
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
    draft.declare(key, states, node.mark, ours[0] if ours else None)


def read_table(draft: Draft, node: Element) -> None:
    """The parents and probabilities of a node."""
    key, given = identifier(draft, node), node.first("parents")
    parents = given.text.split() if given else []
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
    return np.eye(shape[-1])[[known[word] for word in words]].reshape(shape)


### writing


def write_xdsl(network: BayesianNetwork) -> str:
    """The network as XDSL, parents before their children as GeNIe wants it."""
    names = aliases(network, is_identifier)
    title = replaced([network.name], is_identifier)[0]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id="{title}">', "  <nodes>"]
    for name in network.dag.order:
        cpt = network[name]
        states, note = legend(cpt.variable, names[name], is_identifier)
        lines += [f'    <cpt id="{names[name]}">', *(f'      <state id="{state}" />' for state in states)]
        lines += [f"      <parents>{' '.join(names[v.name] for v in cpt.parents)}</parents>"] if cpt.parents else []
        lines += [f"      <probabilities>{table_text(cpt.p)}</probabilities>"]
        lines += [f'      <property id="{LEGEND}">{escape(note)}</property>'] if note else []
        lines += ["    </cpt>"]
    return "\n".join([*lines, "  </nodes>", "</smile>"]) + "\n"
