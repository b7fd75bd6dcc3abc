"""Mistake bounds of online learners, and their exact values for small classes.

    Find-S      n + 1        conjunctions of n attributes: the first positive example, then a constraint per mistake
    Halving     log₂|H|      each mistake of the majority at least halves the consistent hypotheses

Exact values are those of a game: an adversary shows points and, after the prediction, the label; some hypothesis must
be consistent with all labels.

    Opt(V)        max over x of 1 + min(Opt(V₀), Opt(V₁))               V₀, V₁: the hypotheses left after label 0 or 1
    Halving(V)    max over x and y of [V_y is no majority] + Halving(V_y)

The first is the mistakes of the best learner there is (Littlestone's dimension of the class); the second those of the
majority vote, where a tie may fall the wrong way. Version spaces are sets of bits, and each is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import CapacityError, InconsistentDataError
from bayeslearn.hypotheses import AttributeSpace, Conjunction
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.learning_theory.pac_bounds import Bound, down, shown
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from bayeslearn.learning_theory.concept_class import ConceptClass
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True)
class Round:
    """A point, the prediction of the learner, and the label."""

    point: Hashable
    guess: bool
    label: bool


@dataclass(frozen=True, repr=False)
class Trial(Reported):
    """The rounds of an online learner, in order."""

    rounds: tuple[Round, ...]

    @property
    def mistakes(self) -> int:
        """The number of wrong predictions."""
        return sum(r.guess != r.label for r in self.rounds)

    @property
    def examples(self) -> list[tuple[Hashable, bool]]:
        """The points and their labels."""
        return [(r.point, r.label) for r in self.rounds]

    def report(self) -> Report:
        """Return the number of mistakes, and every round."""
        rows = [(str(r.point), int(r.guess), int(r.label), "" if r.guess == r.label else "wrong") for r in self.rounds]
        title = f"{self.mistakes} mistakes in {len(self.rounds)} rounds"
        return Report(title, Grid(["Point", "Prediction", "Label", "Mistake"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the rounds as plain values."""
        return {"mistakes": self.mistakes, "rounds": [asdict(r) for r in self.rounds]}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each round."""
        rows = ((str(r.point), r.guess, r.label, r.guess != r.label) for r in self.rounds)
        return frame_of_rows(["point", "prediction", "label", "mistake"], rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the number of mistakes by rounds (:func:`bayeslearn.plots.plot_mistake_trial`)."""
        return plots.plot_mistake_trial(self, ax=ax)


### bounds


def find_s_mistake_bound(n_attributes: int) -> Bound:
    """Return the upper bound n + 1 on the mistakes of Find-S on conjunctions of n attributes."""
    n = whole("n_attributes", n_attributes, least=1)
    return Bound(
        quantity="mistakes",
        value=n + 1,
        formula="M_Find-S ≤ n + 1",
        substituted=f"{n} + 1 = {n + 1}",
        conclusion=f"Find-S makes at most {n + 1:,} mistakes on a conjunction of {n:,} attributes.",
        inputs={"n": n},
    )


def halving_mistake_bound(n_hypotheses: Any) -> Bound:
    """Return the upper bound log₂|H| on the mistakes of the majority vote over a finite class.

    >>> print(halving_mistake_bound(973))
    The majority vote over 973 hypotheses makes at most 9 mistakes.
    M_Halving ≤ log₂|H| = 9.926
    """
    space = HypothesisCount.from_number(n_hypotheses)
    return Bound(
        quantity="mistakes",
        value=down(space.log2),
        formula="M_Halving ≤ log₂|H|",
        substituted=shown(space.log2),
        conclusion=f"The majority vote over {space} hypotheses makes at most {shown(down(space.log2))} mistakes.",
        inputs={"size": str(space), "log₂|H|": space.log2},
    )


def find_s_worst_case(attributes: Any) -> Trial:
    """Return n + 1 mistakes of Find-S: every row is positive, and each differs from the first in another attribute.

    >>> print(find_s_worst_case({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}))
    3 mistakes in 3 rounds
    <BLANKLINE>
    Point              Prediction  Label  Mistake
    ---------------------------------------------
    ('sunny', 'warm')           0      1  wrong
    ('rainy', 'warm')           0      1  wrong
    ('sunny', 'cold')           0      1  wrong
    """
    known = AttributeSpace.parse(attributes)
    first = tuple(states[0] for states in known.states)
    others = [(*first[:i], states[1], *first[i + 1 :]) for i, states in enumerate(known.states) if len(states) > 1]
    return find_s_trial(known, [(row, True) for row in [first, *others]])


