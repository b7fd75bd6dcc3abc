"""The compiled loops against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import NaiveBayesClassifier, kernels
from bayeslearn.distributions import Categorical, Normal
from bayeslearn.naive_bayes.tabular import row_blocks
from tests.properties import trials


def cells(seed, n=40, classes=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + 10.0 ** rng.integers(0, 7)
    x[rng.random(n) < 0.2] = np.nan
    labels = rng.integers(-1, classes, n).astype(np.int32)
    w = rng.uniform(0, 2, n) * (rng.random(n) < 0.9)
    return rng, x, labels, w


@given(st.integers(0, 10_000))
@trials(25)
def test_moments_of_classes(seed):
    _, x, labels, w = cells(seed)
    found = np.empty((3, 3))
    kernels.class_moments(row_blocks.read_only(x)[None], labels, w, found[None])
    twin = Normal().collect(x, sample_weight=w, groups=labels, n_groups=3)
    np.testing.assert_allclose(found[0], twin.n, rtol=1e-12)
    np.testing.assert_allclose(found[1], twin.mean, rtol=1e-12)
    np.testing.assert_allclose(found[2], twin.m2, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 10_000))
@trials(15)
def test_counts_of_classes(seed):
    rng, _, labels, w = cells(seed)
    codes = rng.integers(-1, 4, len(labels)).astype(np.int8)
    found = np.zeros((6, 3))
    kernels.count_classes(row_blocks.read_only(codes)[None], labels, w, found[None])
    twin = Categorical(4).collect(codes, sample_weight=w, groups=labels, n_groups=3)
    np.testing.assert_allclose(found[1:-1].T, twin.n, rtol=1e-12)


@given(st.integers(0, 10_000))
@trials(15)
def test_what_a_column_adds(seed):
    rng, x, _, _ = cells(seed)
    codes = rng.integers(-1, 3, len(x)).astype(np.int8)
    table = rng.normal(size=(2, 5))
    joint = np.zeros((2, len(x)))
    kernels.add_state_logs(row_blocks.read_only(codes)[None], table[None], joint)
    np.testing.assert_allclose(joint, table[:, codes + 1], rtol=1e-14)
    mean, var = rng.normal(size=2) + 3, rng.uniform(0.5, 2, 2)
    parts = np.stack([mean, 0.5 / var, -np.log(2 * np.pi * var) / 2], axis=1)
    joint = np.zeros((2, len(x)))
    kernels.add_normal_logs(row_blocks.read_only(x)[None], parts[None], joint)
    np.testing.assert_allclose(joint, Normal().log_prob((mean, var), x).T, rtol=1e-9)
    best = np.empty(len(x), np.int64)
    kernels.best_class(joint, best)
    np.testing.assert_array_equal(best, joint.argmax(axis=0))


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.int16])
def test_whole_numbers_become_codes(kind):
    rng = np.random.default_rng(0)
    x = rng.integers(3, 9, (50, 3)).astype(kind)
    states = row_blocks.whole_states(x, 255)
    assert states == [sorted(set(column.tolist())) for column in x.T]
    found = row_blocks.of_integers(x, [[3, 5], [8, 4], [7]]).cells(0, 50)
    for column, known, codes in zip(x.T, [[3, 5], [8, 4], [7]], found, strict=True):
        assert codes.tolist() == [known.index(v) if v in known else len(known) for v in column]


def test_numbers_beyond_64_bits_with_sign_are_states_of_their_own():
    known = np.random.default_rng(0).integers(-1, 2, (40, 2))
    y = np.arange(40) % 2
    far = np.full((3, 2), 2**64 - 1, np.uint64)  # has the bits of -1
    model = NaiveBayesClassifier().fit(known, y)
    np.testing.assert_allclose(model.predict_proba(far), model.predict_proba(np.full((3, 2), 7)), rtol=1e-12)
    for base in (2**62 - 1, 2**63 - 2, 2**64 - 4):
        X = np.uint64(base) + (known + 1).astype(np.uint64)
        as_objects = NaiveBayesClassifier().fit(X.astype(object), y).predict_proba(X.astype(object))
        np.testing.assert_allclose(NaiveBayesClassifier().fit(X, y).predict_proba(X), as_objects, rtol=1e-12)


def test_whole_numbers_that_are_no_states():
    assert row_blocks.whole_states(np.array([[1], [10_000_000_000]]), 255) is None
    assert row_blocks.whole_states(np.arange(600)[:, None], 255) is None
    far = np.zeros((20_000, 1), np.int64)
    far[-1] = 700  # behind the first block, and out of sight from there
    assert row_blocks.whole_states(far, 255) == [[0, 700]]


def test_rows_anywhere_are_the_rows_of_their_blocks():
    x = np.arange(3.0 * 20_000).reshape(-1, 3)
    index = np.array([0, 5, 8191, 8192, 19_999])
    found = row_blocks.of_floats(x).take(index).cells(0, 5)
    np.testing.assert_array_equal(np.stack(found, axis=1), x[index])
