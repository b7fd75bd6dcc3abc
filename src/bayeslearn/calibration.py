"""Reliability of predicted probabilities: how often the predicted class is correct, by its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import ShapeError
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]
    Codes = NDArray[np.integer[Any]]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

__all__ = ["N_BINS", "Calibration", "reliability_bins"]


def __dir__() -> list[str]:
    return __all__


#: Bins of equal width over the probability of the best class.
N_BINS = 10


def reliability_bins(p: Floats, labels: Codes, sample_weight: Floats, n_bins: int) -> Floats:
    """Weight, Σ w P(best) and the weight of what is right, of each bin of P(best): (0, 1/n], (1/n, 2/n], ..."""
    if not p.size:
        return np.zeros((3, n_bins))
    top, right = p.max(axis=1), p.argmax(axis=1) == labels
    place = np.clip(np.ceil(top * n_bins).astype(int) - 1, 0, n_bins - 1)
    return np.stack([np.bincount(place, sample_weight * v, minlength=n_bins) for v in (np.ones(len(top)), top, right)])


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Reported):
    """Reliability: rows in bins of the probability of their predicted class, and the accuracy in each bin.

    >>> found = Calibration.of([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], n_bins=2)
    >>> found
    Calibration(error 0.1333, 3 rows)
    >>> print(found)
    Calibration error 0.1333, 3 rows
    <BLANKLINE>
    probability  rows  mean probability  accuracy
    ---------------------------------------------
    0.50 … 1.00     3               0.8  0.666667
    """

    #: Bounds of the bins, one more than there are bins.
    edges: Floats
    #: The weight of the rows of each bin.
    counts: Floats
    #: The mean probability of the predicted class in each bin; 0 where there is no row.
    confidence: Floats
    #: The fraction of rows in each bin that were classified correctly.
    accuracy: Floats

    @classmethod
    def of(
        cls, proba: ArrayLike, labels: ArrayLike, *, sample_weight: ArrayLike | None = None, n_bins: int = N_BINS
    ) -> Calibration:
        """Bins of equal width over the probability of the best class; `labels` are positions of classes."""
        p, y = validation.probabilities(proba), np.asarray(labels)
        if p.ndim != 2 or y.shape != p.shape[:1]:
            raise ShapeError(f"expected probabilities (n, classes) and n labels, got {p.shape} and {y.shape}")
        n = validation.integer("n_bins", n_bins, min_value=1, max_value=1 << 20)
        return cls.of_sums(reliability_bins(p, y, validation.weights(sample_weight, len(y)), n))

    @classmethod
    def of_sums(cls, sums: Floats) -> Calibration:
        """From the sums of :func:`reliability_bins`."""
        counts, sure, right = sums
        some = np.where(counts > 0, counts, 1.0)
        return cls(np.linspace(0, 1, sums.shape[1] + 1), counts, sure / some, right / some)

    @property
    def error(self) -> float:
        """The expected calibration error: Σ_bins (rows / all rows) |confidence − accuracy|."""
        total = self.counts.sum()
        return float(self.counts @ np.abs(self.confidence - self.accuracy) / total) if total else 0.0

    def __repr__(self) -> str:
        return f"Calibration(error {self.error:.4f}, {self.counts.sum():,.10g} rows)"

    def report(self) -> Report:
        """Return the bins that have rows."""
        return Report(
            f"Calibration error {self.error:.4f}, {self.counts.sum():,.10g} rows",
            Grid(["probability", "rows", "mean probability", "accuracy"], self._rows()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return error, edges, counts, confidence and accuracy as plain values."""
        parts = {name: getattr(self, name).tolist() for name in ("edges", "counts", "confidence", "accuracy")}
        return {"error": self.error, **parts}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each bin."""
        columns = {"lower": self.edges[:-1], "upper": self.edges[1:], "rows": self.counts}
        return frame_of(columns | {"confidence": self.confidence, "accuracy": self.accuracy}, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw observed frequency by predicted probability (:func:`bayeslearn.plots.plot_calibration`)."""
        return plots.plot_calibration(self, ax=ax)

    def _rows(self) -> list[list[Any]]:
        rows = zip(self.edges, self.edges[1:], self.counts, self.confidence, self.accuracy, strict=False)
        return [[f"{a:.2f} … {b:.2f}", float(n), p, r] for a, b, n, p, r in rows if n]
