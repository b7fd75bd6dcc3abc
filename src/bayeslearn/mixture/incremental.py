"""Evidence adds, for mixtures: rows are added, removed and discounted, and models merge.

    update   s ← forgetting_factor · s + s(rows)          a + b   s_a + s_b − s(base of both)
    remove   s ← s − s(rows)                              a − b   s_a − s_b + s(base of both)

The components of rows are unknown: an update adds what the model of that moment expects of them. The lineage keeps the
statistics of updates (:mod:`bayeslearn.distributions.lineage`), so rows that came by one update are removed exactly,
whatever the model has become since.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bayeslearn import validation
from bayeslearn.distributions.lineage import (
    after_update,
    earlier_update,
    merged,
    scaled,
    separated,
    without_rows,
)
from bayeslearn.errors import EvidenceError
from bayeslearn.mixture.reordering import require_same

if TYPE_CHECKING:
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions import StatisticsBundle
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.mixture.model import MixtureModel


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
