"""Everyday jobs as a newcomer types them: what scikit-learn, pandas or pgmpy would take, in one to three lines each.

A guess that does not work yet is expected to fail, and strictly: whoever makes it work moves it up to those that do.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import bayeslearn as bl

RNG = np.random.default_rng(0)
LUNG = RNG.random(200) < 0.3
PATIENTS = pd.DataFrame({
    "smoke": np.where(RNG.random(200) < 0.2 + 0.6 * LUNG, "yes", "no"),
    "lung": np.where(LUNG, "yes", "no"),
    "xray": np.where(RNG.random(200) < 0.1 + 0.8 * LUNG, "yes", "no"),
}).astype(object)  # fmt: skip
PATIENTS.iloc[::17, 2] = np.nan
MIXED = pd.DataFrame({"size": RNG.normal(size=60) + np.repeat([0, 6], 30), "hue": ["red"] * 30 + ["blue"] * 30})
TEXTS, FOLDERS = ["a cheap watch", "a meeting at noon", "cheap watch", "noon at the office"], ["spam", "ham"] * 2

#: What the lines may use.
WORLD = {
    "bl": bl, "np": np, "pd": pd, "df": PATIENTS, "mixed": MIXED, "texts": TEXTS, "folders": FOLDERS,
    "asia": bl.read_network("asia"),
}  # fmt: skip

#: Jobs, each with guesses that work.
WORKS = {
    "learn from a frame with missing values": [
        "assert bl.as_table(mixed).discretize(['size'], strategy='uniform', n_bins=3).schema['size'].size == 3",
        "bl.as_table(mixed).discretize(strategy='MDL', target='hue')",
        "assert bl.Discretizer(n_bins=3).fit_transform(mixed)['size'].nunique() == 3",
        "assert bl.contingency_tables(bl.as_table(df), [['smoke', 'lung']])[0].to_frame()['count'].sum() == 200",
        "net = bl.NaiveBayesClassifier().fit(df[['smoke', 'xray']], df['lung'])",
        "net = bl.BayesianNetworkClassifier().fit(df[['smoke', 'xray']], df['lung'])",
        "bl.fit_naive_bayes(df, 'lung').predict(df)",
        "assert 0 < bl.fit_naive_bayes(df, target='lung').score(df) <= 1",
        "assert len(bl.fit_naive_bayes(df, 'lung').log_likelihood(df)) == 200",
        "assert bl.fit_naive_bayes(df, 'lung', distributions={'smoke': 'categorical'}).sample(5).shape == (5, 3)",
    ],
    "query": [
        "assert asia.query({'smoke': 'yes'}, variables='lung')['lung']['yes'] > 0.09",
        "assert asia.query({'smoke': 'yes'}, variables=['lung', 'bronc'])['bronc']['yes'] > 0.5",
        "asia.query(['lung'], evidence={'smoke': 'yes'})",
        "assert asia.query(['lung'], {'smoke': 'yes'}) == asia.query({'smoke': 'yes'}, 'lung')",
        "asia.query({'smoke': 'yes'}, virtual_evidence={'xray': [0.9, 0.2]})",
        "asia.most_probable(['lung'], evidence={'smoke': 'yes'})",
        "asia.sensitivity({'smoke': 'yes'}, 'lung').to_frame()",
        "asia.most_probable({'smoke': 'yes'})",
        "asia.sample(5, evidence={'smoke': 'yes'})",
        "asia.explain({'smoke': 'yes'}, target='lung')",
    ],
    "a frame of probabilities": [
        "assert list(bl.fit_naive_bayes(df, 'lung').predict_proba(df, backend='pandas').columns) == ['no', 'yes']",
        "assert len(bl.fit_naive_bayes(df, 'lung').explain(df[:3]).to_frame()) == 3",
        "assert list(asia.query({'smoke': 'yes'}, variables=['lung']).to_frame().columns)",
        "assert len(asia.predict_proba(asia.sample(5), 'lung').to_frame()) == 5",
    ],
    "save and load": [
        "bl.fit_mixture(mixed[['size']], 2).save('mixture.json')",
        "bl.read_network('asia').save('net.json'); assert bl.load('net.json') == asia",
        "asia.save('net.model'); assert bl.load('net.model') == asia",
        "bl.NaiveBayesClassifier().fit(df[['smoke']], df['lung']).model_.save('m.json'); bl.load('m.json')",
        "bl.GaussianMixture(2).fit(mixed[['size']]).model_.save('m.json'); bl.load('m.json')",
    ],
    "merge and remove rows": [
        "m = bl.fit_mixture(mixed, 2); (m.update(mixed[:9]) + m.update(mixed[9:])).remove(mixed[:9])",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); assert len((a + b).classes) == 2",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); assert (a + b).remove(df[1::2]).isclose(a)",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); a.merge(b).discount(0.9)",
    ],
    "cluster a mixed table": [
        "assert set(bl.fit_mixture(mixed, 2).predict(mixed)) == {0, 1}",
        "assert bl.fit_mixture(mixed).n_components == 2",
        "assert bl.fit_mixture(mixed, n_components=2).predict_proba(mixed).shape == (60, 2)",
        "bl.fit_mixture(mixed, 2, distributions={'hue': 'categorical', 'size': 'gaussian'}).explain(mixed[:1])",
        "bl.fit_mixture(mixed[['size']], 2, covariance_type='diag').to_frame()",
        "bl.fit_mixture(mixed, 2).sample(10)",
        "assert set(bl.MixedTypeClusterer(2).fit_predict(mixed)) == {0, 1}",
        "assert bl.MixedTypeClusterer(2).fit(mixed).predict_proba(mixed).shape == (60, 2)",
    ],
    "classify texts": [
        "assert bl.TextClassifier().fit(texts, folders).predict(['cheap watch']) == ['spam']",
        "assert bl.fit_text(texts, folders).predict(['cheap watch']) == ['spam']",
        "bl.fit_text(texts, folders).predict_proba(['cheap watch'])",
    ],
    "fit a hidden Markov model": [
        "assert set(bl.HMMEstimator(2).fit(mixed[['size']]).predict(mixed[['size']])) == {0, 1}",
    ],
    "PAC bounds": [
        "assert bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05).value == 140",
        "bl.learning_theory.pac_bound(3**10, epsilon=0.1, delta=0.05).to_dict()",
        "bl.learning_theory.vc_bound(3, epsilon=0.1, delta=0.05)",
    ],
    "impute a frame": [
        "assert not bl.fit_naive_bayes(df, 'lung').impute(df).isna().any().any()",
        "assert not bl.fit_naive_bayes(df, 'lung').impute(df, method='sample', random_state=0).isna().any().any()",
    ],
    "what the command line says, from Python": [
        "bl.fit_mixture(mixed[['size']], 2).fit_info.history",
        "assert bl.fit_naive_bayes(df, 'lung').fit_info.to_dict()['class_counts']['yes'] > 0",
        "assert 'Accuracy' in bl.fit_naive_bayes(df, 'lung', cv=5).fit_info.summary()",
    ],
    "plot": [
        "bl.fit_mixture(mixed[['size']], 2).plot(mixed[['size']])",
        "bl.fit_naive_bayes(df, 'lung').plot()",
        "bl.fit_naive_bayes(df, 'lung').explain(df[:1]).plot()",
        "bl.fit_naive_bayes(df, 'lung', cv=5).fit_info.plot()",
        "bl.plots.plot_network(asia, {'smoke': 'yes'}).savefig('net.png')",
        "asia.plot({'smoke': 'yes'})",
        "asia.query({'smoke': 'yes'}).plot()",
        "bl.plots.plot_mixture(bl.fit_mixture(mixed[['size']], 2), mixed[['size']])",
    ],
    "see it in a notebook": [
        "assert '<svg' in asia._repr_html_()",
        "assert '<td' in asia.query({'smoke': 'yes'})._repr_html_()",
        "assert '<td' in asia['lung']._repr_html_()",
        "assert '<td' in bl.fit_naive_bayes(df, 'lung')._repr_html_()",
        "assert '<td' in bl.fit_naive_bayes(df, 'lung').fit_info._repr_html_()",
        "assert '<td' in bl.fit_naive_bayes(df, 'lung').explain(df[:2])._repr_html_()",
        "assert '<td' in bl.fit_naive_bayes(df, 'lung').evaluate(df)._repr_html_()",
        "assert '<' in bl.as_table(mixed)._repr_html_()",
        "assert '<td' in bl.fit_mixture(mixed, 2)._repr_html_()",
        "assert '<td' in bl.fit_mixture(mixed, 2).fit_info._repr_html_()",
    ],
}

#: Jobs, each with guesses that should work and do not yet.
FAILS = {
    "learn from a frame with missing values": [
        "assert isinstance(bl.fit_network(df), bl.BayesianNetwork)",
        "assert isinstance(bl.fit_parameters('[lung][smoke|lung][xray|lung]', df), bl.BayesianNetwork)",
    ],
    "save and load": [
        "bl.fit_network(df).save('net.json')",
    ],
    "merge and remove rows": [
        "net = bl.fit_parameters('[lung][smoke|lung]', df[['lung', 'smoke']]); net.update(df).remove(df)",
    ],
    "impute a frame": [
        "assert not bl.fit_parameters('[lung][smoke|lung][xray|lung]', df).impute(df).isna().any().any()",
        "assert not bl.fit_network(df).impute(df, method='most_probable').isna().any().any()",
    ],
    "fit a hidden Markov model": [
        "bl.fit_hmm(mixed[['size']], n_states=2).predict(mixed[['size']])",
    ],
    "plot": [
        "bl.fit_hmm(mixed[['size']], n_states=2).decode(mixed[['size']]).plot()",
    ],
    "what the command line says, from Python": [
        "bl.fit_network(df).fit_info.summary()",
    ],
}


def guesses(jobs):
    return [pytest.param(line, id=f"{job}: {line}") for job, lines in jobs.items() for line in lines]


def run(line):
    """Run lines as at a prompt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(line, "<guess>", "exec"), dict(WORLD))


@pytest.mark.parametrize("line", guesses(WORKS))
def test_the_first_guess_works(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    run(line)


@pytest.mark.parametrize("line", guesses(FAILS))
@pytest.mark.xfail(strict=True, reason="not yet")
def test_the_first_guess_will_work(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    run(line)


def test_there_are_thirteen_jobs():
    assert len(WORKS | FAILS) == 13
