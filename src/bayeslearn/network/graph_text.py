"""Graphs as text.

[Storm][Bus][Camp|Storm:Bus]              bnlearn: every node with its parents
A -> B <- C; D                            chains of arcs, as in the fast syntax of pyAgrum
dag { A -> B <- C; D [exposure] }         dagitty
"""

from __future__ import annotations

import re
from itertools import pairwise, product
from typing import TYPE_CHECKING

from bayeslearn.errors import FormatError, ParameterError, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Arc = tuple[str, str]

#: One node of a model string: its name, and after a bar its parents.
NODE = r"\[([^\[\]|:]+)(?:\|([^\[\]|]+))?\]"

#: The signs of an arc, and the beginning of a graph of dagitty.
ARROW = re.compile("(->|<-)")
DAGITTY = re.compile(r"\s*(dag|pdag|mag|pag)\b[^{\[|]*\{")

#: A quoted word, attributes, an edge, a sign, or a plain word of dagitty.
TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"[^"]*")|(?P<attributes>\[(?:"[^"]*"|[^\]"])*\])|(?P<edge><->|->|<-|--|@->|<-@|@--?@?)"""
    r"""|(?P<sign>[{};,=])|(?P<word>(?:[^\s{}\[\];,"=<>@-]|-(?![->]))+))"""
)

#: Names that stand without quotation marks in dagitty, and those that a model string cannot hold.
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
UNFIT = re.compile(r"[\[\]|:\x00-\x1f]|^\s|\s$|^$")


def parse(text: str) -> dict[str, tuple[str, ...]]:
    """The parents of each node of a graph in one of the forms."""
    if not isinstance(text, str):
        raise ParameterError(f"a graph as text is text, got {text!r:.80}", hint="DAG.from_arcs takes arcs")
    if DAGITTY.match(text):
        return parse_dagitty(text)
    return parse_chains(text) if ARROW.search(text) and "[" not in text else parse_bnlearn(text)


def families(nodes: Iterable[str], arcs: Iterable[Arc]) -> dict[str, tuple[str, ...]]:
    """The parents of each node; an arc that is given twice counts once."""
    found: dict[str, list[str]] = {node: [] for node in nodes}
    for parent, child in dict.fromkeys(arcs):
        found[child].append(parent)
    return {node: tuple(parents) for node, parents in found.items()}


### model strings of bnlearn


def parse_bnlearn(text: str) -> dict[str, tuple[str, ...]]:
    """The parents of each node of a model string."""
    if not isinstance(text, str):
        raise ParameterError(f"a model string is text, got {text!r:.80}", hint="DAG.from_arcs takes arcs")
    found: dict[str, tuple[str, ...]] = {}
    end = 0
    for match in re.finditer(NODE, text):
        if text[end : match.start()].strip():
            break
        node, parents = match.group(1).strip(), match.group(2)
        if node in found:
            raise FormatError(
                f"node {node!r} stands twice in the model string",
                hint="name each node once, with all its parents: [wet|rain:sprinkler]",
                column=match.start() + 1,
            )
        found[node] = tuple(p.strip() for p in parents.split(":")) if parents else ()
        if not all((node, *found[node])):
            raise FormatError(
                f"a name is empty in {match.group()!r}",
                hint="write [name] or [name|parent:parent]",
                column=match.start() + 1,
            )
        end = match.end()
    if text[end:].strip() or not found:
        raise FormatError(
            f"not a model string from column {end + 1} on: {text[end:].strip()[:40]!r}",
            hint="write every node with its parents: [A][B][C|A:B]",
            column=end + 1,
        )
    return found


def format_bnlearn(parents: Mapping[str, tuple[str, ...]]) -> str:
    """A model string, with every name unchanged."""
    for node in parents:
        if UNFIT.search(node):
            raise FormatError(
                f"a model string cannot carry the name {node!r}",
                hint="rename it without [ ] | : and blanks at its ends, or write dagitty",
            )
    return model_string(parents)


def model_string(parents: Mapping[str, tuple[str, ...]]) -> str:
    """Every node with its parents."""
    return "".join(f"[{node}|{':'.join(given)}]" if given else f"[{node}]" for node, given in parents.items())


### chains


