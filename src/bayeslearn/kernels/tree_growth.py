"""A tree of thresholds, grown on a random sample of rows: at every node the best split among some random columns.

    gain(left, right) = Σ_k L_k²/n_left + Σ_k R_k²/n_right        L_k, R_k = Σ w v of the rows with label k

With v = 1 and a label for each class this is Gini's index; with one label and v the target it is the sum of squares.
Columns are codes of at most 255 bins or states; the code after them stands for missing values.

Numeric columns are split at a threshold, and missing values go to the side of the larger gain. States are ordered by
the share of a random half of the labels among their rows, and the order is split (of two labels, the best subset is
among these); missing values are one more state. What no row of the node has goes to the heavier side.

Nodes are numbered in the order in which they are reached, level by level: the k-th node with children has the children
2k + 1 and 2k + 2, which come after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Rows = NDArray[np.int64]
    #: Column, threshold and side of missing values of each node, and the states that go left at each split of states.
    Nodes = tuple[Integers, Integers, Bytes, Bytes]

#: Codes of a column, that of missing values among them.
CODES = 256

#: Of a node's weight, how much a split must gain.
ROUNDING = 1e-9


@kernel
def grow_forest_tree(
    data: tuple[Bytes, Rows, Bytes], labels: Integers, values: Floats, weights: Floats, rows: Rows, n_labels: int,
    limits: tuple[int, float, int], seed: int, nodes: Nodes, children: Rows,
) -> tuple[int, int]:  # fmt: skip
    """Grow a tree on `rows`, which are put in the order of its leaves; return how many nodes and masks it has.

    `data` are the codes (columns, rows), how many codes but the missing one each column has, and which columns are
    states; `limits` the number of columns that are tried, the least weight of a child, and the greatest depth.
    """
    (codes, n_codes, is_states), (n_tried, least, max_depth) = data, limits
    column, threshold, missing_left, masks = nodes
    p, n_rows = codes.shape[0], rows.shape[0]
    sums, weight, total = np.zeros((CODES, n_labels)), np.zeros(CODES), np.zeros(n_labels)
    order, key, half = np.zeros(CODES, np.int64), np.zeros(CODES), np.zeros(n_labels)
    side, best_mask = np.zeros(n_labels), np.zeros(32, np.uint8)
    shuffled, waiting = np.arange(p), np.zeros(n_rows, np.int64)
    start, stop, depth = np.zeros(2 * n_rows, np.int64), np.zeros(2 * n_rows, np.int64), np.zeros(2 * n_rows, np.int64)
    stop[0], state, n_nodes, n_masks, node = n_rows, seed, 1, 0, 0
    while node < n_nodes:
        a, b = start[node], stop[node]
        column[node], children[node] = -1, -1
        total[:] = 0.0
        n = 0.0
        for i in range(a, b):
            total[labels[rows[i]]] += weights[rows[i]] * values[rows[i]]
            n += weights[rows[i]]
        best = float(np.sum(total * total) / n)
        pure = n_labels > 1 and best >= n * (1 - ROUNDING)
        best, j, at, to_left = best + ROUNDING * n, -1, 0, 0
        seen, f = 0, 0
        while f < p and seen < n_tried and not pure and b - a > 1 and depth[node] < max_depth:
            state = state * 48271 % 2147483647  # Park and Miller's generator
            r = f + state % (p - f)
            c = shuffled[r]
            shuffled[r], shuffled[f] = shuffled[f], c
            f += 1
            low, high = fill(codes[c], labels, values, weights, rows, a, b, sums, weight)
            if low < high:
                seen += 1
                missing = n_codes[c]
                lost = float(weight[missing]) if high == missing and not is_states[c] else 0.0
                if is_states[c]:
                    state = halve(half, state)
                    m = arrange(sums, weight, half, low, high, order, key)
                else:
                    m = present(weight, low, min(high, missing - 1), order)
                for turn in range(2 if lost > 0 else 1):  # missing values go right, then left
                    side[:] = 0.0
                    n_side = 0.0
                    if turn == 1:
                        side[:] = sums[missing]
                        n_side = lost
                    for q in range(m if lost > 0 and turn == 0 else m - 1):
                        for k in range(n_labels):
                            side[k] += sums[order[q], k]
                        n_side += weight[order[q]]
                        if n_side >= least and n - n_side >= least:
                            gain = 0.0
                            for k in range(n_labels):
                                rest = total[k] - side[k]
                                gain += side[k] * side[k] / n_side + rest * rest / (n - n_side)
                            if gain > best:
                                best, j = gain, c
                                to_left = turn if lost > 0 else int(2 * n_side >= n)
                                at = order[q] if q + 1 >= m else (order[q] + order[q + 1]) // 2
                                if is_states[c]:
                                    mark(best_mask, order, q, weight, 2 * n_side >= n)
            for q in range(low, high + 1):
                sums[q], weight[q] = 0.0, 0.0
        if j >= 0:
            if is_states[j]:
                masks[n_masks] = best_mask
                at, n_masks = n_masks, n_masks + 1
            middle = part(codes[j], rows, a, b, n_codes[j], is_states[j], at, to_left, best_mask, waiting)
            column[node], threshold[node], missing_left[node], children[node] = j, at, to_left, n_nodes
            start[n_nodes], stop[n_nodes], start[n_nodes + 1], stop[n_nodes + 1] = a, middle, middle, b
            depth[n_nodes], depth[n_nodes + 1] = depth[node] + 1, depth[node] + 1
            n_nodes += 2
        node += 1
    return n_nodes, n_masks


@inner
def fill(
    codes: Bytes, labels: Integers, values: Floats, weights: Floats, rows: Rows, a: int, b: int, sums: Floats,
    weight: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Add up the rows of a node by their codes; return the lowest and the highest code."""
    low, high = CODES, -1
    for i in range(a, b):
        row = rows[i]
        c = int(codes[row])
        sums[c, labels[row]] += weights[row] * values[row]
        weight[c] += weights[row]
        low, high = min(low, c), max(high, c)
    return low, high


