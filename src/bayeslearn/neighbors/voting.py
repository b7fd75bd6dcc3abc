"""What neighbors contribute: their weights, with which a distribution collects their targets, and explanations.

    uniform          v = 1                   inverse_square   v = 1/d², and rows at distance 0 alone where there are any

A row of weight c counts as c rows; the last of the k rows may count in part. Weights are scaled to their effective
sample size (Kish), so that k equal weights are k rows and one exact match is one:

    w_i = c_i v_i · Σ c v / Σ c v²
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import NormalInverseGamma
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import DataError, ParameterError, WeightError
from bayeslearn.fit_info import plain
from bayeslearn.neighbors import inputs
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.tables.frames import Backend

WEIGHTS = ("uniform", "inverse_square")

#: How near two classes must be to be tied, relative to what they have.
TIED = 1e-12


def nearness(distances: Floats, kind: str | Callable[[Floats], Any]) -> Floats:
    """v of every neighbor, by its distance."""
    if callable(kind):
        v = validation.float_array("weights", kind(distances))
        if v.shape != distances.shape:
            raise ParameterError(
                f"`weights` must return a weight for each of {distances.shape} distances, got shape {v.shape}"
            )
        return validation.not_negative("weights", v, error=WeightError)
    kind = validation.choice("weights", kind, WEIGHTS)
    if kind == "uniform":
        return np.ones(distances.shape)
    nearest = distances[:, :1]
    with np.errstate(invalid="ignore"):
        relative = nearest / distances  # 1/d² up to a factor, without overflow
    return np.where(nearest == 0, distances == 0, relative**2)


def taken(sample_weight: Floats, n_neighbors: float | None) -> Floats:
    """How much of the weight of each row is among the n nearest; all where n is None."""
    if n_neighbors is None:
        return sample_weight
    upto = np.cumsum(sample_weight, axis=1)
    return np.minimum(upto, n_neighbors) - np.minimum(upto - sample_weight, n_neighbors)


def weights(distances: Floats, sample_weight: Floats, n_neighbors: float | None, kind: Any) -> Floats:
    """w of every neighbor."""
    v, c = nearness(distances, kind), taken(sample_weight, n_neighbors)
    silent = (c * v).sum(axis=1) == 0
    if silent.any():
        raise DataError(
            f"no neighbor of row {validation.first_position(silent)} has any weight",
            hint="use weights that reach farther, or a larger `n_neighbors`",
        )
    return c * v * worth((c * v).sum(axis=1), (c * v * v).sum(axis=1))[:, None]


def worth(first: Floats, second: Floats) -> Floats:
    """Σ c v / Σ c v²."""
    return ratio(first, second)


def tempered(p: Floats, exponent: float) -> Floats:
    """P^exponent, which adds up to 1 again."""
    if exponent == 1:
        return p
    powers: Floats = (p / p.max(axis=1, keepdims=True)) ** exponent
    return powers / powers.sum(axis=1, keepdims=True)


def elected(votes: Floats, classes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """The class with the most votes; of tied classes, that of the nearest row.

    `classes` are those of the neighbors, the nearest first; where none of them is tied, the first class wins.
    """
    top = votes.max(axis=1, keepdims=True)
    tied = votes >= top * (1 - TIED)
    best = np.argmax(tied, axis=1)
    unclear = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(unclear):
        votes_tied = np.take_along_axis(tied[unclear], classes[unclear], axis=1)
        nearest = classes[unclear, votes_tied.argmax(axis=1)]
        best[unclear] = np.where(votes_tied.any(axis=1), nearest, best[unclear])
    return best


def interval(posterior: NormalInverseGamma, level: float) -> tuple[Floats, Floats]:
    """Bounds of one more target; where nothing varies they are the mean."""
    if (posterior.alpha <= 0).any():
        raise ParameterError(
            "the variance of one neighbor is undefined", hint="use a prior above 0, or a larger `n_neighbors`"
        )
    some = posterior.beta > 0
    low = np.array(posterior.mu)
    high = low.copy()
    parts = (posterior.mu[some], posterior.kappa[some], posterior.alpha[some], posterior.beta[some])
    if some.any():
        low[some], high[some] = NormalInverseGamma(*parts).predictive().interval(level)
    return low, high


def log_likelihood(posterior: Any, targets: NDArray[Any], *, classes: bool, exponent: float = 1.0) -> Floats:
    """ln P(target) of codes or numbers; 0 where missing, −∞ for a class without probability."""
    if not classes:
        if (posterior.alpha <= 0).any():
            raise ParameterError(
                "the variance of one neighbor is undefined", hint="use a prior above 0, or a larger `n_neighbors`"
            )
        known, varies = ~np.isnan(targets), posterior.beta > 0
        found = np.where(known, np.where(targets == posterior.mu, np.inf, -np.inf), 0.0)
        some = known & varies
        if some.any():
            parts = (posterior.mu[some], posterior.kappa[some], posterior.alpha[some], posterior.beta[some])
            found[some] = NormalInverseGamma(*parts).predictive().log_pdf(targets[some])
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(tempered(posterior.alpha / posterior.alpha.sum(axis=1, keepdims=True), exponent))
    table = np.column_stack([log_p, np.full(len(log_p), -np.inf), np.zeros(len(log_p))])  # another class, missing
    return np.asarray(table[np.arange(len(table)), targets])


### explanations


@dataclass(frozen=True)
class NeighborContribution:
    """One neighbor: its row among the training rows, its distance, weight and target, and its cells."""

    row: int
    distance: float
    weight: float
    target: Any
    cells: dict[str, Any]


@dataclass(frozen=True, repr=False)
class NeighborExplanation(Reported):
    """The prediction for one row and the neighbors it is based on, the nearest first."""

    target: str
    predicted: Any
    #: P(class) by class; None of a numeric target.
    probabilities: dict[Any, float] | None
    #: Bounds of 95 % of a numeric target; None of classes, and where they are undefined.
    interval: tuple[float, float] | None
    contributions: tuple[NeighborContribution, ...]

    @property
    def _headline(self) -> str:
        if self.probabilities is not None:
            return f"{self.target} = {self.predicted}  (P = {self.probabilities[self.predicted]:.4g})"
        bounds = "" if self.interval is None else f"  (95 %: {self.interval[0]:.6g} to {self.interval[1]:.6g})"
        return f"{self.target} = {self.predicted:.6g}{bounds}"

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction and the neighbors as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each neighbor: row, distance, weight, target, and the columns."""
        voices = self.contributions
        columns = {name: [getattr(v, name) for v in voices] for name in ("row", "distance", "weight")}
        columns[self.target] = [v.target for v in voices]
        names = voices[0].cells if voices else {}
        return frame_of(columns | {name: [v.cells[name] for v in voices] for name in names}, backend)

    def report(self) -> Report:
        """Return the prediction, and its neighbors."""
        names = list(self.contributions[0].cells) if self.contributions else []
        rows = [
            [v.row, v.distance, v.weight, v.target, *("?" if v.cells[n] is None else v.cells[n] for n in names)]
            for v in self.contributions
        ]
        return Report(self._headline, Grid(["Row", "Distance", "Weight", self.target, *names], rows))


