"""Models that have evidence in common merge without counting it twice.

    a = base + x        b = base + y        a ⊕ b = a + b − base = base + x + y        (a ⊕ b) ⊖ b = a

A model has names of its parts: what it was learned from, and what every update added. A name is a digest of
the statistics and of all names before it, so names are the same wherever the same rows were added to the same model.
What is in both of two models, and what one of them was updated from, counts once in their sum. What neither was updated
from counts in each: base + base has every row of it twice, as two sites may have seen equal rows.

Fading leaves a share of the evidence: with the shares s and t of it, two models have s + t − min(s, t) together.

The statistics of the updates are kept as parts, one for each while they are few. Beyond `MAX_PARTS` or `MAX_NUMBERS`
adjacent parts are added up, so that their sizes grow with their age and a model that is updated without end stays
small; what it was learned from stays apart. Models that have some of such a part in common, but not all of it, cannot
be added, which is an error. A part of more than `MAX_NAMES` updates keeps the names of the first and the last of
them, by which it is still seen that something is in common.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions.sufficient_statistics import StatisticsBundle
from bayeslearn.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

#: Parts that a model keeps at most.
MAX_PARTS = 2048

#: Numbers that the parts of a model hold at most.
MAX_NUMBERS = 1 << 20

#: Updates that a part names one by one at most.
MAX_NAMES = 16

#: How far shares of evidence may differ by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Part:
    """The statistics of one update, or of several together, and the factor by which they have faded."""

    names: tuple[str, ...]
    statistics: Any
    share: float = 1.0
    #: How many updates it holds; more than there are names where it names the first and the last only.
    n_updates: int = 1

    @property
    def amount(self) -> Any:
        """What of the statistics is in the model."""
        return self.statistics if self.share == 1 else self.statistics * self.share

    @property
    def size(self) -> int:
        """How many numbers the statistics hold."""
        return sum(array.size for array in arrays_of(self.statistics))


@dataclass(frozen=True, eq=False)
class Lineage:
    """What a model is made of."""

    #: Every update by name, the first ones first, and the share of it that is in the model.
    shares: Mapping[str, float]
    #: Those that the model, or one that was merged into it, was updated from.
    bases: frozenset[str] = frozenset()
    #: Statistics of updates, each in one part at most.
    parts: tuple[Part, ...] = ()


### one model


def started(lineage: Lineage | None, statistics: Any) -> Lineage:
    """The lineage of a model with these statistics; one that was only learned is made of one piece."""
    if lineage is not None:
        return lineage
    name = digest((), statistics)
    return Lineage({name: 1.0}, parts=(Part((name,), statistics),))


def after_update(lineage: Lineage | None, before: Any, new: Any, share: float = 1.0) -> Lineage | None:
    """The lineage after an update of a model with the statistics `before`, of which a share is kept."""
    if share == 0 or not any(array.any() for array in arrays_of(before)):
        return None
    known = scaled(with_rest(started(lineage, before), before), share)
    assert known is not None
    name = digest(known.shares, new)
    return bounded(Lineage({**known.shares, name: 1.0}, frozenset(known.shares), (*known.parts, Part((name,), new))))


def scaled(lineage: Lineage | None, factor: float) -> Lineage | None:
    """The lineage of a model whose statistics are multiplied by a factor."""
    if lineage is None or factor == 0:
        return None
    if factor == 1:
        return lineage
    shares = {name: share * factor for name, share in lineage.shares.items()}
    return replace(lineage, shares=shares, parts=tuple(replace(p, share=p.share * factor) for p in lineage.parts))


def mapped(lineage: Lineage | None, change: Callable[[Any], Any]) -> Lineage | None:
    """The lineage with statistics changed as those of the model are: states added, or put in another order."""
    if lineage is None:
        return None
    return replace(lineage, parts=tuple(replace(p, statistics=change(p.statistics)) for p in lineage.parts))


def earlier_update(lineage: Lineage | None, expected: Callable[[Any], Any], total: float) -> Any:
    """The statistics of an update with these rows, the last one of several; None if no single update added them.

    `expected` gives the statistics of the rows under the model with the given statistics; `total` is their
    weight. Of an update that has faded its share is returned.
    """
    if lineage is None:
        return None
    for i in range(len(lineage.parts) - 1, 0, -1):
        part = lineage.parts[i]
        if part.n_updates > 1 or abs(weight_of(part.statistics) - total) > ROUNDING * total:
            continue
        for before in before_update(lineage, i):
            if expected(before).isclose(part.statistics, rtol=ROUNDING, atol=ROUNDING):
                return part.amount
    return None


def before_update(lineage: Lineage, i: int) -> Iterator[Any]:
    """The statistics that the model of an update may have had: of all parts before it, or of the bases among them.

    After a merge, the parts before an update are of both models.
    """
    bases = [part for part in lineage.parts[:i] if lineage.bases.issuperset(part.names)]
    for parts in (lineage.parts[:i], bases) if 0 < len(bases) < i else (lineage.parts[:i],):
        # shares are those of today; at the time of the update the part before had the share 1, or faded with the update
        for scale in dict.fromkeys((parts[-1].share, lineage.parts[i].share)):
            amounts = [replace(part, share=part.share / scale).amount for part in parts]
            yield sum(amounts[1:], start=amounts[0])


def weight_of(statistics: Any) -> float:
    """The total weight of the rows behind a bundle of statistics: that of its first counts."""
    return float(next(arrays_of(next(iter(statistics.values())))).sum())


def without_rows(lineage: Lineage | None, gone: Any, left: Any) -> Lineage | None:
    """The lineage after rows with the statistics `gone` were removed, and `left` is what remains.

    What was added by one update goes with its name. Of other rows it is not known which updates added them: only an
    update that cannot be in what is left any more, as that has less of something, is no longer named.
    """
    if lineage is None:
        return None
    whole = next((part for part in lineage.parts if gone.isclose(part.amount, rtol=ROUNDING, atol=0)), None)
    lost = {
        n for part in lineage.parts if part is whole or (whole is None and not holds(left, part)) for n in part.names
    }
    shares = {name: share for name, share in lineage.shares.items() if name not in lost}
    parts = tuple(part for part in lineage.parts if lost.isdisjoint(part.names))
    return Lineage(shares, lineage.bases - lost, parts) if shares else None


def holds(statistics: Any, part: Part) -> bool:
    """Whether statistics have at least as much of everything as a part of them."""
    try:
        less(statistics, [part])
    except EvidenceError:
        return False
    return True


def with_rest(lineage: Lineage, statistics: Any) -> Lineage:
    """The lineage with one part more, for updates of which the statistics were not kept."""
    kept = {name for part in lineage.parts for name in part.names}
    others = tuple(name for name in lineage.shares if name not in kept)
    if others:
        with suppress(EvidenceError):  # rows were taken back: what is left of each update is not known
            rest = Part(others, less(statistics, lineage.parts), n_updates=len(others))
            return replace(lineage, parts=(*lineage.parts, rest))
    return lineage


def digest(before: Iterable[str], statistics: Any) -> str:
    """The name of an update: of what it added, and of all that was there before."""
    found = hashlib.blake2b("".join(sorted(before)).encode(), digest_size=8)
    for array in arrays_of(statistics):
        found.update(f"{array.shape}".encode())
        found.update(np.ascontiguousarray(array + 0.0).tobytes())
    return found.hexdigest()


def arrays_of(statistics: Any) -> Iterator[NDArray[np.float64]]:
    """All numbers of statistics, or of a bundle of them in the order of its names."""
    if isinstance(statistics, StatisticsBundle):
        for key in sorted(statistics, key=str):
            yield from arrays_of(statistics[key])
    else:
        yield from statistics.arrays()


def less(statistics: Any, parts: Iterable[Part]) -> Any:
    """Statistics without those of some parts."""
    for part in parts:
        statistics = statistics - part.amount
    return statistics


### bounds


def bounded(lineage: Lineage) -> Lineage:
    """The lineage with adjacent parts added up where there are too many; parts are the larger the older they are."""
    found = list(lineage.parts)
    most = max(min(MAX_PARTS, MAX_NUMBERS // max(found[-1].size, 1)), 4) if found else 0
    if len(found) <= most:
        return lineage
    while len(found) > most:
        i = ripest(found)
        found[i : i + 2] = [together(found[i], found[i + 1])]
    unnamed = {n for part in lineage.parts for n in part.names}.difference(*(part.names for part in found))
    shares = {n: share for n, share in lineage.shares.items() if n not in unnamed}
    return Lineage(shares, lineage.bases - unnamed, tuple(found))


def ripest(parts: list[Part]) -> int:
    """Which part and its successor hold the fewest updates, compared with those after them; not the first and last."""
    sizes = np.array([part.n_updates for part in parts[1:]])
    pairs, since = sizes[:-2] + sizes[1:-1], np.cumsum(sizes[::-1])[::-1][2:]
    return 1 + int(np.argmin(pairs / since))


def together(one: Part, two: Part) -> Part:
    """Two parts as one."""
    n_updates, names = one.n_updates + two.n_updates, (*one.names, *two.names)
    statistics = one.statistics * (one.share / two.share) + two.statistics
    return Part(names if n_updates <= MAX_NAMES else (names[0], names[-1]), statistics, two.share, n_updates)


### two models


@dataclass(frozen=True)
class Shared:
    """A part that two models have in common: as one of them keeps it, and how much more of it the other has."""

    part: Part
    ratio: float
    #: Whether it is the first of the two models that keeps it.
    first: bool

    def times(self, factor: float) -> Part:
        """A multiple of it."""
        return replace(self.part, share=self.part.share * factor)

    def within(self, *, first: bool) -> Part:
        """It as it is in one of the models."""
        return self.part if first == self.first else self.times(self.ratio)


def merged(one: Any, two: Any, a: Lineage | None, b: Lineage | None) -> tuple[Any, Lineage]:
    """The statistics of two models together, what they have in common once; and the lineage of the sum."""
    a, b = started(a, one), started(b, two)
    names = {n for n in a.shares if n in b.shares and (n in a.bases or n in b.bases)}
    common = shared(names, a, b)
    total = less(one + two, [s.times(min(s.ratio, 1.0)) for s in common])
    shares, renamed = dict(a.shares), dict[str, str]()
    for name, share in b.shares.items():
        if name in names:
            shares[name] = max(shares[name], share)
        else:
            renamed[name] = new_name(name, shares)
            shares[renamed[name]] = share
    bases = a.bases | b.bases
    parts = [s.times(max(s.ratio, 1.0)) for s in common]
    if a.bases:  # what was only learned is known by its name: whoever was updated from it has its statistics
        parts += remaining(a, names, common, first=True)
    if b.bases:
        left = remaining(b, names, common, first=False)
        parts += (replace(part, names=tuple(renamed[n] for n in part.names)) for part in left)
    place = {name: i for i, name in enumerate(shares)}
    return total, bounded(Lineage(shares, bases, tuple(sorted(parts, key=lambda part: place[part.names[0]]))))


def separated(one: Any, two: Any, a: Lineage | None, b: Lineage | None) -> tuple[Any, Lineage]:
    """The statistics of one model less those of another, but for what both were updated from; and the lineage left."""
    a, b = started(a, one), started(b, two)
    names = set(a.bases & b.bases)
    common = shared(names, a, b)
    total = one
    for s in common:
        total = total + s.times(min(s.ratio, 1.0)).amount
    gone = {n for n in b.shares if n not in names}
    shares = {n: share for n, share in a.shares.items() if n not in gone}
    parts = tuple(part for part in a.parts if gone.isdisjoint(part.names))
    return total - two, Lineage(shares, a.bases - gone, parts)


def has_common(a: Lineage | None, b: Lineage | None) -> bool:
    """Whether two models were updated from something in common."""
    return a is not None and b is not None and not a.bases.isdisjoint(b.bases)


def shared(names: set[str], a: Lineage, b: Lineage) -> list[Shared]:
    """Parts of either model that hold these updates and no others."""
    if any(p.n_updates > len(p.names) and not names.isdisjoint(p.names) for p in (*a.parts, *b.parts)):
        raise inseparable()
    for pairs in (((a, b, True), (b, a, False)), ((b, a, False), (a, b, True))):
        left, found = set(names), []
        for own, other, first in pairs:
            for part in own.parts:
                if left.issuperset(part.names):
                    ratios = [other.shares[n] / own.shares[n] for n in part.names]
                    if max(ratios) - min(ratios) <= ROUNDING * max(ratios):
                        found.append(Shared(part, ratios[-1], first))
                        left.difference_update(part.names)
        if not left:
            return found
    raise inseparable()


def inseparable() -> EvidenceError:
    """What two models have in common is not known by its statistics."""
    return EvidenceError(
        "the models have evidence in common that would count twice: neither of them keeps its statistics apart from "
        "those of other updates",
        hint="update one of the models with the rows of the other",
    )


def remaining(own: Lineage, names: set[str], common: list[Shared], *, first: bool) -> Iterator[Part]:
    """The parts of one model without what it has in common with the other."""
    for part in own.parts:
        left = tuple(n for n in part.names if n not in names)
        if left == part.names:
            yield part
        elif left:
            inside = [s.within(first=first) for s in common if set(part.names).issuperset(s.part.names)]
            if len(left) + sum(len(p.names) for p in inside) == len(part.names):
                with suppress(EvidenceError):
                    yield Part(left, less(part.amount, inside), n_updates=len(left))


def new_name(name: str, taken: Mapping[str, float]) -> str:
    """The name, or another one where it is taken by evidence that counts for itself."""
    while name in taken:
        name = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return name


### files written before there were names


def of_snapshots(snapshots: list[tuple[float, Any]], statistics: Any) -> Lineage | None:
    """The lineage of a model that kept the whole statistics, and the shares, of models that it was updated from."""
    lineage: Lineage | None = None
    try:
        for (share, before), (later, after) in pairwise([*snapshots, (1.0, statistics)]):
            lineage = after_update(lineage, before, after - before * (share / later), share / later)
    except EvidenceError:  # rows were taken back in between
        share, before = snapshots[-1]
        name = digest((), before)
        return Lineage({name: share}, frozenset({name}), (Part((name,), before, share),))
    return lineage
