"""Every kernel called once on the smallest input, so that it is compiled for the usual types.

A unit calls kernels that share inner functions; :mod:`bayeslearn.kernels.precompile` lists the units of each group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels import (
    arc_changes,
    batched_propagation,
    code_translation,
    column_packing,
    contingency,
    csv_cells,
    document_counts,
    document_scores,
    extended_counts,
    family_cells,
    family_scores,
    gaussian_mixture_em,
    greedy_parent_sets,
    growth_function,
    hmm_emissions,
    hmm_forward_backward,
    hmm_log_space,
    independence_tests,
    joint_completion,
    junction_tree,
    local_regression,
    missing_patterns,
    naive_bayes,
    neighbors_brute_force,
    neighbors_kd_tree,
    neighbors_lower_bounds,
    network_e_step,
    order_mcmc,
    order_search,
    parent_set_counts,
    propagation,
    python_fallback,
    sampling,
    shattering,
    simd_vectors,
    weighted_majority,
    word_hash_table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: The units by name.
UNITS: dict[str, Callable[[], None]] = {}


def unit(function: Callable[[], None]) -> Callable[[], None]:
    """Register a unit under the name of its function."""
    UNITS[function.__name__] = function
    return function


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as a table holds it: numba compiles for read-only arrays apart."""
    array.flags.writeable = False
    return array


### tables


@unit
def counts() -> None:
    """One row of one column in codes."""
    codes = read_only(np.zeros((1, 1), np.int8))
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    contingency.histogram(codes, zero, one, zero, 0, 1, np.zeros(1, np.int64))
    contingency.weighted_histogram(codes, zero, one, zero, read_only(np.ones(1)), 0, 1, np.zeros(1))
    contingency.intersections(np.zeros((1, 1), np.uint64), zero, one, np.zeros(2, np.int64))


@unit
def cell_numbers() -> None:
    """One row of one column in letters, and recoded."""
    text, room = np.frombuffer(b"a\n", np.uint8), np.empty((1, csv_cells.MOST_CELLS), np.int64)
    slots, keys = np.full((1, csv_cells.CELL_SLOTS), -1, np.int64), np.empty((1, csv_cells.CELL_SLOTS), np.uint64)
    index, table = np.zeros(1, np.int32), np.zeros(1, np.int16)
    for out in (np.empty(1, np.int8), np.empty(1, np.int16)):
        code_translation.recode(index, np.ones(1, np.uint8), 0, table, out)
    into = np.empty((1, 1), np.int16)
    csv_cells.number_cells(text, 0, 2, 44, into, 0, room, room.copy(), np.zeros(1, np.int64), slots, keys)


### inference


def one_variable() -> tuple[Any, ...]:
    """A network of one variable with two states."""
    table, spans = np.array([0.5, 0.5]), np.array([0, 2])
    return np.array([0, 1]), np.array([0]), np.array([1]), spans, table, spans, np.array([True]), table[:1]


def plan_of_one() -> tuple[Any, ...]:
    """Arguments of a plan for one variable."""
    two, yes = np.array([2]), np.array([True])
    return *one_variable()[:3], two, np.log(two), yes, yes


def steps_of_one() -> Any:
    """A plan for one variable, found without compiled code."""
    return python_fallback.twin(junction_tree.__name__).plan(*plan_of_one(), np.zeros(1), 1.0, 1e9)[1]


@unit
def plans() -> None:
    """A plan for one variable, and the best of several."""
    junction_tree.plan(*plan_of_one(), np.zeros(1), 1.0, 1e9)
    junction_tree.best_plan(*plan_of_one(), 1e9)


@unit
def one_case() -> None:
    """The posterior of one variable."""
    two, no, table = np.array([2]), np.array([False]), np.array([0.5, 0.5])
    room = (np.empty(2), np.empty(1))
    propagation.propagate(
        one_variable(), steps_of_one(), two, -np.ones(1, np.int64), table, no, *room, np.empty(2), np.zeros(2), 1.0
    )


@unit
def cases_one_by_one() -> None:
    """The posterior of one variable in each row."""
    two, codes = np.array([2]), np.full((1, 1), -1)
    propagation.propagate_cases(one_variable(), two, np.log(two), codes, 1e9, np.empty((1, 2)), np.zeros(1))


