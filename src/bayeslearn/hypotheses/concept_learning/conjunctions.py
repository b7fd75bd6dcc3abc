"""Conjunctions of attribute constraints, and learners that output one of them, list them all, or weigh them by Bayes.

    ⟨sunny, warm, ?, strong, ?, ?⟩        each attribute holds a required state, ? (any), or ∅ (none)

One ∅ is enough to cover nothing at all, so every conjunction with one is the same hypothesis and is kept as ⟨∅, ∅, …⟩.
Boolean literals are the same thing: with states (False, True), l is "required True", ¬l "required False", an absent
literal is ?, and the contradiction l ∧ ¬l is ∅.

Under a uniform prior and no noise every consistent hypothesis has the posterior 1/|VS|, and P(D) = |VS|/|H|: any
learner that outputs a consistent hypothesis outputs a most probable one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import CapacityError, MissingValuesError, ParameterError, ShapeError, listed
from bayeslearn.hypotheses.concept_learning.examples import (
    ANY,
    MISSING,
    NONE,
    AttributeSpace,
    ConceptStatistics,
    Examples,
)
from bayeslearn.hypotheses.finite_space import FiniteSpace
from bayeslearn.hypotheses.likelihoods import Labeling, with_noise
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Report, Reported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Conjunction(Reported):
    """A conjunction of constraints; build with `from_constraints`, `anything` or `nothing`.

    >>> weather = AttributeSpace.parse({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]})
    >>> h = Conjunction.from_constraints(weather, {"sky": "sunny"})
    >>> print(h, h({"sky": "sunny", "air": "cold"}))
    ⟨sunny, ?⟩ True
    """

    attributes: AttributeSpace
    codes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.attributes):
            raise ShapeError(f"expected {len(self.attributes)} constraints, got {len(self.codes)}")
        for name, states, code in zip(self.attributes.names, self.attributes.states, self.codes, strict=True):
            if not (0 <= code < len(states) or code in {ANY, NONE}):
                raise ParameterError(f"attribute '{name}' has {len(states)} states, got code {code}")
        codes = (NONE,) * len(self.codes) if NONE in self.codes else tuple(int(c) for c in self.codes)
        object.__setattr__(self, "codes", codes)

    @classmethod
    def from_constraints(cls, attributes: Any, constraints: Mapping[str, Any] | Sequence[Any]) -> Conjunction:
        """From constraints by name (the rest is `?`), or one for each attribute: a state, `?` or `∅`."""
        attributes = AttributeSpace.parse(attributes)
        if isinstance(constraints, Mapping):
            odd = [name for name in constraints if name not in attributes.names]
            if odd:
                raise ParameterError(
                    f"no attribute is called {odd[0]!r}", hint=f"the attributes are {listed(attributes.names)}"
                )
            constraints = [constraints.get(name, "?") for name in attributes.names]
        if len(constraints) != len(attributes):
            raise ShapeError(f"expected {len(attributes)} constraints, got {len(constraints)}")
        return cls(attributes, tuple(_code(attributes, i, value) for i, value in enumerate(constraints)))

    @classmethod
    def anything(cls, attributes: Any) -> Conjunction:
        """⟨?, ?, …⟩, the most general: it covers every row."""
        attributes = AttributeSpace.parse(attributes)
        return cls(attributes, (ANY,) * len(attributes))

    @classmethod
    def nothing(cls, attributes: Any) -> Conjunction:
        """⟨∅, ∅, …⟩, the most specific: it covers no row."""
        attributes = AttributeSpace.parse(attributes)
        return cls(attributes, (NONE,) * len(attributes))

    # -- reports

    def report(self) -> Report:
        """Return the constraint of each attribute."""
        return Report(str(self), Grid(["Attribute", "Constraint"], list(self.to_dict().items())))

    def to_dict(self) -> dict[str, Any]:
        """Return the constraint of each attribute: a state, `?` or `∅`."""
        return dict(zip(self.attributes.names, self.constraints, strict=True))

    def __str__(self) -> str:
        return printable(f"⟨{', '.join(str(value) for value in self.constraints)}⟩")

    __repr__ = __str__

    @property
    def constraints(self) -> tuple[Any, ...]:
        """A state, `?` or `∅` for each attribute."""
        signs = {ANY: "?", NONE: "∅"}
        pairs = zip(self.attributes.states, self.codes, strict=True)
        return tuple(signs[code] if code in signs else states[code] for states, code in pairs)

    @property
    def required(self) -> dict[str, Any]:
        """The required state of each attribute that has one."""
        named = zip(self.attributes.names, self.constraints, self.codes, strict=True)
        return {name: value for name, value, code in named if code >= 0}

    def summary(self) -> str:
        """The formula: `warm ∧ ¬rain` for Boolean attributes, `sky=sunny ∧ …` for others; ⊤ covers all, ⊥ nothing."""
        if NONE in self.codes:
            return "⊥"
        return " ∧ ".join(_literal(name, value) for name, value in self.required.items()) or "⊤"

    # -- coverage

    def __call__(self, row: Any) -> bool:
        """Whether one row is covered."""
        return bool(self.covers([row])[0])

    def covers(self, rows: Any) -> NDArray[np.bool_]:
        """Which rows have every required state. A value that is missing, or no known state, is not the one required."""
        return self.covers_codes(self.attributes.encode(rows, unseen=True))

    def covers_codes(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which rows, in the codes of the attributes, have every required state."""
        return covering(np.array([self.codes]), codes)[:, 0]

    # -- the order from specific to general

    def __le__(self, other: Conjunction) -> bool:
        """Whether `other` is at least as general: it requires no more of any attribute."""
        self._require_same(other)
        pairs = zip(self.codes, other.codes, strict=True)
        return all(mine in (NONE, theirs) or theirs == ANY for mine, theirs in pairs)

    def __lt__(self, other: Conjunction) -> bool:
        return self != other and self <= other

    def __ge__(self, other: Conjunction) -> bool:
        return other <= self

    def __gt__(self, other: Conjunction) -> bool:
        return other < self

    def more_general_than(self, other: Conjunction) -> bool:
        """Whether it is more general than `other`, and not the same (`>`; `>=` allows the same)."""
        return self > other

    def generalize(self, row: Any) -> Conjunction:
        """The most specific conjunction that covers this row too."""
        return Conjunction(self.attributes, tuple(joined(np.array(self.codes), self.attributes.encode([row])[0])))

    def join(self, other: Conjunction) -> Conjunction:
        """The most specific conjunction that is at least as general as both."""
        self._require_same(other)
        if NONE in other.codes:
            return self
        return Conjunction(self.attributes, tuple(joined(np.array(self.codes), np.array(other.codes))))

    def _require_same(self, other: Conjunction) -> None:
        if self.attributes != other.attributes:
            raise ParameterError("conjunctions compare only over the same attributes")


