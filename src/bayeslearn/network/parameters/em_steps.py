"""Inference over all rows of a table: the two steps of EM, and the log likelihood of rows.

    E   n_ijk = Σ_d w_d · P(x_i = k, parents = j | d)          families that d shows altogether are counted once
    M   θ_ijk = (n_ijk + α_ijk) / Σ_k (n_ijk + α_ijk)

The prior counts as cases, so the M step is the posterior mean of complete data, and EM maximizes

    ln P(D | θ) + Σ α_ijk ln θ_ijk

that is, to the mode under Dirichlet(α + 1); with α = 0 to maximum likelihood.

The log likelihood of a row is that of what it shows, with what it does not show summed over:

    ln P(row) = Σ ln P(family) over the families it shows altogether + Σ ln P(what it shows around a group of missing)

    bits per row = − Σ_d w_d log₂ P(d) / Σ_d w_d
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy.special import xlogy

from bayeslearn import kernels, validation
from bayeslearn.distributions import Counts
from bayeslearn.distributions.categorical import shares
from bayeslearn.errors import ImpossibleDataError, MissingValuesError, listed
from bayeslearn.network.inference.compiled_network import LARGE
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.reports import Pairs, Report, Reported
from bayeslearn.sources import as_source
from bayeslearn.tables import Source, Table, as_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.network.parameters.training_cases import Cases
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables.conversion import Unseen


#: Parts that the groups are dealt into. Fixed, so that sums do not depend on the number of threads.
PARTS = 32

#: Planning a group costs as much as this many items.
PLAN_COST = 8


@dataclass(frozen=True)
class Tables:
    """The numbers of all tables in a row, for one structure: a model that EM can fit."""

    compiled: Compiled
    #: The tables that do not change; None when all may move.
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
        log_p = float(xlogy(batch.known, self.p).sum() + batch.items.sample_weight @ log_items)
        if log_p == -np.inf:
            raise impossible(self.compiled, batch, log_items)
        return Counts(counts), log_p

    def estimate(self, prior: NDArray[np.float64] | None, statistics: Counts) -> Tables:
        """M step; a row without counts is unchanged."""
        n = statistics.n if prior is None else statistics.n + prior
        p = normalized_rows(self.compiled, n, otherwise=self.p)
        return self.with_p(p if self.fixed is None else np.where(self.fixed, self.p, p))

    def log_prior(self, prior: NDArray[np.float64] | None) -> float:
        """Σ α ln θ over the tables that may move."""
        if prior is None:
            return 0.0
        free = prior if self.fixed is None else np.where(self.fixed, 0.0, prior)
        return float(xlogy(free, self.p).sum())


def normalized_rows(
    compiled: Compiled, n: NDArray[np.float64], *, otherwise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Every row of every table divided by its sum; `otherwise` where that is zero."""
    total = np.add.reduceat(n, compiled.row_start)[compiled.row_of]
    return shares(n, otherwise, total=total, nothing=0.0)


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
        if compiled.is_large and groups_with_many(items.groups[first:last]):
            for g in range(first, last):
                expected_of_group(compiled, cases, g, families, log_p)
            return families
        failed = kernels.infer_items(
            arrays, compiled.sizes, compiled.log_size, items.groups[first:last], start - start[0], 0, last - first,
            codes, items.sample_weight[here], items.soft[here], soft.likelihoods, soft.weighed, compiled.limit,
            families,
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


def groups_with_many(groups: NDArray[np.uint64]) -> bool:
    """Whether a group has too many variables to consider all pairs of them."""
    return bool(np.bitwise_count(groups).sum(axis=1).max(initial=0) > LARGE)


def expected_of_group(
    compiled: Compiled, cases: Cases, g: int, families: NDArray[np.float64], log_p: NDArray[np.float64]
) -> None:
    """The items of one group, as :func:`kernels.infer_items` does it, with a plan that is made for many variables."""
    items, soft = cases.items, cases.soft
    bits = np.unpackbits(np.ascontiguousarray(items.groups[g]).view(np.uint8), bitorder="little")
    active = bits[: len(compiled.names)].astype(np.bool_)
    kept = np.maximum.reduceat(active[compiled.scope], compiled.scope_start[:-1])
    plan = compiled.plan(active, kept)
    compiled.require_room(plan.entries)
    nothing, none = np.empty(0), np.zeros(len(active), np.bool_)
    room = plan.workspace()
    for i in range(items.start[g], items.start[g + 1]):
        s = int(items.soft[i])
        given, weighed = (nothing, none) if s < 0 else (soft.likelihoods[s], soft.weighed[s])
        log_p[i] = kernels.propagate(
            compiled.arrays(kept), plan.steps, compiled.sizes, items.codes[i].astype(np.int64), given, weighed, *room,
            nothing, families, float(items.sample_weight[i]),
        )  # fmt: skip


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
    """Which CPT is the reason, or what was missing there."""
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


#: Cells in memory at a time, and the fewest rows of a batch.
MOST_CELLS, LEAST_ROWS = 1 << 22, 256


class Average(Reported):
    """A log-likelihood in total and per row."""

    weight: Any
    log_likelihood: Any

    @property
    def mean(self) -> float:
        """ln P of a row, on average; NaN if there are none."""
        return self.log_likelihood / self.weight if self.weight > 0 else float("nan")

    @property
    def bits(self) -> float:
        """Bits of a row, on average, in an optimal code of this network."""
        return -self.mean / float(np.log(2)) + 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.log_likelihood:.6g} of {self.weight:g} rows)"

    def __float__(self) -> float:
        return float(self.log_likelihood)

    def to_dict(self) -> dict[str, Any]:
        """Return the total, the mean and the bits per row as plain values."""
        return {
            "log_likelihood": float(self.log_likelihood), "weight": float(self.weight), "mean": float(self.mean),
            "bits": float(self.bits),
        }  # fmt: skip

    def report(self) -> Report:
        """Return the total, the mean and the bits per row as blocks."""
        pairs = {"Log-likelihood": float(self.log_likelihood), "Per row": self.mean, "Bits per row": self.bits}
        return Report(f"Log-likelihood of {self.weight:,.10g} rows", Pairs(pairs))