@unit
def cases_side_by_side() -> None:
    """The posterior of one variable in rows of one pattern."""
    size = batched_propagation.LANES
    codes, beliefs = np.full((size, 1), -1), np.empty((size, 2))
    batched_propagation.propagate_lanes(one_variable(), steps_of_one(), np.array([2]), codes, beliefs, np.zeros(size))


@unit
def explanations() -> None:
    """The most probable state of one variable."""
    two, no, table = np.array([2]), np.array([False]), np.array([0.5, 0.5])
    room = (np.empty(2), np.empty(1))
    joint_completion.most_probable(
        one_variable(), steps_of_one(), two, -np.ones(1, np.int64), table, no, ~no, *room, np.zeros(1, np.int64)
    )


### learning with missing values


@unit
def patterns() -> None:
    """One row of one missing variable, folded."""
    network = one_variable()
    near = missing_patterns.neighbors(*network[:2], 1)
    for kind in (np.int8, np.int32):
        missing_patterns.fold_rows(np.full((1, 1), -1, kind), read_only(np.ones(1)), np.array([False]), near)


def one_item() -> tuple[Any, ...]:
    """One row of one missing variable as an item of the E step."""
    two, groups = np.array([2]), np.ones((1, 1), np.uint64)
    return one_variable(), two, np.log(two), groups, np.array([0, 1]), 0, 1, np.full((1, 1), -1)


@unit
def expectations() -> None:
    """Expected counts of one missing variable."""
    soft = (np.array([-1]), np.ones((0, 2)), np.zeros((0, 1), np.bool_))
    network_e_step.infer_items(*one_item(), np.ones(1), *soft, 1e9, np.zeros(2), np.zeros(1))


@unit
def completions() -> None:
    """One missing variable, filled by its most probable state and by a draw."""
    row = np.zeros(1, np.int64)
    for uniform in (np.empty((0, 1)), np.ones((1, 1))):
        network_e_step.complete_items(*one_item(), row, uniform, 1e9, np.zeros((1, 1), np.int32), np.zeros(1))


### structure search


def one_column(weights: NDArray[np.float64]) -> tuple[Any, ...]:
    """One row of one column as structure search counts it, and its table: whole numbers where rows have no weights."""
    codes, bits = read_only(np.zeros((1, 1), np.int8)), np.zeros((1, 1), np.uint64)
    table = np.zeros((1, 1)) if len(weights) else np.zeros((1, 1), np.int32)
    return (codes, weights, np.ones(1, np.int64), np.arange(2), bits, table[0], bits, 0.0), table


def count_and_score(weights: NDArray[np.float64]) -> None:
    """Count a family with one more column, and score it."""
    zero, yes = np.zeros(1, np.int64), np.ones(1, np.bool_)
    data, table = one_column(weights)
    family_cells.count_cells(np.zeros(1, np.int32), weights, np.zeros((2, 1)))
    extended_counts.extend_family(data, zero, yes, table, 0, table)
    extended_counts.extend_columns(data, zero, table)
    family_scores.score_columns(table.reshape(1, 1, 1), zero, 0, 0.0, np.empty(0), yes, np.empty(1))
    family_scores.score_pairs(table, zero, 0, 0.0, np.empty(0), np.empty((1, 1)), np.empty(1))


@unit
def counted_rows() -> None:
    """Families of rows that count once."""
    count_and_score(np.empty(0))


@unit
def weighted_rows() -> None:
    """Families of rows with weights."""
    count_and_score(read_only(np.ones(1)))


@unit
def gains() -> None:
    """One column beside itself: packed and changed."""
    codes, zero = read_only(np.zeros((1, 1), np.int8)), np.zeros(1, np.int64)
    bits, no, gain = np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.bool_), np.full((3, 1, 1), -np.inf)
    graph = ((gain[0], gain[0]), (no, no), (no, no))
    family_cells.find_cells(codes, zero, np.ones(1, np.int64), np.zeros(1, np.int32))
    arc_changes.all_gains(*graph, gain)
    arc_changes.best_of_all(*graph, 0.0, zero)
    arc_changes.best_change(gain, gain[0], 0.0, zero)
    column_packing.pack_states(codes, np.arange(2), bits, np.zeros(1, np.int32))
    column_packing.pack_rows(codes, np.arange(2), 0, 1, bits.view(np.uint8))


