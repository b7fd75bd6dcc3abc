"""Splits of the components of a mixture: pairs of components, each for the rows of one component.

    P(a | row in j) ∝ w_a p(row | θ_a)        EM of all pairs at once, with P(j | row) as the weights of the rows

A pair begins with two groups of rows: k-means, or the rows in the middle of a peaked column and the others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn.distributions import StatisticsBundle
from bayeslearn.distributions.sufficient_statistics import Assignment, ratio
from bayeslearn.errors import DataError
from bayeslearn.mixture.comparison import taken
from bayeslearn.mixture.em_fit import grouped, nearest
from bayeslearn.mixture.model import MixturePrior

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.mixture.component_selection import Search
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]

#: Rows of a component whose groups begin a split, the expected rows that it takes, and groups by k-means.
MAX_GROUPED, MIN_SPLIT, SPLIT_STARTS = 1_000, 4.0, 2
#: Rows with a smaller share do not matter for a split; the smallest weight of a group.
NEGLIGIBLE, TINY = 0.02, 1e-300
#: A component whose shares have changed by less keeps its split.
SAME = 0.02
#: The smallest variance of a column, in units of its variance in all rows.
SMALLEST = 1e-6


@dataclass(frozen=True, eq=False)
class Pair:
    """Two components for the rows of one, and what the criterion gains."""

    component: int
    share: Floats
    gain: float
    model: MixtureModel


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of components, each for the rows of one component of a mixture, in one product of all.

    EM of all pairs takes the shares of the owners as the weights of the rows.
    """

    search: Search
    owner: MixtureModel
    shares: Floats
    owners: NDArray[np.intp]
    #: Two rows of parameters for each pair, the weights within each pair, and what is expected of both.
    parameters: tuple[Any, ...]
    log_weights: Floats
    known: Any
    gains: Floats

    @classmethod
    def of(
        cls, search: Search, owner: MixtureModel, shares: Floats, owners: NDArray[np.intp], labels: NDArray[Any]
    ) -> Pairs:
        """Pairs of groups of rows."""
        own = shares[owners]
        halves = np.stack([own * (labels == 0), own * (labels == 1)], axis=1).reshape(-1, own.shape[1])
        n = len(owners)
        before = owner.product.take(owner.parameters, np.repeat(owners, 2))
        empty = cls(search, owner, shares, owners, before, np.zeros((n, 2)), None, np.zeros(n))
        return empty.estimated(halves)

    def estimated(self, halves: Floats, prior: MixturePrior | None = None) -> Pairs:
        """The pairs for these shares of the rows, (2 pairs, rows)."""
        product, rows = self.owner.product, self.search.rows
        known = product.total([product.collect(rows.cells, Assignment(halves.T), self.parameters)], len(halves))
        prior = self.search.weak_prior(len(halves)) if prior is None else prior
        found = product.estimate(prior.parts, known, self.parameters)
        n = halves.sum(axis=1).reshape(-1, 2) + 1.0
        weights = np.full(n.shape, 0.5) if self.owner.equal_weights else n / n.sum(axis=1, keepdims=True)
        return replace(self, parameters=found, log_weights=np.log(weights))

    def after(self, n: int) -> Pairs:
        """The pairs after n iterations of EM, with their gains."""
        pairs, prior = self, self.search.prior(2 * len(self.owners))
        for _ in range(n):
            pairs = pairs.estimated(pairs.expected()[0], prior)
        return pairs.measured(prior)

    def expected(self) -> tuple[Floats, Floats]:
        """The shares of both in the rows, and Σ r ln p of each pair."""
        rows, own = self.search.rows, self.shares[self.owners]
        joint = self.owner.product.weighted(self.log_weights.ravel(), self.parameters).log_joint(rows)
        one, other = joint[::2], joint[1::2]
        with np.errstate(invalid="ignore"):
            log_p = np.logaddexp(one, other)
            halves = np.stack([np.exp(one - log_p), np.exp(other - log_p)], axis=1)
            value = np.where(own > 0, own * log_p, 0.0).sum(axis=1)
        return (np.nan_to_num(halves) * own[:, None]).reshape(joint.shape), value

    def measured(self, prior: MixturePrior) -> Pairs:
        """What the criterion gains by each pair."""
        search, product = self.search, self.owner.product
        halves, value = self.expected()
        known = product.total([product.collect(search.rows.cells, Assignment(halves.T), self.parameters)], len(halves))
        n, w = halves.sum(axis=1).reshape(-1, 2), np.exp(self.log_weights)
        pairs = search.completed_parts(product, prior, self.parameters, known).reshape(-1, 2).sum(axis=1)
        for part, θ in zip(product.components, self.parameters, strict=True):
            value = value - part.distribution.log_likelihood(known[part.name], θ).reshape(-1, 2).sum(axis=1)
        if not self.owner.equal_weights:
            if search.criterion == "marginal_likelihood":
                value += gammaln(n + 1).sum(axis=1) - gammaln(n.sum(axis=1) + 2) - xlogy(n, w).sum(axis=1)
            else:
                value -= (
                    xlogy(n, w).sum(axis=1) + search.cost / 2 - xlogy(n, n / n.sum(axis=1, keepdims=True)).sum(axis=1)
                )
        first = np.arange(0, len(halves), 2)
        both = {c.name: taken(known[c.name], first) + taken(known[c.name], first + 1) for c in product.components}
        together = StatisticsBundle(both)
        single = search.prior(len(self.owners))
        before = product.take(self.parameters, first)
        one = product.estimate(single.parts, together, before)
        gains = value + pairs - search.completed_parts(product, single, one, together)
        return replace(self, known=known, gains=np.where(np.isfinite(gains), gains, -np.inf))

    def take(self, which: NDArray[np.intp]) -> Pairs:
        """Some pairs."""
        rows = np.stack([2 * which, 2 * which + 1], axis=1).ravel()
        return replace(
            self, owners=self.owners[which], log_weights=self.log_weights[which], gains=self.gains[which],
            parameters=self.owner.product.take(self.parameters, rows),
        )  # fmt: skip

    def model(self, i: int) -> MixtureModel:
        """One pair as a mixture."""
        parameters = self.owner.product.take(self.parameters, np.array([2 * i, 2 * i + 1]))
        weights = np.exp(self.log_weights[i])
        return replace(
            self.owner, weights=weights / weights.sum(), parameters=parameters, prior=self.search.prior(2),
            statistics=None, lineage=None,
        )  # fmt: skip


