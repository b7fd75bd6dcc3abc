"""What cannot be learned from is refused by name, and leaves the learner as it was."""

import numpy as np
import pytest

from bayeslearn.errors import (
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.online import Halving, TableExperts, WeightedMajority, run_online, weighted_majority_bound
from bayeslearn.tables import as_table


@pytest.mark.parametrize("beta", [0, 1, -0.1, 1.5, float("nan"), "half", None])
def test_beta_lies_between_0_and_1(beta):
    with pytest.raises(ParameterError, match="`beta` must be"):
        WeightedMajority(2, beta=beta)


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ([], "expected at least one expert, got none"),
        ({}, "expected at least one expert, got none"),
        (0, "`experts` must be at least 1"),
        (True, "must be a number, names"),
        (None, "must be a number, names"),
        ("ann", "must be a number, names"),
        (["a", "a"], "different names, got 'a', 'a'"),
        ([1, 2], "an expert is a function or has `predict`, got 1"),
        (np.zeros(3), "expected a matrix of experts by points"),
        (np.zeros((0, 3)), "expected a matrix of experts by points"),
    ],
)
def test_experts(experts, message):
    with pytest.raises(ParameterError, match=message):
        WeightedMajority(experts)


@pytest.mark.parametrize(
    ("advice", "error", "message"),
    [
        ([["x", "y"], ["x"]], ShapeError, "expected advice of 2 experts, got 1 in round 1"),
        ([["x", "y", "x"]], ShapeError, "expected advice of 2 experts, got 3 in round 0"),
        (["xy"], ShapeError, "expected advice of 2 experts, got 'xy' in round 0"),
        (np.array([["x"]]), ShapeError, r"expected advice of shape \(rounds, 2\), got \(1, 1\)"),
        (np.array(["x", "y"]), ShapeError, r"expected advice of shape \(rounds, 2\), got \(2,\)"),
        ([["x", "z"]], UnknownStateError, "an expert predicts 'z' in round 0, which is no label"),
        ([["x", ["y"]]], ParameterError, "labels must be text, numbers"),
        ([{"ann": "x", "eve": "y"}], UnknownColumnError, "round 0 has advice of 'eve', who is no expert"),
    ],
)
def test_advice(advice, error, message):
    learner = WeightedMajority(["ann", "bob"], classes=["x", "y"])
    for ask in (learner.predict, lambda a: learner.partial_fit(a, ["x"] * len(a))):
        with pytest.raises(error, match=message):
            ask(advice)
    assert learner.rounds == 0


@pytest.mark.parametrize(
    ("label", "error", "message"),
    [
        ("z", UnknownStateError, "the label of round 0 is 'z', which is no label"),
        (None, MissingValuesError, "round 0 has no label"),
        (float("nan"), MissingValuesError, "round 0 has no label"),
        ([1], ParameterError, "labels must be text, numbers"),
    ],
)
def test_labels(label, error, message):
    learner = WeightedMajority(2, classes=["x", "y"])
    with pytest.raises(error, match=message):
        learner.learn_one(["x", "y"], label)
    assert learner.rounds == 0
    assert learner.statistics.wrong.tolist() == [0, 0]


def test_codes_out_of_range():
    with pytest.raises(UnknownStateError, match="an expert predicts 2 in round 1, which is no label"):
        WeightedMajority(2, classes=[0, 1]).partial_fit(np.array([[0, 1], [2, 0]]), np.array([0, 0]))
    with pytest.raises(UnknownStateError, match="an expert predicts 200 in round 0"):
        WeightedMajority(1, classes=[0, 1]).predict(np.array([[200]]))


def test_lengths():
    with pytest.raises(ShapeError, match="a label for each of 1 rounds, got 2"):
        WeightedMajority(1).partial_fit([[0]], [0, 1])
    with pytest.raises(ShapeError, match="a label for each of 2 rounds, got 1"):
        run_online(WeightedMajority(1), [[0], [1]], [0])
    with pytest.raises(ShapeError, match="rounds and labels are arrays or lists"):
        run_online(WeightedMajority(1), iter([[0]]), iter([0]))
    with pytest.raises(ShapeError, match=r"expert 'wide' has advice of shape \(1, 2\)"):
        WeightedMajority({"wide": Wide()}).predict([0])


class Wide:
    """A predictor of the wrong shape."""

    def predict(self, xs):
        return np.zeros((len(xs), 2))


@pytest.mark.parametrize("labels", [[], ["x", "x"], [None, "x"], [float("nan")], 3, [["x"]]])
def test_lists_of_labels(labels):
    with pytest.raises(ParameterError, match="`classes` must be"):
        WeightedMajority(2, classes=labels)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1], r"a prior of 2 weights, got shape \(1,\)"),
        ([1, -1], "must be finite and not negative"),
        ([1, float("nan")], "must be finite and not negative"),
        ([0, 0], "got zeros only"),
        ({"ann": 1}, "the prior is one of 'ann', but the experts are 'ann', 'bob'"),
    ],
)
def test_priors(prior, message):
    with pytest.raises(ParameterError, match=message):
        WeightedMajority(["ann", "bob"], prior=prior)


def test_points():
    with pytest.raises(ParameterError, match="no point is called 7"):
        Halving(np.zeros((2, 3), int)).predict_one(7)
    with pytest.raises(ParameterError, match="no point is called"):
        Halving(np.zeros((2, 3), int)).predict_one([1])


def test_bounds():
    with pytest.raises(ParameterError, match="`n_mistakes` must be at least 0"):
        weighted_majority_bound(-1, 2)
    with pytest.raises(ParameterError, match="`n_experts` must be at least 1"):
        weighted_majority_bound(0, 0)
    with pytest.raises(ParameterError, match="`beta` must be"):
        weighted_majority_bound(0, 2, beta=1)
    with pytest.raises(ParameterError, match="no bound at β = 0"):
        weighted_majority_bound(0, 2, beta=0, randomized=True)


def test_experts_of_tables():
    with pytest.raises(UnknownColumnError, match="the target 'x' is a numeric column"):
        TableExperts(as_table({"x": [1.5, 2.5], "y": ["a", "b"]}).schema, "x")
    with pytest.raises(ParameterError, match="no column can have the name 'majority'"):
        TableExperts(as_table({"majority": ["u", "v"], "y": ["a", "b"]}).schema, "y")
