"""Live data: what is believed of the present state, one observation at a time.

P(s_t | x_1 … x_t) ∝ b_{s_t}(x_t) Σ_i P(s_{t−1} = i | x_1 … x_{t−1}) A(i, s_t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ImpossibleDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hmm.model import HiddenMarkovModel


class Filter:
    """Beliefs that follow a stream; a missing observation (None) only lets time pass.

    >>> from bayeslearn.hmm import HiddenMarkovModel, PoissonEmissions
    >>> calls = PoissonEmissions("calls", [2, 9])
    >>> live = HiddenMarkovModel(("quiet", "busy"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], calls).filter()
    >>> round(live.update(8)["busy"], 4)
    0.9935
    >>> round(live.ahead()["busy"], 4)
    0.7955
    """

    def __init__(self, model: HiddenMarkovModel) -> None:
        self.model = model
        self.reset()

    def reset(self) -> None:
        """A new sequence begins."""
        self.steps = 0
        #: ln P of all that was seen since.
        self.log_likelihood = 0.0
        self._now: NDArray[np.float64] | None = None

    @property
    def beliefs(self) -> dict[Any, float]:
        """P(present state | all so far); of the first state before anything was seen."""
        return self._named(self.model.start if self._now is None else self._now)

    def update(self, x: Any) -> dict[Any, float]:
        """One more observation: a symbol, a number or a row of numbers; None when it is missing."""
        model = self.model
        before = self._expected()
        columns = len(model.emissions.names)
        blank = None if columns == 1 else [np.nan] * columns
        logs = model.emissions.log_prob(model.emissions.cells([blank if x is None else x]))[0]
        top = logs[before > 0].max()
        now = before * np.exp(np.minimum(logs - top, 0.0)) if np.isfinite(top) else np.zeros(len(before))
        total = float(now.sum())
        if total <= 0:
            raise ImpossibleDataError(
                f"observation {x!r} at position {self.steps} is impossible: no state that can be there explains it",
                hint="give a prior when learning, or pass None for an observation to be ignored",
                position=self.steps,
            )
        self._now = now / total
        self.log_likelihood += float(top) + float(np.log(total))
        self.steps += 1
        return self.beliefs

    def ahead(self, steps: int = 1) -> dict[Any, float]:
        """P(state after so many more steps | all so far)."""
        expected = self._expected() if self._now is None else self._now
        for _ in range(steps - (self._now is None)):
            expected = expected @ self.model.transitions
        return self._named(expected)

    def _expected(self) -> NDArray[np.float64]:
        return np.array(self.model.start) if self._now is None else self._now @ self.model.transitions

    def _named(self, p: NDArray[np.float64]) -> dict[Any, float]:
        return {state: float(value) for state, value in zip(self.model.states, p, strict=True)}
