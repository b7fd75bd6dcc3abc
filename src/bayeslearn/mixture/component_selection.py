"""The number of components that the data support: components are split and merged, and EM goes on from there.

The number with the best criterion is chosen (:func:`.em_fit.value_of`); higher is better. From the mixture of k
components those of k + 1 and k − 1 are found:

    split   the rows of component j, weighted by P(j | row), are fitted by two components; the others stay
    merge   the expected statistics of components i and j are added; the others stay

The gain of a split is the criterion of the two components on their rows less that of the one. The gain of a merge is,
with P(D*) of the expected statistics and the entropy H of the components of the rows,

    Δ = ln P(Dᵢ* + Dⱼ*) − ln P(Dᵢ*) − ln P(Dⱼ*) + H(rᵢ + rⱼ) − H(rᵢ) − H(rⱼ)

The changes with the largest gains begin EM on all components. Numbers are tried upwards until `patience` of them in a
row are no better than the best. Then merges from above and splits from below are tried around the best number, until
none improves the criterion. Of many rows a sample is searched, whose weights add up to those of all rows, and the
result is fitted to all rows.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import em, validation
from bayeslearn.components.fused import Fusion
from bayeslearn.components.rows import Rows
from bayeslearn.distributions import StatisticsBundle
from bayeslearn.errors import ConvergenceWarning, DataError, EvidenceError
from bayeslearn.mixture.comparison import bound, taken
from bayeslearn.mixture.component_splits import Pair, Pairs, earlier, groups_of, repeated
from bayeslearn.mixture.em_fit import (
    EMOptions,
    encoded,
    fit_components,
    fused,
    fused_prior,
    grouped,
    prior_of,
    run_best,
    unfused,
    value_of,
)
from bayeslearn.mixture.inputs import MOST_ROWS, first_look
from bayeslearn.mixture.model import SHARES, MixtureModel, MixturePrior
from bayeslearn.progress import part as share_of
from bayeslearn.progress import should_stop
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.components.product import Product
    from bayeslearn.em import EMResult
    from bayeslearn.mixture.inputs import FoldedRows
    from bayeslearn.progress import Reporter

    Floats = NDArray[np.float64]

#: Rows that are searched; of more a sample is taken.
MAX_SEARCHED = 5_000
#: Iterations of EM of each half of a split, and of the best one.
FIRST_ITERATIONS, SPLIT_ITERATIONS = 3, 6
#: The gain in log-likelihood, in nats, at which EM ends during the search.
SEARCH_TOL = 0.1
#: The maximum number of iterations of EM during the search.
MAX_ITERATIONS = 200
#: Changes of a mixture that begin EM, of each kind, and iterations after which only the best goes on.
MAX_CHANGES, RACE_ITERATIONS = 2, 5
#: Rounds of merges and splits around the best number.
MAX_ROUNDS = 4


def select_components(
    source: Rows | FoldedRows,
    parts: tuple[Component, ...],
    options: EMOptions,
    *,
    criterion: str,
    min_components: int = 1,
    max_components: int = 20,
    patience: int = 2,
    progress: Reporter | None = None,
) -> tuple[EMResult[MixtureModel], dict[int, float]]:
    """Return the best result, and the criterion of every number of components that was tried."""
    validation.integer("min_components", min_components, min_value=1)
    validation.integer("max_components", max_components, min_value=min_components)
    validation.integer("patience", patience, min_value=1)
    n = max_components - min_components + 2
    search = Search(source, parts, options, criterion)
    search.begin(min_components, share_of(progress, 0, 1 / n, f"{min_components} components"))
    for k in range(min_components + 1, max_components + 1):
        search.stopped |= should_stop(progress, (k - min_components) / n, f"{k} components")
        if search.stopped or not search.grow(k - 1) or k - search.best >= patience:
            break
    search.refine(min_components, max_components)
    return search.finished(share_of(progress, 1 - 1 / n, 1.0, f"{search.best} components"))


@dataclass(frozen=True)
class FusedBatches:
    """Batches of a source with the columns that are taken together."""

    source: FoldedRows
    fusion: Fusion

    def fold(self, collect: Callable[[Rows], Any]) -> Any:
        """The sum over the batches."""
        return self.source.fold(lambda rows: collect(self.fusion.rows(rows)))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mixture during the search, what it expects of the rows, and its criterion."""

    model: MixtureModel
    expected: StatisticsBundle
    log_likelihood: float
    value: float


