"""Labels of rows: which are missing, which classes there are, and the position of each label among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import MixedTypesError, UnknownStateError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: Whole numbers that lie in a range as wide as this are coded by a list of all of them.
NEAR = 1 << 16

#: Types of labels that are never missing.
_COMPLETE = frozenset({str, bytes, int, bool, np.str_, np.bytes_, np.int64, np.int32, np.bool_})


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or NA."""
    return label is None or type(label).__name__ in {"NAType", "NaTType"} or bool(label != label)  # noqa: PLR0124


def missing_labels(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a label is missing."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O" or set(map(type, y)) <= _COMPLETE:
        return np.zeros(len(y), np.bool_)
    return np.fromiter(map(is_missing, y), np.bool_, len(y))


def class_array(labels: Iterable[Any]) -> NDArray[Any]:
    """Labels as an array of their own type, of objects if they have several types."""
    found = list(labels)
    kinds = set(map(type, found))
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(found)
    return np.array([*found, None], dtype=object)[:-1]


def distinct_labels(y: NDArray[Any]) -> NDArray[Any]:
    """The different labels that are not missing, sorted."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < NEAR:
            return np.flatnonzero(np.bincount(_from(y, low))).astype(y.dtype) + y.dtype.type(low)  # modulo 2ⁿ
    gone = missing_labels(y)
    try:
        return np.unique(np.array(y[~gone].tolist()) if gone.any() else y)
    except TypeError:
        raise MixedTypesError("labels of several types have no order", hint="make all of them texts") from None


def label_codes(y: NDArray[Any], classes: NDArray[Any], *, check: bool = True) -> NDArray[np.int32]:
    """The position of each label among the classes, −1 where it is missing.

    With `check`, a label that is none of the classes is an error; without, every label must be one of them.
    """
    if y.dtype.kind in "iu" and classes.dtype.kind in "iu" and len(y):
        low, high = int(classes.min()), int(classes.max())
        if high - low < NEAR:
            if check and (y.min() < low or y.max() > high):
                raise unknown_labels(np.setdiff1d(y, classes), classes)
            place = np.full(high - low + 1, -1, np.int32)
            place[_from(classes, low)] = np.arange(len(classes))
            return _complete(place[_from(y, low)], y, classes) if check else place[_from(y, low)]
    if y.dtype.kind == "O" or classes.dtype.kind == "O":
        position = {label: code for code, label in enumerate(classes.tolist())}
        found = np.fromiter((position.get(label, -1) for label in y.tolist()), np.int32, len(y))
        return _complete(found, y, classes)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int32)
    codes[missing_labels(y)] = -1
    if check:
        codes[(codes >= 0) & (classes[codes] != y)] = -1
        _complete(codes, y, classes)
    return codes


def unknown_labels(labels: Any, classes: Any) -> UnknownStateError:
    """The error for labels that are none of the classes."""
    return UnknownStateError(
        f"labels {listed(_plain(labels))} are not among the classes {listed(_plain(classes))}",
        hint="name all classes with `classes`, in the first call of partial_fit",
    )


def _complete(codes: NDArray[np.int32], y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Codes that are −1 only where a label is missing."""
    odd = codes < 0
    if odd.any():
        odd &= ~missing_labels(y)
        if odd.any():
            raise unknown_labels(class_array(dict.fromkeys(y[odd].tolist())), classes)
    return codes


def _from(numbers: NDArray[Any], low: int) -> NDArray[Any]:
    """Whole numbers as distances from the lowest."""
    if not low:
        return numbers
    wide = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64, copy=False)
    return (wide - wide.dtype.type(low)).astype(np.int64, copy=False)


def _plain(labels: Any) -> list[Any]:
    """Labels as Python values."""
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
