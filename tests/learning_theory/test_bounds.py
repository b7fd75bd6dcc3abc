"""Sizes, sample sizes and intervals: known numbers, the same theorem turned round, and bad input."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayeslearn.distributions import Beta
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.learning_theory import (
    HypothesisCount,
    agnostic_bound,
    error_intervals,
    network_dimension,
    pac_bound,
    perceptrons_dimension,
    vc_bound,
    vc_lower_bound,
)
from bayeslearn.tables import DiscreteVariable, Schema
from tests.properties import trials

SIZES = st.integers(1, 200).map(HypothesisCount.conjunctions)
RATES = st.floats(0.001, 0.9)


### sizes


@pytest.mark.parametrize(
    ("size", "exact"),
    [
        (HypothesisCount.conjunctions(3), 27),
        (HypothesisCount.k_cnf(3, 2), 2 ** (3 * 4)),
        (HypothesisCount.k_cnf(2, 5), 2**4),
        (HypothesisCount.k_term_dnf(3, 2), 3**6),
        (HypothesisCount.decision_lists(2), 2 * 3**4 * 24),
        (HypothesisCount.unbiased(3), 256),
        (HypothesisCount.from_number(range(7)), 7),
        (
            HypothesisCount.attributes(
                Schema([DiscreteVariable("a", ["x", "y", "z"]), DiscreteVariable("b", ["x", "y"])])
            ),
            13,
        ),
    ],
    ids=str,
)
def test_sizes(size, exact):
    assert size.exact == exact
    assert size.log == pytest.approx(math.log(exact), rel=1e-14)
    assert size.log2 == pytest.approx(math.log2(exact), rel=1e-14)


def test_sizes_beyond_numbers():
    size = HypothesisCount.unbiased(30)
    assert size.exact is None
    assert size.log2 == pytest.approx(2**30, rel=1e-14)
    assert str(size) == "2^(2^30)"
    long = HypothesisCount.from_number(10**5000)
    assert long.exact is None
    assert long.log == pytest.approx(5000 * math.log(10), rel=1e-14)
    assert HypothesisCount.decision_lists(60, 2).log == pytest.approx(
        math.log(2) + 7200 * math.log(3) + math.lgamma(7201), rel=1e-14
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("973", HypothesisCount.from_number(973)),
        ("59,049", HypothesisCount.from_number(59049)),
        ("3^10", HypothesisCount.conjunctions(10)),
        ("conjunctions:10", HypothesisCount.conjunctions(10)),
        ("k-cnf:10,3", HypothesisCount.k_cnf(10, 3)),
        ("k-term-dnf:10,3", HypothesisCount.k_term_dnf(10, 3)),
        ("decision-lists:4", HypothesisCount.decision_lists(4)),
        ("unbiased:4", HypothesisCount.unbiased(4)),
        ("2^2^4", HypothesisCount.unbiased(4)),
    ],
)
def test_read_size(text, size):
    assert HypothesisCount.parse(text).exact == size.exact


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: HypothesisCount.from_number(0), ParameterError, "at least one hypothesis, got 0"),
        (lambda: HypothesisCount.from_number([]), ParameterError, "at least one hypothesis, got 0"),
        (lambda: HypothesisCount.from_number(math.inf), ParameterError, "whole number, got inf"),
        (lambda: HypothesisCount.from_number("many"), ParameterError, "cannot read the size 'many'"),
        (lambda: HypothesisCount.conjunctions(-1), ParameterError, "`n_variables` must be at least 0"),
        (lambda: HypothesisCount.conjunctions(1.5), ParameterError, "`n_variables` must be a whole number"),
        (lambda: HypothesisCount.unbiased(1024), CapacityError, "more than a float can hold"),
        (lambda: HypothesisCount.power(2, 10**400), CapacityError, "more than a float can hold"),
        (lambda: HypothesisCount(math.nan, "?"), ParameterError, "at least one hypothesis"),
        (lambda: HypothesisCount.parse("2^2^2000"), CapacityError, r"ln 2\^2\^2000 is more"),
        (lambda: HypothesisCount.parse("2^9^9^9"), CapacityError, "more than a float can hold"),
        (lambda: HypothesisCount.parse("lots"), ParameterError, "cannot read the size 'lots'"),
        (lambda: HypothesisCount.parse("k-cnf:3"), ParameterError, "takes whole numbers"),
        (lambda: HypothesisCount.parse("trees:3"), ParameterError, "unexpected value for `n_hypotheses`"),
    ],
)
def test_bad_sizes(make, error, message):
    with pytest.raises(error, match=message):
        make()


### finite classes


@pytest.mark.parametrize("law", [pac_bound, agnostic_bound])
@given(size=SIZES, epsilon=RATES, delta=RATES)
def test_solved_there_and_back(law, size, epsilon, delta):
    m = int(law(size, epsilon=epsilon, delta=delta))
    assert float(law(size, epsilon=epsilon, n_examples=m)) <= delta * (1 + 1e-9)
    assert float(law(size, delta=delta, n_examples=m)) <= epsilon * (1 + 1e-9)
    assert float(law(epsilon=epsilon, delta=delta, n_examples=m)) >= size.log * (1 - 1e-9)
    if m > 1:
        assert float(law(size, epsilon=epsilon, n_examples=m - 1)) > delta


@given(size=SIZES, epsilon=RATES, delta=RATES)
def test_agnostic_needs_more(size, epsilon, delta):
    assert int(agnostic_bound(size, epsilon=min(epsilon, 0.5), delta=delta)) >= int(
        pac_bound(size, epsilon=min(epsilon, 0.5), delta=delta)
    )


def test_answers_carry_formula_numbers_and_result():
    found = pac_bound(973, epsilon=0.1, delta=0.05)
    assert found.quantity == "m"
    assert found.value == 99
    assert found.formula == "m ≥ (1/ε)(ln|H| + ln(1/δ))"
    assert found.substituted == "(1/0.1)(6.88 + 2.996) = 98.76"
    assert found.to_dict()["inputs"] == {"ln|H|": math.log(973), "size": "973", "epsilon": 0.1, "delta": 0.05}
    assert "With 99 examples" in str(found)
    assert "each of at most 996 hypotheses" in str(pac_bound(epsilon=0.1, delta=0.05, n_examples=99))


@pytest.mark.parametrize("wanted", ["epsilon", "delta", "size"])
@pytest.mark.parametrize("law", [pac_bound, agnostic_bound])
def test_bounds_that_say_nothing(law, wanted):
    given = {"size": 1000, "epsilon": 0.1, "delta": 0.05, "n_examples": 1} | {wanted: None}
    found = law(given.pop("size"), **given)
    assert not found.is_attainable
    assert "does not apply" in str(found)


def test_tiny_probabilities_are_not_rounded_away():
    assert "with probability 1 − 6.6e-36 or more" in str(pac_bound(1, epsilon=0.1, n_examples=810))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 0.1}, "missing: `delta` and `n_examples`"),
        ({"epsilon": 0.1, "delta": 0.1, "n_examples": 5}, "missing: none"),
        ({"epsilon": 0, "delta": 0.1}, "`epsilon` must be above 0"),
        ({"epsilon": 1, "delta": 0.1}, "`epsilon` must be below 1"),
        ({"epsilon": 0.1, "delta": math.nan}, "`delta` must be"),
        ({"epsilon": 0.1, "n_examples": 0}, "`n_examples` must be at least 1"),
        ({"epsilon": 0.1, "n_examples": 10**400}, r"`n_examples` must be at most 10\^300"),
        ({"epsilon": 0.1, "n_examples": 2.5}, "`n_examples` must be a whole number"),
        ({"epsilon": "a", "delta": 0.1}, "`epsilon` must be a number"),
        ({"epsilon": 1e-200, "delta": 0.1}, "`epsilon` must be at least 1e-100"),
        ({"epsilon": 0.1, "delta": 5e-324}, "`delta` must be at least 1e-100"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ParameterError, match=message):
        pac_bound(100, **given)


def test_samples_beyond_numbers():
    with pytest.raises(CapacityError, match="more than a float can hold"):
        pac_bound(HypothesisCount.unbiased(1023), epsilon=1e-9, delta=0.1)


### VC dimensions


@given(dimension=st.integers(0, 1000), epsilon=RATES, delta=RATES)
def test_vc_solved_there_and_back(dimension, epsilon, delta):
    m = int(vc_bound(dimension, epsilon=epsilon, delta=delta))
    assert float(vc_bound(dimension, epsilon=epsilon, n_examples=m)) <= delta * (1 + 1e-9)
    assert float(vc_bound(dimension, delta=delta, n_examples=m)) <= epsilon * (1 + 1e-9)
    assert int(vc_bound(epsilon=epsilon, delta=delta, n_examples=m)) >= dimension


@given(dimension=st.integers(2, 1000), epsilon=st.floats(0.001, 0.124), delta=st.floats(1e-6, 0.0099))
def test_lower_bound_is_lower(dimension, epsilon, delta):
    few = vc_lower_bound(dimension, epsilon=epsilon, delta=delta)
    assert int(few) <= int(vc_bound(dimension, epsilon=epsilon, delta=delta))
    assert float(vc_lower_bound(dimension, n_examples=int(few), delta=delta)) <= epsilon * (1 + 1e-9)


def test_networks():
    assert float(network_dimension(2, 3)) == math.floor(2 * 3 * 2 * math.log2(2 * math.e))
    assert perceptrons_dimension(10, 5).value == network_dimension(10, 6).value
    assert "at most 571" in str(perceptrons_dimension(10, 5))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: vc_bound(math.inf, epsilon=0.1, delta=0.1), "infinite VC dimension"),
        (lambda: vc_bound(2.5, epsilon=0.1, delta=0.1), "`dimension` must be a whole number"),
        (lambda: vc_bound(-1, epsilon=0.1, delta=0.1), "`dimension` must be at least"),
        (lambda: vc_lower_bound(1, epsilon=0.1, delta=0.001), "VC dimension 2 or more, got 1"),
        (lambda: vc_lower_bound(5, epsilon=0.2, delta=0.001), "`epsilon` must be below 0.125"),
        (lambda: vc_lower_bound(5, epsilon=0.1, delta=0.05), "`delta` must be below 0.01"),
        (lambda: vc_lower_bound(5, delta=0.001), "missing: `epsilon` and `n_examples`"),
        (lambda: network_dimension(1, 3), "`n_units` must be at least 2"),
    ],
)
def test_bad_dimensions(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask()


def test_too_few_examples_for_a_lower_bound():
    assert not vc_lower_bound(5, n_examples=3, delta=0.001).is_attainable
    assert not vc_bound(5, n_examples=3, delta=0.001).is_attainable


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
        (lambda: error_intervals(-1, 4), "`n_wrong` must be at least 0"),
        (lambda: error_intervals(0, 0), "`n_examples` must be at least 1"),
        (lambda: error_intervals(0, 10**300), "`n_examples` must be at most"),
        (lambda: error_intervals(1, 4, level=1), "`level` must be below 1"),
        (lambda: error_intervals(1, 4, prior="flat"), "unexpected prior 'flat'"),
        (lambda: error_intervals(1, 4, prior=Beta(0, 0)), "a and b above 0"),
    ],
)
def test_bad_intervals(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask()


def test_the_lower_bound_is_also_an_option_of_the_upper_one():
    assert vc_bound(100, epsilon=0.01, delta=0.005, lower=True) == vc_lower_bound(100, epsilon=0.01, delta=0.005)
    with pytest.raises(ParameterError, match="the lower bound needs `dimension` and `delta`"):
        vc_bound(100, epsilon=0.01, lower=True)