def find_s_trial(attributes: Any, examples: Iterable[tuple[Any, bool]]) -> Trial:
    """Run Find-S over labeled rows: each is predicted before its label is known."""
    h, rounds = Conjunction.nothing(AttributeSpace.parse(attributes)), []
    for row, label in examples:
        rounds.append(Round(row, h(row), bool(label)))
        if label:
            h = h.generalize(row)
    return Trial(tuple(rounds))


### the game of a finite class


#: The prediction of a learner for a version space and a point; None if it is undecided.
Guess = Callable[[int, int], bool | None]

#: The most version spaces of one game.
MAX_SPACES = 500_000


@dataclass(frozen=True, eq=False)
class MistakeGame:
    """The exact mistake bounds of a small class of concepts, and sequences that attain them.

    >>> from bayeslearn.learning_theory import ConceptClass
    >>> thresholds = ConceptClass.from_functions([lambda x, a=a: x >= a for a in range(1, 9)], range(1, 8))
    >>> game = MistakeGame(thresholds)
    >>> thresholds.vc_dimension, game.optimal, game.halving, thresholds.size.log2
    (1, 3, 3, 3.0)
    """

    concepts: ConceptClass
    max_spaces: int = MAX_SPACES

    # -- mistakes

    @cached_property
    def optimal(self) -> int:
        """Opt(C), the worst-case mistakes of the best learner."""
        return self._worked_out(self._optimal)

    @cached_property
    def halving(self) -> int:
        """M_Halving(C), the worst-case mistakes of the majority vote."""
        return self._worked_out(self._halving)

    # -- learners, as predictions for (version space, point)

    def vote(self, space: int, x: int) -> bool | None:
        """The majority of the consistent hypotheses; None in a tie."""
        yes, of = 2 * (space & self._yes[x]).bit_count(), space.bit_count()
        return None if yes == of else yes > of

    def best(self, space: int, x: int) -> bool:
        """The label after which a teacher could still force more mistakes: the standard optimal learner."""
        yes, no = space & self._yes[x], space & ~self._yes[x]
        return bool(yes) and (not no or self._optimal(yes) >= self._optimal(no))

    def learner(self, name: str) -> Guess:
        """Return the learner ``"halving"`` or ``"optimal"``."""
        return {"halving": self.vote, "optimal": self.best}[validation.choice("learner", name, ["halving", "optimal"])]

    # -- sequences

    def worst_case(self, learner: str = "halving") -> Trial:
        """Return a sequence on which the learner makes the largest number of mistakes."""
        moves = self._against_halving() if learner == "halving" else self._against(self.learner(learner))
        return Trial(tuple(moves))

    def against(self, guess: Callable[[list[tuple[Hashable, bool]], Hashable], bool]) -> Trial:
        """Force Opt(C) mistakes on a learner: `guess(examples so far, point)` returns a label."""
        seen: list[tuple[Hashable, bool]] = []

        def predicted(_: int, x: int) -> bool:
            return bool(guess(list(seen), self.concepts.points[x]))

        rounds = []
        for r in self._against(predicted):
            seen.append((r.point, r.label))
            rounds.append(r)
        return Trial(tuple(rounds))

    def replay(self, examples: Iterable[tuple[Hashable, bool]], learner: str = "halving") -> Trial:
        """Run a learner over labeled points that some hypothesis is consistent with; ties are mistakes."""
        guess, space, rounds = self.learner(learner), self._all, []
        for i, (point, label) in enumerate(examples):
            (x,) = self.concepts.places([point])
            guessed = guess(space, x)
            rounds.append(Round(point, not label if guessed is None else guessed, bool(label)))
            space &= self._yes[x] if label else ~self._yes[x]
            if not space:
                raise InconsistentDataError(f"no hypothesis is consistent with example {i}, {point!r} labeled {label}")
        return Trial(tuple(rounds))

    # -- inside

    @cached_property
    def _all(self) -> int:
        return (1 << len(self.concepts)) - 1

    @cached_property
    def _yes(self) -> list[int]:
        """For each point the hypotheses that label it 1, as bits."""
        packed = np.packbits(self.concepts.labels, axis=0, bitorder="little")
        return [int.from_bytes(column.tobytes(), "little") for column in packed.T]

    @cached_property
    def _different(self) -> list[int]:
        """Points with distinct columns."""
        kinds = {min(yes, self._all & ~yes): x for x, yes in reversed(list(enumerate(self._yes)))}
        return sorted(x for kind, x in kinds.items() if kind)

    @cached_property
    def _known(self) -> tuple[dict[int, int], dict[int, int]]:
        return {}, {}

    def _worked_out(self, value: Callable[[int], int]) -> int:
        try:
            return value(self._all)
        except RecursionError:
            raise self._too_many() from None

    def _splits(self, space: int) -> Iterator[tuple[int, int, int]]:
        """Points that divide a version space: (point, hypotheses that label it 0, 1)."""
        for x in self._different:
            yes = space & self._yes[x]
            if yes and yes != space:
                yield x, space ^ yes, yes

    def _optimal(self, space: int) -> int:
        known = self._known[0]
        if space.bit_count() < 2:
            return 0
        if space not in known:
            self._require_room(known)
            most, best = space.bit_count().bit_length() - 1, 0
            for smaller, larger in sorted(_by_count(no, yes) for _, no, yes in self._splits(space))[::-1]:
                if smaller[0].bit_length() <= best:  # 1 + log₂ of its hypotheses is no more than what is known
                    break
                value = 1 + self._optimal(smaller[1])
                if value > best:
                    best = max(best, min(value, 1 + self._optimal(larger[1])))
                if best == most:
                    break
            known[space] = best
        return known[space]

    def _halving(self, space: int) -> int:
        known = self._known[1]
        if space.bit_count() < 2:
            return 0
        if space not in known:
            self._require_room(known)
            most = space.bit_count().bit_length() - 1
            best = 0
            for _, no, yes in self._splits(space):
                for part, rest in ((no, yes), (yes, no)):
                    if part.bit_count() == 1 and best >= 1:
                        continue
                    best = max(best, (part.bit_count() <= rest.bit_count()) + self._halving(part))
                if best == most:
                    break
            known[space] = best
        return known[space]

    def _require_room(self, known: dict[int, int]) -> None:
        if len(known) >= self.max_spaces:
            raise self._too_many()

    def _too_many(self) -> CapacityError:
        return CapacityError(
            f"the game over {len(self.concepts)} hypotheses has more than {self.max_spaces:,} version spaces, or is "
            "too deep",
            hint="its value lies between the VC dimension and log₂|C|; or raise `max_spaces`",
        )

    def _against(self, guess: Guess) -> Iterator[Round]:
        """Points after which both labels leave one mistake less; the label is the opposite of the prediction."""
        space, left = self._all, self.optimal
        while left:
            x, no, yes = next(
                s for s in self._splits(space) if min(self._optimal(s[1]), self._optimal(s[2])) >= left - 1
            )
            guessed = bool(guess(space, x))
            yield Round(self.concepts.points[x], guessed, not guessed)
            space, left = no if guessed else yes, left - 1

    def _against_halving(self) -> Iterator[Round]:
        """The moves of the search, with those that the majority predicts rightly."""
        space = self._all
        while self._halving(space):
            x, label, part = next(self._best_moves(space))
            no_majority = 2 * part.bit_count() <= space.bit_count()
            yield Round(self.concepts.points[x], (not label) if no_majority else label, label)
            space = part

    def _best_moves(self, space: int) -> Iterator[tuple[int, bool, int]]:
        for x, no, yes in self._splits(space):
            for label, part in ((False, no), (True, yes)):
                if (2 * part.bit_count() <= space.bit_count()) + self._halving(part) == self._halving(space):
                    yield x, label, part


