"""What every learner of the package promises, as checks that any learner can be run through.

A learner is a scikit-learn estimator; `tests/test_contract.py` crosses these checks with every one that is exported.
Checks that need `sample_weight` or `partial_fit` pass by themselves where the learner does not offer it.
"""

from __future__ import annotations

import inspect

import numpy as np
from sklearn.base import clone, is_regressor


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
    if not takes(learner.fit, "sample_weight"):
        return
    weights = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(X)), weights.astype(int))
    weighted = clone(learner).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(answers(weighted, X), answers(clone(learner).fit(X[twice], y[twice]), X), rtol=1e-9)


def check_batches_equal_the_whole(learner, X, y):
    if not hasattr(learner, "partial_fit"):
        return
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


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
