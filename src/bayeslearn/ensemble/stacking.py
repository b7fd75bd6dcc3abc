"""What every member predicts for training rows that it was not fitted to: the evidence that weights members.

The folds are the same for all members. The rows of a class are dealt to the folds in turn; a class of one row is never
held out. Tables of many rows are held out in part: the members learn from nearly all rows, and predict a sample.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation
from bayeslearn.progress import should_stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.ensemble.members import Member
    from bayeslearn.progress import Reporter

    Floats = NDArray[np.float64]
    Rows = NDArray[np.intp]

#: The number of folds, and the number of rows from which there are fewer.
N_FOLDS, FEW_FOLDS, MANY_ROWS = 5, 3, 20_000

#: More rows than these are held out in part.
MAX_HELD_OUT = 60_000

#: Members whose predictions differ by less than this everywhere are the same.
SAME = 1e-9


@dataclass(frozen=True)
class MemberScore:
    """The out-of-fold predictions of a member in numbers, its weight, and the seconds that it took.

    Of classes `score` is the accuracy, of numbers R²; `loss` is the mean of −ln p(target).
    """

    name: str
    weight: float
    score: float
    loss: float
    seconds: float


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The predictions of members for held-out rows: (rows, members, values)."""

    members: tuple[Member, ...]
    rows: Rows
    predictions: Floats
    seconds: tuple[float, ...]
    notes: tuple[str, ...]
    stopped: bool


def inner_folds(codes: Rows, n_folds: int | None, seed: int) -> Rows:
    """The fold of each row; −1 for rows that are never held out."""
    labels, of_row, counts = np.unique(codes, return_inverse=True, return_counts=True)
    alone = counts[of_row] == 1 if len(labels) > 1 else np.zeros(len(codes), dtype=bool)
    known = np.flatnonzero(~alone)
    k = n_folds or (N_FOLDS if len(codes) < MANY_ROWS else FEW_FOLDS)
    k = min(k, len(known))
    fold = np.full(len(codes), -1, dtype=np.intp)
    if k < 2:
        return fold
    rng = np.random.default_rng(seed)
    fold[known] = evaluation.dealt(codes[known], k, rng.permutation(len(known)))
    if len(known) > MAX_HELD_OUT:
        share = rng.permutation(len(known))[MAX_HELD_OUT:]
        fold[known[share]] = -1
    return fold


def out_of_fold(
    members: Sequence[Member],
    fold: Rows,
    n_values: int,
    answer: Callable[[Member, Rows, Rows], Floats],
    *,
    time_limit: float | None,
    progress: Reporter | None,
) -> OutOfFold:
    """What each member answers for the held-out rows; members that raise, repeat another or have no time are left out.

    `answer` is called with a member, the rows to fit it to and the rows to predict.
    """
    held_out = np.flatnonzero(fold >= 0)
    began, n_folds = time.perf_counter(), int(fold.max()) + 1
    kept: list[Member] = []
    found: list[Floats] = []
    seconds: list[float] = []
    notes: list[str] = []
    stopped = False
    for i, member in enumerate(members):
        if stopped or (time_limit is not None and kept and time.perf_counter() - began > time_limit):
            notes.append(f"{member.name}: left out, there was no time")
            continue
        start = time.perf_counter()
        values = np.zeros((len(fold), n_values))
        try:
            for j, (train, test) in enumerate(evaluation.each_fold(fold)):
                stopped = stopped or should_stop(
                    progress, (i + j / n_folds) / len(members), f"{member.name}, fold {j + 1} of {n_folds}"
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of columns that are dropped in a fold
                    values[test] = answer(member, train, test)
        except Exception as error:  # noqa: BLE001 - the other members predict without this one
            notes.append(f"{member.name}: left out, {reason(error)}")
            continue
        values = values[held_out]
        if not np.isfinite(values).all():
            notes.append(f"{member.name}: left out, its predictions are not finite")
            continue
        same = [other.name for other, theirs in zip(kept, found, strict=True) if np.abs(theirs - values).max() < SAME]
        if same:
            notes.append(f"{member.name}: left out, the same as {same[0]}")
            continue
        kept.append(member)
        found.append(values)
        seconds.append(time.perf_counter() - start)
    stack = np.stack(found, axis=1) if found else np.empty((len(held_out), 0, n_values))
    return OutOfFold(tuple(kept), held_out, stack, tuple(seconds), tuple(notes), stopped)


def reason(error: Exception) -> str:
    """The reason of a failure, in one line."""
    words = str(getattr(error, "message", error)).strip().partition("\n")[0]
    own = type(error).__module__ == "bayeslearn.errors"
    return words if own else f"{type(error).__name__}: {words}".removesuffix(": ")


def seed_of(random_state: Any) -> int:
    """A seed for the folds and for stochastic members."""
    from bayeslearn import validation  # noqa: PLC0415 - one function needs it

    return int(validation.generator(0 if random_state is None else random_state).integers(1 << 31))
