"""Trees by their definition: splits by trying all, rows one by one, averages by enumerating every pruning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import NumericVariable, Schema, kernels
from bayeslearn.distributions import Counts
from bayeslearn.tables import DiscreteVariable
from bayeslearn.trees.prunings import ALPHA, KAPPA, RATE, SHAPE, ClassLeaves, NumberLeaves, PruningPrior
from bayeslearn.trees.structure import Bins, grown
from tests.oracle import trees as oracle
from tests.properties import trials


def columns(rng, n, *, missing=True):
    """Bins of two numeric columns and one of states, and codes of rows."""
    schema = Schema([NumericVariable("a"), DiscreteVariable("s", ["u", "v", "w"]), NumericVariable("b")])
    bins = Bins(schema, (np.array([0.0, 1.0, 2.0]), np.empty(0), np.array([0.5])))
    top = bins.n_codes + missing
    return bins, np.stack([rng.integers(0, t, n) for t in top]).astype(np.uint8)


def tree_of(rng, n, n_labels, *, max_depth=4, least=1.0):
    bins, codes = columns(rng, n)
    labels = rng.integers(0, max(n_labels, 1), n).astype(np.int32)
    values = np.ones(n) if n_labels > 1 else rng.normal(size=n)
    weights = rng.integers(0, 3, n).astype(float)
    weights[0] = 1.0
    tree = grown(
        bins, codes, labels, values, weights, n_labels, max_features=3, min_samples_leaf=least, max_depth=max_depth,
        seed=int(rng.integers(1, 1 << 30)),
    )  # fmt: skip
    return tree, codes, labels, values, weights


### growing


@trials(25)
@given(st.integers(0, 1 << 30), st.integers(1, 3), st.sampled_from([0.0, 1.0, 3.0]))
def test_the_first_split_is_the_best_threshold(seed, n_labels, least):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    bins, codes = columns(rng, n)
    labels = rng.integers(0, n_labels, n).astype(np.int32)
    values = np.ones(n) if n_labels > 1 else rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float)
    codes[1:] = bins.n_codes[1:, None]  # the other columns are constant
    tree = grown(
        bins,
        codes,
        labels,
        values,
        weights,
        n_labels,
        max_features=1,
        min_samples_leaf=least,
        max_depth=1,
        seed=seed + 1,
    )
    best = oracle.best_threshold(codes[0], 4, labels, values, weights, n_labels, least)
    none = oracle.gain(labels, values, weights, n_labels, np.ones(n, bool))
    if best <= none + 1e-9 * weights.sum():
        assert len(tree.column) == 1
    else:
        ends = tree.leaves(codes)[0]
        assert oracle.gain(labels, values, weights, n_labels, ends == 1) == pytest.approx(best, rel=1e-12)


@trials(25)
@given(st.integers(0, 1 << 30))
def test_of_two_classes_the_first_split_is_the_best_subset_of_states(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    bins = Bins(Schema([DiscreteVariable("s", list("uvwxyz"))]), (np.empty(0),))
    codes = rng.integers(0, 7, (1, n)).astype(np.uint8)  # 6 is missing, a state like the others
    labels, weights = rng.integers(0, 2, n).astype(np.int32), rng.integers(1, 4, n).astype(float)
    tree = grown(
        bins, codes, labels, np.ones(n), weights, 2, max_features=1, min_samples_leaf=0, max_depth=1, seed=seed + 1
    )
    best = oracle.best_subset(codes[0], labels, np.ones(n), weights, 2)
    none = oracle.gain(labels, np.ones(n), weights, 2, np.ones(n, bool))
    if best <= none + 1e-9 * weights.sum():
        assert len(tree.column) == 1
    else:
        found = oracle.gain(labels, np.ones(n), weights, 2, tree.leaves(codes)[0] == 1)
        assert found == pytest.approx(best, rel=1e-12)


@trials(25)
@given(st.integers(0, 1 << 30), st.sampled_from([1, 2, 3]))
def test_rows_end_where_they_end_one_by_one(seed, n_labels):
    rng = np.random.default_rng(seed)
    tree, _, _, _, _ = tree_of(rng, 40, n_labels)
    _, codes = columns(rng, 30)
    parts = (
        tree.column,
        tree.threshold,
        tree.missing_left,
        tree.masks,
        tree.left,
        tree.bins.n_codes,
        tree.bins.is_states,
    )
    ends = [oracle.leaf_of(*parts, codes[:, i]) for i in range(30)]
    np.testing.assert_array_equal(tree.leaves(codes)[0], ends)
    values = rng.normal(size=(len(tree.column), 2))
    values.flags.writeable = False
    np.testing.assert_allclose(tree.mean_of(values, codes), values[ends], rtol=1e-15)
    np.testing.assert_allclose(values[0] + tree.steps(values, codes).sum(axis=1), values[ends], rtol=1e-9, atol=1e-12)


def test_the_same_seed_grows_the_same_tree():
    one, other = (tree_of(np.random.default_rng(5), 60, 2)[0] for _ in range(2))
    assert one.same(other)


### prunings


@trials(25)
@given(st.integers(0, 1 << 30), st.integers(2, 3), st.floats(0.05, 0.95), st.floats(0.1, 5))
def test_averages_of_classes_are_those_over_all_prunings(seed, n_classes, a, m):
    rng = np.random.default_rng(seed)
    tree, codes, labels, _, _ = tree_of(rng, 25, n_classes, max_depth=3)
    weights = rng.uniform(0.1, 2, 25)
    ends = tree.leaves(codes)[0]
    statistics = ClassLeaves.collect(tree.leaf_numbers[ends], labels, weights, len(tree.leaf_nodes), n_classes)
    found = ClassLeaves(tree, statistics, PruningPrior(a, m))
    rows = oracle.rows_of_nodes(tree.left, tree.parent, ends)
    counts = np.array([np.bincount(labels[r], weights[r], n_classes) for r in rows])
    np.testing.assert_allclose(found.of_nodes, counts, rtol=1e-12)
    logs = [oracle.dirichlet_evidence(c, ALPHA) for c in counts]
    np.testing.assert_allclose(found.log_evidence, logs, rtol=1e-9, atol=1e-9)
    values = np.empty(counts.shape)
    for node, n in enumerate(counts):
        before = values[tree.parent[node]] if node else np.full(n_classes, 1 / n_classes)
        values[node] = oracle.shrunk(n, before, m)
    for leaf in tree.leaf_nodes:
        expected = oracle.average(tree.left, tree.parent, leaf, logs, values, a)
        np.testing.assert_allclose(found.values[leaf], expected, rtol=0, atol=1e-12)


@trials(25)
@given(st.integers(0, 1 << 30), st.floats(0.05, 0.95), st.floats(0.1, 5))
def test_averages_of_numbers_are_those_over_all_prunings(seed, a, m):
    rng = np.random.default_rng(seed)
    tree, codes, _, y, _ = tree_of(rng, 25, 1, max_depth=3)
    weights = rng.uniform(0.1, 2, 25)
    ends = tree.leaves(codes)[0]
    statistics = NumberLeaves.collect(tree.leaf_numbers[ends], 3 * y + 7, weights, len(tree.leaf_nodes))
    found = NumberLeaves(tree, statistics, PruningPrior(a, m), 7.0, 3.0)
    rows = oracle.rows_of_nodes(tree.left, tree.parent, ends)
    logs = [oracle.normal_evidence(y[r], weights[r], KAPPA, SHAPE, RATE) for r in rows]
    np.testing.assert_allclose(found.log_evidence, logs, rtol=1e-9, atol=1e-9)
    values = np.empty((len(rows), 3))
    for node, r in enumerate(rows):
        before = values[tree.parent[node]] if node else found.start
        values[node] = oracle.shrunk_number(y[r], weights[r], before, m)
    for leaf in tree.leaf_nodes:
        expected = oracle.average(tree.left, tree.parent, leaf, logs, values, a)
        np.testing.assert_allclose(found.values[leaf], expected, rtol=1e-11, atol=1e-12)


@trials(15)
@given(st.integers(0, 1 << 30), st.sampled_from([1, 2, 3]), st.booleans())
def test_a_row_left_out_is_a_row_that_was_never_there(seed, n_labels, whole):
    rng = np.random.default_rng(seed)
    tree, codes, labels, values, _ = tree_of(rng, 25, n_labels, max_depth=3)
    weights = np.ones(25) if whole else rng.uniform(0.1, 2, 25)
    ends, prior = tree.leaves(codes)[0], PruningPrior(0.4, 0.7)
    numbers, n = tree.leaf_numbers[ends], len(tree.leaf_nodes)

    def leaves(w):
        if n_labels > 1:
            return ClassLeaves(tree, ClassLeaves.collect(numbers, labels, w, n, n_labels), prior)
        return NumberLeaves(tree, NumberLeaves.collect(numbers, values, w, n), prior)

    targets = labels if n_labels > 1 else values
    found = leaves(weights).without_each(np.arange(25), ends, targets, weights)
    for i in range(25):
        expected = leaves(np.where(np.arange(25) == i, 0.0, weights)).values[ends[i]]
        np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-10)


def test_evidence_far_from_one_is_no_overflow():
    tree, codes, labels, _, _ = tree_of(np.random.default_rng(1), 40, 2)
    numbers = tree.leaf_numbers[tree.leaves(codes)[0]]
    statistics = ClassLeaves.collect(numbers, labels, np.full(40, 1e6), len(tree.leaf_nodes), 2)
    assert isinstance(statistics, Counts)
    p = ClassLeaves(tree, statistics, PruningPrior()).values
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)


def test_merged_moments_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(1e8, 1.0, 10)
    moments = np.array([[0.0, 0.0, 0.0], *((len(p), p.mean(), ((p - p.mean()) ** 2).sum()) for p in (x[:3], x[3:]))])
    left = np.array([1, -1, -1])
    left.flags.writeable = False
    kernels.merge_children(left, moments)
    np.testing.assert_allclose(moments[0], [10, x.mean(), ((x - x.mean()) ** 2).sum()], rtol=1e-7)
