r"""HUGIN .net.

    net { ... }
    node A { states = ("yes" "no"); }
    potential (A | B C) { data = (((0.1 0.9) ...)); }

The parentheses nest as the parents follow each other, the first outermost; the variable itself is innermost. Numbers
without inner parentheses are taken too. ``%`` opens a comment, attributes that are not needed are ignored, and a
potential without data means that all states are equally probable, as in HUGIN. Names of nodes are identifiers; other
names, and states with ``"`` or ``\``, are replaced by such, with the originals in an attribute of the node. There ``"``
and ``\`` are percent-encoded, because the reader of aGrUM takes no escaped quotation marks.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote as percent_decoded

import numpy as np

from bayeslearn.errors import listed
from bayeslearn.network.formats.network_builder import LEGEND, Draft, aliases, has_control, is_identifier, legend, quote
from bayeslearn.network.formats.tokenizer import Tokens
from bayeslearn.source_text import floats, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.source_text import Source

#: Parentheses and words of a table.
DATA = re.compile(r"[()]|[^\s(),]+")

### reading


def read_net(source: Source) -> BayesianNetwork:
    """The network of a HUGIN text."""
    return Reader(source).network()


class Reader:
    """Recursive descent over the tokens: one method for each part of the grammar."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = Tokens(source, "net")
        self.draft = Draft(source)
        self.even: list[str] = []

    def network(self) -> BayesianNetwork:
        """Every block; potentials that stand before their nodes are read at the end."""
        waiting: list[int] = []
        while self.tokens.word:
            self.block(waiting)
        for offset in waiting:
            self.tokens.move(offset)
            self.potential(*self.header())
        if self.even:
            self.draft.notes.append(f"without data, all states are equally probable: {listed(self.even)}")
        return self.draft.network()

    def block(self, waiting: list[int]) -> None:
        """A net, node or potential block."""
        start = self.tokens.at
        word = self.tokens.next()
        if word == "net":
            attributes = self.attributes({"name"})
            self.draft.name = next(iter(attributes.get("name", [])), self.draft.name)
        elif word == "node" or (word == "discrete" and self.tokens.skip("node")):
            self.node()
        elif word == "potential":
            begin = self.tokens.at
            child, parents, _ = header = self.header()
            if all(name in self.draft.variables for name in (child, *parents)):
                self.potential(*header)
            else:
                waiting.append(begin)
                self.tokens.past("}")
        else:
            raise self.source.error(
                f"expected 'net', 'node' or 'potential', found {quoted(word)}",
                start,
                hint="decisions, utilities, functions and continuous nodes cannot be read",
            )

    def attributes(self, wanted: set[str]) -> dict[str, list[str]]:
        """``{ name = value; ... }``: the words of those that are wanted."""
        found: dict[str, list[str]] = {}
        self.tokens.take("{")
        while not self.tokens.skip("}"):
            start = self.tokens.at
            name = self.tokens.name("an attribute or '}'")
            if name in found:
                raise self.source.error(f"attribute {name!r} is given twice", start)
            self.tokens.take("=")
            if name in wanted:
                found[name] = self.words()
            self.tokens.past(";")
        return found

    def words(self) -> list[str]:
        """Words, in parentheses or not, up to the semicolon."""
        words, inside = [], self.tokens.skip("(")
        while self.tokens.is_name():
            words.append(self.tokens.name("a word"))
        if inside:
            self.tokens.take(")")
        if self.tokens.word != ";":
            raise self.tokens.expected("';'")
        return words

    def node(self) -> None:
        """``A { states = (...); ... }``."""
        start = self.tokens.at
        key = self.tokens.name("the name of a node")
        attributes = self.attributes({"states", LEGEND})
        if "states" not in attributes:
            raise self.source.error(f"node {key!r} has no states", start)
        ours = attributes.get(LEGEND)
        note = None if ours is None else "".join(ours)
        if note and note.startswith("{%22"):
            note = percent_decoded(note)
        self.draft.declare(key, attributes["states"], start, note)

    # -- potentials

    def header(self) -> tuple[str, list[str], int]:
        """``(A | B C)``, with the place it stands at."""
        start = self.tokens.at
        self.tokens.take("(")
        child = self.tokens.name("the name of a node")
        parents = []
        if self.tokens.word != ")":
            self.tokens.take("|")
        while not self.tokens.skip(")"):
            parents.append(self.tokens.name("the name of a parent or ')'"))
        return child, parents, start

    def potential(self, child: str, parents: list[str], start: int) -> None:
        """``{ data = ...; ... }``."""
        shape = self.draft.shape(child, parents, start)
        self.tokens.take("{")
        p = self.table(shape)
        if p is None:
            self.even.append(child)
            p = np.full(shape, 1 / shape[-1])
        self.draft.fill(child, parents, p, start)

    def table(self, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """The attribute ``data``, if it is there."""
        p = None
        while not self.tokens.skip("}"):
            name, start = self.tokens.name("an attribute or '}'"), self.tokens.at
            self.tokens.take("=")
            if name == "data":
                if p is not None:
                    raise self.source.error("attribute 'data' is given twice", start)
                p = self.numbers(shape)
            elif name in {"model_nodes", "model_data"}:
                raise self.source.error(f"{name!r} gives a formula, and only tables can be read", start)
            else:
                self.tokens.past(";")
        return p

    def numbers(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Nested parentheses of numbers, up to the semicolon."""
        start, end = self.tokens.at, self.source.text.find(";", self.tokens.at)
        text = self.source.text[start:end] if end >= 0 else ""
        if end < 0 or any(sign in text for sign in '%"/'):
            words = self.data_words()
        else:
            words = DATA.findall(text)
            self.tokens.move(end + 1)
        numbers = [word for word in words if word not in {"(", ")"}]
        values = floats(numbers)
        if isinstance(values, int):
            raise self.source.error(f"expected a number in 'data', found {quoted(numbers[values])}", start)
        if len(values) != math.prod(shape):
            raise self.source.error(f"expected {math.prod(shape)} numbers in 'data', found {len(values)}", start)
        opened, closed = depths(words)
        if not (nests(opened, closed, shape) or nests(opened, closed, (len(values),))):
            raise self.source.error(f"the parentheses of 'data' do not nest as {' x '.join(map(str, shape))}", start)
        return np.array(values).reshape(shape)

    def data_words(self) -> list[str]:
        """The same words, token by token, without the comments between them."""
        words = []
        while self.tokens.word != ";":
            if not self.tokens.word:
                raise self.tokens.expected("';'")
            words.append(self.tokens.next())
        self.tokens.move(self.tokens.end)
        return words


def depths(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """How many parentheses open before each number, and how many close behind it."""
    opened, closed, waiting = list[int](), list[int](), 0
    for word in words:
        if word == "(":
            waiting += 1
        elif word == ")":
            if waiting or not closed:
                return [], []
            closed[-1] += 1
        else:
            opened.append(waiting)
            closed.append(0)
            waiting = 0
    return ([], []) if waiting else (opened, closed)


def nests(opened: Sequence[int], closed: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether the parentheses are those of a table of this shape."""
    places = np.arange(len(opened))
    strides = [math.prod(shape[i:]) for i in range(len(shape))]
    opens = sum((places % stride == 0).astype(int) for stride in strides)
    closes = sum(((places + 1) % stride == 0).astype(int) for stride in strides)
    return len(places) == strides[0] and np.array_equal(opens, opened) and np.array_equal(closes, closed)


### writing


def carried(state: str) -> bool:
    """Whether a state can stand between quotation marks for every reader."""
    return not has_control(state) and not set(state) & set('"\\')


def write_net(network: BayesianNetwork) -> str:
    """The network as HUGIN .net."""
    names = aliases(network, is_identifier)
    title = [f"    name = {quote(network.name)};"] if not has_control(network.name) else []
    lines = ["net", "{", *title, "}"]
    for cpt in network:
        states, note = legend(cpt.variable, names[cpt.name], carried)
        lines += [f"node {names[cpt.name]}", "{", f"    states = ({' '.join(quote(state) for state in states)});"]
        lines += [f"    {LEGEND} = {quote(percent_encoded(note, safe=' {}[]:,'))};"] if note else []
        lines += ["}"]
    for cpt in network:
        given = " ".join(["", "|", *(names[v.name] for v in cpt.parents)]) if cpt.parents else ""
        lines += [
            f"potential ({names[cpt.name]}{given})",
            "{",
            f"    data = {nested(cpt.probabilities.tolist())};",
            "}",
        ]
    return "\n".join(lines) + "\n"


def nested(values: list[float] | list[list[float]]) -> str:
    """Numbers in parentheses, a line for each row."""
    if isinstance(values[0], list):
        rows = "\n        ".join(nested(part) for part in values)
        return f"({rows})"
    return f"({' '.join(map(repr, values))})"
