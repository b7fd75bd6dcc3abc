"""The classifiers: what they take, missing labels, batches, bad input; and averaged one-dependence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import AODEClassifier, NaiveBayesClassifier, as_table, fit_naive_bayes
from bayeslearn.errors import DataError, DuplicateColumnError, ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.naive_bayes.tabular.out_of_fold import best_exponent
from tests.properties import trials

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 60)
COLUMNS = {
    "sky": np.array(["sun", "rain", "fog"], object)[(RNG.integers(0, 2, 60) + Y) % 3],
    "heat": RNG.normal(size=60) + Y,
    "visits": RNG.poisson(1 + 3 * Y),
}
FAMILIES = {"visits": "poisson"}


### what comes in


def test_every_kind_of_data_gives_the_same_answer(tmp_path):
    names = np.array(["no", "yes"])[Y]
    frame = pd.DataFrame(COLUMNS)
    frame.assign(play=names).to_csv(tmp_path / "days.csv", index=False)
    expected = fit_naive_bayes(COLUMNS | {"play": names}, "play", distributions=FAMILIES).predict_proba(COLUMNS)
    table = as_table(COLUMNS | {"play": names}, numeric=["visits"])
    for X, y in [(frame, names), (pl.DataFrame(frame), names), (table, "play"), (tmp_path / "days.csv", "play")]:
        model = NaiveBayesClassifier(distributions=FAMILIES).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
        assert model.classes_.tolist() == ["no", "yes"]
        assert list(model.feature_names_in_) == list(COLUMNS)


def test_floats_of_an_array_are_numbers_unless_they_are_few_whole_numbers():
    X = RNG.integers(0, 3, (60, 2))
    assert {c.distribution.name for c in NaiveBayesClassifier().fit(X, Y).model_.columns} == {"categorical"}
    plain = NaiveBayesClassifier(distributions="gaussian")
    for floats, name in [(X.astype(float), "categorical"), (X + 0.5, "gaussian")]:
        assert {c.distribution.name for c in plain.fit(floats, Y).model_.columns} == {name}
    first = NaiveBayesClassifier().partial_fit(X.astype(float), Y)
    assert {c.distribution.name for c in first.model_.columns} == {"gaussian"}
    many = np.column_stack([np.arange(600), np.arange(600) % 50])
    assert [c.distribution.name for c in plain.fit(many, np.arange(600) % 2).model_.columns] == [
        "gaussian",
        "categorical",
    ]


def test_whole_numbers_are_read_alike_by_estimator_function_and_file(tmp_path):
    frame = pd.DataFrame({"few": np.arange(60.0) % 4, "many": np.arange(60.0) // 2, "x": COLUMNS["heat"]})
    labels = np.array(["no", "yes"])[Y]
    frame.assign(y=labels).to_csv(tmp_path / "rows.csv", index=False)
    models = [
        NaiveBayesClassifier().fit(frame, labels).model_,
        fit_naive_bayes(frame.assign(y=labels), "y"),
        fit_naive_bayes(tmp_path / "rows.csv", "y"),
        NaiveBayesClassifier().fit(tmp_path / "rows.csv", "y").model_,
    ]
    p = models[0].predict_proba(frame)
    for model in models[1:]:
        np.testing.assert_allclose(model.predict_proba(frame), p, rtol=1e-9)
    X = frame.to_numpy()
    np.testing.assert_allclose(NaiveBayesClassifier().fit(X, labels).predict_proba(X), p, rtol=1e-9)


def test_more_distributions_of_an_array():
    X = RNG.integers(0, 3, (60, 2))
    told = NaiveBayesClassifier(distributions={"x1": "poisson"}).fit(X, Y)
    assert [c.distribution.name for c in told.model_.columns] == ["categorical", "poisson"]
    cut = NaiveBayesClassifier(distributions={"x0": "binned:4"}).fit(RNG.normal(size=(60, 2)), Y)
    assert cut.model_["x0"].variable.n_states == 4
    assert len(cut.predict(RNG.normal(size=(5, 2)))) == 5


def test_a_frame_of_every_kind_of_column():
    frame = pd.DataFrame({
        "category": pd.Categorical(COLUMNS["sky"]),
        "truth": COLUMNS["heat"] > 0,
        "nullable": pd.array([None, *COLUMNS["visits"][1:]], dtype="Int64"),
        "float": COLUMNS["heat"],
    })  # fmt: skip
    model = NaiveBayesClassifier().fit(frame, Y > 0)
    assert model.predict(frame).dtype == bool
    assert [c.distribution.name for c in model.model_.columns][::3] == ["categorical", "kernel_density"]
    assert AODEClassifier().fit(frame, Y).score(frame, Y) > 0.5


def test_numbers_that_were_states_are_found_again_as_floats():
    X = RNG.integers(0, 3, (60, 2))
    model = NaiveBayesClassifier().fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X.astype(float)), model.predict_proba(X), rtol=1e-12)
    new = model.predict_proba([[7, 1]])
    assert np.isfinite(new).all()


def test_a_column_of_nothing_says_nothing():
    X = np.column_stack([COLUMNS["heat"], np.full(60, np.nan)])
    both = NaiveBayesClassifier().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(both, NaiveBayesClassifier().fit(X[:, :1], Y).predict_proba(X[:, :1]), rtol=1e-12)


### labels


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_learned_from(missing):
    X = np.column_stack([COLUMNS["heat"], COLUMNS["heat"] + RNG.normal(size=60)])
    y = np.array(["no", "yes"], object)[Y]
    y[20:] = missing
    model = NaiveBayesClassifier().fit(X, y)
    assert model.model_.total_weight == pytest.approx(60)
    assert model.n_iter_ > 1
    assert set(model.predict(X)) <= {"no", "yes"}
    numbers = Y.astype(float)
    numbers[20:] = np.nan
    np.testing.assert_allclose(
        NaiveBayesClassifier().fit(X, numbers).predict_proba(X), model.predict_proba(X), rtol=1e-9
    )


@given(st.integers(0, 1000))
@trials(8)
def test_batches_add_up_to_the_whole_with_states_that_come_later(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"u": rng.choice(list("abcdefgh"), 30), "v": rng.normal(size=30)})
    y = np.append([0, 1, 2], rng.integers(0, 3, 27))
    model = NaiveBayesClassifier()  # batches choose nothing: numbers are Gaussian, and no exponent is estimated
    for part in np.array_split(np.arange(30), 4):
        model.partial_fit(frame.iloc[part], y[part], classes=[0, 1, 2])
    whole = NaiveBayesClassifier(distributions="gaussian", calibrate=False).fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), rtol=1e-9)


### calibration


def correlated(n, seed):
    """Eight copies of one weak column: naive Bayes is far too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = y ^ (rng.random(n) < 0.3)
    return np.tile(x[:, None], (1, 8)), y


