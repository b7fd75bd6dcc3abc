"""Weighted-Majority, in which each mistake of an expert costs a factor β, and Halving, its case β = 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.online.base import _Learner
from bayeslearn.online.mistakes import least_bound

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class WeightedMajority(_Learner):
    """Weighted-Majority: a vote of experts whose weights fall with their mistakes.

    Parameters
    ----------
    experts
        A number or names: x is then a row of advice. Or functions, classifiers, a matrix of experts by points, a class
        of concepts, a finite space or a version space, whose hypotheses predict the label of x.
    beta
        The factor of the weight of an expert for each mistake, 0.5 by default.
    classes
        All labels; by default those that occur. Ties go to the first.
    prior
        Weights before the first round, in order or by name; ``"uniform"`` by default.
    randomized
        Whether predictions are drawn by the weights.
    teach
        Whether experts with `learn_one` or `partial_fit` learn each round after they predict it.
    random_state
        Seed or generator of the random predictions.

    Experts that predict None or NaN abstain and keep their weight. With given classes other than −1, so does −1.

    Examples
    --------
    >>> learner = WeightedMajority(["ann", "bob", "eve"], classes=["rain", "sun"])
    >>> for advice, label in [(["rain", "sun", "sun"], "rain"), (["rain", "sun", "rain"], "rain")]:
    ...     guess = learner.predict_one(advice)
    ...     learner = learner.learn_one(advice, label)
    >>> learner
    WeightedMajority(3 experts, 1 mistake in 2 rounds)
    >>> {name: round(w, 3) for name, w in learner.weights.items()}
    {'ann': 0.571, 'bob': 0.143, 'eve': 0.286}
    >>> learner.best, learner.regret, round(learner.bound, 2)
    ('ann', 1, 3.82)

    Learners over the same experts add:

    >>> (learner + learner).statistics.wrong
    array([0., 4., 2.])
    """

    def __init__(
        self,
        experts: Any,
        *,
        beta: float = 0.5,
        classes: Iterable[Hashable] | None = None,
        prior: Any = "uniform",
        randomized: bool = False,
        teach: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(experts, validation.number("beta", beta, above=0, below=1), classes, prior, teach=teach)
        self._rng = validation.generator(random_state)
        self._draws = randomized

    @property
    def randomized(self) -> bool:
        """Whether predictions are drawn by the weights."""
        return self._draws

    @property
    def expected_mistakes(self) -> float:
        """The expected number of mistakes of predictions drawn by the weights; computed exactly."""
        return self.record.expected

    @property
    def expected_bound(self) -> float:
        """The upper bound on :attr:`expected_mistakes`, by the mistakes of the experts."""
        return least_bound(
            self.statistics.wrong, self.prior.log_p, beta=self.beta, randomized=True, starts=self.record.starts,
            voting_share=self.record.voting_share,
        )  # fmt: skip


class Halving(_Learner):
    """Halving: the majority vote of the hypotheses consistent with every round; at most log₂|H| mistakes.

    The target must be among the hypotheses, or an :class:`~bayeslearn.errors.InconsistentDataError` is raised.
    Hypotheses are given as the experts of :class:`WeightedMajority`, of which this is the case β = 0.

    Examples
    --------
    >>> learner = Halving([lambda x, a=a: x >= a for a in range(1, 9)])  # where do numbers get large?
    >>> for x in [4, 6, 5, 7]:
    ...     learner = learner.learn_one(x, x >= 6)
    >>> learner.mistakes, learner.bound, learner.size
    (2, 3.0, 1)
    >>> learner.predict_one(5), learner.predict_one(6)
    (False, True)
    """

    def __init__(self, experts: Any, *, classes: Iterable[Hashable] | None = None, prior: Any = "uniform") -> None:
        super().__init__(experts, 0.0, classes, prior)

    @property
    def consistent(self) -> tuple[Any, ...]:
        """The names of the hypotheses without a mistake."""
        return tuple(name for name, wrong in zip(self.experts, self.statistics.wrong, strict=True) if not wrong)

    @property
    def size(self) -> int:
        """The number of hypotheses without a mistake."""
        return int(np.count_nonzero(self.statistics.wrong == 0))
