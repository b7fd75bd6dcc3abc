"""Weighted-Majority: nobody is cast out for a mistake, but each costs a factor β."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.online.bounds import least_bound
from bayeslearn.online.learners import _Learner

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class WeightedMajority(_Learner):
    """The vote of experts by weights that fall with their mistakes; as good as the best of them, nearly.

    Parameters
    ----------
    experts
        A number or names: x is then a row of advice. Or functions, classifiers, a matrix of experts by points, a class
        of concepts, a finite space or a version space, whose hypotheses are asked about x.
    beta
        What a mistake costs: the weight is multiplied by it.
    labels
        All labels; when not given, they are learned as they come. Ties go to the first.
    prior
        Weights before the first round, in order or by name; all alike when not given.
    randomised
        Guess a label drawn by its weight, which no adversary can foresee.
    teach
        Experts with `learn_one` or `partial_fit` are told each round after they advised.
    rng
        Of the draws.

    None and NaN are no advice: such an expert keeps its weight. With told labels other than −1, −1 is none either.

    Examples
    --------
    >>> learner = WeightedMajority(["ann", "bob", "eve"], labels=["rain", "sun"])
    >>> for said, came in [(["rain", "sun", "sun"], "rain"), (["rain", "sun", "rain"], "rain")]:
    ...     guess = learner.predict_one(said)
    ...     learner = learner.learn_one(said, came)
    >>> learner
    WeightedMajority(3 experts, 1 mistake in 2 rounds)
    >>> {name: round(w, 3) for name, w in learner.weights.items()}
    {'ann': 0.571, 'bob': 0.143, 'eve': 0.286}
    >>> learner.best, learner.regret, round(learner.bound, 2)
    ('ann', 1, 3.82)

    Learners over the same experts add, for mistakes do:

    >>> (learner + learner).statistics.wrong
    array([0., 4., 2.])
    """

    def __init__(
        self,
        experts: Any,
        *,
        beta: float = 0.5,
        labels: Iterable[Hashable] | None = None,
        prior: Any = None,
        randomised: bool = False,
        teach: bool = False,
        rng: Any = None,
    ) -> None:
        super().__init__(experts, validation.number("beta", beta, above=0, below=1), labels, prior, teach=teach)
        self._rng = validation.generator(rng)
        self._draws = randomised

    @property
    def randomised(self) -> bool:
        """Whether guesses are drawn."""
        return self._draws

    @property
    def expected_mistakes(self) -> float:
        """The mistakes of guesses drawn by weight, on average over the draws; worked out, not sampled."""
        return self.record.expected

    @property
    def expected_bound(self) -> float:
        """The most that :attr:`expected_mistakes` can be, by the mistakes of the experts."""
        return least_bound(
            self.statistics.wrong, self.prior.log_p, beta=self.beta, randomised=True, starts=self.record.starts,
            spoken=self.record.spoken,
        )  # fmt: skip
