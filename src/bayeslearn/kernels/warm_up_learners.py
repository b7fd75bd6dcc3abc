"""The units of :mod:`bayeslearn.kernels.warm_up` for the learners other than networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels import (
    document_counts,
    document_scores,
    gaussian_mixture_em,
    growth_function,
    hmm_emissions,
    hmm_forward_backward,
    hmm_log_space,
    local_regression,
    naive_bayes,
    neighbors_brute_force,
    neighbors_kd_tree,
    neighbors_lower_bounds,
    shattering,
    simd_vectors,
    tree_growth,
    tree_prunings,
    tree_routing,
    weighted_majority,
    word_hash_table,
)
from bayeslearn.kernels.warm_up import UNITS, read_only, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["UNITS"]


### naive Bayes


@unit
def class_counts() -> None:
    """One row of one column and one class: counted, measured and predicted."""
    x, label, weight, joint = read_only(np.ones((1, 1))), np.zeros(1, np.int32), np.ones(1), np.zeros((1, 1))
    for kind in (np.int8, np.int16):  # the cells of a kernel density take two bytes
        codes = read_only(np.zeros((1, 1), kind))
        naive_bayes.count_classes(codes, label, weight, np.zeros((1, 3, 1)))
        naive_bayes.add_state_logs(codes, np.zeros((1, 1, 3)), joint)
    naive_bayes.class_moments(x, label, weight, np.zeros((1, 3, 1)))
    naive_bayes.add_normal_logs(x, np.ones((1, 1, 3)), joint)
    naive_bayes.best_class(joint, np.zeros(1, np.int64))


@unit
def averaged_dependence() -> None:
    """One column of whole numbers as a parent of itself."""
    codes, whole, room = read_only(np.zeros((1, 1), np.int8)), read_only(np.zeros((1, 1), np.int64)), np.array([0, 2])
    start, joint = np.zeros(1, np.int64), np.zeros((1, 1))
    naive_bayes.count_pairs(codes, start, np.zeros(1, np.int32), np.ones(1), np.zeros((1, 1, 1)))
    naive_bayes.see_values(whole, start, room, np.zeros(2, np.uint8))
    naive_bayes.code_values(whole, start, room, np.zeros(2, np.int8), np.zeros((1, 1), np.int8))
    naive_bayes.average_parents(codes, start, np.zeros((1, 1)), np.zeros((1, 1, 1)), joint)


@unit
def vocabularies() -> None:
    """One word, joined to a vocabulary."""
    table, letters = (
        word_hash_table.wider_table(np.zeros((4, 2), np.uint64)),
        np.zeros(1 + word_hash_table.SPARE, np.uint8),
    )
    known = (table, letters.copy(), np.zeros(1, np.int64))
    word_hash_table.join_words(letters, np.array([1]), known, np.zeros(1, np.int32), np.zeros(3, np.int64))
    word_hash_table.hash_words(letters, np.array([1]), 1, np.zeros(1, np.int32))


@unit
def word_counts() -> None:
    """One document of one word: counted, summed up and scored."""
    text, starts = np.frombuffer(bytearray(b"a" + bytes(word_hash_table.SPARE)), np.uint8), np.array([0, 1])
    table, letters = np.zeros((8, 2), np.uint64), np.zeros(1 + word_hash_table.SPARE, np.uint8)
    counts = (np.zeros(2, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32))
    spans = np.empty((document_counts.SEGMENT + 2, 3), np.int64)
    room = (
        np.empty(2 * word_hash_table.SPARE, np.uint8), np.full(1, -1, np.int32), np.zeros(1, np.int64), spans,
        spans[:, :2].copy(), np.empty(len(spans), np.uint64),
    )  # fmt: skip
    rules, vocabulary = (True, 1, 1, 1, word_hash_table.KNOWN, 0), (table, letters, np.zeros(0, np.int64))
    document_counts.count_words(
        text, starts, np.ones(384, np.uint8), rules, vocabulary, counts, room, np.zeros(10, np.int64)
    )
    into, one, rows = np.zeros((1, 1)), np.ones(1), (read_only(counts[0]), read_only(counts[1]), read_only(counts[2]))
    for values in (rows[2], read_only(np.zeros(1))):  # counts, and normalized ones
        document_scores.add_labeled(*rows[:2], values, np.zeros(1, np.int64), one, 0, 1, into)
        document_scores.add_shared(*rows[:2], values, np.ones((1, 1)), 0, 1, into)
        document_scores.score_documents(*rows[:2], values, into, 0, np.zeros((1, 1)))


### mixtures and hidden Markov models


@unit
def diagonal_mixtures() -> None:
    """One row, one component of one column."""
    x, none, log_c, table = read_only(np.zeros((1, 1))), read_only(np.empty(0)), np.zeros(1), np.zeros((1, 4))
    gaussian_mixture_em.expect_diagonal(
        x, none, log_c, log_c, table, table, table, 0, 1, np.zeros(1), table, table, table
    )


@unit
def full_mixtures() -> None:
    """One row, one component with a covariance."""
    x, none, log_c, table = read_only(np.zeros((1, 1))), read_only(np.empty(0)), np.zeros(1), np.zeros((1, 4))
    square = np.zeros((1, 4, 4))
    gaussian_mixture_em.expect_full(x, none, log_c, log_c, table, square, 0, 1, np.zeros(1), table, square.copy())


def one_chain() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The starts and lengths of sequences side by side: one of one step, others empty."""
    starts, lengths = np.zeros(simd_vectors.LANES, np.int64), np.zeros(simd_vectors.LANES, np.int64)
    lengths[0] = 1
    return starts, lengths


