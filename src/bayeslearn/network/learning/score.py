"""How probable cases are under a network: ln P of what each row shows, with what it does not show summed over.

ln P(row) = Σ ln P(family) over the families it shows altogether + Σ ln P(what it shows around a group of missing)

bits per case = − Σ_d w_d log₂ P(d) / Σ_d w_d
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from bayeslearn import validation
from bayeslearn.network.learning.cases import FoldedCases
from bayeslearn.network.learning.expectation import expected_families
from bayeslearn.sources import as_source
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.inference.compiled import Compiled
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables.convert import Unseen

#: Cells in memory at a time, and the fewest rows of a batch.
MOST_CELLS, LEAST_ROWS = 1 << 22, 256


class Average:
    """What all cases together make of one."""

    weight: Any
    log_likelihood: Any

    @property
    def mean(self) -> float:
        """ln P of a case, on average; NaN when there are none."""
        return self.log_likelihood / self.weight if self.weight > 0 else float("nan")

    @property
    def bits(self) -> float:
        """Bits that a case takes on average, in a code made for this network."""
        return -self.mean / float(np.log(2)) + 0.0


@dataclass(frozen=True)
class Total(Average):
    """ln P of the cases of a source, all together: totals add, and no row is kept."""

    #: Σ_d w_d ln P(d); −∞ when one of them cannot be.
    log_likelihood: float
    #: How many cases there are.
    weight: float

    def __add__(self, other: Total) -> Total:
        return Total(self.log_likelihood + other.log_likelihood, self.weight + other.weight)


@dataclass(frozen=True)
class Score(Average):
    """ln P of every case, and what that makes of all of them together.

    >>> score = Score(np.log([0.5, 0.25, 0.125]))
    >>> print(f"{score.bits:.6g} bits per case, weighted {Score(score.cases, np.array([1, 0, 1])).bits:.6g}")
    2 bits per case, weighted 2
    """

    #: ln P of what each row shows; −∞ for one that cannot be.
    cases: NDArray[np.float64]
    #: How often each row counts; None for once.
    weights: NDArray[np.float64] | None = None

    @property
    def weight(self) -> float:
        """How many cases there are."""
        return float(len(self.cases) if self.weights is None else self.weights.sum())

    @property
    def log_likelihood(self) -> float:
        """Σ_d w_d ln P(d); a row of weight zero adds nothing, whatever it shows."""
        if self.weights is None:
            return float(self.cases.sum())
        counted = self.weights > 0
        return float(self.weights[counted] @ self.cases[counted])

    @property
    def impossible(self) -> NDArray[np.int64]:
        """The rows of probability zero that count."""
        never = np.isneginf(self.cases)
        return np.flatnonzero(never if self.weights is None else never & (self.weights > 0))


@overload
def score(network: BayesianNetwork, data: Scanned, *, unseen: Unseen = "missing") -> Total: ...


@overload
def score(network: BayesianNetwork, data: Any, *, unseen: Unseen = "missing") -> Score: ...


def score(network: BayesianNetwork, data: Any, *, unseen: Unseen = "missing") -> Score | Total:
    """ln P of what each row shows, or of all rows of a source; a missing cell, or column, is summed over.

    >>> from bayeslearn.network.formats import read_network
    >>> print(f"{score(read_network('asia'), {'smoke': ['yes', None], 'asia': ['no', 'yes']}).cases.round(4)}")
    [-0.7032 -4.6052]
    """
    unseen = validation.choice("unseen", unseen, ["missing", "error"])
    source = as_source(data, schema=network.schema, absent="missing", unseen=unseen)
    return table_score(network, source) if isinstance(source, Table) else source.fold(Totalled(network))


@dataclass(frozen=True)
class Totalled:
    """What is collected from a batch."""

    network: BayesianNetwork

    def __call__(self, table: Table) -> Total:
        """The total of one batch."""
        found = table_score(self.network, table)
        return Total(found.log_likelihood, found.weight)


def table_score(network: BayesianNetwork, table: Table) -> Score:
    """ln P of every row."""
    return Score(np.concatenate([np.empty(0), *scored(network, table)]), table.weights)


def scored(network: BayesianNetwork, table: Table) -> Iterator[NDArray[np.float64]]:
    """ln P of the rows of each batch."""
    compiled = network.exact.compiled
    for batch in batches(table):
        cases = FoldedCases.of(compiled, batch.with_weights(None))  # a row without weight has a probability too
        _, log_items = expected_families(compiled, cases)
        yield log_of_rows(compiled, cases, log_items[cases.record_item])


def batches(table: Table) -> Iterator[Table]:
    """As many rows at a time as memory should hold."""
    return table.batches(max(MOST_CELLS // len(table.schema), LEAST_ROWS))


def log_of_rows(compiled: Compiled, cases: FoldedCases, log_groups: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln P of what each row shows, from that of its groups of missing variables, in the order of the rows."""
    rows = np.repeat(np.arange(cases.n_rows), np.diff(cases.record_start))
    total = np.bincount(rows, log_groups, minlength=cases.n_rows).astype(np.float64)
    codes = cases.table.codes
    with np.errstate(divide="ignore"):
        log_cpt = np.log(compiled.cpt)
    for f in range(len(compiled.cpt_start) - 1):
        part = slice(compiled.scope_start[f], compiled.scope_start[f + 1])
        family = codes[compiled.scope[part]].astype(np.int64)
        cells = log_cpt[compiled.cpt_start[f] + compiled.scope_stride[part] @ np.maximum(family, 0)]
        total += np.where((family >= 0).all(axis=0), cells, 0.0)
    return total
