"""Learners that output one hypothesis, or list them all: Find-S, list-then-eliminate, and Bayes over every conjunction.

Under a uniform prior and no noise every consistent hypothesis has the posterior 1/|VS|, and P(D) = |VS|/|H|: any
learner that outputs a consistent hypothesis outputs a most probable one.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import CapacityError, MissingValuesError
from bayeslearn.hypotheses.concepts.attributes import ANY, MISSING, Attributes
from bayeslearn.hypotheses.concepts.conjunction import Conjunction, covering
from bayeslearn.hypotheses.concepts.evidence import ConceptEvidence
from bayeslearn.hypotheses.likelihoods import Labelling, with_noise
from bayeslearn.hypotheses.space import FiniteSpace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concepts.examples import Examples

#: Hypotheses that may be listed before it is called too many.
MAX_LISTED = 1_000_000


def find_s(examples: Examples) -> Conjunction:
    """The most specific conjunction that covers every positive example; negative ones are not looked at.

    >>> from bayeslearn.hypotheses import Examples
    >>> find_s(Examples.of([["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"]], [True, True, False]))
    ⟨sunny, ?⟩
    """
    complete = examples.only(examples.labels).complete()
    codes = ConceptEvidence.collect(complete).specific(examples.attributes)
    return Conjunction(examples.attributes, tuple(codes.tolist()))


def all_conjunctions(attributes: Any, *, most: int = MAX_LISTED) -> Iterator[Conjunction]:
    """Every conjunction over some attributes, the one that covers nothing first; refused when more than `most`."""
    attributes = Attributes.of(attributes)
    if attributes.n_conjunctions > most:
        raise CapacityError(
            f"there are {attributes.n_conjunctions} conjunctions over {len(attributes)} attributes, "
            f"more than the {most} that may be listed",
            hint="a VersionSpace counts and votes without listing; or raise `most`",
            hypotheses=attributes.n_conjunctions,
        )
    return _listed(attributes)


def list_then_eliminate(examples: Examples, *, most: int = MAX_LISTED) -> list[Conjunction]:
    """Every conjunction consistent with the examples, by trying them all."""
    members = list(all_conjunctions(examples.attributes, most=most))
    covered = covering(np.array([h.codes for h in members]), examples.complete().codes)
    agrees = (covered == examples.labels[:, None]).all(axis=0)
    return [h for h, good in zip(members, agrees.tolist(), strict=True) if good]


def concept_space(attributes: Any, *, noise: float = 0.0, most: int = MAX_LISTED) -> FiniteSpace:
    """Every conjunction as one finite space: cases are (row, True or False), labels wrong at the rate `noise`.

    >>> space = concept_space({"sky": ["sunny", "rainy"], "air": ["warm", "cold"]})
    >>> posterior = space.posterior().update((["sunny", "warm"], True))
    >>> posterior.map, round(posterior.evidence, 6)                     # 4 of the 10 agree
    ([⟨sunny, warm⟩, ⟨sunny, ?⟩, ⟨?, warm⟩, ⟨?, ?⟩], 0.4)
    """
    attributes = Attributes.of(attributes)
    members = tuple(all_conjunctions(attributes, most=most))
    return FiniteSpace(members, members, ConceptLabelling(members, (False, True), float(noise)))


class ConceptLabelling(Labelling):
    """Conjunctions that label rows, all of them at once."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """What every hypothesis asks of every attribute."""
        return np.array([h.codes for h in self.hypotheses])

    def log_probabilities(self, X: Any, *, noisy: bool) -> NDArray[np.float64]:
        """ln P(label|h, row), shape (n, size, 2)."""
        rows = self.hypotheses[0].attributes.encode(X, unseen=True)
        if (rows == MISSING).any():
            row = int(np.argmax((rows == MISSING).any(axis=1)))
            raise MissingValuesError(f"row {row} has a missing cell", hint="leave it out, or fill the cell in", row=row)
        covered = covering(self.codes, rows)
        with np.errstate(divide="ignore"):
            logs = np.log(np.stack([~covered, covered], axis=2).astype(float))
        return with_noise(logs, self.noise) if noisy else logs


def _listed(attributes: Attributes) -> Iterator[Conjunction]:
    yield Conjunction.nothing(attributes)
    for codes in itertools.product(*((*range(len(states)), ANY) for states in attributes.states)):
        yield Conjunction(attributes, codes)