def choose_parents(weights: NDArray[np.float64]) -> None:
    """Choose parents for one column, which has no candidates."""
    zero, no = np.zeros(1, np.int64), np.zeros((1, 1), np.bool_)
    greedy_parent_sets.greedy_parents(one_column(weights)[0], zero, no, zero, (1, 1.0, 0.0), (0, 0.0), np.empty(0), no)


@unit
def parents_of_counted_rows() -> None:
    """K2 on rows that count once."""
    choose_parents(np.empty(0))


@unit
def parents_of_weighted_rows() -> None:
    """K2 on rows with weights."""
    choose_parents(read_only(np.ones(1)))


@unit
def independence() -> None:
    """One column tested against itself."""
    codes, weights = read_only(np.zeros((1, 1), np.int8)), read_only(np.ones(1))
    independence_tests.dependence(
        codes, weights, np.ones(1, np.int64), np.zeros((1, 2), np.int64), False, *np.zeros((3, 1))
    )


def one_set() -> tuple[Any, ...]:
    """One variable with the one set of parents that it can have."""
    return np.array([0, 1]), np.zeros(2, np.int64), np.empty(0, np.int64), np.ones(1)


@unit
def orders() -> None:
    """An order of one variable."""
    zero, one, table = np.zeros(1, np.int64), np.ones(1), np.empty((1, 1))
    codes, none = np.zeros((2, 1), np.int32), np.empty((1, 0), np.int64)
    parent_set_counts.extend_sets(codes, one, np.ones(2, np.int64), none, zero, zero + 1, zero, 1, table)
    order_search.choose(one_set(), zero, zero.copy())
    order_search.climb_orders(one_set(), zero.copy(), zero, zero.copy(), 0.0)
    order_search.best_sinks(np.array([0, 1]), zero, one, 1, 2, 0.0, np.zeros(2), np.zeros(2, np.int8))


@unit
def order_sampling() -> None:
    """A chain over orders of one variable."""
    zero = np.zeros(1, np.int64)
    order_mcmc.walk_orders(one_set(), zero.copy(), np.zeros((1, 2), np.int64), np.zeros(1), 1.0)
    order_mcmc.read_order(one_set(), zero, 1.0, np.zeros(1), np.zeros((1, 1)), zero.copy())
    order_mcmc.count_orders(zero, np.empty(2))


### sampling


@unit
def forward_samples() -> None:
    """Rows of one variable, and their tally."""
    zero, table, no = np.array([0]), np.array([0.5, 0.5]), np.array([False])
    keys, codes = np.zeros(1, np.uint64), np.zeros((1, 1), np.int8)
    sampling.sample_rows(
        one_variable()[:7], zero, table[None], table, -np.ones(1, np.int64), table, no, False, no, table[None], keys,
        0, 0, 1, codes, np.zeros(1),
    )  # fmt: skip
    sampling.tally(codes, np.ones(1), zero, np.array([0, 2]), np.zeros(2), np.zeros(2))


@unit
def gibbs_samples() -> None:
    """One Gibbs sweep over one variable."""
    zero, one, table = np.array([0]), np.array([1]), np.array([0.5, 0.5])
    touched = (np.array([0, 1]), zero, one)
    logs, sums = (np.log(table), np.log(table), np.array([False])), np.zeros((2, 1, 2))
    sampling.gibbs_sweeps(
        one_variable()[:7], touched, zero, table, logs, np.zeros(1, np.uint64)[0], 0, 1, zero.copy(), sums[0], sums[1]
    )


### naive Bayes


@unit
def class_counts() -> None:
    """One row of one column and one class: counted, measured and predicted."""
    codes, x = read_only(np.zeros((1, 1), np.int8)), read_only(np.ones((1, 1)))
    label, weight, joint = np.zeros(1, np.int32), np.ones(1), np.zeros((1, 1))
    naive_bayes.count_classes(codes, label, weight, np.zeros((1, 3, 1)))
    naive_bayes.class_moments(x, label, weight, np.zeros((1, 3, 1)))
    naive_bayes.add_state_logs(codes, np.zeros((1, 1, 3)), joint)
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
    document_scores.add_labeled(*rows, np.zeros(1, np.int64), one, 0, 1, into)
    document_scores.add_shared(*rows, np.ones((1, 1)), 0, 1, into)
    document_scores.score_documents(*rows, into, 0, np.zeros((1, 1)))


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
