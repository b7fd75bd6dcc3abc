"""The distance between two rows whose cells are numbers, states, or missing.

    d²(q, x) = Σ_a w_a δ_a²        numbers   δ = (q − x) / s      s: standard deviation, range, or 1 (plain Euclidean)
                                   states    δ² = 0 if they are the same, else 1
                                   missing   E δ², over the observed values of the column

This is the Euclidean distance between points, so that any index finds neighbors by it. A state is an indicator times
1/√2; a missing cell is at the mean μ of its column, with the variance σ² of the column as an additional coordinate:

    E |q − X|² = |q − μ|² + σ²        both missing: E |X − X'|² = σ² + σ²

All missing cells of a training row share one such coordinate; that of a new row is the same for all training rows, and
is added to the distances that the index finds. An unknown state differs from every other: δ² = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.moments import MEAN_ROUNDING
from bayeslearn.distributions.sufficient_statistics import frozen, ratio
from bayeslearn.errors import DataError, ParameterError, ShapeError
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: What a number is divided by.
METRICS = ("scaled", "range", "euclidean")

#: The name of a state of new rows that no training row has.
ANOTHER = "\0 another state"


@dataclass(frozen=True, eq=False)
class Distance:
    """A distance between rows of these columns; :meth:`learn` computes scales, means and variances of training rows.

    `center`, `scale` and `weights` have an entry for every column of the schema, `mean` and `variance` for every
    coordinate before weights are applied.

    >>> from bayeslearn import as_table
    >>> rows = as_table({"hue": ["red", "blue", "red"], "size": [1.0, 3.0, None]})
    >>> distance = Distance.fit(rows, "range")
    >>> distance.between(rows, rows).round(3).tolist()
    [[0.0, 1.414, 0.707], [1.414, 0.0, 1.225], [0.707, 1.225, 0.707]]
    """

    schema: Schema
    metric: str
    center: Floats
    scale: Floats
    weights: Floats
    mean: Floats
    variance: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", validation.choice("metric", self.metric, METRICS))
        sizes = {"center": len(self.schema), "scale": len(self.schema), "weights": len(self.schema)}
        for name, size in (sizes | dict.fromkeys(("mean", "variance"), len(self.owner))).items():
            array = frozen(validation.float_array(name, getattr(self, name)))
            if array.shape != (size,) or not np.isfinite(array).all():
                raise ShapeError(f"expected `{name}` of {size} finite numbers, got shape {array.shape}")
            object.__setattr__(self, name, array)
        for name in ("scale", "weights", "variance"):
            validation.not_negative(name, getattr(self, name))

    @classmethod
    def fit(cls, examples: Table, metric: str = "scaled", weights: Mapping[str, float] | None = None) -> Distance:
        """Return the distance for these training rows; a constant numeric column adds 0."""
        metric = validation.choice("metric", metric, METRICS)
        schema, n = examples.schema, len(examples.schema)
        blank = cls(schema, metric, np.zeros(n), np.ones(n), np.ones(n), *np.zeros((2, width(schema))))
        mean, variance = moments(blank.coordinates(examples), examples.sample_weight)
        if metric != "euclidean":
            number = np.array([not isinstance(v, DiscreteVariable) for v in schema], bool)
            mine = number[blank.owner]
            spread = np.sqrt(variance[mine]) if metric == "scaled" else spans(examples)
            constant = spread <= MEAN_ROUNDING * np.abs(mean[mine])
            center, scale = np.zeros(n), np.ones(n)
            center[number], scale[number] = mean[mine], np.where(constant, 0.0, ratio(1.0, spread))
            blank = cls(schema, metric, center, scale, np.ones(n), *np.zeros((2, width(schema))))
            mean, variance = moments(blank.coordinates(examples), examples.sample_weight)
        found = cls(schema, metric, blank.center, blank.scale, np.ones(n), mean, variance)
        return found if weights is None else found.weighted(weights)

    def weighted(self, weights: Mapping[str, float]) -> Distance:
        """Return the distance with other weights of some columns; a column of weight 0 does not count."""
        require_known(weights, self.schema.names)
        named = self.feature_weights | dict(weights)
        w = validation.not_negative("feature_weights", validation.float_array("feature_weights", [*named.values()]))
        if len(w) and not w.any():
            raise ParameterError("every feature has weight 0", hint="give at least one feature a weight above 0")
        return Distance(self.schema, self.metric, self.center, self.scale, w, self.mean, self.variance)

    @property
    def feature_weights(self) -> dict[str, float]:
        """The weight of every column."""
        return dict(zip(self.schema.names, self.weights.tolist(), strict=True))

    # -- rows as points

    def points(self, examples: Table) -> Floats:
        """Return training rows as points, whose last coordinate is for their missing cells, if there are any."""
        x = self.coordinates(examples)
        side = self._sides(x)
        return np.column_stack([self._filled(x), np.sqrt(side)]) if side.any() else self._filled(x)

    def queries(self, rows: Table, size: int) -> tuple[Floats, Floats]:
        """Return new rows as points of `size` coordinates, and what is added to every squared distance from each."""
        x = self.coordinates(rows)
        side = self._sides(x)
        for variable in rows.schema.discrete:
            unseen = rows.codes_of(variable.name) == self.schema[variable.name].n_states  # type: ignore[attr-defined]
            side += unseen * self.weights[self.schema.names.index(variable.name)] / 2
        points = self._filled(x)
        return (points if points.shape[1] == size else np.column_stack([points, np.zeros(len(x))])), side

    def between(self, rows: Table, examples: Table) -> Floats:
        """Return all distances, (rows, examples)."""
        x = self.points(examples)
        q, side = self.queries(rows, x.shape[1])
        return np.sqrt(((q[:, None] - x) ** 2).sum(axis=2) + side[:, None])

    def coordinates(self, rows: Table) -> Floats:
        """Return cells as coordinates before weights are applied, NaN where missing; an unknown state is all 0."""
        x, at = np.empty((rows.n_rows, len(self.owner))), 0
        for j, variable in enumerate(self.schema):
            if isinstance(variable, DiscreteVariable):
                codes = rows.codes_of(variable.name)
                block = x[:, at : at + variable.n_states]
                block[:] = (codes[:, None] == np.arange(variable.n_states)) * np.sqrt(0.5)
                block[codes < 0] = np.nan
                at += variable.n_states
            else:
                with np.errstate(over="ignore"):  # the index refuses points that are not finite
                    x[:, at] = (rows.values_of(variable.name) - self.center[j]) * self.scale[j]
                at += 1
        return x

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The column that each coordinate belongs to."""
        sizes = [v.n_states if isinstance(v, DiscreteVariable) else 1 for v in self.schema]
        return np.repeat(np.arange(len(sizes)), sizes)

    def _filled(self, x: Floats) -> Floats:
        used = (self.weights * (self.scale > 0))[self.owner] > 0
        filled = np.where(np.isnan(x[:, used]), self.mean[used], x[:, used])
        return np.asarray(filled * np.sqrt(self.weights[self.owner][used]))

    def _sides(self, x: Floats) -> Floats:
        gone = np.isnan(x)
        return gone @ (self.variance * self.weights[self.owner]) if gone.any() else np.zeros(len(x))


