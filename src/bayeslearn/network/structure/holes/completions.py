"""Expected counts of every family at once: those of one weighted table in which nothing is missing.

    E[N(family)] = Σ_d w_d Σ_c P(c | what d shows) · [c is in the family's cell]        c the completions of row d

A row stands for all its completions, each with its share of the row's weight; the share follows from the joint
probability of whole cases, so that there is nothing to infer:

    P(c | what d shows) = P(c) / Σ_c' P(c')

A row with too many completions stands for draws from that posterior instead, the same numbers deciding in every round;
where rows are very many, every incomplete one stands for a single draw, for their noise falls as 1/√rows, and rows that
all weigh the same are counted much quicker.
Scores and searches do not see the difference: expected statistics are statistics.

References
----------
Friedman (1997), Learning belief networks in the presence of missing values and hidden variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.network.learning.impute import impute
from bayeslearn.network.prediction import impossible_row
from bayeslearn.tables import Table
from bayeslearn.tables.distinct import groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.network import BayesianNetwork

    Codes = NDArray[np.signedinteger[Any]]

#: Completions of one row that are listed, and of all rows together.
MOST, ROOM = 256, 1 << 16

#: Completions that are drawn of a row that has more.
DRAWS = 8

#: Completions, listed and drawn, from which on every row is completed by a single draw.
MANY = 1 << 18

#: Shares of a row that are too small to be told from rounding.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Completions:
    """The completions of a table, listed once; a network then gives them their weights.

    >>> from bayeslearn import read_network
    >>> from bayeslearn.tables import as_table
    >>> asia = read_network("asia")
    >>> shown = as_table([{"smoke": "yes", "lung": "yes"}] * 10, schema=asia.schema, absent="missing")
    >>> Completions.of(shown).under(asia).n_rows
    32
    """

    #: Rows with few completions, equal ones folded, and what they weigh.
    shown: Table
    #: The different completions of all of these.
    cases: Table
    #: The completions of each row, those of one row after those of another: their places among the cases,
    case: NDArray[np.intp]
    #: and where those of a row begin.
    start: NDArray[np.int64]
    #: Rows with many completions, as often as each is to be drawn.
    drawn: Table
    seed: int

    @classmethod
    def of(cls, table: Table, *, most: int = MOST, room: int = ROOM, draws: int = DRAWS, seed: int = 0) -> Completions:
        """List what is possible: up to `most` completions of a row and `room` in all; `draws` of the other rows."""
        validation.integer("draws", draws, least=1)
        table = table.distinct()
        table = table.take(weights_of(table) > 0)
        sizes = np.array([v.size for v in table.schema.discrete], np.int64)
        count = np.where(table.codes < 0, sizes[:, None], 1).prod(axis=0, dtype=np.float64)
        few = count <= threshold(count, most, room, draws)
        shown = table.take(few)
        start = np.cumsum([0, *count[few]], dtype=np.int64)
        codes = every_completion(shown.codes, sizes, start)
        first, case = groups(codes, sizes.tolist(), np.empty((0, codes.shape[1])))
        cases = Table(table.schema, codes[:, first], np.empty((0, len(first))))
        return cls(shown, cases, case, start[:-1], repeated(table.take(~few), draws), seed)

    @classmethod
    def one_each(cls, table: Table, *, seed: int = 0) -> Completions:
        """A single draw of every row, in the order of the rows; complete rows are as they are."""
        nothing = table.take(np.empty(0, np.intp))
        return cls(nothing, nothing, np.empty(0, np.intp), np.empty(0, np.int64), table, seed)

    @property
    def exact(self) -> bool:
        """Whether every completion is listed, so that expected counts are exact."""
        return self.drawn.n_rows == 0

    def under(self, network: BayesianNetwork) -> Table:
        """The weighted table that a network, whose variables are the columns in their order, makes of it."""
        first, *more = self.tables(network)
        return Table.concat([first, *more]).distinct() if more else first

    def tables(self, network: BayesianNetwork) -> list[Table]:
        """The same as those that are listed and, if there are some, those that are drawn."""
        drawn = [] if self.exact else [impute(network, self.drawn, how="draw", rng=self.seed)]
        if drawn and not self.shown.n_rows:
            return drawn
        weight = np.bincount(self.case, self.shares(network), minlength=self.cases.n_rows)
        return [self.cases.with_weights(weight).take(weight > 0), *drawn]

    def shares(self, network: BayesianNetwork) -> NDArray[np.float64]:
        """w_d · P(c | what d shows) of every listed completion."""
        log_p, row = network.log_joint(self.cases)[self.case], self.row
        top = np.maximum.reduceat(log_p, self.start)
        if np.isneginf(top).any():
            raise impossible_row(network, self.shown, validation.first_position(np.isneginf(top)))
        p = np.exp(log_p - top[row])
        p = np.where(p > NEGLIGIBLE, p, 0.0)
        return p * (weights_of(self.shown) / np.add.reduceat(p, self.start))[row]

    @property
    def row(self) -> NDArray[np.int64]:
        """The row that each listed completion completes."""
        return np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(self.case))))


def has_many(table: Table, draws: int) -> bool:
    """Whether all completions, no more than so many of each row, would take long to count."""
    sizes = np.array([v.size for v in table.schema.discrete], np.int64)
    if table.n_rows * draws <= MANY:
        return False
    count = np.where(table.codes < 0, sizes[:, None], 1).prod(axis=0, dtype=np.float64)
    return bool(np.minimum(count, draws).sum() > MANY)


def threshold(count: NDArray[np.float64], most: int, room: int, draws: int) -> float:
    """The most completions that a row may have to be listed; always as many as would else be drawn."""
    sizes, rows = np.unique(count, return_counts=True)
    fits = (sizes <= draws) | (sizes <= most) & (np.cumsum(sizes * rows) <= room)
    return float(sizes[fits].max(initial=1.0))


def every_completion(codes: Codes, sizes: NDArray[np.int64], start: NDArray[np.int64]) -> Codes:
    """The completions of each row: they are numbered, and the number is read digit by digit into what is missing."""
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    number = np.arange(len(row)) - start[row]
    full = codes[:, row]
    for column, size in zip(full, sizes, strict=True):
        hole = np.flatnonzero(column < 0)
        number[hole], column[hole] = np.divmod(number[hole], size)
    return full


def repeated(table: Table, draws: int) -> Table:
    """Every row so many times, for its weight in all; sorted, so that luck does not depend on the order of rows."""
    order = np.lexsort(table.codes) if table.n_rows else np.empty(0, np.int64)
    again = table.take(np.repeat(order, draws))
    return again.with_weights(weights_of(again) / draws)


def weights_of(table: Table) -> NDArray[np.float64]:
    """What each row weighs."""
    return validation.weights(table.weights, table.n_rows)
