"""Sizes, sample sizes and intervals: known numbers, the same theorem turned round, and bad input."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.families import Beta
from bayeslearn.tables import Discrete, Schema
from bayeslearn.theory import (
    Size,
    agnostic,
    error_intervals,
    network_dimension,
    pac,
    perceptrons_dimension,
    read_size,
    vc,
    vc_lower,
)
from tests.properties import trials

SIZES = st.integers(1, 200).map(Size.conjunctions)
RATES = st.floats(0.001, 0.9)


### sizes


@pytest.mark.parametrize(
    ("size", "exact"),
    [
        (Size.conjunctions(3), 27),
        (Size.k_cnf(3, 2), 2 ** (3 * 4)),
        (Size.k_cnf(2, 5), 2**4),
        (Size.k_term_dnf(3, 2), 3**6),
        (Size.decision_lists(2), 2 * 3**4 * 24),
        (Size.unbiased(3), 256),
        (Size.of(range(7)), 7),
        (Size.attributes(Schema([Discrete("a", ["x", "y", "z"]), Discrete("b", ["x", "y"])])), 13),
    ],
    ids=str,
)
def test_sizes(size, exact):
    assert size.exact == exact
    assert size.log == pytest.approx(math.log(exact), rel=1e-14)
    assert size.log2 == pytest.approx(math.log2(exact), rel=1e-14)


def test_sizes_beyond_numbers():
    size = Size.unbiased(30)
    assert size.exact is None
    assert size.log2 == pytest.approx(2**30, rel=1e-14)
    assert str(size) == "2^(2^30)"
    long = Size.of(10**5000)
    assert long.exact is None
    assert long.log == pytest.approx(5000 * math.log(10), rel=1e-14)
    assert Size.decision_lists(60, 2).log == pytest.approx(
        math.log(2) + 7200 * math.log(3) + math.lgamma(7201), rel=1e-14
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("973", Size.of(973)),
        ("59,049", Size.of(59049)),
        ("3^10", Size.conjunctions(10)),
        ("conjunctions:10", Size.conjunctions(10)),
        ("k-cnf:10,3", Size.k_cnf(10, 3)),
        ("k-term-dnf:10,3", Size.k_term_dnf(10, 3)),
        ("decision-lists:4", Size.decision_lists(4)),
        ("unbiased:4", Size.unbiased(4)),
        ("2^2^4", Size.unbiased(4)),
    ],
)
def test_read_size(text, size):
    assert read_size(text).exact == size.exact


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Size.of(0), ParameterError, "at least one hypothesis, got 0"),
        (lambda: Size.of([]), ParameterError, "at least one hypothesis, got 0"),
        (lambda: Size.of(math.inf), ParameterError, "whole number, got inf"),
        (lambda: Size.of("many"), ParameterError, "whole number, got 'many'"),
        (lambda: Size.conjunctions(-1), ParameterError, "`n` must be at least 0"),
        (lambda: Size.conjunctions(1.5), ParameterError, "`n` must be a whole number"),
        (lambda: Size.unbiased(1024), CapacityError, "more than a float can hold"),
        (lambda: Size.power(2, 10**400), CapacityError, "more than a float can hold"),
        (lambda: Size(math.nan, "?"), ParameterError, "at least one hypothesis"),
        (lambda: read_size("2^2^2000"), CapacityError, r"ln 2\^2\^2000 is more"),
        (lambda: read_size("2^9^9^9"), CapacityError, "more than a float can hold"),
        (lambda: read_size("lots"), ParameterError, "cannot read the size 'lots'"),
        (lambda: read_size("k-cnf:3"), ParameterError, "takes whole numbers"),
        (lambda: read_size("trees:3"), ParameterError, "unexpected value for `space`"),
    ],
)
def test_bad_sizes(make, error, message):
    with pytest.raises(error, match=message):
        make()


### finite classes


@pytest.mark.parametrize("law", [pac, agnostic])
@given(size=SIZES, epsilon=RATES, delta=RATES)
def test_solved_there_and_back(law, size, epsilon, delta):
    m = int(law(size, epsilon=epsilon, delta=delta))
    assert float(law(size, epsilon=epsilon, m=m)) <= delta * (1 + 1e-9)
    assert float(law(size, delta=delta, m=m)) <= epsilon * (1 + 1e-9)
    assert float(law(epsilon=epsilon, delta=delta, m=m)) >= size.log * (1 - 1e-9)
    if m > 1:
        assert float(law(size, epsilon=epsilon, m=m - 1)) > delta


@given(size=SIZES, epsilon=RATES, delta=RATES)
def test_agnostic_needs_more(size, epsilon, delta):
    assert int(agnostic(size, epsilon=min(epsilon, 0.5), delta=delta)) >= int(
        pac(size, epsilon=min(epsilon, 0.5), delta=delta)
    )


def test_answers_carry_formula_numbers_and_result():
    found = pac(973, epsilon=0.1, delta=0.05)
    assert found.quantity == "m"
    assert found.value == 99
    assert found.formula == "m ≥ (1/ε)(ln|H| + ln(1/δ))"
    assert found.filled == "(1/0.1)(6.88 + 2.996) = 98.76"
    assert found.as_dict()["given"] == {"ln|H|": math.log(973), "size": "973", "epsilon": 0.1, "delta": 0.05}
    assert "With 99 examples" in str(found)
    assert "each of at most 996 hypotheses" in str(pac(epsilon=0.1, delta=0.05, m=99))


@pytest.mark.parametrize("wanted", ["epsilon", "delta", "size"])
@pytest.mark.parametrize("law", [pac, agnostic])
def test_bounds_that_say_nothing(law, wanted):
    given = {"size": 1000, "epsilon": 0.1, "delta": 0.05, "m": 1} | {wanted: None}
    found = law(given.pop("size"), **given)
    assert not found.holds
    assert "says nothing" in str(found)


def test_tiny_probabilities_are_not_rounded_away():
    assert "with probability 1 − 6.6e-36 or more" in str(pac(1, epsilon=0.1, m=810))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 0.1}, "left out: `delta` and `m`"),
        ({"epsilon": 0.1, "delta": 0.1, "m": 5}, "left out: none"),
        ({"epsilon": 0, "delta": 0.1}, "`epsilon` must be above 0"),
        ({"epsilon": 1, "delta": 0.1}, "`epsilon` must be below 1"),
        ({"epsilon": 0.1, "delta": math.nan}, "`delta` must be"),
        ({"epsilon": 0.1, "m": 0}, "`m` must be at least 1"),
        ({"epsilon": 0.1, "m": 10**400}, r"`m` must be at most 10\^300"),
        ({"epsilon": 0.1, "m": 2.5}, "`m` must be a whole number"),
        ({"epsilon": "a", "delta": 0.1}, "`epsilon` must be a number"),
        ({"epsilon": 1e-200, "delta": 0.1}, "`epsilon` must be at least 1e-100"),
        ({"epsilon": 0.1, "delta": 5e-324}, "`delta` must be at least 1e-100"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ParameterError, match=message):
        pac(100, **given)


def test_samples_beyond_numbers():
    with pytest.raises(CapacityError, match="more than a float can hold"):
        pac(Size.unbiased(1023), epsilon=1e-9, delta=0.1)


### VC dimensions


@given(dimension=st.integers(0, 1000), epsilon=RATES, delta=RATES)
def test_vc_solved_there_and_back(dimension, epsilon, delta):
    m = int(vc(dimension, epsilon=epsilon, delta=delta))
    assert float(vc(dimension, epsilon=epsilon, m=m)) <= delta * (1 + 1e-9)
    assert float(vc(dimension, delta=delta, m=m)) <= epsilon * (1 + 1e-9)
    assert int(vc(epsilon=epsilon, delta=delta, m=m)) >= dimension


@given(dimension=st.integers(2, 1000), epsilon=st.floats(0.001, 0.124), delta=st.floats(1e-6, 0.0099))
def test_lower_bound_is_lower(dimension, epsilon, delta):
    few = vc_lower(dimension, epsilon=epsilon, delta=delta)
    assert int(few) <= int(vc(dimension, epsilon=epsilon, delta=delta))
    assert float(vc_lower(dimension, m=int(few), delta=delta)) <= epsilon * (1 + 1e-9)


def test_networks():
    assert float(network_dimension(2, 3)) == math.floor(2 * 3 * 2 * math.log2(2 * math.e))
    assert perceptrons_dimension(10, 5).value == network_dimension(10, 6).value
    assert "at most 571" in str(perceptrons_dimension(10, 5))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: vc(math.inf, epsilon=0.1, delta=0.1), "infinite VC dimension"),
        (lambda: vc(2.5, epsilon=0.1, delta=0.1), "`dimension` must be a whole number"),
        (lambda: vc(-1, epsilon=0.1, delta=0.1), "`dimension` must be at least"),
        (lambda: vc_lower(1, epsilon=0.1, delta=0.001), "VC dimension 2 or more, got 1"),
        (lambda: vc_lower(5, epsilon=0.2, delta=0.001), "`epsilon` must be below 0.125"),
        (lambda: vc_lower(5, epsilon=0.1, delta=0.05), "`delta` must be below 0.01"),
        (lambda: vc_lower(5, delta=0.001), "left out: `epsilon` and `m`"),
        (lambda: network_dimension(1, 3), "`units` must be at least 2"),
    ],
)
def test_bad_dimensions(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask()


def test_too_few_examples_for_a_lower_bound():
    assert not vc_lower(5, m=3, delta=0.001).holds
    assert not vc(5, m=3, delta=0.001).holds


### intervals


@given(n=st.integers(1, 400), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
@trials(60)
def test_exact_interval_is_that_of_scipy(n, share, level):
    wrong = round(share * n)
    found = error_intervals(wrong, n, level=level)
    theirs = stats.binomtest(wrong, n).proportion_ci(level, method="exact")
    assert found.exact == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)
    assert found.hoeffding[0] <= found.exact[0] + 1e-12  # it allows for more than there is
    assert found.hoeffding[1] >= found.exact[1] - 1e-12
    assert all(a <= found.error <= b for a, b in (found.hoeffding, found.exact))


def test_bayesian_interval_is_the_posterior():
    found = error_intervals(3, 20, prior="jeffreys")
    assert found.bayes == pytest.approx(tuple(stats.beta(3.5, 17.5).ppf([0.025, 0.975])), rel=1e-9)
    assert error_intervals(3, 20, prior=Beta(0.5, 0.5)).bayes == found.bayes
    assert "3 of 20 wrong: error 0.15" in str(found)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: error_intervals(5, 4), "5 of 4 examples"),
        (lambda: error_intervals(-1, 4), "`wrong` must be at least 0"),
        (lambda: error_intervals(0, 0), "`n` must be at least 1"),
        (lambda: error_intervals(0, 10**300), "`n` must be at most"),
        (lambda: error_intervals(1, 4, level=1), "`level` must be below 1"),
        (lambda: error_intervals(1, 4, prior="flat"), "unexpected prior 'flat'"),
        (lambda: error_intervals(1, 4, prior=Beta(0, 0)), "a and b above 0"),
    ],
)
def test_bad_intervals(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask()
