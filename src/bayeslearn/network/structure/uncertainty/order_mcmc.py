"""The posterior over structures, by a random walk over orders of the variables (Friedman and Koller 2003).

    P(order | D) ∝ Π_x Σ over S before x of exp(score(x, S))
    P(c → x | order, D) = Σ over S before x with c in S of exp(score(x, S)) / Σ over all S before x

Every order is summed over all its graphs, exactly; only the orders are sampled. A score is taken for ln P(family, D):
k2, bdeu and bds are that, and bic is near it.

The prior that goes with this says that all pairs of an order and a graph that fits it are equally probable. A graph
that fits many orders therefore counts for more: a → b fits one order of two variables, no arc between them fits both.
:meth:`StructurePosterior.fair` takes this back for the graphs that were drawn, each weighed by 1 / orders it fits: then
all graphs are equally probable before the data. The draws must be many for that, for it looks at no others.

Several walks agree when R̂ is near 1:

    R̂² = (m − 1)/m + B/(m W)        B, W variance between and within the halves of all chains, m samples in each

Where :func:`~bayeslearn.network.learn` keeps the one graph that scores best, this keeps all of them, each by how
probable the rows make it.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers, require_room
from bayeslearn.em import ROUNDING
from bayeslearn.errors import (
    CapacityError,
    MissingValuesError,
    NotConvergedWarning,
    ParameterError,
    UnknownColumnError,
    nearest,
)
from bayeslearn.network.dag import Dag
from bayeslearn.network.structure.preprocessing import prepare
from bayeslearn.network.structure.score_based.candidate_parents import greedy, likely, partners
from bayeslearn.network.structure.score_based.parent_sets import parent_sets
from bayeslearn.network.structure.scoring.criteria import Score
from bayeslearn.network.structure.search_settings import UNLIMITED, Budget, Knowledge
from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.preprocessing import Prepared
    from bayeslearn.network.structure.score_based.parent_sets import ParentSets
    from bayeslearn.network.structure.scoring.criteria import ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed
    from bayeslearn.tables import Table


#: exp of minus this is nothing beside 1.
NOTHING = 40.0


class Chain:
    """A walk from where a climb from a random order ends; orders are by number of name."""

    def __init__(self, sets: ParentSets, rng: np.random.Generator) -> None:
        self.sets, self.rng, n = sets, rng, sets.n
        self.depth = NOTHING + float(np.log(np.diff(sets.first).max()))
        self.order = sets.possible(rng.permutation(n))
        slack = ROUNDING * (1 + abs(float(sets.scores[sets.first[:-1]].sum())))
        kernels.climb_orders(sets.arrays, self.order, rng.permutation(n), np.empty(n, np.int64), slack)
        self.sums = np.zeros((n, n))
        self.log_scores: list[float] = []
        self.chosen: list[NDArray[np.int64]] = []
        self.moves = self.taken = 0

    def walk(self, steps: int) -> None:
        """Some moves: half of them to the next place, half to any."""
        n = self.sets.n
        if n < 2:
            return
        near = self.rng.integers(n - 1, size=steps)
        here = self.rng.integers(n, size=steps)
        there = (here + 1 + self.rng.integers(n - 1, size=steps)) % n
        moves = np.where(self.rng.random((steps, 1)) < 0.5, np.stack([near, near + 1], 1), np.stack([here, there], 1))
        log_uniform = np.log1p(-self.rng.random(steps))
        self.taken += kernels.walk_orders(self.sets.arrays, self.order, moves, log_uniform, self.depth)
        self.moves += steps

    def sample(self, n: int, thin: int) -> None:
        """So many orders, each with a graph drawn from it.

        A coin adds a move: a walk that takes every one, as of equal orders, would come to half of the orders only.
        """
        for more in self.rng.integers(2, size=n).tolist():
            self.walk(thin + more)
            chosen, uniform = np.empty(self.sets.n, np.int64), self.rng.random(self.sets.n)
            place = np.argsort(self.order)
            score = kernels.read_order(self.sets.arrays, place, self.depth, uniform, self.sums, chosen)
            self.log_scores.append(float(score))
            self.chosen.append(chosen)

    @property
    def n_arcs(self) -> int:
        """Arcs of the graph that was drawn last."""
        chosen = self.chosen[-1]
        return int((self.sets.start[chosen + 1] - self.sets.start[chosen]).sum())

    @property
    def arcs(self) -> NDArray[np.float64]:
        """P(c → x | D) by position."""
        found = np.empty_like(self.sums)
        found[np.ix_(self.sets.by_name, self.sets.by_name)] = self.sums / len(self.log_scores)
        return found


def r_hat(values: NDArray[np.float64]) -> float:
    """How much wider all chains, (chains, samples), are together than each by itself; the halves are chains too."""
    m = values.shape[1] // 2
    if m < 2:
        return np.inf
    halves = np.concatenate([values[:, :m], values[:, -m:]])
    within, between = halves.var(axis=1, ddof=1).mean(), m * halves.mean(axis=1).var(ddof=1)
    if within <= (ROUNDING * (1 + np.abs(values).max())) ** 2:
        return 1.0 if between <= (ROUNDING * (1 + np.abs(values).max())) ** 2 * m else np.inf
    return float(np.sqrt((m - 1) / m + between / (m * within)))


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
    budget: Budget = UNLIMITED,
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
    require_room(f"{chains:,} chains of {samples:,} orders", chains * (4000 + samples * (200 + 8 * n)))
    require_numbers("moves between orders", (max(thin, burn_in), 8), copies=chains)
    sets = cache.settled(lambda: _sets(cache, allowed, budget, candidates), budget)
    walks = [Chain(sets, generator) for generator in validation.generator(rng).spawn(chains)]
    kernels.parallel(partial(Chain.walk, steps=burn_in), walks)
    part = -(-samples // PARTS)
    for done in range(0, samples, part):
        todo = min(part, samples - done)
        kernels.parallel(partial(Chain.sample, n=todo, thin=thin), walks)
        if budget.over(max(walk.log_scores[-1] for walk in walks), walks[0].n_arcs, done + todo):
            break
    return _gathered(cache, walks)


def _sets(cache: ScoreCache, allowed: Allowed, budget: Budget, candidates: int) -> ParentSets:
    """The parent sets that chains choose from."""
    can = allowed.arcs
    if cache.n - 1 > candidates:
        can = likely(cache, allowed, candidates)
        can |= greedy(cache, allowed) | partners(cache, allowed, can)
    return parent_sets(cache, allowed, budget, candidates=can, dominated=True)


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


### from a table to the posterior

#: The most parents when knowledge does not say: larger families are improbable, and very many.
MOST_PARENTS = 4


def structure_posterior(
    data: Any,
    *,
    score: str | Score = "bdeu:1",
    knowledge: Knowledge | None = None,
    samples: int = 500,
    chains: int = 4,
    states: Mapping[str, Iterable[Any]] | None = None,
    weights: ArrayLike | str | None = None,
    cut: str = "quantile",
    bins: int | None = None,
    max_states: int = 255,
    time_limit: float | None = None,
    rng: np.random.Generator | int | None = 0,
    progress: Callable[[Any], object] | None = None,
) -> StructurePosterior:
    """The probability of arcs and graphs, given complete rows.

    Parameters
    ----------
    data, states, weights, cut, bins, max_states
        As for :func:`~bayeslearn.network.learn`, sources among them, but no cell may be missing.
    score
        ``bdeu:CASES``, ``bds:CASES`` or ``k2``, which are log probabilities of the rows, or ``bic``, which is near one.
    knowledge
        Arcs that must or cannot be there, tiers, roots, leaves; and how many parents there may be, four if not said.
    samples, chains
        Orders that are looked at in each chain, and how many chains. That they agree is seen from `r_hat` and `gap`;
        if they do not, this is warned of.
    time_limit
        Seconds after which no more families and orders are looked at.
    rng
        Decides where the chains go.
    progress
        Told of every part of the chains; raising StopIteration ends them.

    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = structure_posterior(rows)
    >>> print(f"{found.arc('rain', 'wet'):.1f}, {found.edge('rain', 'wet'):.1f}, {found.edge('rain', 'hose'):.1f}")
    0.9, 1.0, 0.1
    """
    started = time.monotonic()
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, least=0)
    budget, known = Budget(late, progress), knowledge or Knowledge()
    prepared = prepare(
        data, states=states, weights=weights, cut=cut, bins=bins, max_states=max_states, memory=budget.memory
    )
    table = _complete(prepared.table)
    cache = prepared.scores(Score.of(score), budget.memory)
    most = MOST_PARENTS if known.most_parents is None else known.most_parents
    allowed = known.of(table.schema.names)
    found = sample_orders(cache, allowed, budget, samples=samples, chains=chains, most_parents=most, rng=rng)
    return replace(found, prepared=prepared, seconds=time.monotonic() - started, stopped=budget.stopped)


def _complete(table: Table) -> Table:
    """The table, once no cell of it is seen to be missing."""
    holes = {name: cells for name, cells in table.missing().items() if cells}
    if holes:
        name, cells = next(iter(holes.items()))
        raise MissingValuesError(
            f"column {name!r} misses {cells} cells, and the posterior over structures needs complete rows",
            hint="fill them first with `impute`, or take `learn` with `bootstrap` (--bootstrap N), which keeps holes",
            column=name,
        )
    return table
