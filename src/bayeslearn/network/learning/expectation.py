"""The two steps of EM for the tables of a network.

    E   n_ijk = Σ_d w_d · P(x_i = k, parents = j | d)          families that d shows altogether are counted once
    M   θ_ijk = (n_ijk + α_ijk) / Σ_k (n_ijk + α_ijk)

The prior counts as cases, so the M step is the posterior mean of complete data, and EM climbs

    ln P(D | θ) + Σ α_ijk ln θ_ijk

that is, to the mode under Dirichlet(α + 1); with α = 0 to maximum likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from bayeslearn import kernels
from bayeslearn.errors import ImpossibleDataError, listed
from bayeslearn.families import Counts
from bayeslearn.network.learning.cases import FoldedCases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.inference.compiled import Compiled
    from bayeslearn.network.learning.cases import Cases

#: Parts that the groups are dealt into. Fixed, so that sums do not depend on the number of threads.
PARTS = 32

#: Planning a group costs as much as this many items.
PLAN_COST = 8


@dataclass(frozen=True)
class Tables:
    """The numbers of all tables in a row, for one structure: a model that EM can climb with."""

    compiled: Compiled
    #: Where the tables are to stay as they are; None when all may move.
    fixed: NDArray[np.bool_] | None = None

    @property
    def p(self) -> NDArray[np.float64]:
        """θ of every cell."""
        return self.compiled.cpt

    def with_p(self, p: NDArray[np.float64]) -> Tables:
        """Other numbers, same structure."""
        return replace(self, compiled=self.compiled.with_values(p))

    def expected_statistics(self, batch: Cases) -> tuple[Counts, float]:
        """E step: expected counts of every cell, and ln P(D | θ)."""
        families, log_items = expected_families(self.compiled, batch)
        counts = batch.known + families
        log_p = float(xlogy(batch.known, self.p).sum() + batch.items.weights @ log_items)
        if log_p == -np.inf:
            raise impossible(self.compiled, batch, log_items)
        return Counts(counts), log_p

    def estimate(self, prior: NDArray[np.float64] | None, statistics: Counts) -> Tables:
        """M step; a row that rests on nothing stays as it is."""
        n = statistics.n if prior is None else statistics.n + prior
        p = normalised(self.compiled, n, otherwise=self.p)
        return self.with_p(p if self.fixed is None else np.where(self.fixed, self.p, p))

    def log_prior(self, prior: NDArray[np.float64] | None) -> float:
        """Σ α ln θ over the tables that may move."""
        if prior is None:
            return 0.0
        free = prior if self.fixed is None else np.where(self.fixed, 0.0, prior)
        return float(xlogy(free, self.p).sum())


def normalised(compiled: Compiled, n: NDArray[np.float64], *, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row of every table divided by its sum; `otherwise` where that is zero."""
    total = np.add.reduceat(n, compiled.row_start)[compiled.row_of]
    return np.where(total > 0, n / np.where(total > 0, total, 1.0), otherwise)


def expected_families(compiled: Compiled, cases: Cases) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected counts of what is missing, in a row as the tables are, and ln P of what each item shows."""
    items, soft = cases.items, cases.soft
    log_p = np.zeros(len(items))
    arrays = compiled.arrays(compiled.all)

    def part(bounds: tuple[int, int]) -> NDArray[np.float64]:
        families = np.zeros(len(compiled.cpt))
        first, last = bounds
        here, start = slice(items.start[first], items.start[last]), items.start[first : last + 1]
        codes = items.codes[here].astype(np.int64)  # only of this part, for there may be millions
        failed = kernels.infer_items(
            arrays, compiled.sizes, compiled.log_size, items.groups[first:last], start - start[0], 0, last - first,
            codes, items.weights[here], items.soft[here], soft.likelihoods, soft.weighed, compiled.limit, families,
            log_p[here],
        )  # fmt: skip
        if failed >= 0:
            active = codes[start[failed] - start[0]] < 0
            compiled.require_room(compiled.plan(active, compiled.all).entries)
        return families

    total = np.zeros(len(compiled.cpt))
    for families in kernels.parallel(part, parts(items.start), worth=len(items) > 64):
        total += families
    return total, log_p


def parts(start: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of groups that take about as long as each other."""
    groups = len(start) - 1
    if groups == 0:
        return []
    cost = np.cumsum(np.diff(start) + PLAN_COST)
    ends = np.searchsorted(cost, np.linspace(0, cost[-1], min(PARTS, groups) + 1)[1:], side="left") + 1
    bounds = np.unique(np.append(0, np.minimum(ends, groups)))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def impossible(compiled: Compiled, cases: Cases, log_items: NDArray[np.float64]) -> ImpossibleDataError:
    """The error that names the first row of probability zero; where rows are not kept, what such a row shows."""
    hint = "give a prior, or start from tables without zeros"
    if not isinstance(cases, FoldedCases):
        where = place_of_zero(compiled, cases, log_items)
        return ImpossibleDataError(f"a row has probability zero under the present tables, {where}", hint=hint)
    row = first_of_zero(compiled, cases, log_items)
    return ImpossibleDataError(f"row {row} has probability zero under the present tables", hint=hint, row=row)


def place_of_zero(compiled: Compiled, cases: Cases, log_items: NDArray[np.float64]) -> str:
    """Which table says so, or what was missing there."""
    zero = np.flatnonzero((cases.known > 0) & (compiled.cpt == 0))
    if len(zero):
        table = np.searchsorted(compiled.cpt_start, zero[0], side="right") - 1
        return f"by that of {compiled.names[table]!r}"
    codes = cases.items.codes[int(np.argmax(np.isneginf(log_items)))]
    return f"where {listed([compiled.names[v] for v in np.flatnonzero(codes < 0)])} is missing"


def first_of_zero(compiled: Compiled, cases: FoldedCases, log_items: NDArray[np.float64]) -> int:
    """The first row of probability zero."""
    rows = [int(row) for row in cases.items.row[np.isneginf(log_items)][:1]]
    codes = cases.table.codes.T.astype(np.int64)
    for f in range(len(compiled.cpt_start) - 1):
        scope = compiled.scope[compiled.scope_start[f] : compiled.scope_start[f + 1]]
        shown = np.flatnonzero((codes[:, scope] >= 0).all(axis=1))
        stride = compiled.scope_stride[compiled.scope_start[f] : compiled.scope_start[f + 1]]
        zero = compiled.cpt[compiled.cpt_start[f] + codes[shown][:, scope] @ stride] == 0
        rows += shown[zero][:1].tolist()
    return min(rows)
