"""Models that were updated from one base merge without counting it twice.

    a = base + x        b = base + y        a ⊕ b = a + b − base = base + x + y        (a ⊕ b) ⊖ b = a

A model keeps the statistics of the models that it was updated from, its bases. Two models have a base in common when
both keep the same statistics, number by number; the latest one counts. Fading leaves a share of a base: two models with
the shares s and t of one base have the larger of both in common with it, s + t − min(s, t).

Only the first and the latest bases are kept: a model that is updated a thousand times does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bases that are kept: the first, and the latest.
KEPT = 4


@dataclass(frozen=True, eq=False)
class Base:
    """The statistics of a model that another one was updated from, and the share of them that is still in it."""

    statistics: Any
    share: float = 1.0

    def same(self, other: Base) -> bool:
        """Whether both are the statistics of one model."""
        return self.statistics is other.statistics or self.statistics.isclose(other.statistics, rtol=0, atol=0)


Bases = tuple[Base, ...]


def after_update(bases: Bases, statistics: Any, share: float = 1.0) -> Bases:
    """The bases of a model with these bases and statistics after an update that keeps a share of them."""
    found = (*scaled(bases, share), Base(statistics, share)) if share > 0 else ()
    return found if len(found) <= KEPT else (found[0], *found[1 - KEPT :])


def scaled(bases: Bases, factor: float) -> Bases:
    """The bases of a model whose statistics are multiplied by a factor."""
    return tuple(replace(base, share=base.share * factor) for base in bases) if factor > 0 else ()


def mapped(bases: Bases, change: Callable[[Any], Any]) -> Bases:
    """The bases with their statistics changed, as those of the model are: states added, or put in another order."""
    return tuple(replace(base, statistics=change(base.statistics)) for base in bases)


def merged(one: Any, two: Any, bases: Bases, others: Bases) -> tuple[Any, Bases]:
    """The statistics of two models together, their common base once; and the bases of the sum."""
    pairs = in_common(bases, others)
    total = one + two
    if pairs:
        mine, theirs = pairs[-1]
        total = total - mine.statistics * min(mine.share, theirs.share)
    return total, tuple(replace(mine, share=max(mine.share, theirs.share)) for mine, theirs in pairs)


def separated(one: Any, two: Any, bases: Bases, others: Bases) -> tuple[Any, Bases]:
    """The statistics of one model without those of another, their common base left in; and the bases of the rest."""
    pairs = in_common(bases, others)
    if pairs:
        mine, theirs = pairs[-1]
        return (one + mine.statistics * min(mine.share, theirs.share)) - two, tuple(mine for mine, _ in pairs)
    taken = Base(two)
    return one - two, () if any(base.same(taken) for base in bases) else bases


def in_common(bases: Bases, others: Bases) -> list[tuple[Base, Base]]:
    """The bases that two models share, each as both have it, the first ones first."""
    pairs = [(mine, next((theirs for theirs in others if mine.same(theirs)), None)) for mine in bases]
    return [(mine, theirs) for mine, theirs in pairs if theirs is not None]