@inner
def present(weight: Floats, low: int, high: int, order: Rows) -> int:
    """The codes that rows of the node have, in order; return how many."""
    m = 0
    for c in range(low, high + 1):
        if weight[c] > 0:
            order[m] = c
            m += 1
    return m


@inner
def halve(half: Floats, state: int) -> int:
    """Draw a random half of the labels, the first of which is in it; return the state of the generator."""
    half[0] = 1.0
    for k in range(1, half.shape[0]):
        state = state * 48271 % 2147483647
        half[k] = 0.0 if half.shape[0] == 2 else float(state // 1024 % 2)
    return state


@inner
def arrange(sums: Floats, weight: Floats, half: Floats, low: int, high: int, order: Rows, key: Floats) -> int:
    """The states that rows of the node have, by the share of the labels in `half`; return how many."""
    m = 0
    for c in range(low, high + 1):
        if weight[c] > 0:
            share = 0.0
            for k in range(half.shape[0]):
                share += half[k] * sums[c, k]
            share /= weight[c]
            q = m
            while q > 0 and key[q - 1] > share:
                key[q], order[q] = key[q - 1], order[q - 1]
                q -= 1
            key[q], order[q] = share, c
            m += 1
    return m


@inner
def mark(mask: Bytes, order: Rows, last: int, weight: Floats, others: bool) -> None:  # noqa: FBT001 - of a kernel
    """The states that go left: those up to the place `last` in the order, and `others` that no row has."""
    mask[:] = 0
    for q in range(last + 1):
        mask[order[q] >> 3] |= 1 << (order[q] & 7)
    for c in range(CODES if others else 0):
        if weight[c] == 0:
            mask[c >> 3] |= 1 << (c & 7)


@inner
def goes_left(code: int, missing: int, is_states: Any, at: int, to_left: Any, mask: Bytes) -> bool:
    """Whether a code goes left."""
    if is_states:
        return bool((mask[code >> 3] >> (code & 7)) & 1)
    if code == missing:
        return bool(to_left)
    return code <= at


@inner
def part(
    codes: Bytes, rows: Rows, a: int, b: int, missing: int, is_states: Any, at: int, to_left: int, mask: Bytes,
    waiting: Rows,
) -> int:  # fmt: skip
    """Put the rows of a node that go left before the others, both in their order; return where these begin."""
    left, others = a, 0
    for i in range(a, b):
        row = rows[i]
        if goes_left(int(codes[row]), missing, is_states, at, to_left, mask):
            rows[left] = row
            left += 1
        else:
            waiting[others] = row
            others += 1
    for i in range(others):
        rows[left + i] = waiting[i]
    return left
