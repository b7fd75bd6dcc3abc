"""The network of a structure: tables that are read off counts, expected ones or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.families import Counts
from bayeslearn.network.cpt import Cpt
from bayeslearn.network.graph import Dag
from bayeslearn.network.learning.fit import uniform
from bayeslearn.network.learning.priors import priors_of
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.structure.counting.cache import parents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.structure.counting.counts import FamilyCounts


def tables_of(counts: FamilyCounts, arcs: NDArray[np.bool_], prior: Prior) -> BayesianNetwork:
    """The network of a structure, each table with the counts and the prior that it rests on."""
    counts.expect(families=[(x, *parents_of(arcs, x)) for x in range(len(counts.names))])
    seen = {name: Counts(counts.family(x, parents_of(arcs, x))) for x, name in enumerate(counts.names)}
    frame = uniform(graph(counts.names, arcs), {v.name: v for v in counts.variables})
    priors = priors_of(prior, frame)
    return BayesianNetwork(
        tuple(
            Cpt(cpt.variable, cpt.parents, proportions(n.n + prior.alpha), n, prior)
            for cpt, n, prior in ((cpt, seen[cpt.name], priors[cpt.name]) for cpt in frame)
        )
    )


def graph(names: Sequence[str], arcs: NDArray[np.bool_]) -> Dag:
    """A graph by names."""
    return Dag({name: tuple(names[c] for c in parents_of(arcs, x)) for x, name in enumerate(names)})


def proportions(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row divided by its sum; even where it rests on nothing."""
    total = n.sum(axis=-1, keepdims=True)
    return np.where(total > 0, n / np.where(total > 0, total, 1.0), 1 / n.shape[-1])
