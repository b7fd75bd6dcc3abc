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
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import capacity, em, validation
from bayeslearn.components.fused import Fusion
from bayeslearn.components.rows import Rows
from bayeslearn.distributions import Dirichlet, StatisticsBundle
from bayeslearn.distributions.categorical import DirichletRule
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import BayeslearnWarning, DataError, EvidenceError, ParameterError, listed, outside
from bayeslearn.mixture.comparison import bound
from bayeslearn.mixture.inputs import MOST_ROWS, first_look, whole
from bayeslearn.mixture.model import SHARES, MixtureModel, MixturePrior, priors_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
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
    return run_best(begun, source, prior, options, progress)


def run_best(
    begun: Sequence[MixtureModel],
    source: Rows | FoldedRows,
    prior: MixturePrior,
    options: EMOptions,
    progress: Reporter | None = None,
) -> em.EMResult[MixtureModel]:
    """Run EM from each of some models and keep the best result; columns of rows in memory are taken together."""
    fusion = Fusion.of(begun[0].parts) if isinstance(source, Rows) else None
    path, write = options.checkpoint, None
    if path is not None:
        save = partial(saved, fusion=fusion, prior=prior, path=path)
        write = em.CheckpointEvery(options.checkpoint_every, save)
    how: Any = {"tol": options.tol, "max_iter": options.max_iter, "progress": progress, "checkpoint": write}
    if fusion is None:
        return best_of(begun, source, prior, **how)
    together = fused_prior(fusion, prior)
    found = best_of([fused(fusion, model, together) for model in begun], fusion.rows(source), together, **how)  # type: ignore[arg-type]
    return unfused_result(fusion, found, prior)


def saved(model: MixtureModel, *, fusion: Fusion | None, prior: MixturePrior, path: Any) -> None:
    """Write a model to a file."""
    (model if fusion is None else unfused(fusion, model, prior)).save(path)


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
            stacklevel=outside(),
        )


### columns taken together


def fused_prior(fusion: Fusion, prior: MixturePrior) -> MixturePrior:
    """The prior of the fused parts."""
    return MixturePrior(prior.shares, fusion.stack(prior.parts))


def fused(fusion: Fusion, model: MixtureModel, prior: MixturePrior) -> MixtureModel:
    """A model of the fused parts, to begin with."""
    parameters = fusion.stack(model.parameters)
    return MixtureModel(fusion.fused, model.weights, parameters, prior, equal_weights=model.equal_weights)


def unfused(fusion: Fusion, model: MixtureModel, prior: MixturePrior) -> MixtureModel:
    """The model of the parts one by one."""
    parameters, statistics = fusion.parameters(model.parameters), model.statistics
    if statistics is not None:
        statistics = unfused_statistics(fusion, statistics)
    return replace(model, parts=fusion.parts, parameters=parameters, statistics=statistics, prior=prior)


def unfused_statistics(fusion: Fusion, known: StatisticsBundle) -> StatisticsBundle:
    """The statistics of the parts one by one."""
    return StatisticsBundle({SHARES: known[SHARES], **fusion.statistics(known)})


def unfused_result(fusion: Fusion, found: EMResult[MixtureModel], prior: MixturePrior) -> EMResult[MixtureModel]:
    """The result with the parts one by one."""
    model = unfused(fusion, found.model, prior)
    return replace(found, model=model, statistics=model.statistics, expected=unfused_statistics(fusion, found.expected))


### options


def prior_of(
    prior: Any, parts: tuple[Component, ...], rows: Rows | FoldedRows, k: int, seen: StatisticsBundle | None = None
) -> MixturePrior:
    """Return the prior with a row for every component; `seen` has the statistics of all rows, if they are known."""
    if isinstance(prior, MixturePrior):
        return priors_of(parts, prior.parts, prior.shares, k)
    if prior is None:
        return priors_of(parts, tuple(part.distribution.none() for part in parts), DirichletRule(per_state=0.0), k)
    seen = first_look(rows, parts).whole if seen is None else seen
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


def grouped(
    x: Floats, sample_weight: Floats, k: int, how: str, random_state: np.random.Generator, rounds: int = ROUNDS
) -> NDArray[np.intp]:
    """The group of each point, by k-means."""
    centers = x[seeds(x, sample_weight, k, how, random_state)]
    labels = nearest(x, centers)[0]
    for _ in range(rounds):
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
