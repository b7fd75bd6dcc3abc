"""EM of a mixture with a given number of components, and the number of components that the data support.

A fit has initial values, priors, and the best of several starts. The number has the best criterion:

    marginal_likelihood   the bound of :func:`.comparison.bound`; needs a proper prior, as the weak one is
    bic, aic              −½ BIC and −½ AIC: ln P(D|θ) less a penalty for every parameter

Higher is better. Numbers are tried upwards, until `patience` numbers in a row are no better than the best.

Where EM begins: rows are cut into k groups around seeds, and each group is taken for a component.

    k-means++   every further seed is drawn with probability ∝ weight · distance² from the seeds before it
    random      seeds are rows drawn at random

then a few rounds of k-means. Distances are Euclidean over standardized numbers, square roots of counts, and states
(two that differ are √2 apart, in units of the spread of the column); a missing cell is at the center. Large data are
seeded by a sample.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import capacity, em, validation
from bayeslearn.distributions import Dirichlet
from bayeslearn.distributions.categorical import DirichletRule
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import BayeslearnWarning, DataError, EvidenceError, ParameterError, listed
from bayeslearn.mixture.comparison import bound
from bayeslearn.mixture.inputs import MOST_ROWS, first_look, whole
from bayeslearn.mixture.model import MixtureModel, MixturePrior, priors_of
from bayeslearn.progress import part as share_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.components.rows import Rows
    from bayeslearn.em import EMResult
    from bayeslearn.mixture.inputs import FoldedRows
    from bayeslearn.progress import Reporter

    Floats = NDArray[np.float64]


#: A component with fewer rows is empty.
HALF_A_CASE = 0.5


@dataclass(frozen=True, kw_only=True)
class EMOptions:
    """How EM runs; the parameters of :func:`~bayeslearn.mixture.fit_mixture` of the same names."""

    prior: Any = "weak"
    equal_weights: bool = False
    init: Any = "k-means++"
    n_init: int = 4
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = 0
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: int = 5

    def __post_init__(self) -> None:
        validation.integer("n_init", self.n_init, min_value=1)
        if not isinstance(self.init, MixtureModel):
            object.__setattr__(self, "init", validation.choice("init", self.init, ["k-means++", "random"]))


def fit_components(
    source: Rows | FoldedRows,
    parts: tuple[Component, ...],
    n_components: int,
    options: EMOptions,
    progress: Reporter | None = None,
) -> em.EMResult[MixtureModel]:
    """Fit a mixture of `n_components` components to rows, or to a source that folds."""
    k = validation.integer("n_components", n_components, min_value=1)
    rng = validation.generator(options.random_state)
    prior, equal = prior_of(options.prior, parts, source, k), options.equal_weights
    if isinstance(options.init, MixtureModel):
        begun = [continued(options.init, parts, prior, k, equal=equal)]
    else:
        sample = first_look(source, parts).sample
        begun = [
            start(parts, sample, k, prior, how=options.init, equal=equal, random_state=rng)
            for _ in range(options.n_init)
        ]
    path = options.checkpoint
    write: Any = None if path is None else em.CheckpointEvery(options.checkpoint_every, lambda model: model.save(path))
    return best_of(
        begun, source, prior, tol=options.tol, max_iter=options.max_iter, progress=progress, checkpoint=write
    )


def best_of(begun: Sequence[MixtureModel], source: Any, prior: MixturePrior, **how: Any) -> em.EMResult[MixtureModel]:
    """Return the best result; a start that ends in a component without spread is skipped, unless all do."""
    trouble: list[EvidenceError] = []

    def steady(model: MixtureModel, source: Any, **how: Any) -> em.EMResult[MixtureModel]:
        try:
            return em.run(model, source, **how)
        except EvidenceError as error:
            trouble.append(error)
            return em.EMResult(model, None, (em.EMStep(0, -math.inf, 0.0, math.inf),), converged=False)

    found = em.run_best_of(begun, source, n_init=len(begun), prior=prior, climb=steady, **how)
    if found.statistics is None:
        raise trouble[0]
    return replace(found, model=replace(found.model, statistics=found.statistics))


def warn_of_empty(model: MixtureModel) -> None:
    """Warn of components that have almost no rows."""
    empty = np.flatnonzero(model.component_sizes < HALF_A_CASE).tolist()
    if empty:
        warnings.warn(
            f"{len(empty)} of {model.n_components} components have less than half a row: {listed(empty)}\n\n"
            "hint: use fewer components",
            BayeslearnWarning,
            stacklevel=5,
        )


### options


def prior_of(prior: Any, parts: tuple[Component, ...], rows: Rows | FoldedRows, k: int) -> MixturePrior:
    """Return the prior with a row for every component."""
    if isinstance(prior, MixturePrior):
        return priors_of(parts, prior.parts, prior.shares, k)
    if prior is None:
        return priors_of(parts, tuple(part.distribution.none() for part in parts), DirichletRule(per_state=0.0), k)
    seen = first_look(rows, parts).whole
    weak = [weak_prior(part, seen[part.name]) for part in parts]
    numbers = sum(part.distribution.n_parameters(k) + k for part in parts)
    capacity.require_numbers(f"{k:,} components", (numbers,), hint="use fewer components", copies=4)
    shares: Any = Dirichlet(np.ones(k))
    if isinstance(prior, str):
        prior = validation.choice("prior", prior, ["weak"])
    elif isinstance(prior, Mapping):
        weak = [prior.get(part.name, w) for part, w in zip(parts, weak, strict=True)]
    else:
        weak = list(prior) if isinstance(prior, list | tuple) else [prior]
        if len(weak) != len(parts):
            raise ParameterError(f"expected {len(parts)} priors, one for each part, got {len(weak)}")
    return priors_of(parts, tuple(weak), shares, k)


def continued(
    model: MixtureModel, parts: tuple[Component, ...], prior: MixturePrior, k: int, *, equal: bool
) -> MixtureModel:
    """Return a model as initial values, with another prior."""
    if model.parts != parts or model.n_components != k:
        raise ParameterError(f"`init` has other parts or another number of components: {model!r}, not {k} components")
    return replace(model, prior=prior, equal_weights=equal, statistics=None, lineage=None)


CRITERIA = ("marginal_likelihood", "bic", "aic")


def default_criterion(criterion: str | None, prior: Any) -> str:
    """Return the criterion: by default the marginal likelihood, and BIC without a prior."""
    if criterion is None:
        return "bic" if prior is None else "marginal_likelihood"
    return validation.choice("criterion", criterion, list(CRITERIA))


def select_components(
    source: Any,
    parts: Any,
    options: EMOptions,
    *,
    criterion: str,
    min_components: int = 1,
    max_components: int = 20,
    patience: int = 3,
    progress: Reporter | None = None,
) -> tuple[EMResult[MixtureModel], dict[int, float]]:
    """Return the best result, and the criterion of every number of components that was tried."""
    validation.integer("min_components", min_components, min_value=1)
    validation.integer("max_components", max_components, min_value=min_components)
    best: EMResult[MixtureModel] | None = None
    scores: dict[int, float] = {}
    n = max_components - min_components + 1
    for k in range(min_components, max_components + 1):
        inner = share_of(progress, (k - min_components) / n, (k - min_components + 1) / n, f"{k} components")
        try:
            found = fit_components(source, parts, k, options, inner)
        except DataError as error:
            apart = isinstance(error, EvidenceError) or "rows" in error.details
            if best is None or not apart:
                raise
            break  # there are no more distinct rows
        scores[k] = value_of(found, criterion)
        if best is None or scores[k] > max(v for j, v in scores.items() if j != k):
            best = found
        elif k - max(scores, key=lambda j: scores[j]) >= patience:
            break
    assert best is not None
    return best, scores


def value_of(found: EMResult[MixtureModel], criterion: str) -> float:
    """Return the criterion of a mixture that was just fitted; higher is better."""
    model = found.model
    if criterion == "marginal_likelihood":
        return bound(model, found.expected, found.log_likelihood)
    cost = 2.0 if criterion == "aic" else float(np.log(model.total_weight))
    return found.log_likelihood - model.n_parameters * cost / 2


def largest_first(result: EMResult[MixtureModel]) -> EMResult[MixtureModel]:
    """Return the result with the components in the order of their sizes."""
    model = result.model.reorder_components(np.argsort(-result.model.component_sizes, kind="stable"))
    return replace(result, model=model, statistics=model.statistics)


#: How the weak prior sees a component beside the whole: its spread, and the cases that its center counts for.
NARROW, ANYWHERE = 0.1, 0.01

#: Rounds of k-means.
ROUNDS = 10


def start(
    parts: tuple[Component, ...], rows: Rows, k: int, prior: MixturePrior, *, how: str, equal: bool,
    random_state: np.random.Generator,
) -> MixtureModel:  # fmt: skip
    """A mixture whose components are groups of rows; it has `prior`, but its variances begin with a weak one."""
    if len(rows) > MOST_ROWS:
        rows = rows.take(np.sort(random_state.choice(len(rows), MOST_ROWS, replace=False)))
    labels = grouped(
        encoded(parts, rows),
        np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight,
        k,
        how,
        random_state,
    )
    seen = [whole(part, cells, rows.sample_weight) for part, cells in zip(parts, rows.cells, strict=True)]
    weak = priors_of(parts, tuple(weak_prior(part, w) for part, w in zip(parts, seen, strict=True)), prior.shares, k)
    parameters = tuple(alike(part, w, k) for part, w in zip(parts, seen, strict=True))
    blank = MixtureModel(parts, np.full(k, 1 / k), parameters, weak, equal_weights=equal)
    shares = (labels[:, None] == np.arange(k)) * (1.0 if rows.sample_weight is None else rows.sample_weight[:, None])
    begun = blank.estimate(weak, blank.collect(rows, shares))
    return MixtureModel(parts, begun.weights, begun.parameters, prior, equal_weights=equal)


def weak_prior(part: Component, whole: Any, cases: float = 1.0) -> Any:
    """The prior of `cases` that look like all of the data (`whole`: its statistics, as of one component).

    The variances of a component are taken for a tenth of those of the whole, and its center counts for a hundredth
    of a case, so that it may lie anywhere. Nothing here depends on how many components there are.
    """
    return part.distribution.pooled(whole, cases, center=ANYWHERE, spread=NARROW)


def alike(part: Component, whole: Any, k: int) -> Any:
    """Parameters of k components that are all like the whole."""
    return part.distribution.estimate(part.distribution.shaped(part.distribution.pooled(whole), k))


### groups


def encoded(parts: Sequence[Component], rows: Rows) -> Floats:
    """Rows as points, in which every column has a spread of about one."""
    return np.column_stack([part.distribution.points(cells) for part, cells in zip(parts, rows.cells, strict=True)])


def grouped(x: Floats, sample_weight: Floats, k: int, how: str, random_state: np.random.Generator) -> NDArray[np.intp]:
    """The group of each point, by k-means."""
    centers = x[seeds(x, sample_weight, k, how, random_state)]
    labels = nearest(x, centers)[0]
    for _ in range(ROUNDS):
        n = np.bincount(labels, sample_weight, minlength=k)
        sums = np.stack([np.bincount(labels, sample_weight * column, minlength=k) for column in x.T], axis=1)
        centers = np.where(n[:, None] > 0, ratio(sums, n[:, None]), centers)
        before, labels = labels, nearest(x, centers)[0]
        if (before == labels).all():
            break
    return labels


def seeds(x: Floats, sample_weight: Floats, k: int, how: str, random_state: np.random.Generator) -> list[int]:
    """The rows of k seeds, all different."""
    distance = np.ones(len(x))
    found: list[int] = []
    for _ in range(k):
        chance = sample_weight * (distance if how == "k-means++" else distance > 0)
        if not chance.sum() > 0:
            raise DataError(
                f"there are only {len(found)} different rows, fewer than {k} components",
                hint="ask for fewer components", rows=len(found),
            )  # fmt: skip
        found.append(int(random_state.choice(len(x), p=chance / chance.sum())))
        new = ((x - x[found[-1]]) ** 2).sum(axis=1)
        distance = new if len(found) == 1 else np.minimum(distance, new)
    return found


def nearest(x: Floats, centers: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest center of each point, and the squared distance."""
    square = (centers**2).sum(axis=1) - 2 * x @ centers.T
    labels = square.argmin(axis=1)
    return labels, square[np.arange(len(x)), labels] + (x * x).sum(axis=1)