def earlier(known: list[Pair], share: Floats) -> Pair | None:
    """The split of a component that has had almost the same rows before."""
    for pair in known:
        if np.abs(pair.share - share).sum() <= SAME * share.sum():
            return pair
    return None


def narrow(points: Floats, w: Floats) -> NDArray[np.int64] | None:
    """1 for the rows in the middle of the column that is most peaked, else 0; None if no column is peaked.

    The middle half of a column has the variance v₁ and the rest v₂; its gain is ln v − ½ ln v₁ − ½ ln v₂ − 2 ln 2.
    """
    if not points.shape[1]:
        return None
    away = np.abs(points - np.median(points, axis=0))
    inside = away <= np.median(away, axis=0)
    share = np.stack([inside * w[:, None], ~inside * w[:, None]])
    n = share.sum(axis=1)
    mean = ratio((share * points).sum(axis=1), n)
    var = ratio((share * (points - mean[:, None]) ** 2).sum(axis=1), n) + SMALLEST
    center = (w @ points) / w.sum()
    whole = w @ (points - center) ** 2 / w.sum() + SMALLEST
    p = n / w.sum()
    gain = np.log(whole) - (p * np.log(var)).sum(axis=0) + 2 * xlogy(p, p).sum(axis=0)
    best = int(gain.argmax())
    return inside[:, best].astype(np.int64) if gain[best] > 0 and n[1, best] > 0 else None


def groups_of(search: Search, share: Floats) -> Iterator[NDArray[Any]]:
    """The rows of a component in two groups: by k-means, and a narrow one in the midst of a wide one."""
    near = np.flatnonzero(share > NEGLIGIBLE)
    if share[near].sum() < MIN_SPLIT:
        return
    if len(near) > MAX_GROUPED:
        near = np.sort(search.rng.choice(near, MAX_GROUPED, replace=False))
    points, w = search.points[near], share[near]
    for _ in range(SPLIT_STARTS):
        try:
            labels = grouped(points, w, 2, search.options.init, search.rng, rounds=3)
        except DataError:  # all rows are alike
            return
        centers = np.stack([w[labels == c] @ points[labels == c] / max(w[labels == c].sum(), TINY) for c in (0, 1)])
        yield nearest(search.points, centers)[0]
    inside = narrow(search.points[:, search.numeric], share)
    if inside is not None:
        yield inside


def repeated(prior: MixturePrior, k: int) -> MixturePrior:
    """The prior of one component as that of k."""

    def rows(one: Any) -> Any:
        return type(one)(*(np.repeat(np.atleast_1d(getattr(one, f.name)), k, axis=0) for f in fields(one)))

    return MixturePrior(rows(prior.shares), tuple(rows(part) for part in prior.parts))
