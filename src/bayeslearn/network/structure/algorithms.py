"""The algorithms of structure learning by name: each maps scores of families to the arcs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, option
from bayeslearn.network.structure.constraint_based.mmhc import mmhc
from bayeslearn.network.structure.constraint_based.pc import pc
from bayeslearn.network.structure.score_based.candidate_parents import with_weak_parents
from bayeslearn.network.structure.score_based.fixed_structures import k2, naive, tan, tree
from bayeslearn.network.structure.score_based.ges import ges
from bayeslearn.network.structure.score_based.hill_climbing import Structure, hill_climb, order_of, restarted, tabu
from bayeslearn.network.structure.score_based.order_search import best_parents, exact, order_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.constraint_based.pc import PCResult
    from bayeslearn.network.structure.scoring.criteria import ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget, SearchSettings

    Arcs = NDArray[np.bool_]

#: Parent sets times rows that `optimal_given_order` examines without a limit of parents: some seconds of work.
MOST_WORK = 1 << 31

#: The note if larger sets are possible.
NARROWED = (
    "sets of {} or more parents were examined only where all subsets with one parent less improve the score; "
    "with a limit of {} parents, all sets up to that size are examined"
)

#: Variables up to which every structure is looked at without being asked to.
FEW = 8


@dataclass(frozen=True)
class Found:
    """The arcs, and what tests of independence showed where there were any."""

    arcs: Arcs
    tests: PCResult | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm: its function, a description, and what it requires."""

    #: The last argument is the graph that hill climbing goes on from; from what is required when None.
    run: Callable[[SearchSettings, ScoreCache, Arcs | None], Found]
    about: str
    needs: str | None = None
    #: Whether it takes background knowledge into account.
    knows: bool = True


def find(settings: SearchSettings, cache: ScoreCache, start: Arcs | None = None) -> Found:
    """The structure that the algorithm finds, from a graph on where one is given."""
    algorithm, names = settings.algorithm, cache.counts.names
    settings.order_of(names), settings.target_of(names)  # a name that is no variable is a mistake, needed or not
    entry = ALGORITHMS[validation.choice("algorithm", algorithm, list(ALGORITHMS))]
    if entry.needs and getattr(settings, entry.needs) is None:
        raise ParameterError(
            f"algorithm {algorithm!r} requires `{entry.needs}`",
            hint=f"give {option(entry.needs)}, or choose another algorithm",
        )
    if not entry.knows and not allowed_by(settings, cache).anything:
        raise ParameterError(
            f"algorithm {algorithm!r} cannot take background knowledge into account",
            hint="omit the knowledge, or choose a search such as tabu",
        )

    def search() -> Found:
        found = entry.run(settings, cache, start)
        cache.expect(found.arcs)
        return found

    return cache.settled(search, settings.budget)


def directs(settings: SearchSettings) -> bool:
    """Whether arcs are directed by more than the rows: by knowledge, by an order, or around a target."""
    return settings.knowledge.directs or ALGORITHMS[settings.algorithm].needs is not None


def allowed_by(settings: SearchSettings, cache: ScoreCache) -> Allowed:
    """The knowledge by position."""
    return settings.knowledge.of(cache.counts.names)


def target_of(settings: SearchSettings, cache: ScoreCache) -> int:
    """The target by position, likewise."""
    target = settings.target_of(cache.counts.names)
    assert target is not None
    return target


### the algorithms


def _climbed(
    search: Callable[[Structure, Budget], Arcs], settings: SearchSettings, cache: ScoreCache, start: Arcs | None
) -> Found:
    allowed, rng = allowed_by(settings, cache), np.random.default_rng(settings.seed)
    structure = Structure(cache, allowed, allowed.required if start is None else start)
    return Found(restarted(search, structure, settings.budget, restarts=settings.n_restarts, random_state=rng))


def _auto(settings: SearchSettings, cache: ScoreCache, start: Arcs | None) -> Found:
    beyond = _orders if start is None else _ges  # from a graph on, a quick one is wanted
    return (_exact if cache.n <= FEW else beyond)(settings, cache, start)


def _hill_climb(settings: SearchSettings, cache: ScoreCache, start: Arcs | None) -> Found:
    return _climbed(hill_climb, settings, cache, start)


