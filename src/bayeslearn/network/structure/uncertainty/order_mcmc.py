"""The posterior over structures, by a random walk over orders of the variables (Friedman and Koller 2003).

    P(order | D) ∝ Π_x Σ over S before x of exp(score(x, S))
    P(c → x | order, D) = Σ over S before x with c in S of exp(score(x, S)) / Σ over all S before x

Every order is summed over all its graphs, exactly; only the orders are sampled. A score is taken for ln P(family, D):
k2, bdeu and bds are that, and bic is near it.

The prior that goes with this states that all pairs of an order and a graph that fits it are equally probable. A graph
that fits many orders therefore counts for more: a → b fits one order of two variables, no arc between them fits both.
:meth:`StructurePosterior.symmetrized` corrects this for the sampled graphs, each weighted by 1 / orders it fits: then
all graphs are equally probable a priori. This requires many samples, because it considers no other graphs.

Several walks agree when R̂ is near 1:

    R̂² = (m − 1)/m + B/(m W)        B, W variance between and within the halves of all chains, m samples in each

Where :func:`~bayeslearn.network.fit_network` keeps the one graph that scores best, this keeps all of them, each by how
probable the rows make it.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers, require_room
from bayeslearn.em import ROUNDING
from bayeslearn.errors import (
    ConvergenceWarning,
    MissingValuesError,
    ParameterError,
    outside,
)
from bayeslearn.network.dag import DAG
from bayeslearn.network.structure.preprocessing import prepare
from bayeslearn.network.structure.score_based.candidate_parents import greedy, likely, partners
from bayeslearn.network.structure.score_based.parent_sets import parent_sets
from bayeslearn.network.structure.scoring.criteria import StructureScore
from bayeslearn.network.structure.search_settings import UNLIMITED, BackgroundKnowledge, Budget, reporting
from bayeslearn.network.structure.uncertainty.structure_posterior import StructurePosterior, sorted_draws
from bayeslearn.progress import reports_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.structure.score_based.parent_sets import ParentSets
    from bayeslearn.network.structure.scoring.criteria import ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables import Table


#: exp of minus this is nothing next to 1.
NOTHING = 40.0


class Chain:
    """A walk from where hill climbing from a random order ends; orders are by number of name."""

    def __init__(self, sets: ParentSets, random_state: np.random.Generator) -> None:
        self.sets, self.rng, n = sets, random_state, sets.n
        self.depth = NOTHING + float(np.log(np.diff(sets.first).max()))
        self.order = sets.possible(random_state.permutation(n))
        slack = ROUNDING * (1 + abs(float(sets.scores[sets.first[:-1]].sum())))
        kernels.climb_orders(sets.arrays, self.order, random_state.permutation(n), np.empty(n, np.int64), slack)
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
        """Draw this many orders, each with a graph drawn from it.

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
    """How much wider all chains, (chains, samples), are together than each alone; the halves are chains too."""
    m = values.shape[1] // 2
    if m < 2:
        return np.inf
    halves = np.concatenate([values[:, :m], values[:, -m:]])
    within, between = halves.var(axis=1, ddof=1).mean(), m * halves.mean(axis=1).var(ddof=1)
    if within <= (ROUNDING * (1 + np.abs(values).max())) ** 2:
        return 1.0 if between <= (ROUNDING * (1 + np.abs(values).max())) ** 2 * m else np.inf
    return float(np.sqrt((m - 1) / m + between / (m * within)))


#: Parts of a walk between which chains are considered.
PARTS = 20


def sample_orders(
    cache: ScoreCache,
    allowed: Allowed,
    budget: Budget = UNLIMITED,
    *,
    n_samples: int = 500,
    n_chains: int = 4,
    thin: int | None = None,
    burn_in: int | None = None,
    max_parents: int = 4,
    candidates: int = 12,
    random_state: np.random.Generator | int | None = 0,
) -> StructurePosterior:
    """Sample orders, and return their probabilities of arcs and graphs.

    Parameters
    ----------
    n_samples, n_chains
        Orders that are sampled in each chain, and the number of chains.
    thin, burn_in
        Moves between two of these, and before the first; this many for each variable, 2 and 100, when not given.
    max_parents
        Larger parent sets have probability zero, unless knowledge demands them.
    candidates
        Of more variables than this, only the likely parents of each are considered.
    """
    if cache.score.name in {"loglik", "aic"}:
        raise ParameterError(
            f"the score {cache.score.name!r} is no log probability of the data, so there is no posterior",
            hint="choose bdeu, k2, bds or bic",
        )
    for name, value in {"n_samples": n_samples, "n_chains": n_chains, "candidates": candidates}.items():
        validation.integer(name, value, min_value=1)
    n = cache.n
    thin = validation.integer("thin", 2 * n if thin is None else thin, min_value=1)
    burn_in = validation.integer("burn_in", 100 * n if burn_in is None else burn_in, min_value=0)
    most = max(validation.integer("max_parents", max_parents, min_value=0), int(allowed.required.sum(axis=0).max()))
    allowed = replace(allowed, max_parents=min(most, allowed.max_parents))
    require_room(f"{n_chains:,} chains of {n_samples:,} orders", n_chains * (4000 + n_samples * (200 + 8 * n)))
    require_numbers("moves between orders", (max(thin, burn_in), 8), copies=n_chains)
    sets = cache.settled(lambda: _sets(cache, allowed, budget, candidates), budget)
    walks = [Chain(sets, generator) for generator in validation.generator(random_state).spawn(n_chains)]
    kernels.parallel(partial(Chain.walk, steps=burn_in), walks)
    part = -(-n_samples // PARTS)
    for done in range(0, n_samples, part):
        todo = min(part, n_samples - done)
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
        sorted_draws(zip(dags, (seen / seen.sum()).tolist(), strict=True)),
    )
    if not found.converged:
        warnings.warn(
            f"the chains over orders do not agree: R̂ is {found.r_hat:.3g}, and an arc's probability differs by "
            f"{found.max_chain_difference:.2f}\n\nhint: raise `n_samples`",
            ConvergenceWarning,
            stacklevel=outside(),
        )
    return found


