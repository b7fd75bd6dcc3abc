"""Every kernel called once on the smallest input, so that it is compiled for the usual types and cached."""

from __future__ import annotations

import numpy as np

from bayeslearn.kernels import (
    bags,
    cells,
    chain_emissions,
    chain_logs,
    chains,
    changing,
    counting,
    documents,
    expectation,
    extending,
    family_cells,
    folding,
    growing,
    lanes,
    local_fits,
    majority,
    mixing,
    naive,
    neighbours_brute,
    neighbours_scores,
    neighbours_tree,
    order_chains,
    ordering,
    packing,
    parents,
    patterns,
    planning,
    propagation,
    recoding,
    sampling,
    scoring,
    shattering,
    testing,
    vectors,
    words,
)


def warm_counting() -> None:
    """One row of one column, in codes and in letters."""
    codes = np.zeros((1, 1), np.int8)
    codes.flags.writeable = False  # as in a Table: numba compiles for it apart
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    counting.histogram(codes, zero, one, zero, 0, 1, np.zeros(1, np.int64))
    weights = np.ones(1)
    weights.flags.writeable = False
    counting.weighted_histogram(codes, zero, one, zero, weights, 0, 1, np.zeros(1))
    counting.intersections(np.zeros((1, 1), np.uint64), zero, one, np.zeros(2, np.int64))
    text, room = np.frombuffer(b"a\n", np.uint8), np.empty((1, cells.MOST_CELLS), np.int64)
    slots, keys = np.full((1, cells.CELL_SLOTS), -1, np.int64), np.empty((1, cells.CELL_SLOTS), np.uint64)
    into = np.empty((1, 1), np.int16)
    index, table = np.zeros(1, np.int32), np.zeros(1, np.int16)
    for out in (np.empty(1, np.int8), np.empty(1, np.int16)):
        recoding.recode(index, np.ones(1, np.uint8), 0, table, out)
    cells.number_cells(text, 0, 2, 44, into, 0, room, room.copy(), np.zeros(1, np.int64), slots, keys)


