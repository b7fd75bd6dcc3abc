"""The verbs of a model: rows taken back and merged, missing values filled, samples, explanations, reports."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayeslearn import fit_hmm, load, scan
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import NoFitInfoError, ParameterError, UnknownStateError
from bayeslearn.hmm import forward_backward
from tests.hmm.models import KINDS, model, with_holes

FRAME = pd.DataFrame({
    "run": np.repeat([1, 2], 20),
    "x": np.tile(np.repeat([0.0, 6.0], 10), 2) + np.random.default_rng(0).normal(size=40),
    "mood": np.tile(["low"] * 10 + ["high"] * 10, 2),
})  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    return fit_hmm(FRAME, 2, id="run", emissions={"x": "gaussian", "mood": "categorical"})


### evidence adds


@pytest.mark.parametrize("kind", KINDS)
def test_updates_are_taken_back_and_merged(kind, tmp_path):
    rng = np.random.default_rng(1)
    start = model(kind, 2, rng)
    x, y, z = (with_holes(start.draw([5, 4], rng)[0], rng) for _ in range(3))
    base = start.update(x, lengths=[5, 4])
    a, b = base.update(y, lengths=[5, 4]), base.update(z, lengths=[5, 4])
    both = a + b
    assert both.total_weight == pytest.approx(6)  # the base counts once
    assert a.merge(b).statistics.isclose(both.statistics)
    assert (both - b).statistics.isclose(a.statistics, rtol=1e-9, atol=1e-9)
    assert both.remove(z, lengths=[5, 4]).statistics.isclose(a.statistics, rtol=1e-9, atol=1e-9)
    assert both.discount(0.5).total_weight == pytest.approx(3)
    a.save(tmp_path / "a.json")
    assert (load(tmp_path / "a.json") + b).statistics.isclose(both.statistics, rtol=1e-12)
    turned = both.reorder_states([1, 0])
    assert turned.states == both.states[::-1]
    again = turned.estimate(turned.prior, turned.statistics)
    np.testing.assert_allclose(again.transmat, both.transmat[::-1, ::-1], rtol=1e-9)
    np.testing.assert_allclose(turned.log_likelihood(x), both.log_likelihood(x), rtol=1e-9)
    assert (a.reorder_states([1, 0]) + b.reorder_states([1, 0])).total_weight == pytest.approx(6)


def test_priors_follow_their_states():
    prior = {"startprob": Dirichlet([3, 1]), "transmat": Dirichlet([[2, 1], [3, 4]]), "emissions": "m:1"}
    found = fit_hmm(["a", "b", "a", "c"], 2, prior=prior)
    assert found.prior.startprob.alpha.tolist() == [3, 1]
    turned = found.reorder_states([1, 0])
    assert turned.prior.startprob.alpha.tolist() == [1, 3]
    assert turned.prior.transmat.alpha.tolist() == [[4, 3], [1, 2]]
    again = turned.estimate(turned.prior, turned.statistics)
    np.testing.assert_allclose(again.startprob, turned.startprob, rtol=1e-12)
    with pytest.raises(ParameterError, match="each number once"):
        found.reorder_states([0, 0])


def test_sources_are_scored(tmp_path, fitted):
    FRAME.to_parquet(tmp_path / "rows.parquet")
    source = scan(tmp_path / "rows.parquet")
    np.testing.assert_allclose(fitted.log_likelihood(source, id="run"), fitted.log_likelihood(FRAME, id="run"))
    assert fitted.score(source, id="run") == pytest.approx(fitted.score(FRAME, id="run"), rel=1e-12)
    weighted = fitted.score(FRAME, id="run", sample_weight=[2, 1])
    assert weighted == pytest.approx(float(np.dot([2, 1], fitted.log_likelihood(FRAME, id="run"))))
    both = fitted.update(source, id="run")
    assert both.remove(source, id="run").statistics.isclose(fitted.statistics, rtol=1e-9, atol=1e-9)


### answers


def test_predictions(fitted):
    truth = np.where(FRAME["mood"] == "low", 0, 1)
    assert (fitted.predict(FRAME, id="run") == truth).mean() > 0.9
    assert (fitted.predict(FRAME, id="run", marginal=True) == truth).mean() > 0.9
    assert fitted.evaluate(FRAME, id="run", true_states=truth.tolist()).accuracy > 0.9
    assert fitted.predict_proba(FRAME, id="run").shape == (40, 2)


def test_missing_values_are_filled(fitted):
    holes = FRAME.copy()
    holes.loc[3, "x"], holes.loc[15, "mood"] = np.nan, None
    full = fitted.impute(holes, id="run")
    γ = fitted.predict_proba(holes, id="run")
    assert full.loc[3, "x"] == pytest.approx(float(γ[3] @ fitted.emissions.parameters[0].mean))
    assert full.loc[15, "mood"] == "high"
    pd.testing.assert_frame_equal(full.drop(index=[3, 15]), holes.drop(index=[3, 15]))
    drawn = [fitted.impute(holes, id="run", method="sample", random_state=i).loc[3, "x"] for i in range(200)]
    assert np.mean(drawn) == pytest.approx(full.loc[3, "x"], abs=0.4)
    with pytest.raises(ParameterError, match="method"):
        fitted.impute(holes, id="run", method="guess")


@pytest.mark.parametrize("kind", KINDS)
def test_filled_values_are_those_of_enumeration(kind):
    """The expected value of a missing observation is that under the posterior of the states."""
    rng = np.random.default_rng(2)
    hmm = model(kind, 3, rng)
    x, _ = hmm.draw(6, rng)
    x = x.astype(object) if kind == "categorical" else x.astype(float)
    x[2] = None if kind == "categorical" else np.nan
    γ, full = hmm.predict_proba(x)[2], hmm.impute(x)
    if kind == "categorical":
        assert full[2] == hmm.emissions.variable.states[int((γ @ hmm.emissions.theta).argmax())]
    elif kind == "poisson":
        assert full[2] == pytest.approx(float(γ @ hmm.emissions.rate))
    elif kind == "mixture":
        means = (hmm.emissions.parts.mean.reshape(3, 2, 2) * hmm.emissions.mixing_weights[..., None]).sum(axis=1)
        np.testing.assert_allclose(full[2], γ @ means)
    else:
        np.testing.assert_allclose(full[2], γ @ hmm.emissions.mean)
    pieces = hmm.impute([x[:3], x[3:]])
    assert len(pieces) == 2
    assert len(pieces[0]) == 3


def test_paths_are_drawn_from_their_posterior(fitted):
    from bayeslearn.hmm.generation import posterior_path

    hidden = [[np.nan, None]] * 5 + [[6.0, None]]
    data = fitted.sequences(hidden)
    rng = np.random.default_rng(0)
    share = np.mean([posterior_path(fitted, data, rng) for _ in range(2000)], axis=0)
    np.testing.assert_allclose(share, fitted.predict_proba(hidden)[:, 1], atol=0.05)


def test_samples_are_tables(fitted):
    table, states = fitted.sample(30, random_state=0, return_states=True)
    assert list(table.columns) == ["x", "mood"]
    assert len(states) == table.n_rows == 30
    several = fitted.sample(lengths=[3, 4], random_state=0)
    assert several.column("sequence").tolist() == [0] * 3 + [1] * 4
    assert fitted.sample(5, random_state=1).to_frame().equals(fitted.sample(5, random_state=1).to_frame())


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_add_up_to_the_odds(kind):
    rng = np.random.default_rng(3)
    hmm = model(kind, 3, rng)
    x = with_holes(hmm.draw(6, rng)[0], rng)
    p = hmm.predict_proba(x)
    for t in range(6):
        why = hmm.explain(x, t)
        first, second = np.sort(p[t])[::-1][:2]
        assert why.log_odds == pytest.approx(np.log(first / second), rel=1e-9, abs=1e-9)
        assert why.probability == pytest.approx(first)
        assert len(why.to_frame()) == len(why.contributions)
    with pytest.raises(UnknownStateError, match="no state 'far'"):
        hmm.explain(x, 0, state="far")
    with pytest.raises(ParameterError, match="no position 6"):
        hmm.explain(x, 6)
    before, after = forward_backward.around(hmm.chain, hmm.emissions.log_prob(hmm.sequences(x).cells), 5)
    assert after.tolist() == [0, 0, 0]
    assert len(before) == 3


### results


def test_results_show_their_numbers(fitted):
    info = fitted.fit_info
    assert info.n_sequences == 2
    assert info.n_rows == 40
    assert len(info.starts) == 5
    assert info.to_dict()["states"][0]["transmat"].keys() == {"0", "1"}
    path, posterior = fitted.decode(FRAME, id="run"), fitted.posterior(FRAME, id="run")
    for result in (fitted, info, path, posterior, fitted.explain(FRAME[["x", "mood"]][:20], 9)):
        assert "<td" in result._repr_html_()
        assert result.to_dict()
        assert len(repr(result)) < 120
        assert result.summary() == str(result)
    assert list(path.to_frame().columns) == ["sequence", "state"]
    assert path.to_frame()["sequence"].tolist() == FRAME["run"].tolist()
    assert list(posterior.to_frame().columns) == ["sequence", "P(state=0)", "P(state=1)"]
    assert fitted.to_frame().shape[0] == 2
    assert path.split()[1] == path.states[:20]
    for drawn in (fitted.plot(), fitted.plot(FRAME, id="run"), path.plot(), posterior.plot(), info.plot()):
        assert drawn.axes
    with pytest.raises(NoFitInfoError, match="no fit_info"):
        _ = fitted.update(FRAME, id="run").fit_info