def test_calibration_sets_right_what_was_counted_eight_times():
    X, y = correlated(2000, 0)
    new, truth = correlated(2000, 1)
    sure, honest = (NaiveBayesClassifier(calibrate=c, random_state=0).fit(X, y) for c in (False, True))
    assert sure.calibration(new, truth).error > 0.25
    assert honest.calibration(new, truth).error < 0.03
    assert honest.model_.column_exponents == pytest.approx((1 / 8,) * 8, rel=0.1)


def test_one_dependence_has_one_exponent_that_maximizes_the_likelihood_out_of_fold(tmp_path):
    def noisy(seed):  # eight columns that show one hidden column
        x, labels = correlated(2000, seed)
        return np.where(np.random.default_rng(seed + 10).random(x.shape) < 0.15, 1 - x, x), labels

    (X, y), (new, truth) = noisy(0), noisy(1)
    sure, honest = (AODEClassifier(calibrate=c).fit(X, y) for c in (False, "auto"))
    assert sure.model_.exponent == 1
    assert honest.model_.exponent < 0.8
    losses = [-np.log(m.predict_proba(new)[np.arange(2000), truth]).mean() for m in (sure, honest)]
    assert losses[1] < losses[0] - 0.01
    shares = honest.model_.logs[0]
    joint = honest.predict_joint_log_proba(new[:5])
    p = np.exp(shares + honest.model_.exponent * (joint - shares))
    np.testing.assert_allclose(honest.predict_proba(new[:5]), p / p.sum(axis=1, keepdims=True), rtol=1e-12)
    empty = honest.predict_proba(np.full((1, 8), np.nan))
    np.testing.assert_allclose(empty, np.exp(shares)[None] / np.exp(shares).sum(), rtol=1e-12)
    honest.model_.save(tmp_path / "m.json")
    again = type(honest.model_).load(tmp_path / "m.json")
    np.testing.assert_array_equal(
        again.predict_proba({f"x{j}": new[:, j] for j in range(8)}), honest.predict_proba(new)
    )
    assert (again + again).exponent == pytest.approx(again.exponent)
    assert AODEClassifier().fit(X[:10], y[:10]).model_.exponent == 1


