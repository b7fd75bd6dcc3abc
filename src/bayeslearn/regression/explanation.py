"""Why a linear prediction differs from that for the average row: what every feature adds.

f(x) = f(mean) + Σ_j w_j (x_j − mean_j)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.fit_info import plain
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

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
