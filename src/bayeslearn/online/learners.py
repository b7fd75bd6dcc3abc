"""Experts advise, the learner votes by their weights, the label is told, and those who were wrong weigh less.

    statistics: mistakes of each expert        prior: weights before the first round        w_i ∝ p_i β^wrong_i

Halving is the case β = 0: one mistake and an expert is out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeslearn.errors import ShapeError
from bayeslearn.families import Finite
from bayeslearn.online.agreeing import require_left, require_same
from bayeslearn.online.bounds import least_bound
from bayeslearn.online.labels import Labels
from bayeslearn.online.panels import Predictors, objects, panel_of, prior_of
from bayeslearn.online.statistics import Mistakes, Record, counted
from bayeslearn.online.voting import Votes, poll, relative_weights, tally

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class _Learner:
    """What Weighted-Majority and Halving share."""

    def __init__(
        self, experts: Any, beta: float, labels: Iterable[Hashable] | None, prior: Any, *, teach: bool = False
    ) -> None:
        self.panel = panel_of(experts)
        self.beta = beta
        self.prior = prior_of(prior, self.panel.names)
        self.teach = teach
        if teach and isinstance(self.panel, Predictors):
            self.panel.learn = True
        self.statistics = Mistakes.none(len(self.panel.names))
        self.record = Record()
        self._labels = Labels(labels)
        self._rng = np.random.default_rng(0)
        self._draws = False

    # -- one at a time

    def predict_one(self, x: Any) -> Any:
        """What the vote says of x; None when nobody speaks."""
        return self.predict(self._one(x))[0]

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The share of the weight that speaks for each label."""
        votes, labels = self._asked(self._one(x))
        return dict(zip(labels.names, votes.shares[0].tolist(), strict=True))

    def learn_one(self, x: Any, y: Any) -> Self:
        """One round: the vote is taken and counted, then y is told."""
        self._learn(self._one(x), objects([y]))
        if self.teach:
            self.panel.teach(x, y, list(self._labels.names))
        return self

    # -- many at a time, in order

    def predict(self, xs: Any) -> NDArray[Any]:
        """What the vote says of each x."""
        votes, labels = self._asked(xs)
        return objects([*labels.names, None])[self._guesses(votes)]

    def guess_codes(self, xs: Any) -> NDArray[np.intp]:
        """The same as positions in :attr:`labels`, −1 where nobody speaks."""
        return self._guesses(self._asked(xs)[0])

    def predict_proba(self, xs: Any) -> Floats:
        """The share of the weight that speaks for each label, a column each."""
        return self._asked(xs)[0].shares

    def partial_fit(self, xs: Any, ys: Any, classes: Iterable[Hashable] | None = None) -> Self:
        """Many rounds, as if one after the other; `classes` are the labels, if they were not told before."""
        if classes is not None and self._labels.open and not len(self._labels):
            self._labels = Labels(classes)
        if len(xs) != len(ys):
            raise ShapeError(f"expected a label for each of {len(xs)} rounds, got {len(ys)}")
        if self.teach:
            for x, y in zip(xs, ys, strict=True):
                self.learn_one(x, y)
            return self
        self._learn(xs, ys if isinstance(ys, np.ndarray) else objects(list(ys)))
        return self

    # -- what was learned

    @property
    def experts(self) -> tuple[Any, ...]:
        """The names of the experts."""
        return self.panel.names

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels so far."""
        return tuple(self._labels.names)

    @property
    def open(self) -> bool:
        """Whether new labels are taken in as they come."""
        return self._labels.open

    @property
    def log_weights(self) -> Floats:
        """ln of the weights, which sum to one: no number of rounds is too many."""
        wrong = self.statistics.wrong
        paid = wrong * math.log(self.beta) if self.beta else np.where(wrong > 0, -np.inf, 0.0)
        return Finite(self.prior.log_p + paid).log_p

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by expert; they sum to one."""
        return dict(zip(self.experts, np.exp(self.log_weights).tolist(), strict=True))

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return int(self.statistics.rounds)

    @property
    def mistakes(self) -> int:
        """How often the learner was wrong, or had nothing to say."""
        return self.record.mistakes

    @property
    def best(self) -> Any:
        """The expert with the fewest mistakes, the first of them."""
        return self.experts[int(np.argmin(self.statistics.wrong))]

    @property
    def best_mistakes(self) -> int:
        """How many it made."""
        return int(self.statistics.wrong.min())

    @property
    def regret(self) -> float:
        """Mistakes more than those of the best expert."""
        return self.mistakes - self.best_mistakes

    @property
    def bound(self) -> float:
        """The most mistakes that there can be, by those of the experts; see :mod:`bayeslearn.online.bounds`."""
        return least_bound(
            self.statistics.wrong, self.prior.log_p, beta=self.beta, starts=self.record.starts,
            spoken=self.record.spoken_if_wrong,
        )  # fmt: skip

    # -- evidence adds

    def __add__(self, other: Self) -> Self:
        """A learner with the rounds of both: mistakes of experts add, and the weights follow."""
        require_same(self, other)
        merged = self._fresh()
        if merged._labels.open:
            merged._labels.take_in(objects(list(other.labels)))
        merged.statistics = self.statistics + other.statistics
        merged.record = self.record + other.record
        if not self.beta:
            require_left(self, merged.statistics.wrong)
        return merged

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned to a .json or .json.gz file, all or nothing; of the experts only their names."""
        from bayeslearn.online.model_files import write  # noqa: PLC0415 - only here

        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], experts: Any = None) -> Self:
        """The learner of a file, checked in full; without `experts`, their advice comes as x."""
        from bayeslearn.online.model_files import read  # noqa: PLC0415 - only here

        return read(path, cls, experts)

    def __repr__(self) -> str:
        n, mistakes, rounds = len(self.experts), counted(self.mistakes, "mistake"), counted(self.rounds, "round")
        return f"{type(self).__name__}({counted(n, 'expert')}, {mistakes} in {rounds})"

    # -- inside

    def _fresh(self) -> Self:
        copy: Self = object.__new__(type(self))
        copy.__dict__ |= self.__dict__ | {"_labels": self._labels.copy()}
        return copy

    @staticmethod
    def _one(x: Any) -> Any:
        return x[None] if isinstance(x, np.ndarray) else [x]

    def _asked(self, xs: Any) -> tuple[Votes, Labels]:
        """The votes on some x, and the labels, with those that only come up in them."""
        labels, said = self._labels.copy(), self.panel.say(xs)
        if labels.open:
            labels.take_in(said)
        codes = labels.codes(said, "an expert says {0!r} in round {1}")
        return poll(codes, len(labels), relative_weights(self._log2_prior, self._wrong, self.beta)), labels

    @property
    def _log2_prior(self) -> Floats:
        return self.prior.log_p / math.log(2)

    @property
    def _wrong(self) -> NDArray[np.int64]:
        return self.statistics.wrong.astype(np.int64)

    def _learn(self, xs: Any, ys: NDArray[Any]) -> None:
        labels = self._labels.copy()
        advice, truth = labels.rounds(self.panel.say(xs), ys)
        wrong = self._wrong
        votes = tally(advice, truth, len(labels), self._log2_prior, wrong, self.beta)
        if not self.beta:
            require_left(self, wrong, advice, truth)
        silent = advice.size > 0 and advice.min() < 0
        spoke = (advice >= 0).sum(axis=0) if silent else np.full(len(wrong), len(truth))
        self.statistics += Mistakes(wrong - self.statistics.wrong, spoke, np.array(len(truth)))
        self.record = self._told(votes, truth)
        self._labels = labels

    def _told(self, votes: Votes, truth: NDArray[Any]) -> Record:
        """The record, with the guesses of these rounds."""
        err = self._guesses(votes) != truth
        right = votes.shares[np.arange(len(truth)), truth]
        spoken, known = votes.spoken, self.record
        return replace(
            known,
            mistakes=known.mistakes + int(err.sum()),
            expected=known.expected + float((1 - right).sum()),
            spoken_if_wrong=float(spoken[err].min(initial=known.spoken_if_wrong)),
            spoken=float(spoken[right < 1].min(initial=known.spoken)),
        )

    def _guesses(self, votes: Votes) -> NDArray[np.intp]:
        return votes.draws(self._rng.random(len(votes.labels))) if self._draws else votes.guesses()
