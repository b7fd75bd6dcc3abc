"""Figures of online learning (T7, T8)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.hypotheses import AttributeSpace, VersionSpace
from bayeslearn.online import Halving, WeightedMajority, run_online, weighted_majority_bound
from tests.online.oracle import streams


def test_t8_the_constant_of_one_half():
    assert 1 / math.log2(4 / 3) == pytest.approx(2.4, abs=0.01)
    for k, n in [(0, 2), (5, 16), (100, 1000)]:
        assert weighted_majority_bound(k, n) == pytest.approx(2.4 * (k + math.log2(n)), rel=0.005)
        assert weighted_majority_bound(k, n) == pytest.approx((k + math.log2(n)) / math.log2(4 / 3), rel=1e-12)


@given(st.integers(0, 500), st.integers(1, 10**6), st.sampled_from([0.01, 0.3, 0.5, 0.99]))
def test_t8_general_bound(k, n, beta):
    told = (k * math.log(1 / beta) + math.log(n)) / math.log(2 / (1 + beta))
    assert weighted_majority_bound(k, n, beta=beta) == pytest.approx(told, rel=1e-9, abs=1e-9)
    told = (k * math.log(1 / beta) + math.log(n)) / (1 - beta)
    assert weighted_majority_bound(k, n, beta=beta, randomized=True) == pytest.approx(told, rel=1e-9, abs=1e-9)


@given(streams(labels=4))
def test_t8_bound_holds_on_random_streams(stream):
    advice, truth, n_labels = stream
    learner = WeightedMajority(advice.shape[1], classes=range(n_labels)).partial_fit(advice, truth)
    assert learner.mistakes <= 2.4 * (learner.best_mistakes + math.log2(advice.shape[1]))


@pytest.mark.parametrize("n", [2, 8, 32])
def test_t8_bound_holds_against_whoever_says_the_opposite(n):
    rng, learner = np.random.default_rng(n), WeightedMajority(n, classes=[0, 1])
    for _ in range(80):
        advice = rng.integers(0, 2, n)
        learner.learn_one(advice, 1 - learner.predict_one(advice))
    assert learner.mistakes == 80
    assert learner.mistakes <= 2.4 * (learner.best_mistakes + math.log2(n))


def test_t8_an_expert_out_of_ten_is_good():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    right = rng.random((2000, 10)) < [0.95, *[0.6] * 9]
    course = run_online(
        WeightedMajority(10, classes=[0, 1]), np.where(right, truth[:, None], 1 - truth[:, None]), truth
    )
    assert (course.mistakes <= course.bounds).all()
    assert course.regret[-1] < 15


def test_t7_halving_makes_log2_mistakes_and_may_make_none():
    attributes = AttributeSpace.parse({f"x{i}": ["0", "1"] for i in range(3)})
    space = VersionSpace.from_attributes(attributes)
    learner = Halving(space, classes=[False, True])
    assert learner.bound == pytest.approx(math.log2(space.size)) == pytest.approx(math.log2(1 + 3**3))
    for row in ["111", "110", "011", "101", "000"]:
        learner.learn_one(list(row), row[0] == "1")
    assert learner.mistakes <= learner.bound
    sure = Halving(np.array([[1, 1], [1, 0], [1, 1]]), classes=[0, 1]).learn_one(1, 1)
    assert (sure.mistakes, sure.size) == (0, 2)  # the majority was right, and a hypothesis fell all the same
