"""Hostile numbers for every learner: too large, too small, constant, weighed by almost nothing or by far too much.

Whatever the numbers, a learner refuses them by a named error, or answers: probabilities sum to one, predictions are
finite.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import bayeslearn
from bayeslearn import distributions
from bayeslearn.errors import BayeslearnWarning
from tests.fuzz.arrays import COLUMNS, WEIGHTS, refused_by_all, require_finite, require_probabilities
from tests.fuzz.trials import Target, recipe, refused

CLASSIFIERS: dict[str, Any] = {
    "AODEClassifier": {},
    "BayesianNetworkClassifier": {},
    "NaiveBayesClassifier": {},
    "NeighborsClassifier": {},
    "RBFClassifier": {"n_units": 3},
    "LogisticClassifier": {},
    "HypothesisClassifier": {"hypotheses": [DecisionTreeClassifier(max_depth=d) for d in (1, 2)]},
    "WeightedMajorityClassifier": {"estimators": [("stump", DecisionTreeClassifier(max_depth=1))]},
}
REGRESSORS: dict[str, Any] = {
    "BayesianLinearRegressor": {},
    "LocalRegressor": {},
    "NeighborsRegressor": {},
    "RBFRegressor": {"n_units": 3},
}
CLUSTERERS: dict[str, Any] = {
    "GaussianMixture": {"n_components": 2, "random_state": 0},
    "MixedTypeClusterer": {"n_components": 2, "n_init": 1, "random_state": 0},
    "HMMEstimator": {"max_iter": 5},
}
MORE = {
    "GaussianMixture": {"covariance_type": ["full", "tied", "diag", "spherical"]},
    "HMMEstimator": {"emissions": ["gaussian"], "covariance_type": ["diag", "full"]},
    "LocalRegressor": {"kernel": ["tricube", "gaussian"], "degree": [0, 1, 2]},
    "LogisticClassifier": {"algorithm": ["newton", "lbfgs", "gradient"]},
    "RBFRegressor": {"centers": ["k-means", "em", "farthest", "random", "evidence", "all"]},
}
ROWS = [1, 2, 3, 8, 40]


def make_of(learners: dict[str, Any]) -> Any:
    def make(rng: Random) -> bytes:
        name = rng.choice(list(learners))
        options = {key: rng.choice(values) for key, values in MORE.get(name, {}).items()}
        usual = rng.random() < 0.3
        return recipe(
            learner=name,
            options=options,
            rows=rng.choice(ROWS),
            columns=[rng.choice(list(COLUMNS)) for _ in range(rng.choice([1, 2, 3]))],
            target=rng.choice(list(COLUMNS)),
            weights="none" if usual else rng.choice(list(WEIGHTS)),
            asked=rng.choice(list(COLUMNS)),
            seed=rng.randrange(1 << 30),
        )

    return make


def table(trial: dict[str, Any], rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Rows to learn from, their weights, and rows to ask about."""
    n = trial["rows"]
    x = np.column_stack([COLUMNS[name](rng, n) for name in trial["columns"]])
    asked = x.copy()
    asked[:, 0] = COLUMNS[trial["asked"]](rng, n)
    return x, WEIGHTS[trial["weights"]](rng, n), asked


def fitted(trial: dict[str, Any], options: dict[str, Any], x: Any, y: Any, w: Any) -> Any:
    learner = getattr(bayeslearn, trial["learner"])(**options, **trial["options"])
    told = {} if w is None else {"sample_weight": w}
    if trial["learner"] in {"HMMEstimator", "WeightedMajorityClassifier"}:
        told = {}
    return learner.fit(x, **told) if y is None else learner.fit(x, y, **told)


def run_classifier(data: bytes) -> None:
    trial = json.loads(data)
    rng = np.random.default_rng(trial["seed"])
    x, w, asked = table(trial, rng)
    y = np.arange(len(x)) % 2
    with refused_by_all(), quiet():
        model = fitted(trial, CLASSIFIERS[trial["learner"]], x, y, w)
        for rows in (x, asked):
            assert len(model.predict(rows)) == len(rows)
            if hasattr(model, "predict_proba"):
                require_probabilities(model.predict_proba(rows))


def run_regressor(data: bytes) -> None:
    trial = json.loads(data)
    rng = np.random.default_rng(trial["seed"])
    x, w, asked = table(trial, rng)
    y = COLUMNS[trial["target"]](rng, len(x))
    with refused_by_all(), quiet():
        model = fitted(trial, REGRESSORS[trial["learner"]], x, y, w)
        for rows in (x, asked):
            require_finite(model.predict(rows))


def run_clusterer(data: bytes) -> None:
    trial = json.loads(data)
    rng = np.random.default_rng(trial["seed"])
    x, w, asked = table(trial, rng)
    with refused_by_all(), quiet():
        model = fitted(trial, CLUSTERERS[trial["learner"]], x, None, w)
        for rows in (x, asked):
            assert len(model.predict(rows)) == len(rows)
            require_probabilities(model.predict_proba(rows))


### distributions

FAMILIES = {
    "Normal": (distributions.Normal(), distributions.NormalInverseGamma.unit_information(0.0, 1.0)),
    "full": (
        distributions.MultivariateNormal(2),
        distributions.NormalInverseWishart.unit_information(np.zeros(2), np.eye(2)),
    ),
}


def make_family(rng: Random) -> bytes:
    return recipe(
        family=rng.choice(list(FAMILIES)), rows=rng.choice(ROWS), column=rng.choice(list(COLUMNS)),
        weights=rng.choice(list(WEIGHTS)), seed=rng.randrange(1 << 30),
    )  # fmt: skip


def run_family(data: bytes) -> None:
    """Statistics that are finite, and a batch that is the sum of its parts."""
    trial = json.loads(data)
    rng = np.random.default_rng(trial["seed"])
    family, prior = FAMILIES[trial["family"]]
    n = trial["rows"]
    x = COLUMNS[trial["column"]](rng, n)
    x = x if trial["family"] == "Normal" else np.column_stack([x, COLUMNS["normal"](rng, n)])
    w = WEIGHTS[trial["weights"]](rng, n)
    with refused(), quiet():
        whole = family.collect(x, sample_weight=w)
        for array in whole.arrays():
            require_finite(array)
        parts = [
            family.collect(x[rows], sample_weight=None if w is None else w[rows]) for rows in (slice(0, 1), slice(1, n))
        ]
        require_finite((parts[0] + parts[1]).mean)
        require_finite(family.estimate(family.update(prior, whole))[0])


@contextmanager
def quiet() -> Iterator[None]:
    """Within the block, the package's own warnings are as good as answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)
        yield


TARGETS = [
    Target("numerics/classifiers", make_of(CLASSIFIERS), run_classifier),
    Target("numerics/regressors", make_of(REGRESSORS), run_regressor),
    Target("numerics/clusters", make_of(CLUSTERERS), run_clusterer),
    Target("numerics/families", make_family, run_family),
]