@unit
def forward_backward() -> None:
    """One chain of one state and one step, forward and backward."""
    size, table = simd_vectors.LANES, np.ones((1, 1))
    lost, lengths = np.full(size, -1), one_chain()[1]
    b, alpha, entry, log_p, pairs = (np.ones((1, size)) for _ in range(5))
    hmm_forward_backward.forward(table, lengths, b, alpha, entry, np.ones((4, size)), log_p[0], lost)
    hmm_forward_backward.backward(table, lengths, lengths, log_p[0], b, alpha, entry, np.ones((5, size)), pairs, lost)


@unit
def emissions() -> None:
    """One step: laid out and summed up every way."""
    codes, x, known = (read_only(np.zeros(shape, kind)) for shape, kind in ((1, "i4"), ((1, 1), "f8"), (1, "i4")))
    steps, (b, alpha, log_p) = one_chain(), (np.ones((1, simd_vectors.LANES)) for _ in range(3))
    hmm_emissions.lay_symbols(codes, *steps, np.ones((2, 1)), b)
    hmm_emissions.lay_normals(x, *steps, np.ones((1, 1, 3)), b, log_p[0])
    hmm_emissions.lay_logs(np.zeros((1, 1)), *steps, b, log_p[0])
    hmm_emissions.lay_known(1, known, *steps, b)
    hmm_emissions.take_symbols(codes, *steps, alpha, np.ones((2, 1)))
    hmm_emissions.take_normals(x, *steps, alpha, np.ones((1, 1, 3)), np.zeros((3, simd_vectors.LANES)))
    hmm_emissions.take_rows(1, *steps, alpha, np.zeros((1, 1)))


@unit
def log_space() -> None:
    """One chain of one state and one step, in logs."""
    one, table, logs = np.ones(1, np.int64), np.ones((1, 1)), np.zeros((1, 1))
    hmm_log_space.smooth_logs(logs[0], logs, logs, table, table.copy())
    hmm_log_space.best_paths(logs[0], logs, logs, one, one.copy(), np.zeros(1))


### instances


@unit
def brute_force() -> None:
    """One row that is its own neighbor, found by looking at all."""
    x, squares, rows, single = (
        read_only(np.zeros((1, 1))),
        np.zeros((1, 1)),
        np.zeros((1, 1), np.int64),
        np.zeros(16, "f4"),
    )
    neighbors_brute_force.scan_rows(x, x, 0, 1, squares, rows)
    panels, asking = np.zeros((1, 1, 16, 2), np.int16), np.zeros((1, 1, 6, 2), np.int16)
    neighbors_lower_bounds.shorten_rows(x.copy(), np.ones(1), panels)
    asked = asking, np.zeros((6, 3), np.float32), np.ones(1), 1.0, 0.0
    neighbors_lower_bounds.sift_rows((panels, single, single), asked, x, x, np.ones(1, np.int64), squares, rows)
    neighbors_brute_force.measure_rows(x, x, rows, squares)


@unit
def kd_tree() -> None:
    """One row that is its own neighbor, found in a tree."""
    x, squares, rows, zero = (
        read_only(np.zeros((1, 1))),
        np.zeros((1, 1)),
        np.zeros((1, 1), np.int64),
        np.zeros(1, np.int64),
    )
    nodes, boxes, groups = np.zeros((1, 3), np.int64), np.zeros((1, 2, 1)), np.zeros((1, 8))
    neighbors_kd_tree.grow_tree(x, zero, nodes)
    neighbors_kd_tree.lay_leaves(x, zero, nodes, groups, boxes, zero.copy())
    neighbors_kd_tree.place_queries(nodes, boxes, x, zero.copy())
    neighbors_kd_tree.search_leaves((nodes, zero, groups, boxes, zero), x, zero, 0, 1, squares, rows)


