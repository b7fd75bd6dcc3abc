"""Every way to find a structure, by its name: each goes from scores of families to the arcs of a graph."""

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

    from bayeslearn.network.structure.constraint_based.pc import PcResult
    from bayeslearn.network.structure.scoring.criteria import ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget, SearchSettings

    Arcs = NDArray[np.bool_]

#: Parent sets times rows that best-parents looks at without being given a limit of parents: some seconds of work.
MOST_WORK = 1 << 31

#: What to know when there were more.
NARROWED = (
    "sets of {} parents or more were looked at only where all that are one parent smaller are worth having; "
    "limit the parents (to {}, say) to have all up to that number looked at"
)

#: Variables up to which every structure is looked at without being asked to.
FEW = 8


@dataclass(frozen=True)
class Found:
    """The arcs, and what tests of independence showed where there were any."""

    arcs: Arcs
    tests: PcResult | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """One way: how it goes, what to know of it, and what it needs."""

    #: The last argument is the graph that hill climbing goes on from; from what is required when None.
    run: Callable[[SearchSettings, ScoreCache, Arcs | None], Found]
    about: str
    needs: str | None = None
    #: Whether it keeps to what is known of the structure.
    knows: bool = True


def find(settings: SearchSettings, cache: ScoreCache, start: Arcs | None = None) -> Found:
    """The structure that the algorithm finds, from a graph on where one is given."""
    method, names = settings.algorithm, cache.counts.names
    settings.order_of(names), settings.target_of(names)  # a name that is no variable is a mistake, needed or not
    entry = METHODS[validation.choice("method", method, list(METHODS))]
    if entry.needs and getattr(settings, entry.needs) is None:
        raise ParameterError(
            f"method {method!r} needs `{entry.needs}`", hint=f"give {option(entry.needs)}, or take another method"
        )
    if not entry.knows and not allowed_by(settings, cache).anything:
        raise ParameterError(
            f"method {method!r} cannot keep to what is known of the structure",
            hint="leave the knowledge out, or take a search such as tabu",
        )

    def search() -> Found:
        found = entry.run(settings, cache, start)
        cache.expect(found.arcs)
        return found

    return cache.settled(search, settings.budget)


def directs(settings: SearchSettings) -> bool:
    """Whether arcs are directed by more than the rows: by knowledge, by an order, or around a target."""
    return settings.knowledge.directs or METHODS[settings.algorithm].needs is not None


def allowed_by(settings: SearchSettings, cache: ScoreCache) -> Allowed:
    """The knowledge by position."""
    return settings.knowledge.of(cache.counts.names)


def target_of(settings: SearchSettings, cache: ScoreCache) -> int:
    """The target by position, likewise."""
    target = settings.target_of(cache.counts.names)
    assert target is not None
    return target


### the methods


def _climbed(
    search: Callable[[Structure, Budget], Arcs], settings: SearchSettings, cache: ScoreCache, start: Arcs | None
) -> Found:
    allowed, rng = allowed_by(settings, cache), np.random.default_rng(settings.seed)
    structure = Structure(cache, allowed, allowed.required if start is None else start)
    return Found(restarted(search, structure, settings.budget, restarts=settings.restarts, random_state=rng))


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
    work = MOST_WORK if allowed.most_parents >= cache.n - 1 else math.inf
    arcs, narrowed = best_parents(cache, settings.order_of(cache.counts.names), allowed, settings.budget, work=work)
    return Found(arcs, notes=() if narrowed is None else (NARROWED.format(narrowed, narrowed - 1),))


def _weak_parents(settings: SearchSettings, cache: ScoreCache, start: Arcs | None) -> Found:
    allowed, order, budget = allowed_by(settings, cache), settings.order_of(cache.counts.names), settings.budget
    found = cache.settled(lambda: _best_parents(settings, cache, start), budget)  # effects are looked at once
    return replace(found, arcs=with_weak_parents(cache.counts, found.arcs, order, allowed, budget))


def _pc(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    allowed, budget = allowed_by(settings, cache), settings.budget
    result = pc(cache.counts, allowed, alpha=settings.significance_level, kind=settings.test, budget=budget)
    place = {name: i for i, name in enumerate(cache.counts.names)}
    arcs = np.zeros((cache.n, cache.n), np.bool_)
    for parent, child in result.dag.arcs:
        arcs[place[parent], place[child]] = True
    if budget.stopped:  # pairs that were not tested are still joined: those stay that pay
        arcs = k2(cache, order_of(arcs), replace(allowed, arcs=arcs | allowed.required))
    return Found(arcs, result)


def _mmhc(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    level = settings.significance_level
    return Found(mmhc(cache, allowed_by(settings, cache), alpha=level, kind=settings.test, budget=settings.budget))


def _tree(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(tree(cache.counts, settings.target_of(cache.counts.names)))


def _tan(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(tan(cache.counts, target_of(settings, cache)))


def _naive(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(naive(cache.n, target_of(settings, cache)))


def _empty(settings: SearchSettings, cache: ScoreCache, _: Arcs | None) -> Found:
    return Found(allowed_by(settings, cache).required.copy())


#: The order is that of documents and of the command line.
METHODS = {
    "auto": Method(_auto, f"exact up to {FEW} variables; beyond, orders, after ges where cells are missing"),
    "hill-climb": Method(_hill_climb, "add, remove and turn arcs while the score rises"),
    "tabu": Method(_tabu, "hill climbing that goes on over the top"),
    "orders": Method(_orders, "search over orders of the variables, with thrown restarts"),
    "ges": Method(_ges, "greedy search over classes of equivalent graphs"),
    "exact": Method(_exact, "the best of all graphs, by dynamic programming; up to about 20 variables"),
    "k2": Method(_k2, "parents one by one among those before, in a given order", needs="order"),
    "best-parents": Method(_best_parents, "the best parents among those before, in a given order", needs="order"),
    "faint-parents": Method(
        _weak_parents, "the same, and those whose effect by itself is beyond chance", needs="order"
    ),
    "pc": Method(_pc, "tests of independence: PC, stable"),
    "mmhc": Method(_mmhc, "tests choose the candidates, tabu search the arcs"),
    "tree": Method(_tree, "the tree of highest mutual information", knows=False),
    "tan": Method(_tan, "a target above all, and a tree among the others", needs="target", knows=False),
    "naive": Method(_naive, "a target above all", needs="target", knows=False),
    "empty": Method(_empty, "no arcs but those that are required"),
}
