"""Learners go through files and learn on."""

import json

import numpy as np
import pytest
from hypothesis import given

from bayeslearn.errors import FormatError, MismatchError, ParameterError
from bayeslearn.online import Halving, WeightedMajority
from tests.online.oracle import streams

DAYS = [["rain", "sun"], ["rain", None], ["sun", "sun"]]


@pytest.fixture
def learner():
    return WeightedMajority(["ann", "bob"], beta=0.25, prior=[3, 1]).partial_fit(DAYS, ["rain", "rain", "rain"])


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_there_and_back(learner, tmp_path, ending):
    path = tmp_path / f"vote{ending}"
    learner.save(path)
    again = WeightedMajority.load(path)
    assert again.statistics == learner.statistics
    assert again.record == learner.record
    assert again.weights == pytest.approx(learner.weights, rel=1e-12)
    for one in (learner, again):
        one.partial_fit([["snow", "sun"], ["snow", "sun"]], ["snow", "snow"])
    assert again.classes == learner.classes
    assert again.mistakes == learner.mistakes
    assert again.bound == pytest.approx(learner.bound, rel=1e-12)


@given(streams(silent=True))
def test_halves_of_a_stream_through_a_file(tmp_path_factory, stream):
    advice, truth, n_labels = stream
    path, at = tmp_path_factory.getbasetemp() / "half.json", len(truth) // 2
    first = WeightedMajority(advice.shape[1], classes=range(n_labels)).partial_fit(advice[:at], truth[:at])
    first.save(path)
    second = WeightedMajority.load(path).partial_fit(advice[at:], truth[at:])
    assert second.statistics == first.partial_fit(advice[at:], truth[at:]).statistics
    assert second.mistakes == first.mistakes


def test_experts_are_given_again(tmp_path):
    experts = {"large": lambda x: x > 3, "even": lambda x: x % 2 == 0}
    path = tmp_path / "halving.json"
    Halving(experts).learn_one(5, True).save(path)
    again = Halving.load(path, experts)
    assert again.consistent == ("large",)
    assert again.predict_one(7) is True
    with pytest.raises(MismatchError, match="the file has the experts 'large', 'even', given are 0"):
        Halving.load(path, 1)
    with pytest.raises(FormatError, match="it is a 'Halving', not a WeightedMajority"):
        WeightedMajority.load(path)


def test_names_that_no_file_can_hold(tmp_path):
    with pytest.raises(ParameterError, match="names in a file are words and numbers"):
        WeightedMajority({(1, 2): np.sign}).save(tmp_path / "vote.json")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["experts"], [], "no names, or the same"),
        (["experts"], ["ann", "ann"], "no names, or the same"),
        (["experts"], ["ann", ["bob"]], "'experts' of a learner is"),
        (["experts"], ["ann"], "prior of 1 weights"),
        (["beta"], 1.5, "`beta` must be below 1"),
        (["beta"], "half", "'beta' of a learner is 'half'"),
        (["prior"], [0, 0], "zeros only"),
        (["prior"], [1, "x"], "not finite numbers"),
        (["labels"], ["rain", "rain"], "`classes` must be different"),
        (["statistics", "wrong"], [9, 0], "more mistakes than predictions"),
        (["statistics", "wrong"], [0.5, 0], "whole numbers of mistakes"),
        (["statistics", "wrong"], [1], "expected statistics of shapes"),
        (["statistics", "rounds"], 1, "more predictions than there are rounds"),
        (["record", "mistakes"], 7, "no record of 3 rounds"),
        (["record", "voting_share"], 2, "no record of 3 rounds"),
        (["record"], {}, "expected a record with"),
        (["kind"], "Oracle", "it is a 'Oracle'"),
    ],
)
def test_broken_files(learner, tmp_path, place, value, message):
    path = tmp_path / "vote.json"
    learner.save(path)
    document = json.loads(path.read_text())
    part = document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match=message):
        WeightedMajority.load(path)
