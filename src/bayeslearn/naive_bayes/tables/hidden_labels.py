"""EM over labels that are missing, beside rows that have one.

    E   n_c += w · P(c | row, θ)        M   θ = estimate(prior + statistics)

The estimates are posterior means. They maximise the likelihood times θ^α (in place of the density's θ^(α−1)), and this
is what EM is told to climb.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn import em
from bayeslearn.components import normalized
from bayeslearn.distributions import Bundle, Counts
from bayeslearn.distributions.priors import Rule
from bayeslearn.naive_bayes.tables.collecting import collect, collect_shared, weighing_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.naive_bayes.tables.cases import Cases, SourceCases
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Cells, Rows


def with_shares(model: NaiveBayes, cases: Cases, shares: NDArray[np.float64]) -> NaiveBayes:
    """A model with more rows, each of which belongs to the classes by its shares."""
    return replace(model, statistics=model.statistics + shared(model, cases, shares))


def shared(model: NaiveBayes, cases: Cases, shares: NDArray[np.float64]) -> Bundle:
    """The statistics of rows that belong to the classes by shares."""
    counts = Counts(shares.sum(axis=0) if cases.weights is None else cases.weights @ shares)
    found = collect_shared(model.columns, cases.rows, shares, cases.weights, weighing_parameters(model))
    return Bundle({model.target.name: counts, **found})


@dataclass(frozen=True)
class Hidden:
    """The E and the M step over rows without a label, beside the statistics of those that have one."""

    model: NaiveBayes
    known: Bundle

    def expected_statistics(self, cases: Cases) -> tuple[Bundle, float]:
        """What is expected of the hidden labels, and ln P of all rows, with the label of those that have one."""
        shares, log_p = expected_shares(self.model, cases.hidden.rows)
        found = shared(self.model, cases.hidden, shares)
        return found, cases.hidden.total(log_p) + cases.seen.total(log_own(self.model, cases.seen))

    def estimate(self, _prior: Any, statistics: Bundle) -> Hidden:
        """A model that rests on these statistics and on what is known."""
        return replace(self, model=replace(self.model, statistics=self.known + statistics))

    def log_prior(self, _prior: Any) -> float:
        """ln of what the posterior means maximise together with the likelihood."""
        shares = self.model.prior.of((self.model.target.size,)).alpha
        total = float(xlogy(shares, np.exp(self.model.log_shares)).sum())
        return total + sum(log_prior(c, self.model.statistics[c.name]) for c in self.model.columns)


def expected_shares(model: NaiveBayes, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(class | row) and ln P(row), for rows in blocks."""
    if not rows.n:
        return np.zeros((0, model.target.size)), np.zeros(0)

    def block(part: slice, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, log_p = normalized(model.joint_of(cells, part.stop - part.start))
        return p.T, log_p

    shares, logs = zip(*rows.blocks(block), strict=True)
    return np.concatenate(shares), np.concatenate(logs)


def log_own(model: NaiveBayes, seen: Cases) -> NDArray[np.float64]:
    """ln P(own class, row) of rows with a label."""
    joint = model.answers(seen.rows, lambda joint: joint.T, possible=False)
    return joint[np.arange(len(seen.labels)), seen.labels]


def log_prior(column: Component, statistics: Any) -> float:
    """The log likelihood of the cases that the prior of a column stands for."""
    mean = column.distribution.estimate(column.posterior(statistics))
    return column.distribution.log_prior(column.prior_given(statistics), mean)


def climbed(model: NaiveBayes, cases: Cases | SourceCases, **climb: Any) -> NaiveBayes:
    """EM over the hidden labels; pooled priors are those of all rows, and do not move with the labels."""
    everything = cases.fold(Together(model.columns))
    told = [(c, _told(c, everything[c.name])) for c in model.columns]
    spoken = [replace(c, prior=prior) for c, prior in told if prior is not None]
    keep = [j for j, (_, prior) in enumerate(told) if prior is not None]
    names = [model.target.name, *(c.name for c in spoken)]
    known = Bundle({name: model.statistics[name] for name in names})
    start = replace(model, columns=tuple(spoken), statistics=known, estimate="mean", sharpness=1.0)
    found = em.fit(Hidden(start, known), cases.only(keep), **climb).model.model
    return replace(model, statistics=model.statistics + cases.fold(Shared(model, found, keep)))


@dataclass(frozen=True)
class Together:
    """The statistics of all rows as those of one class."""

    columns: tuple[Component, ...]

    def __call__(self, cases: Cases) -> Bundle:
        """Those of one batch."""
        return collect(self.columns, cases.rows, np.zeros(len(cases.labels), np.int32), 1, cases.weights)


@dataclass(frozen=True)
class Shared:
    """What is expected of hidden labels, by a model of some of the columns."""

    model: NaiveBayes
    asked: NaiveBayes
    places: list[int]

    def __call__(self, cases: Cases) -> Bundle:
        """The statistics of one batch."""
        hidden = cases.hidden
        return shared(self.model, hidden, expected_shares(self.asked, hidden.only(self.places).rows)[0])


def _told(column: Component, everything: Any) -> Any:
    """A pooled prior as an object of its family, that of one class, which stands for each."""
    if not isinstance(column.prior, Rule):
        return column.prior
    prior = column.prior.given(column.distribution, everything)
    return None if prior is None else type(prior)(*(getattr(prior, field.name)[0] for field in fields(prior)))