def _tabu(settings: SearchSettings, cache: ScoreCache, start: Arcs | None) -> Found:
    return _climbed(tabu, settings, cache, start)


def _orders(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(order_search(cache, allowed_by(settings, cache), settings.budget, random_state=settings.seed))


def _ges(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(ges(cache, allowed_by(settings, cache), settings.budget))


def _exact(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(exact(cache, allowed_by(settings, cache), settings.budget))


def _k2(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(k2(cache, settings.order_of(cache.counts.names), allowed_by(settings, cache)))


def _best_parents(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    allowed = allowed_by(settings, cache)
    work = MOST_WORK if allowed.max_parents >= cache.n - 1 else math.inf
    arcs, narrowed = best_parents(cache, settings.order_of(cache.counts.names), allowed, settings.budget, work=work)
    return Found(arcs, notes=() if narrowed is None else (NARROWED.format(narrowed, narrowed - 1),))


def _weak_parents(settings: SearchSettings, cache: ScoreCache, start: Arcs | None) -> Found:
    allowed, order, budget = allowed_by(settings, cache), settings.order_of(cache.counts.names), settings.budget
    found = cache.settled(lambda: _best_parents(settings, cache, start), budget)  # effects are looked at once
    return replace(found, arcs=with_weak_parents(cache.counts, found.arcs, order, allowed, budget))


def _pc(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    allowed, budget = allowed_by(settings, cache), settings.budget
    level, test = settings.significance_level, settings.test
    result = pc(cache.counts, allowed, significance_level=level, kind=test, budget=budget)
    place = {name: i for i, name in enumerate(cache.counts.names)}
    arcs = np.zeros((cache.n, cache.n), np.bool_)
    for parent, child in result.dag.arcs:
        arcs[place[parent], place[child]] = True
    if budget.stopped:  # pairs that were not tested are still joined: those stay that pay
        arcs = k2(cache, order_of(arcs), replace(allowed, arcs=arcs | allowed.required))
    return Found(arcs, result)


def _mmhc(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    level = settings.significance_level
    allowed, budget = allowed_by(settings, cache), settings.budget
    return Found(mmhc(cache, allowed, significance_level=level, kind=settings.test, budget=budget))


def _tree(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(tree(cache.counts, settings.target_of(cache.counts.names)))


def _tan(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(tan(cache.counts, target_of(settings, cache), settings.root_of(cache.counts.names)))


def _naive(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(naive(cache.n, target_of(settings, cache)))


def _empty(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(allowed_by(settings, cache).required.copy())


#: The order is that of documents and of the command line.
ALGORITHMS = {
    "auto": Algorithm(
        _auto, f"exact search up to {FEW} variables; above that order search, or GES if values are missing"
    ),
    "hill_climb": Algorithm(_hill_climb, "adds, removes and reverses arcs while the score increases"),
    "tabu": Algorithm(_tabu, "hill climbing with a tabu list"),
    "order_search": Algorithm(_orders, "search over variable orders with random restarts"),
    "ges": Algorithm(_ges, "greedy equivalence search"),
    "exact": Algorithm(_exact, "the best of all graphs by dynamic programming, up to about 20 variables"),
    "k2": Algorithm(_k2, "greedy parents among the predecessors in a given order", needs="order"),
    "optimal_given_order": Algorithm(
        _best_parents, "optimal parents among the predecessors in a given order", needs="order"
    ),
    "weak_parents_given_order": Algorithm(
        _weak_parents, "optimal parents in a given order, and parents with a weak significant effect", needs="order"
    ),
    "pc": Algorithm(_pc, "PC, stable: independence tests"),
    "mmhc": Algorithm(_mmhc, "max-min hill climbing: independence tests, then tabu search"),
    "chow_liu": Algorithm(_tree, "the tree of highest mutual information (Chow-Liu)", knows=False),
    "tan": Algorithm(
        _tan,
        "tree-augmented naive Bayes: the target is a parent of all, the others form a tree",
        needs="target",
        knows=False,
    ),
    "naive_bayes": Algorithm(
        _naive, "naive Bayes: the target is the only parent of all others", needs="target", knows=False
    ),
    "empty": Algorithm(_empty, "required arcs only"),
}
