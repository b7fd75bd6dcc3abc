"""The laws of learning: updates chain, evidence chains, predictions agree with evidence, draws agree with both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ParameterError, ShapeError
from tests.laws.strategies import KINDS, LAWS, parts, samples, statistics, weighted

CONJUGATE = [kind for kind in KINDS if kind.is_conjugate]
every_kind = pytest.mark.parametrize("kind", CONJUGATE, ids=str)
any_data = given(data=st.data())
DRAWS = 20_000


def all_but(*names):
    return pytest.mark.parametrize("kind", [k for k in CONJUGATE if k.name not in names], ids=str)


INPUTS = np.array([[0.3, -1.2]])  # where the regression is asked


def assert_same(a, b, *, rtol=1e-9, atol=1e-7):
    for one, other in zip(parts(a), parts(b), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def flat(parameters):
    """Parameters as one list of arrays, whatever their kind."""
    return list(parameters) if isinstance(parameters, tuple) else [parameters]


def row_shape(kind, k):
    """The shape that `of` wants for k rows of parameters."""
    one = {"categorical": (3,), "finite": (3,), "linear": (2,)}
    return (k, *one.get(kind.name, (2,) if hasattr(kind.family, "covariance") else ()))


def predicted(kind, posterior, n, rng):
    """`n` predicted cases, and the mean they should have."""
    predictive = kind.family.predictive(posterior)
    if kind.name == "linear":
        return predictive.draw(np.repeat(INPUTS, n, axis=0), rng), predictive.mean(INPUTS)[0]
    draws = predictive.draw(n, rng)
    return (draws[:, None] == np.arange(3) if kind.name in {"categorical", "finite"} else draws), predictive.mean()


### updating


@every_kind
@LAWS
@any_data
def test_nothing_learned_from_nothing(kind, data):
    assert_same(kind.family.update(kind.prior, kind.family.zero()), kind.prior)
    np.testing.assert_allclose(kind.family.log_evidence(kind.prior, kind.family.zero()), 0.0, atol=1e-12)


@every_kind
@LAWS
@any_data
def test_yesterday_s_posterior_is_today_s_prior(kind, data):
    a, b = data.draw(statistics(kind)), data.draw(statistics(kind))
    family = kind.family
    assert_same(family.update(family.update(kind.prior, a), b), family.update(kind.prior, a + b))


@every_kind
@LAWS
@any_data
def test_evidence_follows_the_chain_rule(kind, data):
    a, b = data.draw(statistics(kind)), data.draw(statistics(kind))
    family = kind.family
    stepwise = family.log_evidence(kind.prior, a) + family.log_evidence(family.update(kind.prior, a), b)
    np.testing.assert_allclose(stepwise, family.log_evidence(kind.prior, a + b), rtol=1e-9, atol=1e-8)


@every_kind
@LAWS
@any_data
def test_the_evidence_of_one_case_is_its_predictive_probability(kind, data):
    x = data.draw(samples(kind, min_size=1, max_size=1))
    before = kind.family.update(kind.prior, data.draw(statistics(kind)))
    evidence = kind.family.log_evidence(before, kind.family.collect(x))
    np.testing.assert_allclose(kind.family.predictive(before).log_prob(x), [evidence], rtol=1e-9, atol=1e-9)


@all_but("tied")
@LAWS
@any_data
def test_rows_do_not_see_each_other(kind, data):
    x, w = data.draw(weighted(kind, min_size=1))
    share = np.stack([w, w[::-1], 0 * w], axis=1)
    together = kind.family.collect(x, sample_weight=share)
    evidence = kind.family.log_evidence(kind.prior, together)
    posterior = kind.family.update(kind.prior, together)
    log_p = kind.family.predictive(posterior).log_prob(x)
    assert log_p.shape == (len(x), 3)
    for k in range(3):
        alone = kind.family.collect(x, sample_weight=share[:, k])
        np.testing.assert_allclose(evidence[k], kind.family.log_evidence(kind.prior, alone), rtol=1e-9, atol=1e-8)
        by_itself = kind.family.predictive(kind.family.update(kind.prior, alone))
        np.testing.assert_allclose(log_p[:, k], by_itself.log_prob(x), rtol=1e-9, atol=1e-9)


@every_kind
def test_fit_is_collect_and_update(kind):
    x = kind.cases([kind.missing] * 3)
    posterior = kind.family.fit(x, prior=kind.prior, groups=[0, 1, 1], n_groups=2)
    assert_same(posterior, kind.family.update(kind.prior, kind.family.zero((2,))))


### likelihood


@every_kind
@LAWS
@any_data
def test_groups_pick_the_row_of_each_case(kind, data):
    x = data.draw(samples(kind, min_size=1))
    groups = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=len(x), max_size=len(x))))
    rows = [np.stack([p, p]) for p in flat(kind.parameters)]
    if kind.name == "tied":
        rows[1] = flat(kind.parameters)[1]
    parameters = tuple(rows) if isinstance(kind.parameters, tuple) else rows[0]
    all_rows = kind.family.log_prob(parameters, x)
    alone = kind.family.log_prob(kind.parameters, x)
    assert all_rows.shape == (len(x), 2)
    assert alone.shape == (len(x),)
    np.testing.assert_allclose(all_rows, np.stack([alone, alone], axis=1), rtol=1e-12)
    named = kind.family.log_prob(parameters, x, groups=groups)
    np.testing.assert_allclose(named, np.where(groups < 0, 0.0, alone), rtol=1e-12, atol=1e-12)


@every_kind
def test_a_missing_case_has_log_probability_zero(kind):
    x = kind.cases([kind.missing])
    np.testing.assert_allclose(kind.family.log_prob(kind.parameters, x), [0.0], atol=1e-12)
    np.testing.assert_allclose(kind.family.predictive(kind.prior).log_prob(x), [0.0], atol=1e-12)


@every_kind
def test_groups_need_rows_of_parameters(kind):
    x = kind.cases([kind.missing])
    with pytest.raises(ShapeError, match="rows have 0 axes"):
        kind.family.log_prob(kind.parameters, x, groups=[0])


### estimates, draws and intervals


@every_kind
def test_an_estimate_is_a_mean_a_mode_or_a_draw(kind):
    family = kind.family
    for how in ("mean", "mode", "draw"):
        shapes = [
            np.shape(p) for p in flat(family.estimate(kind.prior.of(row_shape(kind, 4)), how=how, random_state=1))
        ]
        assert all(shape[:1] == (4,) for shape in shapes) or kind.name in {"tied", "finite"}
    with pytest.raises(ParameterError, match="unexpected value for `how`: 'median'"):
        family.estimate(kind.prior, how="median")


@every_kind
def test_the_same_seed_draws_the_same(kind):
    family = kind.family
    for draw in (
        lambda seed: flat(kind.prior.draw(seed)),
        lambda seed: [family.predictive(kind.prior).draw(INPUTS if kind.name == "linear" else 5, seed)],
        lambda seed: [family.draw(kind.parameters, INPUTS if kind.name == "linear" else 5, seed)],
    ):
        for one, other in zip(draw(3), draw(np.random.default_rng(3)), strict=True):
            np.testing.assert_array_equal(one, other)


@every_kind
def test_predictive_draws_have_the_predictive_mean(kind):
    draws, mean = predicted(kind, kind.prior, DRAWS, np.random.default_rng(4))
    error = draws.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * error).all()


@pytest.mark.thorough
@all_but("finite")
def test_prior_draws_have_the_mean_of_the_prior(kind):
    rng = np.random.default_rng(5)
    prior = kind.prior.of(row_shape(kind, DRAWS // 5))
    for draws, mean in zip(flat(prior.draw(rng)), flat(kind.prior.mean()), strict=True):
        assert (np.abs(draws.mean(axis=0) - mean) < 5 * draws.std(axis=0) / np.sqrt(len(draws))).all()


@pytest.mark.thorough
@all_but("finite")
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_hold_their_share_of_the_draws(kind, level):
    draws = flat(kind.prior.of(row_shape(kind, DRAWS // 5)).draw(np.random.default_rng(6)))
    bounds = (flat(bound) for bound in kind.prior.interval(level))
    for values, low, high in zip(draws, *bounds, strict=True):
        seen = np.diagonal(values, axis1=-2, axis2=-1) if values.ndim > np.ndim(low) + 1 else values
        inside = (low <= seen) & (seen <= high)
        assert (np.abs(inside.mean(axis=0) - level) < 5 * np.sqrt(level * (1 - level) / len(inside))).all()


@all_but("categorical", "bernoulli", "finite")
def test_predictive_intervals_hold_their_share_of_the_cases(kind):
    predictive = kind.family.predictive(kind.prior)
    draws, _ = predicted(kind, kind.prior, DRAWS, np.random.default_rng(7))
    low, high = predictive.interval(INPUTS, 0.9) if kind.name == "linear" else predictive.interval(0.9)
    inside = ((low <= draws) & (draws <= high)).mean(axis=0)
    if kind.name == "poisson":  # whole numbers: at least the level
        assert inside > 0.9 - 5 * np.sqrt(0.09 / DRAWS)
    else:
        assert (np.abs(inside - 0.9) < 5 * np.sqrt(0.09 / DRAWS)).all()


@all_but("finite")
def test_the_posterior_tends_to_the_truth(kind):
    rng = np.random.default_rng(8)
    if kind.name == "linear":
        X = rng.normal(size=(DRAWS, 2))
        x = kind.family.cases(X, kind.family.draw(kind.parameters, X, rng))
    else:
        x = kind.family.draw(kind.parameters, DRAWS, rng)
    learned = kind.family.estimate(kind.family.fit(x, prior=kind.prior))
    for value, truth in zip(flat(learned), flat(kind.parameters), strict=True):
        np.testing.assert_allclose(value, truth, rtol=0.05, atol=0.05)


@every_kind
def test_a_prior_knows_its_shape(kind):
    with pytest.raises(ShapeError, match="does not fit parameters of shape"):
        kind.prior.of(row_shape(kind, 2)).of(row_shape(kind, 3))


@every_kind
def test_an_interval_has_a_level(kind):
    with pytest.raises(ParameterError, match="`level` must be below 1, got 1"):
        kind.prior.interval(1.0)


### Bayes' theorem


@all_but("finite")
@LAWS
@given(shift=st.floats(-3, 3), factor=st.floats(0.2, 5))
def test_bayes_theorem_holds_pointwise(kind, shift, factor):
    """ln p(θ) + ln p(x|θ) = ln p(x) + ln p(θ|x), for any θ."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(6, 2))
    x = kind.family.draw(kind.parameters, X if kind.name == "linear" else 6, rng)
    x = kind.family.cases(X, x) if kind.name == "linear" else x
    data = kind.family.collect(x)
    posterior = kind.family.update(kind.prior, data)
    θ = kind.parameters
    if isinstance(θ, tuple):
        θ = (θ[0] + shift, *(p * factor for p in θ[1:]))
    inner = (θ[0], np.atleast_1d(θ[1])) if kind.name == "spherical" else θ  # σ² shared along the columns
    left = np.sum(kind.prior.log_pdf(inner)) + kind.family.log_prob(θ, x).sum()
    right = kind.family.log_evidence(kind.prior, data) + np.sum(posterior.log_pdf(inner))
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-9)
