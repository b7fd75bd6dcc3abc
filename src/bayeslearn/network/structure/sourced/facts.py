"""What the columns of a source are fit for: from its digest, or by a pass.

A column numbers the rows when its n values are whole, reach from a to a + n − 1, and are all different. That they are
different shows in sums over them, which add from batch to batch: those of k, k², k³ and k⁴ are the sums of all whole
numbers from a on. (Four sums determine four numbers; of more, others hardly share them.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.sources.base import Extent
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.sources.base import Scanned
    from bayeslearn.sources.digest import Seen
    from bayeslearn.tables import Table

#: The largest whole number that floats count up to one by one.
WHOLE = 1 << 53

#: Sums are kept modulo this.
MODULUS = 1 << 64


@dataclass(frozen=True)
class Discretes:
    """How often each state of each discrete column is seen."""

    counts: tuple[NDArray[np.int64], ...]

    def __add__(self, other: Discretes) -> Discretes:
        return Discretes(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))

    @classmethod
    def of(cls, table: Table) -> Discretes:
        """Those of a batch."""
        columns = zip(table.codes, table.schema.discrete, strict=True)
        return cls(tuple(np.bincount(codes[codes >= 0], minlength=v.size) for codes, v in columns))


@dataclass(frozen=True)
class Numbers:
    """Range, number, and sums of powers of each numeric column; no sums where values are not whole."""

    present: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sums: tuple[tuple[int, ...] | None, ...]

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(
            tuple(a + b for a, b in zip(self.present, other.present, strict=True)),
            tuple(map(min, self.low, other.low)),
            tuple(map(max, self.high, other.high)),
            tuple(map(added, self.sums, other.sums)),
        )

    @classmethod
    def of(cls, table: Table) -> Numbers:
        """Those of a batch."""
        columns = [x[~np.isnan(x)] for x in table.values]
        return cls(
            tuple(map(len, columns)),
            tuple(float(x.min(initial=np.inf)) for x in columns),
            tuple(float(x.max(initial=-np.inf)) for x in columns),
            tuple(map(power_sums, columns)),
        )


def added(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Sums of both, if there are any."""
    return None if a is None or b is None else tuple((x + y) % MODULUS for x, y in zip(a, b, strict=True))


def power_sums(x: NDArray[np.float64]) -> tuple[int, ...] | None:
    """Σ k, Σ k², Σ k³, Σ k⁴ of whole numbers; None when there are others."""
    if not (np.all(x == np.floor(x)) and np.all(np.abs(x) < WHOLE)):
        return None
    k = x.astype(np.int64).astype(np.uint64)
    powers = [k, k * k, k * k * k, k * k * k * k]
    return tuple(int(power.sum(dtype=np.uint64)) % MODULUS for power in powers)


def consecutive(low: int, n: int) -> tuple[int, ...]:
    """The same sums for low, low + 1, …, low + n − 1."""

    def up_to(m: int) -> tuple[int, ...]:  # 0 + 1 + … + m; right for m below zero, too
        square = m * (m + 1) // 2
        fourth = m * (m + 1) * (2 * m + 1) * (3 * m * m + 3 * m - 1) // 30
        return square, m * (m + 1) * (2 * m + 1) // 6, square**2, fourth

    return tuple((b - a) % MODULUS for a, b in zip(up_to(low - 1), up_to(low + n - 1), strict=True))


@dataclass(frozen=True)
class Facts:
    """All that is to be known of columns, and of the rows together."""

    totals: Extent
    discrete: Discretes
    numbers: Numbers

    def __add__(self, other: Facts) -> Facts:
        return Facts(self.totals + other.totals, self.discrete + other.discrete, self.numbers + other.numbers)

    @classmethod
    def of(cls, table: Table) -> Facts:
        """Those of a batch."""
        return cls(Extent.of(table), Discretes.of(table), Numbers.of(table))


def unfit(source: Scanned, least: int) -> dict[str, str]:
    """Why columns should be left out, those that should, as :mod:`..preparing` says; by a pass where there is doubt."""
    if not in_doubt(source, least):
        return {}
    found, why = source.fold(Facts.of), {}
    vars(source)["totals"] = found.totals  # nobody needs to count them again
    for v, seen in zip(source.schema.discrete, found.discrete.counts, strict=True):
        if seen.sum() >= least and seen.max() == 1:
            why[v.name] = f"column {v.name!r} has another state in every row, like a name"
    numbers = found.numbers
    columns = zip(numbers.present, numbers.low, numbers.high, numbers.sums, strict=True)
    for name, (n, low, high, sums) in zip((v.name for v in source.schema.numeric), columns, strict=True):
        if not n or low == high:
            why[name] = f"column {name!r} shows one value only"
        elif n >= least and sums is not None and sums == consecutive(int(low), n):
            why[name] = f"column {name!r} numbers the rows"
    return why


def in_doubt(source: Scanned, least: int) -> bool:
    """Whether the digest leaves open that a column should be left out."""
    seen = {} if source.digest is None else source.digest.columns
    if not set(source.schema.names) <= set(seen):
        return True
    return any(
        max(seen[v.name].levels.values(), default=0) <= 1 or seen[v.name].more
        if isinstance(v, Discrete)
        else maybe_numbers_rows(seen[v.name], least)
        for v in source.schema
    )


def maybe_numbers_rows(seen: Seen, least: int) -> bool:
    """Whether a column of numbers might be of one value, or number the rows."""
    return not 0 < seen.high - seen.low < math.inf or (
        seen.present >= least and seen.high - seen.low == seen.present - 1
    )
