"""Cases as learners need them: what is known is counted once, what is missing is folded.

A family that a row shows altogether adds one to a cell, whatever the CPTs are; only the missing variables of a row
need inference, group by group (:mod:`bayeslearn.kernels.missing_patterns`). So a table is taken apart once and then
serves every iteration, whether of EM, of gradient ascent or of anything else that asks for expected counts.

Cases that stay where they are, as learners need them: what many batches come to, in one pass.

    known    n1 + n2             counts of the families that rows show altogether
    items    {i: w1(i) + w2(i)}  groups of missing variables, with what stands next to them

An item is a row: −1 in its group, codes next to it, 0 elsewhere. Two batches add by writing their items one below the
other and folding equal ones, as rows are folded. So EM reads the data once, and every iteration costs as much as there
are different items. When these are too many for memory, they are not kept, and every iteration is another pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table, contingency_tables
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.tables import Source


S = TypeVar("S")

#: Items of one group that one task takes; larger groups are split, so that both cores have work.
MOST_ITEMS = 2048


@dataclass(frozen=True)
class Soft:
    """Soft evidence in rows: for each such row the likelihood of every state of every variable, and who has some."""

    likelihoods: NDArray[np.float64]
    weighed: NDArray[np.bool_]

    @classmethod
    def none(cls, states: int, variables: int) -> Soft:
        """No row has any."""
        return cls(np.ones((0, states)), np.zeros((0, variables), np.bool_))


@dataclass(frozen=True)
class Items:
    """Groups of missing variables with what stands next to them, sorted by group."""

    #: Variables of each group, as bits.
    groups: NDArray[np.uint64]
    #: Where the items of each group start.
    start: NDArray[np.int64]
    #: What each item shows, the missing as −1; (items, variables), in the smallest whole numbers that hold them.
    codes: NDArray[Any]
    sample_weight: NDArray[np.float64]
    #: The first row that shows it.
    row: NDArray[np.int64]
    #: Its row of soft evidence, −1 for none.
    soft: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sample_weight)


@dataclass(frozen=True)
class Cases:
    """What the E step asks of cases; they fold like any source, being their own only batch."""

    #: Counts of the families that rows show altogether, in a row as the tables of the network are.
    known: NDArray[np.float64]
    items: Items
    soft: Soft
    #: How often a source was read for them, after they were taken apart.
    made: ClassVar[int] = 0

    def fold(self, collect: Callable[[Any], S]) -> S:
        """`collect` of all cases at once."""
        return collect(self)


@dataclass(frozen=True)
class FoldedCases(Cases):
    """A table taken apart for one structure."""

    table: Table
    #: For each row where its items begin in `record_item`.
    record_start: NDArray[np.int64]
    record_item: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        compiled: Compiled,
        table: Table,
        *,
        likelihoods: Mapping[str, ArrayLike] | None = None,
        count: bool = True,
    ) -> Self:
        """Take a table apart; its columns are the variables of the network, in order.

        `likelihoods` is soft evidence: for a variable an array (rows, states), rows of ones where there is none.
        Without `count`, families that rows show altogether are not counted and `known` is empty.
        """
        soft, soft_row, table = _soft_evidence(compiled, table, likelihoods or {})
        if table.codes.min(initial=0) >= 0:
            return cls.complete(compiled, table, count=count)
        codes, weights = rows_of(table.codes.T), read_only(weights_of(table))
        groups, _, group, row, weight, start, record = kernels.fold_rows(codes, weights, soft_row >= 0, near(compiled))
        order = np.argsort(group, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = row[order]
        items = Items(*split_runs(groups, group[order]), codes[first], weight[order], first, soft_row[first])
        known = known_counts(compiled, table) if count else np.empty(0)
        return cls(known, items, soft, table, start, place[record])

    @classmethod
    def complete(cls, compiled: Compiled, table: Table, *, count: bool = True) -> Self:
        """A table in which nothing is missing: all of it is known."""
        n, none = len(compiled.names), np.empty(0, np.int64)
        no_items = Items(
            np.empty((0, (n + 63) // 64), np.uint64), np.zeros(1, np.int64), np.empty((0, n), np.int8), np.empty(0),
            none, none,
        )  # fmt: skip
        soft = Soft.none(int(compiled.belief_start[-1]), n)
        known = known_counts(compiled, table) if count else np.empty(0)
        return cls(known, no_items, soft, table, np.zeros(table.n_rows + 1, np.int64), none)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows


def near(compiled: Compiled) -> NDArray[np.uint64]:
    """Which variables some table holds together."""
    found: NDArray[np.uint64] = kernels.neighbors(compiled.scope_start, compiled.scope, len(compiled.names))
    return found


def rows_of(codes: NDArray[Any]) -> NDArray[Any]:
    """Codes row by row, as the kernel takes them: the smallest whole numbers, or 32 bits."""
    return np.array(codes, np.int8 if codes.dtype == np.int8 else np.int32, order="C")


def weights_of(table: Table) -> NDArray[np.float64]:
    """How often each row counts."""
    return np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight


def known_counts(compiled: Compiled, table: Table) -> NDArray[np.float64]:
    """Counts of the families that rows show altogether, in a row as the tables are."""
    scopes = np.split(compiled.scope, compiled.scope_start[1:-1])
    found = contingency_tables(table, [[compiled.names[v] for v in scope] for scope in scopes])
    return np.concatenate([family.counts.reshape(-1) for family in found]).astype(np.float64)


def split_runs(groups: NDArray[np.uint64], group: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The group of each run of items, and where runs start: runs end with their group, or when they are long."""
    n = len(group)
    new = np.ones(n, np.bool_)
    new[1:] = group[1:] != group[:-1]
    begin = np.flatnonzero(new)
    within = np.arange(n) - np.repeat(begin, np.diff(np.append(begin, n)))
    starts = np.flatnonzero(new | (within % MOST_ITEMS == 0))
    return groups[group[starts]], np.append(starts, n).astype(np.int64)


