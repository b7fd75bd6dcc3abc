"""Experts predict, the learner votes by their weights, the label is revealed, and experts that are wrong lose weight.

    statistics: mistakes of each expert        prior: weights before the first round        w_i ∝ p_i β^wrong_i

Halving is β = 0: an expert with a mistake has no weight.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.codec import Saved, rename_keys
from bayeslearn.distributions import FinitePrior
from bayeslearn.errors import InconsistentDataError, MismatchError, ParameterError, ShapeError, listed
from bayeslearn.model_values import ARRAY, NAME, NUMBER, plain
from bayeslearn.online import explanation
from bayeslearn.online.experts import Predictors, Stream, objects, panel_of, prior_of
from bayeslearn.online.mistakes import MistakeCounts, RunRecord, counted, least_bound
from bayeslearn.online.voting import Labels, Votes, poll, relative_weights, tally
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.online.explanation import ExpertVotes
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The columns of reports of experts.
EXPERT = ("expert", "mistakes", "n_predictions", "weight")


def require_same(one: _Learner, other: _Learner) -> None:
    """Require the same experts, the same prior and the same β."""
    pairs = {
        "kinds": (type(one), type(other)),
        "experts": (one.experts, other.experts),
        "beta": (one.beta, other.beta),
        "prior": (one.prior.log_p.tolist(), other.prior.log_p.tolist()),
        "labels": (None, None) if one.open or other.open else (one.classes, other.classes),
    }
    differs = [what for what, (mine, theirs) in pairs.items() if mine != theirs]
    if differs or one.teach or other.teach:
        why = f"their {differs[0]} differ" if differs else "their experts learned from different rounds"
        raise MismatchError(f"two learners add over the same experts, but {why}", differs=differs[:1])


def require_left(learner: _Learner, wrong: NDArray[Any], advice: NDArray[Any] | None = None, truth: Any = None) -> None:
    """Require an expert without a mistake; the error names the round of the last one's mistake."""
    alive = np.isfinite(learner.prior.log_p)
    if (wrong[alive] == 0).any():
        return
    where = ""
    if advice is not None:
        fell = (advice >= 0) & (advice != truth[:, None])
        gone = (np.logical_or.accumulate(fell, axis=0) | (learner.statistics.wrong > 0))[:, alive].all(axis=1)
        where = f": the last was wrong in round {learner.rounds + int(np.argmax(gone))}"
    raise InconsistentDataError(
        f"none of {len(wrong)} hypotheses is consistent with every round{where}",
        hint="the target is not among them, or a label is wrong; WeightedMajority allows mistakes",
    )