def warm_structure() -> None:
    """One column beside itself: counted, scored, tested and changed."""
    codes = np.zeros((1, 1), np.int8)
    codes.flags.writeable = False
    one, zero, weights = np.ones(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    weights.flags.writeable = False
    bits, cell, yes = np.zeros((1, 1), np.uint64), np.zeros(1, np.int32), np.ones(1, np.bool_)
    no = np.zeros((1, 1), np.bool_)
    family_cells.find_cells(codes, zero, one, cell)
    for given, table in ((np.empty(0), np.zeros((1, 1), np.int32)), (weights, np.zeros((1, 1)))):
        family_cells.count_cells(cell, given, np.zeros((2, 1)))
        data = (codes, given, one, np.arange(2), bits, table[0], bits, 0.0)
        extending.extend_family(data, zero, yes, table, 0, table)
        extending.extend_columns(data, zero, table)
        scoring.score_columns(table.reshape(1, 1, 1), zero, 0, 0.0, np.empty(0), yes, np.empty(1))
        scoring.score_pairs(table, zero, 0, 0.0, np.empty(0), np.empty((1, 1)), np.empty(1))
        one_score = ((1, 1.0, 0.0), (0, 0.0), np.empty(0), no)
        parents.greedy_parents(data, zero, no, zero, *one_score)
    gain = np.full((3, 1, 1), -np.inf)
    graph = ((gain[0], gain[0]), (no, no), (no, no))
    changing.all_gains(*graph, gain)
    changing.best_of_all(*graph, 0.0, zero)
    changing.best_change(gain, gain[0], 0.0, zero)
    packing.pack_states(codes, np.arange(2), bits, np.zeros(1, np.int32))
    packing.pack_rows(codes, np.arange(2), 0, 1, bits.view(np.uint8))
    testing.dependence(codes, weights, one, np.zeros((1, 2), np.int64), False, *np.zeros((3, 1)))


def warm_inference() -> None:
    """One variable of two states: plan, propagate, and run cases both ways."""
    two, yes = np.array([2]), np.array([True])
    table, spans = np.array([0.5, 0.5]), np.array([0, 2])
    network = (np.array([0, 1]), np.array([0]), np.array([1]), spans, table, spans, yes, table[:1])
    codes, beliefs, log_p = np.full((lanes.LANES, 1), -1), np.empty((lanes.LANES, 2)), np.zeros(lanes.LANES)
    _, steps = planning.plan(*network[:3], two, np.log(two), yes, yes, np.zeros(1), 1.0, 1e9)
    planning.best_plan(*network[:3], two, np.log(two), yes, yes, 1e9)
    room = (np.empty(2), np.empty(1))
    propagation.propagate(network, steps, two, codes[0], table, ~yes, *room, beliefs[0], np.zeros(2), 1.0)
    propagation.propagate_cases(network, two, np.log(two), codes, 1e9, beliefs, log_p)
    lanes.propagate_lanes(network, steps, two, codes, beliefs, log_p)


def warm_learning() -> None:
    """One row of one missing variable: folded, inferred, and completed both ways."""
    two, zero, yes, spans = np.array([2]), np.array([0]), np.array([True]), np.array([0, 2])
    network = (np.array([0, 1]), zero, np.array([1]), spans, np.array([0.5, 0.5]), spans, yes, np.array([0.5]))
    codes, near = np.full((1, 1), -1), folding.neighbours(*network[:2], 1)
    frozen = np.ones(1)
    frozen.flags.writeable = False
    for kind in (np.int8, np.int32):
        groups, _, _, row, weights, _, _ = folding.fold_rows(codes.astype(kind), frozen, ~yes, near)
    items = (network, two, np.log(two), groups, np.array([0, 1]), 0, 1, codes)
    soft = (np.array([-1]), np.ones((0, 2)), np.zeros((0, 1), np.bool_))
    expectation.infer_items(*items, weights, *soft, 1e9, np.zeros(2), np.zeros(1))
    for uniform in (np.empty((0, 1)), np.ones((1, 1))):
        expectation.complete_items(*items, row, uniform, 1e9, np.zeros((1, 1), np.int32), np.zeros(1))


def warm_sampling() -> None:
    """One variable of two states: rows, their tally, and one Gibbs sweep."""
    one, zero, spans, table = np.array([1]), np.array([0]), np.array([0, 2]), np.array([0.5, 0.5])
    network = (np.array([0, 1]), zero, one, spans, table, spans, np.array([True]))
    keys, codes = np.zeros(1, np.uint64), np.zeros((1, 1), np.int8)
    sampling.sample_rows(
        network, zero, table[None], table, -one, table, np.array([False]), False, np.array([False]), table[None], keys,
        0, 0, 1, codes, np.zeros(1),
    )  # fmt: skip
    sampling.tally(codes, np.ones(1), zero, spans, np.zeros(2), np.zeros(2))
    touched = (np.array([0, 1]), zero, one)
    logs, sums = (np.log(table), np.log(table), np.array([False])), np.zeros((2, 1, 2))
    sampling.gibbs_sweeps(network, touched, zero, table, logs, keys[0], 0, 1, zero.copy(), sums[0], sums[1])


def warm_orders() -> None:
    """One variable with the one set that it can have: counted, and searched for an order."""
    zero, one, spans = np.zeros(1, np.int64), np.ones(1), np.array([0, 1])
    codes, table = np.zeros((2, 1), np.int32), np.empty((1, 1))
    growing.extend_sets(codes, one, np.ones(2, np.int64), np.empty((1, 0), np.int64), zero, zero + 1, zero, 1, table)
    sets = (spans, np.zeros(2, np.int64), np.empty(0, np.int64), one)
    ordering.choose(sets, zero, zero.copy())
    ordering.climb_orders(sets, zero.copy(), zero, zero.copy(), 0.0)
    ordering.best_sinks(spans, zero, one, 1, 2, 0.0, np.zeros(2), np.zeros(2, np.int8))
    order_chains.walk_orders(sets, zero.copy(), np.zeros((1, 2), np.int64), np.zeros(1), 1.0)
    order_chains.read_order(sets, zero, 1.0, np.zeros(1), np.zeros((1, 1)), zero.copy())
    order_chains.count_orders(zero, np.empty(2))


def warm_naive() -> None:
    """One row of one column and one class: counted, measured, asked, and as a pair."""
    codes, label, weight, x, joint = (
        np.zeros((1, 1), np.int8),
        np.zeros(1, np.int32),
        np.ones(1),
        np.ones(1),
        np.zeros((1, 1)),
    )
    for array in (codes, x):
        array.flags.writeable = False
    naive.count_classes(codes, label, weight, np.zeros((1, 3, 1)))
    naive.class_moments(x[None], label, weight, np.zeros((1, 3, 1)))
    naive.add_state_logs(codes, np.zeros((1, 1, 3)), joint)
    naive.add_normal_logs(x[None], np.ones((1, 1, 3)), joint)
    start = np.zeros(1, np.int64)
    naive.count_pairs(codes, start, label, weight, np.zeros((1, 1, 1)))
    naive.best_class(joint, np.zeros(1, np.int64))
    whole, room = np.zeros((1, 1), np.int64), np.array([0, 2])
    whole.flags.writeable = False
    naive.see_values(whole, start, room, np.zeros(2, np.uint8))
    naive.code_values(whole, start, room, np.zeros(2, np.int8), np.zeros((1, 1), np.int8))
    naive.average_parents(codes, start, np.zeros((1, 1)), np.zeros((1, 1, 1)), joint)


def warm_mixtures() -> None:
    """One row, one component of one column."""
    x, none, log_c, table = np.zeros((1, 1)), np.empty(0), np.zeros(1), np.zeros((1, 4))
    for array in (x, none):
        array.flags.writeable = False
    mixing.expect_diagonal(x, none, log_c, log_c, table, table, table, 0, 1, np.zeros(1), table, table, table)
    mixing.expect_full(x, none, log_c, log_c, table, np.zeros((1, 4, 4)), 0, 1, np.zeros(1), table, np.zeros((1, 4, 4)))


def warm_neighbours() -> None:
    """One row that is its own neighbour."""
    x, squares, rows, single = np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1), np.int64), np.zeros(16, np.float32)
    x.flags.writeable = False
    neighbours_brute.scan_rows(x, x, 0, 1, squares, rows)
    panels, asking = np.zeros((1, 1, 16, 2), np.int16), np.zeros((1, 1, 6, 2), np.int16)
    neighbours_scores.shorten_rows(x.copy(), np.ones(1), panels)
    asked = asking, np.zeros((6, 3), np.float32), np.ones(1), 1.0, 0.0
    neighbours_scores.sift_rows((panels, single, single), asked, x, x, np.ones(1, np.int64), squares, rows)
    neighbours_brute.measure_rows(x, x, rows, squares)
    nodes, boxes, groups, zero = (
        np.zeros((1, 3), np.int64),
        np.zeros((1, 2, 1)),
        np.zeros((1, 8)),
        np.zeros(1, np.int64),
    )
    neighbours_tree.grow_tree(x, zero, nodes)
    neighbours_tree.lay_leaves(x, zero, nodes, groups, boxes, zero.copy())
    neighbours_tree.place_queries(nodes, boxes, x, zero.copy())
    neighbours_tree.search_leaves((nodes, zero, groups, boxes, zero), x, zero, 0, 1, squares, rows)


