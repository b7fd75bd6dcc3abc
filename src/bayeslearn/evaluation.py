"""Evaluation on rows that a model was not fitted to: one mechanism for all learners.

    folds         stratified folds, in random or in a given order
    out_of_fold   an answer for every row by a model fitted to the rows of the other folds
    Predictions   probabilities and known classes of rows: ROC curves, and
    Metrics       sums over rows, which add: confusion, log loss, squared error, reliability

A class of probability zero counts as one of probability `MIN_PROBABILITY`, as in scikit-learn's log loss, so that one
row does not outweigh all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.calibration import N_BINS, Calibration, reliability_bins
from bayeslearn.errors import DataError, MissingValuesError, ParameterError, ShapeError, listed
from bayeslearn.lazy_imports import Deferred
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]
    Codes = NDArray[np.integer[Any]]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

sklearn_metrics = Deferred("sklearn.metrics")

__all__ = [
    "Calibration",
    "Metrics",
    "Predictions",
    "each_fold",
    "folds",
    "log_losses",
    "mean_with_error",
    "out_of_fold",
    "stratified_split",
    "sums_without_each",
]


def __dir__() -> list[str]:
    return __all__


#: The least probability that a class counts with.
MIN_PROBABILITY = float(np.finfo(np.float64).eps)


### folds


def folds(
    labels: ArrayLike | int,
    n_folds: int,
    *,
    random_state: np.random.Generator | int | None = None,
    order: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """The fold of each row: the rows of every class, in order, are dealt to the folds in turn.

    Parameters
    ----------
    labels
        The class of each row as a whole number, below zero where it is unknown; or how many rows there are.
    n_folds
        How many folds, at least two.
    random_state
        The seed or generator of the order; 0 when nothing is given.
    order
        The order of the rows, in place of a random one.

    Examples
    --------
    >>> folds([0, 0, 0, 0, 1, 1], 2, order=np.arange(6))
    array([0, 1, 0, 1, 0, 1])
    """
    codes = np.zeros(labels, np.intp) if isinstance(labels, int) else np.asarray(labels)
    k = validation.integer("n_folds", n_folds, min_value=2)
    require_rows(int(np.count_nonzero(codes >= 0)), k)
    if order is None:
        order = validation.generator(0 if random_state is None else random_state).permutation(len(codes))
    return dealt(codes, k, order)


def dealt(codes: Codes, n_folds: int, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The fold of each row, where rows of a class are dealt out in this order."""
    order = order[np.argsort(codes[order], kind="stable")]
    found = np.empty(len(codes), np.intp)
    found[order] = np.arange(len(codes)) % n_folds
    return found


def require_rows(n: int, n_folds: int) -> None:
    """Refuse folds without rows."""
    if n < n_folds:
        raise DataError(f"{n} rows with a known target cannot make {n_folds} folds", hint=f"ask for at most {n} folds")


