"""What concept learning remembers of its examples, as a statistic that adds.

    positive   how often each state of each attribute was seen in positive examples
    negative   how often each negative example was seen

The most specific hypothesis is read off the first: an attribute that showed one state requires it, one that showed
several is `?`. So examples can be added in any order and any batches, and be taken back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import EvidenceError
from bayeslearn.families import Counts
from bayeslearn.hypotheses.concepts.attributes import ANY, NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concepts.attributes import Attributes
    from bayeslearn.hypotheses.concepts.examples import Examples


@dataclass(frozen=True)
class ConceptEvidence:
    """Counts of states (all attributes in one row, one after the other) and of negative rows."""

    positive: Counts
    negative: Mapping[tuple[int, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "negative", dict(self.negative))

    @classmethod
    def zero(cls, attributes: Attributes) -> ConceptEvidence:
        """No example."""
        return cls(Counts.zero((sum(len(states) for states in attributes.states),)))

    @classmethod
    def collect(cls, examples: Examples) -> ConceptEvidence:
        """The statistics of complete examples."""
        sizes = [len(states) for states in examples.attributes.states]
        starts = np.cumsum([0, *sizes[:-1]])
        cells = (examples.codes[examples.labels] + starts).ravel()
        positive = Counts(np.bincount(cells, minlength=sum(sizes)).astype(float))
        return cls(positive, Counter(tuple(row) for row in examples.codes[~examples.labels].tolist()))

    def __add__(self, other: ConceptEvidence) -> ConceptEvidence:
        return ConceptEvidence(self.positive + other.positive, Counter(self.negative) + Counter(other.negative))

    def __sub__(self, other: ConceptEvidence) -> ConceptEvidence:
        left = Counter(self.negative)
        left.subtract(other.negative)
        if any(n < 0 for n in left.values()):
            raise EvidenceError(
                "a negative example was taken back that had not been added", hint="take back only what was added"
            )
        return ConceptEvidence(self.positive - other.positive, +left)

    def specific(self, attributes: Attributes) -> NDArray[np.intp]:
        """Codes of the most specific hypothesis that covers every positive example."""
        sizes = [len(states) for states in attributes.states]
        seen = np.split(self.positive.n > 0, np.cumsum(sizes[:-1]))
        return np.array([NONE if not s.any() else int(s.argmax()) if s.sum() == 1 else ANY for s in seen])

    def negatives(self, attributes: Attributes) -> NDArray[np.intp]:
        """The different negative examples, as codes."""
        return np.array(list(self.negative), dtype=np.intp).reshape(-1, len(attributes))
