"""Cases that stay where they are, as learning wants them: what many batches come to, in one pass.

    known    n1 + n2             counts of the families that rows show altogether
    items    {i: w1(i) + w2(i)}  groups of missing variables, with what stands beside them

An item is a row: −1 in its group, codes beside it, 0 elsewhere. Two batches add by writing their items one below the
other and folding equal ones, as rows are folded. So EM reads the data once, and every iteration costs as much as there
are different items. When these are too many for memory, they are not kept, and every iteration is a pass of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import ParameterError
from bayeslearn.network.learning.cases import (
    Cases,
    FoldedCases,
    Items,
    Soft,
    known_counts,
    near,
    rows_of,
    split_runs,
    weights_of,
)
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.inference.compiled import Compiled
    from bayeslearn.tables import Source

S = TypeVar("S")

#: Bytes of items that are kept, and what an item takes beside its codes, while two sums are added.
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
    weights: NDArray[np.float64]

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
            return Gathered(*sums, some.codes, some.weights)
        both = np.concatenate([self.codes, other.codes]), np.concatenate([self.weights, other.weights])
        return Gathered(*sums, *folded(*both, self.near))

    def cases(self, compiled: Compiled) -> Cases | None:
        """What EM climbs on; None when there are too many items."""
        if self.codes is None:
            return None
        runs, nothing = split_runs(*groups_of(self.codes)), np.full(len(self.codes), -1)
        soft = Soft.none(int(compiled.belief_start[-1]), len(compiled.names))
        return Cases(self.known, Items(*runs, self.codes, self.weights, nothing, nothing), soft)


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
    return 0 if isinstance(source, Table) else 1 + (cases.made if isinstance(cases, Passes) else 0)


### items as rows


def folded(
    rows: NDArray[Any], weights: NDArray[np.float64], near: NDArray[np.uint64]
) -> tuple[NDArray[Any] | None, NDArray[np.float64]]:
    """The different items of rows, as rows, and their weights."""
    if not len(rows):
        return np.empty(rows.shape, rows.dtype), np.empty(0)
    codes = rows_of(rows)
    groups, besides, group, row, weight, _, _ = kernels.fold_rows(
        codes, read_only(weights), np.zeros(len(codes), np.bool_), near
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
