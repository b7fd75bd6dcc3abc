"""Models from others: a model of every kind, its file changed; a named error, or a model whose answers are finite."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from bayeslearn import AODEClassifier, BayesianNetwork, containers, fit_parameters
from bayeslearn.case_based import CaseBase, retrieve
from bayeslearn.ensemble import (
    BayesOptimalModel,
    BayesOptimalRegressionModel,
    fit_bayes_optimal,
    fit_bayes_optimal_regression,
)
from bayeslearn.hmm import HiddenMarkovModel, fit_hmm
from bayeslearn.hypotheses import Examples, FiniteSpace, HypothesisPosterior, VersionSpace
from bayeslearn.learning_theory.k_cnf import KCNF
from bayeslearn.mixture import MixtureModel, fit_mixture
from bayeslearn.naive_bayes import NaiveBayesModel, fit_naive_bayes
from bayeslearn.naive_bayes.tabular.aode import AODEModel
from bayeslearn.naive_bayes.text import HashedVocabulary, TextModel, fit_text
from bayeslearn.neighbors import NeighborsModel
from bayeslearn.network import (
    AveragedNetworks,
    OnlineEM,
    StructurePosterior,
    fit_parameters_online,
    sample_structure_posterior,
)
from bayeslearn.online import BayesMixture, Halving, WeightedMajority
from bayeslearn.regression import (
    ClassificationModel,
    LocalRegressionModel,
    RegressionModel,
    fit_linear,
    fit_local,
    fit_logistic,
    fit_rbf,
    fit_rbf_classifier,
)
from bayeslearn.trees import BayesianForestModel, fit_forest
from tests.fuzz import mutations
from tests.fuzz.trials import Target, refused

N = 24
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2)).round(3)
TABLE = {
    "x": X[:, 0].tolist(),
    "z": X[:, 1].tolist(),
    "c": [("red", "green", "blue")[i % 3] for i in range(N)],
    "n": [int(i % 5) for i in range(N)],
}
LABELS = [("yes", "no")[int(a + b > 0)] for a, b in X]
ROWS = {**TABLE, "y": LABELS}
INPUTS = {"x": TABLE["x"], "c": TABLE["c"]}
NUMBERS = (2 * X[:, 0] - X[:, 1] + 0.1 * RNG.standard_normal(N)).round(3)
TEXTS = ["a cheap watch", "a meeting at noon", "cheap cheap", "noon at the office"] * 2


COLORED = {"c": TABLE["c"], "y": LABELS}
COLORED_STATES = {"c": ["red", "green", "blue"], "y": ["yes", "no"]}
GRAPHS = ("[c][y|c]", "[c][y]")
ODDS = [[[0.9, 0.1], [0.5, 0.5]], [[0.3, 0.7], [0.5, 0.5]]]
STATES = [[c, "odd" if n % 2 else "even"] for c, n in zip(TABLE["c"], TABLE["n"], strict=True)]
COIN = FiniteSpace.from_table(
    {"fair": {"head": 0.5, "tail": 0.5}, "bent": {"head": 0.9, "tail": 0.1}, "two": {"head": 1.0}}
)
EXAMPLES = Examples.from_rows(
    [["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"], ["rainy", "warm"]], [True, True, False, False]
)


class Kind(NamedTuple):
    """A kind of model: a small one, what is asked of it, and how it is read."""

    learned: Callable[[], Any]
    use: Callable[[Any], list[Any]]
    load: Callable[[Path], Any]


### what is asked


def shares(p: Any) -> Any:
    """Probabilities, which sum to one in every row."""
    p = np.asarray(p, float)
    np.testing.assert_allclose(p.sum(axis=-1), 1, atol=1e-6)
    assert (p >= 0).all(), p.min()
    return p


def likelihood(log_p: Any) -> None:
    """Log likelihoods: impossible is a possible answer."""
    assert not np.isnan(log_p).any()
    assert not np.isposinf(log_p).any()


def use_mixture(data: Any, model: MixtureModel) -> list[Any]:
    return [
        lambda: shares(model.predict_proba(data)),
        lambda: model.predict(data),
        lambda: model.update(data).weights,
        lambda: model.sample(3, random_state=0) and None,
    ]


def use_hmm(data: Any, model: HiddenMarkovModel) -> list[Any]:
    return [
        lambda: likelihood(model.log_likelihood(data)),
        lambda: shares(model.posterior(data).probabilities),
        lambda: likelihood(model.decode(data).log_probability),
        lambda: model.update(data).startprob,
        lambda: model.sample(4, random_state=0) and None,
        lambda: shares(model.stationary_distribution()),
    ]


def use_naive(model: NaiveBayesModel) -> list[Any]:
    return [
        lambda: shares(model.predict_proba(TABLE)),
        lambda: model.predict(TABLE).tolist() and None,
        lambda: model.explain(TABLE) and None,
        lambda: model.update(ROWS).class_counts,
    ]


def use_text(model: Any) -> list[Any]:
    return [lambda: shares(model.predict_proba(TEXTS)), lambda: model.predict([*TEXTS, ""]) and None]


def use_neighbors(model: NeighborsModel, *, numbers: bool) -> list[Any]:
    asked = [lambda: model.nearest(INPUTS)[0], lambda: model.explain(INPUTS) and None]
    if numbers:
        return [*asked, lambda: model.predict(INPUTS), lambda: model.predict_interval(INPUTS)]
    return [*asked, lambda: shares(model.predict_proba(INPUTS)), lambda: model.predict(INPUTS).tolist() and None]


def use_forest(model: BayesianForestModel, *, numbers: bool) -> list[Any]:
    asked = [lambda: model.explain(INPUTS) and None, lambda: [*model.feature_importances.values()]]
    if numbers:
        return [*asked, lambda: model.predict(INPUTS), lambda: model.predict_interval(INPUTS)]
    return [
        *asked,
        lambda: shares(model.predict_proba(INPUTS)),
        lambda: model.update(INPUTS, LABELS).log_likelihood(INPUTS, LABELS),
    ]


def use_regression(model: RegressionModel) -> list[Any]:
    return [
        lambda: model.predict(INPUTS),
        lambda: model.predict_interval(INPUTS)[0],
        lambda: model.update(INPUTS, NUMBERS).predict(INPUTS),
    ]


def use_classification(model: ClassificationModel) -> list[Any]:
    return [
        lambda: shares(model.predict_proba(INPUTS)),
        lambda: model.predict(INPUTS).tolist() and None,
        lambda: model.predict_interval(INPUTS),
        lambda: shares(model.update(INPUTS, LABELS).predict_proba(INPUTS)),
    ]


def use_local(model: LocalRegressionModel) -> list[Any]:
    return [lambda: model.local_fits(INPUTS).mean, lambda: model.noise]


def use_online(model: Any) -> list[Any]:
    votes = [["yes", "no", "yes"], ["no", "no", "yes"]]
    return [
        lambda: model.predict(votes).tolist() and None,
        lambda: model.partial_fit(votes, ["yes", "no"]).log_weights[:0],
        lambda: [sum(model.weights.values())],
        lambda: [model.bound, model.regret][:0],
    ]


def use_cases(base: CaseBase) -> list[Any]:
    return [lambda: retrieve(base, "Q1 ->+ Q3", max_results=2, time_limit=1) and None]


def use_network(net: BayesianNetwork) -> list[Any]:
    name = net.variables[0]
    return [
        lambda: shares(list(net.query({}, [name])[name].values())),
        lambda: net.update({"c": TABLE["c"], "y": LABELS}) and None,
    ]


def use_hypotheses(posterior: HypothesisPosterior) -> list[Any]:
    first = posterior.space.names[0]
    return [
        lambda: shares(list(posterior.probabilities.values())),
        lambda: [posterior.log_marginal_likelihood, posterior[first]],
        lambda: shares(list(posterior.update("head").predictive().values())),
        lambda: (posterior + posterior).map_hypotheses and None,
    ]


def use_version_space(space: VersionSpace) -> list[Any]:
    row = [states[0] for states in space.attributes.states]
    return [
        lambda: [space.size % 2**50],
        lambda: space.vote(row) and None,
        lambda: space.update(row, True) and None,
    ]


def use_k_cnf(h: KCNF) -> list[Any]:
    row = [states[0] for states in h.attributes.states]
    return [lambda: h.covers([row]), lambda: h.summary() and None, lambda: h.update([row], [True]) and None]


def use_one_dependence(model: AODEModel) -> list[Any]:
    return [lambda: shares(model.predict_proba(STATES)), lambda: (model + model).predict(STATES) and None]


def use_expert_mixture(mixture: BayesMixture) -> list[Any]:
    return [
        lambda: shares(mixture.predict_proba(ODDS)),
        lambda: [sum(mixture.weights.values()), mixture.log_loss],
        lambda: shares((mixture + mixture).predict_proba(ODDS)),
    ]


def use_average(average: AveragedNetworks) -> list[Any]:
    return [
        lambda: shares(list(average.query({"c": "red"}).beliefs["y"].values())),
        lambda: likelihood(average.log_likelihood(COLORED)),
    ]


def use_structures(found: StructurePosterior) -> list[Any]:
    return [
        lambda: [p for *_, p in found.ranked_arcs()],
        lambda: likelihood(found.model_average(COLORED).log_likelihood(COLORED)),
        lambda: found.symmetrized().converged and None,
    ]


def use_online_em(learner: OnlineEM) -> list[Any]:
    return [
        lambda: likelihood(learner.network.log_likelihood(COLORED)),
        lambda: learner.update(COLORED).total_weight,
    ]


def use_ensemble(model: BayesOptimalModel) -> list[Any]:
    return [
        lambda: shares(model.predict_proba(TABLE)),
        lambda: model.predict(TABLE).tolist() and None,
        lambda: model.explain(TABLE) and None,
    ]


def use_mean_ensemble(model: BayesOptimalRegressionModel) -> list[Any]:
    return [
        lambda: model.predict(INPUTS),
        lambda: model.predict_interval(INPUTS)[0],
        lambda: model.explain(INPUTS) and None,
    ]


### kinds


def hmm(data: Any, **options: Any) -> Kind:
    """A hidden Markov model of two states."""

    def learned() -> Any:
        return fit_hmm(data, 2, max_iter=2, n_init=1, **options).update(data)

    return Kind(learned, partial(use_hmm, data), HiddenMarkovModel.load)


def mixture(data: Any, learned: Callable[[], Any]) -> Kind:
    """A mixture, updated once, so that it has a lineage."""
    return Kind(lambda: learned().update(data), partial(use_mixture, data), MixtureModel.load)


def online(kind: Any) -> Kind:
    """A learner of three experts."""

    def learned() -> Any:
        return kind(3, classes=["yes", "no"]).partial_fit([["yes", "no", "yes"]] * 3, ["yes"] * 3)

    return Kind(learned, use_online, kind.load)


def text(**options: Any) -> Kind:
    """A model of texts."""

    def learned() -> Any:
        return fit_text(TEXTS, ["spam", "ham"] * 4, **options)

    return Kind(learned, use_text, TextModel.load)


KINDS: dict[str, Kind] = {
    "mixture_gaussian": mixture(X, lambda: fit_mixture(X, 2, random_state=0)),
    "mixture_diagonal": mixture(X, lambda: fit_mixture(X, 2, covariance_type="diag", random_state=0)),
    "mixture_tied": mixture(X, lambda: fit_mixture(X, 2, covariance_type="tied", random_state=0)),
    "mixture_table": mixture(TABLE, lambda: fit_mixture(TABLE, 2, random_state=0)),
    "hmm_symbols": hmm(TABLE["c"]),
    "hmm_counts": hmm(TABLE["n"], emissions="poisson"),
    "hmm_gaussian": hmm(X, emissions="gaussian"),
    "hmm_full": hmm(X, emissions="gaussian", covariance_type="full"),
    "hmm_mixture": hmm(X, emissions="gaussian", n_mixtures=2),
    "naive_bayes": Kind(lambda: fit_naive_bayes(ROWS, "y").update(ROWS), use_naive, NaiveBayesModel.load),
    "text": text(),
    "text_hashed": text(vocabulary=HashedVocabulary(64)),
    "text_bernoulli": text(likelihood="bernoulli"),
    "text_version_1": text(),
    "neighbors": Kind(
        lambda: NeighborsModel.from_arrays(INPUTS, LABELS), partial(use_neighbors, numbers=False), NeighborsModel.load
    ),
    "neighbors_numbers": Kind(
        lambda: NeighborsModel.from_arrays(INPUTS, NUMBERS), partial(use_neighbors, numbers=True), NeighborsModel.load
    ),
    "forest": Kind(
        lambda: fit_forest(INPUTS, LABELS, n_estimators=3, random_state=0).update(INPUTS, LABELS),
        partial(use_forest, numbers=False), BayesianForestModel.load,
    ),
    "forest_numbers": Kind(
        lambda: fit_forest(INPUTS, NUMBERS, n_estimators=3, random_state=0), partial(use_forest, numbers=True),
        BayesianForestModel.load,
    ),
    "linear": Kind(
        lambda: fit_linear(INPUTS, NUMBERS).update(INPUTS, NUMBERS), use_regression, RegressionModel.load
    ),
    "radial": Kind(lambda: fit_rbf(INPUTS, NUMBERS, 3, random_state=0), use_regression, RegressionModel.load),
    "sigmoid": Kind(lambda: fit_logistic(INPUTS, LABELS), use_classification, ClassificationModel.load),
    "radial_classes": Kind(
        lambda: fit_rbf_classifier(INPUTS, LABELS, 3, random_state=0), use_classification, ClassificationModel.load
    ),
    "local": Kind(lambda: fit_local(INPUTS, NUMBERS, n_neighbors=8), use_local, LocalRegressionModel.load),
    "halving": online(Halving),
    "weighted_majority": online(WeightedMajority),
    "network": Kind(
        lambda: fit_parameters("[c][y|c]", {"c": TABLE["c"], "y": LABELS}).update({"c": ["red"], "y": ["no"]}),
        use_network, BayesianNetwork.load,
    ),
    "one_dependence": Kind(
        lambda: AODEClassifier().fit(STATES, LABELS).model_, use_one_dependence, AODEModel.load
    ),
    "hypotheses": Kind(
        lambda: COIN.posterior([0.3, 0.7, 0.0]).update_many(["head", "tail", "head"]),
        use_hypotheses,
        HypothesisPosterior.load,
    ),
    "hypotheses_named": Kind(
        lambda: FiniteSpace.from_functions({"a": lambda x: x, "b": lambda x: 1 - x}).posterior().update(0.25),
        use_hypotheses, HypothesisPosterior.load,
    ),
    "version_space": Kind(lambda: VersionSpace.fit(EXAMPLES), use_version_space, VersionSpace.load),
    "k_cnf": Kind(lambda: KCNF.fit(EXAMPLES, 2), use_k_cnf, KCNF.load),
    "expert_mixture": Kind(
        lambda: BayesMixture(["a", "b"], classes=["yes", "no"], prior=[1, 3]).partial_fit(ODDS, ["yes", "no"]),
        use_expert_mixture, BayesMixture.load,
    ),
    "network_average": Kind(
        lambda: AveragedNetworks([fit_parameters(dag, COLORED) for dag in GRAPHS], [0.75, 0.25]),
        use_average, AveragedNetworks.load,
    ),
    "structure_posterior": Kind(
        lambda: sample_structure_posterior(COLORED, n_samples=20), use_structures, StructurePosterior.load
    ),
    "online_em": Kind(
        lambda: fit_parameters_online("[h][c|h][y|c]", [COLORED, COLORED], states=COLORED_STATES, hidden={"h": 2}),
        use_online_em, OnlineEM.load,
    ),
    "bayes_optimal": Kind(
        lambda: fit_bayes_optimal(ROWS, "y", members=["naive-bayes", "aode", "logistic", "k-nn"]),
        use_ensemble, BayesOptimalModel.load,
    ),
    "bayes_optimal_regression": Kind(
        lambda: fit_bayes_optimal_regression(INPUTS, NUMBERS, members=["linear", "k-nn"]),
        use_mean_ensemble, BayesOptimalRegressionModel.load,
    ),
    "cases": Kind(lambda: CaseBase.load("plumbing"), use_cases, CaseBase.load),
}  # fmt: skip

#: Files of earlier versions, by the kind that reads them.
OLD = {"text_version_1": Path(__file__).parents[1] / "golden" / "models" / "texts.model"}

### trials


@cache
def written(name: str) -> bytes:
    """The file of a model as JSON."""
    return saved(name, "model.json")


@cache
def written_packed(name: str) -> bytes:
    """The packed file of a model, unpacked: a head, and every array of more than two numbers behind it."""
    with patch.object(containers, "MAX_INLINE", 2):
        return gzip.decompress(saved(name, "model.model"))


def saved(name: str, file: str) -> bytes:
    """The bytes of a model that is saved under a name."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / file
        KINDS[name].learned().save(path)
        return path.read_bytes()


