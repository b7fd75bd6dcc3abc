"""Components of two mixtures brought into one order, and added."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import StatisticsBundle
from bayeslearn.distributions.lineage import mapped, merged
from bayeslearn.errors import MismatchError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.mixture.model import MixtureModel


def added(one: MixtureModel, other: MixtureModel) -> MixtureModel:
    """The statistics of both, component by component, under the prior of the first."""
    require_same(one, other)
    if one.statistics is None or other.statistics is None:
        return other if one.statistics is None else one
    statistics, lineage = merged(one.statistics, other.statistics, one.lineage, other.lineage)
    return replace(one.estimate(one.prior, statistics), lineage=lineage)


def aligned(model: MixtureModel, to: MixtureModel) -> MixtureModel:
    """The order in which the cases of each component are most probable under its counterpart (Hungarian method)."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - only here

    require_same(model, to)
    if model.statistics is None:
        return model
    k, fit = model.k, np.zeros((model.k, model.k))
    for part, θ in zip(model.parts, to.parameters, strict=True):
        for shift in range(k):  # the cases of component j + shift against parameters j
            turned = np.roll(np.arange(k), -shift)
            log_p = part.distribution.log_likelihood(taken(model.statistics[part.name], turned), θ)
            fit[np.arange(k), turned] += log_p / np.maximum(model.sizes[turned], np.finfo(float).tiny)
    return reordered(model, linear_sum_assignment(-fit)[1])


def reordered(model: MixtureModel, order: Any) -> MixtureModel:
    """The same mixture with its components in another order."""
    order = np.asarray(order)
    if sorted(order.tolist()) != list(range(model.k)):
        raise ParameterError(f"an order of {model.k} components names each once, got {order.tolist()}")

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
        lineage=mapped(model.lineage, moved),
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
    if one.parts != other.parts or one.k != other.k:
        raise MismatchError(
            f"only mixtures of the same parts and as many components can be joined, got {one!r} and {other!r}",
            differs="parts",
        )
