"""No value and no fitted learner keeps an array that its caller can still write to."""

from __future__ import annotations

import types

import numpy as np
import pytest

import bayeslearn
from bayeslearn import distributions, hypotheses, learning_theory, tables
from bayeslearn.hmm import (
    CategoricalEmissions,
    FullGaussianEmissions,
    GaussianEmissions,
    HiddenMarkovModel,
    PoissonEmissions,
    Sequences,
)  # fmt: skip
from bayeslearn.naive_bayes.text import DocumentCounts
from bayeslearn.neighbors import build_index
from bayeslearn.network import CPT
from bayeslearn.regression import LocalRegressionModel, RBFBasis

LEAVES = (str, bytes, int, float, complex, type(None), type, types.FunctionType, types.ModuleType, types.MethodType)

rng = np.random.default_rng(0)


def arrays_of(root, path="", seen=None):
    """Every array that can be reached from a value, and how."""
    seen = set() if seen is None else seen
    if id(root) in seen or isinstance(root, LEAVES):
        return
    seen.add(id(root))
    if isinstance(root, np.ndarray):
        yield path, root
    elif isinstance(root, dict):
        for key, value in root.items():
            yield from arrays_of(value, f"{path}[{key!r}]", seen)
    elif isinstance(root, list | tuple | set | frozenset):
        for i, value in enumerate(root):
            yield from arrays_of(value, f"{path}[{i}]", seen)
    else:
        for name, value in list(getattr(root, "__dict__", {}).items()):
            yield from arrays_of(value, f"{path}.{name}", seen)


def shared(value, given):
    """Where a value keeps one of the arrays that were given."""
    return [path for path, array in arrays_of(value) if any(np.shares_memory(array, mine) for mine in given)]


def numbers(*shape):
    return rng.normal(size=shape)


def positive(*shape):
    return rng.random(shape) + 0.1


def shares(*shape):
    p = positive(*shape)
    return p / p.sum(axis=-1, keepdims=True)


def codes(n_states, *shape):
    return rng.integers(n_states, size=shape)


X, LABELS, WEIGHTS = numbers(60, 3), codes(2, 60), positive(60)
COIN = tables.DiscreteVariable("side", ["head", "tail"])


def chain(start, moves, theta):
    return HiddenMarkovModel(("a", "b"), start, moves, CategoricalEmissions(COIN, theta))