def _soft_evidence(
    compiled: Compiled, table: Table, given: Mapping[str, ArrayLike]
) -> tuple[Soft, NDArray[np.int64], Table]:
    """Likelihoods of the rows that have some, the number of these that each row has (−1 for none), and the table."""
    rows, states = table.n_rows, int(compiled.belief_start[-1])
    number = np.full(rows, -1, np.int64)
    if not given:
        return Soft.none(states, len(compiled.names)), number, table
    flat, weighed = np.ones((rows, states)), np.zeros((rows, len(compiled.names)), np.bool_)
    for name, values in given.items():
        v = compiled.position(name)
        likelihood = validation.not_negative(f"likelihood of {name}", validation.float_array(name, values))
        if likelihood.shape != (rows, compiled.sizes[v]):
            raise ShapeError(
                f"the likelihoods of {name!r} must have a row for each case and a column for each state, "
                f"shape {(rows, int(compiled.sizes[v]))}, got {likelihood.shape}"
            )
        weighed[:, v] = (likelihood != 1).any(axis=1)
        _require_open(name, table, weighed[:, v], likelihood)
        flat[:, compiled.belief_start[v] : compiled.belief_start[v + 1]] = likelihood
    has = np.flatnonzero(weighed.any(axis=1))
    number[has] = np.arange(len(has))
    return Soft(np.ascontiguousarray(flat[has]), np.ascontiguousarray(weighed[has])), number, table


def _require_open(name: str, table: Table, weighed: NDArray[np.bool_], likelihood: NDArray[np.float64]) -> None:
    both = weighed & (table.codes_of(name) >= 0)
    if both.any():
        row = validation.first_position(both)
        raise ParameterError(
            f"row {row} has a value and a likelihood for {name!r}, which contradict each other",
            hint="leave the cell missing where soft evidence is given",
            row=row,
        )
    nothing = weighed & (likelihood.max(axis=1) <= 0)
    if nothing.any():
        row = validation.first_position(nothing)
        raise ParameterError(
            f"the likelihood of {name!r} in row {row} allows no state at all",
            hint="give at least one of its states a positive number",
            row=row,
        )


#: Bytes of items that are kept, and what an item takes next to its codes, while two sums are added.
MOST_BYTES, ITEM_BYTES = 1 << 28, 100


