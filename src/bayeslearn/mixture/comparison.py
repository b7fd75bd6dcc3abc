"""Mixtures compared: their marginal likelihood, and components in the order of those of another mixture.

The marginal likelihood, the probability of the data with all parameters integrated out, has no closed form, for every
row may belong to every component. Cheeseman and Stutz (1996, AutoClass) take it for data that are completed by what is
expected, and correct for the completion at the estimate θ:

    ln P(D) ≥ ln P(D*) − ln P(D*|θ) + ln P(D|θ)

ln P(D*) is the marginal likelihood of the distributions in closed form, from the expected statistics D*. The ln k! that
all orders of the components would add is omitted: where components overlap, the orders are not different explanations,
and the bound stays a bound.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn import lazy_imports
from bayeslearn.distributions import Categorical, StatisticsBundle
from bayeslearn.errors import MismatchError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.components.rows import Rows
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]

lineages: Any = lazy_imports.Deferred("bayeslearn.distributions.lineage")


def log_marginal_likelihood(model: MixtureModel, data: Rows) -> float:
    """The bound for a mixture with a proper prior, at its parameters."""
    return bound(model, *model.expected_statistics(data))


def bound(model: MixtureModel, statistics: Any, log_likelihood: float) -> float:
    """The same from what one E step has found."""
    shares = statistics[next(iter(statistics))]
    value = log_likelihood
    if not model.equal_weights:
        completed = Categorical(model.n_components).log_evidence(model.prior.shares, shares)
        value += float(completed - xlogy(shares.n, model.weights).sum())
    for part, prior, θ in zip(model.parts, model.prior.parts, model.parameters, strict=True):
        known = statistics[part.name]
        completed = np.sum(part.distribution.log_evidence(prior, known))
        value += float(completed - part.distribution.log_likelihood(known, θ).sum())
    return value


def aligned(model: MixtureModel, to: MixtureModel) -> MixtureModel:
    """Return the model in the order in which the rows of each component are most probable under its counterpart."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - only here

    require_same(model, to)
    if model.statistics is None:
        return model
    k = model.n_components
    fit = np.zeros((k, k))
    for part, θ in zip(model.parts, to.parameters, strict=True):
        for shift in range(k):  # the rows of component j + shift against parameters j
            turned = np.roll(np.arange(k), -shift)
            log_p = part.distribution.log_likelihood(taken(model.statistics[part.name], turned), θ)
            fit[np.arange(k), turned] += log_p / np.maximum(model.component_sizes[turned], np.finfo(float).tiny)
    return reordered(model, linear_sum_assignment(-fit)[1])


def reordered(model: MixtureModel, order: Any) -> MixtureModel:
    """Return the mixture with its components in another order."""
    order = np.asarray(order)
    if sorted(order.tolist()) != list(range(model.n_components)):
        raise ParameterError(f"an order of {model.n_components} components has each number once, got {order.tolist()}")

    def moved(known: StatisticsBundle) -> StatisticsBundle:
        return StatisticsBundle({name: taken(s, order) for name, s in known.items()})

    statistics = None if model.statistics is None else moved(model.statistics)
    prior = replace(
        model.prior,
        shares=taken(model.prior.shares, order),
        parts=tuple(taken(p, order) for p in model.prior.parts),
    )
    parts = zip(model.parts, model.parameters, strict=True)
    return replace(
        model,
        weights=model.weights[order],
        parameters=tuple(part.distribution.take(θ, order) for part, θ in parts),
        statistics=statistics,
        prior=prior,
        lineage=None if model.lineage is None else lineages.mapped(model.lineage, moved),
    )


def taken(rows: Any, order: NDArray[np.intp]) -> Any:
    """The rows of statistics or of a prior in another order; what all rows share stays."""
    arrays = [getattr(rows, field.name) for field in fields(rows)]
    return type(rows)(*(a if len(a) == 1 < len(order) else a[order] for a in arrays))


def pooled(statistics: Any) -> Any:
    """The statistics of all components together, as of one."""
    k = len(statistics.arrays()[0])
    return sum((taken(statistics, np.array([j])) for j in range(1, k)), start=taken(statistics, np.array([0])))


def require_same(one: MixtureModel, other: MixtureModel) -> None:
    """Both have the same parts and as many components."""
    if one.parts != other.parts or one.n_components != other.n_components:
        raise MismatchError(
            f"mixtures need the same parts and the same number of components, got {one!r} and {other!r}",
            differs="parts",
        )
