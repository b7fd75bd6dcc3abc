"""Filtering: the distribution of the present state, one observation at a time.

P(s_t | x_1 … x_t) ∝ b_{s_t}(x_t) Σ_i P(s_{t−1} = i | x_1 … x_{t−1}) A(i, s_t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ImpossibleDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hmm.model import HiddenMarkovModel


class Filter:
    """The distribution of the present state of a sequence that grows; None is a missing observation.

    Attributes
    ----------
    n_steps
        The number of observations so far.
    log_likelihood
        ln P of the observations so far.

    Examples
    --------
    >>> from bayeslearn.hmm import HiddenMarkovModel, PoissonEmissions
    >>> calls = PoissonEmissions("calls", [2, 9])
    >>> live = HiddenMarkovModel(("quiet", "busy"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], calls).filter()
    >>> round(live.update(8)["busy"], 4)
    0.9935
    >>> round(live.predict()["busy"], 4)
    0.7955
    """

    def __init__(self, model: HiddenMarkovModel) -> None:
        self.model = model
        self.reset()

    def reset(self) -> None:
        """Begin a new sequence."""
        self.n_steps = 0
        self.log_likelihood = 0.0
        self._now: NDArray[np.float64] | None = None

    @property
    def posterior(self) -> dict[Any, float]:
        """P(present state | observations so far); before the first observation, of the first state."""
        return self._named(self.model.startprob if self._now is None else self._now)

    def update(self, x: Any) -> dict[Any, float]:
        """Add an observation and return the posterior: a symbol, a number or a row of numbers; None if missing."""
        model = self.model
        before = self._expected()
        columns = len(model.feature_names)
        blank = None if columns == 1 else [np.nan] * columns
        logs = model.emissions.log_prob(model.emissions.cells([blank if x is None else x]))[0]
        top = logs[before > 0].max()
        now = before * np.exp(np.minimum(logs - top, 0.0)) if np.isfinite(top) else np.zeros(len(before))
        total = float(now.sum())
        if total <= 0:
            raise ImpossibleDataError(
                f"observation {x!r} at position {self.n_steps} is impossible: no possible state explains it",
                hint="fit with a prior, or pass None to ignore an observation",
                position=self.n_steps,
            )
        self._now = now / total
        self.log_likelihood += float(top) + float(np.log(total))
        self.n_steps += 1
        return self.posterior

    def predict(self, n_steps: int = 1) -> dict[Any, float]:
        """Return P(state after `n_steps` more steps | observations so far)."""
        validation.integer("n_steps", n_steps, min_value=0)
        expected = self._expected() if self._now is None else self._now
        for _ in range(n_steps - (self._now is None)):
            expected = expected @ self.model.transmat
        return self._named(expected)

    def _expected(self) -> NDArray[np.float64]:
        return np.array(self.model.startprob) if self._now is None else self._now @ self.model.transmat

    def _named(self, p: NDArray[np.float64]) -> dict[Any, float]:
        return {state: float(value) for state, value in zip(self.model.states, p, strict=True)}
