"""UAI, the format of the inference competitions: sizes and numbers only.

    BAYES   n   sizes   number of factors   a scope for each (how many, which)   a table for each (how many, numbers)

The variable itself stands last in its scope and varies fastest; its parents stand before it, the first varies slowest.
There is no place for names: variables come back as x0, x1, … in the order they had, their states as 0, 1, … .
Comments begin with ``#`` and end with their line.

The files of aGrUM are a dialect: the *first* parent varies fastest among the parents. They show by the comment behind
every scope, which names the variable (``3 0 2 1   # c``), and are read in that order.
"""

from __future__ import annotations

import math
import re
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.formats.network_builder import Draft
from bayeslearn.source_text import floats, quoted, table_text, whole_number

if TYPE_CHECKING:
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.source_text import Source

#: A comment, or a word.
PIECE = re.compile(r"#[^\n]*|[^\s#]+")

### reading


def read_uai(source: Source) -> BayesianNetwork:
    """The network of a UAI text."""
    return Reader(source).network()


class Reader:
    """A cursor over words divided by blanks."""

    def __init__(self, source: Source) -> None:
        self.source = source
        found = [(w.group(), w.start()) for w in PIECE.finditer(source.text) if not w.group().startswith("#")]
        self.words = [word for word, _ in found]
        self.offsets = [offset for _, offset in found]
        self.at = self.states = 0

    def network(self) -> BayesianNetwork:
        """The whole file."""
        draft = Draft(self.source)
        kind = self.words[0] if self.words else ""
        if kind.upper() != "BAYES":
            hint = "a Markov network has no conditional tables" if kind.upper() == "MARKOV" else None
            raise self.source.error(f"expected 'BAYES', found {quoted(kind)}", self.mark(0), hint=hint)
        self.at = 1
        n = self.size("the number of variables")
        for i in range(n):
            self.variable(draft, i)
        if self.size("the number of factors") != n:
            raise self.source.error(f"expected {n} factors, one for each variable", self.mark(self.at - 1))
        begin = self.mark(self.at)
        scopes = [self.scope(n) for _ in range(n)]
        if named_scopes(self.source.text[begin : self.mark(self.at)]) == n:
            scopes = [(place, [*scope[-2::-1], scope[-1]]) for place, scope in scopes]
        for place, scope in scopes:
            self.table(draft, place, scope)
        if self.at < len(self.words):
            found = quoted(self.words[self.at])
            raise self.source.error(f"expected the end of the file, found {found}", self.mark(self.at))
        return draft.network()

    def mark(self, place: int) -> int:
        """The offset of a word."""
        return self.offsets[place] if place < len(self.offsets) else len(self.source.text)

    def number(self, what: str) -> int:
        """A whole number."""
        word = self.words[self.at] if self.at < len(self.words) else ""
        value = whole_number(word)
        if value is None:
            raise self.source.error(f"expected {what}, found {quoted(word)}", self.mark(self.at))
        self.at += 1
        return value

    def size(self, what: str) -> int:
        """A whole number that announces as many words, which must be there."""
        value = self.number(what)
        left = len(self.words) - self.at
        if value > left:
            raise self.source.error(f"{what} is {value}, but only {left} words follow", self.mark(self.at - 1))
        return value

    def variable(self, draft: Draft, i: int) -> None:
        """The number of states of one variable; each of them has a number of its own in the tables that follow."""
        size, mark = self.size(f"the number of states of variable {i}"), self.mark(self.at - 1)
        self.states += size
        if self.states > len(self.words):
            raise self.source.error(
                f"{self.states} states are announced, but only {len(self.words)} words follow", mark
            )
        draft.declare(f"x{i}", [str(state) for state in range(size)], mark)

    def scope(self, n: int) -> tuple[int, list[str]]:
        """The variables of one factor, with the place they stand at."""
        place, names = self.at, []
        for _ in range(self.size("the number of variables of a factor")):
            index = self.number("the index of a variable")
            if index >= n:
                message = f"expected the index of a variable, 0 to {n - 1}, found {index}"
                raise self.source.error(message, self.mark(self.at - 1))
            names.append(f"x{index}")
        if not names:
            raise self.source.error("a factor needs at least one variable", self.mark(place))
        return place, names

    def table(self, draft: Draft, place: int, scope: list[str]) -> None:
        """The numbers of one factor."""
        *parents, child = scope
        shape = draft.shape(child, parents, self.mark(place))
        begin, size = self.at, self.size("the number of entries of a table")
        if size != math.prod(shape):
            message = f"expected {math.prod(shape)} entries in the table of {child}, found {size}"
            raise self.source.error(message, self.mark(begin))
        words = self.words[self.at : self.at + size]
        values = floats(words)
        if isinstance(values, int):
            raise self.source.error(f"expected a number, found {quoted(words[values])}", self.mark(self.at + values))
        self.at += size
        draft.fill(child, parents, np.array(values).reshape(shape), self.mark(begin))


def named_scopes(text: str) -> int:
    """How many lines have numbers, and behind them a comment: aGrUM names the variable of every scope in this way."""
    lines = [line.partition("#") for line in text.splitlines()]
    return sum(1 for before, _, comment in lines if before.strip() and comment.strip())


### writing


def write_uai(network: BayesianNetwork) -> str:
    """The network as UAI, without its names."""
    return document(network)


def write_agrum_uai(network: BayesianNetwork) -> str:
    """The network as UAI in the dialect of aGrUM: the first parent of a scope varies fastest."""
    return document(network, first_fastest=True)


def document(network: BayesianNetwork, *, first_fastest: bool = False) -> str:
    """The file."""
    index = dict(zip(network.names, count(), strict=False))
    sizes = " ".join(str(cpt.variable.size) for cpt in network)
    lines = ["BAYES", str(len(network)), sizes, str(len(network))]
    for cpt in network:
        parents = cpt.parents[::-1] if first_fastest else cpt.parents
        scope = [index[v.name] for v in (*parents, cpt.variable)]
        lines.append(" ".join(map(str, [len(scope), *scope])) + ("  # x" + str(scope[-1]) if first_fastest else ""))
    for cpt in network:
        lines += ["", str(cpt.probabilities.size), table_text(cpt.probabilities)]
    return "\n".join(lines) + "\n"