def warm_local() -> None:
    """A fit to one row."""
    x, one, rows, empty = np.zeros((1, 1)), np.ones(1), np.zeros((1, 1), np.int64), np.empty((0, 1, 1))
    for array in (x, one):
        array.flags.writeable = False
    into = np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 3)), np.zeros(1, np.int8), empty
    local_fits.fit_local(x, x, one, x.copy(), rows, np.full(1, -1), 2, 1, 0.0, 0.0, 0, 1, *into)


def warm_chains() -> None:
    """One chain of one state and one step: laid out every way, forward, backward, added up, and in logs."""
    size, one, table, logs = vectors.LANES, np.ones(1, np.int64), np.ones((1, 1)), np.zeros((1, 1))
    starts, lengths, lost = np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, -1)
    lengths[0] = 1
    b, alpha, entry, log_p, pairs = (np.ones((1, size)) for _ in range(5))
    codes, x, known = np.zeros(1, np.int32), np.zeros((1, 1)), np.zeros(1, np.int32)
    for array in (codes, x, known):
        array.flags.writeable = False
    chain_emissions.lay_symbols(codes, starts, lengths, np.ones((2, 1)), b)
    chain_emissions.lay_normals(x, starts, lengths, np.ones((1, 1, 3)), b, log_p[0])
    chain_emissions.lay_logs(logs, starts, lengths, b, log_p[0])
    chain_emissions.lay_known(1, known, starts, lengths, b)
    chains.forward(table, lengths, b, alpha, entry, np.ones((4, size)), log_p[0], lost)
    chains.backward(table, lengths, lengths, log_p[0], b, alpha, entry, np.ones((5, size)), pairs, lost)
    chain_emissions.take_symbols(codes, starts, lengths, alpha, np.ones((2, 1)))
    chain_emissions.take_normals(x, starts, lengths, alpha, np.ones((1, 1, 3)), np.zeros((3, size)))
    chain_emissions.take_rows(1, starts, lengths, alpha, np.zeros((1, 1)))
    chain_logs.smooth_logs(logs[0], logs, logs, table, table.copy())
    chain_logs.best_paths(logs[0], logs, logs, one, one.copy(), np.zeros(1))


