"""What must agree: two learners that add, and some hypothesis with every round of Halving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import InconsistentDataError, MismatchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.online.learners import _Learner


def require_same(one: _Learner, other: _Learner) -> None:
    """Both ask the same experts, begin with the same weights and charge the same."""
    pairs = {
        "kinds": (type(one), type(other)),
        "experts": (one.experts, other.experts),
        "beta": (one.beta, other.beta),
        "prior": (one.prior.log_p.tolist(), other.prior.log_p.tolist()),
        "labels": (None, None) if one.open or other.open else (one.labels, other.labels),
    }
    differs = [what for what, (mine, theirs) in pairs.items() if mine != theirs]
    if differs or one.teach or other.teach:
        why = f"their {differs[0]} differ" if differs else "their experts learned different things"
        raise MismatchError(f"two learners add over the same experts, but {why}", differs=differs[:1])


def require_left(learner: _Learner, wrong: NDArray[Any], advice: NDArray[Any] | None = None, truth: Any = None) -> None:
    """Some expert was never wrong, else the round is named at which the last fell."""
    alive = np.isfinite(learner.prior.log_p)
    if (wrong[alive] == 0).any():
        return
    where = ""
    if advice is not None:
        fell = (advice >= 0) & (advice != truth[:, None])
        gone = (np.logical_or.accumulate(fell, axis=0) | (learner.statistics.wrong > 0))[:, alive].all(axis=1)
        where = f": the last fell in round {learner.rounds + int(np.argmax(gone))}"
    raise InconsistentDataError(
        f"none of {len(wrong)} hypotheses agrees with every round{where}",
        hint="the truth is not among them, or a label is wrong; WeightedMajority bears with mistakes",
    )
