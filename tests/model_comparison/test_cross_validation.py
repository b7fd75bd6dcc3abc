"""Cross-validation of the learner of a model: folds, refits, and what they add up to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayeslearn as bl
from bayeslearn.errors import ParameterError
from bayeslearn.evaluation import folds
from bayeslearn.hmm import fit_hmm
from bayeslearn.model_comparison import cross_validate
from bayeslearn.naive_bayes import AODEClassifier
from bayeslearn.regression import fit_linear, fit_local, fit_logistic, fit_rbf, fit_rbf_classifier

N = 90


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], N)
    frame = pd.DataFrame({"x": rng.normal(size=N) + 2 * (kind == "a"), "hue": rng.choice(["r", "g", "b"], N)})
    return frame.assign(kind=kind, y=2 * frame["x"] + rng.normal(size=N))


CLASSIFIERS = [
    lambda data: bl.fit_neighbors(data, "kind", n_neighbors=5),
    lambda data: fit_logistic(data, "kind"),
    lambda data: fit_rbf_classifier(data, "kind", 4),
]
REGRESSORS = [
    lambda data: bl.fit_neighbors(data, "y", n_neighbors=5),
    lambda data: fit_linear(data, "y", prior=None),
    lambda data: fit_rbf(data, "y", 4),
    lambda data: fit_local(data, "y", n_neighbors=20, degree=1),
]


@pytest.mark.parametrize("fit", CLASSIFIERS)
def test_every_classifier_predicts_rows_of_other_folds(rows, fit):
    data = rows.drop(columns="y")
    found = cross_validate(fit(data), data, cv=3)
    assert found.weight == N
    assert found.accuracy > 0.7
    assert bl.evaluate(fit(data), data, cv=3).to_dict() == found.to_dict()


@pytest.mark.parametrize("fit", REGRESSORS)
def test_every_regressor_predicts_rows_of_other_folds(rows, fit):
    data = rows.drop(columns="kind")
    found = cross_validate(fit(data), data, cv=3)
    assert found.weight == N
    assert found.rmse < 1.5


@pytest.mark.parametrize("fit", [REGRESSORS[0], REGRESSORS[1]])
def test_the_folds_are_refits_by_hand(rows, fit):
    """Neighbors and least squares without a prior do not depend on the encoding: a fit to each fold is the same."""
    data = rows.drop(columns="kind")
    metric = {"metric": "euclidean"} if fit is REGRESSORS[0] else {}
    model = bl.fit_neighbors(data, "y", n_neighbors=5, **metric) if metric else fit(data)
    fold, errors = folds(N, 3, random_state=0), []
    for k in range(3):
        train, test = data[fold != k], data[fold == k]
        refit = bl.fit_neighbors(train, "y", n_neighbors=5, **metric) if metric else fit(train)
        errors.append(refit.predict(test.drop(columns="y")) - test["y"])
    assert cross_validate(model, data, cv=3).rmse == pytest.approx(np.sqrt(np.mean(np.concatenate(errors) ** 2)))


def test_pairs_of_columns_are_counted_again(rows):
    data = rows[["hue"]].assign(twin=rows["hue"])
    model = AODEClassifier().fit(data, rows["kind"]).model_
    assert cross_validate(model, data.assign(**{"class": rows["kind"]}), cv=3).weight == N


def test_a_model_that_was_updated_has_rows_in_its_prior(rows):
    data = rows.drop(columns="y")
    with pytest.raises(ParameterError, match="has the rows from before its last update"):
        cross_validate(fit_logistic(data, "kind").update(data), data, cv=3)


def test_documents_are_predicted_by_those_of_other_folds():
    texts, labels = ["cheap pills", "meeting at noon", "cheap watches", "lunch today"] * 6, ["spam", "ham"] * 12
    found = cross_validate(bl.fit_text(texts, labels), (texts, labels), cv=3)
    assert (found.weight, found.accuracy) == (24, 1)


def test_mixtures_and_sequences_have_a_held_out_likelihood(rows):
    data = rows[["x", "y"]]
    model = bl.fit_mixture(data, 2, random_state=0)
    found = cross_validate(model, data, cv=3)
    assert found.total_weight == N
    assert found.mean_log_likelihood < model.score(data)  # rows that were learned are likelier
    assert "Per row" in found.summary()
    assert found.to_frame()["total_weight"].tolist() == [N]

    steps = rows[["x"]].assign(id=np.repeat(list("abcdef"), N // 6), s=rows["kind"])
    hmm = fit_hmm(steps, columns=["x"], id="id", known_states="s")
    assert cross_validate(hmm, steps, id="id", cv=3).total_weight == N
    assert cross_validate(hmm, steps, id="id", true_states="s", cv=3).accuracy > 0.7
    with pytest.raises(ParameterError, match="the folds are sequences, and no `id` is given"):
        cross_validate(hmm, steps, cv=3)


def test_a_model_without_a_learner_is_refused():
    with pytest.raises(ParameterError, match="predicts no column"):
        cross_validate(bl.VersionSpace.from_attributes({"a": ["x", "y"]}), [], cv=3)
