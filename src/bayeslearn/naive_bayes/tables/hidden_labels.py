"""EM over labels that are missing, beside rows that have one.

    E   n_c += w · P(c | row, θ)        M   θ = estimate(prior + statistics)

The estimates are posterior means. They maximise the likelihood times θ^α (in place of the density's θ^(α−1)), and this
is what EM is told to climb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn import em
from bayeslearn.families import Bundle, Counts, Dirichlet, Gamma
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.answers import normalised
from bayeslearn.naive_bayes.tables.collecting import collect, collect_shares
from bayeslearn.naive_bayes.tables.priors import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.columns import Column
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Cells, Rows


def with_shares(
    model: NaiveBayes, rows: Rows, shares: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NaiveBayes:
    """A model with more rows, each of which belongs to the classes by its shares."""
    counts = Counts(shares.sum(axis=0) if weights is None else weights @ shares)
    more = Bundle({model.target.name: counts, **collect_shares(model.columns, rows, shares, weights)})
    return replace(model, statistics=model.statistics + more)


@dataclass(frozen=True)
class Hidden:
    """The E and the M step over rows without a label, beside the statistics of those that have one."""

    model: NaiveBayes
    known: Bundle
    log_known: Callable[[NaiveBayes], float]
    weights: NDArray[np.float64] | None

    def expected_statistics(self, rows: Rows) -> tuple[Bundle, float]:
        """What is expected of the hidden labels, added to what is known."""
        shares, log_p = expected_shares(self.model, rows)
        start = replace(self.model, statistics=self.known)
        found = with_shares(start, rows, shares, self.weights).statistics
        total = log_p.sum() if self.weights is None else self.weights @ log_p
        return found, float(total) + self.log_known(self.model)

    def estimate(self, _prior: Any, statistics: Bundle) -> Hidden:
        """A model that rests on these statistics."""
        return replace(self, model=replace(self.model, statistics=statistics))

    def log_prior(self, _prior: Any) -> float:
        """ln of what the posterior means maximise together with the likelihood."""
        shares = self.model.prior.of((self.model.target.size,)).alpha
        total = float(xlogy(shares, np.exp(self.model.log_shares)).sum())
        return total + sum(log_prior(c, self.model.statistics[c.name]) for c in self.model.columns)


@dataclass(frozen=True)
class Whole:
    """Rows that fold as one batch."""

    rows: Rows

    def fold(self, collect: Callable[[Rows], Any]) -> Any:
        """What is made of all rows."""
        return collect(self.rows)


def expected_shares(model: NaiveBayes, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(class | row) and ln P(row), for rows in blocks."""

    def block(part: slice, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, log_p = normalised(model.joint_of(cells, part.stop - part.start))
        return p.T, log_p

    shares, logs = zip(*rows.blocks(block), strict=True)
    return np.concatenate(shares), np.concatenate(logs)


def log_prior(column: Column, statistics: Any) -> float:
    """Σ α ln θ; a ln λ − b λ; −(α − 1) ln σ² − (β + κ(μ − m)²/2)/σ²."""
    before, after = column.prior_given(statistics), column.posterior(statistics)
    mean = after.mean()
    if isinstance(before, Dirichlet):
        return float(xlogy(before.alpha, mean).sum())
    if isinstance(before, Gamma):
        return float((xlogy(before.shape, mean) - before.rate * mean).sum())
    spread = before.beta + before.kappa * (mean.mean - before.mu) ** 2 / 2
    return float((-(before.alpha - 1) * np.log(mean.var) - spread / mean.var).sum())


def climbed(
    model: NaiveBayes, rows: Rows, labels: NDArray[np.int32], weights: NDArray[np.float64] | None, hidden: Rows,
    hidden_weights: NDArray[np.float64] | None, **climb: Any,
) -> NaiveBayes:  # fmt: skip
    """EM over the hidden labels; pooled priors are those of all rows, and do not move with the labels."""
    everything = collect(model.columns, rows, np.zeros(len(labels), np.int32), 1, weights)
    told = [(c, _told(c, everything[c.name])) for c in model.columns]
    spoken = [replace(c, prior=prior) for c, prior in told if prior is not None]
    keep = [j for j, (_, prior) in enumerate(told) if prior is not None]
    names = [model.target.name, *(c.name for c in spoken)]
    known = Bundle({name: model.statistics[name] for name in names})
    start = replace(model, columns=tuple(spoken), statistics=known, estimate="mean")
    seen = np.flatnonzero(labels >= 0)
    shown, w_shown = _kept(rows.take(seen), keep), at(weights, seen)

    def log_known(now: NaiveBayes) -> float:
        joint = now.answers(shown, lambda joint: joint.T, possible=False)[np.arange(len(seen)), labels[seen]]
        return float(joint.sum() if w_shown is None else w_shown @ joint)

    found = em.fit(Hidden(start, known, log_known, hidden_weights), Whole(_kept(hidden, keep)), **climb)
    shares = expected_shares(found.model.model, _kept(hidden, keep))[0]
    return with_shares(model, hidden, shares, hidden_weights)


def _told(column: Column, everything: Any) -> Any:
    """A pooled prior as an object of its family, that of one class, which stands for each."""
    if not isinstance(column.prior, Rule):
        return column.prior
    prior = column.prior.given(everything)
    return None if prior is None else type(prior)(*(array[0] for array in vars(prior).values()))


def _kept(rows: Rows, keep: list[int]) -> Rows:
    return blocks.Rows(rows.n, len(keep), lambda a, b: [rows.cells(a, b)[j] for j in keep])


def at(weights: NDArray[np.float64] | None, index: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The weights of some rows."""
    return None if weights is None else weights[index]
