"""A network as flat arrays, and plans over it that are kept: compile once, query many.

Two ways to run, chosen by size. Where the whole tree is small, one plan serves every case and cases run side by side;
where it is large, the observed variables are taken out first and each pattern of evidence has a separate plan.

Networks of many variables (chains, trees, stars, ladders) are planned in time that grows with the number of tables.
Rows of bits, as in :mod:`bayeslearn.kernels.junction_tree`, take n² bits; here neighbors are sets, the next variable to
go comes from a heap, and only active variables and kept tables are considered. Which variable goes first is decided as
there (least missing edges, then least table), but that a variable of very many neighbors waits until it has fewer.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import CapacityError, UnknownColumnError, nearest
from bayeslearn.kernels.uncompiled_junction_tree import BELIEF, FACTOR, TIE_BREAK, Cliques, Layout, moral_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork


#: Entries of the whole tree up to which cases may run side by side over it.
SMALL = 40_000

#: Variables and entries up to which a question may be answered by NumPy while there is no compiled code, and up to
#: which it may be interpreted.
MANY, ROOM = 1_000, 1_000_000
FEW, TINY = 80, 10_000

#: Variables from which plans take less time with sets of neighbors than with rows of bits.
LARGE = 4_000

#: Entries from which compiled code tries for a better plan than the first.
WORTH_A_TRY = 100_000

#: Plans kept, the least recently used going first.
KEPT_PLANS = 256

#: When one plan is to serve many queries: weights of table size against missing edges, widths of the noise that varies
#: the order, and tries of each.
WEIGHTS, WIDTHS, TRIES = (1e-3, 1.0, 3.0), (0.5, 2.0, 5.0), 24

#: Nanoseconds for an entry when cases run side by side, for one when each has a plan of its own, and for a variable
#: when such a plan is made: measured, and good enough to choose by.
SIDE_BY_SIDE, ALONE, PLANNING = 2.0, 13.0, 600.0

#: Rows looked at to choose.
LOOKED_AT = 32


@dataclass(frozen=True)
class Plan:
    """What a query will take: the entries of all tables, and the steps over them."""

    entries: float
    steps: Any
    #: The variables that are not observed.
    hidden: list[int]
    #: Whether compiled code would look for a better one.
    provisional: bool = False

    @property
    def bytes(self) -> float:
        """Memory of the tables."""
        return 8 * self.entries

    def workspace(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Room for the tables and the messages."""
        return np.empty(self.steps[4][-1]), np.empty(self.steps[5][-1])


