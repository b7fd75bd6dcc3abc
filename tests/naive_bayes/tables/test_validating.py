"""Folds by adding statistics, reliability, and how the plain model fares on real tables with holes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from bayeslearn import AveragedOneDependenceClassifier, NaiveBayes, as_table
from bayeslearn.errors import DataError, ShapeError
from bayeslearn.naive_bayes import Calibration, calibrated, calibration, cross_validate
from bayeslearn.naive_bayes.tables.telling import tells
from bayeslearn.naive_bayes.tables.validating import dealt, read_out_of_fold
from tests.naive_bayes.tables.test_model import learned, random_rows


def test_a_fold_is_judged_by_a_model_of_the_others():
    rows = random_rows(0)
    model = learned(rows)
    found = read_out_of_fold(model, rows, folds=3)
    table = as_table(rows, numeric=["heat", "visits"])
    for f in range(3):
        without = NaiveBayes.learn(table.take(found.fold != f), like=model)
        joint = without.log_joint(table.take(found.fold == f))
        np.testing.assert_allclose((found.log_shares + found.evidence)[found.fold == f], joint, rtol=1e-9)


def test_folds_are_even_in_every_class():
    labels = np.array([0] * 20 + [1] * 10, np.int32)
    fold = dealt(labels, 5, np.random.default_rng(0))
    assert [np.bincount(fold[labels == c]).tolist() for c in (0, 1)] == [[4] * 5, [2] * 5]


def test_the_report_of_a_check():
    rows = random_rows(0)
    check = cross_validate(learned(rows), rows, folds=5)
    assert check.accuracy > check.majority_accuracy
    assert check.log_loss < check.majority_log_loss
    assert "majority" in str(check)
    with pytest.raises(DataError, match="30 rows with a label cannot be dealt out to 31 folds"):
        cross_validate(learned(rows), rows, folds=31)


def test_rows_that_no_class_can_show_are_left_to_the_class_shares():
    rows = {"x": ["u", "v", "w", "u"], "y": ["a", "b", "a", "b"]}
    found = read_out_of_fold(NaiveBayes.learn(rows, "y", prior="mle"), rows, folds=2)
    assert np.isfinite(found.evidence).any(axis=1).all()


def test_reliability():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 20_000)
    proba = np.column_stack([p, 1 - p])
    honest = Calibration.of(proba, (rng.random(20_000) > p).astype(int))
    assert honest.error < 0.02
    np.testing.assert_allclose(honest.confidence[5:], honest.accuracy[5:], atol=0.03)
    assert Calibration.of(proba, np.zeros(20_000, int)).error == pytest.approx(1 - p.mean(), abs=1e-9)
    with pytest.raises(ShapeError, match="expected probabilities"):
        Calibration.of(proba, [0])
    rows = random_rows(0)
    assert calibration(learned(rows), rows).cases.sum() == 30
    assert calibrated(learned(rows), rows, folds=5).sharpness > 0


def test_what_speaks_for_a_class():
    told = tells(learned(random_rows(0, n=200)))
    assert {tell.column for entries in told.values() for tell in entries} <= {"sky", "heat", "visits"}
    assert all(entries == sorted(entries, key=lambda t: -t.strength) for entries in told.values())
    warm = next(tell for tell in told["c"] if tell.column == "visits")
    assert warm.here > warm.elsewhere


### real tables


NINE = ["clump_thickness", "uniformity_cell_size", "uniformity_cell_shape", "marginal_adhesion",
        "single_epithelial_cell_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses"]  # fmt: skip
SEVEN = ["pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
#: Target, columns, families.
TABLES = {
    "house-votes-84": ("class", None, {}),
    "mushroom": ("class", None, {}),
    "breast-cancer-wisconsin": ("class", NINE, {}),
    "nursery": ("class", None, {}),
    "titanic": ("survived", SEVEN, {"fare": "cut", "age": "cut"}),
}


def scores(p, y):
    with np.errstate(divide="ignore"):
        return float((p.argmax(axis=1) == y).mean()), float(-np.log(p[np.arange(len(y)), y]).mean())


def out_of_fold(fit, X, y, fold):
    p = np.zeros((len(y), y.max() + 1))
    for f in range(10):
        model = fit(X[fold != f], y[fold != f])
        p[np.ix_(fold == f, model.classes_)] = model.predict_proba(X[fold == f])
    return scores(p, y)


def everyone(folder, name):
    """Accuracy and log loss over the same ten folds: ours, and the peers' after imputation."""
    target, columns, families = TABLES[name]
    columns = columns if columns is None else [*columns, target]
    table = as_table(folder / "tables" / f"{name}.csv", columns=columns, discrete=[target], allow_constant=True)
    model = NaiveBayes.learn(table, target, families=families)
    checks = [cross_validate(model, table, calibrate=c) for c in (False, True)]
    found = {n: (c.accuracy, c.log_loss) for n, c in zip(("ours", "calibrated"), checks, strict=True)}
    y = table.code(target).astype(np.int32)
    fold = dealt(y, 10, np.random.default_rng(0))
    cut = table.drop([target]).discretise(bins=5)
    codes = cut.codes.T.astype(float)
    codes[codes < 0] = np.nan
    modes = SimpleImputer(strategy="most_frequent").fit_transform(codes).astype(int)
    sizes = [v.size for v in cut.schema.discrete]
    numbers = [v.name for v in table.schema.numeric]
    coded = np.column_stack([table.value(n) if n in numbers else np.where((c := table.code(n)) < 0, np.nan, c)
                             for n in cut.schema.names])  # fmt: skip
    found["averaged"] = out_of_fold(AveragedOneDependenceClassifier().fit, codes, y, fold)
    found["CategoricalNB"] = out_of_fold(CategoricalNB(min_categories=sizes).fit, modes, y, fold)
    found["GaussianNB"] = out_of_fold(GaussianNB().fit, SimpleImputer().fit_transform(coded), y, fold)
    return found


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_real_tables(shared_data, name):
    found = everyone(shared_data, name)
    loss = {n: entry[1] for n, entry in found.items()}
    right = {n: entry[0] for n, entry in found.items()}
    assert loss["calibrated"] < min(loss["CategoricalNB"], loss["GaussianNB"])
    assert max(right["ours"], right["calibrated"]) >= right["CategoricalNB"] - 0.002
    assert max(right["averaged"], right["calibrated"]) >= max(right["GaussianNB"], right["CategoricalNB"]) - 0.002
