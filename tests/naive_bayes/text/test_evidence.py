"""Priors that the counts choose by their evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import optimize, special

from bayeslearn.distributions import Categorical, Counts, Dirichlet
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.naive_bayes.text.prior_selection import KINDS, choose_presence_prior, choose_prior, log_evidence
from tests.properties import trials

COUNTS = arrays.arrays(float, st.tuples(st.integers(1, 4), st.integers(2, 6)), elements=st.integers(0, 9).map(float))


def drawn(classes=5, words=40, seed=0):
    """Counts of classes whose words follow a Dirichlet with α from 0.05 to 2."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.geomspace(0.05, 2, words), classes)
    return np.array([rng.multinomial(400, row) for row in theta]).astype(float)


### laws


@given(COUNTS, st.floats(0.01, 10))
def test_evidence_is_that_of_the_family(counts, a):
    classes, words = counts.shape
    prior = Dirichlet(np.full((classes, words), a))
    expected = Categorical(words).log_evidence(prior, Counts(counts)).sum()
    np.testing.assert_allclose(log_evidence(counts, a), expected, rtol=1e-9, atol=1e-8)


@trials(30)
@given(COUNTS, st.sampled_from(KINDS))
def test_every_choice_is_a_prior_with_the_evidence_it_claims(counts, kind):
    found = choose_prior(counts, kind)
    assert found.alpha.shape == counts.shape[1:]
    assert (found.alpha > 0).all()
    assert np.isfinite(found.alpha).all()
    np.testing.assert_allclose(found.log_evidence, log_evidence(counts, found.alpha), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_what_chooses_more_freely_has_more_evidence(seed):
    counts = drawn(seed=seed)
    free, around, one = (choose_prior(counts, kind).log_evidence for kind in ("words", "evidence", "symmetric"))
    assert free > around > one > choose_prior(counts, 1.0).log_evidence


### slow twins


def test_the_strengths_are_those_of_highest_evidence():
    counts = drawn()
    p = np.maximum(counts.sum(axis=0), 0.5)
    p /= p.sum()
    for kind, spread in (("symmetric", np.ones(len(p))), ("background", p)):
        grid = np.geomspace(1e-3, 1e4, 3000)
        best = max(log_evidence(counts, g * spread) + np.log(g * spread.mean()) - g * spread.mean() for g in grid)
        found = choose_prior(counts, kind)
        objective = found.log_evidence + np.log(found.alpha.mean()) - found.alpha.mean()
        assert objective >= best
        assert objective == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("kind", ["words", "evidence"])
def test_the_climb_arrives_where_a_general_optimizer_does(kind):
    counts = drawn(words=12)
    counts = counts[:, counts.sum(axis=0) > 0]
    rate = 1 / choose_prior(counts, "symmetric").alpha[0] if kind == "evidence" else 1.0

    def objective(log_alpha):
        return (rate * np.exp(log_alpha) - log_alpha).sum() - log_evidence(counts, np.exp(log_alpha))

    start = np.zeros(counts.shape[1])
    expected = optimize.minimize(objective, start, options={"gtol": 1e-5}).fun
    found = choose_prior(counts, kind).alpha
    assert objective(np.log(found)) == pytest.approx(expected, abs=1e-5)


def test_a_word_that_nobody_wrote_counts_half_of_one_written_once():
    counts = drawn()
    counts = np.column_stack([counts, np.zeros(len(counts)), np.eye(len(counts))[0]])
    alpha = choose_prior(counts, "evidence").alpha
    np.testing.assert_allclose(2 * alpha[-2], alpha[-1], rtol=1e-4)
    strength = alpha.sum()
    pull = (special.digamma(strength + counts.sum(axis=1)) - special.digamma(strength)).sum()
    np.testing.assert_allclose(alpha[-1], 2 / (pull + 1 / choose_prior(counts, "symmetric").alpha[0]), rtol=1e-3)


### borders


def test_a_handful_of_documents_is_smoothed_about_as_laplace_would():
    for counts in ([[2.0, 1, 1, 0, 0, 0], [0, 0, 0, 2, 1, 1]], [[1, 0], [0, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 1]]):
        for kind in KINDS:
            assert 0.3 < choose_prior(counts, kind).alpha.mean() < 3


def test_presence_is_smoothed_by_the_evidence_of_the_beta():
    present, documents = np.array([[3.0, 0, 1], [1, 2, 0]]), np.array([4.0, 2])
    grid = np.geomspace(1e-3, 1e2, 4000)[:, None, None]
    absent = documents[:, None] - present
    values = (special.betaln(present + grid, absent + grid) - special.betaln(grid, grid)).sum(axis=(1, 2))
    best = grid[np.argmax(values + np.log(grid[:, 0, 0]) - grid[:, 0, 0])].item()
    assert choose_presence_prior(present, documents) == pytest.approx(best, rel=1e-2)
    assert choose_presence_prior(np.zeros((2, 3)), np.zeros(2)) == 1


def test_one_class_is_smoothed_evenly():
    counts = [[5.0, 3.0, 0.0]]
    for kind in KINDS:
        np.testing.assert_array_equal(choose_prior(counts, kind).alpha, choose_prior(counts, "symmetric").alpha)


def test_no_words_at_all_get_laplace():
    assert choose_prior(np.zeros((2, 3))).alpha.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("counts", "prior", "error", "message"),
    [
        ([[1, 2]], "best", ParameterError, "unexpected value for `prior`: 'best'"),
        ([[1, 2]], 0, ParameterError, "`prior` must be above 0, got 0"),
        ([1, 2], 1, ParameterError, r"expected counts of shape \(classes, words\), got \(2,\)"),
        ([[1, -2]], 1, DataError, "must be finite and not negative, got -2"),
    ],
)
def test_bad_input(counts, prior, error, message):
    with pytest.raises(error, match=message):
        choose_prior(counts, prior)


def test_evidence_needs_every_alpha():
    with pytest.raises(ParameterError, match="every α must be above 0"):
        log_evidence([[1, 2]], [1, 0])
