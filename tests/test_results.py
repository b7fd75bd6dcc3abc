"""Every result shows itself: as text, as HTML with the same numbers, in one line, as a dictionary and as a frame."""

from __future__ import annotations

import functools
import html
import importlib
import json
import pkgutil
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import bayeslearn as bl
from bayeslearn import learning_theory as lt
from bayeslearn.case_based import CaseBase
from bayeslearn.hypotheses import Examples
from bayeslearn.naive_bayes import cross_validate
from bayeslearn.neighbors import select_feature_weights
from bayeslearn.network import DAG
from bayeslearn.network.inference import LoopyPropagation, SampledInference
from bayeslearn.reports import Reported
from bayeslearn.sources import encode_to_disk

NAME, STATE = "lung <i>&", "<i>yes"
RNG = np.random.default_rng(0)
LUNG = RNG.random(120) < 0.4
DATA = pd.DataFrame({
    NAME: np.where(LUNG, STATE, "no"),
    "smoke": np.where(RNG.random(120) < 0.2 + 0.6 * LUNG, "yes", "no"),
    "age": RNG.normal(50 + 10 * LUNG, 5).round(1),
    "dose": RNG.normal(3, 1, 120).round(2),
})  # fmt: skip
DATA["risk"] = DATA["age"] + 2 * DATA["dose"] + RNG.normal(0, 1, 120).round(2)
DATA.loc[::11, "smoke"] = None
WORDS = DATA[[NAME, "smoke"]]

#: Classes whose subclasses are the results.
BASES = {"ClassPredictions", "FitInfo", "QueryResult", "RegressionFitInfo", "Scanned"}


@functools.cache
def network():
    found = bl.fit_parameters(DAG({NAME: (), "smoke": (NAME,)}), WORDS)
    return getattr(found, "network", found)


@functools.cache
def naive():
    return bl.fit_naive_bayes(DATA.dropna(), NAME, cv=3)


@functools.cache
def mixture():
    return bl.fit_mixture(DATA, max_components=3)


@functools.cache
def nearest():
    return bl.fit_neighbors(DATA, NAME)


@functools.cache
def line():
    return bl.fit_linear(DATA, "risk")


@functools.cache
def logistic():
    return bl.fit_logistic(DATA, NAME)


@functools.cache
def local():
    return bl.fit_local(DATA[["age", "risk"]], "risk")


@functools.cache
def chain():
    return bl.fit_hmm(DATA[["age"]], ["low <i>", "high"], random_state=0)


SPACE = bl.FiniteSpace.from_table({NAME: {"head": 0.5, "tail": 0.5}, "false": {"head": 0.9, "tail": 0.1}})


@functools.cache
def mails():
    return bl.fit_text(["cheap watch", "a meeting at noon", "cheap pills", "noon"], [NAME, "ham", NAME, "ham"])


@functools.cache
def cube():
    return lt.standard_class("conjunctions", 3).labelings([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])


@functools.cache
def examples():
    rows = [{NAME: "<i>", "air": "warm"}, {NAME: "dry", "air": "cold"}]
    return Examples.from_rows(rows, [True, False])


def source(folder):
    DATA.to_csv(folder / "data.csv", index=False)
    return bl.scan(folder / "data.csv")