class Compiled:
    """The arrays that kernels run on."""

    def __init__(self, network: BayesianNetwork, *, memory_limit: int = 2 << 30) -> None:
        self.names = network.variables
        self.memory_limit = memory_limit
        self._place = place = {name: i for i, name in enumerate(self.names)}
        scopes = [[*(place[v.name] for v in cpt.parents), place[cpt.name]] for cpt in network]
        tables = [cpt.probabilities for cpt in network]
        self.sizes = np.array([cpt.variable.n_states for cpt in network], np.int64)
        self.log_size = np.log(self.sizes)
        self.parents = [scope[:-1] for scope in scopes]
        self.scope_start = _starts([len(scope) for scope in scopes])
        self.scope = np.array([v for scope in scopes for v in scope], np.int64)
        self.scope_stride = np.array([s // 8 for p in tables for s in np.ascontiguousarray(p).strides], np.int64)
        self.cpt_start = _starts([p.size for p in tables])
        self.cpt = np.concatenate([np.ascontiguousarray(p).reshape(-1) for p in tables])
        self.least = _least(self.cpt, self.cpt_start)
        self.belief_start = _starts(self.sizes.tolist())
        self.all = np.ones(len(self.names), np.bool_)
        self._plans: OrderedDict[bytes, Plan] = OrderedDict()

    def joined(self, together: list[int]) -> Compiled:
        """The same network with a factor of ones over some variables, so that one clique holds them all."""
        sizes = self.sizes[together]
        self.require_room(float(np.prod(sizes, dtype=float)))
        ones = np.ones(sizes)
        other = copy.copy(self)
        other.scope_start = np.append(self.scope_start, self.scope_start[-1] + len(together))
        other.scope = np.append(self.scope, np.array(together, np.int64))
        other.scope_stride = np.append(self.scope_stride, np.array(ones.strides, np.int64) // 8)
        other.cpt_start = np.append(self.cpt_start, self.cpt_start[-1] + ones.size)
        other.cpt, other.least = np.append(self.cpt, ones), np.append(self.least, 1.0)
        return other

    def with_values(self, cpt: NDArray[np.float64]) -> Compiled:
        """The same network with other numbers in its tables: plans stay."""
        other = copy.copy(self)
        other.cpt, other.least = cpt, _least(cpt, self.cpt_start)
        return other

    def arrays(self, kept: NDArray[np.bool_]) -> Any:
        """What a kernel needs of the network, with the tables that matter for the question."""
        return (
            self.scope_start, self.scope, self.scope_stride, self.cpt_start, self.cpt, self.belief_start, kept,
            self.least,
        )  # fmt: skip

    @cached_property
    def row_start(self) -> NDArray[np.int64]:
        """Where the rows of all tables begin, a row being the states of a variable under one state of its parents."""
        sizes = [
            (int(b - a), int(k)) for a, b, k in zip(self.cpt_start[:-1], self.cpt_start[1:], self.sizes, strict=True)
        ]
        return _starts([k for cells, k in sizes for _ in range(cells // k)])[:-1]

    @cached_property
    def row_of(self) -> NDArray[np.int64]:
        """The row that each cell lies in."""
        lengths = np.diff(np.append(self.row_start, self.cpt_start[-1]))
        return np.repeat(np.arange(len(self.row_start)), lengths)

    def position(self, name: str) -> int:
        """The place of a variable among all."""
        if name not in self._place:
            raise UnknownColumnError(
                f"there is no variable {name!r}", hint=nearest([name], self.names, "the variables")
            )
        return self._place[name]

    def cells(self, codes: NDArray[np.int64], families: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the entry of each family that a case selects lies among the tables; all of it must be observed."""
        ends = np.add.reduceat(codes[self.scope] * self.scope_stride, self.scope_start[:-1])
        found: NDArray[np.int64] = (self.cpt_start[:-1] + ends)[families]
        return found

    # -- plans

    @property
    def is_large(self) -> bool:
        """Whether plans are made without looking at all pairs of variables."""
        return len(self.names) > LARGE

    @property
    def limit(self) -> float:
        """Entries that tables may have."""
        return self.memory_limit / 8

    def plan(self, active: NDArray[np.bool_], kept: NDArray[np.bool_]) -> Plan:
        """The plan for these variables, made or remembered."""
        key = active.tobytes() + kept.tobytes()
        if key not in self._plans:
            found = self.best(active, kept)
            if found.provisional:
                return found
            self._plans[key] = found
            if len(self._plans) > KEPT_PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        return self._plans[key]

    def best(self, active: NDArray[np.bool_], kept: NDArray[np.bool_]) -> Plan:
        """A plan made anew: of several tries, where tables are large."""
        if self.is_large:
            return self._made(best_plan, active, kept, self.limit)
        if len(active) <= MANY and kernels.is_sooner("best_plan"):
            plan = self._made(kernels.soonest("best_plan"), active, kept, self.limit)
            if plan.entries <= min(ROOM, self.limit):
                return replace(plan, provisional=plan.entries > WORTH_A_TRY)
        return self._made(kernels.best_plan, active, kept, self.limit)

    def tried(
        self, active: NDArray[np.bool_], kept: NDArray[np.bool_], noise: NDArray[np.float64], weight: float
    ) -> Plan:
        """One try at a plan."""
        if self.is_large:
            return self._made(plan, active, kept, noise, weight, self.limit)
        planner = kernels.soonest("plan") if len(active) <= MANY else kernels.plan
        return self._made(planner, active, kept, noise, weight, self.limit)

    def _made(self, planner: Any, active: NDArray[np.bool_], *rest: Any) -> Plan:
        entries, steps = planner(
            self.scope_start, self.scope, self.scope_stride, self.sizes, self.log_size, active, *rest
        )
        return Plan(float(entries), steps, np.flatnonzero(active).tolist())

    @cached_property
    def whole(self) -> Plan:
        """The best of several plans for the network without evidence: it serves every case."""
        if self.is_large:
            return self.plan(self.all, self.all)
        rng, n = np.random.default_rng(0), len(self.names)
        best = min((self.tried(self.all, self.all, np.zeros(n), w) for w in WEIGHTS), key=lambda plan: plan.entries)
        if best.entries > 4 * SMALL:  # luck will not make it small
            return best
        noises = [width * rng.random(n) for width in WIDTHS for _ in range(TRIES)]
        tries = (self.tried(self.all, self.all, noise, w) for noise in noises for w in WEIGHTS)
        return min(best, *tries, key=lambda plan: plan.entries)

    def side_by_side(self, codes: NDArray[np.int64]) -> bool:
        """Whether cases (n, variables) should all run over the whole tree, rather than each with its own plan."""
        if len(codes) < kernels.LANES or self.whole.entries > min(SMALL, self.limit):
            return False
        hidden = codes[:: -(-len(codes) // LOOKED_AT)] < 0
        alone = ALONE * sum(self.plan(row, self.all).entries for row in hidden)
        alone += PLANNING * hidden[1:][(hidden[1:] != hidden[:-1]).any(axis=1)].sum()
        return bool(SIDE_BY_SIDE * self.whole.entries * len(hidden) < alone)

    def relevant(self, targets: list[int], observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tables that matter for the targets: their ancestors' and those of the evidence; the rest sums to one."""
        kept = np.zeros(len(self.names), np.bool_)
        waiting = [*targets, *np.flatnonzero(observed).tolist()]
        while waiting:
            v = waiting.pop()
            if not kept[v]:
                kept[v] = True
                waiting += self.parents[v]
        return kept

    def propagate(self, plan: Plan) -> Any:
        """The kernel that runs a plan."""
        few = len(self.names) <= MANY and plan.entries <= ROOM
        return kernels.soonest("propagate") if few else kernels.propagate

    def small_enough(self, plan: Plan) -> bool:
        """Whether a question is answered sooner interpreted than compiled."""
        return len(self.names) <= FEW and plan.entries <= TINY

    def require_room(self, entries: float) -> None:
        """Refuse before memory runs out, with the estimate."""
        if entries > self.limit:
            raise CapacityError(
                f"exact inference would need {entries:.3g} table entries ({entries / 2**27:.1f} GiB), "
                f"more than the limit of {self.memory_limit / 2**30:.1f} GiB",
                hint="observe more variables, ask for fewer, or raise `memory_limit`",
                entries=entries,
            )


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _least(cpt: NDArray[np.float64], start: NDArray[np.int64]) -> NDArray[np.float64]:
    """The smallest positive number of each table, from which a kernel sees whether products may underflow."""
    least: NDArray[np.float64] = np.minimum.reduceat(np.where(cpt > 0, cpt, 1.0), start[:-1])
    return least


#: Neighbors up to which missing edges are counted whenever one of them goes, and later cliques that are looked at for
#: the smallest parent.
FEW_NEIGHBORS, CANDIDATES = 32, 64

#: Entries for each variable that are worth one more try, the most tries, and how far noise moves a variable in them.
PER_TRY, MAX_TRIES, WIDTH = 2000, 4, 10.0


def best_plan(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    limit: float,
) -> tuple[float, Any]:
    """The smallest of some tries, more than one where tables are large for the number of variables."""
    rest = scope_start, scope, scope_stride, sizes, log_size, active, kept
    best = plan(*rest, np.zeros(len(active)), TIE_BREAK, limit)
    rng = np.random.default_rng(0)
    for _ in range(min(MAX_TRIES, int(min(best[0], 1e15) / (PER_TRY * max(int(active.sum()), 1))))):
        best = min(best, plan(*rest, WIDTH * rng.random(len(active)), TIE_BREAK, limit), key=lambda found: found[0])
    return best


def plan(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    noise: NDArray[np.float64],
    weight: float,
    limit: float,
) -> tuple[float, Any]:
    """All steps for one try at an elimination order; see :func:`bayeslearn.kernels.junction_tree.plan`.

    A try ends at the first table of more entries than `limit`; the number of entries is then a lower bound.
    """
    variables, tables = np.flatnonzero(active), np.flatnonzero(kept)
    factors, strides = inside(scope_start, scope, scope_stride, active, tables)
    logs = log_size[variables].tolist()
    near = moral_graph(len(variables), factors)
    order, most = eliminate(near, logs, noise[variables].tolist(), weight, math.log(limit))
    tree = SparseCliques(order, near, logs) if most <= limit else None
    entries = max(most, math.fsum(map(math.exp, tree.log_sizes))) if tree else most
    if tree is None or entries > limit:
        tree, factors, strides = SparseCliques([], near, logs), [], []
    steps = Layout(tree, sizes[variables].tolist(), factors).arrays(factors, strides)
    return entries, renamed(steps, variables, tables[: len(factors)], len(active), len(kept))


def inside(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    active: NDArray[np.bool_],
    tables: NDArray[np.intp],
) -> tuple[list[list[int]], list[list[int]]]:
    """The active variables of some tables, numbered one after another, and their strides."""
    place = np.cumsum(active) - 1
    lengths = np.diff(scope_start)[tables]
    ends = np.cumsum(lengths)
    entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(scope_start[tables] - (ends - lengths), lengths)
    held = active[scope[entries]]
    bounds = [0, *np.append(0, np.cumsum(held))[ends].tolist()]
    numbers, strides = place[scope[entries[held]]].tolist(), scope_stride[entries[held]].tolist()
    spans = [slice(a, b) for a, b in pairwise(bounds)]
    return [numbers[span] for span in spans], [strides[span] for span in spans]


def renamed(steps: Any, variables: NDArray[np.intp], tables: NDArray[np.intp], n_variables: int, n_tables: int) -> Any:
    """A plan of some variables and tables with the numbers that they have among all."""
    site, parent, rows, cols, table, message, clique, step_start, made, dims, strides, start, axes = steps
    sites, cliques = np.full(n_variables, -1, np.int64), np.full(n_tables, -1, np.int64)
    sites[variables], cliques[tables] = site, clique
    for kind, numbers in ((FACTOR, tables), (BELIEF, variables)):
        some = made[:, 0] == kind
        made[some, 1] = numbers[made[some, 1]]
    return (
        sites, parent, rows, cols, table, message, cliques, step_start, made, dims, strides, start,
        variables[axes].astype(np.int64),
    )  # fmt: skip


### elimination


def eliminate(
    near: list[set[int]], logs: list[float], noise: list[float], weight: float, log_limit: float
) -> tuple[list[int], float]:
    """The order in which variables go, and the entries of the largest table; `near` has the neighbors when they went.

    The next is that of the least key, missing edges + weight · log table + noise. It ends at a table beyond the limit.
    """

    def key(v: int) -> float:
        others = near[v]
        count = len(others)
        missing = count * (count - 1) - sum([len(others & near[u]) for u in others]) if count > 1 else 0
        return missing + weight * (logs[v] + sum([logs[u] for u in others])) + noise[v]

    keys: list[float | None] = [key(v) for v in range(len(near))]
    heap = [(k, v) for v, k in enumerate(keys) if k is not None]
    heapify(heap)
    order, largest, waiting = [], -math.inf, set[int]()
    while heap:
        least, v = heappop(heap)
        if keys[v] != least:
            continue
        if v in waiting:  # its key is of before
            waiting.discard(v)
            keys[v] = now = key(v)
            if now > least:
                heappush(heap, (now, v))
                continue
        largest = max(largest, logs[v] + sum([logs[u] for u in near[v]]))
        if largest > log_limit:
            break
        order.append(v)
        keys[v] = None
        for u in join(v, near):
            if len(near[u]) > FEW_NEIGHBORS:
                waiting.add(u)
            else:
                waiting.discard(u)
                keys[u] = now = key(u)
                heappush(heap, (now, u))
    return order, math.exp(min(largest, 700.0))


def join(v: int, near: list[set[int]]) -> set[int]:
    """Connect the neighbors of a variable that goes, which they lose; return those whose missing edges may change."""
    others = near[v]
    changed = set(others)
    for u in others:
        near[u].discard(v)
    for u in others:
        for w in others - near[u]:
            if w > u:
                changed |= near[u] & near[w]
                near[u].add(w)
                near[w].add(u)
    return changed


class SparseCliques(Cliques):
    """The cliques of an elimination, where one variable may be in very many of them."""

    def _smallest_parent(self, c: int, separator: set[int], after: int) -> int:
        """The smallest of the next later cliques that hold a separator, −1 where there is none.

        The last of those that hold `after` is the one where it goes, which holds the separator.
        """
        if after < 0:
            return -1
        holders = self.holders[after]
        begin = bisect_right(holders, c)
        later = (d for d in islice(holders, begin, begin + CANDIDATES) if separator <= self.held[d])
        return min(later, key=self.log_sizes.__getitem__, default=holders[-1])
