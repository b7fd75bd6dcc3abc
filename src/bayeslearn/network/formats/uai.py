"""UAI, the format of the inference competitions: sizes and numbers only.

    BAYES   n   sizes   number of factors   a scope for each (how many, which)   a table for each (how many, numbers)

The variable itself stands last in its scope and varies fastest; its parents stand before it, the first varies slowest.
There is no place for names: variables come back as x0, x1, … in the order they had, their states as 0, 1, … .
Comments begin with ``#`` and end with their line.

The files of aGrUM are a dialect: the *first* parent varies fastest among the parents. They show by the comment behind
every scope, which names the variable (``3 0 2 1   # c``), and are read in that order. Those of pgmpy are another: the
variable itself varies slowest, behind it the last parent of the scope. They show by rows that sum to one in that order
only, and a note reports it.

Evidence is in a separate file (.evid): how many variables are observed, and for each the number of the variable
and that of its state.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.cpt import ROW_TOLERANCE
from bayeslearn.network.formats.network_builder import Draft
from bayeslearn.source_text import Source, floats, quoted, table_text, whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork

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
        self.require_bayes()
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
        tables = [self.table(draft, place, scope) for place, scope in scopes]
        self.require_end()
        if not all(map(rows_sum_to_one, draft.tables.values())):
            turned = [table.of_pgmpy() for table in tables]
            if all(map(rows_sum_to_one, turned)):
                draft.notes.append("tables were read with the variable itself varying slowest, as pgmpy writes them")
                draft.tables = {table.child: p for table, p in zip(tables, turned, strict=True)}
        return draft.network()

    def require_bayes(self) -> None:
        """The first word, which names the kind of network."""
        kind = self.words[0] if self.words else ""
        if kind.upper() == "MARKOV":
            raise self.source.error(
                "this is a Markov network, and only Bayesian networks (BAYES) can be read",
                self.mark(0),
                hint="the factors of a Markov network are no conditional probabilities",
            )
        if kind.upper() != "BAYES":
            raise self.source.error(f"expected 'BAYES', found {quoted(kind)}", self.mark(0))

    def require_end(self) -> None:
        """Nothing stands behind what was read."""
        if self.at < len(self.words):
            found = quoted(self.words[self.at])
            raise self.source.error(f"expected the end of the file, found {found}", self.mark(self.at))

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
        """The number of states of one variable; its position is its number in the tables that follow."""
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

    def table(self, draft: Draft, place: int, scope: list[str]) -> Numbers:
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
        found = Numbers(child, shape, np.array(values))
        draft.fill(child, parents, found.values.reshape(shape), self.mark(begin))
        return found

    def evidence(self, network: BayesianNetwork) -> dict[str, Any]:
        """The states of the observed variables; older files begin with the number of samples, which must be one."""
        if self.words and len(self.words) % 2 == 0 and self.number("the number of samples") != 1:
            raise self.source.error("only one sample of evidence can be read", self.mark(0))
        found: dict[str, Any] = {}
        for _ in range(self.size("the number of observed variables") if self.words else 0):
            name = self.choice(network.variables, "a variable")
            if name in found:
                raise self.source.error(f"variable {name!r} is observed twice", self.mark(self.at - 1))
            found[name] = self.choice(network.states(name), f"a state of {name!r}")
        self.require_end()
        return found

    def choice(self, items: Sequence[Any], what: str) -> Any:
        """One of these, by its number."""
        index = self.number(f"the number of {what}")
        if index >= len(items):
            message = f"expected the number of {what}, 0 to {len(items) - 1}, found {index}"
            raise self.source.error(message, self.mark(self.at - 1))
        return items[index]


@dataclass(frozen=True)
class Numbers:
    """The numbers of one factor, with the sizes of its parents and of the variable itself."""

    child: str
    shape: tuple[int, ...]
    values: NDArray[np.float64]

    def of_pgmpy(self) -> NDArray[np.float64]:
        """The table, if the axes of the file are the variable itself and then the parents, the last of them first."""
        return self.values.reshape(self.shape[::-1]).transpose()


def rows_sum_to_one(p: NDArray[np.float64]) -> bool:
    """Whether every row is near enough to one."""
    return bool((np.abs(p.sum(axis=-1) - 1) <= ROW_TOLERANCE).all())


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
    index = dict(zip(network.variables, count(), strict=False))
    sizes = " ".join(str(cpt.variable.n_states) for cpt in network)
    lines = ["BAYES", str(len(network)), sizes, str(len(network))]
    for cpt in network:
        parents = cpt.parents[::-1] if first_fastest else cpt.parents
        scope = [index[v.name] for v in (*parents, cpt.variable)]
        lines.append(" ".join(map(str, [len(scope), *scope])) + ("  # x" + str(scope[-1]) if first_fastest else ""))
    for cpt in network:
        lines += ["", str(cpt.probabilities.size), table_text(cpt.probabilities)]
    return "\n".join(lines) + "\n"


### evidence


def read_evidence(path: str | os.PathLike[str], network: BayesianNetwork) -> dict[str, Any]:
    r"""Return the evidence of a UAI file (.evid), in which variables and states of a network have numbers.

    >>> from bayeslearn import read_network
    >>> asia, folder = read_network("asia"), getfixture("tmp_path")
    >>> write_evidence({"smoke": "yes", "xray": "no"}, folder / "asia.uai.evid", asia)
    >>> (folder / "asia.uai.evid").read_text(), read_evidence(folder / "asia.uai.evid", asia)
    ('2 2 0 6 1\n', {'smoke': 'yes', 'xray': 'no'})
    """
    name = str(path)
    return Reader(Source(files.read(name).decode("utf-8-sig", errors="replace"), name)).evidence(network)


def write_evidence(evidence: Mapping[str, Any], path: str | os.PathLike[str], network: BayesianNetwork) -> None:
    """Write evidence about a network to a UAI file (.evid), atomically; each variable has one observed state."""
    from bayeslearn.network.inference.evidence import as_evidence, observe  # noqa: PLC0415 - loads when it is written

    words = []
    for name, seen in observe(network, as_evidence(network, evidence)).items():
        if len(seen.states) != 1:
            raise ParameterError(
                f"a UAI file of evidence holds one state of a variable, of {name!r} got {listed(seen.states) or seen}",
                hint="name one state, or leave the variable out",
            )
        words += [network.variables.index(name), network[name].variable.code_of(seen.states[0])]
    files.write(path, (" ".join(map(str, [len(words) // 2, *words])) + "\n").encode())
