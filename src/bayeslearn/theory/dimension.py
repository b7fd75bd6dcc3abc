"""The largest set of points that a finite class shatters, and how fast the number of labellings grows.

A set is shattered when its points are labelled in all 2^k ways, so VC(H) ≤ log₂|H|. With d = VC(H) any m points are
labelled in at most Σ_{i≤d} C(m, i) ways (Sauer): all of them up to d, polynomially many beyond.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.theory.classes import first_of_each
from bayeslearn.theory.sizes import whole

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.theory.classes import ConceptClass

#: Labels looked at together below which the search is one task.
SMALL = 20_000
#: Labels below which waiting for the compiler is longer than doing without.
TINY = 1_000
#: Points from which on a search may be so long that its tasks are pairs of points: one can be interrupted between two.
LONG = 8
#: Sets of points that may be looked at for the growth function.
MOST_SETS = 50_000_000


@dataclass(frozen=True)
class Shattered:
    """Points, and for each of their 2^k labellings a hypothesis that labels them so."""

    points: tuple[Hashable, ...]
    hypotheses: Mapping[tuple[bool, ...], Hashable]

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        lines = [f"  {''.join('1' if y else '0' for y in labels)}  {h}" for labels, h in self.hypotheses.items()]
        return "\n".join([f"{{{', '.join(map(str, self.points))}}} is shattered:", *lines])


def shattering(concepts: ConceptClass, points: Any) -> Shattered | None:
    """These points with a hypothesis for each of their labellings; None when one labelling has none.

    >>> from bayeslearn.theory import ConceptClass
    >>> thresholds = ConceptClass.functions({f"x ≥ {a}": lambda x, a=a: x >= a for a in range(4)}, range(3))
    >>> print(shattering(thresholds, [1]))
    {1} is shattered:
      0  x ≥ 2
      1  x ≥ 0
    >>> shattering(thresholds, [0, 1]) is None                     # nothing labels 0 inside and 1 outside
    True
    """
    places = concepts.places(points)
    found: dict[tuple[bool, ...], Hashable] = {}
    for labels, h in zip(map(tuple, concepts.labels[:, places].tolist()), concepts.hypotheses, strict=True):
        found.setdefault(labels, h)
    if len(found) < 2 ** len(places):
        return None
    return Shattered(tuple(concepts.points[i] for i in places), {labels: found[labels] for labels in sorted(found)})


def largest_shattered(concepts: ConceptClass) -> Shattered:
    """A largest set that is shattered, the first in the order of the search; exact."""
    columns = _candidates(concepts.labels)
    packed, rare = _packed(concepts.labels[:, columns]), _rarer(concepts.labels[:, columns])
    best: list[int] = [0] if len(columns) else []
    while (found := _of_size(packed, rare, len(best) + 1)) is not None:
        best = found
    witness = shattering(concepts, [concepts.points[i] for i in sorted(columns[best].tolist())])
    assert witness is not None
    return witness


def growth(concepts: ConceptClass, m: int) -> int:
    """Π(m), the most labellings that any m of the points have; see :meth:`ConceptClass.growth`."""
    m = whole("m", m)
    if m > len(concepts.points):
        raise ParameterError(f"the class is over {len(concepts.points)} points, got m = {m}")
    if m <= concepts.vc_dimension:
        return 2**m
    columns = _candidates(concepts.labels)
    if m >= len(columns):
        return len(concepts)
    labels = np.ascontiguousarray(concepts.labels[:, columns[::-1]], dtype=np.uint8)  # the most even first
    most = int(kernels.most_patterns(labels, m, MOST_SETS, np.zeros(m, np.int64)))
    if most < 0:
        raise CapacityError(
            f"more than {MOST_SETS:,} sets of {m} of {len(columns)} points would have to be looked at",
            hint=f"Sauer's bound is {sauer(concepts.vc_dimension, m):,}",
        )
    return most


def sauer(dimension: int, m: int) -> int:
    """Σ_{i≤d} C(m, i): no class of VC dimension d labels m points in more ways.

    >>> [sauer(2, m) for m in range(6)]
    [1, 2, 4, 7, 11, 16]
    """
    d, m = whole("dimension", dimension), whole("m", m)
    return sum(math.comb(m, i) for i in range(min(d, m) + 1))


### inside


def _candidates(labels: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Columns that are not constant, one of each kind: the same or the opposite labels make no difference.

    The least even come first: few sets can be built on them, so they are soon done with.
    """
    flipped = labels ^ labels[0]
    first = first_of_each(np.packbits(flipped, axis=0).T)
    first = first[flipped[:, first].any(axis=0)]
    return first[np.argsort(_rarer(labels[:, first]), kind="stable")]


def _rarer(labels: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many hypotheses give each point the label that fewer give it."""
    yes = labels.sum(axis=0)
    return np.minimum(yes, len(labels) - yes)


def _packed(labels: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A bit for each point, in words of 64."""
    n, points = labels.shape
    bits = np.zeros((n, 8 * max(1, -(-points // 64))), np.uint8)
    packed = np.packbits(labels, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    return bits.view("<u8").astype(np.uint64)


def _of_size(packed: NDArray[np.uint64], rare: NDArray[np.intp], size: int) -> list[int] | None:
    """A shattered set of `size` points; None when there is none."""
    usable = np.flatnonzero(rare >= 2 ** (size - 1))
    if len(usable) < size or len(packed) < 2**size:
        return None
    if size == 1:
        return usable[:1].tolist()
    mask = _packed(np.isin(np.arange(len(rare)), usable)[None])[0]
    fixed = 0 if packed.shape[0] * len(usable) < SMALL else 1 if size < LONG else 2
    tasks = list(enumerate(itertools.combinations(usable.tolist(), fixed)))
    best = np.array([len(tasks)])
    tiny = packed.shape[0] * len(usable) < TINY
    find = kernels.soonest("find_shattered") if tiny else kernels.find_shattered

    def search(task: tuple[int, tuple[int, ...]]) -> list[int] | None:
        number, start = task
        into = np.zeros(size, np.int64)
        if not find(packed, mask, np.array(start, np.int64), size, number, best, into):
            return None
        best[0] = min(best[0], number)  # those that come later may stop
        return into.tolist()

    found = kernels.parallel(search, tasks, worth=len(tasks) > 1)
    return next((points for points in found if points is not None), None)
