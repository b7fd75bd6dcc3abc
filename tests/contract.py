"""What every learner of the package promises, as checks that any learner can be run through.

A learner is a scikit-learn estimator; `tests/test_contract.py` crosses these checks with every one that is exported.
What a learner does not offer, or cannot keep, is listed there with a reason.
"""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_regressor

from bayeslearn import as_table
from bayeslearn.errors import MissingValuesError


def answers(model, X):
    """All that a learner says of some rows, as numbers."""
    if is_regressor(model):
        return model.predict(X)[:, None]
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return (model.predict(X)[:, None] == model.classes_).astype(float)


def takes(method, name):
    return name in inspect.signature(method).parameters


def check_predict_is_pure(learner, X, y):
    model = clone(learner).fit(X, y)
    first = answers(model, X)
    before = {name: id(value) for name, value in vars(model).items()}
    np.testing.assert_array_equal(answers(model, X), first)
    assert {name: id(value) for name, value in vars(model).items()} == before


def check_data_are_left_alone(learner, X, y):
    X_before, y_before = X.copy(), y.copy()
    answers(clone(learner).fit(X, y), X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def check_order_of_rows_is_irrelevant(learner, X, y):
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(
        answers(clone(learner).fit(X[order], y[order]), X), answers(clone(learner).fit(X, y), X), rtol=1e-9, atol=1e-12
    )


def check_order_of_columns_is_irrelevant(learner, X, y):
    order = np.random.default_rng(0).permutation(X.shape[1])
    np.testing.assert_allclose(
        answers(clone(learner).fit(X[:, order], y), X[:, order]),
        answers(clone(learner).fit(X, y), X),
        rtol=1e-9,
        atol=1e-12,
    )


def check_weight_two_is_the_row_twice(learner, X, y):
    assert takes(learner.fit, "sample_weight")
    weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    weighted = clone(learner).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(answers(weighted, X), answers(clone(learner).fit(X[twice], y[twice]), X), rtol=1e-9)


def check_weight_zero_is_no_row(learner, X, y):
    assert takes(learner.fit, "sample_weight")
    weights = (np.arange(len(X)) % 5 > 0).astype(float)
    weighted, kept = clone(learner).fit(X, y, sample_weight=weights), weights > 0
    np.testing.assert_allclose(answers(weighted, X), answers(clone(learner).fit(X[kept], y[kept]), X), rtol=1e-9)


def check_batches_equal_the_whole(learner, X, y):
    assert hasattr(learner, "partial_fit")
    model, told = clone(learner), {} if is_regressor(learner) else {"classes": np.unique(y)}
    for rows in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(X[rows], y[rows], **told)
    np.testing.assert_allclose(answers(model, X), answers(clone(learner).fit(X, y), X), rtol=1e-9, atol=1e-12)


def check_labels_come_back_as_written(learner, X, y):
    if is_regressor(learner):
        return
    names = np.array(["no way", "oh yes"])
    model = clone(learner).fit(X, names[y])
    assert model.classes_.tolist() == ["no way", "oh yes"]
    assert set(model.predict(X).tolist()) <= set(names.tolist())


def named(X, last=()):
    """Columns by name, the last of which are given."""
    return {name: X[:, j] for j, name in enumerate("abcd")} | dict(last)


def check_names_of_columns_are_kept(learner, X, y):
    for form in (pd.DataFrame, pl.DataFrame, pa.table, dict, as_table):
        model = clone(learner).fit(form(named(X)), y)
        assert model.feature_names_in_.tolist() == list("abcd"), form
        assert model.n_features_in_ == 4
        assert len(model.predict(form(named(X)))) == len(X)
        with pytest.raises(ValueError, match="c"):
            model.predict(form({{"c": "q"}.get(name, name): x for name, x in named(X).items()}))
    assert clone(learner).fit(X, y).n_features_in_ == 4
    assert not hasattr(clone(learner).fit(X, y), "feature_names_in_")


def check_the_target_may_be_a_column(learner, X, y):
    expected = clone(learner).fit(pd.DataFrame(named(X)), y)
    given = named(X, {"y": y.astype(float) if is_regressor(learner) else y})
    for form in (pd.DataFrame, pl.DataFrame, dict):
        model = clone(learner).fit(form(given), "y")
        np.testing.assert_array_equal(model.predict(form(named(X))), expected.predict(pd.DataFrame(named(X))))
        assert model.feature_names_in_.tolist() == list("abcd")
        assert model.score(form(given), "y") == pytest.approx(expected.score(pd.DataFrame(named(X)), y), abs=1e-12)


def check_rows_without_a_target(learner, X, y):
    gone = np.arange(len(y)) % 7 == 3
    holed = np.array([None if g else v for g, v in zip(gone, y.tolist(), strict=True)], dtype=object)
    dropped = clone(learner).set_params(unlabeled="drop").fit(X, holed)
    expected = clone(learner).fit(X[~gone], y[~gone])
    np.testing.assert_allclose(answers(dropped, X), answers(expected, X), rtol=1e-12)
    with pytest.raises(MissingValuesError, match="3 has no label"):
        clone(learner).set_params(unlabeled="error").fit(X, holed)
    with pytest.raises(ValueError, match=r"label|y contains NaN"):
        clone(learner).fit(X, np.full(len(y), np.nan))


def check_classes_of_every_type(learner, X, y):
    if is_regressor(learner):
        return
    for classes in (np.array(["no", "yes"]), np.array([-7, 12]), np.array([False, True]), np.array([0.0, 1.0])):
        model = clone(learner).fit(X, classes[y])
        assert model.classes_.dtype == classes.dtype
        np.testing.assert_array_equal(model.classes_, classes)
        assert model.predict(X).dtype == classes.dtype


def check_probabilities_sum_to_one(learner, X, y):
    if not hasattr(learner, "predict_proba"):
        return
    model = clone(learner).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p, logs = model.predict_proba(X), model.predict_log_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(logs), p, rtol=1e-9, atol=1e-300)


def check_dir_lists_what_is_there(learner, X, y):
    assert "fit" in dir(clone(learner))
    model = clone(learner).fit(X, y)
    assert {"n_features_in_", "predict", *model.get_params()} <= set(dir(model))


def check_parameters_are_kept(learner, X, y):
    model = clone(learner)
    before = model.get_params(deep=False)
    model.fit(X, y)
    assert all(model.get_params(deep=False)[name] is value for name, value in before.items())
    assert clone(model).set_params(**before).get_params(deep=False).keys() == before.keys()


def check_pickled_models_answer_alike(learner, X, y):
    model = clone(learner).fit(X, y)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
