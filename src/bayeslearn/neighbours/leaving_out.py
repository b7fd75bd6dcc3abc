"""Leave-one-out: every example is predicted by the others, for all k at once.

The k_max nearest of each example are found once. What the first k of them say is a prefix sum, so that the error of
every k costs one more addition, not one more search:

    S_k = S_{k−1} + c_k v_k [what it says]

Scales and means of the distance are those of all examples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EmptyTableError
from bayeslearn.neighbours import evidence
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.neighbours.model import Neighbours

    Floats = NDArray[np.float64]

#: The largest k that is tried, and how many numbers are held at a time.
MOST_K, ROOM = 50, 1 << 22


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Errors by k: the share of wrong classes, or the root of the mean squared error; and what each example got.

    `losses` are mean log losses of classes, or mean squared errors. `predicted` and `doubts` (loss by example) are
    those of the best k: fewest errors, then the lowest loss, then the smallest.
    """

    k: tuple[int, ...]
    errors: Floats
    losses: Floats
    best: int
    predicted: NDArray[Any]
    doubts: Floats

    @property
    def error(self) -> float:
        """The error of the best k."""
        return float(self.errors[self.k.index(self.best)])

    @property
    def loss(self) -> float:
        """The loss of the best k."""
        return float(self.losses[self.k.index(self.best)])

    def doubtful(self, most: int = 5) -> list[int]:
        """The examples that their neighbours contradict most."""
        return np.argsort(-self.doubts, kind="stable")[:most].tolist()


def leave_one_out(model: Neighbours, *, most: int | None = None, only: int | None = None) -> LeaveOneOut:
    """The errors of k = 1 … `most`, or of `only` one k.

    >>> from bayeslearn.neighbours import Neighbours
    >>> model = Neighbours.of({"x": [1.0, 1.1, 1.2, 5.0, 5.1, 5.2]}, list("aaabbb"))
    >>> found = leave_one_out(model)
    >>> found.best, found.error, found.errors.round(2).tolist()
    (2, 0.0, [0.0, 0.0, 0.0, 0.0, 1.0])
    """
    cases, n = model.cases, len(model.examples)
    left = int(min(cases.sum() - cases.max(), n - 1) if cases.min() < 1 else n - 1)
    if left < 1:
        raise EmptyTableError(f"there are only {n} examples: nobody is left to predict one of them")
    limit = MOST_K if most is None else validation.integer("most", most, least=1)
    ks = range(1, min(limit, left) + 1) if only is None else range(min(only, left), min(only, left) + 1)
    m = min(model.rows_for(ks[-1]), n - 1)
    width = model.target.size if isinstance(model.target, Discrete) else 2
    step = max(ROOM // ((m + 1) * (width + 2)), 1)
    parts = [_block(model, np.arange(a, min(a + step, n)), ks, m) for a in range(0, n, step)]
    wrong, losses, predicted = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    error, loss = (np.average(part, axis=1, weights=cases) for part in (wrong, losses))
    error = error if model.is_classifier else np.sqrt(error)
    at = min(range(len(ks)), key=lambda i: (round(float(error[i]), 12), loss[i], ks[i]))
    return LeaveOneOut(tuple(ks), error, loss, ks[at], predicted[at], losses[at])


def with_best_k(model: Neighbours, *, most: int | None = None) -> tuple[Neighbours, LeaveOneOut]:
    """The model with the k of the least error when each example is left out, and how all k fared."""
    found = leave_one_out(model, most=most)
    return replace(model, k=found.best), found


def _block(model: Neighbours, rows: NDArray[np.int64], ks: range, m: int) -> tuple[Floats, Floats, NDArray[Any]]:
    """Mistakes, losses and predictions of some examples, a line for each k."""
    d, found = model.others(rows, m)
    c, v, said = model.cases[found], evidence.nearness(d, model.weighting), model.said[found]
    upto = np.cumsum(c, axis=1)
    says = said[:, :, None] == np.arange(model.target.size) if isinstance(model.target, Discrete) else said[:, :, None]
    item = np.concatenate([(v * v)[:, :, None], v[:, :, None], v[:, :, None] * says], axis=2)
    prefix = np.concatenate([np.zeros_like(item[:, :1]), np.cumsum(c[:, :, None] * item, axis=1)], axis=1)
    judged = _classes if model.is_classifier else _numbers
    answers = []
    for k in ks:
        last = np.minimum((upto < k * (1 - 1e-12)).sum(axis=1), d.shape[1] - 1)[
            :, None, None
        ]  # the one that completes k
        whole = np.take_along_axis(prefix, last, axis=1)[:, 0]
        part = np.take_along_axis(c, last[:, 0], axis=1) - np.maximum(
            np.take_along_axis(upto, last[:, 0], axis=1) - k, 0
        )
        sums = whole + part * np.take_along_axis(item, last, axis=1)[:, 0]
        answers.append(judged(model, sums, said, model.said[rows]))
    wrong, losses, predicted = (np.array(part) for part in zip(*answers, strict=True))
    return wrong, losses, predicted


def _classes(model: Neighbours, sums: Floats, said: Any, truth: Any) -> tuple[Any, Floats, Any]:
    worth = evidence.worth(sums[:, 1], sums[:, 0])
    α = model.prior_of().alpha + sums[:, 2:] * worth[:, None]
    predicted = evidence.elected(α, said)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = -np.log(α[np.arange(len(α)), truth] / α.sum(axis=1))
    return (predicted != truth).astype(float), losses, predicted


def _numbers(_: Neighbours, sums: Floats, __: Any, truth: Floats) -> tuple[Any, Floats, Any]:
    predicted = sums[:, 2] / sums[:, 1]
    square = (predicted - truth) ** 2
    return square, square, predicted
