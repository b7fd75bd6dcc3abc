"""Conjunctions of attribute constraints: the hypotheses of concept learning.

    ⟨sunny, warm, ?, strong, ?, ?⟩        each attribute holds a required state, ? (any), or ∅ (none)

One ∅ is enough to cover nothing at all, so every conjunction with one is the same hypothesis and is kept as ⟨∅, ∅, …⟩.
Boolean literals are the same thing: with states (False, True), l is "required True", ¬l "required False", an absent
literal is ?, and the contradiction l ∧ ¬l is ∅.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError, ShapeError, listed
from bayeslearn.hypotheses.concepts.attributes import ANY, NONE, Attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Conjunction:
    """One hypothesis; build with `of`, `anything` or `nothing`.

    >>> weather = Attributes.of({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]})
    >>> h = Conjunction.of(weather, {"sky": "sunny"})
    >>> print(h, h({"sky": "sunny", "air": "cold"}))
    ⟨sunny, ?⟩ True
    """

    attributes: Attributes
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
    def of(cls, attributes: Any, constraints: Mapping[str, Any] | Sequence[Any]) -> Conjunction:
        """From constraints by name (the rest is `?`), or one for each attribute: a state, `?` or `∅`."""
        attributes = Attributes.of(attributes)
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
        attributes = Attributes.of(attributes)
        return cls(attributes, (ANY,) * len(attributes))

    @classmethod
    def nothing(cls, attributes: Any) -> Conjunction:
        """⟨∅, ∅, …⟩, the most specific: it covers no row."""
        attributes = Attributes.of(attributes)
        return cls(attributes, (NONE,) * len(attributes))

    # -- how it reads

    def __str__(self) -> str:
        return f"⟨{', '.join(str(value) for value in self.constraints)}⟩"

    __repr__ = __str__

    @property
    def constraints(self) -> tuple[Any, ...]:
        """A state, `?` or `∅` for each attribute."""
        signs = {ANY: "?", NONE: "∅"}
        pairs = zip(self.attributes.states, self.codes, strict=True)
        return tuple(signs[code] if code in signs else states[code] for states, code in pairs)

    @property
    def required(self) -> dict[str, Any]:
        """The attributes that must have a state, and which."""
        named = zip(self.attributes.names, self.constraints, self.codes, strict=True)
        return {name: value for name, value, code in named if code >= 0}

    @property
    def formula(self) -> str:
        """As logic: `warm ∧ ¬rain` for Boolean attributes, `sky=sunny ∧ …` for others; ⊤ covers all, ⊥ nothing."""
        if NONE in self.codes:
            return "⊥"
        return " ∧ ".join(_literal(name, value) for name, value in self.required.items()) or "⊤"

    # -- what it covers

    def __call__(self, row: Any) -> bool:
        """Whether one row is covered."""
        return bool(self.covers([row])[0])

    def covers(self, rows: Any) -> NDArray[np.bool_]:
        """Which rows have every required state. A value that is missing, or no known state, is not the one required."""
        return covering(np.array([self.codes]), self.attributes.encode(rows, unseen=True))[:, 0]

    # -- the order from specific to general

    def __le__(self, other: Conjunction) -> bool:
        """Whether `other` is at least as general: it asks no more of any attribute."""
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

    def generalise(self, row: Any) -> Conjunction:
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


def _code(attributes: Attributes, i: int, value: Any) -> int:
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