class _Learner(Saved, Reported, kind="online learner", version=3):
    """The base of Weighted-Majority and Halving."""

    def __init__(
        self, experts: Any, beta: float, classes: Iterable[Hashable] | None, prior: Any, *, teach: bool = False
    ) -> None:
        self.panel = panel_of(experts)
        self.beta = beta
        self.prior = prior_of(prior, self.panel.names)
        self.teach = teach
        if teach and isinstance(self.panel, Predictors):
            self.panel.learn = True
        self.statistics = MistakeCounts.none(len(self.panel.names))
        self.record = RunRecord()
        self._labels = Labels(classes)
        self._rng = np.random.default_rng(0)
        self._draws = False

    # -- one at a time

    def predict_one(self, x: Any) -> Any:
        """The label of the vote for x; None if no expert votes."""
        return self.predict(self._one(x))[0]

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The share of the weight that votes for each label."""
        votes, labels = self._asked(self._one(x))
        return dict(zip(labels.names, votes.shares[0].tolist(), strict=True))

    def learn_one(self, x: Any, y: Any) -> Self:
        """One round: the vote on x is counted, then the experts are weighted by y."""
        self._learn(self._one(x), objects([y]))
        if self.teach:
            self.panel.teach(x, y, list(self._labels.names))
        return self

    # -- many at a time, in order

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the vote for each x."""
        votes, labels = self._asked(X)
        return objects([*labels.names, None])[self._guesses(votes)]

    def guess_codes(self, X: Any) -> NDArray[np.intp]:
        """The same as positions in :attr:`classes`, −1 where no expert votes."""
        return self._guesses(self._asked(X)[0])

    def predict_proba(self, X: Any) -> Floats:
        """The share of the weight that votes for each label, a column each."""
        return self._asked(X)[0].shares

    def partial_fit(self, X: Any, y: Any, classes: Iterable[Hashable] | None = None) -> Self:
        """Many rounds, as if one after the other; `classes` are the labels, if the learner has none yet."""
        if classes is not None and self._labels.open and not len(self._labels):
            self._labels = Labels(classes)
        if len(X) != len(y):
            raise ShapeError(f"expected a label for each of {len(X)} rounds, got {len(y)}")
        if self.teach:
            for one, label in zip(X, y, strict=True):
                self.learn_one(one, label)
            return self
        self._learn(X, y if isinstance(y, np.ndarray) else objects(list(y)))
        return self

    def explain(self, x: Any) -> ExpertVotes:
        """Return the advice and the weight of each expert for one x."""
        return explanation.explain(self, x)

    # -- weights and mistakes

    @property
    def experts(self) -> tuple[Any, ...]:
        """The names of the experts."""
        return self.panel.names

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels so far."""
        return tuple(self._labels.names)

    @property
    def open(self) -> bool:
        """Whether new labels are added as they come."""
        return self._labels.open

    @property
    def log_weights(self) -> Floats:
        """The logarithms of the weights, which sum to one; they do not underflow."""
        wrong = self.statistics.wrong
        paid = wrong * math.log(self.beta) if self.beta else np.where(wrong > 0, -np.inf, 0.0)
        return FinitePrior(self.prior.log_p + paid).log_p

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by expert; they sum to one."""
        return dict(zip(self.experts, np.exp(self.log_weights).tolist(), strict=True))

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return int(self.statistics.rounds)

    @property
    def mistakes(self) -> int:
        """The number of rounds in which the learner was wrong or did not predict."""
        return self.record.mistakes

    @property
    def best(self) -> Any:
        """The expert with the fewest mistakes, the first of them."""
        return self.experts[int(np.argmin(self.statistics.wrong))]

    @property
    def best_mistakes(self) -> int:
        """The number of mistakes of the best expert."""
        return int(self.statistics.wrong.min())

    @property
    def regret(self) -> float:
        """The mistakes minus those of the best expert."""
        return self.mistakes - self.best_mistakes

    @property
    def bound(self) -> float:
        """The upper bound on mistakes, by those of the experts; see :mod:`bayeslearn.online.mistakes`."""
        return least_bound(
            self.statistics.wrong, self.prior.log_p, beta=self.beta, starts=self.record.starts,
            voting_share=self.record.voting_share_if_wrong,
        )  # fmt: skip

    # -- reports

    def report(self) -> Report:
        """Return mistakes, regret, bound and the experts with the largest weights."""
        numbers = {
            "Rounds": self.rounds, "Mistakes": self.mistakes, "Best expert": self.best,
            "Mistakes of the best expert": self.best_mistakes, "Regret": self.regret, "Bound on mistakes": self.bound,
        }  # fmt: skip
        rows = [(str(e["expert"]), e["mistakes"], e["n_predictions"], e["weight"]) for e in self._by_weight()]
        return Report(
            repr(self), Pairs(numbers), Grid(["Expert", "Mistakes", "Predictions", "Weight"], rows, "Experts")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return mistakes, regret and bound, and each expert with its weight, as plain values."""
        expected = getattr(self, "expected_mistakes", None)
        return {
            "rounds": self.rounds, "beta": self.beta, "mistakes": self.mistakes, "expected_mistakes": expected,
            "best": self.best, "best_mistakes": self.best_mistakes, "regret": self.regret, "bound": self.bound,
            "experts": self._experts(),
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each expert: mistakes, predictions, weight."""
        return frame_of_rows(list(EXPERT), (list(e.values()) for e in self._experts()), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the weights of the experts (:func:`bayeslearn.plots.plot_expert_weights`)."""
        return plots.plot_expert_weights(self, ax=ax)

    def _experts(self) -> list[dict[str, Any]]:
        counts = zip(self.statistics.wrong, self.statistics.n_predictions, strict=True)
        each = zip(self.weights.items(), counts, strict=True)
        return [dict(zip(EXPERT, (name, int(k), int(n), weight), strict=True)) for (name, weight), (k, n) in each]

    def _by_weight(self) -> list[dict[str, Any]]:
        return sorted(self._experts(), key=lambda e: (e["mistakes"], -e["weight"]))

    # -- merge

    def __add__(self, other: Self) -> Self:
        """A learner with the rounds of both: mistakes of experts add, and the weights follow."""
        require_same(self, other)
        merged = self._fresh()
        if merged._labels.open:
            merged._labels.take_in(objects(list(other.classes)))
        merged.statistics = self.statistics + other.statistics
        merged.record = self.record + other.record
        if not self.beta:
            require_left(self, merged.statistics.wrong)
        return merged

    # -- files

    @classmethod
    def load(cls, path: str | os.PathLike[str], experts: Any = None) -> Self:
        """Read a learner of this kind from a file, and check all of it; without `experts`, their advice comes as x."""
        learner = super().load(path)
        if experts is None:
            return learner
        panel = panel_of(experts)
        if panel.names != learner.experts:
            raise MismatchError(f"the file has the experts {listed(learner.experts)}, given are {listed(panel.names)}")
        learner.panel = panel
        return learner

    def to_document(self) -> dict[str, Any]:
        """Return what was learned as plain values; of the experts only their names.

        {"kind", "experts", "labels", "open", "beta", "randomized", "prior", "statistics": {"wrong", "n_predictions",
         "rounds"},
         "record": {...}}
        """
        odd = [name for name in (*self.experts, *self.classes) if not isinstance(name, str | int | float | bool)]
        if odd:
            raise ParameterError(f"names in a file are words and numbers, not {odd[0]!r:.60}")
        return {
            "kind": type(self).__name__,
            "experts": list(self.experts),
            "labels": list(self.classes),
            "open": self.open,
            "beta": self.beta,
            "randomized": bool(getattr(self, "randomized", False)),
            "prior": self.prior.mean(),
            "statistics": plain(self.statistics),
            "record": asdict(self.record),
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Self:
        """Return the learner of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "kind": str, "experts": [NAME], "labels": [NAME], "open": bool, "beta": NUMBER, "randomized": bool,
            "prior": ARRAY, "statistics": dict, "record": dict,
        }  # fmt: skip
        kind, names, labels, is_open, beta, draws, prior, counts, record = reader.entries(document, keys, "a learner")
        known = {found.__name__: found for found in kinds()}
        if kind not in known or not issubclass(known[kind], cls):
            reader.wrong(f"it is a {kind!r:.40}, not a {cls.__name__}", hint="bayeslearn.load(path) opens any learner")
        if not names or len(set(names)) < len(names):
            reader.wrong("its experts have no names, or the same")
        options = {"beta": beta, "randomized": draws} if hasattr(known[kind], "randomized") else {}
        learner = known[kind](len(names), classes=labels or None, prior=reader.numbers(prior, "prior"), **options)
        learner.panel = Stream(tuple(names))
        learner._take_labels(labels, is_open=is_open)  # noqa: SLF001 - its own file
        learner.statistics = read_mistakes(reader, counts, len(names))
        learner.record = read_record(reader, record, learner.rounds)
        return learner

    def __repr__(self) -> str:
        n, mistakes, rounds = len(self.experts), counted(self.mistakes, "mistake"), counted(self.rounds, "round")
        return f"{type(self).__name__}({counted(n, 'expert')}, {mistakes} in {rounds})"

    # -- inside

    def _take_labels(self, labels: list[Any], *, is_open: bool) -> None:
        """Take labels from a file, to which others may come."""
        if is_open:
            self._labels = Labels(labels) if labels else Labels()
            self._labels.open = True

    def _fresh(self) -> Self:
        copy: Self = object.__new__(type(self))
        copy.__dict__ |= self.__dict__ | {"_labels": self._labels.copy()}
        return copy

    @staticmethod
    def _one(x: Any) -> Any:
        return x[None] if isinstance(x, np.ndarray) else [x]

    def _asked(self, xs: Any) -> tuple[Votes, Labels]:
        """The votes on some x, and the labels, with those that only come up in them."""
        labels, advice = self._labels.copy(), self.panel.say(xs)
        if labels.open:
            labels.take_in(advice)
        codes = labels.codes(advice, "an expert predicts {0!r} in round {1}")
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
        n_predictions = (advice >= 0).sum(axis=0) if silent else np.full(len(wrong), len(truth))
        self.statistics += MistakeCounts(wrong - self.statistics.wrong, n_predictions, np.array(len(truth)))
        self.record = self._recorded(votes, truth)
        self._labels = labels

    def _recorded(self, votes: Votes, truth: NDArray[Any]) -> RunRecord:
        """The record, with the guesses of these rounds."""
        err = self._guesses(votes) != truth
        right = votes.shares[np.arange(len(truth)), truth]
        share, known = votes.voting_share, self.record
        return replace(
            known,
            mistakes=known.mistakes + int(err.sum()),
            expected=known.expected + float((1 - right).sum()),
            voting_share_if_wrong=float(share[err].min(initial=known.voting_share_if_wrong)),
            voting_share=float(share[right < 1].min(initial=known.voting_share)),
        )

    def _guesses(self, votes: Votes) -> NDArray[np.intp]:
        return votes.draws(self._rng.random(len(votes.labels))) if self._draws else votes.guesses()


### files


def kinds() -> list[Any]:
    """The learners that files know."""
    from bayeslearn.online.weighted_majority import Halving, WeightedMajority  # noqa: PLC0415 - they build on this module

    return [Halving, WeightedMajority]


def read_mistakes(reader: Reader, entry: Any, n: int) -> MistakeCounts:
    """Whole numbers of mistakes and predictions, at most as many as there are rounds."""
    found = reader.statistics(entry, MistakeCounts.none(n))
    if any((array != np.floor(array)).any() for array in found.arrays()):
        reader.wrong(f"expected whole numbers of mistakes for {n} experts")
    if (found.wrong > found.n_predictions).any() or (found.n_predictions > found.rounds).any() or found.rounds > 2**53:
        reader.wrong("an expert has more mistakes than predictions, or more predictions than there are rounds")
    return found


def read_record(reader: Reader, entry: Any, rounds: int) -> RunRecord:
    """The mistakes of the learner itself."""
    keys: dict[str, Any] = {
        "mistakes": int, "expected": NUMBER, "starts": int, "voting_share_if_wrong": NUMBER,
        "voting_share": NUMBER,
    }  # fmt: skip
    mistakes, expected, starts, if_wrong, voting = reader.entries(entry, keys, "a record")
    shares = all(0 <= share <= 1 for share in (if_wrong, voting))
    if not (0 <= mistakes <= rounds and expected >= 0 and starts >= 1 and shares):
        reader.wrong(f"{entry!r:.80} is no record of {rounds} rounds")
    return RunRecord(mistakes, float(expected), starts, float(if_wrong), float(voting))


rename_keys("online learner", 1, {"randomised": "randomized"})
rename_keys(
    "online learner",
    2,
    {
        "statistics/spoke": "n_predictions",
        "record/spoken_if_wrong": "voting_share_if_wrong",
        "record/spoken": "voting_share",
    },
)