def test_the_exponent_of_one_dependence_is_the_posterior_mode():
    rng = np.random.default_rng(3)
    e, labels, w = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), rng.integers(0, 3, 60).astype(float)
    e[np.arange(60), labels] += 0.7
    shares = np.log(np.tile([0.2, 0.3, 0.5], (60, 1)))

    def loss(log_t):
        logs = shares + np.exp(log_t) * e
        own = (logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))[np.arange(60), labels]
        return log_t**2 / 2 - w @ own

    grid = np.linspace(np.log(1e-3), np.log(10), 20_001)
    best = grid[np.argmin([loss(t) for t in grid])]
    assert np.log(best_exponent(shares, e, labels, w)) == pytest.approx(best, abs=grid[1] - grid[0])
    assert best_exponent(shares, e, labels, 0 * w) == pytest.approx(1, rel=1e-12)  # nothing seen: the prior's
    assert best_exponent(shares, 0 * e, labels, w) == pytest.approx(1, rel=1e-12)  # nothing to tell classes apart


def test_calibration_of_labels_that_are_not_known():
    X, y = correlated(50, 0)
    with pytest.raises(UnknownStateError, match="not among the classes"):
        NaiveBayesClassifier().fit(X, y).calibration(X, y + 5)


### reasons


def test_reasons_of_rows():
    frame = pd.DataFrame(COLUMNS)
    model = NaiveBayesClassifier(distributions=FAMILIES).fit(frame, Y)
    why = model.explain(frame.iloc[:3], of=1, against=0)
    joint = model.predict_joint_log_proba(frame.iloc[:3])
    np.testing.assert_allclose(why.log_odds, joint[:, 1] - joint[:, 0], rtol=1e-9)
    with pytest.raises(ParameterError, match="with itself"):
        model.explain(frame, of=1, against=1)


### bad input


