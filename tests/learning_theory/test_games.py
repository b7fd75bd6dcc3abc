"""Opt and Halving against their definitions; sequences that reach them, replayed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError, InconsistentDataError, ParameterError
from bayeslearn.hypotheses import AttributeSpace
from bayeslearn.learning_theory import (
    ConceptClass,
    MistakeGame,
    exact_mistake_bounds,
    find_s_mistake_bound,
    find_s_trial,
    find_s_worst_case,
    halving_mistake_bound,
)
from tests.hypotheses.strategies import consistent_examples
from tests.learning_theory.oracle import concept_classes, games
from tests.properties import trials

THRESHOLDS = ConceptClass.from_functions([lambda x, a=a: x >= a for a in range(1, 9)], range(1, 8))


@given(concept_classes())
def test_values_are_those_of_the_definitions(concepts):
    game = MistakeGame(concepts)
    assert (game.optimal, game.halving) == games(concepts)


@given(concept_classes())
def test_worst_cases_are_reached_again(concepts):
    game = MistakeGame(concepts)
    for learner, value in (("halving", game.halving), ("optimal", game.optimal)):
        trial = game.worst_case(learner)
        assert trial.mistakes == value
        assert game.replay(trial.examples, learner).mistakes == value


@given(concept_classes(), st.integers(0, 10**6))
def test_no_sequence_is_worse(concepts, seed):
    rng = np.random.default_rng(seed)
    game, target = MistakeGame(concepts), concepts.labels[rng.integers(len(concepts))]
    order = rng.integers(0, len(concepts.points), 12)
    examples = [(concepts.points[x], bool(target[x])) for x in order]
    assert game.replay(examples, "halving").mistakes <= game.halving
    assert game.replay(examples, "optimal").mistakes <= game.optimal


@given(concept_classes(), st.integers(0, 10**6))
def test_any_learner_can_be_forced(concepts, seed):
    rng = np.random.default_rng(seed)
    game = MistakeGame(concepts)
    trial = game.against(lambda examples, point: rng.random() < 0.5)
    assert trial.mistakes == len(trial.rounds) == game.optimal
    game.replay(trial.examples)  # some hypothesis agrees with all of it


def test_thresholds_are_searched_by_halves():
    bounds = exact_mistake_bounds(THRESHOLDS)
    assert str(bounds) == "VC 1 ≤ Opt 3 ≤ Halving 3 ≤ log₂|C| 3"


def test_halving_is_not_always_best():
    rows = ["1000", "1111", "0110", "0101", "1001", "1011", "1010", "0111"]
    bounds = exact_mistake_bounds(ConceptClass.from_matrix([[int(y) for y in row] for row in rows]))
    assert (bounds.optimal, bounds.halving) == (2, 3)


def test_games_that_are_too_large():
    concepts = ConceptClass.from_matrix(np.random.default_rng(0).random((60, 12)) < 0.5)
    with pytest.raises(CapacityError, match="more than 5 version spaces"):
        exact_mistake_bounds(concepts, max_spaces=5)
    chain = ConceptClass.from_matrix(np.tri(3000, 2999, -1, dtype=bool))
    with pytest.raises(CapacityError, match="3000 hypotheses"):
        _ = MistakeGame(chain).halving


def test_bad_games():
    game = MistakeGame(THRESHOLDS)
    with pytest.raises(InconsistentDataError, match="no hypothesis is consistent with example 1, 4 labeled False"):
        game.replay([(2, True), (4, False)])
    with pytest.raises(ParameterError, match="unexpected value for `learner`"):
        game.worst_case("random")
    with pytest.raises(ParameterError, match="no point is called 99"):
        game.replay([(99, True)])


### Find-S and the bounds


@given(consistent_examples(most=20))
@trials(60)
def test_find_s_keeps_to_its_bound(examples):
    rows = [(tuple(row.values()), label) for row, label in examples]
    trial = find_s_trial(examples.attributes, rows)
    assert trial.mistakes <= find_s_mistake_bound(len(examples.attributes)).value
    assert all(r.label for r in trial.rounds if r.guess != r.label)  # only positive ones are missed


@pytest.mark.parametrize("n", [1, 2, 7])
def test_find_s_reaches_its_bound(n):
    assert find_s_worst_case(n).mistakes == n + 1
    trial = find_s_worst_case(AttributeSpace.from_literals(f"l{i}" for i in range(n)))
    assert trial.mistakes == find_s_mistake_bound(n).value == n + 1
    assert "wrong" in str(trial)


def test_mistake_bounds_as_answers():
    assert halving_mistake_bound(973).value == 9
    assert halving_mistake_bound(1024).value == 10
    assert "at most 10 mistakes" in str(halving_mistake_bound(1024))
    with pytest.raises(ParameterError, match="`n_attributes` must be at least 1"):
        find_s_mistake_bound(0)
