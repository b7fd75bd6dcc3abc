"""Which attributes count, and how much: weights that lower the leave-one-out loss, and attributes that can go.

    d² = Σ_a w_a δ_a²        w_a = 0 removes an attribute

One weight is changed at a time, to the value of a short list with the lowest loss, round after round until none gains.
The loss is the mean log loss of classes, or the mean squared error of numbers, at the best k; no change may add errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.neighbours.leaving_out import LeaveOneOut, leave_one_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bayeslearn.neighbours.model import Neighbours

#: The weights that are tried, and those that only keep an attribute or remove it.
WEIGHTS, REMOVAL = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1.0)

#: By how much of itself the loss must fall for a change, and rounds at most.
LEAST_GAIN, MOST_ROUNDS = 0.005, 10

#: Examples that are left out one by one; of more, these evenly spaced ones decide.
MOST_ROWS = 3000


@dataclass(frozen=True, eq=False)
class Attributes:
    """The model with its new weights, how it fared before and after, and the changes: (column, weight, loss)."""

    model: Neighbours
    before: LeaveOneOut
    after: LeaveOneOut
    steps: tuple[tuple[str, float, float], ...]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every attribute."""
        return self.model.distance.attribute_weights

    @property
    def removed(self) -> list[str]:
        """The attributes that can go."""
        return [name for name, w in self.weights.items() if w == 0]


def choose_attributes(
    model: Neighbours,
    *,
    among: Iterable[float] = WEIGHTS,
    choose_k: bool = True,
    most: int | None = None,
    progress: Callable[[int, str, float], object] | None = None,
) -> Attributes:
    """Weights of attributes by leave-one-out; ``among=REMOVAL`` only removes. k is chosen with them, if not told else.

    >>> from bayeslearn.neighbours import Neighbours
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=200), rng.normal(size=200)
    >>> found = choose_attributes(Neighbours.of({"x": x, "noise": noise}, np.where(x > 0, "+", "-")))
    >>> found.removed, found.after.error < found.before.error
    (['noise'], True)
    """
    values = validation.not_negative("among", validation.float_array("among", [*among])).tolist()
    some = sampled(model)
    only = None if choose_k else model.k

    def judged(candidate: Neighbours) -> LeaveOneOut:
        return leave_one_out(candidate, most=most, only=only)

    now, best = some, judged(some)
    steps: list[tuple[str, float, float]] = []
    for number in range(MOST_ROUNDS):
        made = len(steps)
        for name in now.examples.schema.names:
            tried = [(w, each, judged(each)) for w, each in changed(now, name, values)]
            better = [(w, each, loo) for w, each, loo in tried if gains(loo, best)]
            if better:
                w, now, best = min(better, key=lambda found: found[2].loss)
                steps.append((name, w, best.loss))
            if progress is not None:
                progress(number, name, best.loss)
        if len(steps) == made:
            break
    chosen = model.weighted(now.distance.attribute_weights)
    before, after = judged(model), judged(chosen)
    return Attributes(replace(chosen, k=after.best) if choose_k else chosen, before, after, tuple(steps))


def gains(new: LeaveOneOut, old: LeaveOneOut) -> bool:
    """Whether the loss falls by enough, and the error does not rise."""
    return new.loss < old.loss * (1 - LEAST_GAIN) and new.error <= old.error + 1e-12


def changed(model: Neighbours, name: str, values: list[float]) -> list[tuple[float, Neighbours]]:
    """The model with other weights of one attribute; the last one left cannot go."""
    told = model.distance.attribute_weights
    alone = sum(w > 0 for w in told.values()) == 1 and told[name] > 0
    return [(w, model.weighted({name: w})) for w in values if w != told[name] and not (w == 0 and alone)]


def sampled(model: Neighbours) -> Neighbours:
    """So many examples as can be left out one by one many times, with the distance of all."""
    n = len(model.examples)
    if n <= MOST_ROWS:
        return model
    rows = np.linspace(0, n - 1, MOST_ROWS).astype(np.int64)
    return replace(model, examples=model.examples.take(rows), said=model.said[rows])
