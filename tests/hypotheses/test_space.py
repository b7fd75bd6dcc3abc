"""Finite spaces: the laws of evidence, exact arithmetic as the twin, the forms of hypotheses and priors, bad inputs."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayeslearn.distributions import FinitePrior
from bayeslearn.errors import (
    EvidenceError,
    ImpossibleDataError,
    ParameterError,
    ProbabilityError,
    ShapeError,
    UnknownStateError,
)
from bayeslearn.hypotheses import FiniteSpace

OUTCOMES = ("a", "b", "c")


@st.composite
def fractions_that_sum_to_one(draw, size):
    parts = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    return [Fraction(n, sum(parts)) for n in parts]


@st.composite
def problems(draw):
    """A table of fractions, a prior and some outcomes."""
    size = draw(st.integers(1, 4))
    table = [draw(fractions_that_sum_to_one(3)) for _ in range(size)]
    prior = draw(fractions_that_sum_to_one(size))
    cases = draw(st.lists(st.sampled_from(OUTCOMES), max_size=6))
    return table, prior, cases


def started(table, prior):
    space = FiniteSpace.from_table([[float(p) for p in row] for row in table], outcomes=OUTCOMES)
    return space.posterior([float(p) for p in prior])


def exact(table, prior, cases):
    return [
        p * math.prod((row[OUTCOMES.index(case)] for case in cases), start=Fraction(1))
        for row, p in zip(table, prior, strict=True)
    ]


def same(a, b):
    np.testing.assert_allclose(list(a.probabilities.values()), list(b.probabilities.values()), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(a.log_marginal_likelihood, b.log_marginal_likelihood, rtol=1e-10, atol=1e-10)


### laws


@given(problems())
def test_posterior_and_evidence_are_those_of_exact_fractions(problem):
    joint = exact(*problem)
    table, prior, cases = problem
    if sum(joint) == 0:
        with pytest.raises(ImpossibleDataError, match="has probability zero under every hypothesis"):
            started(table, prior).update_many(cases)
        return
    posterior = started(table, prior).update_many(cases)
    np.testing.assert_allclose(
        list(posterior.probabilities.values()), [float(j / sum(joint)) for j in joint], rtol=1e-9, atol=1e-300
    )
    np.testing.assert_allclose(posterior.marginal_likelihood, float(sum(joint)), rtol=1e-9)
    best = max(joint)
    assert posterior.map_hypotheses == [i for i, j in enumerate(joint) if j == best]
    likelihood = exact(table, [1] * len(prior), cases)
    assert posterior.ml_hypotheses == [i for i, j in enumerate(likelihood) if j == max(likelihood)]


@given(problems(), st.randoms(use_true_random=False))
def test_one_at_a_time_in_any_order_is_the_batch(problem, random):
    table, prior, cases = problem
    assume(sum(exact(*problem)) > 0)
    batch = started(table, prior).update_many(cases)
    shuffled = random.sample(cases, len(cases))
    one_by_one = started(table, prior)
    for case in shuffled:
        one_by_one = one_by_one.update(case)
    same(batch, one_by_one)


@given(problems(), st.integers(0, 6))
def test_parts_add_and_are_taken_back(problem, cut):
    table, prior, cases = problem
    assume(sum(exact(*problem)) > 0)
    start = started(table, prior)
    first, second = start.update_many(cases[:cut]), start.update_many(cases[cut:])
    whole = start.update_many(cases)
    same(first + second, whole)
    same(whole - second, first)
    same(whole.remove_many(cases[cut:]), first)
    same(whole.remove_many(cases), start)


@given(problems())
def test_weight_two_is_the_case_twice(problem):
    table, prior, cases = problem
    assume(sum(exact(*problem)) > 0)
    start = started(table, prior)
    twice = start.update_many(cases * 2)
    same(start.update_many(cases, sample_weight=[2.0] * len(cases)), twice)
    same(start.update_many(cases) * 2, twice)


@given(problems())
def test_the_predictive_is_a_ratio_of_evidences(problem):
    table, prior, cases = problem
    assume(sum(exact(*problem)) > 0)
    posterior = started(table, prior).update_many(cases)
    predictive = posterior.predictive()
    np.testing.assert_allclose(sum(predictive.values()), 1, rtol=1e-10)
    for outcome, p in predictive.items():
        after = sum(exact(table, prior, [*cases, outcome]))
        np.testing.assert_allclose(p, float(after / sum(exact(*problem))), rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(math.exp(posterior.log_predictive(outcome)), p, rtol=1e-10)


def test_a_case_that_ruled_a_hypothesis_out_can_be_taken_back():
    start = FiniteSpace.from_table({"fair": {"h": 0.5, "t": 0.5}, "two heads": {"h": 1.0}}).posterior()
    after = start.update("t")
    assert after["two heads"] == 0
    assert after.remove("t").probabilities == start.probabilities
    with pytest.raises(EvidenceError, match="more evidence removed than had been added"):
        start.remove("t")


### forms of hypotheses


@pytest.mark.parametrize(
    "hypothesis",
    [
        lambda x: {"yes": x, "no": 1 - x},
        lambda x: [1 - x, x],
        lambda x: np.array([1 - x, x]),
    ],
)
def test_functions_may_return_probabilities(hypothesis):
    space = FiniteSpace.from_labelers({"h": hypothesis, "half": lambda x: [0.5, 0.5]}, classes=["no", "yes"])
    posterior = space.fit([(0.9, "yes"), (0.2, "no")])
    np.testing.assert_allclose(posterior["h"], 0.72 / (0.72 + 0.25), rtol=1e-12)


def test_fitted_classifiers_are_hypotheses():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 3])
    y = np.repeat(["a", "b"], 20)
    models = {"naive": GaussianNB().fit(X, y), "lines": LinearSVC().fit(X, y)}
    space = FiniteSpace.from_labelers(models, classes=["a", "b", "never"], noise=0.1)
    posterior = space.fit(list(zip(X, y, strict=True)))
    p = models["naive"].predict_proba(X)[np.arange(40), np.repeat([0, 1], 20)]
    naive = np.log(0.9 * p + 0.05 * (1 - p)).sum()
    lines = np.log(np.where(models["lines"].predict(X) == y, 0.9, 0.05)).sum()
    np.testing.assert_allclose(posterior.statistics.total, [naive, lines], rtol=1e-10)


def test_functions_may_give_the_likelihood_of_any_case():
    def normal(mean):
        return lambda x: math.exp(-0.5 * (x - mean) ** 2) / math.sqrt(2 * math.pi)

    posterior = FiniteSpace.from_functions({"low": normal(0), "high": normal(2)}).fit([0.5, 1.0, 0.2])
    odds = math.exp(sum(-0.5 * x**2 + 0.5 * (x - 2) ** 2 for x in (0.5, 1.0, 0.2)))
    np.testing.assert_allclose(posterior["low"], odds / (1 + odds), rtol=1e-12)
    with pytest.raises(ParameterError, match="the possible outcomes are unknown"):
        posterior.predictive()
    with pytest.raises(ProbabilityError, match=r"got -1\.0 for row 0 from hypothesis 0"):
        FiniteSpace.from_functions([lambda x: -1]).fit([1])


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 0.2])
def test_label_noise_spreads_over_the_other_labels(k, noise):
    space = FiniteSpace.from_labelers({"h": lambda x: 0}, classes=range(k), noise=noise)
    p = space.posterior().predictive("x")
    np.testing.assert_allclose(list(p.values()), [1 - noise] + [noise / (k - 1)] * (k - 1), rtol=1e-12)
    assert space.posterior().predictive("x", noisy=False)[0] == 1


def test_noise_lets_a_wrong_hypothesis_live():
    space = FiniteSpace.from_labelers({"yes": lambda x: True, "no": lambda x: False}, noise=0.1)
    np.testing.assert_allclose(space.fit([(0, True)] * 2)["no"], 0.01 / 0.82, rtol=1e-12)


### forms of priors


@pytest.mark.parametrize(
    "prior",
    [
        {"x": 0.2, "y": 0.8},
        [0.2, 0.8],
        np.array([0.2, 0.8]),
        FinitePrior.given([0.2, 0.8]),
        lambda h: {"x": 1, "y": 4}[h],
    ],
)
def test_every_form_of_prior(prior):
    space = FiniteSpace.from_table([[0.5, 0.5]] * 2, names=["x", "y"])
    np.testing.assert_allclose(space.posterior(prior)["y"], 0.8, rtol=1e-12)


def test_automatic_names_are_numbered():
    space = FiniteSpace.from_labelers([GaussianNB(), GaussianNB(), ("mine", len), max])
    assert space.names == ("GaussianNB-1", "GaussianNB-2", "mine", "max")


@pytest.mark.parametrize(
    ("prior", "error", "match"),
    [
        ({"x": 1.0}, ParameterError, "`prior` has no entry for 'y'"),
        ({"x": 0.5, "y": 0.4, "z": 0.1}, ParameterError, "`prior` names 'z', which is no hypothesis"),
        ([0.5, 0.2], ProbabilityError, "must sum to 1, got a sum of 0.7"),
        ([1.0], ShapeError, "expected a prior over 2 hypotheses"),
        (FinitePrior.uniform(3), ShapeError, "expected a prior over 2 hypotheses"),
        (lambda h: -1.0, ProbabilityError, "the prior weight of 'x' must be finite and not negative, got -1.0"),
        (lambda h: 0.0, ProbabilityError, "weight zero to every hypothesis"),
    ],
)
def test_bad_priors(prior, error, match):
    with pytest.raises(error, match=match):
        FiniteSpace.from_table([[0.5, 0.5]] * 2, names=["x", "y"]).posterior(prior)


### what it says


def test_printing_and_credible_sets():
    space = FiniteSpace.from_table(
        [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], names=["low", "mid", "high"], outcomes=["l", "h"]
    )
    posterior = space.fit(["l", "l", "h"])
    rows = posterior.to_rows()
    assert [row.name for row in rows] == ["low", "mid", "high"]
    np.testing.assert_allclose([row.likelihood for row in rows], [0.081, 0.125, 0.009], rtol=1e-12)
    np.testing.assert_allclose([row.joint for row in rows], np.array([0.081, 0.125, 0.009]) / 3, rtol=1e-12)
    assert posterior.credible_set(0.9) == ["low", "mid"]
    assert repr(posterior) == "HypothesisPosterior(mid: 0.5814, low: 0.3767, high: 0.04186)"
    assert repr(space) == "FiniteSpace(3 hypotheses: 'low', 'mid', 'high')"


def test_draws_follow_the_posterior():
    posterior = FiniteSpace.from_table([[1.0], [1.0]], names=["x", "y"]).posterior([0.25, 0.75])
    rng = np.random.default_rng(3)
    share = np.mean([posterior.sample(rng) == "y" for _ in range(4000)])
    assert abs(share - 0.75) < 4 * math.sqrt(0.25 * 0.75 / 4000)
    assert posterior.sample(5) == posterior.sample(5)


def test_the_core_does_not_load_scikit_learn():
    code = "import sys; from bayeslearn.hypotheses import FiniteSpace; print('sklearn' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_estimators_are_found_when_asked_for():
    from bayeslearn import hypotheses

    assert hypotheses.GibbsClassifier.__name__ == "GibbsClassifier"
    assert "VersionSpaceClassifier" in dir(hypotheses)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        hypotheses.Nonsense  # noqa: B018


### bad inputs


def test_the_case_that_leaves_no_hypothesis_is_named():
    space = FiniteSpace.from_table({"x": {"a": 1.0, "c": 0.0}, "y": {"b": 1.0}})
    with pytest.raises(ImpossibleDataError, match="row 2, 'b', has probability zero under every hypothesis that the"):
        space.fit(["a", "a", "b"])
    with pytest.raises(
        ImpossibleDataError, match="row 0, 'c', has probability zero under every hypothesis\n"
    ) as caught:
        space.fit(["c", "a"])
    assert caught.value.details == {"position": 0, "row": "c"}
    assert space.fit(["a", "b"], sample_weight=[1, 0]).map_hypotheses == ["x"]
    with pytest.raises(ImpossibleDataError, match="no hypothesis is possible given the rows of both"):
        _ = space.fit(["a"]) + space.fit(["b"])


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: FiniteSpace.from_table({}), ShapeError, "expected a table of hypotheses by outcomes"),
        (
            lambda: FiniteSpace.from_table([[0.5, 0.4]]),
            ProbabilityError,
            "`likelihoods of 0` must sum to 1, got a sum of 0.9",
        ),
        (lambda: FiniteSpace.from_table([[1.0]], names=["a", "b"]), ShapeError, "2 hypotheses by 1 outcomes, got"),
        (lambda: FiniteSpace.from_table([[1.0]] * 2, names=["a", "a"]), ParameterError, "`names` must be different"),
        (lambda: FiniteSpace.from_table({"a": {"x": 1.0}}, outcomes=["y"]), ParameterError, "outcome 'x' is not among"),
        (lambda: FiniteSpace.from_labelers([]), ParameterError, "at least one hypothesis, got none"),
        (lambda: FiniteSpace.from_labelers(3), ParameterError, "expected a list of hypotheses, got 3"),
        (
            lambda: FiniteSpace.from_labelers([("a", len), ("a", max)]),
            ParameterError,
            "two hypotheses share the name 'a'",
        ),
        (lambda: FiniteSpace.from_labelers([len], classes=[1, 1]), ParameterError, "`labels` must be different"),
        (lambda: FiniteSpace.from_labelers([len], noise=0.6), ParameterError, "`noise` must be at most 0.5, got 0.6"),
        (lambda: FiniteSpace.from_labelers([len], noise=-0.1), ParameterError, "`noise` must be at least 0, got -0.1"),
        (lambda: FiniteSpace.from_labelers([3]).fit([(0, True)]), ParameterError, "must be a function or a classifier"),
    ],
)
def test_bad_spaces(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_bad_cases():
    table = FiniteSpace.from_table({"x": {"a": 0.5, "b": 0.5}})
    with pytest.raises(UnknownStateError, match="unknown outcome 'z' in row 1") as caught:
        table.fit(["a", "z"])
    assert caught.value.hint == "the outcomes are 'a', 'b'"
    with pytest.raises(ParameterError, match="do not depend on anything, got x = 3"):
        table.posterior().predictive(3)
    space = FiniteSpace.from_labelers({"h": lambda x: x})
    with pytest.raises(ParameterError, match=r"a row must be a pair \(x, label\), got 3 at position 0"):
        space.fit([3])
    with pytest.raises(UnknownStateError, match="unknown label 'maybe' in row 0"):
        space.fit([(True, "maybe")])
    with pytest.raises(UnknownStateError, match="unknown label 5 in row 0"):
        space.fit([(5, True)])
    with pytest.raises(ParameterError, match="the label depends on x, and none was given"):
        space.posterior().predictive()
    with pytest.raises(ParameterError, match="no hypothesis is called 'k'"):
        space.posterior()["k"]
    with pytest.raises(ShapeError, match="expected 2 label probabilities from a hypothesis"):
        FiniteSpace.from_labelers([lambda x: [1.0]]).fit([(0, True)])


def test_posteriors_add_only_from_the_same_start():
    space = FiniteSpace.from_table({"x": {"a": 1.0}, "y": {"a": 1.0}})
    with pytest.raises(ParameterError, match="only from the same prior"):
        _ = space.posterior() + space.posterior([0.1, 0.9])
    with pytest.raises(ParameterError, match="only over the same hypotheses"):
        _ = space.posterior() + FiniteSpace.from_table({"z": {"a": 1.0}}).posterior()
    with pytest.raises(ParameterError, match="either a prior or code lengths"):
        space.posterior([0.5, 0.5], bits=[1, 1])


@pytest.mark.parametrize("hypotheses", [{1: bool, 2: lambda _: False}, [(1, bool), (2, lambda _: False)]])
def test_names_need_not_be_text(hypotheses):
    space = FiniteSpace.from_labelers(hypotheses)
    posterior = space.fit([(1, True)], prior={1: 0.25, 2: 0.75})

    assert space.names == (1, 2)
    assert posterior[1] == 1
    assert posterior.map_hypotheses == [1]


def test_names_of_functions_of_cases_need_not_be_text():
    posterior = FiniteSpace.from_functions({1: lambda _: 0.5, (2, "b"): lambda _: 0.1}).fit([None])

    assert posterior[1] == pytest.approx(5 / 6, rel=1e-12)
    assert posterior[2, "b"] == pytest.approx(1 / 6, rel=1e-12)
