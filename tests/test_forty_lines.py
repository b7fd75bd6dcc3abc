"""The forty-line test: a distribution that is defined here is known to every learner, with no other change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

from bayeslearn import load, scan
from bayeslearn.distributions import Gamma
from bayeslearn.distributions.distribution import Distribution, register
from bayeslearn.distributions.moments import real_cells
from bayeslearn.distributions.row_assignment import paired
from bayeslearn.distributions.sufficient_statistics import Statistics
from bayeslearn.errors import FormatError
from bayeslearn.mixture import find_classes, fit_mixture
from bayeslearn.mixture.reporting import describe
from bayeslearn.naive_bayes import NaiveBayes, NaiveBayesClassifier
from bayeslearn.sequence import learn


@dataclass(frozen=True, eq=False)
class Durations(Statistics):
    """How many, and their sum."""

    n: Any
    total: Any


@register("exponential")
@dataclass(frozen=True)
class Exponential(Distribution[Durations, Gamma]):
    """Waiting times: p(x) = λ e^(−λx), λ ~ Gamma(a, b)."""

    prior_type: ClassVar[Any] = Gamma

    def cells(self, x):
        return real_cells(x)

    def gather(self, cells, to):
        seen = ~np.isnan(cells)
        return Durations(to.only(seen).sum(), to.only(seen).sum(np.where(seen, cells, 0.0)))

    def zero(self, rows=()):
        return Durations(np.zeros(rows), np.zeros(rows))

    def update(self, prior, statistics):
        before = prior.of(statistics.n.shape)
        return Gamma(before.shape + statistics.n, before.rate + statistics.total)

    def log_evidence(self, prior, statistics):
        a, b = (prior.of(statistics.n.shape), self.update(prior, statistics))
        return a.shape * np.log(a.rate) - gammaln(a.shape) + gammaln(b.shape) - b.shape * np.log(b.rate)

    def log_prob(self, parameters, x, *, groups=None):
        x, rate = paired(real_cells(x), groups, np.asarray(parameters))
        return np.where(np.isnan(x), 0.0, np.log(rate) - rate * x)

    def predictive(self, posterior):
        raise NotImplementedError

    def draw(self, parameters, n, rng=None):
        return np.random.default_rng(rng).exponential(1 / np.asarray(parameters), (n, len(parameters)))

    def like(self, parameters, sample_size, *, center=1.0, spread=1.0):
        rate = np.asarray(parameters)
        return Gamma(np.full(rate.shape, sample_size), sample_size / rate)


RNG = np.random.default_rng(0)
SLOW, FAST = RNG.exponential(10.0, 300), RNG.exponential(0.5, 300)
ROWS = {"wait": np.concatenate([SLOW, FAST]), "who": ["slow"] * 300 + ["fast"] * 300}


def test_naive_bayes():
    model = NaiveBayes.learn(ROWS, "who", families={"wait": "exponential"}, prior=None, class_prior=None)
    rate = model.posterior("wait").mean()
    np.testing.assert_allclose(rate, [1 / FAST.mean(), 1 / SLOW.mean()], rtol=1e-12)
    assert model.predict({"wait": [0.1, 30.0]}).tolist() == ["fast", "slow"]
    pooled = NaiveBayes.learn(ROWS, "who", families={"wait": "exponential"}).posterior("wait").mean()
    mean = ROWS["wait"].mean()
    np.testing.assert_allclose(pooled, [301 / (FAST.sum() + mean), 301 / (SLOW.sum() + mean)], rtol=1e-12)
    assert NaiveBayes.learn(ROWS, "who", families={"wait": "exponential"}, prior="evidence").cases == 600


def test_estimator():
    X = ROWS["wait"][:, None]
    model = NaiveBayesClassifier(families={"x0": "exponential"}).fit(X, ROWS["who"])
    assert model.predict([[0.1], [30.0]]).tolist() == ["fast", "slow"]


def test_mixture():
    found = fit_mixture(ROWS["wait"], 2, family=Exponential(), rng=0, restarts=3).model
    assert sorted(found["x0"]) == pytest.approx([0.1, 2.0], rel=0.3)
    assert np.isfinite(found.log_evidence(ROWS["wait"]))
    classes = find_classes({"wait": ROWS["wait"]}, 2, families={"wait": "exponential"}, rng=0).model
    reports = describe(classes)
    assert [r.differences[0].column for r in reports] == ["wait", "wait"]
    assert all(r.differences[0].divergence > 0.1 for r in reports)
    drawn, _ = classes.sample(50, 0)
    assert (drawn[0] > 0).all()


def saved(model, path):
    """The model, written to a file and read again."""
    model.save(path)
    return load(path)


def test_model_files(tmp_path):
    naive = NaiveBayes.learn(ROWS, "who", families={"wait": "exponential"})
    x = {"wait": [0.1, 3.0, 30.0]}
    assert (saved(naive, tmp_path / "naive.json").predict_proba(x) == naive.predict_proba(x)).all()
    mixture = find_classes({"wait": ROWS["wait"]}, 2, families={"wait": "exponential"}, rng=0).model
    assert (saved(mixture, tmp_path / "mixture.json").responsibilities(x) == mixture.responsibilities(x)).all()
    chain = learn(ROWS["wait"], 2, emissions="exponential", rng=0).model
    again = saved(chain, tmp_path / "chain.json")
    assert again.log_likelihood(ROWS["wait"]) == chain.log_likelihood(ROWS["wait"])
    more = again.update(ROWS["wait"])
    assert more.statistics["start"].n.sum() == 2


@pytest.mark.parametrize("parameters", [[[-1.0, 2.0]], [[1.0]], [[1.0, 2.0], [1.0, 2.0]], ["a"], [[1.0, None]]])
def test_wrong_parameters_in_files(tmp_path, parameters):
    learn(ROWS["wait"], 2, emissions="exponential", rng=0).model.save(tmp_path / "chain.json")
    document = json.loads((tmp_path / "chain.json").read_text())
    document["emissions"]["parameters"] = parameters
    (tmp_path / "chain.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=r"holds no hidden Markov model: .*parameters"):
        load(tmp_path / "chain.json")


def test_hidden_markov_model(tmp_path):
    x = np.concatenate([RNG.exponential(scale, 40) for scale in (10.0, 0.3) * 6])
    found = learn(x, 2, emissions="exponential", rng=0, restarts=3).model
    assert sorted(found.emissions.parameters) == pytest.approx([0.1, 3.3], rel=0.4)
    path = found.decode(x).states
    assert np.mean([path[i] == path[0] for i in range(40)]) > 0.9
    rows = {"run": np.repeat([1, 2, 3, 4], 120), "wait": x}
    for part, stop in enumerate((240, 480)):
        pd.DataFrame(rows).iloc[stop - 240 : stop].to_parquet(tmp_path / f"{part}.parquet")
    source, options = scan(tmp_path / "*.parquet"), {"emissions": "exponential", "rng": 0, "restarts": 3}
    folded = learn(source, 2, id="run", columns=["wait"], **options)
    assert sorted(folded.model.emissions.parameters) == pytest.approx([0.1, 3.3], rel=0.4)


def test_source(tmp_path):
    pd.DataFrame(ROWS).iloc[::2].to_parquet(tmp_path / "1.parquet")
    pd.DataFrame(ROWS).iloc[1::2].to_parquet(tmp_path / "2.parquet")
    whole = NaiveBayes.learn(ROWS, "who", families={"wait": "exponential"})
    folded = NaiveBayes.learn(scan(tmp_path / "*.parquet"), "who", families={"wait": "exponential"})
    np.testing.assert_allclose(folded.posterior("wait").mean(), whole.posterior("wait").mean(), rtol=1e-12)
    classes = find_classes(scan(tmp_path / "*.parquet"), 2, columns=["wait"], families={"wait": "exponential"}, rng=0)
    assert sorted(classes.model["wait"]) == pytest.approx([0.1, 2.0], rel=0.3)
