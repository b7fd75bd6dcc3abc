"""Cross-validation of naive Bayes models (:mod:`bayeslearn.naive_bayes.tabular.out_of_fold`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.evaluation import Calibration, Metrics
from bayeslearn.fit_info import plain
from bayeslearn.naive_bayes.tabular.calibration import OutOfFold, best_exponents, tempered
from bayeslearn.naive_bayes.tabular.out_of_fold import read_out_of_fold
from bayeslearn.progress import reports_progress
from bayeslearn.reports import Grid, Report, Reported

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.progress import ProgressCallback, Reporter


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Reported):
    """Accuracy and mean log loss out of fold, and those of predictions by the class probabilities alone."""

    cv: int
    accuracy: float
    log_loss: float
    majority_accuracy: float
    majority_log_loss: float
    calibration: Calibration

    def report(self) -> Report:
        """Return accuracy, log loss and calibration."""
        rows = [
            ["accuracy", self.accuracy, self.majority_accuracy],
            ["log loss", self.log_loss, self.majority_log_loss],
            ["calibration error", self.calibration.error, None],
        ]
        title = f"{self.cv}-fold cross-validation: accuracy {self.accuracy:.4g}, log loss {self.log_loss:.4g}"
        return Report(title, Grid(["", "model", "class probabilities"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


@reports_progress("Cross-validation")
def cross_validate(
    model: NaiveBayesModel,
    data: Any,
    *,
    cv: int = 10,
    calibrate: bool = False,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
) -> CrossValidation:
    """Return the cross-validation of the distributions and priors of a model on data with labels.

    Parameters
    ----------
    model
        A naive Bayes model; its statistics are not used.
    data
        Rows with labels, not necessarily those of the fit; rows without a label are ignored.
    cv
        The number of folds.
    calibrate
        Estimate the exponents of the columns of each fold from the other folds. A sample of rows is predicted where the
        table is too large, and for a source (:func:`~bayeslearn.scan`).
    sample_weight
        The weight of each row, or the column that holds it; 1 by default.
    random_state
        Seed or generator of the folds.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    """
    found = read_out_of_fold(
        model,
        data,
        folds=cv,
        sample_weight=sample_weight,
        random_state=random_state,
        progress=progress,
        apart=calibrate,
    )
    return judged(found, calibrate=calibrate)


def judged(found: OutOfFold, *, calibrate: bool = False) -> CrossValidation:
    """Accuracy, log loss and calibration of out-of-fold predictions."""
    k = int(found.fold.max()) + 1
    proba = np.empty(found.log_shares.shape)
    for f in range(k):
        here = found.fold == f
        exponents = best_exponents(found.take(~here)) if calibrate else (1.0,) * found.evidence.shape[2]
        proba[here] = tempered(found.take(here), exponents)
    classes = range(found.evidence.shape[1])
    here = Metrics.of(proba, found.labels, classes=classes, sample_weight=found.sample_weight)
    shares = Metrics.of(np.exp(found.log_shares), found.labels, classes=classes, sample_weight=found.sample_weight)
    return CrossValidation(k, here.accuracy, here.log_loss, shares.accuracy, shares.log_loss, here.calibration)
