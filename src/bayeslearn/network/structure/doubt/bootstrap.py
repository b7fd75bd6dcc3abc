"""How sure the arcs of a structure are: the same search on many resamples of the rows.

    strength of a — b       share of the rounds that join a and b
    direction of a → b      of these, the share that joins them as a → b

Directions within an equivalence class mean nothing, so that an edge whose direction the class leaves open counts half
for each way.

    threshold               t̂ = argmin_t ∫₀¹ |F(p) − t| dp,        the strength F⁻¹(t̂)

with F the distribution of the strengths of all pairs: were every pair sure, F would be flat at some t, the share of
pairs that are never joined. F rises, so that its median is F(½), and the threshold is the largest strength up to ½.

References
----------
Friedman, Goldszmidt and Wyner (1999), Data analysis with Bayesian networks: a bootstrap approach. Scutari and Nagarajan
(2013), Identifying significant edges in graphical models of molecular networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import CycleError, EmptyTableError, ShapeError
from bayeslearn.network.structure.counting.counts import FamilyCounts
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.classes import class_of, order_of
from bayeslearn.network.structure.searching.climbing import ranks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.tables import Table

    Search = Callable[[FamilyCounts], NDArray[np.bool_] | None]

#: Rounds that a thread is given at a time.
AT_A_TIME = 4


@dataclass(frozen=True)
class ArcStrength:
    """One pair, in its more probable direction: the other has what is left to 1."""

    parent: str
    child: str
    strength: float
    direction: float


@dataclass(frozen=True, eq=False)
class ArcStrengths:
    """Of every pair how often it is joined, and how often in which direction when it is.

    >>> one_way = np.array([[0, 0.9, 0.3], [0, 0, 0.6], [0, 0, 0]])
    >>> strengths = ArcStrengths(("a", "b", "c"), one_way + one_way.T, (one_way > 0).astype(float), rounds=10)
    >>> strengths.table()[0]
    ArcStrength(parent='a', child='b', strength=0.9, direction=1.0)
    >>> strengths.threshold()
    0.3
    """

    names: tuple[str, ...]
    #: strength[a, b] = strength[b, a]: the share of the rounds that join them.
    strength: NDArray[np.float64]
    #: direction[a, b] + direction[b, a] = 1, or 0 for pairs that are never joined.
    direction: NDArray[np.float64]
    rounds: int

    def table(self) -> list[ArcStrength]:
        """Every pair that was ever joined, the strongest first, then the surest in direction, then by name."""
        rank = ranks(self.names)
        pairs = np.argwhere(np.triu(self.strength) > 0).tolist()
        ways = [max((a, b), (b, a), key=lambda way: (self.direction[way], -rank[way[0]])) for a, b in pairs]
        ways.sort(key=lambda way: (-self.strength[way], -self.direction[way], rank[way[0]], rank[way[1]]))
        return [
            ArcStrength(self.names[c], self.names[x], float(self.strength[c, x]), float(self.direction[c, x]))
            for c, x in ways
        ]

    def threshold(self) -> float:
        """Pairs with more than this strength are significant."""
        strength = self.strength[np.triu_indices(len(self.names), 1)]
        return float(strength[strength <= 0.5].max(initial=0.0))


@dataclass(frozen=True)
class Resampling:
    """How far the rounds have come."""

    done: int
    rounds: int


def arc_strengths(
    table: Table,
    search: Search,
    *,
    rounds: int = 200,
    rng: np.random.Generator | int | None = None,
    classes: bool = True,
    limits: Limits = FOREVER,
) -> ArcStrengths:
    """Strengths from so many resamples, or as many as there is time for.

    A round depends on its number and on `rng` only, whatever the number of threads; one whose search returns None, for
    it was cut off, does not count. `classes=False` counts the
    directions of the graphs themselves: take it when knowledge or an order directs what data cannot.
    """
    rounds = validation.integer("rounds", rounds, least=1)
    if not table.total_weight:
        raise EmptyTableError("there are no rows to resample", hint="give at least one row with a positive weight")
    names = tuple(v.name for v in table.schema.discrete)
    count, done = np.zeros((len(names), len(names))), 0

    def one(generator: np.random.Generator) -> NDArray[np.float64] | None:
        if limits.reached():
            return None
        arcs = search(FamilyCounts(resampled(table, generator)))
        return None if arcs is None else votes(arcs, len(names), classes=classes)

    generators, step = validation.generator(rng).spawn(rounds), AT_A_TIME * kernels.thread_count()
    for begin in range(0, rounds, step):
        for found in kernels.parallel(one, generators[begin : begin + step]):
            if found is not None:
                count, done = count + found, done + 1
                limits.told(Resampling(done, rounds))
        if limits.reached():
            break
    return _shares(names, count, done)


def resampled(table: Table, rng: np.random.Generator) -> Table:
    """As many cases, each drawn from the rows; rows that carry weights are drawn by them, and keep their total."""
    if table.weights is None:
        return table.take(rng.integers(table.n_rows, size=table.n_rows))
    cases = max(round(table.total_weight), 1)
    times = rng.multinomial(cases, table.weights / table.total_weight)
    drawn = np.flatnonzero(times)
    return table.take(drawn).with_weights(times[drawn] * (table.total_weight / cases))


def votes(arcs: NDArray[np.bool_], n: int, *, classes: bool) -> NDArray[np.float64]:
    """What one graph says of every direction; half where its class leaves it open."""
    if np.shape(arcs) != (n, n):
        raise ShapeError(f"the search must return arcs of shape ({n}, {n}), got {np.shape(arcs)}")
    arcs = np.asarray(arcs, np.bool_)
    if len(order_of(arcs)) < n:
        raise CycleError("the search must return a graph without cycles")
    marks = class_of(arcs) if classes else arcs
    return marks / np.maximum(marks + marks.T.astype(np.float64), 1.0)


def _shares(names: tuple[str, ...], count: NDArray[np.float64], rounds: int) -> ArcStrengths:
    both = count + count.T
    return ArcStrengths(names, both / max(rounds, 1), count / np.maximum(both, 0.5), rounds)
