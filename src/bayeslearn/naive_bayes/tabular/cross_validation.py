"""How good a model is on rows it has not seen (:mod:`bayeslearn.naive_bayes.tabular.out_of_fold`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.evaluation import Calibration, Metrics
from bayeslearn.naive_bayes.tabular.calibration import OutOfFold, best_sharpness, tempered
from bayeslearn.naive_bayes.tabular.out_of_fold import read_out_of_fold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Accuracy and mean log loss of rows that were not learned from, beside those of the class shares alone."""

    cv: int
    accuracy: float
    log_loss: float
    majority_accuracy: float
    majority_log_loss: float
    calibration: Calibration

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4f} (majority {self.majority_accuracy:.4f}), "
            f"log loss {self.log_loss:.4f} (majority {self.majority_log_loss:.4f}), "
            f"calibration error {self.calibration.error:.4f}, {self.cv} folds"
        )


def cross_validate(
    model: NaiveBayesModel,
    data: Any,
    *,
    cv: int = 10,
    calibrate: bool = False,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: Callable[[float], object] | None = None,
) -> CrossValidation:
    """Judge the families and priors of a model on data, which need not be those it was learned from.

    Rows without a label are left out; one that no class can show is answered by the class shares. With `calibrate`, the
    sharpness of each fold is learned from the others, and of a table too large for that a sample of rows is judged; so
    it is of a source (:func:`~bayeslearn.scan`).
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
    """Accuracy, log loss and calibration of what was said out of fold."""
    k = int(found.fold.max()) + 1
    proba = np.empty(found.log_shares.shape)
    for f in range(k):
        here = found.fold == f
        sharpness = best_sharpness(found.take(~here)) if calibrate else (1.0,) * found.evidence.shape[2]
        proba[here] = tempered(found.take(here), sharpness)
    classes = range(found.evidence.shape[1])
    here = Metrics.of(proba, found.labels, classes=classes, sample_weight=found.sample_weight)
    shares = Metrics.of(np.exp(found.log_shares), found.labels, classes=classes, sample_weight=found.sample_weight)
    return CrossValidation(k, here.accuracy, here.log_loss, shares.accuracy, shares.log_loss, here.calibration)
