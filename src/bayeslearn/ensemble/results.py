"""What a fit of an ensemble found out: the weight and the out-of-fold predictions of every member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.fit_info import FitInfo
from bayeslearn.reports import Grid

if TYPE_CHECKING:
    from bayeslearn.ensemble.stacking import MemberScore


@dataclass(frozen=True, kw_only=True, repr=False)
class BayesOptimalFitInfo(FitInfo):
    """The members of a Bayes optimal classifier: weights, out-of-fold accuracy and log loss, seconds."""

    combine: str = "log_linear"
    n_folds: int = 0
    members: tuple[MemberScore, ...] = ()
    #: Of the pool on the held-out rows, from which its weights were learned.
    accuracy: float | None = None
    log_loss: float | None = None

    def _title(self) -> str:
        return f"Bayes optimal classifier: {len(self.members)} members, {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found: dict[str, Any] = {"Pool": self.combine, "Folds": self.n_folds}
        if self.accuracy is not None:
            found |= {"Accuracy out of fold": self.accuracy, "Log loss out of fold": self.log_loss}
        return found | super()._pairs()

    def _blocks(self) -> tuple[Any, ...]:
        return (member_grid(self.members, "Accuracy"),)


@dataclass(frozen=True, kw_only=True, repr=False)
class BayesOptimalRegressionFitInfo(FitInfo):
    """The members of a Bayes optimal regression: weights, out-of-fold R² and log loss, seconds."""

    n_folds: int = 0
    members: tuple[MemberScore, ...] = ()
    #: Of the pool on the held-out rows, from which it was learned; coverage is that of the 95 % intervals.
    r_squared: float | None = None
    log_loss: float | None = None
    coverage: float | None = None

    def _title(self) -> str:
        return f"Bayes optimal regression: {len(self.members)} members, {self.n_rows:,} rows"

    def _pairs(self) -> dict[str, Any]:
        found: dict[str, Any] = {"Folds": self.n_folds}
        if self.r_squared is not None:
            found |= {"R² out of fold": self.r_squared, "Log loss out of fold": self.log_loss}
            found |= {"Within the 95% interval": self.coverage}
        return found | super()._pairs()

    def _blocks(self) -> tuple[Any, ...]:
        return (member_grid(self.members, "R²"),)


def member_grid(members: tuple[MemberScore, ...], score: str) -> Grid:
    """The members, those of the largest weight first."""
    rows = [
        [m.name, round(m.weight, 4), round(m.score, 4), round(m.loss, 4), round(m.seconds, 2)]
        for m in sorted(members, key=lambda m: -m.weight)
    ]
    return Grid(["Member", "Weight", score, "Log loss", "Seconds"], rows, "Members, out of fold")