class Search:
    """The best mixture so far of each number of components."""

    def __init__(
        self, source: Rows | FoldedRows, parts: tuple[Component, ...], options: EMOptions, criterion: str
    ) -> None:
        self.source, self.parts, self.criterion = source, parts, criterion
        self.rng = validation.generator(options.random_state)
        self.options = replace(options, random_state=self.rng)
        seen = first_look(source, parts)
        self.whole, sample = seen.whole, seen.sample
        complete = sample is source or len(sample) < MOST_ROWS
        if len(sample) > MAX_SEARCHED:
            sample, complete = sample.take(np.sort(self.rng.choice(len(sample), MAX_SEARCHED, replace=False))), False
        blocks = [np.atleast_2d(encoded([part], Rows((c,)))) for part, c in zip(parts, sample.cells, strict=True)]
        self.points = np.concatenate(blocks, axis=1)
        self.numeric = np.repeat([not is_discrete(part) for part in parts], [block.shape[1] for block in blocks])
        self.pairs: list[Pair] = []
        self.fusion = Fusion.of(parts)
        self.rows = sample if self.fusion is None else self.fusion.rows(sample)
        self.all: Any = self.rows if complete else source
        if self.fusion is not None and not complete:
            self.all = self.fusion.rows(source) if isinstance(source, Rows) else FusedBatches(source, self.fusion)
        self.priors: dict[int, MixturePrior] = {}
        self.found: dict[int, Candidate] = {}
        self.total = 0.0
        self.stopped = False

    # -- the criterion

    def plain_prior(self, k: int) -> MixturePrior:
        """The prior of k components."""
        return prior_of(self.options.prior, self.parts, self.source, k, self.whole)

    def prior(self, k: int) -> MixturePrior:
        """The same of the parts that are taken together."""
        if k not in self.priors:
            own = isinstance(self.options.prior, MixturePrior)  # its components may differ
            self.priors[k] = self.fused(self.plain_prior(k)) if own or k == 1 else repeated(self.prior(1), k)
        return self.priors[k]

    def weak_prior(self, k: int) -> MixturePrior:
        """The prior under which groups of rows become components."""
        if self.options.prior is not None:
            return self.prior(k)
        return repeated(self.fused(prior_of("weak", self.parts, self.source, 1, self.whole)), k)

    def fused(self, prior: MixturePrior) -> MixturePrior:
        """A prior of the parts that are taken together."""
        return prior if self.fusion is None else fused_prior(self.fusion, prior)

    def value(self, model: MixtureModel, expected: StatisticsBundle, log_likelihood: float) -> float:
        """The criterion of a mixture of some of the rows; higher is better."""
        if self.criterion == "marginal_likelihood":
            return bound(model, expected, log_likelihood)
        return log_likelihood - model.n_parameters * self.cost / 2

    @property
    def cost(self) -> float:
        """Twice the penalty of a parameter."""
        return 2.0 if self.criterion == "aic" else math.log(self.total)

    @property
    def best(self) -> int:
        """The number with the best criterion, the smallest of equal ones."""
        return max(sorted(self.found), key=lambda k: self.found[k].value)

    # -- EM

    def begin(self, k: int, progress: Reporter | None) -> None:
        """The first mixture, from groups of rows."""
        few = replace(self.options, checkpoint=None, n_init=1 if k == 1 else self.options.n_init)
        found = fit_components(self.source, self.parts, k, few, progress)
        self.total = found.model.total_weight
        model = found.model if self.fusion is None else fused(self.fusion, found.model, self.prior(k))
        self.found[k] = self.expecting(model)

    def expecting(self, model: MixtureModel) -> Candidate:
        """A mixture with what it expects of all rows."""
        found = em.expect(model, self.all, 0)
        expected, log_p = found.statistics, found.log_likelihood
        return Candidate(model, expected, log_p, self.value(model, expected, log_p))

    def fitted(self, model: MixtureModel, rows: Any, tol: float) -> Candidate:
        """The mixture after EM on rows."""
        tol = max(tol, self.options.tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = em.run(model, rows, prior=model.prior, tol=tol, max_iter=min(self.options.max_iter, MAX_ITERATIONS))
        value = self.value(found.model, found.expected, found.log_likelihood)
        return Candidate(found.model, found.expected, found.log_likelihood, value)

    def try_all(self, begun: list[MixtureModel]) -> bool:
        """Run EM from some mixtures and keep the best; whether it is better than the one so far.

        After a few iterations only the best one goes on.
        """
        race = []
        for model in begun:
            with suppress(EvidenceError):  # a component has collapsed
                race.append(self.settled(model, self.rows, RACE_ITERATIONS if len(begun) > 1 else 0))
        if not race:
            return False
        model = max(race, key=lambda one: one.value).model
        tol = SEARCH_TOL * max(1.0, self.total / MAX_SEARCHED)
        with suppress(EvidenceError):
            found = self.fitted(model, self.rows, SEARCH_TOL)
            found = found if self.all is self.rows else self.fitted(found.model, self.all, tol)
            k = model.n_components
            if k not in self.found or found.value > self.found[k].value + tol:
                self.found[k] = found
                return True
        return False

    # -- moves

    def grow(self, k: int) -> bool:
        """Split the mixture of k components; False if there are no more distinct rows."""
        begun = [*self.splits(self.found[k]), *self.fresh(k + 1)]
        self.try_all(begun)
        return k + 1 in self.found

    def fresh(self, k: int) -> list[MixtureModel]:
        """A mixture whose components are groups of rows; none for too few distinct rows."""
        w = self.weights
        try:
            labels = grouped(self.points, w, k, self.options.init, self.rng)
        except DataError:
            return []
        blank = self.select(next(iter(self.found.values())).model, np.zeros(k, np.intp))
        begun = blank.estimate(
            self.weak_prior(k), blank.collect(self.rows, (labels[:, None] == np.arange(k)) * w[:, None])
        )
        return [replace(begun, prior=blank.prior, statistics=None)]

    def refine(self, min_components: int, max_components: int) -> None:
        """Merges from above and splits from below, around the best number, until none is better."""
        for number in range(MAX_ROUNDS):
            if self.stopped:
                return
            k, changed = self.best, False
            if number == 0 and k > 1:
                for _ in range(self.options.n_init - 1):
                    changed |= self.try_all(self.fresh(k))
            if k + 1 in self.found:
                changed |= self.try_all(self.merges(self.found[k + 1]))
            if k > min_components and self.try_all(self.merges(self.found[k])):
                changed |= self.try_all(self.splits(self.found[k - 1]))
            if k < max_components and (changed or k + 1 not in self.found):
                changed |= self.try_all(self.splits(self.found[k]))
            if not changed:
                return

    def splits(self, one: Candidate) -> list[MixtureModel]:
        """The mixtures with one of the most promising components split into two."""
        model, known = one.model, self.pairs
        shares, self.pairs = self.shares(model), []
        new = []
        for j, share in enumerate(shares):
            # components of the last change come last, and the split of one of them is no split of the other
            pair = None if j >= model.n_components - 2 else earlier(known, share)
            if pair is None:
                new.append(j)
            else:
                self.pairs.append(replace(pair, component=j))
        self.pairs += self.split(model, shares, new)
        order = sorted(self.pairs, key=lambda pair: -pair.gain)[:MAX_CHANGES]
        return [self.replaced(model, [pair.component], pair.model) for pair in order]

    def split(self, model: MixtureModel, shares: Floats, which: list[int]) -> list[Pair]:
        """Two components for the rows of each of some, and what the criterion gains: the best of several halves."""
        halves = [(j, labels) for j in which for labels in groups_of(self, shares[j])]
        if not halves:
            return []
        owners = np.array([j for j, _ in halves])
        try:
            labels = np.stack([labels for _, labels in halves])
            pairs = Pairs.of(self, model, shares, owners, labels).after(FIRST_ITERATIONS)
            best = [max(np.flatnonzero(owners == j), key=lambda i: pairs.gains[i]) for j in dict.fromkeys(owners)]
            pairs = pairs.take(np.array(best)).after(SPLIT_ITERATIONS)
        except EvidenceError:  # a component has collapsed
            middle = len(which) // 2
            return (
                []
                if middle == 0
                else [p for part in (which[:middle], which[middle:]) for p in self.split(model, shares, part)]
            )
        return [
            Pair(int(j), shares[j], float(gain), pairs.model(i))
            for i, (j, gain) in enumerate(zip(pairs.owners, pairs.gains, strict=True))
        ]

    def settled(self, model: MixtureModel, rows: Rows, n: int) -> Candidate:
        """A mixture of some of the rows after n iterations of EM."""
        expected, log_p = model.expected_statistics(rows)
        for _ in range(n):
            model = model.estimate(model.prior, expected)
            expected, log_p = model.expected_statistics(rows)
        return Candidate(model, expected, log_p, self.value(model, expected, log_p))

    def merges(self, one: Candidate) -> list[MixtureModel]:
        """The mixtures with two components merged, those whose criterion loses least."""
        model = one.model
        if model.n_components < 2:
            return []
        shares = self.shares(model)
        own = -xlogy(shares, shares).sum(axis=1)
        completed = self.completed(model, one.expected)
        gains = []
        for i, j in combinations(range(model.n_components), 2):
            both = shares[i] + shares[j]
            entropy = -xlogy(both, both).sum() - own[i] - own[j]
            gains.append((self.completed(*self.pooled(one, i, j))[0] - completed[i] - completed[j] + entropy, i, j))
        gains.sort(key=lambda gain: -gain[0])
        return [self.replaced(model, [i, j], self.pooled(one, i, j)[0]) for _, i, j in gains[:MAX_CHANGES]]

    def pooled(self, one: Candidate, i: int, j: int) -> tuple[MixtureModel, StatisticsBundle]:
        """One component with the statistics of two."""
        blank = self.select(one.model, np.array([i]))
        known = StatisticsBundle({
            name: taken(s, np.array([i])) + taken(s, np.array([j])) for name, s in one.expected.items()
        })  # fmt: skip
        return blank.estimate(blank.prior, known), known

    def completed(self, model: MixtureModel, known: StatisticsBundle) -> Floats:
        """The criterion of each component for rows whose components are known, up to a constant."""
        total = self.completed_parts(model.product, model.prior, model.parameters, known)
        return total + (0.0 if model.equal_weights else gammaln(known[SHARES].n + 1))

    def completed_parts(self, product: Product, prior: MixturePrior, parameters: Any, known: Any) -> Floats:
        """The same without the weights of the components."""
        total: Any = 0.0
        for part, own, θ in zip(product.components, prior.parts, parameters, strict=True):
            s = known[part.name]
            value = None
            if self.criterion == "marginal_likelihood":
                value = np.asarray(part.distribution.log_evidence(own, s))
            if value is None or value.ndim == 0:  # a covariance that all share has one number
                value = part.distribution.log_likelihood(s, θ)
                value = value - part.distribution.n_parameters(1) * self.cost / 2
            total = total + value
        return total

    # -- mixtures of some components

    def shares(self, model: MixtureModel) -> Floats:
        """The weighted share of each component in the searched rows, (k, rows)."""
        blocks = [model.weighted.shares(block)[0] for block in self.rows.blocks(model.weighted.block)]
        return np.concatenate(blocks, axis=1) * self.weights

    @property
    def weights(self) -> Floats:
        """The weights of the searched rows."""
        w = self.rows.sample_weight
        return np.ones(len(self.rows)) if w is None else w

    def select(self, model: MixtureModel, rows: NDArray[np.intp]) -> MixtureModel:
        """Some components as a mixture, with the prior of as many."""
        weights = model.weights[rows]
        weights = np.full(len(rows), 1 / len(rows)) if model.equal_weights else weights / weights.sum()
        return replace(
            model, weights=weights, parameters=model.product.take(model.parameters, rows),
            prior=self.prior(len(rows)), statistics=None, lineage=None,
        )  # fmt: skip

    def replaced(self, model: MixtureModel, gone: list[int], by: MixtureModel) -> MixtureModel:
        """The mixture with other components in place of some."""
        kept = np.setdiff1d(np.arange(model.n_components), gone)
        k = len(kept) + by.n_components
        weights = np.concatenate([model.weights[kept], by.weights * model.weights[gone].sum()])
        weights = np.full(k, 1 / k) if model.equal_weights else weights / weights.sum()
        others = model.product.take(model.parameters, kept)
        parts = zip(model.parts, others, by.parameters, strict=True)
        parameters = tuple(followed(part.distribution, one, other) for part, one, other in parts)
        return replace(
            model, weights=weights, parameters=parameters, prior=self.prior(k), statistics=None, lineage=None
        )

    # -- the end

    def finished(self, progress: Reporter | None) -> tuple[EMResult[MixtureModel], dict[int, float]]:
        """The best mixture after EM to its end on all rows, and the criterion of all numbers."""
        if not self.stopped:
            for k in (self.best - 1, self.best + 1):
                if k in self.found:
                    again = self.fitted(self.found[k].model, self.all, SEARCH_TOL / 10)
                    self.found[k] = max(self.found[k], again, key=lambda one: one.value)
        k = self.best
        model = self.found[k].model
        begun = model if self.fusion is None else unfused(self.fusion, model, self.plain_prior(k))
        result = run_best([begun], self.source, self.plain_prior(k), self.options, progress)
        scores = {number: one.value for number, one in sorted(self.found.items())}
        return result, scores | {k: value_of(result, self.criterion)}


def followed(distribution: Any, one: Any, other: Any) -> Any:
    """Rows of parameters and others after them; a covariance that all share stays."""
    if not isinstance(one, tuple):
        return np.concatenate([one, other])
    pairs = list(zip(one, other, strict=True))
    shared = getattr(distribution, "covariance", None) == "tied"
    return type(one)(*(a if shared and i else np.concatenate([a, b]) for i, (a, b) in enumerate(pairs)))


def is_discrete(part: Component) -> bool:
    """Whether the cells of a part are states."""
    return isinstance(part.variable, DiscreteVariable)
