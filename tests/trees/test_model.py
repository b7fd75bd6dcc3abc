"""Forests as models: evidence adds, predictions out of bag, explanations that add up, files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

import bayeslearn as bl
from bayeslearn import fit_forest
from bayeslearn.errors import (
    BayeslearnWarning,
    CapacityError,
    DataError,
    EvidenceError,
    MismatchError,
    NoFitInfoError,
    ParameterError,
    ShapeError,
)
from bayeslearn.trees import predictive
from bayeslearn.trees.structure import Bins, cuts_of


def table(n, seed=0):
    """Rows with numbers, states, missing values and an interaction of thresholds."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    hue = rng.choice(["red", "green", "blue"], n)
    kind = np.where((x > 0) ^ (z > 0.3), "p", np.where(hue == "red", "q", "r"))
    frame = pd.DataFrame({"x": x, "z": z, "hue": hue, "kind": kind})
    frame["y"] = 3 * np.abs(x) + (hue == "red") + 0.1 * rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "x"] = None
    frame.loc[rng.random(n) < 0.1, "hue"] = None
    return frame


ROWS, MORE = table(300), table(60, 1)
FEATURES = ["x", "z", "hue"]


@pytest.fixture(scope="module")
def classes():
    return fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=20, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    return fit_forest(ROWS.drop(columns="kind"), "y", n_estimators=20, random_state=0)


@pytest.fixture(params=["classes", "numbers"])
def model(request):
    return request.getfixturevalue(request.param)


### evidence adds


def test_rows_in_batches_are_the_rows_together(model):
    together = model.update(MORE)
    parts = model.update(MORE[:20]).update(MORE[20:])
    assert parts.statistics.isclose(together.statistics)
    assert together.total_weight == pytest.approx(360)


def test_removed_rows_were_never_there(model):
    assert model.update(MORE).remove(MORE).statistics.isclose(model.statistics, rtol=1e-9, atol=1e-9)


def test_merged_models_have_the_rows_of_both_and_their_base_once(model):
    merged = model.update(MORE[:30]) + model.update(MORE[30:])
    assert merged.statistics.isclose(model.update(MORE).statistics)
    assert model.update(MORE[:30]).merge(model.update(MORE[30:])).total_weight == pytest.approx(360)


def test_weight_two_is_the_row_twice(model):
    twice = model.update(pd.concat([MORE, MORE]))
    assert model.update(MORE.assign(w=2.0), sample_weight="w").statistics.isclose(twice.statistics)


def test_discounted_rows_count_less(model):
    assert model.discount(0.5).total_weight == pytest.approx(150)
    with pytest.raises(ParameterError, match="`forgetting_factor` must be"):
        model.discount(0)


def test_statistics_are_those_of_the_training_rows(model):
    nothing = model.remove(ROWS)
    assert nothing.total_weight == pytest.approx(0, abs=1e-9)
    assert nothing.update(ROWS).statistics.isclose(model.statistics, rtol=1e-9, atol=1e-9)


def test_rows_that_are_not_there_cannot_be_removed(classes):
    with pytest.raises(EvidenceError, match="more evidence removed"):
        classes.remove(pd.concat([ROWS] * 3))


def test_only_forests_of_the_same_trees_add(classes, numbers):
    other = fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=20, random_state=1)
    with pytest.raises(MismatchError, match="different trees or targets"):
        classes + other
    with pytest.raises(MismatchError, match="different trees or targets"):
        classes + numbers


def test_rows_of_an_unknown_class_are_an_error_and_rows_without_one_add_nothing(classes):
    with pytest.raises(DataError, match="row 1 has a class of 'kind' that the forest does not know"):
        classes.update(MORE[:2].assign(kind=["p", "other"]))
    assert classes.update(MORE[:2].assign(kind=[None, "p"])).total_weight == pytest.approx(301)


### what is predicted


def test_probabilities_sum_to_one_and_unknown_states_are_missing(classes):
    p = classes.predict_proba(MORE)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (p > 0).all()
    with pytest.warns(BayeslearnWarning, match="'violet'"):
        unknown = classes.predict_proba(MORE.assign(hue="violet"))
    np.testing.assert_array_equal(unknown, classes.predict_proba(MORE.assign(hue=None)))
    assert classes.score(MORE) > 0.75
    assert classes.predict(MORE).tolist() == [classes.classes[c] for c in p.argmax(axis=1)]


def test_log_likelihood_is_that_of_the_target(classes, numbers):
    p = classes.predict_proba(MORE)
    codes = [classes.classes.index(kind) for kind in MORE["kind"]]
    np.testing.assert_allclose(classes.log_likelihood(MORE), np.log(p[np.arange(60), codes]), rtol=1e-12)
    assert classes.log_likelihood(MORE[:3], [None, "other", "p"])[:2].tolist() == [0.0, -np.inf]
    assert np.isnan(MORE["y"]).sum() == 0
    one = MORE[:1]
    total, _ = integrate.quad(lambda y: np.exp(numbers.log_likelihood(one, [y])[0]), -30, 40, limit=300)
    assert total == pytest.approx(1, abs=1e-3)
    assert numbers.log_likelihood(one, [None]).tolist() == [0.0]


