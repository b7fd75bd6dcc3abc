"""Evidence adds, for models with hidden parts: rows are added, removed and discounted, and models merge.

    update   s ← forgetting_factor · s + s(rows)          a + b   s_a + s_b − s(base of both)
    remove   s ← s − s(rows)                              a − b   s_a − s_b + s(base of both)

The components or states of rows are unknown: an update adds what the model of that moment expects of them. The lineage
keeps the statistics of updates (:mod:`bayeslearn.distributions.lineage`), so rows that came by one update are removed
exactly, whatever the model has become since.

A model is a frozen dataclass with the two steps of EM (:mod:`bayeslearn.em`) and the fields `prior`, `statistics` and
`lineage`; rows are anything with `fold`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    from bayeslearn.distributions import StatisticsBundle
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.em import Foldable

__all__ = ["added", "discounted", "removed", "subtracted", "updated"]


def __dir__() -> list[str]:
    return __all__


M = TypeVar("M", bound=Any)


def updated(model: M, rows: Foldable, forgetting_factor: float) -> M:
    """Return the model after more rows."""
    factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    more = expected(model, rows)
    if model.statistics is None:
        return model.estimate(model.prior, more)
    found = model.estimate(model.prior, model.statistics * factor + more)
    return replace(found, lineage=after_update(model.lineage, model.statistics, more, factor))


def removed(model: M, rows: Foldable, total: float) -> M:
    """Return the model without some rows, whose total weight is given."""
    statistics = required(model)

    def expected_under(earlier: StatisticsBundle) -> StatisticsBundle:
        return expected(model.estimate(model.prior, earlier), rows)

    gone = earlier_update(model.lineage, expected_under, total)
    if gone is None:
        gone = expected(model, rows)
    left = statistics - gone
    return resting_on(model, left, without_rows(model.lineage, gone, left))


def discounted(model: M, forgetting_factor: float) -> M:
    """Return the model with every row counting for less."""
    factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    return resting_on(model, required(model) * factor, scaled(model.lineage, factor))


def added(one: M, other: M) -> M:
    """Return the model of the rows of both, under the prior of the first."""
    if one.statistics is None or other.statistics is None:
        return other if one.statistics is None else one
    return resting_on(one, *merged(one.statistics, other.statistics, one.lineage, other.lineage))


def subtracted(one: M, other: M) -> M:
    """Return the first model without the rows of the second."""
    return resting_on(one, *separated(required(one), required(other), one.lineage, other.lineage))


def expected(model: Any, rows: Foldable) -> StatisticsBundle:
    """The statistics that a model expects of rows."""
    return rows.fold(lambda batch: model.expected_statistics(batch)[0])


def resting_on(model: M, statistics: StatisticsBundle, lineage: Lineage | None) -> M:
    """Return the model with other statistics, under its prior."""
    return replace(model.estimate(model.prior, statistics), lineage=lineage)


def required(model: Any) -> StatisticsBundle:
    """Return the statistics of a model, which must have been fitted."""
    if model.statistics is None:
        raise EvidenceError(f"{model!r} has no statistics: it was not fitted", hint="fit it with a `fit_` function")
    return model.statistics