### on codes


def covering(hypotheses: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows (n, d) each hypothesis (m, d) covers: shape (n, m)."""
    found = np.ones((len(rows), len(hypotheses)), dtype=bool)
    for required, values in zip(hypotheses.T, rows.T, strict=True):
        found &= (required == ANY) | (required == values[:, None])
    return found


def joined(s: NDArray[np.intp], x: NDArray[np.intp]) -> NDArray[np.intp]:
    """s where it agrees with x, `?` where it does not; x itself when s covers nothing."""
    return x.copy() if (s == NONE).any() else np.where(s == x, s, ANY)


### inside


def _code(attributes: AttributeSpace, i: int, value: Any) -> int:
    states = attributes.states[i]
    if value in states:
        return states.index(value)
    if isinstance(value, str) and value in {"?", "∅"}:
        return ANY if value == "?" else NONE
    raise ParameterError(
        f"attribute '{attributes.names[i]}' has no state {value!r}", hint=f"use ?, ∅ or one of {listed(states)}"
    )


def _literal(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"¬{name}"
    return f"{name}={value}"


### consistency


@dataclass(frozen=True)
class Conflict:
    """An example that is inconsistent with those before it."""

    position: int
    reason: str


def conflicts_in_order(examples: Examples, s: NDArray[np.intp], negatives: NDArray[np.intp]) -> Iterator[Conflict]:
    """Yield the examples that are inconsistent with those before them, which are skipped, from the hypothesis `s` on.

    Only a positive example that s does not cover changes anything, and at most one time more than there are attributes:
    all examples between two changes are tested together.
    """
    codes, labels = examples.codes, examples.labels
    kept = [negatives]
    i = 0
    while i < len(codes):
        covered = covering(s[None, :], codes[i:])[:, 0]
        before = i
        for j in (i + np.flatnonzero(covered != labels[i:])).tolist():
            if not labels[j]:
                yield Conflict(j, f"{_formula(examples, s)}, the most specific for the positive examples, covers it")
                continue
            wider = joined(s, codes[j])
            kept.append(codes[before:j][~labels[before:j] & ~covered[before - i : j - i]])
            before = j
            clash = _first_covered(wider, kept)
            if clash is None:
                s, i = wider, j + 1
                break
            yield Conflict(j, f"{_formula(examples, wider)} would have to cover it, and covers {_row(examples, clash)}")
        else:
            return


def _first_covered(h: NDArray[np.intp], blocks: list[NDArray[np.intp]]) -> NDArray[np.intp] | None:
    for block in blocks:
        found = covering(h[None, :], block)[:, 0]
        if found.any():
            return block[int(found.argmax())]
    return None


def _formula(examples: Examples, codes: NDArray[np.intp]) -> str:
    return str(Conjunction(examples.attributes, tuple(codes.tolist())))


def _row(examples: Examples, codes: NDArray[np.intp]) -> str:
    values = ", ".join(str(value) for value in examples.attributes.decode(codes).values())
    return f"the negative example ({values})"


def keep_consistent(examples: Examples) -> NDArray[np.bool_]:
    """Which examples can be kept, in order, so that some conjunction agrees with all of them."""
    keep = np.ones(len(examples), dtype=bool)
    nothing = np.array(Conjunction.nothing(examples.attributes).codes)
    for conflict in conflicts_in_order(examples.complete(), nothing, np.empty((0, len(nothing)), dtype=np.intp)):
        keep[conflict.position] = False
    return keep


### learners


#: The most hypotheses that are listed.
MAX_LISTED = 1_000_000


def find_s(data: Any, target: Any = None, *, positive: Any = None) -> Conjunction:
    """Return the most specific conjunction that covers every positive example; negative ones are ignored.

    `data` is :class:`Examples`, or a table with labels, as in :meth:`Examples.from_data`.

    >>> from bayeslearn.hypotheses import Examples
    >>> find_s(Examples.from_rows([["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"]], [True, True, False]))
    ⟨sunny, ?⟩
    """
    examples = Examples.from_data(data, target, positive=positive)
    complete = examples.only(examples.labels).complete()
    codes = ConceptStatistics.collect(complete).specific(examples.attributes)
    return Conjunction(examples.attributes, tuple(codes.tolist()))


def all_conjunctions(attributes: Any, *, max_hypotheses: int = MAX_LISTED) -> Iterator[Conjunction]:
    """Every conjunction over some attributes, the one that covers nothing first; at most `max_hypotheses`."""
    attributes = AttributeSpace.parse(attributes)
    if attributes.n_conjunctions > max_hypotheses:
        raise CapacityError(
            f"there are {attributes.n_conjunctions} conjunctions over {len(attributes)} attributes, "
            f"more than the {max_hypotheses} that may be listed",
            hint="a VersionSpace counts and votes without listing; or raise `max_hypotheses`",
            hypotheses=attributes.n_conjunctions,
        )
    return _listed(attributes)


def list_then_eliminate(examples: Examples, *, max_hypotheses: int = MAX_LISTED) -> list[Conjunction]:
    """Every conjunction consistent with the examples, by trying them all."""
    members = list(all_conjunctions(examples.attributes, max_hypotheses=max_hypotheses))
    covered = covering(np.array([h.codes for h in members]), examples.complete().codes)
    agrees = (covered == examples.labels[:, None]).all(axis=0)
    return [h for h, good in zip(members, agrees.tolist(), strict=True) if good]


def concept_space(attributes: Any, *, noise: float = 0.0, max_hypotheses: int = MAX_LISTED) -> FiniteSpace:
    """Every conjunction as one finite space: rows of data are (row, True or False), labels wrong at the rate `noise`.

    >>> space = concept_space({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]})
    >>> posterior = space.posterior().update((["sunny", "warm"], True))
    >>> posterior.map_hypotheses, round(posterior.marginal_likelihood, 6)  # 4 of the 10 agree
    ([⟨sunny, warm⟩, ⟨sunny, ?⟩, ⟨?, warm⟩, ⟨?, ?⟩], 0.4)
    """
    attributes = AttributeSpace.parse(attributes)
    members = tuple(all_conjunctions(attributes, max_hypotheses=max_hypotheses))
    return FiniteSpace(members, members, ConceptLabeling(members, (False, True), float(noise)))


class ConceptLabeling(Labeling):
    """Conjunctions that label rows together."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The constraints of every hypothesis."""
        return np.array([h.codes for h in self.hypotheses])

    def log_probabilities(self, X: Any, *, noisy: bool) -> NDArray[np.float64]:
        """ln P(label|h, row), shape (n, size, 2)."""
        rows = self.hypotheses[0].attributes.encode(X, unseen=True)
        if (rows == MISSING).any():
            row = int(np.argmax((rows == MISSING).any(axis=1)))
            raise MissingValuesError(
                f"row {row} has a missing value", hint="drop the row, or fill in the value", row=row
            )
        covered = covering(self.codes, rows)
        with np.errstate(divide="ignore"):
            logs = np.log(np.stack([~covered, covered], axis=2).astype(float))
        return with_noise(logs, self.noise) if noisy else logs


def _listed(attributes: AttributeSpace) -> Iterator[Conjunction]:
    yield Conjunction.nothing(attributes)
    for codes in itertools.product(*((*range(len(states)), ANY) for states in attributes.states)):
        yield Conjunction(attributes, codes)
