"""One grammar of priors: every learner reads the same words, and None is no prior everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.errors import BayeslearnError, ParameterError
from bayeslearn.hypotheses import FiniteSpace
from bayeslearn.naive_bayes.text import fit_text
from bayeslearn.neighbors import NeighborsModel
from bayeslearn.online import WeightedMajority
from bayeslearn.regression import fit_linear, fit_logistic

X = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [1.0, 0.0, 1.0, 1.0, 0.0, 3.0]}
NUMBERS, CLASSES = [1.0, 2.5, 3.0, 5.0, 5.5, 6.0], list("uvuuvv")
TEXTS = ["a cheap watch", "lunch at noon", "cheap cheap", "noon", "a watch at noon", "lunch"]


def linear(prior):
    return fit_linear(X, NUMBERS, prior=prior).fit.coef


def logistic(prior):
    return fit_logistic(X, CLASSES, prior=prior).fit.coefficients


def neighbors(prior):
    return NeighborsModel.from_arrays(X, CLASSES, prior=prior).predict_proba(X)


def neighbors_of_numbers(prior):
    prior = NeighborsModel.from_arrays(X, NUMBERS, prior=prior).prior_of()
    return [prior.alpha, prior.beta]


def texts(prior):
    return fit_text(TEXTS, CLASSES, prior=prior).log_p_words


def texts_present(prior):
    return fit_text(TEXTS, CLASSES, prior=prior, likelihood="bernoulli").log_p_words


LEARNERS = [linear, logistic, neighbors, neighbors_of_numbers, texts, texts_present]


@pytest.mark.parametrize("learned", LEARNERS)
def test_none_is_no_prior(learned):
    np.testing.assert_allclose(learned(None), learned("none"), rtol=1e-12)
    np.testing.assert_allclose(learned(None), learned("M:0"), rtol=1e-12)


@pytest.mark.parametrize(
    ("learned", "word", "number"),
    [
        (linear, "pooled:2", 2.0), (linear, "m:2", 2.0), (linear, "weak", 1.0), (logistic, "m:0.5", 0.5),
        (neighbors, "m:2", 2.0), (neighbors, "laplace", 2.0), (neighbors_of_numbers, "pooled:3", 3.0),
        (texts, "laplace", 1.0), (texts, "k2", 1.0), (texts, "jeffreys", 0.5), (texts, "m:5", 1.0),
        (texts, "bdeu:10", 1.0),
        (texts_present, "m:2", 1.0), (texts_present, "laplace", 1.0),
    ],
)  # fmt: skip
def test_words_stand_for_numbers(learned, word, number):
    np.testing.assert_allclose(learned(word), learned(number), rtol=1e-12)


@pytest.mark.parametrize("learned", LEARNERS)
def test_other_words_are_refused(learned):
    for word in ("strong", "m:-1", "m:x"):
        with pytest.raises(BayeslearnError, match="prior"):
            learned(word)


def test_pooled_words_are_shares_of_all_words():
    prior = fit_text(TEXTS, CLASSES, prior="pooled:7").prior
    assert prior.alpha.sum() == pytest.approx(7, rel=1e-12)


def test_hypotheses_and_experts_need_a_prior():
    space = FiniteSpace.from_functions({"fair": lambda _: 0.5, "false": lambda _: 0.1})
    np.testing.assert_allclose(space.prior("uniform").mean(), [0.5, 0.5], rtol=1e-12)
    assert WeightedMajority(["a", "b"], prior="uniform").prior.mean().tolist() == pytest.approx([0.5, 0.5])
    for make in (space.prior, lambda prior: WeightedMajority(["a", "b"], prior=prior)):
        with pytest.raises(ParameterError, match="`prior` must not be None"):
            make(None)
        with pytest.raises(ParameterError, match="unexpected value for `prior`"):
            make("laplace")
