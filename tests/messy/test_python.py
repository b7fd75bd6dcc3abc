"""Messy files go through the learners of Python at the first try: from a path, and from a frame."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import bayeslearn as b
from bayeslearn import datasets
from bayeslearn.errors import BayeslearnWarning
from bayeslearn.mixture import fit_mixture
from bayeslearn.model_comparison import compare_models
from bayeslearn.regression import fit_linear

#: A class, a number, and the columns that name rows or are free text.
FILES = {
    "flights": ("late", "arr_delay", {"id", "tailnum"}),
    "rentals": ("Superhost", "review_score", {"id", "host_id", "name", "listing_url"}),
    "survey": ("owns_home", "children", {"respondent", "comments", "internal"}),
}


def given(name, kind):
    return datasets.table_path(name) if kind == "path" else pd.read_csv(datasets.table_path(name))


def learned(call):
    """What a call returns, and the columns that its one warning of dropped columns names."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    texts = [
        str(w.message) for w in caught if issubclass(w.category, BayeslearnWarning) and "dropped:" in str(w.message)
    ]
    assert len(texts) <= 1
    return found, "".join(texts)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["path", "frame"])
@pytest.mark.parametrize("name", FILES)
def test_learners_drop_identifiers_with_one_warning(name, kind):
    label, number, gone = FILES[name]
    rows = given(name, kind)
    model, text = learned(lambda: b.fit_naive_bayes(rows, label))
    assert not gone & set(model.feature_names)
    assert all(repr(column) in text for column in gone)
    assert "`columns=`" in text
    model, text = learned(lambda: fit_linear(rows, number))
    assert not gone & set(model.features.schema.names)
    assert all(repr(column) in text for column in gone)
    found, text = learned(lambda: fit_mixture(rows, 2, n_init=1, max_iter=50))
    assert "dropped" in text
    found, text = learned(lambda: b.fit_neighbors(rows, label, n_neighbors=3))
    assert not gone & set(found.examples.schema.names)
    assert all(repr(column) in text for column in gone)
    assert not gone & set(b.fit_network(rows).variables) if name != "survey" else True


def test_a_comparison_drops_identifiers():
    found, _ = learned(lambda: compare_models(datasets.table_path("rentals"), "Superhost", cv=2))
    assert FILES["rentals"][2] <= set(found.dropped_columns)


@pytest.mark.parametrize("make", [b.NaiveBayesClassifier, b.NeighborsClassifier, b.BayesianNetworkClassifier])
@pytest.mark.parametrize("name", FILES)
def test_estimators_keep_the_columns_that_can_be_used(name, make):
    frame = given(name, "frame")
    label = FILES[name][0]
    X, y = frame.drop(columns=[label]), frame[label].fillna("no").astype(str)
    model, text = learned(lambda: make().fit(X, y))
    assert "'id'" not in text
    assert model.n_features_in_ == X.shape[1]
    assert len(model.predict(X)) == len(X)


def test_a_column_that_is_asked_for_by_name_is_never_dropped():
    rng = np.random.default_rng(1)
    rows = {"listing_no": rng.permutation(10**6)[:200] * 37, "y": rng.normal(size=200), "x": rng.normal(size=200)}
    with pytest.warns(BayeslearnWarning, match=r"'listing_no' is an identifier.*`columns=`"):
        assert fit_linear(rows, "y").features.names == ("x",)
    assert fit_linear(rows, "y", columns=["listing_no", "x"]).features.names == ("listing_no", "x")
    assert b.BayesianLinearRegressor().fit(pd.DataFrame(rows), "y").n_features_in_ == 2


def test_an_array_keeps_its_columns():
    X = np.random.default_rng(2).permutation(1000)[:, None]
    assert fit_linear(X, X[:, 0] * 2.0).features.names == ("x0",)
