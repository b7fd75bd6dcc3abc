"""The forty-line test: a distribution that is defined here is known to every learner, with no other change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, xlogy

from bayeslearn import load, scan
from bayeslearn.distributions import distribution
from bayeslearn.distributions.distribution import Distribution, by_name, register, unregister
from bayeslearn.distributions.moments import real_cells
from bayeslearn.distributions.sufficient_statistics import Statistics, paired
from bayeslearn.errors import FormatError, ParameterError
from bayeslearn.hmm import HMMEstimator, fit_hmm
from bayeslearn.mixture import MixedTypeClusterer, fit_mixture
from bayeslearn.mixture.results import describe_clusters
from bayeslearn.model_values import PRIORS
from bayeslearn.naive_bayes import NaiveBayesClassifier, fit_naive_bayes
from tests.cli.asking import ask, result

### forty lines


@dataclass(frozen=True, eq=False)
class WaitStatistics(Statistics):
    n: Any
    total: Any


@dataclass(frozen=True, eq=False)
class WaitPrior:  # λ ~ Gamma(n, total), and the Lomax distribution of one more wait
    n: Any
    total: Any

    @classmethod
    def none(cls):
        return cls(np.zeros(()), np.zeros(()))

    def of(self, shape):
        return WaitPrior(np.broadcast_to(self.n, shape), np.broadcast_to(self.total, shape))

    def mean(self, otherwise=np.nan):
        return np.where(self.n > 0, self.n / np.where(self.n > 0, self.total, 1.0), otherwise)

    def log_cases(self, rate):
        return xlogy(self.n, rate) - self.total * rate

    def log_pdf(self, rate):
        return self.log_cases(rate) - np.log(rate) + self.n * np.log(self.total) - gammaln(self.n)

    def log_prob(self, x):
        x, a, b = paired(real_cells(x), None, self.n, self.total)
        return np.where(np.isnan(x), 0.0, np.log(a) + a * np.log(b) - (a + 1) * np.log(b + x))


@dataclass(frozen=True)
class Waits(Distribution[WaitStatistics, WaitPrior]):  # p(x) = λ e^(−λx)
    prior_type: ClassVar[Any] = WaitPrior

    def cells(self, x):
        return real_cells(x)

    def gather(self, cells, to):
        seen = ~np.isnan(cells)
        return WaitStatistics(to.only(seen).sum(), to.only(seen).sum(np.where(seen, cells, 0.0)))

    def zero(self, rows=()):
        return WaitStatistics(np.zeros(rows), np.zeros(rows))

    def update(self, prior, statistics):
        before = prior.of(statistics.n.shape)
        return WaitPrior(before.n + statistics.n, before.total + statistics.total)

    def log_evidence(self, prior, statistics):
        before, after = prior.of(statistics.n.shape), self.update(prior, statistics)
        return log_normalizer(after) - log_normalizer(before)

    def log_prob(self, parameters, x, *, groups=None):
        x, rate = paired(real_cells(x), groups, np.asarray(parameters))
        return np.where(np.isnan(x), 0.0, np.log(rate) - rate * x)

    def predictive(self, posterior):
        return posterior

    def draw(self, parameters, n, random_state=None):
        return np.random.default_rng(random_state).exponential(1 / np.asarray(parameters), (n, len(parameters)))

    def like(self, parameters, sample_size, *, center=1.0, spread=1.0):
        rate = np.asarray(parameters)
        return WaitPrior(np.full(rate.shape, sample_size), sample_size / rate)


def log_normalizer(prior):
    return gammaln(prior.n) - prior.n * np.log(prior.total)


### it is known


NAME = "waits"


@pytest.fixture(autouse=True)
def registered():
    """The distribution is known by its name, from the start to the end of each test."""
    register(NAME)(Waits)
    yield
    assert by_name(NAME) is Waits
    unregister(NAME)
    assert NAME not in distribution.names()
    assert WaitPrior not in PRIORS.values()


RNG = np.random.default_rng(0)
SLOW, FAST = RNG.exponential(10.0, 300), RNG.exponential(0.5, 300)
ROWS = {"wait": np.concatenate([SLOW, FAST]), "who": ["slow"] * 300 + ["fast"] * 300}
WAIT, FAMILIES = {"wait": ROWS["wait"]}, {"wait": NAME}
SPELLS = np.concatenate([RNG.exponential(scale, 40) for scale in (10.0, 0.3) * 6])


def saved(model, path):
    """The model, written to a file and read again."""
    model.save(path)
    return load(path)


def learned_by_name(**options):
    """A naive Bayes model of the waits."""
    return fit_naive_bayes(ROWS, "who", distributions=FAMILIES, **({"calibrate": False} | options))


### registration


def test_names_that_are_taken():
    register(NAME)(Waits)  # the same class may be defined once more
    other = type("Other", (Waits,), {})
    for name in (NAME, "exponential", "gaussian"):
        with pytest.raises(ParameterError, match=f"there is a distribution '{name}' already"):
            register(name)(other)
    for name in ("exponential", "nothing"):
        with pytest.raises(ParameterError, match=f"no distribution was registered under the name '{name}'"):
            unregister(name)
    assert by_name("exponential").__module__ == "bayeslearn.distributions.durations"
    assert PRIORS["waits prior"] is WaitPrior


def test_names_are_those_of_the_modules():
    for name in distribution.MODULES:
        assert by_name(name).name == name
        assert by_name(name).points_of_columns == (name in distribution.VECTOR_MODULES)
    assert distribution.column_names() == sorted({*distribution.COLUMN_MODULES, NAME})


### naive Bayes


def test_naive_bayes():
    rate = learned_by_name(prior=None, class_prior=None).posterior("wait").mean()
    np.testing.assert_allclose(rate, [1 / FAST.mean(), 1 / SLOW.mean()], rtol=1e-12)
    model = learned_by_name()
    mean = ROWS["wait"].mean()
    np.testing.assert_allclose(
        model.posterior("wait").mean(), [301 / (FAST.sum() + mean), 301 / (SLOW.sum() + mean)], rtol=1e-12
    )
    assert model.predict({"wait": [0.1, 30.0]}).tolist() == ["fast", "slow"]
    assert learned_by_name(prior="evidence").total_weight == 600


def test_parameters_integrated_out():
    model = learned_by_name(estimate="integrated")
    joint = model.posterior("wait").log_prob([3.0])[0] + np.log([0.5, 0.5])
    expected = np.exp(joint - np.logaddexp(*joint))
    np.testing.assert_allclose(model.predict_proba({"wait": [3.0]})[0], expected, rtol=1e-12)
    assert np.abs(expected - learned_by_name().predict_proba({"wait": [3.0]})[0]).max() > 1e-6


def test_explanation():
    why = learned_by_name().explain({"wait": [30.0]})
    rates = learned_by_name().posterior("wait").mean()
    (column, cell, weight), *_ = [part for part in why.row(0) if part[0] == "wait"]
    assert (column, cell) == ("wait", 30.0)
    assert weight == pytest.approx(np.log(rates[1] / rates[0]) - 30 * (rates[1] - rates[0]), rel=1e-12)
    assert "wait = 30" in why.summary()


def test_classifier():
    X = ROWS["wait"][:, None]
    model = NaiveBayesClassifier(distributions={"x0": NAME}, calibrate=False).fit(X, ROWS["who"])
    assert model.predict([[0.1], [30.0]]).tolist() == ["fast", "slow"]
    halves = NaiveBayesClassifier(distributions={"x0": NAME})
    for part in (slice(None, None, 2), slice(1, None, 2)):
        halves.partial_fit(X[part], ROWS["who"][part], classes=["fast", "slow"])
    np.testing.assert_allclose(halves.predict_proba(X), model.predict_proba(X), rtol=1e-9)


### mixtures


def test_mixture():
    found = fit_mixture(ROWS["wait"], 2, distributions=Waits(), random_state=0, n_init=4)
    assert sorted(found["x0"]) == pytest.approx([0.1, 2.0], rel=0.3)
    assert np.isfinite(found.log_marginal_likelihood(ROWS["wait"]))
    by_its_name = fit_mixture(ROWS["wait"], 2, distributions=NAME, random_state=0, n_init=4)
    np.testing.assert_array_equal(by_its_name["x0"], found["x0"])
    drawn, _ = fit_mixture(WAIT, 2, distributions=FAMILIES, random_state=0).draw(50, 0)
    assert (drawn[0] > 0).all()


def test_descriptions_of_clusters():
    model = fit_mixture(WAIT, 2, distributions=FAMILIES, random_state=0)
    reports = describe_clusters(model)
    assert [r.differences[0].column for r in reports] == ["wait", "wait"]
    assert all(r.differences[0].divergence > 0.1 for r in reports)
    assert [r.differences[0].here for r in reports] == [f"{rate:.4g}" for rate in model["wait"]]


def test_clusterer():
    found = MixedTypeClusterer(2, distributions=FAMILIES, random_state=0).fit(pd.DataFrame(WAIT))
    assert found.predict(pd.DataFrame({"wait": [0.1, 30.0]})).tolist() in ([0, 1], [1, 0])
    assert len(found.report_) == 2


### hidden Markov models


def test_hidden_markov_model():
    model = fit_hmm(SPELLS, 2, emissions=NAME, n_init=3)
    assert sorted(model.emissions.parameters) == pytest.approx([0.1, 3.3], rel=0.4)
    assert model.emissions.describe(0) == f"{model.emissions.parameters[0]:.4g}"
    path = model.decode(SPELLS).states
    assert np.mean([path[i] == path[0] for i in range(40)]) > 0.9
    assert (model.draw(20, 0)[0] > 0).all()
    assert (model.sample(20, random_state=0).values_of("x0") > 0).all()
    assert np.isfinite(model.impute(np.where(np.arange(40) % 5, SPELLS[:40], np.nan))).all()


def test_estimator_of_hidden_markov_models():
    found = HMMEstimator(2, emissions=NAME, n_init=3).fit(SPELLS[:, None])
    assert (found.predict(SPELLS[:, None]) == found.model_.decode(SPELLS).codes).all()
    assert np.isfinite(found.score(SPELLS[:, None]))


### sources


@pytest.fixture
def source(tmp_path):
    """The waits in two files."""
    for part in (0, 1):
        pd.DataFrame(ROWS).iloc[part::2].to_parquet(tmp_path / f"{part}.parquet")
    return scan(tmp_path / "*.parquet")


def test_source(source):
    whole, folded = learned_by_name(), fit_naive_bayes(source, "who", distributions=FAMILIES, calibrate=False)
    np.testing.assert_allclose(folded.posterior("wait").mean(), whole.posterior("wait").mean(), rtol=1e-12)
    classes = fit_mixture(source, 2, columns=["wait"], distributions=FAMILIES, random_state=0)
    assert sorted(classes["wait"]) == pytest.approx([0.1, 2.0], rel=0.3)


def test_sequences_of_a_source(tmp_path):
    rows = pd.DataFrame({"run": np.repeat([1, 2, 3, 4], 120), "wait": SPELLS})
    for part in (0, 1):
        rows.iloc[part * 240 : (part + 1) * 240].to_parquet(tmp_path / f"{part}.parquet")
    folded = fit_hmm(scan(tmp_path / "*.parquet"), 2, id="run", columns=["wait"], emissions=NAME, n_init=3)
    assert sorted(folded.emissions.parameters) == pytest.approx([0.1, 3.3], rel=0.4)


### model files


@pytest.mark.parametrize("ending", ["json", "model"])
def test_model_files(tmp_path, ending):
    x = {"wait": [0.1, 3.0, 30.0]}
    for prior in ("pooled:1", "none", WaitPrior(np.array(2.0), np.array(3.0))):
        naive = learned_by_name(prior=prior)
        again = saved(naive, tmp_path / f"naive.{ending}")
        assert (again.predict_proba(x) == naive.predict_proba(x)).all()
    mixture = fit_mixture(WAIT, 2, distributions=FAMILIES, random_state=0)
    again = saved(mixture, tmp_path / f"mixture.{ending}")
    assert (again.predict_proba(x) == mixture.predict_proba(x)).all()
    chain = fit_hmm(SPELLS, 2, emissions=NAME)
    again = saved(chain, tmp_path / f"chain.{ending}")
    assert again.log_likelihood(SPELLS) == chain.log_likelihood(SPELLS)
    assert again.update(SPELLS).statistics["startprob"].n.sum() == 2


@pytest.mark.parametrize("parameters", [[[-1.0, 2.0]], [[1.0]], [[1.0, 2.0], [1.0, 2.0]], ["a"], [[1.0, None]]])
def test_wrong_parameters_in_files(tmp_path, parameters):
    fit_hmm(ROWS["wait"], 2, emissions=NAME).save(tmp_path / "chain.json")
    document = json.loads((tmp_path / "chain.json").read_text())
    document["emissions"]["parameters"] = parameters
    (tmp_path / "chain.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=r"holds no hidden Markov model: .*parameters"):
        load(tmp_path / "chain.json")


### the command line


def test_options_of_the_command_line(tmp_path):
    data, model = str(tmp_path / "waits.csv"), str(tmp_path / "model.json")
    pd.DataFrame(ROWS).to_csv(data, index=False)
    assert "1 waits" in ask(
        "fit", "naive-bayes", data, "--target", "who", "--distribution", f"wait={NAME}", "-o", model
    )
    answer = result(ask("predict", model, data, "--json"))
    assert answer["columns"]["who"][0] in {"slow", "fast"}
    assert "wait = " in ask("explain", model, data)
    ask(
        "fit",
        "mixture",
        data,
        "--n-components",
        "2",
        "--drop-columns",
        "who",
        "--distribution",
        f"wait={NAME}",
        "-o",
        model,
    )
    assert [part.distribution for part in load(model).parts] == [Waits()]
    ask("fit", "hmm", data, "--columns", "wait", "--n-states", "2", "--emissions", NAME, "-o", model)
    assert load(model).emissions.kind == NAME
