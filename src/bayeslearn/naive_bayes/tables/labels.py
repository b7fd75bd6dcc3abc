"""Labels as scikit-learn users write them: any array, None and NaN where one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bayeslearn.errors import DataError, ParameterError
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.inputs import near
from bayeslearn.tables import Table, as_table

if TYPE_CHECKING:
    from numpy.typing import NDArray


def checked_labels(y: Any) -> NDArray[Any]:
    """Labels as an array, None and NaN among them for those that are missing."""
    if y is None:
        raise ParameterError("a classifier requires y to be passed, but the target y is None")
    y = column_or_1d(np.asarray(y), warn=True)
    seen = y[~missing_labels(y)]
    if y.dtype.kind == "f" and np.isinf(seen).any():
        raise DataError("Input y contains infinity, which is no label", hint="None and NaN are missing labels")
    if not len(seen) and len(y):
        raise DataError("no row has a label: all of them are None or NaN", hint="label at least some rows")
    if y.dtype.kind == "O" and {type(v) for v in seen.tolist()} <= {str, int, bool, float}:
        seen = np.array(seen.tolist())
    if seen.dtype.kind not in "iubUS":  # these can be nothing but classes
        check_classification_targets(seen)
    return y


def known_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The different labels, sorted."""
    if y.dtype.kind in "iu" and len(y):
        few = blocks.whole_states(y[:, None], 255)
        if few is not None:
            return np.array(few[0], dtype=y.dtype)
    gone = missing_labels(y)
    return np.unique(np.array(y[~gone].tolist()) if gone.any() else y)


def read_source(X: Any, y: Any, weights: Any = None) -> tuple[Table, Any, Any]:
    """The table of a path, and the labels and the weights if these are names of columns of it."""
    column = weights if isinstance(weights, str) else None
    table = as_table(X, discrete=[y] if isinstance(y, str) else [], allow_constant=True, weights=column)
    weights = weights if column is None else table.weights
    return (table.drop([y]), table.decode(y), weights) if isinstance(y, str) else (table, y, weights)


def label_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among sorted classes; −1 where it is missing."""
    if y.dtype.kind in "iu" and classes.dtype.kind in "iu" and len(y) and near(tuple(classes.tolist())):
        low = classes.min()
        place = np.full(classes.max() - low + 1, -1, np.int32)
        place[classes - low] = np.arange(len(classes))
        return place[y - low]
    codes = np.full(len(y), -1, np.int32)
    seen = ~missing_labels(y)
    if seen.any():
        codes[seen] = np.searchsorted(classes, y[seen])
    return codes


def missing_labels(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a label is None or NaN."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), np.bool_)
    return np.array([v is None or v != v for v in y.tolist()], np.bool_)  # noqa: PLR0124 - NaN
