"""What learning a structure comes to.

The network of a structure: tables that are read off counts, expected ones or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Counts
from bayeslearn.distributions.categorical import shares
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.cpt import CPT
from bayeslearn.network.dag import DAG
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.parameters.priors import priors_of
from bayeslearn.network.structure.scoring.criteria import parents_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.constraint_based.pc import PcResult
    from bayeslearn.network.structure.missing_data.structural_em import StructuralEm
    from bayeslearn.network.structure.preprocessing import PreparedData
    from bayeslearn.network.structure.scoring.criteria import StructureScore
    from bayeslearn.network.structure.scoring.family_counts import Counts as StructureCounts
    from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
    from bayeslearn.network.structure.search_settings import SearchSettings
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrengths
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
class StructureFitInfo:
    """A network whose structure was learned, and what it rests on."""

    network: BayesianNetwork
    #: How it was learned.
    settings: SearchSettings
    #: The score of the structure; of incomplete rows that of what they show.
    score: float
    #: The surest first: by strength where rows were resampled, else by gain.
    arcs: tuple[LearnedArc, ...]
    #: The table that was learned from, and what had to be done for it.
    prepared: PreparedData
    seconds: float = 0.0
    #: Whether a limit ended the search, which then is the best until there.
    stopped: bool = False
    strengths: ArcStrengths | None = None
    #: Of how many resamples these are the common arcs; 0 where they are those of all rows.
    averaged: int = 0
    #: What tests said of every pair, from methods that test.
    tests: PcResult | None = None
    #: The way of structural EM, where cells are missing or variables hidden.
    expectation: StructuralEm | None = None
    #: What was counted of complete rows, for :func:`~bayeslearn.network.fit_network` to go on with.
    counts: FamilyCounts | None = None
    #: Passes over a source, from the first that looked at its rows; a table needs none.
    passes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """The algorithm that found the structure."""
        return self.settings.algorithm

    @property
    def scored_by(self) -> StructureScore:
        """What structures were judged by."""
        return self.settings.criterion

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag

    @property
    def hidden(self) -> dict[str, tuple[Any, ...]]:
        """Variables that no row shows, with their states."""
        return {name: self.network.states(name) for name in self.network.names if name not in self.table.schema.names}

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


def arcs_of(network: BayesianNetwork, score: StructureScore, total: float) -> tuple[LearnedArc, ...]:
    """Every arc with what the score would lose without it, the dearest first.

    The counts that a table rests on are enough, be they expected ones: N(x, S − p) = Σ_p N(x, S).
    """
    found = []
    for cpt in network:
        n = cpt.observed_counts.n
        now = score.family(n, total)
        for axis, parent in enumerate(cpt.parents):
            found.append(LearnedArc(parent.name, cpt.name, now - score.family(n.sum(axis=axis), total)))
    return tuple(sorted(found, key=lambda arc: (-arc.gain, arc.parent, arc.child)))


### the network of a structure


def tables_of(counts: StructureCounts, arcs: NDArray[np.bool_], prior: Prior) -> BayesianNetwork:
    """The network of a structure, each table with the counts and the prior that it rests on."""
    counts.expect(families=[(x, *parents_of(arcs, x)) for x in range(len(counts.names))])
    seen = {name: counts.family(x, parents_of(arcs, x)) for x, name in enumerate(counts.names)}
    return counted(uniform(graph(counts.names, arcs), {v.name: v for v in counts.variables}), seen, prior)


def marginals(table: Table, prior: Prior) -> BayesianNetwork:
    """The network without arcs: each variable by the values that are observed, which is where EM would end."""
    variables = {v.name: v for v in table.schema.discrete}
    seen = {
        name: np.bincount(table.codes_of(name).astype(np.int64) + 1, table.sample_weight, v.size + 1)[1:].astype(float)
        for name, v in variables.items()
    }
    return counted(uniform(DAG(dict.fromkeys(variables, ())), variables), seen, prior)


def counted(frame: BayesianNetwork, seen: Mapping[str, NDArray[np.float64]], prior: Prior) -> BayesianNetwork:
    """A network with tables by the counts of its families."""
    priors = priors_of(prior, frame)
    return BayesianNetwork(
        tuple(
            CPT(cpt.variable, cpt.parents, shares(n.n + prior.alpha, 1 / cpt.variable.size, nothing=0.0), n, prior)
            for cpt, n, prior in ((cpt, Counts(seen[cpt.name]), priors[cpt.name]) for cpt in frame)
        )
    )


def graph(names: Sequence[str], arcs: NDArray[np.bool_]) -> DAG:
    """A graph by names."""
    return DAG({name: tuple(names[c] for c in parents_of(arcs, x)) for x, name in enumerate(names)})
