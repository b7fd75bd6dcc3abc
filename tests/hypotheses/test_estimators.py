"""Classifiers over hypotheses: fixed ones by likelihood, learned ones by evidence; and the two concept classifiers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from bayeslearn.errors import DataError, ImpossibleDataError, InconsistentDataError, ParameterError, UnknownStateError
from bayeslearn.hypotheses import FindSClassifier, GibbsClassifier, HypothesisClassifier, VersionSpaceClassifier
from bayeslearn.hypotheses.estimators import ALWAYS_TRAINING, folds_by_content


@pytest.fixture
def blobs():
    rng = np.random.default_rng(5)
    y = np.repeat(["b", "a", "c"], 30)
    center = {"a": (0, 0), "b": (2, 0), "c": (0, 2)}
    return rng.normal(size=(90, 2)) + np.array([center[label] for label in y]), y


def threshold(t):
    return lambda x: "high" if x[0] > t else "low"


THRESHOLDS = [(f"> {t}", threshold(t)) for t in (1, 2, 3)]

### fixed hypotheses


def test_functions_are_weighed_by_the_labels_they_explain():
    model = HypothesisClassifier(THRESHOLDS, noise=0.1, prior=[0.2, 0.3, 0.5])
    model.fit([[0], [1.5], [2.5]], ["low", "low", "high"])
    joint = np.array([0.2 * 0.9**2 * 0.1, 0.3 * 0.9**3, 0.5 * 0.9**2 * 0.1])
    np.testing.assert_allclose(list(model.posterior_.probabilities.values()), joint / joint.sum(), rtol=1e-12)
    assert model.criterion_ == "likelihood"
    assert model.classes_.tolist() == ["high", "low"]
    # at 2.5 the first two say high
    np.testing.assert_allclose(model.predict_proba([[2.5]])[0, 0], joint[:2].sum() / joint.sum(), rtol=1e-12)
    assert model.predict([[2.5], [0]]).tolist() == ["high", "low"]
    assert model.score([[5], [0]], ["high", "low"]) == 1


def test_partial_fit_adds_and_the_posterior_takes_back():
    X, y = np.array([[0], [1.5], [2.5], [2.2]]), np.array(["low", "low", "high", "low"])
    whole = HypothesisClassifier(THRESHOLDS, noise=0.2).fit(X, y)
    parts = HypothesisClassifier(THRESHOLDS, noise=0.2).partial_fit(X[:2], y[:2], classes=["low", "high"])
    parts.partial_fit(X[2:], y[2:])
    assert parts.posterior_.statistics.isclose(whole.posterior_.statistics, rtol=1e-12)
    back = whole.posterior_.remove((X[3], "low"))
    without = HypothesisClassifier(THRESHOLDS, noise=0.2).fit(X[:3], y[:3])
    np.testing.assert_allclose(back.distribution.mean(), without.posterior_.distribution.mean(), rtol=1e-12)
    weighted = HypothesisClassifier(THRESHOLDS, noise=0.2).fit(X, y, sample_weight=[2, 1, 0, 1])
    repeated = HypothesisClassifier(THRESHOLDS, noise=0.2).fit(X[[0, 0, 1, 3]], y[[0, 0, 1, 3]])
    assert weighted.posterior_.statistics.isclose(repeated.posterior_.statistics, rtol=1e-12)


def test_partial_fit_is_for_fixed_hypotheses_only(blobs):
    X, y = blobs
    assert not hasattr(HypothesisClassifier([GaussianNB()]), "partial_fit")
    assert hasattr(HypothesisClassifier([GaussianNB().fit(X, y), threshold(1)]), "partial_fit")


def test_functions_see_rows_of_frames_by_name():
    hypotheses = {"wind": lambda row: row["wind"] == "weak", "sky": lambda row: row["sky"] == "sunny"}
    columns = {"sky": ["sunny", "rainy", "sunny"], "wind": ["weak", "weak", "strong"]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        model = HypothesisClassifier(list(hypotheses.items())).fit(frame, [True, False, True])
        assert model.posterior_.map_hypotheses == ["sky"]
        assert model.predict(frame).tolist() == [True, False, True]
        assert model.feature_names_in_.tolist() == ["sky", "wind"]


def test_fitted_classifiers_are_left_as_they_are(blobs):
    X, y = blobs
    naive = GaussianNB().fit(X[::2], y[::2])
    model = HypothesisClassifier([naive, ("lines", LogisticRegression().fit(X[::2], y[::2]))]).fit(X[1::2], y[1::2])
    assert model.posterior_.space.hypotheses[0] is naive
    codes = np.searchsorted(model.classes_, y[1::2])
    expected = [h.predict_log_proba(X[1::2])[np.arange(45), codes].sum() for h in model.posterior_.space.hypotheses]
    np.testing.assert_allclose(model.posterior_.statistics.total, expected, rtol=1e-10)
    frozen = clone(HypothesisClassifier([FrozenEstimator(naive)])).fit(X[1::2], y[1::2])
    assert frozen.criterion_ == "likelihood"


### hypotheses that learn


def test_naive_bayes_variants_are_combined_by_evidence(blobs):
    X, y = blobs
    variants = [("gauss", GaussianNB()), ("wide", GaussianNB(var_smoothing=10)), ("signs", BernoulliNB())]
    model = HypothesisClassifier(variants).fit(X, y)
    assert model.criterion_ == "out_of_fold"
    assert model.posterior_.map_hypotheses == ["gauss"]
    p = model.posterior_.distribution.mean()
    parts = [h.predict_proba(X) for h in model.posterior_.space.hypotheses]
    np.testing.assert_allclose(model.predict_proba(X), np.tensordot(p, parts, axes=1), rtol=1e-10)
    assert model.score(X, y) > 0.75
    assert min(cross_val_score(HypothesisClassifier(variants), X, y, cv=3)) > 0.6


def test_out_of_fold_evidence_is_what_folds_by_hand_give(blobs):
    X, y = blobs
    model = HypothesisClassifier([GaussianNB(), BernoulliNB()]).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    fold = folds_by_content(X, codes)
    by_hand = [
        sum(
            part.fit(X[fold != k], y[fold != k])
            .predict_log_proba(X[fold == k])[np.arange(sum(fold == k)), codes[fold == k]]
            .sum()
            for k in range(5)
        )
        for part in (GaussianNB(), BernoulliNB())
    ]
    np.testing.assert_allclose(model.posterior_.statistics.total, by_hand, rtol=1e-10)


def test_order_of_rows_does_not_matter_and_a_row_twice_is_weight_two(blobs):
    X, y = blobs
    variants = [GaussianNB(), BernoulliNB()]
    once = HypothesisClassifier(variants).fit(X, y)
    order = np.random.default_rng(0).permutation(90)
    shuffled = HypothesisClassifier(variants).fit(X[order], y[order])
    assert shuffled.posterior_.statistics.isclose(once.posterior_.statistics, rtol=1e-9)
    doubled = HypothesisClassifier(variants).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighted = HypothesisClassifier(variants).fit(X, y, sample_weight=np.full(90, 2.0))
    assert weighted.posterior_.statistics.isclose(doubled.posterior_.statistics, rtol=1e-9)


def test_folds_keep_equal_rows_together_and_single_rows_in_training():
    X = np.array([[0.0], [-0.0], [1.0], [2.0], [3.0]])
    fold = folds_by_content(X, np.array([0, 0, 0, 0, 1]))
    assert fold[0] == fold[1]
    assert len(set(fold[[0, 2, 3]])) == 3
    assert fold[4] == ALWAYS_TRAINING
    words = np.array([["a", 1], ["a", 1], ["b", 1]], dtype=object)
    fold = folds_by_content(words, np.array([0, 0, 0]))
    assert fold[0] == fold[1] != fold[2]
    counts = sparse.csr_matrix([[0, 1], [0, 1], [2, 0]])
    fold = folds_by_content(counts, np.array([0, 0, 0]))
    assert fold[0] == fold[1] != fold[2]


def test_sparse_counts_go_through():
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.poisson(np.where(y[:, None] == 1, [3, 1, 1], [1, 1, 3]))
    dense = HypothesisClassifier([MultinomialNB(), MultinomialNB(alpha=50)]).fit(X, y)
    thin = HypothesisClassifier([MultinomialNB(), MultinomialNB(alpha=50)]).fit(sparse.csr_matrix(X), y)
    assert dense.score(X, y) > 0.7
    assert thin.predict_proba(sparse.csr_matrix(X)).shape == (40, 2)
    assert thin.posterior_.map_hypotheses == dense.posterior_.map_hypotheses


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier that knows its own evidence."""

    def __init__(self, log_evidence=0.0):
        self.log_evidence = log_evidence

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.log_evidence_ = self.log_evidence
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_a_classifier_that_knows_its_evidence_is_believed():
    X, y = [[0], [1]], ["a", "b"]
    model = HypothesisClassifier([("x", Constant(-1.0)), ("y", Constant(-3.0))]).fit(X, y)
    assert model.criterion_ == "log_marginal_likelihood"
    np.testing.assert_allclose(model.posterior_["x"], 1 / (1 + np.exp(-2)), rtol=1e-12)
    mixed = HypothesisClassifier([Constant(-1.0), GaussianNB()])
    assert mixed.fit(X * 5, y * 5).criterion_ == "out_of_fold"
    with pytest.raises(
        ParameterError, match="criterion=\"log_marginal_likelihood\" needs it of every hypothesis, and 'GaussianNB'"
    ):
        mixed.set_params(criterion="log_marginal_likelihood").fit(X, y)