def parse_chains(text: str) -> dict[str, tuple[str, ...]]:
    """The parents of each node of chains of arcs."""
    nodes, arcs = list[str](), list[tuple[str, str]]()
    for chain in filter(str.strip, text.split(";")):
        names = [name.strip() for name in ARROW.split(chain)[::2]]
        if not all(names):
            raise ParameterError(f"an arc has no node at one end: {chain.strip()!r:.60}", hint='write "A -> B <- C; D"')
        nodes += names
        signs = ARROW.findall(chain)
        arcs += [(a, b) if sign == "->" else (b, a) for (a, b), sign in zip(pairwise(names), signs, strict=True)]
    return families(nodes, arcs)


### dagitty


def parse_dagitty(text: str) -> dict[str, tuple[str, ...]]:
    """The parents of each node of a graph of dagitty; attributes such as positions and roles are left out."""
    start = DAGITTY.match(text) if isinstance(text, str) else None
    if start is None or start[1] != "dag":
        found = f"a {start[1]}" if start else f"{text!r:.40}"
        raise FormatError(f"expected a graph of dagitty, dag {{ ... }}, found {found}", hint="dag { A -> B; B <- C }")
    return Dagitty(text, start.end()).graph()


class Dagitty:
    """A cursor over the tokens of a graph of dagitty."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.kind, self.word, self.start = "", "", at
        self.nodes: dict[str, None] = {}
        self.arcs: list[Arc] = []
        self.next()

    def next(self) -> None:
        """Go to the next token."""
        match = TOKEN.match(self.text, self.at)
        self.start = self.at
        if match is None:
            self.kind, self.word = "", self.text[self.at :].strip()[:20]
            return
        self.kind, self.word, self.at = str(match.lastgroup), match[0].strip(), match.end()

    def error(self, message: str, hint: str | None = None) -> FormatError:
        """An error at the present token."""
        line = self.text.count("\n", 0, self.start) + 1
        return FormatError(f"line {line} of the graph: {message}", hint=hint, line=line)

    def graph(self) -> dict[str, tuple[str, ...]]:
        """All statements up to the closing brace, behind which nothing stands."""
        while self.word != "}":
            self.statement()
        if self.text[self.at :].strip():
            raise self.error(f"expected the end of the graph, found {short(self.text[self.at :].strip(), 20)!r}")
        return families(self.nodes, self.arcs)

    def statement(self) -> None:
        """A chain of edges, a node, or an attribute of the graph."""
        if self.word in {";", ","}:
            self.next()
            return
        ends = self.ends()
        if self.word == "=":
            self.next()
            self.next()
            for node in ends:
                del self.nodes[node]
            return
        while self.kind == "edge":
            ends = self.edge(ends)

    def edge(self, ends: list[str]) -> list[str]:
        """An edge from some nodes to others, which come back."""
        sign = self.word
        if sign not in {"->", "<-"}:
            raise self.error(
                f"a DAG has no edge {sign!r}", hint="give A <-> B a common parent: A <- U -> B, or choose a direction"
            )
        self.next()
        others = self.ends()
        self.arcs += product(ends, others) if sign == "->" else product(others, ends)
        return others

    def ends(self) -> list[str]:
        """A node, or several in braces, with attributes."""
        found = [self.name()] if self.word != "{" else self.group()
        while self.kind == "attributes":
            self.next()
        return found

    def group(self) -> list[str]:
        """Nodes in braces."""
        found = []
        self.next()
        while self.word != "}":
            if self.word in {";", ","}:
                self.next()
            else:
                found += self.ends()
        self.next()
        return found

    def name(self) -> str:
        """The name of a node."""
        if self.kind not in {"quoted", "word"}:
            found = repr(self.word) if self.word else "the end of the text"
            raise self.error(f"expected the name of a node, found {found}", hint="dag { A -> B; B <- C }")
        name = self.word[1:-1] if self.kind == "quoted" else self.word
        self.nodes.setdefault(name)
        self.next()
        return name


def format_dagitty(parents: Mapping[str, tuple[str, ...]]) -> str:
    """A graph of dagitty: a line for each node, and one for each arc."""
    names = {node: dagitty_name(node) for node in parents}
    arcs = [f"{names[parent]} -> {names[node]}" for node, given in parents.items() for parent in given]
    return "\n".join(["dag {", *names.values(), *arcs, "}"]) + "\n"


def dagitty_name(node: str) -> str:
    """A name, in quotation marks where it needs them."""
    if '"' in node or not node or not node.isprintable():
        raise FormatError(
            f"dagitty cannot carry the name {node!r}", hint="rename it without quotation marks and control characters"
        )
    return node if PLAIN.fullmatch(node) else f'"{node}"'