@dataclass(frozen=True, repr=False)
class TotalLogLikelihood(Average):
    """The log-likelihood of the rows of a source: totals add, and no row is kept."""

    #: Σ_d w_d ln P(d); −∞ if a row is impossible.
    log_likelihood: float
    #: The total weight of the rows.
    weight: float

    def __add__(self, other: TotalLogLikelihood) -> TotalLogLikelihood:
        return TotalLogLikelihood(self.log_likelihood + other.log_likelihood, self.weight + other.weight)


@dataclass(frozen=True, repr=False)
class LogLikelihood(Average):
    """The log-likelihood of every row, and of all rows.

    >>> score = LogLikelihood(np.log([0.5, 0.25, 0.125]))
    >>> print(f"{score.bits:.6g} bits per row, weighted {LogLikelihood(score.per_row, np.array([1, 0, 1])).bits:.6g}")
    2 bits per row, weighted 2
    """

    #: ln P of each row; −∞ for an impossible one.
    per_row: NDArray[np.float64]
    #: The weight of each row; None: 1.
    sample_weight: NDArray[np.float64] | None = None

    @property
    def weight(self) -> float:
        """The total weight of the rows."""
        return float(len(self.per_row) if self.sample_weight is None else self.sample_weight.sum())

    @property
    def log_likelihood(self) -> float:
        """Σ_d w_d ln P(d); a row of weight zero adds nothing."""
        if self.sample_weight is None:
            return float(self.per_row.sum())
        counted = self.sample_weight > 0
        return float(self.sample_weight[counted] @ self.per_row[counted])

    @property
    def impossible(self) -> NDArray[np.int64]:
        """The rows of probability zero, without those of weight zero."""
        never = np.isneginf(self.per_row)
        return np.flatnonzero(never if self.sample_weight is None else never & (self.sample_weight > 0))


