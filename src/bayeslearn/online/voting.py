"""Labels as codes (−1 where an expert gives none), and votes by weight, many rounds at a time.

    w_i = 2^(log₂ p_i + wrong_i log₂ β − the largest)        votes[t, c] = Σ_i w_i [i predicts c in round t]

Weights are computed again from the counts of mistakes before they could underflow, however many rounds there are.
Experts are taken in blocks, always the same, whose votes add: sums do not depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import MissingValuesError, ParameterError, ShapeError, UnknownStateError, listed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    Codes = NDArray[np.signedinteger[Any]]
    Floats = NDArray[np.float64]

### labels


class Labels:
    """The labels; unless they are given, new ones are added as they come.

    None and NaN are no label; neither is −1 in whole numbers, if the labels are given and −1 is not among them.
    """

    def __init__(self, labels: Iterable[Hashable] | None = None) -> None:
        self.open = labels is None
        self.names: list[Hashable] = [] if labels is None else _different(labels)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def copy(self) -> Labels:
        """An independent copy."""
        other = Labels()
        other.open, other.names, other._codes = self.open, list(self.names), dict(self._codes)
        return other

    def rounds(self, advice: NDArray[Any], truth: NDArray[Any]) -> tuple[Codes, Codes]:
        """Codes of advice (rounds × experts) and of labels; new labels are numbered in the order of the rounds."""
        if truth.ndim != 1:
            raise ShapeError(f"expected a label for each round, got shape {truth.shape}")
        if self.open and len(advice):
            mixed = advice.dtype.kind != truth.dtype.kind
            self.take_in(np.column_stack([a.astype(object) if mixed else a for a in (advice, truth)]))
        codes = self.codes(advice, "an expert predicts {0!r} in round {1}")
        true = self.codes(truth, "the label of round {1} is {0!r}")
        if (true < 0).any():
            raise MissingValuesError(f"round {int(np.argmax(true < 0))} has no label", hint="drop such rounds")
        return codes, true

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
        """Add new labels, in the order of their cells."""
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
        raise ParameterError("labels must be text, numbers or other hashable values") from None
    return list(seen), places


def missing(value: Any) -> bool:
    """None and NaN."""
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _different(labels: Iterable[Hashable]) -> list[Hashable]:
    try:
        names = [label.item() if isinstance(label, np.generic) else label for label in labels]
        same = len(set(names)) < len(names)
    except TypeError:
        raise ParameterError(f"`classes` must be a list of labels, got {labels!r:.80}") from None
    if same or not names or any(missing(name) for name in names):
        raise ParameterError(f"`classes` must be different labels, at least one, got {listed(names)}")
    return names


### votes


#: Votes this near are tied, and the first label wins: sums of many weights are no better.
TIE = 1e-11

#: Experts of a block, and cells from which on it is worth to use threads.
BLOCK, MANY = 256, 1 << 22

#: Bits that the heaviest expert may lose, and rounds there may be, before weights are taken anew.
ROOM, ROUNDS = 900, 1024


class Votes(NamedTuple):
    """The weight for each label in each round, and that of experts who abstain; relative within a round."""

    labels: Floats
    silent: Floats

    @classmethod
    def of(cls, counted: Floats, n_labels: int) -> Votes:
        """From columns of the labels, and of abstentions if there are any."""
        return cls(counted[:, :n_labels], counted[:, max(n_labels, 2) :].sum(axis=1))

    @property
    def shares(self) -> Floats:
        """The share of the voting weight for each label; zeros where no expert votes."""
        total = self.labels.sum(axis=1, keepdims=True)
        return np.divide(self.labels, total, out=np.zeros_like(self.labels), where=total > 0)

    @property
    def voting_share(self) -> Floats:
        """The share of the weight that votes."""
        voting = self.labels.sum(axis=1)
        whole = voting + self.silent
        return np.divide(voting, whole, out=np.zeros(len(whole)), where=whole > 0)

    def guesses(self) -> NDArray[np.intp]:
        """The label of most weight, the first of those that tie; −1 where no expert votes."""
        most = self.labels.max(axis=1, initial=0.0)
        first = np.argmax(self.labels >= most[:, None] * (1 - TIE), axis=1) if self.labels.shape[1] else 0
        return np.where(most > 0, first, -1)

    def draws(self, u: Floats) -> NDArray[np.intp]:
        """A label drawn by its weight for each of the numbers between 0 and 1; −1 where no expert votes."""
        reached = np.cumsum(self.shares, axis=1)
        drawn = (reached <= u[:, None]).sum(axis=1)
        last = reached.shape[1] - 1 - np.argmax(self.labels[:, ::-1] > 0, axis=1) if reached.shape[1] else 0
        return np.where(self.labels.sum(axis=1) > 0, np.minimum(drawn, last), -1)


def relative_weights(log2_prior: Floats, wrong: NDArray[np.int64], beta: float) -> Floats:
    """The weights, the largest of them 1; powers of two are exact."""
    paid = wrong * math.log2(beta) if beta else np.where(wrong > 0, -np.inf, 0.0)
    bits = log2_prior + paid
    most = bits.max()
    if not math.isfinite(most):
        return np.zeros(len(bits))
    bits = np.maximum(bits - most, -1100.0)
    whole = np.floor(bits)
    return np.ldexp(np.exp2(bits - whole), whole.astype(np.int32))


def tally(
    advice: Codes, truth: Codes, n_labels: int, log2_prior: Floats, wrong: NDArray[np.int64], beta: float
) -> Votes:
    """The votes of each round before its label is known; mistakes are added to `wrong` as they are made."""
    labels, votes = counters(advice, n_labels)
    step = min(max(1, int(ROOM / -math.log2(beta))), ROUNDS) if beta else ROUNDS
    for start in range(0, len(advice), step):
        part = slice(start, start + step)
        weights = relative_weights(log2_prior, wrong, beta)
        add_votes(advice[part], truth[part], labels, beta, weights, wrong, votes[part])
    return Votes.of(votes, n_labels)


def poll(advice: Codes, n_labels: int, weights: Floats) -> Votes:
    """The votes on some rows; the weights stay."""
    labels, votes = counters(advice, n_labels)
    nothing = np.zeros(len(advice), advice.dtype)
    add_votes(advice, nothing, labels, 1.0, weights.copy(), np.zeros(len(weights), np.int64), votes)
    return Votes.of(votes, n_labels)


def counters(advice: Codes, n_labels: int) -> tuple[Codes, Floats]:
    """The codes of the labels, two at least, and −1 last if an expert is silent; and a zero for each in each round."""
    silent = advice.size > 0 and int(advice.min()) < 0
    labels = np.append(np.arange(max(n_labels, 2)), [-1] * silent).astype(advice.dtype)
    return labels, np.zeros((len(advice), len(labels)))


def add_votes(
    advice: Codes, truth: Codes, labels: Codes, beta: float, weights: Floats, wrong: NDArray[np.int64], votes: Floats
) -> None:
    """The votes of all blocks of experts."""
    n = advice.shape[1]

    def block(first: int) -> Floats:
        into = np.zeros_like(votes)
        kernels.weigh_advice(advice, truth, labels, first, min(first + BLOCK, n), beta, weights, wrong, into)
        return into

    for part in kernels.parallel(block, range(0, n, BLOCK), worth=advice.size > MANY):
        votes += part
