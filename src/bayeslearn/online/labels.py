"""Labels and their codes: what experts say as small whole numbers, and −1 where they say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import MissingValuesError, ParameterError, UnknownStateError, listed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    Codes = NDArray[np.signedinteger[Any]]


class Labels:
    """The labels there are; when they were not told, new ones are taken in as they come.

    None and NaN are no label, and in whole numbers −1 is none either, once the labels are told and −1 is not among
    them.
    """

    def __init__(self, labels: Iterable[Hashable] | None = None) -> None:
        self.open = labels is None
        self.names: list[Hashable] = [] if labels is None else _different(labels)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def copy(self) -> Labels:
        """The same, to be changed by itself."""
        other = Labels()
        other.open, other.names, other._codes = self.open, list(self.names), dict(self._codes)
        return other

    def rounds(self, advice: NDArray[Any], truth: NDArray[Any]) -> tuple[Codes, Codes]:
        """Advice (rounds × experts) and what was true; new labels count in the order in which rounds tell them."""
        if self.open and len(advice):
            mixed = advice.dtype.kind != truth.dtype.kind
            self.take_in(np.column_stack([a.astype(object) if mixed else a for a in (advice, truth)]))
        codes = self.codes(advice, "an expert says {0!r} in round {1}")
        told = self.codes(truth, "the label of round {1} is {0!r}")
        if (told < 0).any():
            raise MissingValuesError(f"round {int(np.argmax(told < 0))} has no label", hint="leave such rounds out")
        return codes, told

    def codes(self, values: NDArray[Any], sentence: str = "{0!r} in round {1}") -> Codes:
        """The code of each value; the smallest whole numbers that hold them all."""
        kind = np.int8 if len(self) <= np.iinfo(np.int8).max else np.int32
        if values.dtype.kind in "biu" and self._plain:
            if values.size and not (values.min() >= -1 and values.max() < len(self)):
                self._refuse(values, (values < -1) | (values >= len(self)), sentence)
            return np.ascontiguousarray(values, kind)
        different, places = unique(values)
        found: Codes = np.array([self._code(value, values.dtype.kind) for value in different], kind)
        codes: Codes = found[places].reshape(values.shape)
        if (found < -1).any():
            self._refuse(values, codes < -1, sentence)
        return codes

    @property
    def _plain(self) -> bool:
        """Whether labels are their own codes."""
        return bool(self.names) and self.names == list(range(len(self)))

    def _code(self, value: Any, kind: str) -> int:
        if missing(value) or (kind in "iu" and value == -1 and -1 not in self._codes and not self.open):
            return -1
        return self._codes.get(value, -2)

    def take_in(self, values: NDArray[Any]) -> None:
        """New labels, in the order of their cells; only if they were not told."""
        for value in unique(values)[0]:
            if not missing(value) and value not in self._codes:
                self._codes[value] = len(self.names)
                self.names.append(value)

    def _refuse(self, values: NDArray[Any], odd: NDArray[np.bool_], sentence: str) -> None:
        where = tuple(np.argwhere(odd)[0])
        value = values[where].item() if hasattr(values[where], "item") else values[where]
        raise UnknownStateError(
            f"{sentence.format(value, int(where[0]))}, which is no label", hint=f"the labels are {listed(self.names)}"
        )


def unique(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values in the order of their first cells, and which of them each cell has."""
    flat = values.ravel()
    if flat.dtype.kind != "O":
        found, first, places = np.unique(flat, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return found[order].tolist(), rank[places.ravel()]
    seen: dict[Any, int] = {}
    try:
        places = np.array([seen.setdefault(None if missing(v) else v, len(seen)) for v in flat], np.intp)
    except TypeError:
        raise ParameterError("labels must be words, numbers or other things that can be compared") from None
    return list(seen), places


def missing(value: Any) -> bool:
    """None and NaN."""
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _different(labels: Iterable[Hashable]) -> list[Hashable]:
    try:
        names = [label.item() if isinstance(label, np.generic) else label for label in labels]
        same = len(set(names)) < len(names)
    except TypeError:
        raise ParameterError(f"`labels` must be a list of labels, got {labels!r:.80}") from None
    if same or not names or any(missing(name) for name in names):
        raise ParameterError(f"`labels` must be different labels, at least one, got {listed(names)}")
    return names
