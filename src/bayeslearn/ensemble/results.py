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
        rows = [
            [m.name, round(m.weight, 4), round(m.score, 4), round(m.loss, 4), round(m.seconds, 2)]
            for m in sorted(self.members, key=lambda m: -m.weight)
        ]
        return (Grid(["Member", "Weight", "Accuracy", "Log loss", "Seconds"], rows, "Members, out of fold"),)
