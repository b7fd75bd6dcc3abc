"""The trees of a forest as flat arrays, and the codes of the columns that they split.

Numbers become bins: code k is for numbers above the k-th cut and up to the next. States are their own codes. The code
after the last is for missing values and for states that were not in training.

A node has a column, or −1 if it is a leaf. The k-th node of a tree that has children has the children 2k + 1 and
2k + 2, so the columns alone determine which node is whose child, and no file can describe a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import CapacityError, ShapeError
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables import Schema, Table

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Codes of a column besides that of missing values, and bytes of the mask of a split of states.
MAX_CODES, MASK = 255, 32

#: Rows that are sent down the trees together.
BATCH = 1 << 13


### codes


@dataclass(frozen=True, eq=False)
class Bins:
    """How the columns of a schema become codes."""

    schema: Schema
    #: The cuts of each column, which rise; none of a column with states.
    cuts: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if len(self.cuts) != len(self.schema):
            raise ShapeError(f"{len(self.cuts)} lists of cuts do not fit {len(self.schema)} columns")
        object.__setattr__(self, "cuts", tuple(validation.owned(cut, np.float64) for cut in self.cuts))
        for variable, cut in zip(self.schema, self.cuts, strict=True):
            states = isinstance(variable, DiscreteVariable)
            if cut.ndim != 1 or (np.diff(cut) <= 0).any() or (states and len(cut)):
                raise ShapeError(f"the cuts of column {variable.name!r} do not rise, or it has states")
            if (len(variable.states) if isinstance(variable, DiscreteVariable) else len(cut) + 1) > MAX_CODES:
                raise CapacityError(
                    f"column {variable.name!r} has more than {MAX_CODES} states or bins",
                    hint="join rare states, or leave the column out",
                )

    @classmethod
    def fit(cls, table: Table, max_bins: int) -> Bins:
        """Return bins of about equal weight, or one for each value of columns that have no more than `max_bins`."""
        w = np.ones(len(table)) if table.sample_weight is None else table.sample_weight
        states = {v.name for v in table.schema.discrete}
        found = [
            np.empty(0) if v.name in states else cuts_of(table.values_of(v.name), w, max_bins) for v in table.schema
        ]
        return cls(table.schema, tuple(found))

    @cached_property
    def n_codes(self) -> Rows:
        """The number of codes of each column, without that of missing values."""
        pairs = zip(self.schema, self.cuts, strict=True)
        return validation.lock(
            np.array([len(v.states) if isinstance(v, DiscreteVariable) else len(cut) + 1 for v, cut in pairs], np.int64)
        )

    @cached_property
    def is_states(self) -> NDArray[np.uint8]:
        """Which columns have states."""
        return validation.lock(np.array([isinstance(v, DiscreteVariable) for v in self.schema], np.uint8))

    def codes(self, table: Table) -> NDArray[np.uint8]:
        """The codes of rows (columns, rows)."""
        found = np.empty((len(self.schema), len(table)), np.uint8)
        for j, (variable, cut) in enumerate(zip(self.schema, self.cuts, strict=True)):
            missing = int(self.n_codes[j])
            if isinstance(variable, DiscreteVariable):
                codes = table.codes_of(variable.name)
                found[j] = np.where((codes < 0) | (codes >= missing), missing, codes)
            else:
                x = table.values_of(variable.name)
                found[j] = np.where(np.isnan(x), missing, np.searchsorted(cut, x, side="left"))
        return found

    def same(self, other: Bins) -> bool:
        """Whether both give the same codes to the same columns."""
        return self.schema == other.schema and all(map(np.array_equal, self.cuts, other.cuts))


def cuts_of(x: Floats, sample_weight: Floats, max_bins: int) -> Floats:
    """Numbers halfway between neighbors that part the rows into at most `max_bins` bins of about equal weight."""
    known = ~np.isnan(x)
    values, place = np.unique(x[known], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    below, above = values[:-1], values[1:]
    middle = below + (above / 2 - below / 2)
    middle = np.where(middle < above, middle, below)  # between neighbors that are no double apart
    if len(values) <= max_bins:
        return middle
    weight = np.cumsum(np.bincount(place, sample_weight[known], len(values)))
    bins = np.floor(weight / weight[-1] * max_bins * (1 - 1e-12))
    return np.asarray(middle[np.diff(bins) > 0])


### trees


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of thresholds over the codes of columns."""

    bins: Bins
    #: The number of nodes of each tree.
    sizes: Rows
    #: The column of each node, −1 of leaves.
    column: NDArray[np.int32]
    #: The last code that goes left, or which mask has the states that do.
    threshold: NDArray[np.int32]
    #: Whether missing values go left.
    missing_left: NDArray[np.uint8]
    #: The states that go left, a bit for each, of every split of states.
    masks: NDArray[np.uint8]

    def __post_init__(self) -> None:
        kinds: dict[str, Any] = {
            "sizes": np.int64, "column": np.int32, "threshold": np.int32, "missing_left": np.uint8, "masks": np.uint8,
        }  # fmt: skip
        for name, kind in kinds.items():
            object.__setattr__(self, name, validation.owned(getattr(self, name), kind))
        n = len(self.column)
        validation.lengths("sizes", self.sizes, n, of="nodes", min_value=1)
        if {self.threshold.shape, self.missing_left.shape, self.column.shape} != {(n,)}:
            raise ShapeError(f"columns, thresholds and sides of {n} nodes have different shapes")
        if self.masks.ndim != 2 or self.masks.shape[1] != MASK or not len(self.masks):
            raise ShapeError(f"expected masks of {MASK} bytes, got shape {self.masks.shape}")
        validation.indices("column", self.column, len(self.bins.schema), min_value=-1)
        splits = self.column >= 0
        self._require_children(splits)
        column, at = self.column[splits], self.threshold[splits]
        most = np.where(self.bins.is_states[column] > 0, len(self.masks), self.bins.n_codes[column])
        if ((at < 0) | (at >= most)).any():
            raise ShapeError("a threshold is not a code of its column, or there is no such mask")

    def _require_children(self, splits: NDArray[np.bool_]) -> None:
        """Each node but the root is the child of one node before it."""
        starts = self.roots
        before: Rows = np.cumsum(splits) - splits
        rank: Rows = before - np.repeat(before[starts], self.sizes)  # splits of the same tree that come before
        inside = np.arange(len(splits)) - np.repeat(starts, self.sizes)
        n_splits = np.add.reduceat(splits, starts, dtype=np.int64)
        if (2 * n_splits + 1 != self.sizes).any() or (2 * rank + 1 <= inside)[splits].any():
            raise ShapeError("the nodes do not form trees: a node is not the child of one before it")

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def roots(self) -> Rows:
        """The root of each tree."""
        return validation.lock(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def left(self) -> Rows:
        """The left child of each node, before the right one; −1 of leaves."""
        splits = self.column >= 0
        before: Rows = np.cumsum(splits) - splits
        starts = np.repeat(self.roots, self.sizes)
        return validation.lock(np.where(splits, starts + 2 * (before - before[starts]) + 1, -1))

    @cached_property
    def parent(self) -> Rows:
        """The parent of each node; −1 of roots."""
        found = np.full(len(self.column), -1)
        splits = np.flatnonzero(self.left >= 0)
        found[self.left[splits]] = found[self.left[splits] + 1] = splits
        return validation.lock(found)

    @cached_property
    def leaf_nodes(self) -> Rows:
        """The nodes that are leaves, in order: the statistics have a row for each."""
        return validation.lock(np.flatnonzero(self.column < 0))

    @cached_property
    def leaf_numbers(self) -> Rows:
        """The number of each leaf among the leaves; of other nodes that of the next."""
        return validation.lock(np.cumsum(self.column < 0) - (self.column < 0))

    @property
    def nodes(self) -> tuple[Any, ...]:
        """The arrays as kernels take them."""
        return self.column, self.threshold, self.missing_left, self.masks, self.left

    def data(self, codes: NDArray[np.uint8]) -> tuple[Any, ...]:
        """Codes of rows as kernels take them."""
        return codes, self.bins.n_codes, self.bins.is_states

    def leaves(self, codes: NDArray[np.uint8]) -> Rows:
        """The node that each row ends at in each tree (trees, rows)."""
        found = np.empty((len(self), codes.shape[1]), np.int64)
        kernels.find_leaves(self.data(codes), self.nodes, self.roots, 0, found)
        return found

    def mean_of(self, values: Floats, codes: NDArray[np.uint8]) -> Floats:
        """The mean over the trees of the values (nodes, k) of the leaves that rows end at (rows, k)."""
        found = np.zeros((codes.shape[1], values.shape[1]))
        starts = range(0, len(found), BATCH)

        def add(a: int) -> None:
            kernels.add_leaves(self.data(codes), self.nodes, self.roots, values, a, found[a : a + BATCH])

        kernels.parallel(add, starts)
        return found / len(self)

    def steps(self, values: Floats, codes: NDArray[np.uint8]) -> Floats:
        """The mean over the trees of how values change along the paths of rows, by column (rows, columns, k)."""
        found = np.zeros((codes.shape[1], len(self.bins.schema), values.shape[1]))
        kernels.add_steps(self.data(codes), self.nodes, self.roots, values, 0, found)
        return found / len(self)

    def same(self, other: Trees) -> bool:
        """Whether both send every row to the same leaves."""
        names = ("sizes", "column", "threshold", "missing_left", "masks")
        return self.bins.same(other.bins) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )


