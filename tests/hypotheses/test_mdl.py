"""Description lengths: with the optimal codes MDL is MAP; any other codes are the user's."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.hypotheses import FiniteSpace, description_lengths, exception_bits, mistake_bits, optimal_lengths

WEIGHTS = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)


@given(st.lists(WEIGHTS, min_size=1, max_size=5), st.data())
def test_with_optimal_codes_the_shortest_description_is_the_most_probable_hypothesis(rows, data):
    table = [[w / sum(row) for w in row] for row in rows]
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(rows), max_size=len(rows)))
    prior = [w / sum(weights) for w in weights]
    cases = data.draw(st.lists(st.integers(0, 2), max_size=6))
    space = FiniteSpace.from_table(table)
    posterior = space.fit(cases, prior=prior)
    joint = sorted((row.log_joint for row in posterior.to_rows()), reverse=True)
    assume(len(joint) == 1 or joint[0] - joint[1] > 1e-6 or joint[0] == joint[1])
    lengths = optimal_lengths(posterior)
    assert lengths.best == posterior.map_hypotheses
    given_codes = description_lengths(space, cases, hypothesis_bits=[-math.log2(p) for p in prior])
    np.testing.assert_allclose(given_codes.total, lengths.total, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lengths.total, [-row.log_joint / math.log(2) for row in posterior.to_rows()], rtol=1e-9)


def test_codes_may_be_functions_of_the_hypothesis():
    space = FiniteSpace.from_labelers({"short": lambda x: True, "long": lambda x: x > 0})
    cases = [(1, True), (-1, False)]
    lengths = description_lengths(
        space, cases, hypothesis_bits=lambda h: 1.0 if h is space.hypotheses[0] else 8.0, data_bits=mistake_bits
    )
    np.testing.assert_allclose(lengths.hypothesis, [1, 8], rtol=0)
    np.testing.assert_allclose(lengths.data, [math.log2(3) + 1, math.log2(3)], rtol=1e-12)
    assert [row[0] for row in lengths.to_rows()] == ["short", "long"]
    by_name = description_lengths(space, cases, hypothesis_bits=[1, 1], data_bits={"long": 2, "short": 2})
    assert by_name.best == ["short", "long"]


def test_an_exact_hypothesis_needs_no_bits_for_the_data_and_a_wrong_one_infinitely_many():
    space = FiniteSpace.from_labelers({"right": lambda x: x, "wrong": lambda x: not x})
    lengths = description_lengths(space, [(True, True)], hypothesis_bits=[3, 1])
    assert lengths.data.tolist() == [0, math.inf]
    assert lengths.best == ["right"]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(2, 5))
def test_exceptions_cost_what_it_takes_to_list_them(n, errors, classes):
    assume(errors <= n)
    ways = math.comb(n, errors) * (classes - 1) ** errors
    np.testing.assert_allclose(exception_bits(errors, n, n_classes=classes), math.log2((n + 1) * ways), rtol=1e-9)


def test_bad_codes():
    space = FiniteSpace.from_labelers({"yes": lambda x: True, "no": lambda x: False})
    with pytest.raises(ParameterError, match=r"must not be negative, got -1\.0 for 'no'"):
        description_lengths(space, [], hypothesis_bits=[1, -1])
    with pytest.raises(ShapeError, match=r"expected hypothesis_bits for 2 hypotheses, got shape \(1,\)"):
        description_lengths(space, [], hypothesis_bits=[1])
    with pytest.raises(ParameterError, match="`data_bits` has no entry for 'no'"):
        description_lengths(space, [], hypothesis_bits=[1, 1], data_bits={"yes": 1})
    with pytest.raises(ParameterError, match="no hypothesis can describe the data"):
        _ = description_lengths(space, [(0, True), (0, False)], hypothesis_bits=[1, 1]).best
    with pytest.raises(ParameterError, match="`n_errors` must be at most 3, got 4"):
        exception_bits(4, 3)