def test_bad_input_is_named():
    X = np.column_stack([COLUMNS["heat"], COLUMNS["heat"]])
    with pytest.raises(DataError, match="no row has a label"):
        NaiveBayesClassifier().fit(X, np.full(60, np.nan))
    bad = X.copy()
    bad[7, 1] = np.inf
    with pytest.raises(DataError, match="column 'x1' is inf in row 7"):
        NaiveBayesClassifier().fit(bad, Y)
    with pytest.raises(DataError, match="column 'x1' is inf in row 7"):
        NaiveBayesClassifier().fit(X, Y).predict(bad)
    with pytest.raises(DuplicateColumnError, match="more than once: 'a'"):
        NaiveBayesClassifier().fit(pd.DataFrame(X, columns=["a", "a"]), Y)
    with pytest.raises(DataError, match="too large to be squared"):
        NaiveBayesClassifier(distributions="gaussian").fit(X * 1e200, Y)
    assert NaiveBayesClassifier().fit(X * 1e200, Y).score(X * 1e200, Y) > 0.5
    with pytest.raises(ParameterError, match="`distributions` must be 'auto', a name, or a dict"):
        NaiveBayesClassifier(distributions=3).fit(X, Y)
    with pytest.raises(UnknownColumnError, match="'x9'"):
        NaiveBayesClassifier(distributions={"x9": "poisson"}).fit(X, Y)
    with pytest.raises(DataError, match="column 'x0': counts must be whole"):
        NaiveBayesClassifier(distributions={"x0": "poisson"}).fit(X, Y)
    with pytest.raises(UnknownStateError, match="are not among the classes"):
        NaiveBayesClassifier().partial_fit(X, Y, classes=[0, 1]).partial_fit(X, Y + 1)
    with pytest.raises(DataError, match="every sample_weight is zero"):
        NaiveBayesClassifier().fit(X, Y, sample_weight=np.zeros(60))
    table = as_table(COLUMNS | {"y": Y})
    model = NaiveBayesClassifier().fit(table, "y")
    with pytest.raises(UnknownColumnError, match="'visits'"):
        model.predict(table.drop(["visits", "y"]))


def test_one_class_is_always_the_answer():
    model = NaiveBayesClassifier().fit([[1.0], [2.0]], ["only", "only"])
    assert model.predict([[5.0]]).tolist() == ["only"]


### averaged one-dependence


def slow_aode(X, y, row, *, m=1.0):
    """The definition, in plain Python."""
    classes, d = sorted(set(y)), len(row)
    sizes = [len({x[j] for x in X if x[j] is not None}) for j in range(d)]

    def count(c, *conditions):
        return sum(
            label == c and all(x[j] == v if v is not Ellipsis else x[j] is not None for j, v in conditions)
            for x, label in zip(X, y, strict=True)
        )

    scores = []
    for c in classes:
        terms = []
        for j in range(d):
            if row[j] is None:
                continue
            known = sum(count(k, (j, ...)) for k in classes)
            p = (count(c, (j, row[j])) + m / (len(classes) * sizes[j])) / (known + m)
            for k in range(d):
                if k != j and row[k] is not None:
                    both = count(c, (j, row[j]), (k, ...))
                    p *= (count(c, (j, row[j]), (k, row[k])) + m / sizes[k]) / (both + m)
            terms.append(p)
        shares = (count(c) + m / len(classes)) / (len(y) + m)
        scores.append(np.mean(terms) if terms else shares)
    return np.array(scores) / np.sum(scores)


@given(st.integers(0, 1000))
@trials(8)
def test_averaged_one_dependence_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array(["a", "b", "c", None], object), (25, 3), p=[0.3, 0.3, 0.3, 0.1])
    X[:3] = [["a"] * 3, ["b"] * 3, ["c"] * 3]
    y = rng.choice(["u", "v"], 25)
    y[:2] = ["u", "v"]
    model = AODEClassifier(calibrate=False).fit(X, y)
    asked = [*X[:6].tolist(), [None, None, None], [None, "b", "a"]]
    expected = [slow_aode(X.tolist(), y.tolist(), row) for row in asked]
    np.testing.assert_allclose(model.predict_proba(np.array(asked, object)), expected, rtol=1e-9)


def test_averaged_one_dependence_takes_weights_and_leaves_out_rare_parents():
    X, y = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]], ["u", "v", "v", "u"]
    twice = AODEClassifier().fit(X * 2, y * 2).predict_proba(X)
    np.testing.assert_allclose(AODEClassifier().fit(X, y, sample_weight=[2] * 4).predict_proba(X), twice, rtol=1e-12)
    none = AODEClassifier(min_count=100).fit(X, y)
    np.testing.assert_allclose(none.predict_proba(X), np.full((4, 2), 0.5), rtol=1e-12)
    with pytest.raises(DataError, match="every sample_weight is zero"):
        AODEClassifier().fit(X, y, sample_weight=[0] * 4)