### Gibbs


def test_gibbs_draws_by_the_posterior():
    says = {"h1": "+", "h2": "-"}
    hypotheses = [(name, lambda x, v=v: v) for name, v in says.items()]
    model = GibbsClassifier(hypotheses, prior=[0.7, 0.3], noise=0.5, random_state=np.random.default_rng(1))
    model.fit([[0]], ["+"])
    drawn = [model.predict([[0]])[0] for _ in range(2000)]
    assert abs(drawn.count("+") / 2000 - 0.7) < 4 * np.sqrt(0.21 / 2000)
    same = GibbsClassifier(hypotheses, prior=[0.7, 0.3], noise=0.5, random_state=3).fit([[0]], ["+"])
    assert len({same.predict([[0]])[0] for _ in range(20)}) == 1


### bad inputs


@pytest.mark.parametrize(
    ("model", "error", "match"),
    [
        (HypothesisClassifier([]), ParameterError, "at least one hypothesis, got none"),
        (HypothesisClassifier(None), ParameterError, "expected a list of hypotheses, got None"),
        (HypothesisClassifier([GaussianNB()], criterion="magic"), ParameterError, "unexpected value for `criterion`"),
        (HypothesisClassifier([GaussianNB()], noise=0.9), ParameterError, "`noise` must be at most 0.5, got 0.9"),
        (HypothesisClassifier([GaussianNB()], prior=[0.5, 0.5]), ParameterError, "a prior over 1 hypotheses"),
        (HypothesisClassifier([lambda x: "a"]), ImpossibleDataError, "row 2 has probability zero under every"),
        (HypothesisClassifier([Perceptron()]), ImpossibleDataError, "has probability zero under every hypothesis"),
        (HypothesisClassifier([GaussianNB()], classes=["a", "z"]), DataError, "labels 'b' are not among the classes"),
        (HypothesisClassifier([5]), ParameterError, "a hypothesis must be a function or a classifier, got 5"),
    ],
)
def test_bad_parameters(model, error, match):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    with pytest.raises(error, match=match):
        model.fit(X, ["a", "a", "b"] * 4)


