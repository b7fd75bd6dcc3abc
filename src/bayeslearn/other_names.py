"""Names of other libraries, and the call that does the same here: they stand in the message of an AttributeError.

>>> from bayeslearn import read_network
>>> read_network("asia").get_cpds("lung")
Traceback (most recent call last):
AttributeError: 'BayesianNetwork' object has no attribute 'get_cpds': net["lung"] is the CPT, net.cpts has all of them
"""

from __future__ import annotations

from typing import Any

#: Members of models and results: of pgmpy, pyAgrum, scikit-learn, hmmlearn, statsmodels, pandas.
MEMBERS = {
    "map_query": "most_probable(evidence) is the most probable state of all other variables",
    "get_cpds": 'net["lung"] is the CPT, net.cpts has all of them',
    "cpt": 'net["lung"] is the CPT, net.cpts has all of them',
    "cpds": "net.cpts",
    "edges": "arcs",
    "get_parents": 'net.dag.parents("lung")',
    "get_children": 'net.dag.children("lung")',
    "check_model": "a network is checked when it is made",
    "simulate": "sample(n)",
    "is_dconnected": "d_separated(x, y) is the opposite",
    "active_trail_nodes": "d_separated(x, y, given)",
    "fit": "models are values: fit_network(data), fit_parameters(structure, data), ... return fitted ones",
    "partial_fit": "update(data) returns the model with more rows",
    "startprob_": "startprob",
    "transmat_": "transmat",
    "emissionprob_": "emissions",
    "viterbi": "predict(data) is the most probable path, decode(data) has its probability too",
    "coef_": "fit.coef; of the estimators coef_",
    "intercept_": "fit.intercept; of the estimators intercept_",
    "params": "to_frame() has the coefficients with their intervals",
    "conf_int": "to_frame() has the coefficients with their intervals",
    "feature_names_in_": "feature_names",
    "classes_": "classes",
    "weights_": "weights",
    "means_": "to_frame() has the parameters; GaussianMixture has means_",
    "describe": "summary()",
    "to_pandas": 'to_frame("pandas")',
    "to_polars": 'to_frame("polars")',
    "values": "probabilities of a CPT; to_frame() in general",
    "states": "variable.states of a CPT",
    "bic": "to_frame() or fit_info has the scores of a fit; score(data) is the mean log-likelihood",
    "aic": "fit_info has the scores of a fit; score(data) is the mean log-likelihood",
    "to_csv": "to_frame().to_csv(path)",
    "to_json": "save(path), or to_dict()",
    "remove_node": "fit or build the network anew: BayesianNetwork.from_tables",
}  # fmt: skip

#: Names of the package.
PACKAGE = {
    "read_bif": "load(path) reads networks in any format",
    "read_xmlbif": "load(path) reads networks in any format",
    "load_network": 'read_network(path), or datasets.load_network("asia")',
    "load_table": 'datasets.load_table("enjoy-sport")',
    "read_csv": "as_table(path)",
    "read_parquet": "as_table(path)",
    "VariableElimination": "net.query(evidence, variables)",
    "BeliefPropagation": "net.query(evidence, variables)",
    "LazyPropagation": "net.query(evidence, variables)",
    "Inference": "net.query(evidence, variables)",
    "DiscreteBayesianNetwork": "BayesianNetwork",
    "BayesianModel": "BayesianNetwork",
    "BayesNet": "BayesianNetwork",
    "TabularCPD": "CPT, or BayesianNetwork.from_tables",
    "HillClimbSearch": 'fit_network(data, algorithm="hill_climb")',
    "hill_climb": 'fit_network(data, algorithm="hill_climb")',
    "hc": 'fit_network(data, algorithm="hill_climb")',
    "PC": 'fit_network(data, algorithm="pc")',
    "BicScore": 'fit_network(data, criterion="bic")',
    "KNeighborsClassifier": "NeighborsClassifier",
    "KNeighborsRegressor": "NeighborsRegressor",
    "GaussianNB": "NaiveBayesClassifier",
    "CategoricalNB": "NaiveBayesClassifier",
    "MultinomialNB": "fit_text(texts, labels), or naive_bayes.text.TextClassifier",
    "LogisticRegression": "LogisticClassifier",
    "LinearRegression": "BayesianLinearRegressor",
    "BayesianRidge": "BayesianLinearRegressor",
    "GaussianHMM": 'HMMEstimator(n_states, emissions="gaussian")',
    "CategoricalHMM": 'HMMEstimator(n_states, emissions="categorical")',
    "KMeans": "GaussianMixture, or MixedTypeClusterer for columns of several kinds",
    "BayesianGaussianMixture": "GaussianMixture",
    "KNNImputer": "NetworkImputer",
    "IterativeImputer": "NetworkImputer",
    "KBinsDiscretizer": "Discretizer",
    "impute": "model.impute(data), or NetworkImputer().fit_transform(data)",
    "predict": "model.predict(data)",
    "query": "net.query(evidence, variables)",
    "fit": "fit_network, fit_naive_bayes, fit_mixture, fit_hmm, fit_text, fit_neighbors, fit_linear, ...",
    "save": "model.save(path)",
    "cross_val_score": "cross_validate(model, data); for estimators that of scikit-learn",
    "train_test_split": "evaluate(model, data, cv=10); arrays and frames are split by scikit-learn",
    "pac_bound": "learning_theory.pac_bound",
    "vc_bound": "learning_theory.vc_bound",
    "WeightedMajority": "online.WeightedMajority",
    "Halving": "online.Halving",
}  # fmt: skip

#: Names of the package `datasets`.
DATASETS = {"load": 'load_table("enjoy-sport") or load_network("asia")', "load_asia": 'load_network("asia")'}


#: Parameters of functions that fit.
PARAMETERS = {
    "X": "data, or an estimator: fit(X, y)",
    "y": "target, the name of a column; or an estimator: fit(X, y)",
    "method": "algorithm",
    "score": "criterion",
    "scoring": "criterion",
    "k": "n_neighbors, n_components or n_states",
    "n_clusters": "n_components",
    "n_classes": "n_components",
    "equivalent_sample_size": 'prior="bdeu:10"',
    "alpha": 'prior="m:1"',
    "seed": "random_state",
    "weights": "sample_weight",
    "max_indegree": "max_parents",
    "n_jobs": "all cores are used",
    "verbose": "progress=True",
}

#: Values of options.
VALUES = {
    "hc": "hill_climb", "hillclimb": "hill_climb", "hill_climbing": "hill_climb", "distance": "inverse_square",
    "diagonal": "diag", "normal": "gaussian", "multinomial": "categorical", "discrete": "categorical",
    "variable_elimination": "exact", "gibbs_sampling": "gibbs",
}  # fmt: skip


def missing_attribute(found: object, name: str) -> Any:
    """Raise the AttributeError of an object: with the name in this package, or as Python or a property does."""
    if name not in MEMBERS:
        return object.__getattribute__(found, name)
    message = f"{type(found).__name__!r} object has no attribute {name!r}{hint(name)}"
    raise AttributeError(message, name=name, obj=found)


def hint(name: str, package: str = "") -> str:
    """Return the end of the message of an AttributeError of an object, or of a package: the call, or nothing."""
    names = {"bayeslearn": PACKAGE, "bayeslearn.datasets": DATASETS, "": MEMBERS}.get(package, {})
    return f": {names[name]}" if name in names else ""
