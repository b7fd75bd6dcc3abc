"""BIF, the Interchange Format, in the dialects of R bnlearn, pgmpy, aGrUM and JavaBayes.

    network name { property ...; }
    variable A { type discrete [ 2 ] { yes, no }; }
    probability ( A | B, C ) { (b1, c1) 0.1, 0.9; default 0.5, 0.5; }        a row for each state of the parents
    probability ( A | B, C ) { table 0.1, ...; }                             all numbers at once

Commas may be missing, names may be quoted, the bar may be missing (the first name is the child), ``//`` and ``/* */``
are comments, properties are ignored. ``default`` fills the rows that are not given. After ``table`` the order is that
of the header: the child varies slowest, the last parent fastest. Some programs write it the other way round, the child
fastest; if only that gives rows that sum to one, it is taken, and noted.

It is written as R bnlearn writes it, which every program reads; names are quoted where they need it.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import listed
from bayeslearn.network.cpt import ROW_TOLERANCE
from bayeslearn.network.formats.network_builder import PLAIN, Draft, require_printable, state_names, word
from bayeslearn.network.formats.tokenizer import Tokens
from bayeslearn.source_text import floats, quoted, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.source_text import Source


#: A variable and the head of a table as nearly every program writes them: plain words, commas, no comments, not many
#: of them, because an expression remembers every repetition.
WORD = r"[^\s{}()\[\],;|\"/\\]+"
PLAIN_VARIABLE = re.compile(
    rf"({WORD})\s*\{{\s*type\s+discrete\s*\[\s*([0-9]{{1,6}})\s*\]\s*\{{((?:\s*{WORD}\s*,){{0,999}}\s*{WORD})\s*\}}\s*;\s*\}}"
)
PLAIN_TABLE = re.compile(r"\s*table\s+([^;\"/]*);\s*")

#: Marks of rows: all of them made commas, and every other byte.
AS_COMMAS, NO_MARKS = str.maketrans("();", ",,,"), bytes(set(range(256)) - set(b"(),;"))
PLAIN_HEADER = re.compile(rf"\(\s*({WORD})\s*(?:\|((?:\s*{WORD}\s*,){{0,99}}\s*{WORD})\s*)?\)")


def read_bif(source: Source) -> BayesianNetwork:
    """The network of a BIF text."""
    return Reader(source).network()


class Reader:
    """Recursive descent over the tokens: one method for each part of the grammar."""

    def __init__(self, source: Source, *, fast: bool = True) -> None:
        self.source = source
        self.tokens = Tokens(source, "bif")
        self.draft = Draft(source)
        self.fast = fast
        self.turned: list[str] = []
        self._codes: dict[str, dict[str, int]] = {}

    def network(self) -> BayesianNetwork:
        """Every block; tables that stand before their variables are read at the end."""
        waiting: list[int] = []
        while self.tokens.word:
            self.block(waiting)
        for offset in waiting:
            self.tokens.move(offset)
            self.probability(*self.header())
        if self.turned:
            self.draft.notes.append(f"tables were read with the child varying fastest: {listed(self.turned)}")
        return self.draft.network()

    def block(self, waiting: list[int]) -> None:
        """A network, variable or probability block."""
        kind = self.tokens.word
        if kind not in {"network", "variable", "probability"}:
            raise self.tokens.expected("'network', 'variable' or 'probability'")
        self.tokens.move(self.tokens.end)
        if kind == "network":
            self.title()
        elif kind == "variable":
            self.variable()
        else:
            begin = self.tokens.at
            child, parents, _ = header = self.header()
            if all(name in self.draft.variables for name in (child, *parents)):
                self.probability(*header)
            else:
                waiting.append(begin)
                self.tokens.past("}")

    def title(self) -> None:
        """``name { properties }``."""
        if self.tokens.is_name():
            self.draft.name = self.tokens.name("the name of the network")
        self.tokens.take("{")
        while not self.tokens.skip("}"):
            self.ignored("'property' or '}'")

    def ignored(self, expected: str) -> None:
        """A property of any content."""
        if self.tokens.word != "property":
            raise self.tokens.expected(expected)
        self.tokens.past(";")

    # -- variables

    def variable(self) -> None:
        """``name { type discrete [ n ] { states }; properties }``."""
        start = self.tokens.at
        plain = PLAIN_VARIABLE.match(self.source.text, start) if self.fast else None
        if plain and plain[3].count(",") + 1 == int(plain[2]):
            self.tokens.move(plain.end())
            self.draft.declare(plain[1], split_names(plain[3]), start)
            return
        name = self.tokens.name("the name of a variable")
        states: list[str] | None = None
        self.tokens.take("{")
        while not self.tokens.skip("}"):
            if self.tokens.word == "type" and states is None:
                states = self.states(name)
            else:
                self.ignored("'type', 'property' or '}'")
        if states is None:
            raise self.source.error(f"variable {name!r} has no states", start)
        self.draft.declare(name, states, start)

    def states(self, name: str) -> list[str]:
        """``type discrete [ n ] { states };``."""
        self.tokens.move(self.tokens.end)
        if self.tokens.word != "discrete":
            raise self.source.error(
                f"expected 'discrete', found {quoted(self.tokens.word)}: variable {name!r} needs named states",
                self.tokens.at,
                hint="cut continuous variables into intervals first",
            )
        self.tokens.move(self.tokens.end)
        self.tokens.take("[")
        count = whole_number(self.tokens.word)
        if count is None:
            raise self.tokens.expected("the number of states")
        self.tokens.move(self.tokens.end)
        self.tokens.take("]")
        self.tokens.take("{")
        states = self.tokens.names_until("}", count, "state")
        self.tokens.skip(";")
        return states

    # -- probabilities

    def header(self) -> tuple[str, list[str], int]:
        """``( child | parents )``, with the place it stands at."""
        start = self.tokens.at
        plain = PLAIN_HEADER.match(self.source.text, start) if self.fast else None
        if plain:
            self.tokens.move(plain.end())
            return plain[1], split_names(plain[2]) if plain[2] else [], start
        self.tokens.take("(")
        child = self.tokens.name("the name of a variable")
        self.tokens.skip("|") or self.tokens.skip(",")
        parents = []
        while not self.tokens.skip(")"):
            parents.append(self.tokens.name("the name of a parent or ')'"))
            self.tokens.skip(",")
        return child, parents, start

    def probability(self, child: str, parents: list[str], start: int) -> None:
        """``{ rows, default, table, properties }``."""
        if self.tokens.word != "{":
            raise self.tokens.expected("'{'")
        shape = self.draft.shape(child, parents, start)
        p = self.plain_body(parents, shape) if self.fast else None
        if p is None:
            self.tokens.take("{")
            p = self.slow_rows(child, parents, shape, start)
        self.draft.fill(child, parents, p, start)

    def plain_body(self, parents: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """The usual body, rows of plain words and numbers, read without looking at tokens; None if it is not that.

        Whatever is unusual or wrong is left to :meth:`slow_rows`, which parses the whole grammar and reports positions.
        """
        text, begin = self.source.text, self.tokens.end
        end = text.find("}", begin)
        body = text[begin:end]
        if end < 0 or '"' in body or "/" in body:
            return None
        p = self.plain_rows(body, parents, shape) if parents else self.plain_table(body, shape[0])
        if p is not None:
            self.tokens.move(end + 1)
        return p

    def plain_table(self, body: str, size: int) -> NDArray[np.float64] | None:
        """``table numbers;`` of a variable without parents."""
        found = PLAIN_TABLE.fullmatch(body)
        numbers = floats(found[1].split(",")) if found else 0
        return np.array(numbers) if isinstance(numbers, list) and len(numbers) == size else None

    def plain_rows(self, body: str, parents: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """``(states) numbers;`` for all states of the parents, in any order."""
        width, n = len(shape) - 1, math.prod(shape[:-1])
        found, marks = (
            body.encode().translate(None, NO_MARKS),
            b"(" + b"," * (width - 1) + b")" + b"," * (shape[-1] - 1) + b";",
        )
        if len(found) != len(marks) * n or found != marks * n:
            return None
        fields = body.translate(AS_COMMAS).split(",")  # nothing, labels, numbers
        row = 1 + width + shape[-1]
        if "".join(fields[::row]).strip():
            return None
        places = [0] * n
        try:
            for k, codes in enumerate(map(self.codes, parents)):
                size = shape[k]
                labels = map(str.strip, fields[1 + k :: row])
                places = [place * size + codes[label] for place, label in zip(places, labels, strict=True)]
        except KeyError:
            return None
        numbers = floats([field for k in range(1 + width, row) for field in fields[k::row]])
        if isinstance(numbers, int) or len(set(places)) < n:
            return None
        p = np.empty((n, shape[-1]))
        p[places] = np.array(numbers).reshape(shape[-1], n).T
        return p.reshape(shape)

    def codes(self, key: str) -> dict[str, int]:
        """The place of each state whose name is a plain word."""
        if key not in self._codes:
            states = self.draft.variables[key].states
            self._codes[key] = {state: i for i, state in enumerate(states) if PLAIN.fullmatch(state)}
        return self._codes[key]

    def slow_rows(self, child: str, parents: Sequence[str], shape: tuple[int, ...], start: int) -> NDArray[np.float64]:
        """Any body, token by token."""
        p = np.full(shape, np.nan)
        table: NDArray[np.float64] | None = None
        default: list[float] | None = None
        while not self.tokens.skip("}"):
            begin, word = self.tokens.at, self.tokens.word
            if word == "(":
                place = self.row_place(parents)
                if not np.isnan(p[place]).all():
                    raise self.source.error(f"{child!r} has two rows for these states of its parents", begin)
                p[place] = self.values(shape[-1], "in this row")
            elif word == "default" and default is None:
                self.tokens.move(self.tokens.end)
                default = self.values(shape[-1], "after 'default'")
            elif word == "table" and table is None:
                self.tokens.move(self.tokens.end)
                table = np.array(self.values(math.prod(shape), "after 'table'"))
            else:
                self.ignored("'(', 'table', 'default', 'property' or '}'")
        if table is not None:
            if default is not None or not np.isnan(p).all():
                raise self.source.error(f"{child!r} has a table and rows too", start)
            return self.ordered(child, table, shape, start)
        return self.completed(child, parents, p, default, start)

    def row_place(self, parents: Sequence[str]) -> tuple[int, ...]:
        """``( states of the parents )``."""
        begin = self.tokens.at
        self.tokens.move(self.tokens.end)
        labels = self.tokens.names_until(")", len(parents), "state")
        place = []
        for key, label in zip(parents, labels, strict=True):
            states = self.draft.variables[key].states
            if label not in states:
                raise self.source.error(
                    f"{label!r} is not a state of {key!r}", begin, hint=f"its states are {listed(states)}"
                )
            place.append(states.index(label))
        return tuple(place)

    def values(self, count: int, where: str) -> list[float]:
        """Read `count` numbers and a semicolon."""
        begin = self.tokens.at
        numbers = self.tokens.numbers()
        if self.tokens.word != ";":
            raise self.tokens.expected("a number or ';'")
        if len(numbers) != count:
            raise self.source.error(f"expected {count} numbers {where}, found {len(numbers)}", begin)
        self.tokens.move(self.tokens.end)
        return numbers

    def ordered(
        self, child: str, table: NDArray[np.float64], shape: tuple[int, ...], start: int
    ) -> NDArray[np.float64]:
        """The numbers of a table with the child on the last axis, whichever of two orders they were written in."""
        self.draft.require_probabilities(child, table, start)
        documented = np.ascontiguousarray(np.moveaxis(table.reshape(shape[-1], *shape[:-1]), 0, -1))
        turned = table.reshape(shape)
        if not sums_to_one(documented) and sums_to_one(turned):
            self.turned.append(child)
            return turned
        return documented

    def completed(
        self, child: str, parents: Sequence[str], p: NDArray[np.float64], default: list[float] | None, start: int
    ) -> NDArray[np.float64]:
        """Rows that were not given, by the default."""
        missing = np.isnan(p[..., 0])
        if default is not None:
            p[missing] = default
        elif missing.any():
            place = np.unravel_index(int(missing.argmax()), missing.shape)
            states = [self.draft.variables[key].states[i] for key, i in zip(parents, place, strict=True)]
            row = f"for the states {listed(states)} of its parents" if parents else "at all"
            raise self.source.error(f"{child!r} has no row {row}", start)
        return p


def split_names(text: str) -> list[str]:
    """Plain words between commas."""
    return [name.strip() for name in text.split(",")]


def sums_to_one(p: NDArray[np.float64]) -> bool:
    """Whether every row does, as near as published tables do."""
    return bool((np.abs(p.sum(axis=-1) - 1) <= ROW_TOLERANCE).all())


def write_bif(network: BayesianNetwork) -> str:
    """The network as BIF, with a row for each state of the parents; names are quoted where they need it."""
    states = {cpt.name: state_names(cpt.variable) for cpt in network}
    for name, own in states.items():
        require_printable([network.name, name, *own], "BIF")
    lines = [f"network {word(network.name)} {{", "}"]
    for name, own in states.items():
        listing = ", ".join(word(state) for state in own)
        lines += [f"variable {word(name)} {{", f"  type discrete [ {len(own)} ] {{ {listing} }};", "}"]
    for cpt in network:
        parents = [v.name for v in cpt.parents]
        given = f" | {', '.join(word(name) for name in parents)}" if parents else ""
        lines += [f"probability ( {word(cpt.name)}{given} ) {{"]
        lines += written_rows(cpt.probabilities, [states[name] for name in parents])
        lines += ["}"]
    return "\n".join(lines) + "\n"


def written_rows(p: NDArray[np.float64], states: Sequence[Sequence[str]]) -> Iterator[str]:
    """``table`` for a variable without parents, otherwise one row after another."""
    if not states:
        yield f"  table {', '.join(map(repr, p.tolist()))};"
        return
    words = [[word(state) for state in own] for own in states]
    for place in np.ndindex(p.shape[:-1]):
        labels = ", ".join(own[i] for own, i in zip(words, place, strict=True))
        yield f"  ({labels}) {', '.join(map(repr, p[place].tolist()))};"
