"""Every learner of the package keeps the contract of tests/contract.py."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import BernoulliNB, GaussianNB

import bayeslearn
from bayeslearn import (
    AODEClassifier,
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianLinearRegressor,
    BayesianNetworkClassifier,
    BayesOptimalClassifier,
    BayesOptimalRegressor,
    FindSClassifier,
    GaussianMixture,
    GibbsClassifier,
    HMMEstimator,
    HypothesisClassifier,
    KCNFClassifier,
    LocalRegressor,
    LogisticClassifier,
    MixedTypeClusterer,
    NaiveBayesClassifier,
    NeighborsClassifier,
    NeighborsRegressor,
    RBFClassifier,
    RBFRegressor,
    TextClassifier,
    VersionSpaceClassifier,
    WeightedMajorityClassifier,
    fit_parameters,
)
from tests.contract import CHECKS

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (40, 4))
CONCEPT = ((X[:, 0] == 1) & (X[:, 2] == 2)).astype(int)
NOISY = np.where(RNG.random(40) < 0.15, 1 - CONCEPT, CONCEPT)


def first_is_one(x):
    return int(x[0] == 1)


def third_is_two(x):
    return int(x[2] == 2)


def constant(x):
    return 0


NAIVE = "[x0|y][x1|y][x2|y][x3|y][y]"
STATES = {f"x{j}": [0, 1, 2] for j in range(4)} | {"y": [0, 1]}
KNOWN = fit_parameters(NAIVE, {f"x{j}": X[:, j] for j in range(4)} | {"y": NOISY}, states=STATES, prior=None)
ANY_COLUMN = [FrozenEstimator(kind.fit(X, NOISY)) for kind in (BernoulliNB(), GaussianNB())]
LEARNERS = {
    "optimal over functions": (HypothesisClassifier([first_is_one, third_is_two, constant], noise=0.1), NOISY),
    "optimal over fitted classifiers": (HypothesisClassifier(ANY_COLUMN), NOISY),
    "optimal over learners": (HypothesisClassifier([GaussianNB(), BernoulliNB()]), NOISY),
    "Gibbs": (GibbsClassifier([first_is_one, third_is_two, constant], noise=0.1, random_state=0), NOISY),
    "Find-S": (FindSClassifier(), CONCEPT),
    "k-CNF": (KCNFClassifier(), CONCEPT),
    "version space": (VersionSpaceClassifier(), CONCEPT),
    "network": (BayesianNetworkClassifier(), NOISY),
    "network that learns its structure": (BayesianNetworkClassifier("auto"), NOISY),
    "network around its class": (BayesianNetworkClassifier("tan", prior="bdeu:1"), NOISY),
    "network of known states": (BayesianNetworkClassifier(KNOWN), NOISY),
    "naive Bayes": (NaiveBayesClassifier(calibrate=False), NOISY),
    "naive Bayes, calibrated": (NaiveBayesClassifier(), NOISY),
    "text": (TextClassifier(), NOISY),
    "text, multinomial": (TextClassifier(likelihood="multinomial", prior=1.0), NOISY),
    "naive Bayes, parameters integrated out": (
        NaiveBayesClassifier(estimate="integrated", prior="m:2", calibrate=False),
        NOISY,
    ),
    "averaged one-dependence": (AODEClassifier(calibrate=False), NOISY),
    "averaged one-dependence, calibrated": (AODEClassifier(), NOISY),
    "neighbors": (NeighborsClassifier(3, metric="euclidean"), NOISY),
    "neighbors, numbers": (NeighborsRegressor("all", weights="inverse_square", metric="euclidean"), X[:, 0] + NOISY),
    "forest": (BayesianForestClassifier(5, random_state=0), NOISY),
    "forest, numbers": (BayesianForestRegressor(5, random_state=0), X[:, 0] + NOISY),
    "least squares": (BayesianLinearRegressor(), X[:, 0] + NOISY),
    "local": (LocalRegressor(locality="kernel", kernel="gaussian", bandwidth=2.0), X[:, 0] + NOISY),
    "sigmoid": (LogisticClassifier(), NOISY),
    "radial": (RBFRegressor(centers="all", width=1.0), X[:, 0] + NOISY),
    "radial, classes": (RBFClassifier(5, centers="farthest", prior=1.0, random_state=0), NOISY),
    "Bayes optimal": (BayesOptimalClassifier(["naive-bayes", "logistic"]), NOISY),
    "Bayes optimal, numbers": (BayesOptimalRegressor(["linear", "k-nn"]), X[:, 0] + NOISY),
    "weighted majority": (WeightedMajorityClassifier([GaussianNB(), BernoulliNB()]), NOISY),
    "weighted majority of fitted classifiers": (WeightedMajorityClassifier(ANY_COLUMN), NOISY),
    "version space, weighted": (VersionSpaceClassifier(vote="weighted", favor=2), CONCEPT),
}

#: What cannot hold, and why.
EXCEPTIONS = {
    ("optimal over functions", "check_order_of_columns_is_irrelevant"): "the functions name columns by position",
    ("Gibbs", "check_order_of_columns_is_irrelevant"): "the functions name columns by position",
    ("optimal over fitted classifiers", "check_order_of_columns_is_irrelevant"): "fitted to the order of the columns",
    ("sigmoid", "check_batches_equal_the_whole"): "what is known is handed on as a normal, which it is only nearly",
    ("radial, classes", "check_batches_equal_the_whole"): "the first batch places the units",
    ("radial", "check_batches_equal_the_whole"): "the first batch places the units",
    ("weighted majority", "check_order_of_rows_is_irrelevant"): "rows are dealt out into folds in turn",
    ("weighted majority", "check_batches_equal_the_whole"): "batches are asked first, the whole out of fold",
    (
        "weighted majority of fitted classifiers",
        "check_order_of_columns_is_irrelevant",
    ): "fitted to the order of the columns",
    (
        "weighted majority of fitted classifiers",
        "check_labels_come_back_as_written",
    ): "fitted to the labels 0 and 1",
    ("neighbors", "check_order_of_rows_is_irrelevant"): "of rows equally far the first is nearer",
    (
        "optimal over learners",
        "check_order_of_columns_is_irrelevant",
    ): "the folds depend on the rows as they are written",
    ("optimal over functions", "check_labels_come_back_as_written"): "the functions return 0 and 1",
    ("network of known states", "check_labels_come_back_as_written"): "the network has the labels 0 and 1",
    ("Gibbs", "check_labels_come_back_as_written"): "the functions return 0 and 1",
    ("optimal over fitted classifiers", "check_labels_come_back_as_written"): "fitted to the labels 0 and 1",
}

BATCHES = "check_batches_equal_the_whole"
EXCEPTIONS |= {
    (name, BATCHES): "the first rows show which states a column has"
    for name in ("Find-S", "k-CNF", "version space", "version space, weighted")
}
EXCEPTIONS |= {
    (name, BATCHES): "a network is updated as a model: network_.update"
    for name in ("network", "network that learns its structure", "network around its class")
}
EXCEPTIONS |= {
    (name, check): "exponents are estimated over folds of the rows as they are written"
    for name in ("naive Bayes, calibrated", "averaged one-dependence, calibrated")
    for check in (
        "check_order_of_rows_is_irrelevant", "check_weight_two_is_the_row_twice", "check_weight_zero_is_no_row", BATCHES
    )
}  # fmt: skip
EXCEPTIONS |= {
    (name, "check_rows_without_a_target"): "a row without a target always adds nothing"
    for name in ("least squares", "local", "radial")
}
EXCEPTIONS |= {
    ("text", BATCHES): "a calibration is based on the documents of one batch",
    ("optimal over learners", BATCHES): "hypotheses that learn are weighed out of fold",
    ("averaged one-dependence", BATCHES): "the first rows show which states a column has",
}

for name in ("Bayes optimal", "Bayes optimal, numbers"):
    EXCEPTIONS |= {
        (name, "check_order_of_rows_is_irrelevant"): "rows are dealt out into folds in turn",
        (name, "check_weight_two_is_the_row_twice"): "a row twice may be in two folds",
        (name, BATCHES): "members are weighed out of fold",
    }

FORESTS = ("forest", "forest, numbers")
EXCEPTIONS |= {(name, BATCHES): "the first batch grows the trees" for name in FORESTS}
EXCEPTIONS |= {
    (name, check): "samples of rows and of columns are drawn by their places"
    for name in FORESTS
    for check in (
        "check_order_of_rows_is_irrelevant", "check_order_of_columns_is_irrelevant",
        "check_weight_two_is_the_row_twice",
    )
}  # fmt: skip

FUNCTIONS = ("optimal over functions", "Gibbs")
FITTED = ("optimal over fitted classifiers", "weighted majority of fitted classifiers")
NAMES = ("check_names_of_columns_are_kept", "check_the_target_may_be_a_column")
EXCEPTIONS |= {(name, check): "the functions name columns by position" for name in FUNCTIONS for check in NAMES}
EXCEPTIONS |= {(name, check): "fitted to columns without names" for name in FITTED for check in NAMES}
EXCEPTIONS |= {("network of known states", check): "the network names its columns" for check in NAMES}
EXCEPTIONS |= {
    (name, check): "documents have no columns with names" for name in ("text", "text, multinomial") for check in NAMES
}
EXCEPTIONS |= {
    (name, "check_classes_of_every_type"): "the labels are 0 and 1"
    for name in (*FUNCTIONS, *FITTED, "network of known states")
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_contract(name, check):
    if (name, check.__name__) in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[name, check.__name__])
    learner, y = LEARNERS[name]
    check(learner, X, y)


#: Learners that take no labels.
UNSUPERVISED = {
    "Gaussian mixture": GaussianMixture(2, random_state=0),
    "mixture of mixed columns": MixedTypeClusterer(2, random_state=0),
    "hidden Markov model": HMMEstimator(2, emissions="gaussian", max_iter=20, tol=10),
}
LABELS = (
    "check_labels_come_back_as_written", "check_the_target_may_be_a_column", "check_rows_without_a_target",
    "check_classes_of_every_type",
)  # fmt: skip
UNSUPERVISED_EXCEPTIONS = {(name, check): "there are no labels" for name in UNSUPERVISED for check in LABELS}
WEIGHTS = ("check_weight_two_is_the_row_twice", "check_weight_zero_is_no_row")
UNSUPERVISED_EXCEPTIONS |= {
    (name, check): "starts are drawn by the positions of rows"
    for name in ("Gaussian mixture", "mixture of mixed columns")
    for check in ("check_order_of_rows_is_irrelevant", *WEIGHTS)
}
UNSUPERVISED_EXCEPTIONS |= {("hidden Markov model", check): "rows are a sequence" for check in WEIGHTS}
UNSUPERVISED_EXCEPTIONS |= {
    ("hidden Markov model", "check_order_of_rows_is_irrelevant"): "rows are a sequence",
    ("hidden Markov model", BATCHES): "a batch is learned from as the model expects it by then",
    ("Gaussian mixture", BATCHES): "a batch is learned from as the model expects it by then",
    ("mixture of mixed columns", BATCHES): "the first rows show which states a column has",
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", UNSUPERVISED)
def test_contract_without_labels(name, check):
    if (name, check.__name__) in UNSUPERVISED_EXCEPTIONS:
        pytest.skip(UNSUPERVISED_EXCEPTIONS[name, check.__name__])
    check(UNSUPERVISED[name], X.astype(float), NOISY)


def test_sources_are_answered_batch_by_batch(tmp_path):
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"y": NOISY}
    for part in range(2):
        rows = slice(20 * part, 20 * part + 20)
        pq.write_table(pa.table({name: x[rows] for name, x in columns.items()}), tmp_path / f"{part}.parquet")
    source, table = str(tmp_path / "*.parquet"), pa.table(columns)
    for name, (learner, _) in LEARNERS.items():
        if getattr(learner, "_form", "none") != "any" or name == "network of known states":
            continue
        model = clone(learner).fit(table.drop(["y"]), NOISY)
        np.testing.assert_array_equal(model.predict(source), model.predict(table.drop(["y"])), err_msg=name)
        assert model.score(source, "y") == pytest.approx(model.score(table.drop(["y"]), NOISY), abs=1e-12), name


def test_every_exported_learner_is_covered():
    exported = {name for name in bayeslearn.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert {type(learner).__name__ for learner, _ in LEARNERS.values()} == exported