def test_intervals_have_their_coverage(numbers):
    low, high = numbers.predict_interval(MORE, 0.8)
    inside = np.mean((low <= MORE["y"]) & (MORE["y"] <= high))
    assert 0.65 < inside <= 1
    outer = numbers.predict_interval(MORE, 0.95)
    assert (outer[0] < low).all()
    assert (outer[1] > high).all()
    assert numbers.score(MORE) > 0.5


def test_a_quantile_of_a_mixture_has_its_probability():
    rng = np.random.default_rng(0)
    location, scale, dof = rng.normal(size=(7, 5)), rng.uniform(0.1, 2, (7, 5)), rng.uniform(2.5, 30, (7, 5))
    for q in (0.025, 0.5, 0.9):
        found = predictive.quantile(location, scale, dof, q)
        np.testing.assert_allclose(
            predictive.stats.t.cdf((found - location) / scale, dof).mean(axis=0), q, rtol=0, atol=1e-5
        )


def test_predictions_out_of_bag_are_as_good_as_those_of_new_rows(classes, numbers):
    info = classes.fit_info
    assert info.out_of_bag_proba.shape == (300, 3)
    known = ~np.isnan(info.out_of_bag_proba[:, 0])
    assert known.mean() > 0.99
    codes = np.array([classes.classes.index(kind) for kind in ROWS["kind"]])
    hits = info.out_of_bag_proba[known].argmax(axis=1) == codes[known]
    assert hits.mean() == pytest.approx(info.out_of_bag_score)
    new = classes.score(table(2000, 5))
    assert info.out_of_bag_score == pytest.approx(new, abs=0.06)
    assert -classes.log_likelihood(table(2000, 5)).mean() == pytest.approx(info.out_of_bag_log_loss, abs=0.12)
    assert numbers.fit_info.out_of_bag_score == pytest.approx(numbers.score(table(2000, 5)), abs=0.12)


def test_a_temperature_lowers_the_log_loss_out_of_bag(classes):
    plain = fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=20, random_state=0, calibrate=False)
    assert plain.temperature == 1
    assert plain.trees.same(classes.trees)
    assert classes.fit_info.out_of_bag_log_loss <= plain.fit_info.out_of_bag_log_loss


def test_explanations_add_up_to_the_prediction(classes, numbers):
    p = classes.predict_proba(MORE)
    for why, row in zip(classes.explain(MORE), p, strict=True):
        assert why.predicted == pytest.approx(np.log(row.max() / (1 - row.max())), rel=1e-9, abs=1e-9)
        assert why.average + sum(why.contributions.values()) == pytest.approx(why.predicted, rel=1e-9)
        assert why.target == f"kind={classes.classes[row.argmax()]} (log odds)"
    for why, mean in zip(numbers.explain(MORE), numbers.predict(MORE), strict=True):
        assert why.predicted == pytest.approx(mean, rel=1e-9)
    assert numbers.explain(MORE.assign(hue=None))[0].to_dict()["values"]["hue"] is None


def test_importances_find_the_columns_that_matter():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    frame["y"] = ((frame["a"] > 0) ^ (frame["b"] > 0)).map({True: "yes", False: "no"})
    found = fit_forest(frame, "y", n_estimators=20, random_state=0).feature_importances
    assert sum(found.values()) == pytest.approx(1)
    assert min(found["a"], found["b"]) > 2 * max(found["c"], found["d"])


### fits


def test_the_number_of_threads_changes_nothing(monkeypatch):
    found = []
    for n in ("1", "3"):
        monkeypatch.setenv("BAYESLEARN_NUM_THREADS", n)
        found.append(fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=9, random_state=4))
    assert found[0].trees.same(found[1].trees)
    assert found[0].temperature == found[1].temperature


def test_a_row_of_weight_zero_is_no_row():
    frame = ROWS.drop(columns="y").assign(w=1.0)
    frame.loc[::3, "w"] = 0
    kept = frame[frame["w"] > 0]
    one, other = (fit_forest(rows, "kind", n_estimators=3, sample_weight="w", random_state=0) for rows in (frame, kept))
    assert one.trees.same(other.trees)


def test_options_are_checked():
    for name, value in {
        "n_estimators": 0, "max_bins": 1, "max_depth": -1, "min_samples_leaf": -1, "split_probability": 1.0,
        "equivalent_sample_size": 0, "max_features": 0,
    }.items():  # fmt: skip
        with pytest.raises(ParameterError, match=f"`{name}` must be"):
            fit_forest(ROWS.drop(columns="y"), "kind", **{name: value})
    with pytest.raises(ParameterError, match="`calibrate` must be True or False"):
        fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=2, calibrate="yes")
    with pytest.raises(ParameterError, match="max_features"):
        fit_forest(ROWS.drop(columns="y"), "kind", max_features="half")