def warm_texts() -> None:
    """One document of one word: counted, its word joined to a vocabulary, summed up and scored."""
    text, starts, none = (
        np.frombuffer(bytearray(b"a" + bytes(words.SPARE)), np.uint8),
        np.array([0, 1]),
        np.zeros(0, np.int64),
    )
    table, letters = words.wider_table(np.zeros((4, 2), np.uint64)), np.zeros(1 + words.SPARE, np.uint8)
    words.join_words(
        letters,
        starts[1:].copy(),
        (table, letters.copy(), np.zeros(1, np.int64)),
        np.zeros(1, np.int32),
        np.zeros(3, np.int64),
    )
    words.hash_words(letters, starts[1:].copy(), 1, np.zeros(1, np.int32))
    counts = (np.zeros(2, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32))
    spans = np.empty((documents.SEGMENT + 2, 3), np.int64)
    room = (
        np.empty(2 * words.SPARE, np.uint8),
        np.full(1, -1, np.int32),
        np.zeros(1, np.int64),
        spans,
        spans[:, :2].copy(),
        np.empty(len(spans), np.uint64),
    )
    rules = (True, 1, 1, 1, words.KNOWN, 0)
    documents.count_words(
        text, starts, np.ones(384, np.uint8), rules, (table, letters, none), counts, room, np.zeros(10, np.int64)
    )
    into, one = np.zeros((1, 1)), np.ones(1)
    bags.add_labelled(*counts, np.zeros(1, np.int64), one, 0, 1, into)
    bags.add_shared(*counts, np.ones((1, 1)), 0, 1, into)
    bags.score_documents(*counts, into, 0, np.zeros((1, 1)))


def warm_theory() -> None:
    """Two points and all four hypotheses: shattered, and their labellings counted."""
    rows, best = np.arange(4, dtype=np.uint64)[:, None], np.ones(1, np.int64)
    shattering.find_shattered(rows, rows[3], np.empty(0, np.int64), 2, 0, best, np.zeros(2, np.int64))
    patterns.most_patterns(np.zeros((2, 1), np.uint8), 1, 9, np.zeros(1, np.int64))


def warm_online() -> None:
    """One expert, one round; one row of one column."""
    one, code, two = np.zeros(1, np.int8), np.zeros((1, 1), np.int32), np.arange(2, dtype=np.int8)
    majority.weigh_advice(one[None], one, two, 0, 1, 0.5, np.ones(1), np.zeros(1, np.int64), np.zeros((1, 2)))
    majority.follow_counts(code, np.zeros(1, np.int64), np.zeros((1, 1, 1), np.int64), code.copy())


#: Those that take longest stand first.
WARMERS = (
    warm_inference,
    warm_learning,
    warm_structure,
    warm_texts,
    warm_orders,
    warm_sampling,
    warm_naive,
    warm_chains,
    warm_mixtures,
    warm_neighbours,
    warm_local,
    warm_counting,
    warm_theory,
    warm_online,
)


def warm(number: int) -> None:
    """Call some of the kernels."""
    WARMERS[number]()
