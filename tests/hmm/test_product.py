"""States that emit several columns of different kinds: against columns by themselves, with missing cells, in files."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from bayeslearn import HMMEstimator, load, scan
from bayeslearn.components import Component
from bayeslearn.distributions import Categorical, MultivariateNormal, Normal, Poisson
from bayeslearn.errors import FormatError, MismatchError, ParameterError, ShapeError, UnknownStateError
from bayeslearn.hmm import (
    CategoricalEmissions,
    GaussianEmissions,
    HiddenMarkovModel,
    PoissonEmissions,
    ProductEmissions,
    fit_hmm,
)
from bayeslearn.tables import DiscreteVariable

MOOD = DiscreteVariable("mood", ("bad", "good"))
THETA, MEAN, VAR, RATE = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([10.0, 20.0]), np.array([1.0, 4.0]), [9.0, 2.0]
KINDS = {"mood": "categorical", "heat": "gaussian", "calls": "poisson"}
STAY = [[0.95, 0.05], [0.1, 0.9]]


def product():
    """Emissions of a word, a number and a count."""
    columns = (Component((MOOD,), Categorical(2)), Component.of(Normal(), "heat"), Component.of(Poisson(), "calls"))
    return ProductEmissions(columns, (THETA, (MEAN, VAR), RATE))


def alone():
    """The same columns, each by itself."""
    return (
        CategoricalEmissions(MOOD, THETA), GaussianEmissions(("heat",), MEAN[:, None], VAR[:, None]),
        PoissonEmissions("calls", RATE),
    )  # fmt: skip


def rows(n=400, seed=0):
    """A frame whose states change every twenty rows, with missing cells, and the states."""
    rng = np.random.default_rng(seed)
    states = (np.arange(n) // 20) % 2
    frame = pd.DataFrame({
        "run": np.repeat(np.arange(4), n // 4),
        "mood": np.where(rng.random(n) < THETA[states, 1], "good", "bad"),
        "heat": rng.normal(MEAN[states], np.sqrt(VAR)[states]),
        "calls": rng.poisson(np.array(RATE)[states]).astype(float),
    })  # fmt: skip
    frame.loc[::7, "mood"], frame.loc[::5, "heat"], frame.loc[::11, "calls"] = None, np.nan, np.nan
    return frame, states


def agreement(found, states):
    """The share of rows in their own state, under the better of both names."""
    same = np.mean(found == states)
    return max(same, 1 - same)


def test_log_likelihoods_add_and_missing_cells_add_nothing():
    frame, _ = rows()
    x = frame[list(KINDS)].to_numpy(object)
    expected = sum(e.log_prob(e.cells(x[:, j])) for j, e in enumerate(alone()))
    np.testing.assert_allclose(product().log_prob(product().cells(x)), expected, rtol=1e-12)
    nothing = product().cells([[None, None, None]])
    np.testing.assert_array_equal(product().log_prob(nothing), [[0.0, 0.0]])


def test_statistics_are_those_of_each_column():
    frame, _ = rows()
    x = frame[list(KINDS)].to_numpy(object)
    gamma = np.random.default_rng(1).dirichlet([1, 1], len(x))
    found = product().gather(product().cells(x), gamma)
    for j, emissions in enumerate(alone()):
        own = emissions.gather(emissions.cells(x[:, j]), gamma)
        for a, b in zip(found[emissions.feature_names[0]].arrays(), own.arrays(), strict=True):
            np.testing.assert_allclose(a, b.reshape(a.shape), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("emissions", ["auto", "product", KINDS])
def test_learned_from_a_frame(emissions):
    frame, states = rows()
    found = fit_hmm(frame, 2, emissions=emissions, id="run")
    climbed = [step.objective for step in found.fit_info.history]
    assert all(b >= a - 1e-9 for a, b in pairwise(climbed))
    assert found.emissions.feature_names == tuple(KINDS)
    assert agreement(found.decode(frame, id="run").states, states) > 0.98


def test_learned_from_a_source(tmp_path):
    frame, _ = rows()
    frame.to_parquet(tmp_path / "rows.parquet")
    whole = fit_hmm(frame, 2, emissions=KINDS, id="run")
    folded = fit_hmm(scan(tmp_path / "rows.parquet"), 2, emissions=KINDS, id="run")
    order = np.argsort(folded.emissions.parameters[1][0])
    for a, b in zip(whole.emissions.parameters, folded.emissions.reorder_states(order).parameters, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-3)


def test_mixtures_in_each_state_updates_and_draws():
    frame, states = rows()
    mixed = fit_hmm(frame, 2, emissions=KINDS, id="run", n_mixtures=2)
    assert agreement(mixed.decode(frame, id="run").states, states) > 0.95
    model = fit_hmm(frame, 2, emissions=KINDS, id="run")
    more = model.update(frame, id="run")
    assert more.statistics["startprob"].n.sum() == 8
    assert (model + model).statistics["startprob"].n.sum() == 8
    drawn, _ = model.draw(50, random_state=0)
    assert set(drawn[:, 0]) == {"bad", "good"}
    assert set(model.sample(50, random_state=0).column("mood")) == {"bad", "good"}
    numbers = ProductEmissions((Component.of(Normal(), "heat"), Component.of(Poisson(), "calls")), ((MEAN, VAR), RATE))
    assert numbers.draw(np.array([0, 1, 1]), np.random.default_rng(0)).dtype == np.float64


def test_estimator_and_filter():
    frame, states = rows()
    found = HMMEstimator(2, emissions=KINDS).fit(frame[list(KINDS)], lengths=[100] * 4)
    assert found.model_.emissions.feature_names == tuple(KINDS)
    assert agreement(found.predict(frame[list(KINDS)], lengths=[100] * 4), states) > 0.98
    live = found.model_.filter()
    assert max(live.update(("good", 20.0, 3)).values()) > 0.99
    assert sum(live.update((None, None, None)).values()) == pytest.approx(1.0, rel=1e-12)
    assert set(found.model_.to_network(2).schema.names) == {"state 0", "state 1"}


def test_priors_by_word_and_by_column():
    frame, _ = rows()
    counted = fit_hmm(frame, 2, emissions=KINDS, id="run", prior=None)
    assert counted.prior.emissions.parts[0].of((2, 2)).alpha.sum() == 0
    pooled = fit_hmm(frame, 2, emissions=KINDS, id="run", prior={"emissions": {"mood": "m:4", "heat": "pooled:2"}})
    assert pooled.prior.emissions.parts[0].of((2, 2)).alpha.sum() == 8


@pytest.mark.parametrize("mixture", [1, 2])
def test_files(tmp_path, mixture):
    frame, _ = rows()
    model = fit_hmm(frame, 2, emissions=KINDS, id="run", n_mixtures=mixture, max_iter=20, tol=10)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.log_likelihood(frame, id="run"), model.log_likelihood(frame, id="run"))
    assert again.statistics.isclose(model.statistics, rtol=0, atol=0)
    assert again.update(frame, id="run").statistics["startprob"].n.sum() == 8


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda e: e.update(columns=[]), "emit no column"),
        (lambda e: e["columns"][0].update(family="none"), "there is no distribution"),
        (lambda e: e["columns"][1].update(parameters=[[1.0, 2.0]]), "parameters"),
        (lambda e: e.pop("columns"), "product emissions"),
    ],
)
def test_bad_files(tmp_path, change, match):
    HiddenMarkovModel(("a", "b"), [0.5, 0.5], STAY, product()).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    change(document["emissions"])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=match):
        load(tmp_path / "model.json")


def test_bad_arguments():
    frame, _ = rows(80)
    with pytest.raises(ParameterError, match="emissions"):
        fit_hmm(frame, 2, emissions={"mood": "categorical", "heat": "nonsense"}, id="run")
    with pytest.raises(ShapeError, match="3 columns"):
        product().cells([[1.0, 2.0]])
    with pytest.raises(UnknownStateError, match="gloomy"):
        product().cells([["gloomy", 1.0, 2.0]])
    with pytest.raises(ParameterError, match="one column each"):
        ProductEmissions((Component.of(MultivariateNormal(2), "a", "b"),), ((np.zeros((2, 2)), np.ones((2, 2, 2))),))
    with pytest.raises(ShapeError, match="a row for each state"):
        ProductEmissions((Component.of(Poisson(), "calls"),), ())
    other = ProductEmissions(
        (Component((MOOD,), Categorical(2)), Component.of(Normal(), "heat"), Component.of(Normal(), "calls")),
        (THETA, (MEAN, VAR), (MEAN, VAR)),
    )
    with pytest.raises(MismatchError, match="different kinds"):
        product().require_like(other)
