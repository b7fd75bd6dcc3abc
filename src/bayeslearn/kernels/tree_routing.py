"""Rows sent down the trees of a forest.

code ≤ threshold, or the state is in the mask of the split      the left child
otherwise                                                      the right child, which comes next
missing values of numeric columns                              the side that the node names
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.tree_growth import goes_left

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Rows = NDArray[np.int64]
    Nodes = tuple[Integers, Integers, Bytes, Bytes, Rows]


@kernel
def find_leaves(data: tuple[Bytes, Rows, Bytes], nodes: Nodes, roots: Rows, first: int, leaves: Rows) -> None:
    """The leaf of each tree (trees, rows) that rows `first` … reach, as many as `leaves` has."""
    for t in range(leaves.shape[0]):
        for i in range(leaves.shape[1]):
            leaves[t, i] = leaf_of(data, nodes, roots[t], first + i)


@kernel
def add_leaves(
    data: tuple[Bytes, Rows, Bytes], nodes: Nodes, roots: Rows, values: Floats, first: int, into: Floats
) -> None:
    """Add the values of the leaves that rows `first` … reach, over all trees, to the rows of `into`."""
    for t in range(roots.shape[0]):
        for i in range(into.shape[0]):
            leaf = leaf_of(data, nodes, roots[t], first + i)
            for k in range(into.shape[1]):
                into[i, k] += values[leaf, k]


@kernel
def add_steps(
    data: tuple[Bytes, Rows, Bytes], nodes: Nodes, roots: Rows, values: Floats, first: int, into: Floats
) -> None:
    """Add what every split changes: the values of the child minus those of the node, by column (rows, columns, k)."""
    (codes, n_codes, is_states), (column, threshold, missing_left, masks, left) = data, nodes
    for t in range(roots.shape[0]):
        for i in range(into.shape[0]):
            node = roots[t]
            while column[node] >= 0:
                j = column[node]
                at = threshold[node]
                mask = masks[at if is_states[j] else 0]
                stays = goes_left(int(codes[j, first + i]), n_codes[j], is_states[j], at, missing_left[node], mask)
                child = left[node] if stays else left[node] + 1
                for k in range(into.shape[2]):
                    into[i, j, k] += values[child, k] - values[node, k]
                node = child


@inner
def leaf_of(data: tuple[Bytes, Rows, Bytes], nodes: Nodes, root: int, row: int) -> int:
    """The leaf that a row reaches."""
    (codes, n_codes, is_states), (column, threshold, missing_left, masks, left) = data, nodes
    node = root
    while column[node] >= 0:
        j = column[node]
        at = threshold[node]
        mask = masks[at if is_states[j] else 0]
        stays = goes_left(int(codes[j, row]), n_codes[j], is_states[j], at, missing_left[node], mask)
        node = left[node] if stays else left[node] + 1
    return int(node)
