"""Which columns can be learned from: not identifiers, free text, constants, nor columns that are hardly ever observed.

The same answers for a table and for a source, which is asked by its digest, or by a pass.

A column numbers the rows when its n values are whole, reach from a to a + n − 1, and are all different. That they are
different shows in sums over them, which add from batch to batch: those of k, k², k³ and k⁴ are the sums of all whole
numbers from a on. (Four sums determine four numbers; of more, others hardly share them.)
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnWarning, joined, option, outside
from bayeslearn.sources.scanning import is_scanned
from bayeslearn.tables import DiscreteVariable, Table
from bayeslearn.tables.columns import all_whole, number_of
from bayeslearn.tables.conversion import RawTable
from bayeslearn.tables.identifiers import LEAST_ORDERED, WholeNumbers, is_identifier_name, why_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.sources.base import Extent
    from bayeslearn.sources.column_profiles import ColumnProfile
    from bayeslearn.tables import Source

#: The largest whole number that floats count up to one by one.
WHOLE = 1 << 53

#: Dropped columns that a warning names.
MOST_REASONS = 5

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
        return cls(tuple(np.bincount(codes[codes >= 0], minlength=v.n_states) for codes, v in columns))


@dataclass(frozen=True)
class Numbers:
    """Range, number, and sums of powers of each numeric column; no sums where values are not whole."""

    present: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sums: tuple[tuple[int, ...] | None, ...]
    #: First and last value, and whether values increase (1), decrease (−1) or neither (0) from row to row.
    ends: tuple[tuple[float, float], ...] = ()
    order: tuple[int, ...] = ()

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(
            tuple(a + b for a, b in zip(self.present, other.present, strict=True)),
            tuple(map(min, self.low, other.low)),
            tuple(map(max, self.high, other.high)),
            tuple(map(added, self.sums, other.sums)),
            tuple(map(joined_ends, self.ends, other.ends)),
            tuple(map(joined_order, self.order, other.order, self.ends, other.ends)),
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
            tuple((float(x[0]), float(x[-1])) if len(x) else NO_ENDS for x in columns),
            tuple(map(order_of, columns)),
        )


#: The ends of no values at all, and the order of fewer than two, which go with any.
NO_ENDS, ANY_ORDER = (np.nan, np.nan), 2


def order_of(x: NDArray[np.float64]) -> int:
    """1 where every value is above the one before it, −1 where below, 0 where neither."""
    if len(x) < 2:
        return ANY_ORDER
    up = x[1] > x[0]
    return (1 if up else -1) if np.all(x[1:] > x[:-1] if up else x[1:] < x[:-1]) else 0


def joined_ends(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """First and last value of both."""
    return b if a[0] != a[0] else a if b[0] != b[0] else (a[0], b[1])


def joined_order(one: int, other: int, a: tuple[float, float], b: tuple[float, float]) -> int:
    """The order of both: that of each, if the step between them goes the same way."""
    if a[0] != a[0] or b[0] != b[0]:
        return other if a[0] != a[0] else one
    step = 1 if b[0] > a[1] else -1 if b[0] < a[1] else 0
    return step if one in {step, ANY_ORDER} and other in {step, ANY_ORDER} else 0


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
        from bayeslearn.sources.base import Extent  # noqa: PLC0415 - batches alone need it

        return cls(Extent.of(table), Discretes.of(table), Numbers.of(table))


### what cannot be used


def unusable(source: Source) -> dict[str, str]:
    """Why columns cannot be learned from, those that cannot: identifiers, free text, and numbers of one value."""
    found = columns_of_table(source) if isinstance(source, Table) else columns_of_source(source)
    return {name: why for name, why in found.items() if why}


class Unreported(dict[str, str]):
    """Dropped columns, and why, that no caller has asked for: a warning reports them."""


def dropping(data: Any, dropped_columns: dict[str, str] | None, columns: Any = None) -> dict[str, str] | None:
    """Where dropped columns are recorded: the caller's dict, or a new one; None where every column is used or refused.

    That is so for columns that are asked for by name, and for tables, sources and arrays, which keep what they have.
    """
    if dropped_columns is not None:
        return dropped_columns
    if columns is not None or isinstance(data, Table | np.ndarray) or is_scanned(data):
        return None
    return Unreported()


def warn_dropped(dropped_columns: dict[str, str] | None, *, named: bool = False) -> None:
    """One warning that names the dropped columns, why, and how to keep them, unless a caller reports them.

    Where all are `named` already, as in an estimator, none can be kept that way.
    """
    if isinstance(dropped_columns, Unreported) and dropped_columns:
        reasons = [why if name in why else f"column {name!r}: {why}" for name, why in dropped_columns.items()]
        warnings.warn(
            f"{len(reasons)} column{'s' * (len(reasons) != 1)} dropped: {joined(reasons, MOST_REASONS, separator='; ')}"
            + ("" if named else f"; name the columns with {option('columns')} to keep them"),
            BayeslearnWarning, stacklevel=outside(),
        )  # fmt: skip


def named_columns(data: Any) -> frozenset[str]:
    """The columns that were asked for by name when the data were read."""
    if isinstance(data, RawTable):
        return data.named
    return data.request.named if is_scanned(data) else frozenset()


def without_identifiers(source: Any, dropped_columns: dict[str, str] | None, keep: Iterable[str] = ()) -> Any:
    """A table or source without its identifiers and free text, reported in `dropped_columns`; unchanged if it is None.

    Columns to `keep` stay, such as a target and declared ones; and so do all if none would be left. No caller
    has asked for `Unreported` columns to be dropped: they stay in tables of fewer than 20 rows, which are often made up
    by hand and whose numbers differ by chance.
    """
    if dropped_columns is None or (isinstance(dropped_columns, Unreported) and source.n_rows < LEAST_ORDERED):
        return source
    keep = {*keep, *named_columns(source)}
    gone = {name: why for name, why in unusable(source).items() if "one value" not in why and name not in keep}
    names = [name for name in source.schema.names if name not in gone]
    if not gone or set(names) <= keep:
        return source
    dropped_columns |= gone
    return source.select(names) if isinstance(source, Table) else replace(source, schema=source.schema.select(names))


def columns_of_table(table: Table) -> dict[str, str | None]:
    """Why each column of a table cannot be used, or None."""
    why: dict[str, str | None] = {}
    for v in table.schema.discrete:
        codes = table.codes_of(v.name)
        why[v.name] = of_counts(v, np.bincount(codes[codes >= 0], minlength=v.n_states))
    for name in (v.name for v in table.schema.numeric):
        x = table.values_of(name)
        why[name] = of_numbers(name, x[~np.isnan(x)])
    return why


def of_counts(v: DiscreteVariable, counts: NDArray[np.int64]) -> str | None:
    """Why a discrete column cannot be used: from how often each state is seen."""
    if v.cuts is not None or v.origin is not None:
        return None
    states = tuple(state for state, n in zip(v.states, counts, strict=True) if n)
    return why_name(v.name, states, int(counts.sum()), int(counts.max(initial=0)))


def of_numbers(name: str, x: NDArray[np.float64]) -> str | None:
    """Why a column of numbers cannot be used."""
    if not len(x) or x.min() == x.max():
        return f"column {name!r} shows one value only"
    if not all_whole(x):
        return None
    return whole_numbers(x).why_identifier(name)


def whole_numbers(x: NDArray[np.float64]) -> WholeNumbers:
    """What whole numbers show; more of them than there are between the least and the largest repeat themselves."""
    n = len(x)
    if x.max() / 2 - x.min() / 2 < (n - 1) / 2:  # halves: the difference may leave the range of floats
        return WholeNumbers(n, is_consecutive=False, is_ordered=False, all_different=False)
    with np.errstate(over="ignore"):
        steps = np.diff(np.sort(x))
    different = bool((steps > 0).all())
    ordered = different and order_of(x) in {1, -1}
    return WholeNumbers(n, bool((steps == 1).all()), ordered, different)


def columns_of_source(source: Any) -> dict[str, str | None]:
    """The same of a source; by a pass where its digest leaves it open."""
    if not in_doubt(source):
        return {}
    found, why = source.fold(Facts.of), {}
    vars(source)["totals"] = found.totals  # nobody needs to count them again
    for v, seen in zip(source.schema.discrete, found.discrete.counts, strict=True):
        why[v.name] = of_counts(v, seen)
    numbers = found.numbers
    columns = zip(numbers.present, numbers.low, numbers.high, numbers.sums, numbers.order, strict=True)
    digest = {} if source.digest is None else source.digest.columns
    for name, (n, low, high, sums, order) in zip((v.name for v in source.schema.numeric), columns, strict=True):
        if not n or low == high:
            why[name] = f"column {name!r} shows one value only"
        elif sums is not None:
            seen = digest.get(name)
            different = None if seen is None or seen.more else max(seen.levels.values(), default=1) == 1
            consecutive_ = sums == consecutive(int(low), n)
            whole = WholeNumbers(n, consecutive_, order in {1, -1}, consecutive_ or different)
            why[name] = whole.why_identifier(name)
    return why


def in_doubt(source: Any) -> bool:
    """Whether the digest leaves open that a column cannot be used."""
    seen = {} if source.digest is None else source.digest.columns
    if not set(source.schema.names) <= set(seen):
        return True
    return any(
        max(seen[v.name].levels.values(), default=0) <= 1 or seen[v.name].more or is_identifier_name(v.name)
        if isinstance(v, DiscreteVariable)
        else maybe_identifier(seen[v.name])
        for v in source.schema
    )


def maybe_identifier(seen: ColumnProfile) -> bool:
    """Whether a column of numbers might be of one value, or an identifier: all of the numbers that are kept whole."""
    if not 0 < seen.high - seen.low < math.inf or seen.fits.chosen is not None:
        return True
    return all(isinstance(v, int) or number_of(v) == math.floor(number_of(v)) for v in (*seen.levels, *seen.odd))