def log_joint(network: BayesianNetwork, data: Any) -> NDArray[np.float64]:
    """Return ln P of each row without missing values: Σ_v ln P(v | parents)."""
    table = as_table(data, schema=network.schema)
    missing = table.codes < 0
    if missing.any():
        column, row = (int(i) for i in np.argwhere(missing)[0])
        raise MissingValuesError(
            f"row {row} has no value for {network.variables[column]!r}, which a joint probability requires",
            hint="log_likelihood marginalizes missing values out",
            row=row,
            column=network.variables[column],
        )
    codes = dict(zip(network.variables, table.codes, strict=True))
    total = np.zeros(table.n_rows)
    with np.errstate(divide="ignore"):
        for cpt in network.cpts:
            cell = np.zeros(table.n_rows, np.intp)
            for v in (*cpt.parents, cpt.variable):
                cell *= v.n_states
                cell += codes[v.name]
            p = cpt.probabilities.reshape(-1)
            total += np.log(p)[cell] if len(p) < len(cell) else np.log(p[cell])
    return total


@overload
def score(network: BayesianNetwork, data: Scanned, *, handle_unknown: Unseen = "missing") -> TotalLogLikelihood: ...


@overload
def score(network: BayesianNetwork, data: Any, *, handle_unknown: Unseen = "missing") -> LogLikelihood: ...


def score(
    network: BayesianNetwork, data: Any, *, handle_unknown: Unseen = "missing"
) -> LogLikelihood | TotalLogLikelihood:
    """Return the log-likelihood of each row, or of all rows of a source; missing values are marginalized out.

    >>> from bayeslearn.network.formats import read_network
    >>> print(f"{score(read_network('asia'), {'smoke': ['yes', None], 'asia': ['no', 'yes']}).per_row.round(4)}")
    [-0.7032 -4.6052]
    """
    handle_unknown = validation.choice("handle_unknown", handle_unknown, ["missing", "error"])
    source = as_source(data, schema=network.schema, missing_columns="missing", handle_unknown=handle_unknown)
    return table_score(network, source) if isinstance(source, Table) else source.fold(Totaled(network))


def log_of_cases(network: BayesianNetwork, data: Any, *, handle_unknown: Unseen = "missing") -> NDArray[np.float64]:
    """Return the log-likelihood of each row of a table, or of a source, which is read batch by batch."""
    handle_unknown = validation.choice("handle_unknown", handle_unknown, ["missing", "error"])
    source = as_source(data, schema=network.schema, missing_columns="missing", handle_unknown=handle_unknown)
    return np.concatenate([np.empty(0), *scored(network, source)])


@dataclass(frozen=True)
class Totaled:
    """What is collected from a batch."""

    network: BayesianNetwork

    def __call__(self, table: Table) -> TotalLogLikelihood:
        """The total of one batch."""
        found = table_score(self.network, table)
        return TotalLogLikelihood(found.log_likelihood, found.weight)


def table_score(network: BayesianNetwork, table: Table) -> LogLikelihood:
    """ln P of every row."""
    return LogLikelihood(np.concatenate([np.empty(0), *scored(network, table)]), table.sample_weight)


def scored(network: BayesianNetwork, source: Source) -> Iterator[NDArray[np.float64]]:
    """ln P of the rows of each batch."""
    compiled = network.inference.compiled
    for batch in batches(source):
        # a row without weight has a probability too
        cases = FoldedCases.of(compiled, batch.with_weights(None), count=False)
        _, log_items = expected_families(compiled, cases)
        yield log_of_rows(compiled, cases, log_items[cases.record_item])


def batches(source: Source) -> Iterator[Table]:
    """As many rows at a time as memory should hold."""
    return source.batches(max(MOST_CELLS // len(source.schema), LEAST_ROWS))


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