@dataclass(frozen=True)
class Gathered:
    """What some batches come to."""

    totals: Extent
    known: NDArray[np.float64]
    #: Which variables some table holds together.
    near: NDArray[np.uint64]
    #: Items as rows, those of a group together; None when they are too many to keep.
    codes: NDArray[Any] | None
    sample_weight: NDArray[np.float64]

    @classmethod
    def of(cls, compiled: Compiled, table: Table) -> Gathered:
        """Those of one batch."""
        sums = (Extent.of(table), known_counts(compiled, table), near(compiled))
        holes = table.codes.T if table.codes.min(initial=0) < 0 else table.codes.T[:0]
        return cls(*sums, *folded(holes, weights_of(table)[: len(holes)], sums[-1]))

    def __add__(self, other: Gathered) -> Gathered:
        sums = (self.totals + other.totals, self.known + other.known, self.near)
        if self.codes is None or other.codes is None:
            return Gathered(*sums, None, np.empty(0))
        if not (len(self.codes) and len(other.codes)):
            some = self if len(self.codes) else other
            return Gathered(*sums, some.codes, some.sample_weight)
        both = np.concatenate([self.codes, other.codes]), np.concatenate([self.sample_weight, other.sample_weight])
        return Gathered(*sums, *folded(*both, self.near))

    def cases(self, compiled: Compiled) -> Cases | None:
        """What EM maximizes; None when there are too many items."""
        if self.codes is None:
            return None
        runs, nothing = split_runs(*groups_of(self.codes)), np.full(len(self.codes), -1)
        soft = Soft.none(int(compiled.belief_start[-1]), len(compiled.names))
        return Cases(self.known, Items(*runs, self.codes, self.sample_weight, nothing, nothing), soft)


@dataclass(frozen=True)
class Gather:
    """What is collected from a batch."""

    compiled: Compiled

    def __call__(self, table: Table) -> Gathered:
        """What one batch comes to."""
        return Gathered.of(self.compiled, table)


@dataclass
class Passes:
    """Cases that are taken apart anew, batch by batch, whenever they are folded."""

    compiled: Compiled
    source: Source
    #: How often they were.
    made: int = 0

    def fold(self, collect: Callable[[Cases], S]) -> S:
        """The sum over the batches."""
        self.made += 1
        compiled = self.compiled  # alone, for what is collected with may travel
        return self.source.fold(lambda table: collect(FoldedCases.of(compiled, table)))


def gathered(
    compiled: Compiled, source: Source, likelihoods: Mapping[str, ArrayLike] | None
) -> tuple[Cases | Passes, Extent]:
    """The cases of any source, and how much there is of them."""
    if isinstance(source, Table):
        return FoldedCases.of(compiled, source, likelihoods=likelihoods), Extent.of(source)
    if likelihoods:
        raise ParameterError(
            "soft evidence has a row for each case, and the cases of a source are never together",
            hint="use source.table(), if there is room for it",
        )
    found = source.fold(Gather(compiled))
    return found.cases(compiled) or Passes(compiled, source), found.totals


def passes_of(source: Source, cases: Cases | Passes) -> int:
    """How often a source was read: once, and once for every fold where its cases are not kept; a table never."""
    return 0 if isinstance(source, Table) else 1 + cases.made


### items as rows


def folded(
    rows: NDArray[Any], sample_weight: NDArray[np.float64], near: NDArray[np.uint64]
) -> tuple[NDArray[Any] | None, NDArray[np.float64]]:
    """The different items of rows, as rows, and their weights."""
    if not len(rows):
        return np.empty(rows.shape, rows.dtype), np.empty(0)
    codes = rows_of(rows)
    groups, besides, group, row, weight, _, _ = kernels.fold_rows(
        codes, read_only(sample_weight), np.zeros(len(codes), np.bool_), near
    )
    if len(row) * (codes.shape[1] * codes.itemsize + ITEM_BYTES) > MOST_BYTES:
        return None, np.empty(0)
    order = np.argsort(group, kind="stable")
    group = group[order]
    shown = codes[row[order]]
    shown *= bits(besides, codes.shape[1])[group]
    shown -= bits(groups, codes.shape[1])[group]
    return shown.astype(rows.dtype, copy=False), weight[order]


def groups_of(codes: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The groups of items that stand group by group, as bits, and the group of each."""
    items, n = codes.shape
    packed = np.zeros((items, (n + 63) // 64 * 8), np.uint8)
    packed[:, : (n + 7) // 8] = np.packbits(codes < 0, axis=1, bitorder="little")
    words = packed.view("<u8").astype(np.uint64, copy=False)
    new = np.ones(items, np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    return words[new], np.cumsum(new) - 1


def bits(sets: NDArray[np.uint64], n: int) -> NDArray[np.int8]:
    """Which variables each set has, as 0 and 1; (sets, variables)."""
    place = np.arange(n)
    return (sets[:, place >> 6] >> (place & 63).astype(np.uint64) & np.uint64(1)).astype(np.int8)
