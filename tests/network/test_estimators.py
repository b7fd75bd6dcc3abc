"""The network classifier: against enumeration and scikit-learn, with holes, frames, numbers, and any graph."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB

from bayeslearn import DAG, BayesianNetworkClassifier, fit_network, fit_parameters, read_network, write_network
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    ImpossibleEvidenceError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network.structure.algorithms import ALGORITHMS
from tests.oracle.networks import given, marginal, random_network

ASIA = read_network("asia")


def asia_cases(n, seed, share=0.0, target="lung"):
    """A frame of cases and their labels, some cells missing."""
    frame = pd.DataFrame(ASIA.sample(n, random_state=seed).to_dict())
    y = frame.pop(target)
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share), y


### the same answers by other ways


def test_naive_structure_is_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = (rng.random((200, 5)) * (y[:, None] + 2)).astype(int)
    w = rng.integers(0, 4, 200)
    ours, theirs = BayesianNetworkClassifier().fit(X, y, w), CategoricalNB().fit(X, y, sample_weight=w)
    prior = (np.bincount(y, w) + 1) / (w.sum() + 3)  # ours counts one case for each class too
    log_p = theirs.predict_joint_log_proba(X) - theirs.class_log_prior_ + np.log(prior)
    p = np.exp(log_p)
    np.testing.assert_allclose(ours.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_any_node_of_any_graph_may_be_the_class(seed):
    network = random_network(seed, 6)
    frame = pd.DataFrame(network.sample(80, random_state=seed).to_dict())
    holes = frame.mask(np.random.default_rng(seed).random(frame.shape) < 0.3)
    target = network.variables[seed]
    holes = holes.drop(columns=target)
    model = BayesianNetworkClassifier(network, target=target).fit(holes, frame[target])
    assert model.classes_.tolist() == sorted(network.states(target))
    for p, (_, row) in zip(model.predict_proba(holes), holes.iterrows(), strict=True):
        p_all = marginal(given(model.network_, dict(row.dropna())), network.variables.index(target))
        expected = dict(zip(network.states(target), p_all, strict=True))
        np.testing.assert_allclose(p, [expected[label] for label in model.classes_], rtol=1e-9, atol=1e-13)


def test_it_is_fit_tables():
    X, y = asia_cases(200, 1, share=0.2)
    model = BayesianNetworkClassifier(ASIA.dag, prior="bdeu:4").fit(X, y)
    fit = fit_parameters(ASIA.dag, X.assign(lung=y), prior="bdeu:4")
    assert model.target_ == "lung"
    assert model.network_.isclose(fit, rtol=1e-9)
    assert (model.n_iter_, model.log_likelihood_) == (
        fit.fit_info.n_iter,
        pytest.approx(fit.fit_info.log_likelihood, rel=1e-12),
    )
    assert model.predict(X).tolist() == fit.predict(X, "lung").tolist()


### holes


def test_missing_cells_at_fit_and_at_predict():
    X, y = asia_cases(400, 2, share=0.3)
    model = BayesianNetworkClassifier(str(ASIA.dag)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.9
    nothing = pd.DataFrame([dict.fromkeys(X.columns)], dtype=object)
    prior = model.network_.query()["lung"]
    np.testing.assert_allclose(model.predict_proba(nothing)[0], [prior[label] for label in model.classes_], rtol=1e-12)
    with_nan = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, 1.0], [np.nan, 1.0]] * 5)
    plain = BayesianNetworkClassifier().fit(with_nan, [0, 1, 0, 1] * 5)
    assert plain.predict([[1, np.nan], [np.nan, 0]]).tolist() == [0, 1]


def test_a_state_that_training_did_not_show_is_missing():
    X, y = asia_cases(200, 3)
    model = BayesianNetworkClassifier().fit(X, y)
    odd, blank = X.head(5).assign(smoke="maybe"), X.head(5).assign(smoke=None)
    np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(blank))


def test_a_variable_of_the_network_that_the_data_lack():
    X, y = asia_cases(300, 4)
    model = BayesianNetworkClassifier(ASIA, target="lung", random_state=0, tol=0.1).fit(X.drop(columns="smoke"), y)
    assert model.network_.variables == ASIA.variables
    assert model.score(X.drop(columns="smoke"), y) > 0.9


### kinds of data


def test_frames_of_any_library():
    X, y = asia_cases(100, 5)
    first = BayesianNetworkClassifier().fit(X, y).predict_proba(X)
    for other in (pl.DataFrame(X.to_dict("list")), pa.Table.from_pandas(X, preserve_index=False), X.astype("category")):
        np.testing.assert_allclose(BayesianNetworkClassifier().fit(other, y).predict_proba(other), first, rtol=1e-12)
    array = BayesianNetworkClassifier().fit(X.to_numpy(), y)
    np.testing.assert_allclose(array.predict_proba(X.to_numpy()), first, rtol=1e-12)
    assert array.network_.variables == ("lung", *(f"x{j}" for j in range(7)))


def test_numbers_are_cut_at_their_quantiles():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianNetworkClassifier(n_bins=4).fit(X, y)
    variable = model.network_["petal length (cm)"].variable
    assert len(variable.cuts) == 3
    counts = np.bincount(variable.cut(X["petal length (cm)"]))
    assert counts.min() > 25
    peer = 0.8867  # scikit-learn 1.9: KBinsDiscretizer(5, strategy="quantile") and CategoricalNB, the same folds
    assert cross_val_score(BayesianNetworkClassifier(), X.to_numpy(), y, cv=5).mean() >= peer
    constant = BayesianNetworkClassifier().fit(X.assign(one=1.5, two=2), y)
    np.testing.assert_allclose(
        constant.predict_proba(X.assign(one=7.5, two=1)),
        BayesianNetworkClassifier().fit(X, y).predict_proba(X),
        rtol=1e-9,
    )


def test_weights_count_like_rows_where_whole_numbers_do_not_repeat():
    X, y = np.arange(12).reshape(-1, 1) % 7, np.arange(12) % 2
    weighted = BayesianNetworkClassifier().fit(X, y, np.full(12, 3))
    repeated = BayesianNetworkClassifier().fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert weighted.network_.isclose(repeated.network_, rtol=1e-12)


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True], [0.0, 1.0]])
def test_labels_come_back_as_written(labels):
    X, y = asia_cases(100, 6)
    labeled = np.array(labels)[(y == "yes").astype(int)]
    model = BayesianNetworkClassifier().fit(X, labeled)
    assert model.classes_.dtype == labeled.dtype
    assert set(model.predict(X).tolist()) <= set(labels)


def test_names_of_the_class():
    X, y = asia_cases(50, 7)
    assert BayesianNetworkClassifier().fit(X, y).target_ == "lung"
    assert BayesianNetworkClassifier().fit(X, y.tolist()).target_ == "class"
    assert BayesianNetworkClassifier().fit(X.rename(columns={"tub": "class"}), y.tolist()).target_ == "class_label"
    assert BayesianNetworkClassifier(target="sick").fit(X, y).target_ == "sick"
    assert BayesianNetworkClassifier("[smoke|c][c]").fit(X, y.rename("other")).target_ == "c"
    assert BayesianNetworkClassifier("[smoke][c|smoke][h|c]", target="c").fit(X.assign(h="x"), y).target_ == "c"


### as a value


def test_batches_add_where_the_states_are_known():
    X, y = asia_cases(90, 8)
    whole = BayesianNetworkClassifier(ASIA, target="lung").fit(X, y)
    parts = BayesianNetworkClassifier(ASIA, target="lung")
    for rows in np.array_split(np.arange(90), 4):
        parts.partial_fit(X.iloc[rows], y.iloc[rows], classes=["no", "yes"])
    assert parts.network_.isclose(whole.network_, rtol=1e-12)
    assert not hasattr(BayesianNetworkClassifier(), "partial_fit")
    assert not hasattr(BayesianNetworkClassifier(ASIA.dag), "partial_fit")
    with pytest.raises(UnknownStateError, match="variable 'lung' has no state 'maybe'"):
        parts.partial_fit(X.head(2), ["no", "maybe"])


def test_clones_copies_and_saved_networks(tmp_path):
    X, y = asia_cases(60, 9)
    model = clone(BayesianNetworkClassifier(DAG.parse(str(ASIA.dag)), target="lung")).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    write_network(model.network_, tmp_path / "model.json")
    assert read_network(tmp_path / "model.json").predict(X, "lung").tolist() == model.predict(X).tolist()


### learned structures


def test_a_structure_is_learned():
    X, y = asia_cases(2000, 11)
    model = BayesianNetworkClassifier("auto", prior="bdeu:1").fit(X, y)
    assert model.network_.dag == fit_network(X.assign(lung=y), prior="bdeu:1").dag
    assert model.network_.isclose(fit_parameters(model.network_.dag, X.assign(lung=y), prior="bdeu:1"), rtol=1e-9)
    assert model.score(X, y) > 0.95
    assert BayesianNetworkClassifier("empty").fit(X, y).network_.dag.arcs == ()


@pytest.mark.parametrize("method", [name for name, entry in ALGORITHMS.items() if entry.needs != "order"])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_every_method_learns_a_structure(method, share):
    X, y = asia_cases(300, 12, share)
    model = BayesianNetworkClassifier(method, random_state=0).fit(X, y)
    assert set(model.network_.variables) == {*X.columns, "lung"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-9)
    if method in {"tan", "naive_bayes"}:
        assert model.network_.dag.parents("lung") == ()
        assert {child for parent, child in model.network_.dag.arcs if parent == "lung"} == set(X.columns)
    if method == "naive_bayes":
        assert model.network_.isclose(BayesianNetworkClassifier().fit(X, y).network_, rtol=1e-9)


def test_the_criterion_decides():
    X, y = asia_cases(300, 13)
    arcs = [len(BayesianNetworkClassifier("ges", criterion=c).fit(X, y).network_.dag.arcs) for c in ("bic", "aic")]
    assert arcs[0] < arcs[1]


def test_weights_count_like_rows_for_the_structure_too():
    X, y = asia_cases(200, 14)
    w = np.random.default_rng(0).integers(0, 4, 200)
    weighted = BayesianNetworkClassifier("tan").fit(X, y, w)
    repeated = BayesianNetworkClassifier("tan").fit(X.iloc[np.repeat(np.arange(200), w)], np.repeat(y.to_numpy(), w))
    assert set(weighted.network_.dag.arcs) == {
        tuple("lung" if name == "class" else name for name in arc) for arc in repeated.network_.dag.arcs
    }


def test_a_tree_among_the_columns_helps_where_they_depend_on_each_other():
    X, y = load_breast_cancer(return_X_y=True)
    naive, tan = (cross_val_score(BayesianNetworkClassifier(s), X, y, cv=5).mean() for s in (None, "tan"))
    assert tan > naive + 0.01


def test_constant_columns_and_no_columns_are_no_obstacle():
    X, y = asia_cases(100, 15)
    for method in ("auto", "tan", "chow_liu", "pc"):
        model = BayesianNetworkClassifier(method).fit(X.assign(same="x"), y)
        assert model.predict(X.assign(same="x")).shape == (100,)
        assert BayesianNetworkClassifier(method).fit(X[["smoke"]], y).predict(X[["smoke"]]).shape == (100,)


### mistakes


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"structure": "luck"}, "unexpected value for `structure`: 'luck'"),
        ({"structure": "k2"}, "unexpected value for `structure`: 'k2'"),
        ({"structure": "tan", "criterion": "luck"}, "unexpected value for `criterion`: 'luck'"),
        ({"structure": "tan", "target": "smoke"}, "'smoke' is a column of X too"),
    ],
)
def test_mistaken_structures_are_named(options, match):
    X, y = asia_cases(20, 10)
    with pytest.raises(ParameterError, match=match):
        BayesianNetworkClassifier(**options).fit(X, y)


def test_mistakes_are_named():
    X, y = asia_cases(20, 10)
    with pytest.raises(ParameterError, match="cannot tell which node is the class: 'lung', 'other' could be"):
        BayesianNetworkClassifier("[lung][other|lung]").fit(X, y.tolist())
    with pytest.raises(ParameterError, match="cannot tell which node is the class: none could be"):
        BayesianNetworkClassifier("[smoke]").fit(X, y.tolist())
    with pytest.raises(ParameterError, match="the target 'snow' is not in the structure"):
        BayesianNetworkClassifier(ASIA, target="snow").fit(X, y)
    with pytest.raises(ParameterError, match="the target 'smoke' is a column of X too"):
        BayesianNetworkClassifier(target="smoke").fit(X, y)
    with pytest.raises(UnknownColumnError, match="there is no column 'snow'"):
        BayesianNetworkClassifier("[lung][snow|lung]", target="lung").fit(X, y)
    with pytest.raises(UnknownStateError, match="column 'smoke' has state 'maybe' in row 0"):
        BayesianNetworkClassifier(ASIA).fit(X.assign(smoke="maybe"), y)
    with pytest.warns(BayeslearnWarning, match="1 column dropped: every cell of column 'smoke' is missing"):
        assert "smoke" not in BayesianNetworkClassifier().fit(X.assign(smoke=None), y).network_.variables
    with pytest.raises(ParameterError, match="`n_bins` must be at least 2, got 1"):
        BayesianNetworkClassifier(n_bins=1).fit(X, y)
    with pytest.raises(ParameterError, match="there is no prior 'flat'"):
        BayesianNetworkClassifier(prior="flat").fit(X, y)
    with pytest.raises(DataError, match="every sample_weight is zero"):
        BayesianNetworkClassifier().fit(X, y, np.zeros(20))


def test_a_row_that_cannot_be_is_named():
    X = pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]})
    model = BayesianNetworkClassifier(prior=None).fit(X, [0, 1])
    with pytest.raises(ImpossibleEvidenceError, match="the evidence of row 1 is impossible: a=x, b=y cannot be"):
        model.predict(pd.DataFrame({"a": ["x", "x"], "b": ["x", "y"]}))


def test_the_root_of_a_tree_among_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=list("abc")).assign(d=lambda rows: rows["a"])
    y = rng.integers(0, 2, 200)
    for root in "bd":
        dag = BayesianNetworkClassifier("tan", root=root).fit(X, y).network_.dag
        assert dag.parents(root) == ("class",)
    with pytest.raises(ParameterError, match="the root 'class' is the target"):
        BayesianNetworkClassifier("tan", root="class").fit(X, y)
    with pytest.raises(UnknownColumnError, match="the root names 'e'"):
        BayesianNetworkClassifier("tan", root="e").fit(X, y)
