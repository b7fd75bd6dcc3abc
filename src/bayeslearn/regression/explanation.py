"""What every regression model answers about rows: values, intervals, scores, likelihoods, draws, explanations.

An explanation names what every feature adds to the prediction for the average row: f(x) = f(mean) + Σ_j w_j (x_j −
mean_j).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import significance, validation
from bayeslearn.errors import ShapeError, listed
from bayeslearn.fit_info import plain
from bayeslearn.regression.targets import numbers_in, numbers_of, target_names
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables import NumericVariable, Schema, as_table
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.student_t import StudentT
    from bayeslearn.regression.feature_encoding import Features
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class FeatureExplanation(Reported):
    """The contributions of the features to one prediction; they add up to its difference from the average."""

    target: str
    #: The prediction: a number, or the log odds of a class.
    predicted: float
    #: The prediction for the average training row.
    average: float
    values: dict[str, float]
    contributions: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction and the contributions as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each feature: feature, value, contribution."""
        columns = {"feature": list(self.values), "value": list(self.values.values())}
        return frame_of(columns | {"contribution": list(self.contributions.values())}, backend)

    def report(self) -> Report:
        """Return the contributions, the largest first."""
        order = sorted(self.contributions, key=lambda name: -abs(self.contributions[name]))
        rows = [[name, self.values[name], self.contributions[name]] for name in order]
        return Report(
            f"{self.target}: {self.predicted:.6g}",
            Pairs({"Prediction": self.predicted, "Prediction for the average row": self.average}),
            Grid(["Feature", "Value", "Contribution"], rows, "Contributions"),
        )


def explanations(
    features: Features, matrix: Floats, coef: Floats, intercept: Floats, targets: Sequence[str]
) -> list[FeatureExplanation]:
    """One for each row and target; coefficients are (m, d), in the units of the columns."""
    average = intercept + coef @ features.mean
    found = []
    for x in matrix:
        values = dict(zip(features.names, x.tolist(), strict=True))
        for j, target in enumerate(targets):
            amounts = coef[j] * (x - features.mean)
            contributions = dict(zip(features.names, amounts.tolist(), strict=True))
            total = float(average[j] + amounts.sum())
            found.append(FeatureExplanation(target, total, float(average[j]), values, contributions))
    return found


class NumericPredictions:
    """A model of numeric targets: `predictive` gives their distribution, all else follows.

    Arrays are (n,) of one target, and (n, m) of m targets.
    """

    __slots__ = ()

    #: The names of the targets.
    targets: tuple[str, ...]

    @abstractmethod
    def predictive(self, data: Any) -> StudentT:
        """Return the distribution of the targets of one more row at each row, Student t of shape (n, m)."""

    @abstractmethod
    def _means(self, data: Any) -> Floats:
        """The expected targets at each row, (n, m)."""

    def _bounds(self, data: Any, level: float) -> tuple[Floats, Floats]:
        """Bounds of the targets of one more row, (n, m) each."""
        return self.predictive(data).interval(level)

    def predict(self, data: Any) -> Floats:
        """Return the expected target of each row: (n,), or (n, m) of m targets."""
        return self._shaped(self._means(data))

    def predict_interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more row at each row."""
        validation.number("level", level, above=0, below=1)
        low, high = self._bounds(data, level)
        return self._shaped(low), self._shaped(high)

    def log_likelihood(self, data: Any, target: Any = None) -> Floats:
        """Return the log density of the targets of each row; missing targets add 0.

        `target` names columns of `data`, by default those that the model predicts, or holds the targets.
        """
        y, found = self._truth(data, target), self.predictive(data)
        known, sure = ~np.isnan(y), found.scale == 0
        scale = np.where(sure, 1.0, found.scale)
        density = type(found)(found.dof, found.location, scale).log_pdf(np.where(known, y, found.location))
        density = np.where(sure, np.where(y == found.location, np.inf, -np.inf), density)
        return np.asarray(np.where(known, density, 0.0).sum(axis=1))

    def score(self, data: Any, target: Any = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return R² on rows whose target is known; of several targets, the mean."""
        y, mean = self._truth(data, target), self._means(data)
        scores = [significance.score(m, t, sample_weight, classes=False) for m, t in zip(mean.T, y.T, strict=True)]
        return float(np.mean(scores))

    def sample(self, data: Any, n_samples: int = 1, *, random_state: Any = None) -> Floats:
        """Draw targets of each row from their distribution: (n_samples, n), or (n_samples, n, m) of m targets."""
        n = validation.integer("n_samples", n_samples, min_value=1)
        drawn = self.predictive(data).draw(n, validation.generator(random_state))
        return drawn[:, :, 0] if drawn.shape[2] == 1 else drawn

    def _truth(self, data: Any, target: Any) -> Floats:
        """Targets of rows, (n, m), NaN where missing."""
        names = self.targets if target is None else target_names(target)
        if names is None:
            found = numbers_of(target)
        else:
            table = as_table(data, schema=Schema(NumericVariable(name) for name in names))
            found = np.column_stack([numbers_in(table, name) for name in names])
        if found.shape[1] != len(self.targets):
            raise ShapeError(f"expected the targets {listed(self.targets)}, got {found.shape[1]} columns")
        return found

    def _shaped(self, outputs: Floats) -> Floats:
        """The outputs of one target as a vector."""
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs
