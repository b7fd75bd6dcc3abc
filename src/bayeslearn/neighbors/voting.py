"""What neighbors contribute: their weights, with which a family collects their targets, and explanations by neighbor.

    uniform          v = 1                   inverse_square   v = 1/d², and rows at distance 0 alone where there are any

A row of weight c counts as c rows; the last of the k rows may count in part. Weights are scaled to their effective
number (Kish), so that k equal weights are k rows and one exact match is one:

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
from bayeslearn.neighbors import inputs
from bayeslearn.printable import printable
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from bayeslearn.neighbors.model import NeighborsModel

WEIGHTINGS = ("uniform", "inverse_square")

#: How near two classes must be to be tied, relative to what they have.
TIED = 1e-12


def nearness(distances: Floats, weighting: str | Callable[[Floats], Any]) -> Floats:
    """v of every neighbor, by its distance."""
    if callable(weighting):
        v = validation.float_array("weighting", weighting(distances))
        if v.shape != distances.shape:
            raise ParameterError(f"a weighting gives a weight for each of {distances.shape} distances, got {v.shape}")
        return validation.not_negative("weighting", v, error=WeightError)
    validation.choice("weighting", weighting, WEIGHTINGS)
    if weighting == "uniform":
        return np.ones(distances.shape)
    nearest = distances[:, :1]
    with np.errstate(invalid="ignore"):
        relative = nearest / distances  # 1/d² up to a factor, without overflow
    return np.where(nearest == 0, distances == 0, relative**2)


def taken(cases: Floats, k: float | None) -> Floats:
    """How many cases of each neighbor are among the k nearest; all where k is None."""
    if k is None:
        return cases
    upto = np.cumsum(cases, axis=1)
    return np.minimum(upto, k) - np.minimum(upto - cases, k)


def weights(distances: Floats, cases: Floats, k: float | None, weighting: Any) -> Floats:
    """w of every neighbor."""
    v, c = nearness(distances, weighting), taken(cases, k)
    silent = (c * v).sum(axis=1) == 0
    if silent.any():
        raise DataError(
            f"no neighbor of row {validation.first_position(silent)} has any weight",
            hint="use a weighting that reaches farther, or a larger `k`",
        )
    return c * v * worth((c * v).sum(axis=1), (c * v * v).sum(axis=1))[:, None]


def worth(first: Floats, second: Floats) -> Floats:
    """Σ c v / Σ c v²."""
    return ratio(first, second)


def elected(votes: Floats, classes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """The class with the most votes; of those that are tied, the one that the nearest row speaks for.

    `classes` are those of the neighbors, the nearest first; where none of them is tied, the first class wins.
    """
    top = votes.max(axis=1, keepdims=True)
    tied = votes >= top * (1 - TIED)
    best = np.argmax(tied, axis=1)
    unclear = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(unclear):
        said = np.take_along_axis(tied[unclear], classes[unclear], axis=1)
        nearest = classes[unclear, said.argmax(axis=1)]
        best[unclear] = np.where(said.any(axis=1), nearest, best[unclear])
    return best


def interval(posterior: NormalInverseGamma, level: float) -> tuple[Floats, Floats]:
    """Bounds of one more case; where nothing varies they are the mean."""
    if (posterior.alpha <= 0).any():
        raise ParameterError("one neighbor alone has no spread", hint="give a prior of some cases, or a larger `k`")
    some = posterior.beta > 0
    low = np.array(posterior.mu)
    high = low.copy()
    parts = (posterior.mu[some], posterior.kappa[some], posterior.alpha[some], posterior.beta[some])
    if some.any():
        low[some], high[some] = NormalInverseGamma(*parts).predictive().interval(level)
    return low, high


### explanations


@dataclass(frozen=True)
class NeighborContribution:
    """One example: its number, its distance, how many cases it counts as, what it says, and its cells."""

    row: int
    distance: float
    weight: float
    says: Any
    cells: dict[str, Any]


@dataclass(frozen=True)
class NeighborExplanation:
    """The answer for one row and the voices it rests on, the nearest first."""

    target: str
    predicted: Any
    #: P(class) by class, or the bounds of a number in which it lies with 95 %.
    belief: dict[Any, float] | tuple[float, float]
    contributions: tuple[NeighborContribution, ...]

    def summary(self, name: str = "") -> str:
        """The explanation in words."""
        if isinstance(self.belief, dict):
            head = f"{self.target} = {self.predicted}  (P = {self.belief[self.predicted]:.4g})"
        else:
            head = f"{self.target} = {self.predicted:.6g}  (95 %: {self.belief[0]:.6g} to {self.belief[1]:.6g})"
        lines = [
            f"  example {v.row} at {v.distance:.4g}, weight {v.weight:.4g}, says {shown(v.says)}:  "
            + ", ".join(f"{column} {shown(cell)}" for column, cell in v.cells.items())
            for v in self.contributions
        ]
        return printable("\n".join([f"{name}{head}", *lines]))


def shown(cell: Any) -> str:
    """A cell as people write it."""
    if cell is None:
        return "?"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def explanations(model: NeighborsModel, data: Any, most: int = 20) -> list[NeighborExplanation]:
    """One for each row; of more voices than `most` the nearest are told."""
    rows = inputs.new_rows(model.examples.schema, data)
    predicted = model.predict(rows)
    found = []
    for distances, examples, weights in model.weighted_neighbors(rows):
        for d, e, w in zip(distances, examples, weights, strict=True):
            heard = [(i, x, y) for i, x, y in zip(e.tolist(), d.tolist(), w.tolist(), strict=True) if y > 0][:most]
            found.append(tuple(voice(model, *each) for each in heard))
    beliefs = beliefs_of(model, rows)
    return [
        NeighborExplanation(model.target.name, p.item() if hasattr(p, "item") else p, b, voices)
        for p, b, voices in zip(predicted, beliefs, found, strict=True)
    ]


def voice(model: NeighborsModel, row: int, distance: float, weight: float) -> NeighborContribution:
    """One neighbor."""
    said = model.said[row].item()
    says = model.target.states[said] if isinstance(model.target, DiscreteVariable) else said
    return NeighborContribution(row, distance, weight, says, model.examples.row(row))


def beliefs_of(model: NeighborsModel, rows: Any) -> list[Any]:
    """How sure each answer is."""
    if isinstance(model.target, DiscreteVariable):
        return [dict(zip(model.target.states, p, strict=True)) for p in model.predict_proba(rows).tolist()]
    low, high = model.predict_interval(rows)
    return list(zip(low.tolist(), high.tolist(), strict=True))