VALUES = {
    "Table": (
        lambda a, b, c: tables.Table(tables.Schema([COIN, tables.NumericVariable("x")]), a, b, c),
        [codes(2, 1, 9).astype(np.int8), numbers(1, 9), positive(9)],
    ),
    "Table.with_weights": (lambda w: tables.as_table(X).with_weights(w), [positive(60)]),
    "as_table": (lambda x, w: tables.as_table(x, sample_weight=w), [numbers(50, 3), positive(50)]),
    "as_table of codes": (lambda x, w: tables.as_table(x, sample_weight=w), [codes(3, 50, 3), positive(50)]),
    "as_table of columns": (lambda x, y: tables.as_table({"x": x, "y": y}), [numbers(50), codes(3, 50)]),
    "Dirichlet": (distributions.Dirichlet, [positive(3)]),
    "Beta": (distributions.Beta, [positive(3), positive(3)]),
    "Gamma": (distributions.Gamma, [positive(3), positive(3)]),
    "Counts": (distributions.Counts, [positive(3)]),
    "Totals": (distributions.PoissonStatistics, [positive(3), positive(3), positive(3)]),
    "Moments": (distributions.Moments, [positive(3), numbers(3), positive(3)]),
    "JointMoments": (distributions.JointMoments, [positive(2), numbers(2, 3), np.stack([np.eye(3)] * 2)]),
    "LogLikelihoods": (distributions.LogLikelihoods, [-positive(3), np.zeros(3)]),
    "Finite": (distributions.FinitePrior, [np.log(shares(3))]),
    "NormalInverseGamma": (distributions.NormalInverseGamma, [numbers(3), positive(3), positive(3), positive(3)]),
    "NormalInverseWishart": (distributions.NormalInverseWishart, [numbers(3), positive(), positive() + 5, np.eye(3)]),
    "RegressionPrior": (distributions.RegressionPrior, [positive(), numbers(3), np.eye(3), positive()]),
    "StudentT": (distributions.StudentT, [positive(3), numbers(3), positive(3)]),
    "CPT": (lambda p: CPT(COIN, (), p), [shares(2)]),
    "Sequences": (
        lambda x, n, w, s: Sequences(x, n, (0, 1), w, s),
        [numbers(9, 1), np.array([4, 5]), positive(2), codes(2, 9).astype(np.int32)],
    ),
    "HiddenMarkovModel": (chain, [shares(2), shares(2, 2), shares(2, 2)]),
    "GaussianEmissions": (lambda m, v: GaussianEmissions(("x", "y"), m, v), [numbers(2, 2), positive(2, 2)]),
    "FullGaussianEmissions": (
        lambda m, v: FullGaussianEmissions(("x", "y"), m, v), [numbers(2, 2), np.stack([np.eye(2)] * 2)],
    ),
    "PoissonEmissions": (lambda rate: PoissonEmissions("x", rate), [positive(2)]),
    "RBFBasis": (RBFBasis, [numbers(3, 2), positive(3)]),
    "brute force": (lambda x: build_index(x, algorithm="brute"), [numbers(50, 3)]),
    "k-d tree": (lambda x: build_index(x, algorithm="kd_tree"), [numbers(50, 3)]),
    "DocumentCounts": (
        lambda a, b, c: DocumentCounts(a, b, c, 2),
        [np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.int32)],
    ),
    "DocumentCounts.of": (DocumentCounts.of, [codes(5, 6, 3).astype(np.int32)]),
    "ConceptClass": (lambda x: learning_theory.ConceptClass(x, ("h", "g"), (0, 1)), [np.eye(2, dtype=bool)]),
    "ConceptClass.from_matrix": (learning_theory.ConceptClass.from_matrix, [np.eye(3, dtype=bool)]),
    "Examples": (
        lambda c, y: hypotheses.Examples(hypotheses.AttributeSpace.parse(3), c, y),
        [codes(2, 4, 3), codes(2, 4).astype(bool)],
    ),
}  # fmt: skip

LEARNERS = {
    "AODEClassifier": LABELS, "BayesianForestClassifier": LABELS, "BayesianForestRegressor": X[:, 0],
    "NaiveBayesClassifier": LABELS, "NeighborsClassifier": LABELS,
    "RBFClassifier": LABELS, "LogisticClassifier": LABELS, "BayesianLinearRegressor": X[:, 0],
    "LocalRegressor": X[:, 0], "NeighborsRegressor": X[:, 0], "RBFRegressor": X[:, 0],
    "GaussianMixture": None, "MixedTypeClusterer": None,
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_a_value_owns_its_arrays(name):
    make, given = VALUES[name]
    value = make(*given)
    assert shared(value, given) == []
    assert shared(make(*(read_only_view(array) for array in given)), given) == []


def read_only_view(array):
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
def test_a_fitted_learner_owns_its_arrays(name):
    x, weights = X.copy(), WEIGHTS.copy()
    y = None if LEARNERS[name] is None else LEARNERS[name].copy()
    model = getattr(bayeslearn, name)().fit(x, y, sample_weight=weights)
    model.predict(x)
    assert shared(model, [a for a in (x, y, weights) if a is not None]) == []


def test_rows_of_a_local_model_are_its_own():
    x, y, weights = numbers(30, 2), numbers(30), positive(30)
    model = bayeslearn.regression.fit_local(x, y, sample_weight=weights)
    assert isinstance(model, LocalRegressionModel)
    assert shared(model, [x, y, weights]) == []
