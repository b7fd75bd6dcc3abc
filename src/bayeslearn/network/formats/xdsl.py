"""XDSL, the format of GeNIe and SMILE.

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
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import listed
from bayeslearn.network.formats.draft import Draft
from bayeslearn.network.formats.names import (
    LEGEND,
    aliases,
    carried_by_xml,
    has_control,
    is_identifier,
    legend,
    replaced,
)
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
    return np.eye(shape[-1])[[known[word] for word in words]].reshape(shape)


### writing


def write_xdsl(network: BayesianNetwork) -> str:
    """The network as XDSL, parents before their children as GeNIe wants it."""
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
        lines += [f"      <probabilities>{table_text(cpt.p)}</probabilities>"]
        lines += [f'      <property id="{LEGEND}">{escape(note)}</property>'] if note else []
        lines += ["    </cpt>"]
    lines += ["  </nodes>"]
    if app is not None:
        lines += ["  <extensions>", f'    <genie version="1.0" app="{app}" name="{title}">']
        for name, alias in ((name, names[name]) for name in network.dag.order):
            lines.append(f'      <node id="{alias}"><name>{escape(alias if has_control(name) else name)}</name></node>')
        lines += ["    </genie>", "  </extensions>"]
    return "\n".join([*lines, "</smile>"]) + "\n"
