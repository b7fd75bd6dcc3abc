"""The posterior over structures, by a random walk over orders of the variables (Friedman and Koller 2003).

    P(order | D) ∝ Π_x Σ over S before x of exp(score(x, S))
    P(c → x | order, D) = Σ over S before x with c in S of exp(score(x, S)) / Σ over all S before x

Every order is summed over all its graphs, exactly; only the orders are sampled. A score is taken for ln P(family, D):
k2, bdeu and bds are that, and bic is near it.

The prior that goes with this says that all pairs of an order and a graph that fits it are equally probable. A graph
that fits many orders therefore counts for more: a → b fits one order of two variables, no arc between them fits both.
:meth:`StructurePosterior.fair` takes this back for the graphs that were drawn, each weighed by 1 / orders it fits: then
all graphs are equally probable before the data. The draws must be many for that, for it looks at no others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import CapacityError, NotConvergedWarning, ParameterError, UnknownColumnError, nearest
from bayeslearn.network.graph import Dag
from bayeslearn.network.structure.doubt.averaged_networks import AveragedNetworks
from bayeslearn.network.structure.doubt.chains import Chain, r_hat
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.candidates import greedy, likely, partners
from bayeslearn.network.structure.searching.parent_sets import parent_sets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.structure.counting.cache import ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.preparing import Prepared
    from bayeslearn.network.structure.searching.parent_sets import ParentSets

#: Variables of graphs whose orders are counted.
MOST_VARIABLES = 18

#: Parts of a walk between which chains are looked at.
PARTS = 20

#: When chains agree: R̂ of the log score, and the largest difference of an arc's probability.
AGREED, NEAR = 1.1, 0.25


class Draw(NamedTuple):
    """A graph, and its share of the draws."""

    dag: Dag
    weight: float


@dataclass(frozen=True, eq=False)
class StructurePosterior:
    """What is believed of arcs and graphs."""

    names: tuple[str, ...]
    #: P(c → x | D) as arcs[c, x].
    arcs: NDArray[np.float64]
    #: ln P(order, D) of every sample, (chains, samples), up to a constant.
    log_scores: NDArray[np.float64]
    #: R̂ of the log scores: near 1 when the chains agree.
    r_hat: float
    #: The largest difference between chains in the probability of an arc.
    gap: float
    #: The share of moves that were taken.
    taken: float
    #: Distinct graphs, the most frequent first.
    draws: tuple[Draw, ...]
    #: The table that it rests on, and what had to be done for it.
    prepared: Prepared | None = None
    seconds: float = 0.0
    #: Whether a limit ended the chains.
    stopped: bool = False

    @property
    def converged(self) -> bool:
        """Whether the chains agree."""
        return self.r_hat <= AGREED and self.gap <= NEAR

    def arc(self, parent: str, child: str) -> float:
        """P(parent → child | D)."""
        return float(self.arcs[self._place(parent), self._place(child)])

    def edge(self, a: str, b: str) -> float:
        """P(an arc between both, either way | D)."""
        return self.arc(a, b) + self.arc(b, a)

    def table(self) -> list[tuple[str, str, float]]:
        """All arcs with their probabilities, the most probable first, then by name."""
        n = len(self.names)
        found = [(self.names[c], self.names[x], float(self.arcs[c, x])) for c in range(n) for x in range(n) if c != x]
        return sorted(found, key=lambda arc: (-round(arc[2], 9), arc[:2]))  # rounding decides nothing

    def fair(self) -> StructurePosterior:
        """The same with all graphs equally probable before the data: draws weighed by 1 / orders they fit."""
        if len(self.names) > MOST_VARIABLES:
            raise CapacityError(
                f"orders are counted for graphs of at most {MOST_VARIABLES} variables, got {len(self.names)}",
                hint="keep the prior over orders",
                variables=len(self.names),
            )
        weights = np.array([draw.weight / orders_of(draw.dag) for draw in self.draws])
        draws = _sorted(zip((draw.dag for draw in self.draws), (weights / weights.sum()).tolist(), strict=True))
        return replace(self, draws=draws, arcs=_mean_arcs(self.names, draws))

    def networks(self, data: Any = None, *, prior: Prior = "bdeu:1", most: int = 50) -> AveragedNetworks:
        """The most probable graphs, at most so many, each with a say in every answer: the Bayes optimal one.

        Their tables are learned from `data`, or else from the rows that the posterior rests on.
        """
        rows = self.prepared.table if data is None and self.prepared is not None else data
        return AveragedNetworks.learned(self.draws, rows, prior=prior, most=most)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownColumnError(
                f"there is no variable {name!r}", hint=nearest([name], self.names, "the variables")
            )
        return self.names.index(name)


def orders_of(dag: Dag) -> float:
    """How many orders put every node of a graph after its parents."""
    bit = {name: 1 << i for i, name in enumerate(dag.nodes)}
    parents = np.array([sum(bit[p] for p in dag.parents(name)) for name in dag.nodes], np.int64)
    return float(kernels.count_orders(parents, np.empty(1 << len(bit))))


def sample_orders(
    cache: ScoreCache,
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    samples: int = 500,
    chains: int = 4,
    thin: int | None = None,
    burn_in: int | None = None,
    most_parents: int = 4,
    candidates: int = 12,
    rng: np.random.Generator | int | None = 0,
) -> StructurePosterior:
    """Sample orders, and say what they make of arcs and graphs.

    Parameters
    ----------
    samples, chains
        Orders that are looked at in each chain.
    thin, burn_in
        Moves between two of these, and before the first; so many for each variable, 2 and 100, when not given.
    most_parents
        Larger parent sets have probability zero, unless knowledge demands them.
    candidates
        Of more variables than this, only the likely parents of each are looked at.
    """
    if cache.score.name in {"loglik", "aic"}:
        raise ParameterError(
            f"the score {cache.score.name!r} is no log probability of the data, so there is no posterior",
            hint="choose bdeu, k2, bds or bic",
        )
    for name, value in {"samples": samples, "chains": chains, "candidates": candidates}.items():
        validation.integer(name, value, least=1)
    n = cache.n
    thin = validation.integer("thin", 2 * n if thin is None else thin, least=1)
    burn_in = validation.integer("burn_in", 100 * n if burn_in is None else burn_in, least=0)
    most = max(validation.integer("most_parents", most_parents, least=0), int(allowed.required.sum(axis=0).max()))
    allowed = replace(allowed, most_parents=min(most, allowed.most_parents))
    sets = cache.settled(lambda: _sets(cache, allowed, limits, candidates), limits)
    walks = [Chain(sets, generator) for generator in validation.generator(rng).spawn(chains)]
    kernels.parallel(partial(Chain.walk, steps=burn_in), walks)
    part = -(-samples // PARTS)
    for done in range(0, samples, part):
        todo = min(part, samples - done)
        kernels.parallel(partial(Chain.sample, n=todo, thin=thin), walks)
        if limits.over(max(walk.log_scores[-1] for walk in walks), walks[0].n_arcs, done + todo):
            break
    return _gathered(cache, walks)


def _sets(cache: ScoreCache, allowed: Allowed, limits: Limits, candidates: int) -> ParentSets:
    """The parent sets that chains choose from."""
    can = allowed.arcs
    if cache.n - 1 > candidates:
        can = likely(cache, allowed, candidates)
        can |= greedy(cache, allowed) | partners(cache, allowed, can)
    return parent_sets(cache, allowed, limits, candidates=can, dominated=True)


def _gathered(cache: ScoreCache, walks: list[Chain]) -> StructurePosterior:
    names = tuple(cache.counts.names)
    by_chain = np.array([walk.arcs for walk in walks])
    log_scores = np.array([walk.log_scores for walk in walks])
    distinct, seen = np.unique(np.concatenate([walk.chosen for walk in walks]), axis=0, return_counts=True)
    dags = (_dag(names, walks[0].sets.arcs(chosen)) for chosen in distinct)
    found = StructurePosterior(
        names,
        np.clip(by_chain.mean(axis=0), 0.0, 1.0),
        log_scores,
        r_hat(log_scores),
        float(np.ptp(by_chain, axis=0).max()),
        sum(walk.taken for walk in walks) / max(sum(walk.moves for walk in walks), 1),
        _sorted(zip(dags, (seen / seen.sum()).tolist(), strict=True)),
    )
    if not found.converged:
        warnings.warn(
            f"chains over orders do not agree: R̂ is {found.r_hat:.3g}, and an arc's probability differs by "
            f"{found.gap:.2f}\n\nhint: raise `samples`",
            NotConvergedWarning,
            stacklevel=4,
        )
    return found


def _dag(names: tuple[str, ...], arcs: NDArray[np.bool_]) -> Dag:
    return Dag({name: tuple(names[c] for c in np.flatnonzero(arcs[:, x])) for x, name in enumerate(names)})


def _sorted(draws: Iterable[tuple[Dag, float]]) -> tuple[Draw, ...]:
    return tuple(Draw(*draw) for draw in sorted(draws, key=lambda draw: (-draw[1], sorted(draw[0].arcs))))


def _mean_arcs(names: tuple[str, ...], draws: Iterable[Draw]) -> NDArray[np.float64]:
    place = {name: i for i, name in enumerate(names)}
    arcs = np.zeros((len(names), len(names)))
    for dag, weight in draws:
        for c, x in dag.arcs:
            arcs[place[c], place[x]] += weight
    return arcs
