"""Sequences are checked once for emissions that take the same cells, and again for others."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.hmm import CategoricalEmissions, GaussianEmissions, HiddenMarkovModel, Sequences, fit_hmm
from bayeslearn.tables import DiscreteVariable

HALF = np.full((2, 2), 0.5)


def chain(emissions) -> HiddenMarkovModel:
    return HiddenMarkovModel(("a", "b"), HALF[0], HALF, emissions)


def dice(n: int) -> HiddenMarkovModel:
    return chain(CategoricalEmissions(DiscreteVariable("roll", range(n)), np.full((2, n), 1 / n)))


def test_sequences_of_more_symbols_are_refused_after_a_model_has_taken_them() -> None:
    data = Sequences(np.array([0, 5, 2], np.int32), np.array([3]), (0,))
    dice(6).expected_statistics(data)
    with pytest.raises(ParameterError, match="codes of roll"):
        dice(3).expected_statistics(data)


def test_cells_of_numbers_are_refused_by_symbols_and_by_other_columns() -> None:
    data = Sequences(np.zeros((3, 1)), np.array([3]), (0,))
    chain(GaussianEmissions(("x",), [[0.0], [1.0]], [[1.0], [1.0]])).expected_statistics(data)
    with pytest.raises(ShapeError, match="expected codes of symbols"):
        dice(3).expected_statistics(data)
    with pytest.raises(ShapeError, match="expected observations of shape"):
        chain(GaussianEmissions(("x", "y"), np.zeros((2, 2)), np.ones((2, 2)))).expected_statistics(data)


def test_known_states_are_checked_for_fewer_states() -> None:
    die = CategoricalEmissions(DiscreteVariable("roll", range(3)), np.full((3, 3), 1 / 3))
    three = HiddenMarkovModel(range(3), np.full(3, 1 / 3), np.full((3, 3), 1 / 3), die)
    data = Sequences(np.zeros(2, np.int32), np.array([2]), (0,), known_states=np.array([2, -1]))
    three.expected_statistics(data)
    two = CategoricalEmissions(die.variable, die.theta[:2])
    with pytest.raises(ParameterError, match="known_states"):
        chain(two).expected_statistics(data)


def test_states_are_described_when_they_are_asked_for() -> None:
    info = fit_hmm([0, 1, 1, 0, 1], 2, emissions="categorical", max_iter=50, tol=1).fit_info
    assert [s["state"] for s in info.to_dict()["states"]] == [s.state for s in info.states]
