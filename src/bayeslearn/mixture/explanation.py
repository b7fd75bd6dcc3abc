"""Why a row belongs to a component: log odds against another component, column by column.

    ln P(j | x) / P(l | x) = ln w_j / w_l + Σ_columns ln p(x_c | j) / p(x_c | l)

For columns that have a joint Gaussian, the quadratic form is split by columns, zᵀ Λ z = Σ_c z_c (Λ z)_c with z = x − μ,
and the determinants are part of the base. Missing values contribute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.components.description import log_odds
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from bayeslearn.mixture.model import MixtureModel


@dataclass(frozen=True, repr=False)
class ComponentExplanation(Reported):
    """Log odds of a component against another one, given a row.

    Attributes
    ----------
    component, versus
        The numbers of both components.
    probability, versus_probability
        Their probabilities, given the row.
    base
        The log odds that no column contributes: of the weights, and of determinants of covariances.
    contributions
        The log odds that each column contributes, positive in favor of `component`; the largest first.
    """

    component: int
    versus: int
    probability: float
    versus_probability: float
    base: float
    contributions: dict[str, float]

    @property
    def log_odds(self) -> float:
        """The log odds of the component: the sum of base and contributions."""
        return self.base + sum(self.contributions.values())

    def report(self) -> Report:
        """Return the log odds of each column."""
        odds = {"Probability": self.probability, f"Probability of {self.versus}": self.versus_probability}
        rows = [["(weights)", self.base], *self.contributions.items(), ["Sum", self.log_odds]]
        title = f"Component {self.component} versus component {self.versus}"
        return Report(title, Pairs(odds), Grid(["Column", "Log odds"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {
            "component": self.component, "versus": self.versus, "probability": self.probability,
            "versus_probability": self.versus_probability, "base": self.base, "log_odds": self.log_odds,
            "contributions": dict(self.contributions),
        }  # fmt: skip

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each column."""
        columns = {"column": list(self.contributions), "log_odds": list(self.contributions.values())}
        return frame_of(columns, backend)


def explained(model: MixtureModel, row: Any, component: int | None, versus: int | None) -> ComponentExplanation:
    """Return how much each column of a row supports a component against another one."""
    if model.n_components == 1:
        raise ParameterError("a mixture of one component has no other to compare with")
    rows = model.rows(one_row(row))
    if len(rows) != 1:
        raise ShapeError(f"expected one row, got {len(rows)}", hint="explain(frame.iloc[[0]]), or a dict of cells")
    shares = model.predict_proba(rows)[0]
    j = int(shares.argmax()) if component is None else require_component(model, "component", component)
    order = [int(i) for i in np.argsort(-shares, kind="stable") if i != j]
    rival = order[0] if versus is None else require_component(model, "versus", versus)
    if rival == j:
        raise ParameterError(f"component {j} cannot be compared with itself")
    with np.errstate(divide="ignore"):
        base = float(np.log(model.weights[j]) - np.log(model.weights[rival]))
    found: dict[str, float] = {}
    pair = np.array([j, rival])
    for part, θ, cells in zip(model.parts, model.parameters, rows.cells, strict=True):
        for name, value in log_odds(part, part.distribution.take(θ, pair), cells):
            if name is None:
                base += value
            else:
                found[name] = value
    found = dict(sorted(found.items(), key=lambda item: -abs(item[1])))
    return ComponentExplanation(j, rival, float(shares[j]), float(shares[rival]), base, found)


def one_row(row: Any) -> Any:
    """Return a row as data of one row: cells of a dict become columns, a list becomes a matrix."""
    if isinstance(row, Mapping):
        scalar = {name: np.ndim(cell) == 0 for name, cell in row.items()}
        return {name: [cell] if scalar[name] else cell for name, cell in row.items()}
    if isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1:
        return np.asarray(row)[None]
    return row


def require_component(model: MixtureModel, name: str, number: int) -> int:
    """Return the number of a component, which the model must have."""
    if validation.integer(name, number, min_value=0) >= model.n_components:
        raise ParameterError(f"there is no component {number}", hint=f"there are {model.n_components}, from 0 on")
    return number