def each_fold(fold: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Positions to learn from and positions to test, fold by fold; rows of a fold below zero are only learned from."""
    for number in range(int(fold.max(initial=-1)) + 1):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def out_of_fold(
    fold: NDArray[np.intp], answer: Callable[[NDArray[np.intp], NDArray[np.intp]], Any], into: NDArray[Any]
) -> NDArray[Any]:
    """Answer for every row by what is learned from the rows of the other folds.

    Parameters
    ----------
    fold
        The fold of each row, from :func:`folds`; below zero for rows that are only learned from.
    answer
        A function of the positions to learn from and of those to answer for, which returns an answer for each of these.
    into
        Where the answers go; rows without one keep what is there.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> out_of_fold(np.array([0, 1, 2]), lambda train, test: y[train].mean(), np.zeros(3))
    array([4. , 3.5, 1.5])
    """
    for train, test in each_fold(fold):
        into[test] = answer(train, test)
    return into


def sums_without_each(parts: Sequence[Any]) -> list[Any]:
    """Return Σ_{g ≠ f} parts[g] for each f: statistics of all folds but one, for two parts or more.

    Running sums from both ends meet, so that k folds take 3 k additions and nothing is subtracted.

    >>> sums_without_each([1, 2, 4])
    [6, 5, 3]
    """
    before, after = list(accumulate(parts)), list(accumulate(reversed(parts)))[::-1]
    return [after[1], *(a + b for a, b in zip(before, after[2:], strict=False)), before[-2]]


def stratified_split(
    labels: Codes, test_size: float, random_state: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training rows in random order, and test rows: a share of each class, rounded, but at least one row."""
    train, test = [], []
    for code in np.unique(labels):
        rows = random_state.permutation(np.flatnonzero(labels == code))
        if len(rows) < 2:
            raise MissingValuesError(
                "a class has only one row, which cannot be used for both training and testing",
                hint="leave the class out, or add rows",
            )
        cut = min(max(round((1 - test_size) * len(rows)), 1), len(rows) - 1)
        train.append(rows[:cut])
        test.append(rows[cut:])
    return random_state.permutation(np.concatenate(train)), np.concatenate(test)


### metrics


@dataclass(frozen=True, eq=False)
class Predictions:
    """P(class) of each row with its class, where that is known.

    Parameters
    ----------
    proba
        Probabilities of shape (rows, classes).
    labels
        The position of the class of each row; below zero where it is unknown.
    classes
        The names of the classes.
    sample_weight
        The weight of each row; 1 if not given.

    Examples
    --------
    >>> found = Predictions([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 1, 0], classes=["no", "yes"])
    >>> found.metrics.accuracy, found.auc("yes")
    (0.6666666666666666, 1.0)
    """

    proba: ArrayLike
    labels: ArrayLike
    classes: Sequence[Any]
    sample_weight: ArrayLike | None = None

    @property
    def metrics(self) -> Metrics:
        """Accuracy, log loss, confusion and calibration."""
        return Metrics.of(self.proba, self.labels, classes=self.classes, sample_weight=self.sample_weight)

    def roc(self, label: Any) -> tuple[Floats, Floats]:
        """False and true positive rates of a class against all others, at every threshold."""
        is_label, p, w = self._against_others(label)
        false, true, _ = sklearn_metrics.roc_curve(is_label, p, sample_weight=w)
        return false, true

    def auc(self, label: Any) -> float:
        """The area under the ROC curve of a class against all others."""
        is_label, p, w = self._against_others(label)
        return float(sklearn_metrics.roc_auc_score(is_label, p, sample_weight=w))

    def _against_others(self, label: Any) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Whether each row of known class is of this one, its probability, and the weight of the row."""
        if label not in self.classes:
            raise ParameterError(f"there is no class {label!r}", hint=f"the classes are {listed(self.classes)}")
        code, labels = list(self.classes).index(label), np.asarray(self.labels)
        w = validation.weights(self.sample_weight, len(labels))
        known = (labels >= 0) & (w > 0)
        is_label = labels[known] == code
        if not is_label.any() or is_label.all():
            raise ParameterError(
                f"{'every' if is_label.any() else 'no'} row is of class {label!r}, so that there is no ROC curve",
                hint="ask for a class that some rows have and others do not",
            )
        return is_label, np.asarray(self.proba, dtype=np.float64)[known, code], w[known]


def log_losses(proba: Floats, labels: Codes) -> Floats:
    """−ln P(class) of each row, where a class counts with `MIN_PROBABILITY` at least."""
    return -np.log(np.maximum(proba[np.arange(len(labels)), labels], MIN_PROBABILITY)) + 0.0  # no −0


@dataclass(frozen=True, eq=False, repr=False)
class Metrics(Reported):
    """How rows of known class were classified; metrics of parts add up to those of the whole.

    >>> a = Metrics.of([[0.9, 0.1], [0.6, 0.4]], [0, 1], classes=["no", "yes"])
    >>> b = Metrics.of([[0.2, 0.8]], [1], classes=["no", "yes"])
    >>> (a + b).accuracy, round((a + b).log_loss, 4)
    (0.6666666666666666, 0.4149)
    """

    classes: tuple[Any, ...]
    #: The weight of the rows of a class (row) that were taken for each (column).
    confusion: Floats
    #: Σ w (−ln P(class)) and Σ w Σ_c (P(c) − [c is the class])².
    loss: float
    squares: float
    #: Weight, Σ w P(best) and the weight of what is right, of each bin of P(best).
    bins: Floats

    @classmethod
    def of(
        cls,
        proba: ArrayLike,
        labels: ArrayLike,
        *,
        classes: Sequence[Any],
        sample_weight: ArrayLike | None = None,
    ) -> Metrics:
        """The metrics of some rows; rows whose label is below zero are left out."""
        p, y = np.asarray(proba, dtype=np.float64), np.asarray(labels)
        k = len(classes)
        if p.shape != (len(y), k):
            raise ShapeError(f"expected probabilities of shape ({len(y)}, {k}), got {p.shape}")
        known = y >= 0
        w = validation.weights(sample_weight, len(y))[known]
        p, y = p[known], y[known]
        best = p.argmax(axis=1) if k else y
        confusion = np.bincount(y * k + best, w, minlength=k * k).reshape(k, k).astype(np.float64)
        off = p.copy()
        off[np.arange(len(y)), y] -= 1.0
        loss, squares = w @ log_losses(p, y), w @ np.einsum("nc,nc->n", off, off)
        return cls(tuple(classes), confusion, float(loss), float(squares), reliability_bins(p, y, w, N_BINS))

    @classmethod
    def none(cls, classes: Sequence[Any]) -> Metrics:
        """The metrics of no rows, to which others add."""
        k = len(classes)
        return cls(tuple(classes), np.zeros((k, k)), 0.0, 0.0, np.zeros((3, N_BINS)))

    def __add__(self, other: Metrics) -> Metrics:
        if not isinstance(other, Metrics):
            return NotImplemented
        if self.classes != other.classes:
            raise ParameterError("metrics of different classes do not add")
        return Metrics(
            self.classes, self.confusion + other.confusion, self.loss + other.loss, self.squares + other.squares,
            self.bins + other.bins,
        )  # fmt: skip

    @property
    def weight(self) -> float:
        """The weight of all rows; their number where each counts once."""
        return float(self.confusion.sum())

    @property
    def n_correct(self) -> float:
        """The weight of the rows that were classified correctly."""
        return float(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """The fraction of rows that were classified correctly."""
        return accuracy(self.n_correct, self.weight)

    @property
    def log_loss(self) -> float:
        """The mean of −ln P(class)."""
        return self.loss / require_known(self.weight)

    @property
    def brier(self) -> float:
        """The mean of Σ_c (P(c) − [c is the class])²."""
        return self.squares / require_known(self.weight)

    @property
    def recall(self) -> Floats:
        """The share of each class that was found; NaN for a class without rows."""
        return share(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """The share of what was taken for a class that is of it; NaN where nothing was."""
        return share(np.diag(self.confusion), self.confusion.sum(axis=0))

    @property
    def calibration(self) -> Calibration:
        """Reliability: rows by the probability of their best class, and how often it was right."""
        return Calibration.of_sums(self.bins)

    def report(self) -> Report:
        """Return accuracy, log loss and Brier score, recall and precision of each class, and the commonest mistakes."""
        if not self.weight:
            return Report("Evaluation: no rows with a known class")
        rows = [
            [name, float(n), r, p]
            for name, n, r, p in zip(self.classes, self.confusion.sum(axis=1), self.recall, self.precision, strict=True)
        ]
        wrong = [list(mistake) for mistake in self.most_confused()]
        pairs = {"Correct": f"{self.n_correct:,.10g} of {self.weight:,.10g}", "Accuracy": self.accuracy}
        pairs |= {"Log loss": self.log_loss, "Brier score": self.brier, "Calibration error": self.calibration.error}
        return Report(
            f"Evaluation: accuracy {self.accuracy:.4g} on {self.weight:,.10g} rows",
            Pairs(pairs),
            Grid(["class", "rows", "recall", "precision"], rows, "Classes", max_rows=100),
            Grid(["class", "predicted", "rows"], wrong, "Most confused") if wrong else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics as plain values."""
        known = bool(self.weight)
        return {
            "total_weight": self.weight, "n_correct": self.n_correct, "accuracy": self.accuracy if known else None,
            "log_loss": self.log_loss if known else None, "brier": self.brier if known else None,
            "classes": list(self.classes), "recall": self.recall.tolist(), "precision": self.precision.tolist(),
            "confusion": self.confusion.tolist(), "calibration": self.calibration.to_dict(),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the confusion matrix as a data frame: a row for each class, a column for each predicted class."""
        columns = {str(name): of for name, of in zip(self.classes, self.confusion.T, strict=True)}
        return frame_of({"class": [str(name) for name in self.classes]} | columns, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the confusion matrix (:func:`bayeslearn.plots.plot_confusion_matrix`)."""
        return plots.plot_confusion_matrix(self, ax=ax)

    def most_confused(self, n: int = 10) -> list[tuple[Any, Any, float]]:
        """The commonest mistakes: class, what it was taken for, how often."""
        wrong = self.confusion - np.diag(np.diag(self.confusion))
        order = np.argsort(-wrong, axis=None, kind="stable")[:n]
        pairs = [(int(at) // len(self.classes), int(at) % len(self.classes)) for at in order]
        return [(self.classes[i], self.classes[j], float(wrong[i, j])) for i, j in pairs if wrong[i, j]]


def accuracy(right: float, weight: float) -> float:
    """The weight of the rows that are classified rightly, of those whose class is known."""
    return float(right / require_known(weight))


def require_known(weight: float) -> float:
    """The weight of the rows whose class is known, which must be some."""
    if not weight > 0:
        raise DataError("no row that counts has a known class to judge by", hint="give rows whose class is known")
    return weight


def share(part: Floats, whole: Floats) -> Floats:
    """Ratios; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


### means


def mean_with_error(losses: Floats, sample_weight: Floats) -> tuple[float, float]:
    """The mean of losses, and its standard error."""
    total = sample_weight.sum()
    mean = sample_weight @ losses / total
    variance = sample_weight @ (losses - mean) ** 2 / max(total - 1, 1.0)
    return float(mean), float(np.sqrt(variance / total))