@unit
def local_fits() -> None:
    """A fit to one row."""
    x, one, rows = read_only(np.zeros((1, 1))), read_only(np.ones(1)), np.zeros((1, 1), np.int64)
    into = np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 3)), np.zeros(1, np.int8), np.empty((0, 1, 1))
    local_regression.fit_local(x, x, one, x.copy(), rows, np.full(1, -1), 2, 1, 0.0, 0.0, 0, 1, *into)


@unit
def forest_growth() -> None:
    """A tree of one row, which the row is sent down."""
    codes, one, label = np.zeros((1, 1), np.uint8), np.ones(1), np.zeros(1, np.int32)
    numbers, kinds, zero = read_only(np.ones(1, np.int64)), read_only(np.zeros(1, np.uint8)), np.zeros(1, np.int64)
    column, threshold, sides, masks = (
        np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(2, np.uint8), np.zeros((1, 32), np.uint8),
    )  # fmt: skip
    data, left = (codes, numbers, kinds), np.zeros(2, np.int64)
    nodes = column, threshold, sides, masks
    tree_growth.grow_forest_tree(data, label, one, one, zero, 1, (1, 1.0, 1), 1, nodes, left)
    fixed: Any = *(read_only(array.copy()) for array in nodes), read_only(left)
    roots, values = read_only(np.zeros(1, np.int64)), read_only(np.zeros((2, 1)))
    tree_routing.find_leaves(data, fixed, roots, 0, np.zeros((1, 1), np.int64))
    tree_routing.add_leaves(data, fixed, roots, values, 0, np.zeros((1, 1)))
    tree_routing.add_steps(data, fixed, roots, values, 0, np.zeros((1, 1, 1)))


@unit
def forest_prunings() -> None:
    """A tree of one leaf."""
    left, log, rows = read_only(np.full(1, -1)), read_only(np.zeros(1)), np.zeros(1, np.int64)
    counts, moments, one = np.ones((1, 1)), np.ones((1, 3)), np.ones(1)
    tree_prunings.sum_children(left, counts)
    tree_prunings.merge_children(left, moments)
    tree_prunings.weigh_prunings(left, log, -1.0, -1.0, np.zeros(1))
    fixed = read_only(counts), read_only(moments)
    tree_prunings.shrink_counts(left, fixed[0], 1.0, np.ones((1, 1)))
    tree_prunings.shrink_moments(left, fixed[1], 1.0, np.ones((1, 3)))
    tree_prunings.average_prunings(left, log, log, -1.0, fixed[0], np.zeros((1, 1)))
    tree, label, prior = (left, left, rows), np.zeros(1, np.int32), (-1.0, -1.0, 1.0, 0.5)
    tree_prunings.leave_out_counts(tree, rows, label, one, fixed[0], log, log, prior, np.zeros((1, 1)))
    numbers = (*prior, 0.5, 0.5)
    tree_prunings.leave_out_moments(tree, rows, one, one, fixed[1], log, numbers, np.ones(3), np.zeros((1, 3)))


### learning theory and online learning


@unit
def shattered_sets() -> None:
    """Two points and all four hypotheses."""
    rows, best = np.arange(4, dtype=np.uint64)[:, None], np.ones(1, np.int64)
    shattering.find_shattered(rows, rows[3], np.empty(0, np.int64), 2, 0, best, np.zeros(2, np.int64))


@unit
def growth_functions() -> None:
    """The labelings of one point."""
    growth_function.most_patterns(np.zeros((2, 1), np.uint8), 1, 9, np.zeros(1, np.int64))


@unit
def experts() -> None:
    """One expert, one round."""
    one, two = np.zeros(1, np.int8), np.arange(2, dtype=np.int8)
    weighted_majority.weigh_advice(one[None], one, two, 0, 1, 0.5, np.ones(1), np.zeros(1, np.int64), np.zeros((1, 2)))


@unit
def mistake_counts() -> None:
    """One row of one column."""
    code = np.zeros((1, 1), np.int32)
    weighted_majority.follow_counts(code, np.zeros(1, np.int64), np.zeros((1, 1, 1), np.int64), code.copy())
