"""Weighted-Majority: the slow twin, the bounds, and evidence that adds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from bayeslearn.errors import MismatchError
from bayeslearn.hypotheses import FiniteSpace
from bayeslearn.online import WeightedMajority, run_online, weighted_majority_bound
from bayeslearn.online.voting import poll
from tests.online.oracle import BETAS, slow_majority, streams


def learner_of(stream, **options):
    advice, truth, n_labels = stream
    return WeightedMajority(advice.shape[1], classes=range(n_labels), **options).partial_fit(advice, truth)


### the slow twin


@given(streams(silent=True), st.sampled_from(BETAS))
def test_slow_twin(stream, beta):
    advice, truth, n_labels = stream
    guesses, expected, wrong = slow_majority(advice, truth, n_labels, beta)
    learner = learner_of(stream, beta=beta)
    assert learner.mistakes == sum(g != y for g, y in zip(guesses, truth, strict=True))
    assert learner.expected_mistakes == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert learner.statistics.wrong.tolist() == wrong
    assert learner.statistics.n_predictions.tolist() == (advice >= 0).sum(axis=0).tolist()


def test_slow_twin_of_many_labels_and_many_experts():
    rng = np.random.default_rng(0)
    stream = rng.integers(-1, 9, (12, 300)).astype(np.int8), rng.integers(0, 9, 12), 9
    guesses, expected, wrong = slow_majority(*stream)
    learner = learner_of(stream)
    assert learner.mistakes == int((guesses != stream[1]).sum())
    assert learner.expected_mistakes == pytest.approx(expected, rel=1e-12)
    assert learner.statistics.wrong.tolist() == wrong


@given(streams(silent=True), st.sampled_from(BETAS))
def test_one_at_a_time_is_the_batch(stream, beta):
    advice, truth, n_labels = stream
    batch = learner_of(stream, beta=beta)
    single = WeightedMajority(advice.shape[1], classes=range(n_labels), beta=beta)
    mistakes = 0
    for said, y in zip(advice, truth, strict=True):
        mistakes += single.predict_one(said) != y
        single.learn_one(said, y)
    assert single.mistakes == batch.mistakes == mistakes
    assert single.statistics == batch.statistics
    assert single.record.voting_share_if_wrong == pytest.approx(batch.record.voting_share_if_wrong, rel=1e-12)


### bounds


@given(streams(), st.sampled_from([*BETAS, 0.1, 0.6, 0.99]))
def test_bounds_hold_on_random_streams(stream, beta):
    learner = learner_of(stream, beta=beta)
    assert learner.mistakes <= learner.bound
    assert learner.expected_mistakes <= learner.expected_bound + 1e-9
    assert learner.bound == pytest.approx(
        weighted_majority_bound(learner.best_mistakes, len(learner.experts), beta=beta)
    )


@given(streams(silent=True), st.sampled_from(BETAS))
def test_bounds_hold_where_experts_are_silent(stream, beta):
    learner = learner_of(stream, beta=beta)
    assert learner.mistakes <= learner.bound
    assert learner.expected_mistakes <= learner.expected_bound + 1e-9


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.9, 0.99])
@pytest.mark.parametrize("n", [2, 3, 17])
def test_an_adversary_who_says_the_opposite(n, beta):
    rng = np.random.default_rng(n)
    learner = WeightedMajority(n, classes=[0, 1], beta=beta)
    for _ in range(60):
        advice = rng.integers(0, 2, n)
        learner.learn_one(advice, 1 - learner.predict_one(advice))
        assert learner.mistakes <= learner.bound
        assert learner.expected_mistakes <= learner.expected_bound
    assert learner.mistakes == 60


@pytest.mark.parametrize("beta", [0.5, 0.25])
def test_an_adversary_who_splits_the_weight_comes_near(beta):
    learner = WeightedMajority(1024, classes=[0, 1], beta=beta)
    while True:
        w = np.exp(learner.log_weights)
        others = np.argsort(-w[1:], kind="stable") + 1
        wrong = np.searchsorted(np.cumsum(w[others]), 0.5 - 1e-12) + 1
        if wrong > len(others):
            break
        advice = np.ones(1024, np.int8)
        advice[others[:wrong]] = 0  # no more than is needed to win the vote, and the first is always right
        learner.learn_one(advice, 1)
        assert learner.mistakes == learner.rounds <= learner.bound
    assert learner.best_mistakes == 0
    assert learner.mistakes >= 0.8 * learner.bound


def test_the_randomized_vote_is_bounded_lower():
    for beta in (0.3, 0.5, 0.8):
        assert weighted_majority_bound(9, 10, beta=beta, randomized=True) < weighted_majority_bound(9, 10, beta=beta)


def test_a_silent_expert_is_not_held_against_the_bound():
    learner = WeightedMajority(["a", "idle"], classes=[0, 1])
    for _ in range(9):
        learner.learn_one([1, None], 0)
    assert learner.mistakes == 9
    assert learner.best == "idle"
    assert learner.weights["idle"] == pytest.approx(512 / 513)
    assert 9 <= learner.bound < math.inf


def test_nobody_speaks():
    learner = WeightedMajority(2, classes=["x", "y"])
    assert learner.predict_one([None, float("nan")]) is None
    learner.learn_one([None, None], "x")
    assert learner.mistakes == 1
    assert learner.bound == math.inf
    assert learner.predict_proba_one([None, None]) == {"x": 0, "y": 0}


### evidence adds


@given(streams(silent=True), st.integers(0, 30), st.sampled_from(BETAS))
def test_learners_add(stream, at, beta):
    advice, truth, n_labels = stream
    parts = [learner_of((advice[p], truth[p], n_labels), beta=beta) for p in (slice(0, at), slice(at, None))]
    merged, whole = parts[0] + parts[1], learner_of(stream, beta=beta)
    assert merged.statistics == whole.statistics
    assert merged.weights == whole.weights
    assert merged.mistakes == parts[0].mistakes + parts[1].mistakes <= merged.bound
    asked = np.indices((n_labels,) * advice.shape[1]).reshape(advice.shape[1], -1).T[:20]
    assert merged.predict(asked).tolist() == whole.predict(asked).tolist()


@given(streams(labels=2), st.sampled_from([0.5, 0.1, 0.9]))
def test_weights_are_the_posterior_under_label_noise(stream, beta):
    advice, truth, _ = stream
    learner = learner_of(stream, beta=beta, prior=np.arange(1.0, advice.shape[1] + 1))
    space = FiniteSpace.from_labelers(
        {f"e{i}": lambda t, i=i: int(advice[t, i]) for i in range(advice.shape[1])},
        classes=[0, 1],
        noise=beta / (1 + beta),
    )
    prior = np.arange(1.0, advice.shape[1] + 1)
    posterior = space.fit(list(enumerate(truth.tolist())), prior=(prior / prior.sum()).tolist())
    assert list(learner.weights.values()) == pytest.approx(list(posterior.probabilities.values()), rel=1e-9)


def test_labels_of_both_are_known_to_the_sum():
    a = WeightedMajority(["ann"]).learn_one(["rain"], "sun")
    b = WeightedMajority(["ann"]).learn_one(["snow"], "sun")
    assert (a + b).classes == ("rain", "sun", "snow")
    assert a.classes == ("rain", "sun")


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (WeightedMajority(["a", "c"]), "experts"),
        (WeightedMajority(["a", "b"], beta=0.25), "beta"),
        (WeightedMajority(["a", "b"], prior=[1, 2]), "prior"),
    ],
)
def test_only_alike_learners_add(other, differs):
    with pytest.raises(MismatchError, match=f"their {differs} differ"):
        WeightedMajority(["a", "b"]) + other


def test_learners_whose_experts_learn_do_not_add():
    with pytest.raises(MismatchError, match="learned from different rounds"):
        WeightedMajority([GaussianNB()], teach=True) + WeightedMajority([GaussianNB()], teach=True)


### labels


def test_labels_as_they_come_are_the_same_in_batches():
    rng = np.random.default_rng(1)
    words = np.array(["low", "mid", "high"])
    advice, truth = words[rng.integers(0, 3, (40, 4))], words[rng.integers(0, 3, 40)]
    batch = WeightedMajority(list("abcd")).partial_fit(advice, truth)
    single = WeightedMajority(list("abcd"))
    for said, y in zip(advice.tolist(), truth.tolist(), strict=True):
        single.learn_one(dict(zip("abcd", said, strict=True)), y)
    assert batch.classes == single.classes
    assert batch.mistakes == single.mistakes
    assert batch.predict(advice).tolist() == single.predict(advice.tolist()).tolist()


def test_minus_one_is_a_label_where_it_is_one():
    signs = WeightedMajority(2, classes=[-1, 1]).partial_fit(np.array([[-1, 1], [-1, 1]]), [-1, -1])
    assert signs.statistics.wrong.tolist() == [0, 2]
    codes = WeightedMajority(2, classes=[0, 1]).partial_fit(np.array([[-1, 1], [-1, 1]]), [0, 0])
    assert codes.statistics.n_predictions.tolist() == [0, 2]


def test_more_labels_than_a_byte_holds():
    advice = np.array([[200, 3], [200, 3]])
    learner = WeightedMajority(2, classes=range(300)).partial_fit(advice, [200, 200])
    assert learner.statistics.wrong.tolist() == [0, 2]
    assert learner.predict_one([200, 3]) == 200


def test_predicting_leaves_everything_as_it_was():
    learner = WeightedMajority(2).partial_fit([["a", "b"]], ["a"])
    before = learner.statistics, learner.record, learner.classes
    assert learner.predict_one(["c", "b"]) == "c"
    learner.predict_proba([["c", "b"]])
    assert (learner.statistics, learner.record, learner.classes) == before


### randomized


def test_draws_follow_the_weights():
    learner = WeightedMajority(2, classes=[0, 1], prior=[3, 1], randomized=True, random_state=0)
    drawn = learner.predict(np.tile([0, 1], (4000, 1)))
    assert np.mean(drawn == 0) == pytest.approx(0.75, abs=0.03)
    again = WeightedMajority(2, classes=[0, 1], prior=[3, 1], randomized=True, random_state=0)
    assert (again.predict(np.tile([0, 1], (4000, 1))) == drawn).all()


def test_draws_never_fall_on_a_label_without_weight():
    votes = poll(np.array([[1, 1], [-1, -1]], np.int8), 3, np.ones(2))
    assert votes.draws(np.array([1 - 1e-16, 0.5])).tolist() == [1, -1]
    assert votes.draws(np.array([0.0, 0.0])).tolist() == [1, -1]


def test_mistakes_at_random_are_near_those_expected():
    rng = np.random.default_rng(2)
    advice, truth = rng.integers(0, 2, (3000, 5)), rng.integers(0, 2, 3000)
    learner = WeightedMajority(5, classes=[0, 1], beta=0.99, randomized=True, random_state=3).partial_fit(advice, truth)
    assert learner.mistakes == pytest.approx(learner.expected_mistakes, abs=100)


### who can be an expert


def test_functions_classifiers_and_learners_together():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0]
    experts = {"first": lambda x: x[0], "fitted": BernoulliNB().fit(X, y), "second": lambda x: x[1]}
    learner = WeightedMajority(experts, classes=[0, 1]).partial_fit(X, y)
    assert learner.experts == ("first", "fitted", "second")
    assert learner.statistics.wrong.tolist() == [0, 0, 10]
    assert (learner.predict(X) == y).all()


def test_experts_that_learn():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 2))
    y = X[:, 1]
    learner = WeightedMajority([BernoulliNB(), lambda _: 0], classes=[0, 1], teach=True).partial_fit(X, y)
    assert learner.statistics.n_predictions.tolist() == [59, 60]  # it says nothing before the first row
    assert learner.best == "BernoulliNB"
    assert learner.mistakes < 10


def test_a_vote_is_an_expert():
    inner = WeightedMajority({"low": lambda x: x > 1, "high": lambda x: x > 3})
    outer = WeightedMajority({"vote": inner, "never": lambda _: False}, teach=True)
    for x in [0, 2, 4, 2, 5, 2]:
        outer.learn_one(x, x > 1)
    assert inner.rounds == outer.rounds == 6
    assert inner.best == "low"


### long streams


@pytest.mark.compiled
def test_weights_of_many_rounds_do_not_underflow():
    rng = np.random.default_rng(0)
    learner = WeightedMajority(3, classes=[0, 1])
    for _ in range(20):
        truth = rng.integers(0, 2, 10_000)
        right = rng.random((10_000, 3)) < [0.45, 0.5, 0.4]
        learner.partial_fit(np.where(right, truth[:, None], 1 - truth[:, None]), truth)
    assert learner.rounds == 200_000
    wrong = learner.statistics.wrong
    assert learner.log_weights[1] == pytest.approx(0, abs=1e-12)
    assert learner.log_weights[0] == pytest.approx((wrong[0] - wrong[1]) * math.log(0.5), rel=1e-12)
    assert learner.mistakes <= learner.bound


def test_course():
    advice, truth = np.array([[0, 1]] * 8), np.zeros(8, int)
    course = run_online(WeightedMajority(2, classes=[0, 1], prior=[1, 3]), advice, truth, every=2)
    assert course.rounds.tolist() == [0, 2, 4, 6, 8]
    assert course.mistakes.tolist() == [0, 2, 2, 2, 2]  # 1:3, then 1:1.5
    assert course.regret.tolist() == [0, 2, 2, 2, 2]
    assert (course.mistakes <= course.bounds).all()
    assert str(course).startswith("2 mistakes in 8 rounds, 0 of the best expert, bound")


def test_course_over_batches_is_the_whole():
    rng = np.random.default_rng(0)
    advice, truth = rng.integers(0, 2, (50, 3)), rng.integers(0, 2, 50)
    seen = []
    batches = ((advice[i : i + 10], truth[i : i + 10]) for i in range(0, 50, 10))
    streamed = run_online(WeightedMajority(3, classes=[0, 1]), batches, progress=seen.append)
    whole = run_online(WeightedMajority(3, classes=[0, 1]), advice, truth, every=10)
    assert streamed.mistakes.tolist() == whole.mistakes.tolist()
    assert [now.detail for now in seen] == [10, 20, 30, 40, 50]