def joined(bins: Bins, parts: Sequence[Trees]) -> Trees:
    """One forest of the trees of several."""
    masks, thresholds, n = [np.zeros((1, MASK), np.uint8)], [], 1
    for tree in parts:
        states = (tree.column >= 0) & (bins.is_states[tree.column] > 0)
        thresholds.append(np.where(states, tree.threshold + n - 1, tree.threshold))
        masks.append(tree.masks[1:])
        n += len(tree.masks) - 1
    return Trees(
        bins,
        np.concatenate([tree.sizes for tree in parts]),
        np.concatenate([tree.column for tree in parts]),
        np.concatenate(thresholds).astype(np.int32),
        np.concatenate([tree.missing_left for tree in parts]),
        np.concatenate(masks),
    )


### growing


def grown(
    bins: Bins, codes: NDArray[np.uint8], labels: NDArray[np.int32], values: Floats, weights: Floats, n_labels: int,
    *, max_features: int, min_samples_leaf: float, max_depth: int, seed: int,
) -> Trees:  # fmt: skip
    """One tree, grown on the rows of positive weight."""
    rows = np.flatnonzero(weights > 0)
    n, any_states = 2 * len(rows), bool(bins.is_states.any())
    column, threshold = np.empty(n, np.int32), np.zeros(n, np.int32)
    missing_left, left = np.zeros(n, np.uint8), np.empty(n, np.int64)
    masks = np.zeros((len(rows) if any_states else 1, MASK), np.uint8)
    size, n_masks = kernels.grow_forest_tree(
        (codes, bins.n_codes, bins.is_states), labels, values, weights, rows, n_labels,
        (max_features, float(min_samples_leaf), max_depth), seed, (column, threshold, missing_left, masks), left,
    )  # fmt: skip
    at = threshold[:size] + (bins.is_states[column[:size]] > 0) * (column[:size] >= 0)  # mask 0 is of no split
    first = np.zeros((1, MASK), np.uint8)
    return Trees(
        bins, np.array([size]), column[:size], at.astype(np.int32), missing_left[:size],
        np.concatenate([first, masks[:n_masks]]),
    )  # fmt: skip
