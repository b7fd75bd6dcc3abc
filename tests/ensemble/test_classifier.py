"""The Bayes optimal classifier: members, folds, weights, explanations, files and limits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bayeslearn
from bayeslearn import BayesOptimalClassifier, NaiveBayesClassifier, NeighborsClassifier, fit_bayes_optimal
from bayeslearn.ensemble import CLASSIFIERS, Member
from bayeslearn.ensemble.stacking import inner_folds
from bayeslearn.errors import MissingValuesError, ParameterError

CHEAP = ["naive-bayes", "logistic", "k-nn"]


def mixed(n=120, seed=0):
    """Rows whose class depends on a number, a word and a count; some cells are missing."""
    rng = np.random.default_rng(seed)
    x, word, count = rng.normal(size=n), rng.choice(["a", "b", "c"], n), rng.integers(0, 4, n)
    y = np.where(x + (word == "a") + 0.5 * count + rng.normal(size=n) > 1.2, "high", "low")
    number = np.where(rng.random(n) < 0.1, np.nan, x)
    words = [None if gone else str(w) for w, gone in zip(word, rng.random(n) < 0.1, strict=True)]
    return {"x": number, "word": words, "count": count}, y


@pytest.fixture(scope="module")
def fitted():
    rows, y = mixed()
    return fit_bayes_optimal(rows | {"level": y}, "level", members=CHEAP)


### what is learned


def test_it_predicts_rows_with_missing_cells(fitted):
    rows, y = mixed(200, seed=1)
    p = fitted.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (np.array(fitted.classes)[p.argmax(axis=1)] == y).mean() > 0.65
    assert fitted.score(rows | {"level": y}) == (fitted.predict(rows) == y).mean()
    nothing = {name: [None] for name in rows}
    assert 0.2 < fitted.predict_proba(nothing)[0, 0] < 0.8


def test_fit_info_reports_every_member(fitted):
    info = fitted.fit_info
    assert {m.name for m in info.members} == set(CHEAP)
    assert all(0.5 < m.score < 1 and 0.2 < m.loss < 1 and m.weight >= 0 and m.seconds > 0 for m in info.members)
    assert info.log_loss <= min(m.loss for m in info.members) + 0.01
    assert info.n_folds == 5
    assert "Members, out of fold" in info.summary()
    assert info.to_dict()["members"][0]["name"] in CHEAP


def test_the_same_seed_is_the_same_model():
    rows, y = mixed(60)
    one, other = (fit_bayes_optimal(rows, y, members=["naive-bayes", "logistic"], random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


@pytest.mark.parametrize("combine", ["posterior", "mixture", "ridge"])
def test_other_pools(combine):
    rows, y = mixed()
    model = fit_bayes_optimal(rows, y, members=["naive-bayes", "logistic"], combine=combine)
    assert model.score(rows, y) > 0.7
    assert model.pool.combine == combine


def test_one_member_and_its_weight():
    rows, y = mixed()
    model = fit_bayes_optimal(rows, y, members="logistic")
    alone = bayeslearn.fit_logistic(rows, y)
    w, b = model.pool.coefficients, model.pool.offsets
    p = 0.9999 * alone.predict_proba(rows) + 0.0001 / 2
    expected = np.exp(w * np.log(p) + b)
    np.testing.assert_allclose(model.predict_proba(rows), expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_weights_of_rows():
    rows, y = mixed(60)
    w = np.r_[np.zeros(20), np.ones(40)]
    part = {name: np.asarray(column, dtype=object)[20:] for name, column in rows.items()}
    weighted = fit_bayes_optimal(rows, y, members=["logistic"], sample_weight=w)
    assert weighted.total_weight == 40
    np.testing.assert_allclose(
        weighted.predict_proba(rows),
        fit_bayes_optimal(part, y[20:], members=["logistic"]).predict_proba(rows),
        rtol=1e-6,
    )


### hard tables


def test_a_class_of_one_row_is_never_held_out():
    fold = inner_folds(np.array([0] * 10 + [1] * 9 + [2]), None, 0)
    assert fold[-1] == -1
    assert sorted(np.bincount(fold[:-1])) == [3, 4, 4, 4, 4]
    rows, y = mixed(40)
    y[0] = "odd"
    model = fit_bayes_optimal(rows, y, members=["naive-bayes", "logistic"])
    assert model.predict_proba(rows).shape == (40, 3)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    model = fit_bayes_optimal(
        {"x": [0.0, 4.0, 1.0, 5.0, 0.5][:n]}, list("abaab")[:n], members=["naive-bayes", "logistic"]
    )
    np.testing.assert_allclose(model.predict_proba({"x": [1.0]}).sum(), 1)


def test_columns_that_are_empty_or_constant_are_dropped():
    rows, y = mixed(40)
    rows |= {"same": ["s"] * 40, "empty": [None] * 40}
    model = fit_bayes_optimal(rows, y, members=["naive-bayes"])
    assert {"same", "empty"} <= set(model.fit_info.dropped_columns)
    assert model.feature_names == ("x", "word", "count")
    shares = fit_bayes_optimal({"same": ["s"] * 40}, y)
    assert not shares.members
    np.testing.assert_allclose(
        shares.predict_proba({"same": ["s"]})[0], (np.array([(y == c).sum() for c in shares.classes]) + 1) / 42
    )


def test_states_and_numbers_that_training_did_not_show(fitted):
    strange = {"x": [1e6], "word": ["never seen"], "count": [17]}
    assert np.isfinite(fitted.predict_proba(strange)).all()


def test_one_class():
    model = BayesOptimalClassifier(CHEAP).fit([[1.0], [2.0], [3.0]], ["a"] * 3)
    assert model.predict([[5.0]]).tolist() == ["a"]


### members


class Raises(NaiveBayesClassifier):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("it cannot learn this")


def test_members_that_raise_or_repeat_are_left_out():
    rows, y = mixed(60)
    members = [
        "naive-bayes", ("twin", NaiveBayesClassifier()), Member("broken", Raises, "states"),
    ]  # fmt: skip
    model = fit_bayes_optimal(rows, y, members=["logistic", *members])
    assert set(model.weights) <= {"logistic", "naive-bayes"}
    assert "broken: left out, ValueError: it cannot learn this" in model.fit_info.notes
    assert "twin: left out, the same as naive-bayes" in model.fit_info.notes


def test_no_time_leaves_the_first_member():
    rows, y = mixed(60)
    model = fit_bayes_optimal(rows, y, members=CHEAP, time_limit=1e-6)
    assert list(model.weights) == ["naive-bayes"]
    assert sum("no time" in note for note in model.fit_info.notes) == 2


def test_progress_ends_the_fit():
    rows, y = mixed(60)
    seen = []

    def watch(now):
        seen.append(now.message)
        if "logistic" in now.message:
            raise StopIteration

    model = fit_bayes_optimal(rows, y, members=CHEAP, progress=watch)
    assert seen[0] == "naive-bayes, fold 1 of 5"
    assert "k-nn" not in model.weights


def test_the_default_members():
    names = [member.name for member in CLASSIFIERS if member.default]
    assert {"naive-bayes", "aode", "logistic", "k-nn"} <= set(names)


### explanations


def test_explanations_add_up(fitted):
    rows, _ = mixed(12, seed=5)
    p = fitted.predict_proba(rows)
    found = fitted.explain(rows)
    best = p.max(axis=1)
    np.testing.assert_allclose(found.log_odds, np.log(best / (1 - best)), rtol=1e-8)
    np.testing.assert_allclose(found.offset + sum(found.members.values()), found.log_odds, rtol=1e-8, atol=1e-10)
    missing = np.isnan(rows["x"])
    np.testing.assert_allclose(found.parts["x"][missing], 0, atol=1e-10)
    assert "offset" in found.summary()


def test_an_explanation_against_one_class():
    rows, y = mixed()
    y = np.where(np.arange(120) % 3 == 0, "other", y)
    model = fit_bayes_optimal(rows, y, members=["naive-bayes", "logistic"])
    p = model.predict_proba(rows)
    found = model.explain(rows, of="high", against="other")
    expected = np.log(p[:, model.classes.index("high")] / p[:, model.classes.index("other")])
    np.testing.assert_allclose(found.log_odds, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.offset + sum(found.members.values()), expected, rtol=1e-8, atol=1e-10)
    with pytest.raises(ParameterError, match="cannot be compared with itself"):
        model.explain(rows, of="high", against="high")


### files and reports


@pytest.mark.parametrize("name", ["m.json", "m.model"])
def test_files(fitted, tmp_path, name):
    rows, _ = mixed(20, seed=2)
    fitted.save(tmp_path / name)
    again = bayeslearn.load(tmp_path / name)
    np.testing.assert_allclose(again.predict_proba(rows), fitted.predict_proba(rows), rtol=1e-12)
    assert again.weights == pytest.approx(fitted.weights)


def test_reports(fitted):
    assert fitted.to_dict()["weights"] == fitted.weights
    assert "Members" in fitted.summary()
    assert fitted.to_frame("pyarrow").num_rows == len(fitted.members)
    pytest.importorskip("matplotlib")
    assert fitted.plot() is not None


def test_the_estimator_reads_frames_arrays_and_names():
    rows, y = mixed(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_name = BayesOptimalClassifier(["naive-bayes"]).fit(rows | {"level": y}, "level")
        by_array = BayesOptimalClassifier([("k", NeighborsClassifier(3))]).fit(np.c_[rows["count"], y == "low"], y)
    assert by_name.score(rows, y) > 0.6
    assert by_array.predict_proba([[1, 0]]).shape == (1, 2)


### what is wrong


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"members": ["magic"]}, "there is no member 'magic'"),
        ({"members": []}, "there is no member"),
        ({"members": ["k-nn", "k-nn"]}, "members share a name: 'k-nn'"),
        ({"members": [5]}, "a member is a name or an estimator of bayeslearn, got 5"),
        ({"combine": "vote"}, "unexpected value for `combine`"),
        ({"cv": 1}, "`cv` must be at least 2"),
        ({"time_limit": 0}, "`time_limit` must be above 0"),
    ],
)
def test_invalid_options(options, match):
    rows, y = mixed(20)
    with pytest.raises(ParameterError, match=match):
        fit_bayes_optimal(rows, y, **options)


def test_a_target_that_is_missing_everywhere():
    with pytest.raises(MissingValuesError, match="no row that counts has a 'y'"):
        fit_bayes_optimal({"x": [1.0, 2.0], "z": ["a", "b"], "y": ["p", "q"]}, "y", sample_weight=[0, 0])