def _dag(names: tuple[str, ...], arcs: NDArray[np.bool_]) -> DAG:
    return DAG({name: tuple(names[c] for c in np.flatnonzero(arcs[:, x])) for x, name in enumerate(names)})


### from a table to the posterior

#: The most parents when knowledge does not say: larger families are improbable, and very many.
MAX_PARENTS = 4


@reports_progress("Sampling variable orders")
def sample_structure_posterior(
    data: Any,
    *,
    criterion: str | StructureScore = "bdeu:1",
    knowledge: BackgroundKnowledge | None = None,
    n_samples: int = 500,
    n_chains: int = 4,
    states: Mapping[str, Iterable[Any]] | None = None,
    sample_weight: ArrayLike | str | None = None,
    discretize: str = "quantile",
    n_bins: int | None = None,
    max_states: int = 255,
    time_limit: float | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
) -> StructurePosterior:
    """Sample structures from their posterior given complete rows, by MCMC over variable orders.

    Parameters
    ----------
    data, states, sample_weight, discretize, n_bins, max_states
        As for :func:`~bayeslearn.network.fit_network`, sources among them, but without missing values.
    criterion
        ``bdeu:N``, ``bds:N`` (N: the equivalent sample size) or ``k2``, log marginal likelihoods; or ``bic``, which
        approximates one.
    knowledge
        Required and forbidden arcs, tiers, roots, leaves; and the maximum number of parents, 4 by default.
    n_samples, n_chains
        Orders that are sampled in each chain, and the number of chains. `r_hat` and `max_chain_difference` measure
        whether the chains agree; there is a warning if not.
    time_limit
        Seconds after which sampling ends.
    random_state
        Seed or generator of the chains.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress` after every
        part of the chains; raising StopIteration ends them.

    Returns
    -------
    StructurePosterior
        Probabilities of arcs and edges, sampled graphs, and the average of their networks.

    Examples
    --------
    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = sample_structure_posterior(rows)
    >>> arc, edge = found.arc_probability("rain", "wet"), found.edge_probability("rain", "hose")
    >>> print(f"{arc:.1f}, {edge:.1f}")
    0.9, 0.1
    """
    started = time.monotonic()
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, min_value=0)
    budget = Budget(late, reporting(progress, time_limit, n_steps=n_samples))  # type: ignore[arg-type] # opened
    known = knowledge or BackgroundKnowledge()
    prepared = prepare(
        data,
        states=states,
        sample_weight=sample_weight,
        discretize=discretize,
        n_bins=n_bins,
        max_states=max_states,
        memory=budget.memory,
    )
    table = _complete(prepared.table)
    cache = prepared.scores(StructureScore.parse(criterion), budget.memory)
    most = MAX_PARENTS if known.max_parents is None else known.max_parents
    allowed = known.of(table.schema.names)
    found = sample_orders(
        cache, allowed, budget, n_samples=n_samples, n_chains=n_chains, max_parents=most, random_state=random_state
    )
    return replace(found, prepared_data=prepared, seconds=time.monotonic() - started, stopped_early=budget.stopped)


def _complete(table: Table) -> Table:
    """The table, once no cell of it is seen to be missing."""
    holes = {name: cells for name, cells in table.missing().items() if cells}
    if holes:
        name, cells = next(iter(holes.items()))
        raise MissingValuesError(
            f"column {name!r} misses {cells} cells, and the posterior over structures needs complete rows",
            hint="fill them first with `impute`, or `fit_network(bootstrap=N)` (--bootstrap N), which uses all rows",
            column=name,
        )
    return table