def make(name: str, rng: Random) -> bytes:
    """The file of a model with a few changes: JSON or packed, at times damaged."""
    if name in OLD or (name != "network" and rng.random() < 0.4):  # networks are written in their own formats
        data = gzip.decompress(OLD[name].read_bytes()) if name in OLD else written_packed(name)
        head, _, arrays = data.partition(b"\n")
        if rng.random() < 0.6:
            head = mutations.mutate_json_text(rng, head)
        if rng.random() < 0.4:
            arrays = mutations.mutate_bytes(rng, arrays)
        data = gzip.compress(head + b"\n" + arrays, mtime=0)
        return mutations.mutate_bytes(rng, data) if rng.random() < 0.1 else data
    data = written(name)
    data = mutations.mutate_json_text(rng, data) if rng.random() < 0.9 else repeated_key(rng, data)
    if rng.random() < 0.1:
        data = gzip.compress(data, mtime=0)
        data = mutations.mutate_bytes(rng, data) if rng.random() < 0.5 else data
    return data


def repeated_key(rng: Random, data: bytes) -> bytes:
    """A document with a key twice, or with very deep lists."""
    keys = list(json.loads(data))
    deep = rng.choice([10, 70, 900, 100_000])
    value = rng.choice(["0", "null", "[" * deep + "]" * deep, '{"a":' * deep + "0" + "}" * deep])
    return b"{" + json.dumps(rng.choice([*keys, "further"])).encode() + b":" + value.encode() + b"," + data.lstrip()[1:]


def run(name: str, data: bytes) -> None:
    """Load a file, ask the model, write it and load it again."""
    kind = KINDS[name]
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("model.model" if data[:2] == b"\x1f\x8b" else "model.json")
        path.write_bytes(data)
        model = None
        with refused():
            model = kind.load(path)
        if model is None:
            return
        for question in kind.use(model):
            with refused():
                answer = question()
                assert answer is None or finite(answer), answer
        with refused():
            model.save(path)
            kind.load(path)


def finite(answer: Any) -> bool:
    """Whether no number is NaN or infinite."""
    if isinstance(answer, tuple | list):
        return all(map(finite, answer))
    return bool(np.isfinite(np.asarray(answer, float)).all())


TARGETS = [Target(f"models/{name}", partial(make, name), partial(run, name)) for name in KINDS]
