"""How well a classifier predicts labels it has not seen: an estimate of its evidence.

    ln P(y|X, h)  ≈  Σ_i w_i ln P(y_i | x_i, h fitted without the fold of i)

The folds depend on the rows alone, not on their order or number: the different rows of each class, sorted, are dealt
out in turn. So equal rows share a fold, a row given twice is a row of weight 2, and no fold learns from a copy of what
it is asked. A class that shows one row only is left out of the sum: without that row nobody could know the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from bayeslearn.errors import ParameterError
from bayeslearn.hypotheses.likelihoods import label_logs, with_noise

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

#: Into how many parts the cases are dealt out.
N_FOLDS = 5
#: The fold of cases that are never held out.
ALWAYS_TRAINING = -1


def folds(X: Any, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The fold of each case, from its row and its class."""
    keys = list(zip(codes.tolist(), _row_keys(X), strict=True))
    by_class: dict[int, list[Any]] = {}
    for key in sorted(set(keys)):
        by_class.setdefault(key[0], []).append(key)
    found = {
        key: rank % N_FOLDS if len(different) > 1 else ALWAYS_TRAINING
        for different in by_class.values()
        for rank, key in enumerate(different)
    }
    return np.array([found[key] for key in keys], dtype=np.intp)


def out_of_fold_logs(
    classifier: Any,
    X: Any,
    codes: NDArray[np.intp],
    labels: tuple[Hashable, ...],
    *,
    weights: NDArray[np.float64] | None = None,
    noise: float = 0.0,
) -> NDArray[np.float64]:
    """ln P(y_i|x_i) of each case by a clone that was fitted without its fold; 0 for cases never held out."""
    fold = folds(X, codes)
    y = np.array(labels)[codes]
    logs = np.zeros(len(codes))
    for held_out in np.unique(fold[fold != ALWAYS_TRAINING]):
        rest, asked = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        w = None if weights is None else weights[rest]
        model = fitted(classifier, _safe_indexing(X, rest), y[rest], w)
        logs[asked] = likelihood_logs(model, _safe_indexing(X, asked), codes[asked], labels, noise=noise)
    return logs


def likelihood_logs(
    hypothesis: Any, X: Any, codes: NDArray[np.intp], labels: tuple[Hashable, ...], *, noise: float = 0.0
) -> NDArray[np.float64]:
    """ln P(y_i|x_i) of each case by a hypothesis that is fixed."""
    said = with_noise(label_logs(hypothesis, X, labels), noise)
    return said[np.arange(len(codes)), codes]


def fitted(classifier: Any, X: Any, y: NDArray[Any], weights: NDArray[np.float64] | None) -> Any:
    """A fitted clone."""
    if weights is None:
        return clone(classifier).fit(X, y)
    if not has_fit_parameter(classifier, "sample_weight"):
        raise ParameterError(
            f"sample_weight was given, and {type(classifier).__name__} does not take it",
            hint="leave the weights out, or the hypothesis",
        )
    return clone(classifier).fit(X, y, sample_weight=weights)


def _row_keys(X: Any) -> list[Any]:
    """Something that is the same for equal rows, different for others, and can be sorted."""
    if hasattr(X, "tocsr"):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = [slice(*X.indptr[i : i + 2]) for i in range(X.shape[0])]
        return [(X.indices[part].tobytes(), X.data[part].tobytes()) for part in parts]
    array = np.asarray(X)
    if array.dtype == object:
        return [repr(row) for row in array.tolist()]
    if np.issubdtype(array.dtype, np.floating):
        array = array + 0.0  # −0 and 0 are the same value
    return [row.tobytes() for row in np.ascontiguousarray(array)]