@dataclass(frozen=True, repr=False)
class MistakeBounds(Reported):
    """VC(C) ≤ Opt(C) ≤ M_Halving(C) ≤ log₂|C|."""

    vc: int
    optimal: int
    halving: int
    log2: float

    def report(self) -> Report:
        """Return the four numbers in one line."""
        return Report(f"VC {self.vc} ≤ Opt {self.optimal} ≤ Halving {self.halving} ≤ log₂|C| {self.log2:.4g}")

    def to_dict(self) -> dict[str, Any]:
        """Return the four numbers as plain values."""
        return {"vc": self.vc, "optimal": self.optimal, "halving": self.halving, "log2": self.log2}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the four numbers (:func:`bayeslearn.plots.plot_mistake_bounds`)."""
        return plots.plot_mistake_bounds(self, ax=ax)


def exact_mistake_bounds(concepts: ConceptClass, *, max_spaces: int = MAX_SPACES) -> MistakeBounds:
    """Return the VC dimension, Opt, the mistakes of Halving and log₂|C| of a small class, each computed exactly."""
    game = MistakeGame(concepts, validation.integer("max_spaces", max_spaces, min_value=1))
    return MistakeBounds(concepts.vc_dimension, game.optimal, game.halving, concepts.size.log2)


def _by_count(a: int, b: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two sets of bits with their sizes, the smaller first."""
    first, second = sorted([(a.bit_count(), a), (b.bit_count(), b)])
    return first, second