#: A value of every class of results, by the name of the class.
EXAMPLES = {
    "BatchSource": lambda folder: bl.scan([WORDS[:60], WORDS[60:]]),
    "BayesianNetwork": lambda folder: network(),
    "CPDAG": lambda folder: network().dag.cpdag(),
    "CPT": lambda folder: network()["smoke"],
    "Calibration": lambda folder: naive().evaluate(DATA.dropna()).calibration,
    "CellContributions": lambda folder: naive().explain(DATA[:2]),
    "ClassificationFitInfo": lambda folder: logistic().fit_info,
    "ClassificationModel": lambda folder: logistic(),
    "ColumnProfiles": lambda folder: bl.scan([DATA]).digest,
    "Comparison": lambda folder: bl.compare_networks(network(), network(), WORDS),
    "ComponentExplanation": lambda folder: mixture().explain(DATA[:1]),
    "ComponentSelection": lambda folder: mixture().fit_info.selection,
    "ContingencyTable": lambda folder: bl.contingency_tables(bl.as_table(WORDS), [[NAME, "smoke"]])[0],
    "CrossValidation": lambda folder: cross_validate(naive(), DATA.dropna(), cv=3),
    "DAG": lambda folder: network().dag,
    "EncodedSource": lambda folder: encode_to_disk(bl.scan([WORDS]), folder / "codes"),
    "Evaluation": lambda folder: bl.evaluate(bl.fit_linear(DATA, ["risk", "dose"]), DATA),
    "EvidenceExplanation": lambda folder: network().explain({"smoke": "yes"}, target=NAME),
    "FeatureExplanation": lambda folder: line().explain(DATA[:1])[0],
    "FeatureWeights": lambda folder: select_feature_weights(nearest()),
    "FileSource": source,
    "HMMFitInfo": lambda folder: chain().fit_info,
    "HiddenMarkovModel": lambda folder: chain(),
    "JointPosterior": lambda folder: network().inference.joint([NAME, "smoke"]),
    "LeaveOneOut": lambda folder: nearest().fit_info.leave_one_out,
    "LinearFitInfo": lambda folder: line().fit_info,
    "LocalFitInfo": lambda folder: local().fit_info,
    "LocalRegressionModel": lambda folder: local(),
    "LoopyPosterior": lambda folder: LoopyPropagation(network()).query({"smoke": "yes"}),
    "Metrics": lambda folder: naive().evaluate(DATA.dropna()),
    "MixtureFitInfo": lambda folder: mixture().fit_info,
    "MixtureModel": lambda folder: mixture(),
    "MostProbableExplanation": lambda folder: network().most_probable({"smoke": "yes"}),
    "NaiveBayesFitInfo": lambda folder: naive().fit_info,
    "NaiveBayesModel": lambda folder: naive(),
    "NeighborExplanation": lambda folder: nearest().explain(DATA[:1])[0],
    "NeighborsFitInfo": lambda folder: nearest().fit_info,
    "NeighborsModel": lambda folder: nearest(),
    "NumericMetrics": lambda folder: bl.evaluate(line(), DATA),
    "Posterior": lambda folder: network().query({"smoke": "yes"}),
    "PosteriorTable": lambda folder: network().predict_proba(WORDS[:3], NAME),
    "RBFFitInfo": lambda folder: bl.fit_rbf(DATA[["age", "risk"]], "risk", random_state=0).fit_info,
    "RegressionModel": lambda folder: line(),
    "SampledPosterior": lambda folder: SampledInference(network()).query(
        {"smoke": "yes"}, n_samples=500, random_state=0
    ),
    "Sensitivity": lambda folder: network().sensitivity({"smoke": "yes"}, NAME),
    "BayesGibbsComparison": lambda folder: lt.compare_bayes_gibbs(cube(), n_examples=4, n_runs=20, random_state=0),
    "Bound": lambda folder: lt.pac_bound("conjunctions:10", epsilon=0.1, delta=0.05),
    "CaseBase": lambda folder: CaseBase.load("plumbing"),
    "ConceptClass": lambda folder: cube(),
    "EpsilonExhaustion": lambda folder: lt.simulate_exhaustion(cube(), "00000011", n_examples=[5, 9], random_state=0),
    "ErrorIntervals": lambda folder: lt.error_intervals(3, 50),
    "Examples": lambda folder: examples(),
    "Halving": lambda folder: bl.Halving([lambda x, a=a: x >= a for a in range(9)]),
    "HypothesisCount": lambda folder: lt.HypothesisCount.conjunctions(10),
    "HypothesisPosterior": lambda folder: SPACE.posterior("uniform").update("head"),
    "KCNF": lambda folder: bl.KCNFClassifier(k=1).fit([[0, 0], [0, 1], [1, 1]], ["no", "no", "yes"]).hypothesis_,
    "ModelComparison": lambda folder: bl.compare_models(DATA[[NAME, "age", "dose"]], NAME, cv=2),
    "StandardClass": lambda folder: lt.standard_class("intervals"),
    "VersionSpace": lambda folder: bl.VersionSpace.fit(examples()),
    "WeightedMajority": lambda folder: bl.WeightedMajority([NAME, "bob"], classes=["rain", "sun"]),
    "StateExplanation": lambda folder: chain().explain(DATA[["age"]], 5),
    "StatePath": lambda folder: chain().decode(DATA[["age"]]),
    "StatePosterior": lambda folder: chain().posterior(DATA[["age"]]),
    "ArcStrengths": lambda folder: bl.fit_network(WORDS, bootstrap=5, random_state=0).fit_info.strengths,
    "StructureFitInfo": lambda folder: bl.fit_network(WORDS).fit_info,
    "ParameterFitInfo": lambda folder: network().fit_info,
    "StructurePosterior": lambda folder: bl.network.sample_structure_posterior(WORDS.dropna(), random_state=0),
    "NetworkCrossValidation": lambda folder: bl.network.cross_validate(network(), WORDS, target=NAME, cv=2),
    "LogLikelihood": lambda folder: network().score(WORDS),
    "HoldoutScore": lambda folder: bl.network.evaluate_holdout(bl.fit_network(WORDS)),
    "TextModel": lambda folder: mails(),
    "TextFitInfo": lambda folder: mails().fit_info,
    "TextExplanation": lambda folder: mails().explain("cheap noon"),
    "ClassWords": lambda folder: mails().explain_class(NAME),
    "HeldOutLikelihood": lambda folder: bl.cross_validate(bl.fit_mixture(DATA[["age", "dose"]], 2), DATA, cv=2),
    "VoteExplanation": lambda folder: bl.VersionSpace.fit(examples()).explain({NAME: "<i>", "air": "cold"}),
    "ExpertVotes": lambda folder: bl.WeightedMajority([NAME, "bob"], classes=["rain", "sun"]).explain(["sun", "rain"]),
}
#: Results that need an optional package.
OPTIONAL = {"DuckDBSource"}


