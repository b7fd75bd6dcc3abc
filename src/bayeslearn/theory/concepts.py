"""Random concepts over Boolean variables, and rows to show of them: what a PAC learner is tried on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.theory.sizes import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.bool_]

#: Variables whose 2^n rows are all looked at.
MOST_VARIABLES = 16


@dataclass(frozen=True)
class Disjunction:
    """A k-term DNF: each term asks for True (1), for False (0), or does not ask (−1), of each variable."""

    terms: tuple[tuple[int, ...], ...]

    def covers(self, rows: Rows) -> Rows:
        """Which rows satisfy a term."""
        asked = np.array(self.terms, dtype=np.int8)
        return ((asked[:, None] < 0) | (asked[:, None] == rows[None])).all(axis=2).any(axis=0)

    def __str__(self) -> str:
        terms = [
            " ∧ ".join(f"x{i}" if sign else f"¬x{i}" for i, sign in enumerate(term) if sign >= 0) or "⊤"
            for term in self.terms
        ]
        return " ∨ ".join(f"({t})" for t in terms) if len(terms) > 1 else terms[0]


@dataclass(frozen=True)
class BooleanConcepts:
    """Disjunctions of some terms of some literals each over n variables, drawn at random; rows are uniform.

    With one term they are conjunctions. Without `literals` each variable is asked for, asked not to be, or not asked
    for, with equal probability.

    >>> print(BooleanConcepts(6, terms=2, literals=2).draw(0))
    (x1 ∧ ¬x3) ∨ (x2 ∧ x3)
    """

    n: int
    terms: int = 1
    literals: int | None = 2

    def __post_init__(self) -> None:
        whole("terms", self.terms, least=1)
        if whole("n", self.n, least=1) > MOST_VARIABLES:
            raise CapacityError(
                f"the error over all rows of {self.n} variables is too long to work out", hint=f"up to {MOST_VARIABLES}"
            )
        if self.literals is not None and whole("literals", self.literals) > self.n:
            raise ParameterError(f"a term of {self.n} variables has at most {self.n} literals, got {self.literals}")

    def draw(self, rng: np.random.Generator | int | None = None) -> Disjunction:
        """A concept."""
        rng = validation.generator(rng)
        return Disjunction(tuple(self._term(rng) for _ in range(self.terms)))

    def rows(self, m: int, rng: np.random.Generator) -> Rows:
        """Rows at random."""
        return rng.random((m, self.n)) < 0.5

    def every_row(self) -> Rows:
        """All 2^n of them, on which a true error is measured."""
        return np.array(list(itertools.product((False, True), repeat=self.n)))

    def _term(self, rng: np.random.Generator) -> tuple[int, ...]:
        signs = rng.integers(0, 2, self.n)
        asked = rng.random(self.n) < 2 / 3 if self.literals is None else rng.permutation(self.n) < self.literals
        return tuple(np.where(asked, signs, -1).tolist())
