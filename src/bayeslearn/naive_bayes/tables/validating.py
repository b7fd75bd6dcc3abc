"""How good a model is on rows it has not seen: every fold by the statistics of the others.

    statistics without fold f = Σ_{g ≠ f} statistics of fold g

Evidence adds, so one pass over the rows is enough for all folds: row i goes to class c_i of its own fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError
from bayeslearn.families import Bundle, Counts
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.calibrating import Calibration, OutOfFold, best_sharpness, tempered
from bayeslearn.naive_bayes.tables.collecting import collect, count_labels
from bayeslearn.tables import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Rows


#: Of columns apart, more numbers than this are not kept.
MOST_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Accuracy and mean log loss of rows that were not learned from, beside those of the class shares alone."""

    folds: int
    accuracy: float
    log_loss: float
    majority_accuracy: float
    majority_log_loss: float
    calibration: Calibration

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4f} (majority {self.majority_accuracy:.4f}), "
            f"log loss {self.log_loss:.4f} (majority {self.majority_log_loss:.4f}), "
            f"calibration error {self.calibration.error:.4f}, {self.folds} folds"
        )


def cross_validate(
    model: NaiveBayes,
    data: Any,
    *,
    folds: int = 10,
    calibrate: bool = False,
    weights: Any = None,
    rng: Any = 0,
    progress: Callable[[float], object] | None = None,
) -> CrossValidation:
    """Judge the families and priors of a model on data, which need not be those it was learned from.

    Rows without a label are left out; one that no class can show is answered by the class shares. With `calibrate`, the
    sharpness of each fold is learned from the others, and of a table too large for that a sample of rows is judged.
    """
    found = read_out_of_fold(model, data, folds=folds, weights=weights, rng=rng, progress=progress, apart=calibrate)
    return judged(found, calibrate=calibrate)


def read_out_of_fold(model: NaiveBayes, data: Any, *, weights: Any = None, **options: Any) -> OutOfFold:
    """What is said out of fold of the rows of any data."""
    schema = Schema([model.target, *(c.variable for c in model.columns)])
    table = blocks.by_schema(data, schema, weights)
    w = None if table.weights is None else np.asarray(table.weights)
    labels = table.code(model.target.name).astype(np.int32)
    return out_of_fold(model, blocks.of_table(table, model.columns), labels, w, **options)


def out_of_fold(
    model: NaiveBayes, rows: Rows, labels: NDArray[np.int32], weights: NDArray[np.float64] | None, *, folds: int = 10,
    rng: Any = 0, progress: Callable[[float], object] | None = None, apart: bool = False,
) -> OutOfFold:  # fmt: skip
    """ln P(class) and Σ_j ln p(x_j|class) of every row with a label, by the statistics of the other folds.

    With the columns `apart`, ln p(x_j|class) of each; where these are too many, of a sample of rows.
    """
    k, size = validation.integer("folds", folds, least=2), model.target.size
    seen = np.flatnonzero(labels >= 0)
    if len(seen) < k:
        raise DataError(f"{len(seen)} rows with a label cannot be dealt out to {k} folds", hint="ask for fewer folds")
    rng = validation.generator(rng)
    fold = dealt(labels, k, rng)
    place = np.where(labels >= 0, fold * size + labels, -1).astype(np.int32)
    parts = Bundle({
        model.target.name: Counts(count_labels(place, k * size, weights)),
        **collect(model.columns, rows, place, k * size, weights),
    })  # fmt: skip
    per_fold = [Bundle({name: _slice(part, f, size) for name, part in parts.items()}) for f in range(k)]
    width = len(model.columns) if apart else 1
    most = max(MOST_NUMBERS // max(width * size, 1), k)
    if apart and len(seen) > most:
        seen = np.sort(rng.choice(seen, most, replace=False))
    log_shares, evidence = np.empty((len(seen), size)), np.empty((len(seen), size, width))
    for f in range(k):
        others: Any = sum(per_fold[g] for g in range(k) if g != f)
        trained = replace(model, statistics=others, sharpness=1.0)
        asked = np.flatnonzero(fold[seen] == f)
        log_shares[asked] = trained.log_shares
        if len(asked):
            evidence[asked] = _told(_evidence(trained, rows.take(seen[asked]), apart=apart))
        if progress is not None:
            progress((f + 1) / k)
    w = np.ones(len(seen)) if weights is None else weights[seen]
    return OutOfFold(labels[seen], w, fold[seen], log_shares, evidence)


def judged(found: OutOfFold, *, calibrate: bool = False) -> CrossValidation:
    """Accuracy, log loss and calibration of what was said out of fold."""
    k = int(found.fold.max()) + 1
    proba = np.empty(found.log_shares.shape)
    for f in range(k):
        here = found.fold == f
        sharpness = best_sharpness(found.take(~here)) if calibrate else (1.0,) * found.evidence.shape[2]
        proba[here] = tempered(found.take(here), sharpness)
    shares = np.exp(found.log_shares)
    return CrossValidation(
        k,
        _accuracy(proba, found), _loss(proba, found), _accuracy(shares, found), _loss(shares, found),
        Calibration.of(proba, found.labels, weights=found.weights),
    )  # fmt: skip


### parts


def dealt(labels: NDArray[np.int32], folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each row: the rows of every class, shuffled, are dealt out in turn."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def _slice(part: Any, f: int, size: int) -> Any:
    return type(part)(*(array[f * size : (f + 1) * size] for array in part.arrays()))


def _evidence(model: NaiveBayes, rows: Rows, *, apart: bool) -> NDArray[np.float64]:
    """ln p(x_j|class) of every column, or of all together, (rows, classes, columns or 1)."""
    if apart:
        said = rows.blocks(lambda part, cells: model.said_of(cells, part.stop - part.start))
        return np.concatenate(said, axis=2).transpose(2, 1, 0)
    joint = model.answers(rows, lambda joint: joint.T, possible=False)
    shares = model.log_shares
    return (joint - np.where(np.isfinite(shares), shares, 0.0))[:, :, None]


def _told(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence that some class can give; a row that none can show is left to the class shares."""
    shown = np.isfinite(evidence.sum(axis=2)).any(axis=1)
    return np.where(shown[:, None, None], evidence, 0.0)


def _accuracy(proba: NDArray[np.float64], found: OutOfFold) -> float:
    return float(found.weights @ (proba.argmax(axis=1) == found.labels) / found.weights.sum())


def _loss(proba: NDArray[np.float64], found: OutOfFold) -> float:
    with np.errstate(divide="ignore"):
        logs = np.log(proba[np.arange(len(found.labels)), found.labels])
    return float(-(found.weights @ logs) / found.weights.sum())