### parts


def width(schema: Schema) -> int:
    """How many coordinates the columns make."""
    return len(schema.numeric) + sum(v.n_states for v in schema.discrete)


def moments(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The mean and the variance of every coordinate, over the cells that are there."""
    seen = ~np.isnan(x)
    w = seen if weights is None else seen * weights[:, None]
    n = w.sum(axis=0, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = ratio(np.where(seen, x * w, 0.0).sum(axis=0), n)
        variance = ratio(np.where(seen, w * (x - mean) ** 2, 0.0).sum(axis=0), n)
    if not np.isfinite(variance).all():
        raise DataError(
            "a column holds numbers too large to be squared", hint="divide the column by its largest number"
        )
    return mean, variance


def spans(table: Table) -> Floats:
    """The range of every column of numbers."""
    with np.errstate(invalid="ignore"):
        low = np.where(np.isnan(table.values), np.inf, table.values).min(axis=1, initial=np.inf)
        high = np.where(np.isnan(table.values), -np.inf, table.values).max(axis=1, initial=-np.inf)
    return np.where(high >= low, high - low, 0.0)


def with_another(schema: Schema) -> Schema:
    """The same columns, with one more state for all that no example shows."""
    return Schema(
        DiscreteVariable(v.name, (*v.states, ANOTHER), read_as=v.read_as, origin=v.origin)
        if isinstance(v, DiscreteVariable) and v.cuts is None
        else v
        for v in schema
    )


def as_weights(given: Any, schema: Schema) -> dict[str, float]:
    """Weights of columns by name, or one for each column."""
    if hasattr(given, "items"):
        return {str(name): validation.number(f"feature_weights[{name!r}]", w, min_value=0) for name, w in given.items()}
    w = validation.float_array("feature_weights", given)
    if w.shape != (len(schema),):
        raise ShapeError(f"expected a weight for each of {len(schema)} columns, got shape {w.shape}")
    return dict(zip(schema.names, w.tolist(), strict=True))
