"""Why a version space predicts what it does: the vote, and the constraints of its boundaries that a row violates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from bayeslearn.hypotheses.concept_learning.conjunctions import Conjunction
    from bayeslearn.hypotheses.concept_learning.version_space import VersionSpace, Vote
    from bayeslearn.tables.frames import Backend

#: The columns of an explanation.
COLUMNS = ("boundary", "hypothesis", "covers", "violated")


@dataclass(frozen=True, eq=False, repr=False)
class VoteExplanation(Reported):
    """The vote on a row, and for each member of the boundaries the constraints that the row violates.

    Attributes
    ----------
    vote
        The number of members that predict positive and negative.
    boundaries
        ("S" or "G", the hypothesis, the attributes whose constraint the row violates) for each member.
    """

    vote: Vote
    boundaries: tuple[tuple[str, Conjunction, tuple[str, ...]], ...]

    def report(self) -> Report:
        """Return the vote and the boundaries."""
        rows = [(where, str(h), "yes" if not odd else "no", ", ".join(odd)) for where, h, odd in self.boundaries]
        numbers = {"Yes": self.vote.yes, "No": self.vote.no, "Total": self.vote.total}
        grid = Grid(["Boundary", "Hypothesis", "Covers the row", "Violated"], rows, "Boundaries")
        return Report(f"Vote: {self.vote.verdict}", Pairs(numbers), grid)

    def to_dict(self) -> dict[str, Any]:
        """Return vote and boundaries as plain values."""
        boundaries = [
            {"boundary": where, "hypothesis": list(h.constraints), "violated": list(odd)}
            for where, h, odd in self.boundaries
        ]
        return {**self.vote.to_dict(), "boundaries": boundaries}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each member of the boundaries."""
        rows = [(where, str(h), not odd, ", ".join(odd)) for where, h, odd in self.boundaries]
        return frame_of_rows(list(COLUMNS), rows, backend)


def explain(space: VersionSpace, row: Any) -> VoteExplanation:
    """Return the vote on a row and why members of the boundaries cover it or not."""
    members = [("S", space.specific), *(("G", h) for h in space.general)]
    return VoteExplanation(space.vote(row), tuple((where, h, violated(space, h, row)) for where, h in members))


def violated(space: VersionSpace, h: Conjunction, row: Any) -> tuple[str, ...]:
    """The attributes whose constraint a row violates; a missing value violates none but ∅."""
    values = space.attributes.decode(space.attributes.encode([row], unseen=True)[0])
    pairs = zip(space.attributes.names, h.constraints, strict=True)
    return tuple(name for name, asked in pairs if asked != "?" and (asked == "∅" or values[name] not in {asked, None}))