def test_bad_weights_and_labels(blobs):
    X, y = blobs
    with pytest.raises(ParameterError, match="KNeighborsClassifier does not take it"):
        HypothesisClassifier([KNeighborsClassifier()]).fit(X, y, sample_weight=np.ones(90))
    with pytest.raises(DataError, match="every sample_weight is zero"):
        HypothesisClassifier([GaussianNB()]).fit(X, y, sample_weight=np.zeros(90))
    model = HypothesisClassifier([lambda x: "new" if x[0] > 0 else "a"]).fit([[0], [-1]], ["a", "a"])
    with pytest.raises(UnknownStateError, match="unknown label 'new' in row 0"):
        model.predict([[1]])
    with pytest.raises(DataError, match="labels 'q' are not among"):
        model.partial_fit([[0]], ["q"])


### concepts

DAYS = [["sunny", "warm", "high"], ["sunny", "cold", "high"], ["rainy", "cold", "high"], ["sunny", "warm", "normal"]]
ENJOY = ["yes", "yes", "no", "yes"]


def test_find_s_classifier():
    model = FindSClassifier().fit(DAYS, ENJOY)
    assert str(model.hypothesis_) == "⟨sunny, ?, ?⟩"
    assert model.consistent_
    assert model.predict([["sunny", "mild", "low"], ["foggy", "warm", "high"]]).tolist() == ["yes", "no"]
    assert str(FindSClassifier(positive="no").fit(DAYS, ENJOY).hypothesis_) == "⟨rainy, cold, high⟩"
    assert not FindSClassifier().fit([["a"], ["b"], ["a"]], ["yes", "yes", "no"]).consistent_


