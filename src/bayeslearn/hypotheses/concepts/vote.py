"""How the members of a version space vote on a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayeslearn.hypotheses.concepts.lattice import Weight


@dataclass(frozen=True)
class Vote:
    """The members (or their weight) that say yes, that say no, and all; the rest cannot say, for cells are missing.

    >>> vote = Vote(yes=2, no=4, total=6)
    >>> vote.majority, vote.unanimous, round(vote.share, 3)
    (False, None, 0.333)
    """

    yes: Weight
    no: Weight
    total: Weight

    @property
    def share(self) -> float:
        """The share of all votes that says yes: P(positive|D) when members are weighted by their posterior."""
        return float(self.yes / self.total)

    @property
    def undecided(self) -> Weight:
        """The votes that depend on missing cells."""
        return self.total - self.yes - self.no

    @property
    def majority(self) -> bool | None:
        """What more than half say; None when neither side has that."""
        return True if 2 * self.yes > self.total else False if 2 * self.no > self.total else None

    @property
    def unanimous(self) -> bool | None:
        """What all say; None when they differ."""
        return True if self.yes == self.total else False if self.no == self.total else None