def subclasses(cls):
    return {inner for direct in cls.__subclasses__() for inner in ({direct} | subclasses(direct))}


def result_classes():
    """The classes of results of the package."""
    for module in pkgutil.walk_packages(bl.__path__, "bayeslearn."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {cls.__name__ for cls in subclasses(Reported) if cls.__module__.startswith("bayeslearn.")}


@functools.cache
def built(name, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EXAMPLES[name](folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(params=sorted(EXAMPLES))
def result(request, folder):
    return built(request.param, folder)


def seen(page):
    """The text of HTML without its tags, as a browser shows it."""
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def numbers(text):
    """The numbers of a text, as words; digits in names and in bars are none."""
    return re.findall(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e-?\d+)?(?![\w.])", text)


def test_every_class_of_results_has_an_example():
    assert EXAMPLES.keys() - result_classes() == set()


def test_an_example_is_of_its_class(folder):
    assert {name: type(built(name, folder)).__name__ for name in EXAMPLES} == {name: name for name in EXAMPLES}


def test_html_has_the_numbers_of_the_text(result):
    shown = numbers(seen(result._repr_html_()))
    if "<svg" in result._repr_html_():
        assert NAME in seen(result._repr_html_())
    else:
        assert shown
        assert set(numbers(result.summary())) - set(shown) == set()


def test_html_escapes_names(result):
    assert "<i>" not in result._repr_html_()


def test_a_result_is_short_in_one_line(result):
    assert 0 < len(repr(result)) < 250
    assert "\n" not in repr(result)


def test_text_is_the_summary(result):
    assert result.summary().strip()
    if type(result).__name__ not in {
        "Bound",
        "CPDAG",
        "DAG",
        "HypothesisCount",
    }:  # a formula, or text that is read again
        assert str(result) == result.summary()


def test_a_dictionary_is_json(result):
    json.dumps(result.to_dict(), allow_nan=True)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_frame_is_of_the_library_that_is_named(result, backend):
    if not hasattr(result, "to_frame"):
        pytest.skip("no table")
    frame = result.to_frame(backend=backend)
    assert type(frame).__module__.startswith(backend)
    assert len(frame) > 0