def test_version_space_classifier_votes():
    model = VersionSpaceClassifier().fit(DAYS[:1] + DAYS[2:3], ["yes", "no"])
    # members leave out (rainy, cold, high): they require sunny or warm; (x, x, high) free
    assert model.version_space_.size == 6
    assert model.classes_.tolist() == ["no", "yes"]
    new = [["sunny", "cold", "high"], ["sunny", "warm", "low"]]
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], [2 / 6, 3 / 6], rtol=1e-12)
    assert model.predict(new).tolist() == ["no", "no"]
    general = clone(model).set_params(vote="weighted", favor=0.01).fit(DAYS[:1] + DAYS[2:3], ["yes", "no"])
    assert general.predict(new).tolist() == ["no", "yes"]
    sure = clone(model).set_params(vote="unanimous").fit(DAYS, ENJOY)
    assert sure.predict(DAYS).tolist() == FindSClassifier().fit(DAYS, ENJOY).predict(DAYS).tolist() == ENJOY


def test_conflicts_are_named_or_set_aside():
    X, y = [*DAYS, DAYS[0]], [*ENJOY, "no"]
    with pytest.raises(InconsistentDataError, match=r"example 4 \(sunny, warm, high; negative\)"):
        VersionSpaceClassifier().fit(X, y)
    model = VersionSpaceClassifier(conflicts="drop").fit(X, y)
    assert model.conflicts_.tolist() == [4]
    assert model.version_space_ == VersionSpaceClassifier().fit(DAYS, ENJOY).version_space_


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_of_mixed_columns(make):
    frame = make({"sky": ["sunny", "sunny", "rainy"], "hour": [9, 10, 9], "wind": [True, True, False]})
    model = VersionSpaceClassifier().fit(frame, [1, 1, 0])
    assert model.version_space_.attributes.names == ("sky", "hour", "wind")
    assert str(model.version_space_.specific) == "⟨sunny, ?, True⟩"
    assert model.predict(frame).tolist() == [1, 1, 0]


def test_bad_concepts():
    with pytest.raises(
        DataError, match=r"Only binary classification is supported\. The type of the target is multiclass"
    ):
        FindSClassifier().fit(DAYS, ["a", "b", "c", "a"])
    with pytest.raises(DataError, match="got one class only: yes"):
        FindSClassifier().fit(DAYS, ["yes"] * 4)
    with pytest.raises(ParameterError, match="unexpected value for `vote`: 'loud'"):
        VersionSpaceClassifier(vote="loud").fit(DAYS, ENJOY)
    with pytest.raises(ParameterError, match="unexpected value for `conflicts`: 'ignore'"):
        VersionSpaceClassifier(conflicts="ignore").fit(DAYS, ENJOY)
    with pytest.raises(ParameterError, match="no example is labeled 'maybe'"):
        VersionSpaceClassifier(positive="maybe").fit(DAYS, ENJOY)
    with pytest.raises(DataError, match="example 0 has no value for attribute 'x1'"):
        FindSClassifier().fit(np.array([["sunny", None], ["rainy", "cold"]], dtype=object), ["yes", "no"])