def test_a_depth_of_zero_is_the_share_of_the_classes():
    model = fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=3, max_depth=0, calibrate=False, random_state=0)
    shares = ROWS["kind"].value_counts().loc[list(model.classes)].to_numpy()
    np.testing.assert_allclose(model.predict_proba(MORE[:1])[0], (shares + 0.5 / 3) / 300.5, rtol=1e-12)
    assert set(model.feature_importances.values()) == {0.0}


def test_columns_that_cannot_be_used_are_dropped_with_a_warning():
    frame = ROWS.drop(columns="y").assign(none=[None] * 300)
    with pytest.warns(BayeslearnWarning, match="none"):
        model = fit_forest(frame, "kind", n_estimators=2, random_state=0)
    assert "none" in model.fit_info.dropped_columns
    assert model.feature_names == ("x", "z", "hue")


def test_progress_is_reported_and_may_stop():
    steps = []

    def stop(now):
        steps.append(now.fraction)
        raise StopIteration

    model = fit_forest(ROWS.drop(columns="y"), "kind", n_estimators=50, random_state=0, progress=stop)
    assert len(steps) == 1
    assert 0 < model.n_trees < 50


def test_one_class_and_one_row():
    model = fit_forest({"x": [1.0, 2.0, 3.0], "y": ["a", "a", "a"]}, "y", n_estimators=2, random_state=0)
    assert model.predict_proba({"x": [5.0]}).tolist() == [[1.0]]
    with pytest.raises(ParameterError, match="there is only one class"):
        model.explain({"x": [5.0]})
    flat = fit_forest({"x": [1.0, 2.0, 3.0, 4.0]}, [7.5, 7.5, 7.5, 7.5], task="regression", n_estimators=2)
    assert flat.predict({"x": [1.0]}).tolist() == pytest.approx([7.5])


def test_files_hold_the_forest(model, tmp_path):
    changed = model.update(MORE)
    for name in ("forest.json", "forest.model"):
        changed.save(tmp_path / name)
        found = bl.load(tmp_path / name)
        assert found.trees.same(changed.trees)
        assert found.statistics.isclose(changed.statistics, rtol=0, atol=0)
        assert found.temperature == changed.temperature
        assert (found + changed.update(ROWS)).total_weight == pytest.approx(660)
        with pytest.raises(NoFitInfoError, match="has no fit_info"):
            _ = found.fit_info


def test_reports_name_what_was_found(model):
    assert "Trees" in model.summary()
    assert "out of bag" in model.fit_info.summary()
    assert set(model.to_dict()["feature_importances"]) == {"x", "z", "hue"}
    assert model.to_frame()["importance"].sum() == pytest.approx(1)
    assert "<td" in model._repr_html_()
    assert "out_of_bag_proba" not in model.fit_info.to_dict()


### trees of others


def test_arrays_that_form_no_trees_are_refused(classes):
    trees = classes.trees
    kind = type(trees)

    def made(**changes):
        names = ("bins", "sizes", "column", "threshold", "missing_left", "masks")
        return kind(*({name: getattr(trees, name) for name in names} | changes).values())

    assert made().same(trees)
    column = trees.column.copy()
    first = int(trees.sizes[0])
    column[first - 1] = 0  # a leaf that has children is one too many
    with pytest.raises(ShapeError, match="do not form trees"):
        made(column=column)
    reversed_columns = trees.column.copy()
    reversed_columns[:first] = reversed_columns[:first][::-1]
    with pytest.raises(ShapeError, match="do not form trees"):
        made(column=reversed_columns)
    with pytest.raises(ShapeError, match="is not a code of its column"):
        made(threshold=np.full(len(trees.column), 255, np.int32))
    with pytest.raises(ShapeError, match="expected masks of 32 bytes"):
        made(masks=np.zeros((1, 3), np.uint8))


def test_cuts_are_between_neighbors_and_bins_have_about_equal_weight():
    assert cuts_of(np.array([3.0, 1.0, np.nan, 2.0, 2.0]), np.ones(5), 10).tolist() == [1.5, 2.5]
    assert cuts_of(np.array([5.0, 5.0]), np.ones(2), 10).tolist() == []
    x = np.random.default_rng(0).normal(size=1000)
    counts = np.bincount(np.searchsorted(cuts_of(x, np.ones(1000), 8), x))
    assert len(counts) == 8
    assert counts.min() > 115
    near = np.array([1.0, np.nextafter(1.0, 2)])
    assert np.searchsorted(cuts_of(near, np.ones(2), 10), near).tolist() == [0, 1]
    huge = cuts_of(np.array([-1e140, 1e140]), np.ones(2), 10)
    assert huge.tolist() == [0.0]


def test_a_column_of_more_states_than_codes_is_an_error():
    many = bl.DiscreteVariable("s", [f"s{i}" for i in range(300)])
    with pytest.raises(CapacityError, match="column 's' has more than 255 states"):
        Bins(bl.Schema([many]), (np.empty(0),))
