"""Halving: never more than log₂|H| mistakes, and its worst case reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError, InconsistentDataError
from bayeslearn.hypotheses import FiniteSpace, VersionSpace
from bayeslearn.learning_theory import MistakeGame, halving_mistake_bound
from bayeslearn.online import Halving
from tests.learning_theory.oracle import concept_classes

WEATHER = {"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}


@given(concept_classes(), st.data())
def test_never_more_mistakes_than_bits(concepts, data):
    truth = data.draw(st.integers(0, len(concepts) - 1))
    points = data.draw(st.lists(st.sampled_from(concepts.points), max_size=12))
    labels = [bool(concepts.labels[truth, concepts.points.index(x)]) for x in points]
    learner = Halving(concepts, classes=[False, True]).partial_fit(points, labels)
    assert learner.mistakes <= math.log2(len(concepts)) + 1e-12
    assert learner.mistakes <= int(halving_mistake_bound(len(concepts)))
    assert concepts.hypotheses[truth] in learner.consistent
    agree = [
        (concepts.labels[h, [concepts.points.index(x) for x in points]] == labels).all() for h in range(len(concepts))
    ]
    assert learner.size == sum(agree)


@given(concept_classes())
def test_worst_cases_are_met(concepts):
    game = MistakeGame(concepts)
    trial = game.worst_case("halving")
    first, last = (Halving(concepts, classes=order) for order in ([False, True], [True, False]))
    for learner in (first, last):
        for point, label in trial.examples:
            learner.learn_one(point, label)
        assert learner.mistakes <= game.halving == trial.mistakes
    assert first.mistakes + last.mistakes >= trial.mistakes  # each tie falls the wrong way for one of them


def test_a_matrix_functions_and_spaces_vote_alike():
    points = range(7)
    functions = [lambda x, a=a: int(x >= a) for a in range(8)]
    matrix = np.array([[f(x) for x in points] for f in functions])
    learners = [
        Halving(matrix, classes=[0, 1]),
        Halving(functions, classes=[0, 1]),
        Halving(FiniteSpace.from_labelers(functions, classes=[0, 1]), classes=[0, 1]),
    ]
    for learner in learners:
        for x in (3, 5, 4, 0, 6):
            learner.learn_one(x, int(x >= 5))
    assert len({learner.mistakes for learner in learners}) == 1
    assert {learner.size for learner in learners} == {1}


def test_version_space_votes():
    space = VersionSpace.from_attributes(WEATHER)
    learner = Halving(space)
    assert len(learner.experts) == space.size == 10
    for row, label in [(["sunny", "warm"], True), (["rainy", "cold"], False)]:
        learner.learn_one(row, label)
    assert learner.size == 3
    assert learner.predict_one(["sunny", "warm"]) is True
    assert learner.mistakes <= learner.bound == pytest.approx(math.log2(10))


def test_large_version_spaces_are_refused():
    with pytest.raises(CapacityError, match="too many to vote one by one"):
        Halving(VersionSpace.from_attributes({f"x{i}": ["0", "1"] for i in range(20)}))


def test_no_hypothesis_is_left():
    learner = Halving(np.array([[0, 0, 1], [0, 1, 0]])).learn_one(0, 0)
    with pytest.raises(InconsistentDataError, match=r"none of 2 hypotheses .* the last was wrong in round 2"):
        learner.partial_fit([1, 2], [1, 1])
    assert learner.rounds == 1
    assert learner.consistent == (0, 1)


def test_learners_add():
    table = np.array([[0, 0, 1], [0, 1, 0], [1, 1, 1]])
    a, b = Halving(table, classes=[0, 1]).learn_one(0, 0), Halving(table, classes=[0, 1]).learn_one(1, 1)
    assert (a + b).consistent == (1,)
    assert (a + b).mistakes <= (a + b).bound
    with pytest.raises(InconsistentDataError, match="none of 3 hypotheses"):
        a + b + Halving(table, classes=[0, 1]).learn_one(2, 1)


def test_a_prior_of_zero_rules_out():
    learner = Halving(np.array([[0, 0], [1, 1]]), prior=[1, 0])
    with pytest.raises(InconsistentDataError, match="the last was wrong in round 0"):
        learner.learn_one(0, 1)
