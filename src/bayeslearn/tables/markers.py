"""Markers of missing cells: which text and which numbers stand for no value.

    defaults    what pandas takes for NA, and '?'
    given       `na_values=`, a list for all columns or a mapping of columns to lists, in addition to the defaults

A state that is declared is never a marker. Words and numbers that often are markers, but may be values, are suspects:
they are reported, and the user decides.

Labels of rows: which are missing, which classes there are, and the position of each label among them.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import MixedTypesError, ParameterError, UnknownStateError, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: What a number looks like in a text file.
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"

#: Default markers: those of pandas.read_csv, and the question mark.
NA_MARKERS = (
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip

#: Markers for all columns, or a mapping from columns to markers, with the key None for all columns.
Markers = Iterable[Any] | Mapping[str | None, Any]


@dataclass(frozen=True)
class Missing:
    """What stands for a missing cell: as text, and as a number; in some columns also something else."""

    text: frozenset[str]
    numbers: frozenset[float]
    #: The markers of columns that have their own, those of all columns included.
    by_column: Mapping[str, Missing] = field(default_factory=dict)

    @classmethod
    def of(cls, markers: Markers = (), *, keep_default_na: bool = True) -> Missing:
        """Markers as the user gives them, together with the default ones if these are kept."""
        own = dict(markers) if isinstance(markers, Mapping) else {None: markers}
        common = marker_list(own.pop(None, ())) + (list(NA_MARKERS) if keep_default_na else [])
        by_column = {str(name): cls.plain([*common, *marker_list(some)]) for name, some in own.items()}
        found = cls.plain(common)
        return cls(found.text, found.numbers, by_column)

    @classmethod
    def plain(cls, markers: Iterable[Any]) -> Missing:
        """Exactly these markers; one that looks like a number stands for the number too, and the reverse."""
        text, plain = set(), set()
        for marker in markers:
            if isinstance(marker, str):
                text.add(marker.strip())
                plain |= {float(marker.strip())} if re.fullmatch(NUMBER, marker.strip()) else set()
            elif isinstance(marker, numbers.Real) and not isinstance(marker, bool):
                text |= {str(marker), f"{float(marker):.17g}"} - {"nan"}
                plain |= {float(marker)}
        return cls(frozenset(text), frozenset(plain))

    def of_column(self, name: str) -> Missing:
        """The markers of one column."""
        return self.by_column.get(name, self) if self.by_column else self

    def marks(self, value: Any) -> bool:
        """Whether a value is one of these markers."""
        if isinstance(value, str):
            plain = value.strip()
            if plain in self.text or not self.numbers:
                return plain in self.text
            return re.fullmatch(NUMBER, plain) is not None and float(plain) in self.numbers
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and value in self.numbers

    def without(self, states: Iterable[Any]) -> Missing:
        """The markers that are not declared states."""
        declared = Missing.plain(states)
        return Missing(self.text - declared.text, self.numbers - declared.numbers)

    def __or__(self, other: Missing) -> Missing:
        names = {*self.by_column, *other.by_column}
        both = {name: self.of_column(name) | other.of_column(name) for name in names}
        return Missing(self.text | other.text, self.numbers | other.numbers, both)

    def only(self, names: Iterable[str]) -> Missing:
        """The same, with the specific markers of these columns only."""
        kept = {name: self.by_column[name] for name in names if name in self.by_column}
        return Missing(self.text, self.numbers, kept)

    def also(self, name: str, markers: Iterable[Any]) -> Missing:
        """More markers of one column."""
        more = Missing.plain(markers)
        own = self.of_column(name)
        grown = Missing(own.text | more.text, own.numbers | more.numbers)
        return Missing(self.text, self.numbers, {**self.by_column, name: grown})


def marker_list(markers: Any) -> list[Any]:
    """Markers as a list; one marker stands for a list of one."""
    if isinstance(markers, str) or (isinstance(markers, numbers.Real) and not isinstance(markers, bool)):
        return [markers]
    try:
        return list(markers)
    except TypeError:
        raise ParameterError(
            f"`na_values` must be a list of markers, or a mapping of columns to such lists, got {markers!r:.80}",
            hint='for instance na_values=["N/A", "-"] or na_values={"seats": [999]}',
        ) from None


def is_marker(value: Any) -> bool:
    """Whether a value is text that marks a missing cell by default."""
    return isinstance(value, str) and value.strip() in NA_MARKERS


### suspects

#: Words, in lower case, that often stand for no value.
SUSPECT_WORDS = frozenset({
    "-", "--", "---", ".", "..", "...", "*", "?", "n/a", "n.a.", "n.a", "na", "#n/a", "nan", "null", "(null)", "nil",
    "none", "(none)", "missing", "(missing)", "blank", "(blank)", "empty", "unknown", "(unknown)", "unk", "not known",
    "not available", "not applicable", "not recorded", "not reported", "not specified", "unspecified", "undefined",
    "undetermined", "no data", "no answer", "no response", "refused", "tbd", "tba", "#value!", "#ref!", "#div/0!",
    "k.a.", "k. a.", "keine angabe", "n.d.", "n/d",
})  # fmt: skip

#: Numbers from 0 to less than this are a short range, to which −1 may belong.
SHORT = 10

#: Numbers that often stand for no value.
SUSPECT_NUMBERS = (-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999)


def is_suspect(value: Any) -> bool:
    """Whether a value is a word that often stands for no value."""
    return isinstance(value, str) and value.strip().casefold() in SUSPECT_WORDS


def is_suspect_number(value: float, count: int, low: float, high: float) -> bool:
    """Whether a number that often stands for no value is repeated, and far from the others, low … high.

    Far is outside the range by more than half its width, or below a range without negative numbers; but −1 is near to
    a short range from 0 on.
    """
    if value not in SUSPECT_NUMBERS or count < 2 or not low <= high or low <= value <= high:
        return False
    if value < 0 <= low:
        return low > 0 or high >= SHORT or value < -1
    return max(low - value, value - high) > (high - low) / 2


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
    """Labels as an array of their type, of objects if they have several types."""
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
