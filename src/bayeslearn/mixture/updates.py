"""Evidence adds, for mixtures: rows are added, removed and discounted, models merge, and rows are filled.

    update   s ← forgetting_factor · s + s(rows)          a + b   s_a + s_b − s(base of both)
    remove   s ← s − s(rows)                              a − b   s_a − s_b + s(base of both)

The components of rows are unknown: an update adds what the model of that moment expects of them. The lineage keeps the
statistics of updates (:mod:`bayeslearn.distributions.lineage`), so rows that came by one update are removed exactly,
whatever the model has become since.

Models merge with their components in one order. Missing values of rows are filled by what is expected given the row, or
by a draw.

    E[x_c | x] = Σ_j P(j | x) E[x_c | x, j]          P(state | x) = Σ_j P(j | x) P(state | j)

Within a component columns are independent, except for those of a joint Gaussian, whose missing part given the observed
part is μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o); a draw takes a whole random row x* in place of μ.

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

from bayeslearn import validation
from bayeslearn.distributions import Categorical, StatisticsBundle
from bayeslearn.distributions.lineage import (
    after_update,
    earlier_update,
    mapped,
    merged,
    scaled,
    separated,
    without_rows,
)
from bayeslearn.errors import EvidenceError, MismatchError, ParameterError
from bayeslearn.tables import DiscreteVariable, Table
from bayeslearn.tables.table import code_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]
    Cells = tuple[NDArray[Any], ...]


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


def updated(model: MixtureModel, rows: Rows, forgetting_factor: float) -> MixtureModel:
    """Return the model after more rows."""
    factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    more, _ = model.expected_statistics(rows)
    if model.statistics is None:
        return model.estimate(model.prior, more)
    found = model.estimate(model.prior, model.statistics * factor + more)
    return replace(found, lineage=after_update(model.lineage, model.statistics, more, factor))


def removed(model: MixtureModel, rows: Rows) -> MixtureModel:
    """Return the model without some rows."""
    statistics = required(model)

    def expected(earlier: StatisticsBundle) -> StatisticsBundle:
        return model.estimate(model.prior, earlier).expected_statistics(rows)[0]

    gone = earlier_update(model.lineage, expected, rows.total)
    if gone is None:
        gone, _ = model.expected_statistics(rows)
    left = statistics - gone
    return resting_on(model, left, without_rows(model.lineage, gone, left))


def discounted(model: MixtureModel, forgetting_factor: float) -> MixtureModel:
    """Return the model with every row counting for less."""
    factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    return resting_on(model, required(model) * factor, scaled(model.lineage, factor))


def added(one: MixtureModel, other: MixtureModel) -> MixtureModel:
    """Return the model of the rows of both, under the prior of the first."""
    require_same(one, other)
    if one.statistics is None or other.statistics is None:
        return other if one.statistics is None else one
    return resting_on(one, *merged(one.statistics, other.statistics, one.lineage, other.lineage))


def subtracted(one: MixtureModel, other: MixtureModel) -> MixtureModel:
    """Return the first model without the rows of the second."""
    require_same(one, other)
    return resting_on(one, *separated(required(one), required(other), one.lineage, other.lineage))


def resting_on(model: MixtureModel, statistics: StatisticsBundle, lineage: Lineage | None) -> MixtureModel:
    """Return the model with other statistics, under its prior."""
    return replace(model.estimate(model.prior, statistics), lineage=lineage)


def required(model: MixtureModel) -> StatisticsBundle:
    """Return the statistics of a model, which must have been fitted."""
    if model.statistics is None:
        raise EvidenceError(f"{model!r} has no statistics: it was not fitted", hint="fit it with fit_mixture")
    return model.statistics


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
    if one.parts != other.parts or one.n_components != other.n_components:
        raise MismatchError(
            f"mixtures need the same parts and the same number of components, got {one!r} and {other!r}",
            differs="parts",
        )


def imputed(model: MixtureModel, data: Any, method: str, random_state: Any, markers: dict[str, Any]) -> Any:
    """Return the data with missing values filled."""
    from bayeslearn.tables.imputed_cells import completed  # noqa: PLC0415 - Arrow loads when data come in

    method = validation.choice("method", method, ["expected", "sample"])
    rng = validation.generator(random_state) if method == "sample" else None
    return completed(data, model.schema, lambda table: table_of(model, filled(model, table, rng)), **markers)


def filled(model: MixtureModel, table: Table, rng: np.random.Generator | None) -> Cells:
    """The cells of every part with nothing missing."""
    rows = model.rows(table)
    shares = model.predict_proba(rows)
    if rng is None:
        return tuple(
            expected(part, θ, cells, shares)
            for part, θ, cells in zip(model.parts, model.parameters, rows.cells, strict=True)
        )
    labels = Categorical(model.n_components).draw(shares, 1, rng)[0]
    drawn = model.product.draw(model.parameters, labels, rng)
    return tuple(
        completed_by(part, θ, cells, x, labels)
        for part, θ, cells, x in zip(model.parts, model.parameters, rows.cells, drawn, strict=True)
    )


def expected(part: Component, parameters: Any, cells: NDArray[Any], shares: Floats) -> NDArray[Any]:
    """Cells with what is expected in place of missing ones."""
    if part.is_joint:
        each = np.asarray(parameters[0])
        found = sum(
            shares[:, j, None] * completed_by(part, parameters, cells, each[labels], labels)
            for j in range(len(each))
            for labels in [np.full(len(cells), j)]
        )
        return np.where(np.isnan(cells), found, cells)
    if isinstance(part.variable, DiscreteVariable):
        return np.where(cells < 0, (shares @ np.asarray(parameters)).argmax(axis=1), cells)
    return np.where(np.isnan(cells), shares @ part.distribution.means(parameters), cells)


def completed_by(
    part: Component, parameters: Any, cells: NDArray[Any], values: NDArray[Any], labels: NDArray[np.intp]
) -> NDArray[Any]:
    """Cells with values of a component in place of missing ones; joint columns depend on what is observed."""
    if not part.is_joint:
        return np.where(cells < 0 if isinstance(part.variable, DiscreteVariable) else np.isnan(cells), values, cells)
    missing = np.isnan(cells)
    found = np.where(missing, values, cells)
    covariances = part.distribution.covariances(parameters)
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if not pattern.any() or pattern.all():
            continue
        for j in range(len(covariances)):
            rows = np.flatnonzero((which.reshape(-1) == number) & (labels == j))
            if len(rows):
                Σ = covariances[j]
                gain = np.linalg.solve(Σ[np.ix_(~pattern, ~pattern)], Σ[np.ix_(~pattern, pattern)])
                beyond = (cells[rows] - values[rows])[:, ~pattern]
                found[np.ix_(rows, pattern)] += beyond @ gain
    return found


def table_of(model: MixtureModel, cells: Cells) -> Table:
    """The cells of every part as a table of the columns of the model."""
    n = len(cells[0])
    codes: list[NDArray[Any]] = []
    values: list[NDArray[Any]] = []
    for part, x in zip(model.parts, cells, strict=True):
        if part.is_joint:
            values.extend(x.T)
        else:
            (codes if isinstance(part.variable, DiscreteVariable) else values).append(x)
    dtype = code_type(model.schema)
    return Table(
        model.schema,
        np.array(codes, dtype=dtype).reshape(len(codes), n),
        np.array(values, dtype=np.float64).reshape(len(values), n),
    )
