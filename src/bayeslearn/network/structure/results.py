"""What learning a structure comes to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayeslearn.network.graph import Dag
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.network.structure.counting.counts import FamilyCounts
    from bayeslearn.network.structure.counting.scores import Score
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths
    from bayeslearn.network.structure.holes.incomplete import StructuralEm
    from bayeslearn.network.structure.preparing import Prepared
    from bayeslearn.network.structure.testing.constraint import PcResult
    from bayeslearn.tables import Table


@dataclass(frozen=True)
class LearnedArc:
    """One arc, and what speaks for it."""

    parent: str
    child: str
    #: What the score would lose without it.
    gain: float
    #: Of resamples of the rows, the share that joins the two, and of these the share in this direction.
    strength: float | None = None
    direction: float | None = None


@dataclass(frozen=True)
class StructureFit:
    """A network whose structure was learned, and what it rests on."""

    network: BayesianNetwork
    method: str
    scored_by: Score
    #: The score of the structure; of incomplete rows that of what they show.
    score: float
    #: The surest first: by strength where rows were resampled, else by gain.
    arcs: tuple[LearnedArc, ...]
    #: The table that was learned from, and what had to be done for it.
    prepared: Prepared
    seconds: float = 0.0
    #: Whether a limit ended the search, which then is the best until there.
    stopped: bool = False
    strengths: ArcStrengths | None = None
    #: What tests said of every pair, from methods that test.
    tests: PcResult | None = None
    #: The way of structural EM, where cells are missing or variables hidden.
    expectation: StructuralEm | None = None
    #: What was counted of complete rows, for :func:`~bayeslearn.network.learn` to go on with.
    counts: FamilyCounts | None = None
    #: Passes over a source, from the first that looked at its rows; a table needs none.
    passes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self.network.dag

    @property
    def table(self) -> Table:
        """The rows that were learned from, or the source of them."""
        table: Table = self.prepared.table
        return table

    @property
    def missing(self) -> dict[str, int]:
        """Missing cells by column."""
        return self.table.missing()

    @property
    def bits(self) -> float:
        """The score as bits; for bic, the description length of structure and rows together."""
        return -self.score / math.log(2)

    def least_certain(self, n: int = 5) -> tuple[LearnedArc, ...]:
        """The arcs that least speaks for."""
        return self.arcs[::-1][:n]


def arcs_of(network: BayesianNetwork, score: Score, total: float) -> tuple[LearnedArc, ...]:
    """Every arc with what the score would lose without it, the dearest first.

    The counts that a table rests on are enough, be they expected ones: N(x, S − p) = Σ_p N(x, S).
    """
    found = []
    for cpt in network:
        n = cpt.seen.n
        now = score.family(n, total)
        for axis, parent in enumerate(cpt.parents):
            found.append(LearnedArc(parent.name, cpt.name, now - score.family(n.sum(axis=axis), total)))
    return tuple(sorted(found, key=lambda arc: (-arc.gain, arc.parent, arc.child)))
