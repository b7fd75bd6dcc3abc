"""Everyday jobs as a newcomer types them: what scikit-learn, pandas or pgmpy would take, in one to three lines each.

A guess that does not work yet is expected to fail, and strictly: whoever makes it work moves it up to those that do.
"""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

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

FLATS = MIXED.assign(rent=2 * MIXED["size"])
COINS = bl.FiniteSpace.from_table({"fair": {"head": 0.5, "tail": 0.5}, "false": {"head": 0.9, "tail": 0.1}})

#: What the lines may use.
WORLD = {
    "bl": bl, "np": np, "pd": pd, "pl": pl, "plt": plt, "make_pipeline": make_pipeline,
    "cross_val_score": cross_val_score, "df": PATIENTS, "mixed": MIXED, "flats": FLATS, "texts": TEXTS,
    "folders": FOLDERS, "coins": COINS, "asia": bl.read_network("asia"),
}  # fmt: skip

#: Jobs, each with guesses that work.
WORKS = {
    "learn from a frame with missing values": [
        "bl.fit_network(df, algorithm='hill_climb', criterion='bic')",
        "bl.fit_network(df, max_parents=1, random_state=0)",
        "bl.fit_parameters(asia.dag, asia.sample(50), algorithm='em')",
        "bl.BayesianNetworkClassifier('tan').fit(df[['smoke', 'xray']], df['lung']).predict_proba(df)",
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
        "bl.NaiveBayesClassifier().fit(df.drop(columns='lung'), df.lung).score(df.drop(columns='lung'), df.lung)",
        "bl.fit_parameters([('lung', 'smoke'), ('lung', 'xray')], df)",
        "bl.fit_parameters(bl.DAG.from_arcs([('lung', 'smoke'), ('lung', 'xray')]), df, prior='bdeu:10')",
        "assert bl.as_table(df).shape == (200, 3)",
        "assert bl.fit_network(df).arcs",
        "assert isinstance(bl.fit_network(df), bl.BayesianNetwork)",
        "assert isinstance(bl.fit_parameters('[lung][smoke|lung][xray|lung]', df), bl.BayesianNetwork)",
        "bl.fit_network(df, algorithm='pc', significance_level=0.05)",
        "bl.fit_network(df, algorithm='chow_liu')",
        "assert sorted(bl.fit_network(df).nodes) == ['lung', 'smoke', 'xray']",
        "assert bl.fit_network(df).n_parameters < 8",
        "bl.fit_network(df, knowledge=bl.BackgroundKnowledge(required=[('lung', 'xray')], max_parents=2))",
        "assert ('lung', 'xray') in bl.fit_network(df).arcs or ('xray', 'lung') in bl.fit_network(df).arcs",
    ],
    "query": [
        "asia.query({'smoke': 'yes'}, 'lung', method='gibbs', n_samples=500, random_state=0)",
        "assert asia.markov_blanket('lung')",
        "assert asia.d_separated('smoke', 'xray', given=['lung'])",
        "asia.query('lung')",
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
        "assert asia.query(variables=['lung'], evidence={'smoke': 'yes'})['lung']['yes'] > 0.09",
        "asia.query()",
        "assert asia.predict(asia.sample(5), 'lung') is not None",
        "asia.predict_proba(asia.sample(5), ['lung', 'bronc'])",
        "asia.do({'smoke': 'yes'}).query(variables='lung')",
        "assert asia.query({'smoke': 'yes', 'dysp': 'yes'}).log_evidence < 0",
        "assert round(sum(asia.query({'smoke': 'yes'})['lung'].values()), 6) == 1",
        "asia.query(pd.Series({'smoke': 'yes'}), 'lung')",
        "asia.log_likelihood(asia.sample(5)); asia.score(asia.sample(5))",
        "assert set(asia.variables) > {'lung', 'smoke'}",
        "assert ('smoke', 'lung') in asia.arcs",
    ],
    "a frame of probabilities": [
        "bl.fit_neighbors(mixed, 'hue').predict_proba(mixed, backend='pandas').head()",
        "bl.fit_mixture(mixed, 2).predict_proba(mixed, backend='pandas').head()",
        "asia.predict_proba(asia.sample(5), 'lung', backend='pandas')",
        "bl.fit_text(texts, folders).predict_proba(texts, backend='pandas').head()",
        "assert list(bl.fit_naive_bayes(df, 'lung').predict_proba(df, backend='pandas').columns) == ['no', 'yes']",
        "assert len(bl.fit_naive_bayes(df, 'lung').explain(df[:3]).to_frame()) == 3",
        "assert list(asia.query({'smoke': 'yes'}, variables=['lung']).to_frame().columns)",
        "assert len(asia.predict_proba(asia.sample(5), 'lung').to_frame()) == 5",
        "asia.query({'smoke': 'yes'}, variables='lung').to_frame()",
        "asia.query({'smoke': 'yes'}).to_dict()",
        "pd.DataFrame(asia.query({'smoke': 'yes'}).to_dict())",
        "assert list(asia['lung'].to_frame().columns)",
        "assert list(asia['lung'].to_frame('polars').columns)",
        "bl.fit_naive_bayes(df, 'lung').predict_proba(df, backend='polars')",
        "bl.fit_text(texts, folders).predict_proba(texts, backend='pandas').head()",
    ],
    "save and load": [
        "bl.fit_mixture(mixed[['size']], 2).save('mixture.json')",
        "bl.read_network('asia').save('net.json'); assert bl.load('net.json') == asia",
        "asia.save('net.model'); assert bl.load('net.model') == asia",
        "bl.NaiveBayesClassifier().fit(df[['smoke']], df['lung']).model_.save('m.json'); bl.load('m.json')",
        "bl.GaussianMixture(2).fit(mixed[['size']]).model_.save('m.json'); bl.load('m.json')",
        "bl.BayesianNetwork.load('asia.bif') if asia.save('asia.bif') is None else 0",
        "bl.fit_text(texts, folders).save('t.json'); bl.load('t.json').predict(texts)",
        "bl.fit_neighbors(mixed, 'hue').save('n.json'); bl.load('n.json').predict(mixed)",
        "import pickle; pickle.loads(pickle.dumps(asia))",
        "import pickle; pickle.loads(pickle.dumps(bl.NaiveBayesClassifier().fit(df[['smoke']], df['lung'])))",
        "import pickle; pickle.loads(pickle.dumps(bl.fit_mixture(mixed, 2)))",
        "import copy; copy.deepcopy(asia)",
        "import joblib; joblib.dump(bl.fit_naive_bayes(df, 'lung'), 'm.joblib'); joblib.load('m.joblib')",
        "from pathlib import Path; asia.save(Path('a.json')); bl.load(Path('a.json'))",
        "bl.write_network(asia, 'asia.xdsl'); bl.read_network('asia.xdsl')",
        "bl.fit_linear(flats, 'rent').save('r.json'); bl.load('r.json')",
        "bl.fit_hmm(mixed[['size']], n_states=2).save('h.json'); bl.load('h.json').predict(mixed[['size']])",
        "bl.fit_network(df).save('net.json')",
        "asia.save('asia.bif'); assert set(bl.load('asia.bif').variables) == set(asia.variables)",
    ],
    "merge and remove rows": [
        "m = bl.fit_mixture(mixed, 2); (m.update(mixed[:9]) + m.update(mixed[9:])).remove(mixed[:9])",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); assert len((a + b).classes) == 2",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); assert (a + b).remove(df[1::2]).isclose(a)",
        "a, b = (bl.fit_naive_bayes(df[i::2], 'lung') for i in (0, 1)); a.merge(b).discount(0.9)",
        "m = bl.fit_neighbors(mixed, 'hue'); m.update(mixed[:5]).remove(mixed[:5])",
        "bl.NaiveBayesClassifier().partial_fit(df[['smoke']][:9], df.lung[:9]).partial_fit(df[['smoke']], df.lung)",
        "m = bl.fit_mixture(mixed, 2); m.discount(0.5).update(mixed)",
        "m = bl.fit_linear(flats, 'rent'); m.update(flats).remove(flats)",
        "a = bl.fit_hmm(mixed[['size']], n_states=2); a.update(mixed[['size']]).remove(mixed[['size']])",
        "net = bl.fit_parameters('[lung][smoke|lung]', df[['lung', 'smoke']]); net.update(df).remove(df)",
        "a, b = (bl.fit_parameters('[lung][smoke|lung]', half) for half in (df[:99], df[99:])); a + b",
        "a = bl.fit_text(texts, folders); a.update(texts, folders).remove(texts, folders)",
        "a, b = bl.fit_text(texts[:2], folders[:2]), bl.fit_text(texts[2:], folders[2:]); (a + b).predict(texts)",
    ],
    "cluster a mixed table": [
        "bl.MixedTypeClusterer().fit(mixed).n_components_",
        "assert set(bl.fit_mixture(mixed, 2).predict(mixed)) == {0, 1}",
        "assert bl.fit_mixture(mixed).n_components == 2",
        "assert bl.fit_mixture(mixed, n_components=2).predict_proba(mixed).shape == (60, 2)",
        "bl.fit_mixture(mixed, 2, distributions={'hue': 'categorical', 'size': 'gaussian'}).explain(mixed[:1])",
        "bl.fit_mixture(mixed[['size']], 2, covariance_type='diag').to_frame()",
        "bl.fit_mixture(mixed, 2).sample(10)",
        "assert set(bl.MixedTypeClusterer(2).fit_predict(mixed)) == {0, 1}",
        "assert bl.MixedTypeClusterer(2).fit(mixed).predict_proba(mixed).shape == (60, 2)",
        "bl.MixedTypeClusterer(n_components=2, random_state=0).fit(mixed).labels_",
        "bl.GaussianMixture(n_components=2, random_state=0).fit(mixed[['size']]).means_",
        "bl.GaussianMixture(n_components=2).fit_predict(mixed[['size']].to_numpy())",
        "bl.GaussianMixture(2).fit(mixed[['size']]).bic(mixed[['size']])",
        "bl.GaussianMixture(2).fit(mixed[['size']]).score_samples(mixed[['size']])",
        "bl.fit_mixture(mixed, max_components=3).summary()",
        "bl.fit_mixture(mixed, 2).weights, bl.fit_mixture(mixed, 2).component_sizes",
        "bl.fit_mixture(mixed, 2).score(mixed); bl.fit_mixture(mixed, 2).log_likelihood(mixed)",
        "mixed.assign(cluster=bl.fit_mixture(mixed, 2).predict(mixed)).groupby('cluster').size()",
        "mixed.groupby(bl.MixedTypeClusterer(2).fit_predict(mixed))['size'].mean()",
    ],
    "classify texts": [
        "assert bl.TextClassifier().fit(texts, folders).predict(['cheap watch']) == ['spam']",
        "assert bl.fit_text(texts, folders).predict(['cheap watch']) == ['spam']",
        "bl.fit_text(texts, folders).predict_proba(['cheap watch'])",
        "bl.TextClassifier().fit(texts, folders).predict_proba(texts)",
        "bl.TextClassifier().fit(texts, folders).score(texts, folders)",
        "bl.TextClassifier().fit(pd.Series(texts), pd.Series(folders)).predict(pd.Series(texts))",
        "bl.fit_text(texts, folders).classes",
        "bl.TextClassifier().fit(texts, folders).classes_",
        "cross_val_score(bl.TextClassifier(), texts * 5, folders * 5, cv=2)",
        "make_pipeline(bl.CountVectorizer(), bl.NaiveBayesClassifier())",
        "bl.fit_text(texts, folders).explain('cheap watch')",
        "bl.fit_text(texts, folders).explain(['cheap watch'])",
        "bl.fit_text(texts, folders).evaluate(texts, folders)",
        "bl.fit_text(texts, folders).score(texts, folders)",
        "bl.fit_text(texts, folders, ngram_range=(1, 2))",
        "bl.fit_text(texts, [*folders[:3], None])",
        "bl.fit_text(texts, folders).fit_info.summary()",
        "bl.fit_text(pd.DataFrame({'text': texts, 'folder': folders}), 'folder', text='text').predict(texts)",
    ],
    "fit a hidden Markov model": [
        "assert set(bl.HMMEstimator(2).fit(mixed[['size']]).predict(mixed[['size']])) == {0, 1}",
        "bl.HMMEstimator(n_states=2, random_state=0).fit(mixed[['size']]).score(mixed[['size']])",
        "bl.HMMEstimator(2).fit(mixed[['size']]).predict_proba(mixed[['size']])",
        "bl.HMMEstimator(2).fit(mixed[['size']], lengths=[30, 30])",
        "bl.HMMEstimator(2).fit(mixed[['size']]).decode(mixed[['size']])",
        "bl.HMMEstimator(2).fit(mixed[['size']]).sample(10)",
        "bl.fit_hmm(mixed[['size']], n_states=2).predict(mixed[['size']])",
        "bl.HMMEstimator(2).fit(mixed[['size']]).transmat_",
        "bl.fit_hmm(mixed['size'].to_numpy(), n_states=2).transmat",
        "bl.fit_hmm(mixed[['size']], 2, emissions='gaussian', random_state=0).startprob",
        "bl.fit_hmm(mixed[['hue']], 2, emissions='categorical').emissions",
        "bl.fit_hmm(mixed, 2, emissions={'size': 'gaussian', 'hue': 'categorical'}).predict(mixed)",
        "bl.fit_hmm(mixed[['size']], n_states=2, covariance_type='full')",
        "bl.fit_hmm(mixed[['size']], 2).score(mixed[['size']])",
        "bl.fit_hmm(mixed[['size']], 2).predict_proba(mixed[['size']])",
        "bl.fit_hmm(mixed[['size']], 2).sample(10, random_state=0)",
        "bl.fit_hmm(mixed[['size']], 2).fit_info.history",
        "bl.fit_hmm(mixed[['size']], 2).summary()",
        "bl.fit_hmm(mixed[['size']], 2).to_frame()",
        "bl.fit_hmm(mixed[['size']], ['low', 'high']).predict(mixed[['size']])",
        "bl.fit_hmm(mixed[['size']], 2).decode(mixed[['size']]).states",
        "bl.fit_hmm(mixed[['size']], 2).stationary_distribution()",
        "bl.fit_hmm([mixed['size'][:30], mixed['size'][30:]], n_states=2)",
    ],
    "PAC bounds": [
        "assert bl.VersionSpace.fit(bl.datasets.load_table('enjoy-sport'), 'enjoy_sport').size == 6",
        "bl.VersionSpace.fit(pd.DataFrame({'sky': ['sun', 'rain']}), ['in', 'out'], positive='in')",
        "bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05).n_examples",
        "bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05)._repr_html_()",
        "assert bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05).value == 140",
        "bl.learning_theory.pac_bound(3**10, epsilon=0.1, delta=0.05).to_dict()",
        "bl.learning_theory.vc_bound(3, epsilon=0.1, delta=0.05)",
        "bl.learning_theory.pac_bound(1000, n_examples=100, delta=0.05).summary()",
        "bl.learning_theory.agnostic_bound(1000, epsilon=0.1, delta=0.05).value",
        "bl.learning_theory.sauer_bound(3, 10)",
        "bl.learning_theory.error_intervals(3, 50)",
        "bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05).plot()",
    ],
    "impute a frame": [
        "assert not bl.fit_naive_bayes(df, 'lung').impute(df).isna().any().any()",
        "assert not bl.fit_naive_bayes(df, 'lung').impute(df, method='sample', random_state=0).isna().any().any()",
        "bl.NetworkImputer().fit_transform(df)",
        "bl.NetworkImputer().set_output(transform='pandas').fit_transform(df)",
        "assert not asia.impute(asia.sample(5)).to_frame().isna().any().any()",
        "assert bl.fit_naive_bayes(df, 'lung').impute(pl.from_pandas(df)).null_count().sum_horizontal()[0] == 0",
        "bl.fit_mixture(mixed, 2).impute(mixed.mask(mixed == 'red'))",
        "bl.fit_naive_bayes(df, 'lung').impute({'smoke': ['yes'], 'xray': [None], 'lung': [None]})['xray']",
        "df.fillna(bl.fit_naive_bayes(df, 'lung').impute(df))",
        "assert bl.fit_naive_bayes(df, 'lung').impute(df).index.equals(df.index)",
        "make_pipeline(bl.NetworkImputer(), bl.NaiveBayesClassifier()).fit(df[['smoke', 'xray']], df['lung'])",
        "assert not bl.fit_parameters('[lung][smoke|lung][xray|lung]', df).impute(df).isna().any().any()",
        "assert not bl.fit_network(df).impute(df, method='most_probable').isna().any().any()",
        "assert bl.fit_network(df).impute(df).index.equals(df.index)",
        "bl.fit_network(df).impute(df, method='sample', random_state=0)",
    ],
    "what the command line says, from Python": [
        "bl.fit_network(df, bootstrap=10, random_state=0).fit_info.to_frame()",
        "bl.fit_network(df, progress=True)",
        "bl.fit_parameters('[lung][smoke|lung]', df, progress=True)",
        "bl.fit_mixture(mixed[['size']], 2).fit_info.history",
        "assert bl.fit_naive_bayes(df, 'lung').fit_info.to_dict()['class_counts']['yes'] > 0",
        "assert 'Accuracy' in bl.fit_naive_bayes(df, 'lung', cv=5).fit_info.summary()",
        "bl.fit_mixture(mixed, 2).fit_info.converged",
        "bl.fit_mixture(mixed, 2).fit_info.to_dict()['n_iter']",
        "bl.fit_neighbors(mixed, 'hue').fit_info.summary()",
        "asia.summary(); str(asia)",
        "bl.fit_mixture(mixed, 2, progress=True)",
        "bl.fit_naive_bayes(df, 'lung').evaluate(df).to_dict()",
        "bl.evaluate(bl.fit_naive_bayes(df, 'lung'), df).summary()",
        "bl.evaluate(bl.fit_linear(flats, 'rent'), flats).to_dict()",
        "bl.scan('x.csv') if df.to_csv('x.csv', index=False) is None else 0",
        "bl.fit_linear(flats, 'rent').fit_info.to_dict()",
        "bl.compare_networks(asia, asia).to_dict()",
        "bl.fit_hmm(mixed[['size']], 2).fit_info.converged",
        "bl.fit_network(df).fit_info.summary()",
        "bl.fit_network(df).fit_info.to_dict()",
        "bl.fit_network(df).fit_info.arcs",
        "bl.fit_network(df).fit_info.seconds",
        "bl.fit_network(df).fit_info.dropped_columns",
        "bl.fit_network(df).fit_info.weakest_arcs",
        "bl.fit_network(df).fit_info.log_likelihood",
        "bl.fit_parameters('[lung][smoke|lung]', df[['lung', 'smoke']]).fit_info.converged",
        "bl.fit_parameters('[lung][smoke|lung]', df[['lung', 'smoke']]).fit_info.n_iter",
        "bl.compare_models(mixed, 'hue').to_frame()",
        "bl.network.cross_validate('[lung][smoke|lung]', df[['lung', 'smoke']], target='lung', cv=3).to_dict()",
        "bl.fit_network(df, test_size=0.2, random_state=0).fit_info.summary()",
        "bl.fit_text(texts, folders).fit_info.to_dict()",
    ],
    "plot": [
        "bl.fit_linear(flats[['size', 'rent']], 'rent').plot()",
        "bl.fit_network(df).fit_info.plot()",
        "bl.fit_mixture(mixed, 2).fit_info.plot()",
        "asia.explain({'smoke': 'yes'}, target='lung').plot()",
        "asia['lung'].plot()",
        "bl.fit_mixture(mixed[['size']], 2).plot(mixed[['size']])",
        "bl.fit_naive_bayes(df, 'lung').plot()",
        "bl.fit_naive_bayes(df, 'lung').explain(df[:1]).plot()",
        "bl.fit_naive_bayes(df, 'lung', cv=5).fit_info.plot()",
        "bl.plots.plot_network(asia, {'smoke': 'yes'}).savefig('net.png')",
        "asia.plot({'smoke': 'yes'})",
        "asia.query({'smoke': 'yes'}).plot()",
        "bl.plots.plot_mixture(bl.fit_mixture(mixed[['size']], 2), mixed[['size']])",
        "fig, ax = plt.subplots(); asia.plot(ax=ax)",
        "fig, ax = plt.subplots(); bl.fit_mixture(mixed[['size']], 2).plot(mixed[['size']], ax=ax)",
        "asia.sensitivity({'smoke': 'yes'}, 'lung').plot()",
        "bl.fit_neighbors(mixed, 'hue').plot()",
        "bl.plots.plot_confusion_matrix(bl.fit_naive_bayes(df, 'lung').evaluate(df))",
        "bl.fit_naive_bayes(df, 'lung').evaluate(df).plot()",
        "bl.fit_hmm(mixed[['size']], n_states=2).decode(mixed[['size']]).plot()",
        "bl.fit_hmm(mixed[['size']], 2).fit_info.plot()",
        "bl.fit_hmm(mixed[['size']], 2).plot()",
        "bl.fit_network(df).plot()",
        "bl.compare_models(mixed, 'hue').plot()",
        "bl.fit_text(texts, folders).plot()",
    ],
    "see it in a notebook": [
        "assert '<td' in asia.score(asia.sample(5))._repr_html_()",
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
        "assert '<td' in bl.fit_neighbors(mixed, 'hue')._repr_html_()",
        "assert '<td' in asia.explain({'smoke': 'yes'}, target='lung')._repr_html_()",
        "assert '<td' in asia.sensitivity({'smoke': 'yes'}, 'lung')._repr_html_()",
        "assert '<td' in asia.most_probable({'smoke': 'yes'})._repr_html_()",
        "assert '<td' in asia.predict_proba(asia.sample(3), 'lung')._repr_html_()",
        "assert '<td' in bl.fit_mixture(mixed, 2).explain(mixed[:1])._repr_html_()",
        "assert '<td' in bl.fit_linear(flats, 'rent')._repr_html_()",
        "assert '<td' in bl.compare_networks(asia, asia)._repr_html_()",
        "assert '<td' in bl.fit_hmm(mixed[['size']], 2)._repr_html_()",
        "assert '<td' in bl.fit_hmm(mixed[['size']], 2).fit_info._repr_html_()",
        "assert '<td' in bl.fit_network(df)._repr_html_() or '<svg' in bl.fit_network(df)._repr_html_()",
        "assert '<td' in bl.fit_network(df).fit_info._repr_html_()",
        "assert '<td' in bl.learning_theory.pac_bound('conjunctions:10', epsilon=0.1, delta=0.05)._repr_html_()",
        "assert '<td' in coins.posterior('uniform').update('head')._repr_html_()",
        "assert '<td' in bl.compare_models(mixed, 'hue')._repr_html_()",
        "assert '<td' in bl.fit_text(texts, folders)._repr_html_()",
        "assert '<td' in bl.fit_text(texts, folders).fit_info._repr_html_()",
    ],
}

#: Jobs, each with guesses that should work and do not yet.
FAILS: dict[str, list[str]] = {
    "learn from a frame with missing values": [
        "assert all(bl.datasets.load_table(name).n_rows for name in bl.datasets.list_tables())",
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
