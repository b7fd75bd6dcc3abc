"""Explanations of pooled predictions: contributions of members, and of cells; both add up to the log odds.

With r the posterior probabilities of the other classes given that the class is another, and H their entropy,

    ln P(c|x)/(1 − P(c|x)) = [b_c − Σ r b_c' − H(r)] + Σ_m w_m [ln p_m(c|x) − Σ r ln p_m(c'|x)]      by member
                           = log odds where all cells are missing + Σ_j φ_j                           by cell

φ_j is what the log odds gain when cell j becomes known after the cells before it, averaged over a few orders of the
columns and their reversals (an estimate of the Shapley value). For a naive Bayes model alone φ_j is the log likelihood
ratio of the cell in every order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp, xlogy

from bayeslearn.errors import ParameterError, listed
from bayeslearn.naive_bayes.tabular.explanation import CellContributions, rounded
from bayeslearn.reports import MAX_ROWS, Grid, Report, Words
from bayeslearn.tables import DiscreteVariable, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.ensemble.model import BayesOptimalModel

    Floats = NDArray[np.float64]

#: Pairs of an order of the columns and its reversal.
N_ORDERS = 4

#: Rows that are predicted together.
ROOM = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class PooledContributions(CellContributions):
    """Log odds of one class against another, or against all others, by cell and by member.

    Attributes
    ----------
    offset
        The part of the log odds of each row that is no member's: the difference of the offsets of the classes.
    members
        The contribution of each member to the log odds of each row.
    """

    offset: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    members: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def report(self, *, first: int = 0, max_rows: int = MAX_ROWS) -> Report:
        """Return the contributions of at most `max_rows` rows; `first` is the number of the first row."""
        blocks: list[Any] = []
        for i in range(min(len(self), max_rows)):
            one = super().report(first=first, max_rows=max_rows).blocks[i]
            order = sorted(self.members, key=lambda name, i=i: -abs(self.members[name][i]))  # type: ignore[misc]
            rows = [["offset", rounded(self.offset[i])], *([m, rounded(self.members[m][i])] for m in order)]
            blocks += [one, Grid(["member", "log odds"], rows)] if self.members else [one]
        rest = len(self) - max_rows
        return Report("", *blocks, Words(f"… {rest:,} more rows") if rest > 0 else None)

    def to_dict(self) -> dict[str, Any]:
        """Return class, log odds and contributions of each row as plain values."""
        found = super().to_dict()
        for i, row in enumerate(found["rows"]):
            row["offset"] = float(self.offset[i])
            row["members"] = {name: float(part[i]) for name, part in self.members.items()}
        return found


def explained(model: BayesOptimalModel, data: Any, *, of: Any, against: Any) -> PooledContributions:
    """The contributions of the cells of some rows, and of the members, to the class `of`."""
    if model.target.n_states < 2:
        raise ParameterError(f"there is only one class, {model.classes[0]!r}: nothing can be explained")
    table = model.read(data)
    logs = model.log_proba_of_members(table)
    log_p = model.pool.log_proba(logs)
    n = len(log_p)
    c = log_p.argmax(axis=1) if of is None else np.full(n, model.target.code_of(of))
    other = None if against is None else model.target.code_of(against)
    if other is not None and (c == other).any():
        raise ParameterError(
            f"class {against!r} cannot be compared with itself", hint=f"classes: {listed(model.classes)}"
        )

    def odds(rows: Table) -> Floats:
        return log_odds(model.pool.log_proba(model.log_proba_of_members(rows)), np.resize(c, len(rows)), other)

    start, parts = by_cell(table, odds)
    offset, members = by_member(model, logs, log_p, c, other)
    return PooledContributions(
        tuple(model.classes[k] for k in c), None if against is None else (against,) * n, start, parts,
        {v.name: written(table, v) for v in table.schema}, offset, members,
    )  # fmt: skip


def log_odds(log_p: Floats, c: NDArray[np.intp], other: int | None) -> Floats:
    """ln P(c)/P(other), or ln P(c)/(1 − P(c))."""
    rows = np.arange(len(c))
    if other is not None:
        return np.asarray(log_p[rows, c] - log_p[:, other])
    rest = log_p.copy()
    rest[rows, c] = -np.inf
    return np.asarray(log_p[rows, c] - logsumexp(rest, axis=1))


### by cell


def by_cell(table: Table, predict: Callable[[Table], Floats]) -> tuple[Floats, dict[str, Floats]]:
    """What is predicted without any cell, and the contribution of each."""
    names = table.schema.names
    parts = {name: np.zeros(len(table)) for name in names}
    orders = both_ways(len(names))
    start = of_sets(table, [frozenset()], predict)[0]
    for order in orders:
        known = [frozenset(names[j] for j in order[:i]) for i in range(1, len(order) + 1)]
        before = start
        for j, after in zip(order, of_sets(table, known, predict), strict=True):
            parts[names[j]] += (after - before) / len(orders)
            before = after
    return start, parts


def both_ways(n: int) -> list[list[int]]:
    """Orders of n columns, each with its reversal; the first is that of the columns."""
    rng = np.random.default_rng(0)
    orders = [list(range(n)), *(rng.permutation(n).tolist() for _ in range(N_ORDERS - 1))]
    return [side for order in orders for side in (order, order[::-1])]


def of_sets(table: Table, known: list[frozenset[str]], predict: Callable[[Table], Floats]) -> list[Floats]:
    """What is predicted where only some cells are known, for each of several sets of columns."""
    found: list[Floats] = []
    step = max(ROOM // max(len(table), 1), 1)
    for a in range(0, len(known), step):
        part = known[a : a + step]
        masked = [table.mask([name for name in table.schema.names if name not in seen]) for seen in part]
        found += list(predict(Table.concat(masked)).reshape(len(part), len(table)))
    return found


def written(table: Table, variable: Any) -> list[Any]:
    """The cells of a column; None where missing."""
    if isinstance(variable, DiscreteVariable):
        return table.column(variable.name).tolist()
    return [None if np.isnan(x) else x for x in table.values_of(variable.name).tolist()]


### by member


def by_member(
    model: BayesOptimalModel, logs: Floats, log_p: Floats, c: NDArray[np.intp], other: int | None
) -> tuple[Floats, dict[str, Floats]]:
    """The part of the offsets, and the contribution of each member; nothing where the pool is no sum of logarithms."""
    n, rows = len(c), np.arange(len(c))
    weights = np.zeros(log_p.shape)
    if other is None:
        rest = log_p.copy()
        rest[rows, c] = -np.inf
        weights = np.exp(rest - logsumexp(rest, axis=1, keepdims=True))
    else:
        weights[:, other] = 1.0
    if model.pool.combine not in {"log_linear", "ridge"}:
        return np.zeros(n), {}
    offset = model.pool.offsets[c] - weights @ model.pool.offsets + xlogy(weights, weights).sum(axis=1)
    scores = model.pool.scores_by_member(logs)
    each = scores[rows, :, c] - np.einsum("nmk,nk->nm", scores, weights)
    return offset, {member.name: each[:, i] for i, member in enumerate(model.members)}
