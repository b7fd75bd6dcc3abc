"""Every way to find a structure, by its name: each goes from scores of families to the arcs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, option
from bayeslearn.network.structure.searching.classes import order_of
from bayeslearn.network.structure.searching.climbing import Structure, hill_climb, tabu
from bayeslearn.network.structure.searching.exact import exact
from bayeslearn.network.structure.searching.faint import with_faint_parents
from bayeslearn.network.structure.searching.ges import ges
from bayeslearn.network.structure.searching.orders import best_parents, order_search
from bayeslearn.network.structure.searching.restarting import restarted
from bayeslearn.network.structure.searching.simple import k2, naive, tan, tree
from bayeslearn.network.structure.testing.constraint import pc
from bayeslearn.network.structure.testing.hybrid import mmhc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.testing.constraint import PcResult

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
class Task:
    """What a method is told besides the scores."""

    allowed: Allowed
    limits: Limits
    #: Where climbs begin, when a table with holes is searched turn by turn; what is required when None.
    start: Arcs | None = None
    order: tuple[int, ...] | None = None
    target: int | None = None
    alpha: float = 0.05
    test: str = "g2"
    restarts: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """The arcs, and what tests of independence said where there were any."""

    arcs: Arcs
    tests: PcResult | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """One way: how it goes, what to know of it, and what it needs."""

    run: Callable[[ScoreCache, Task], Arcs | Found]
    about: str
    needs: str | None = None
    #: Whether it keeps to what is known of the structure.
    knows: bool = True


def find(method: str, cache: ScoreCache, task: Task) -> Found:
    """The structure that a method finds."""
    entry = METHODS[validation.choice("method", method, list(METHODS))]
    if entry.needs and getattr(task, entry.needs) is None:
        raise ParameterError(
            f"method {method!r} needs `{entry.needs}`", hint=f"give {option(entry.needs)}, or take another method"
        )
    if not entry.knows and not knows_nothing(task.allowed):
        raise ParameterError(
            f"method {method!r} cannot keep to what is known of the structure",
            hint="leave the knowledge out, or take a search such as tabu",
        )

    def search() -> Found:
        found = entry.run(cache, task)
        found = found if isinstance(found, Found) else Found(found)
        cache.expect(found.arcs)
        return found

    return cache.settled(search, task.limits)


def knows_nothing(allowed: Allowed) -> bool:
    """Whether any arc may be there and none must."""
    n = len(allowed.arcs)
    return bool(allowed.arcs.sum() == n * (n - 1)) and not allowed.required.any() and allowed.most_parents >= n - 1


### the methods


def _restarted(search: Callable[[Structure, Limits], Arcs], cache: ScoreCache, task: Task) -> Arcs:
    structure = Structure(cache, task.allowed, task.allowed.required if task.start is None else task.start)
    return restarted(search, structure, task.limits, restarts=task.restarts, rng=np.random.default_rng(task.seed))


def _auto(cache: ScoreCache, task: Task) -> Arcs:
    beyond = _orders if task.start is None else _ges  # turn by turn a quick one is wanted
    return (_exact if cache.n <= FEW else beyond)(cache, task)


def _hill_climb(cache: ScoreCache, task: Task) -> Arcs:
    return _restarted(hill_climb, cache, task)


def _tabu(cache: ScoreCache, task: Task) -> Arcs:
    return _restarted(tabu, cache, task)


def _orders(cache: ScoreCache, task: Task) -> Arcs:
    return order_search(cache, task.allowed, task.limits, rng=task.seed)


def _ges(cache: ScoreCache, task: Task) -> Arcs:
    return ges(cache, task.allowed, task.limits)


def _exact(cache: ScoreCache, task: Task) -> Arcs:
    return exact(cache, task.allowed, task.limits)


def _k2(cache: ScoreCache, task: Task) -> Arcs:
    assert task.order is not None
    return k2(cache, task.order, task.allowed)


def _best_parents(cache: ScoreCache, task: Task) -> Found:
    assert task.order is not None
    unlimited = task.allowed.most_parents >= cache.n - 1
    work = MOST_WORK if unlimited else math.inf
    arcs, narrowed = best_parents(cache, task.order, task.allowed, task.limits, work=work)
    return Found(arcs, notes=() if narrowed is None else (NARROWED.format(narrowed, narrowed - 1),))


def _faint_parents(cache: ScoreCache, task: Task) -> Found:
    assert task.order is not None
    found = cache.settled(lambda: _best_parents(cache, task), task.limits)  # effects are looked at once
    return replace(found, arcs=with_faint_parents(cache.counts, found.arcs, task.order, task.allowed, task.limits))


def _pc(cache: ScoreCache, task: Task) -> Found:
    result = pc(cache.counts, task.allowed, alpha=task.alpha, kind=task.test, limits=task.limits)
    place = {name: i for i, name in enumerate(cache.counts.names)}
    arcs = np.zeros((cache.n, cache.n), np.bool_)
    for parent, child in result.dag.arcs:
        arcs[place[parent], place[child]] = True
    if task.limits.stopped:  # pairs that were not tested are still joined: those stay that pay
        arcs = k2(cache, order_of(arcs), replace(task.allowed, arcs=arcs | task.allowed.required))
    return Found(arcs, result)


def _mmhc(cache: ScoreCache, task: Task) -> Arcs:
    return mmhc(cache, task.allowed, alpha=task.alpha, kind=task.test, limits=task.limits)


def _tree(cache: ScoreCache, task: Task) -> Arcs:
    return tree(cache.counts, task.target)


def _tan(cache: ScoreCache, task: Task) -> Arcs:
    assert task.target is not None
    return tan(cache.counts, task.target)


def _naive(cache: ScoreCache, task: Task) -> Arcs:
    assert task.target is not None
    return naive(cache.n, task.target)


def _empty(_: ScoreCache, task: Task) -> Arcs:
    return task.allowed.required.copy()


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
        _faint_parents, "the same, and those whose effect by itself is beyond chance", needs="order"
    ),
    "pc": Method(_pc, "tests of independence: PC, stable"),
    "mmhc": Method(_mmhc, "tests choose the candidates, tabu search the arcs"),
    "tree": Method(_tree, "the tree of highest mutual information", knows=False),
    "tan": Method(_tan, "a target above all, and a tree among the others", needs="target", knows=False),
    "naive": Method(_naive, "a target above all", needs="target", knows=False),
    "empty": Method(_empty, "no arcs but those that are required"),
}