def explanations(model: NeighborsModel, data: Any, max_results: int) -> list[NeighborExplanation]:
    """One for each row, with its nearest neighbors."""
    validation.integer("max_results", max_results, min_value=1)
    rows = inputs.new_rows(model.examples.schema, data)
    predicted = model.predict(rows).tolist()
    found = []
    for distances, examples, each in model.weighted_neighbors(rows):
        for d, e, w in zip(distances.tolist(), examples.tolist(), each.tolist(), strict=True):
            counted = [(i, x, y) for i, x, y in zip(e, d, w, strict=True) if y > 0][:max_results]
            found.append(tuple(contribution(model, *neighbor) for neighbor in counted))
    probabilities, intervals = uncertainty(model, rows)
    return [
        NeighborExplanation(model.target.name, p, by_class, bounds, neighbors)
        for p, by_class, bounds, neighbors in zip(predicted, probabilities, intervals, found, strict=True)
    ]


def contribution(model: NeighborsModel, row: int, distance: float, weight: float) -> NeighborContribution:
    """One neighbor."""
    value = model.targets[row].item()
    target = model.target.states[value] if isinstance(model.target, DiscreteVariable) else value
    return NeighborContribution(row, distance, weight, target, model.examples.row(row))


def uncertainty(model: NeighborsModel, rows: Any) -> tuple[list[Any], list[Any]]:
    """The probabilities of classes, and the bounds of numbers, of each row."""
    if isinstance(model.target, DiscreteVariable):
        p = model.predict_proba(rows).tolist()
        return [dict(zip(model.target.states, each, strict=True)) for each in p], [None] * len(p)
    low, high = model.predict_interval(rows)
    return [None] * len(low), list(zip(low.tolist(), high.tolist(), strict=True))
