"""Folds by adding statistics, reliability, and how the plain model fares on real tables with holes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from bayeslearn import AODEClassifier, NaiveBayesClassifier, as_table, fit_naive_bayes
from bayeslearn.distributions import Categorical, Counts
from bayeslearn.distributions.priors import SAMPLE_SIZES, EmpiricalBayesPrior
from bayeslearn.errors import DataError, ShapeError
from bayeslearn.evaluation import folds
from bayeslearn.naive_bayes import Calibration, PooledPrior, calibrate, calibration_curve, cross_validate
from bayeslearn.naive_bayes.tabular.label_statistics import class_indicators
from bayeslearn.naive_bayes.tabular.out_of_fold import ExponentPosterior, best_exponents, read_out_of_fold
from tests.naive_bayes.tabular.test_model import learned, random_rows


def test_a_fold_is_judged_by_a_model_of_the_others():
    rows = random_rows(0)
    model = learned(rows)
    found = read_out_of_fold(model, rows, folds=3)
    table = as_table(rows, numeric=["heat", "visits"])
    for f in range(3):
        without = fit_naive_bayes(table.take(found.fold != f), like=model)
        joint = without.log_joint(table.take(found.fold == f))
        for apart in (False, True):
            told = read_out_of_fold(model, rows, folds=3, apart=apart)
            whole = told.log_shares + told.evidence.sum(axis=2)
            np.testing.assert_allclose(whole[told.fold == f], joint, rtol=1e-9)


def test_the_exponents_are_the_posterior_mode():
    found = read_out_of_fold(learned(random_rows(0)), random_rows(0), folds=3, apart=True)
    posterior, τ, h = ExponentPosterior(found), np.array([0.4, 0.9, 1.3]), 1e-5
    loss, slope = posterior.loss(τ)
    joint = found.log_shares + found.evidence @ τ
    own = joint[np.arange(len(joint)), found.labels] - np.log(np.exp(joint).sum(axis=1))
    assert loss == pytest.approx(((τ - 3**-0.5) ** 2).sum() / 2 - own.sum(), rel=1e-12)
    steps = h * np.eye(3)
    differences = [(posterior.loss(τ + s)[0] - posterior.loss(τ - s)[0]) / (2 * h) for s in steps]
    np.testing.assert_allclose(slope, differences, rtol=1e-6)
    best = np.array(best_exponents(found))
    assert all(posterior.loss(best)[0] <= posterior.loss(np.maximum(best + s, 1e-3))[0] for s in [*steps, *-steps])


def test_a_column_that_only_repeats_another_counts_less():
    rng = np.random.default_rng(0)
    y, sky = rng.integers(2, size=3000), rng.random((3, 3000))
    cells = {name: np.where(s < 0.75, y, 1 - y).astype(str) for name, s in zip("abc", sky, strict=True)}
    rows = {**cells, **{f"a{i}": cells["a"] for i in range(3)}, "class": y.astype(str)}
    model = calibrate(fit_naive_bayes(rows, "class"), rows)
    τ = dict(zip(model.feature_names, model.column_exponents, strict=True))
    assert τ["a"] == pytest.approx(0.25, abs=0.05)
    assert [τ["b"], τ["c"]] == pytest.approx([1, 1], abs=0.15)


def test_cases_of_the_prior_by_evidence():
    n = np.array([[30.0, 5, 2], [4, 20, 9]])
    best = EmpiricalBayesPrior().pooled(Categorical(3), Counts(n)).equivalent_sample_size
    tried = {
        m: Categorical(3).log_evidence(PooledPrior(m).given(Categorical(3), Counts(n)), Counts(n)).sum()
        for m in SAMPLE_SIZES
    }
    assert best == max(tried, key=tried.get)
    rows = random_rows(0)
    halves = [learned(part, prior="evidence") for part in (rows, random_rows(1))]
    whole = fit_naive_bayes({k: [*rows[k], *random_rows(1)[k]] for k in rows}, like=halves[0])
    assert (halves[0] + halves[1]).isclose(whole)


def test_folds_are_even_in_every_class():
    labels = np.array([0] * 20 + [1] * 10, np.int32)
    fold = folds(labels, 5, random_state=0)
    assert [np.bincount(fold[labels == c]).tolist() for c in (0, 1)] == [[4] * 5, [2] * 5]


def test_the_report_of_a_check():
    rows = random_rows(0)
    check = cross_validate(learned(rows), rows, cv=5)
    assert check.accuracy > check.majority_accuracy
    assert check.log_loss < check.majority_log_loss
    assert "class probabilities" in str(check)
    with pytest.raises(DataError, match="30 rows with a known target cannot make 31 folds"):
        cross_validate(learned(rows), rows, cv=31)


def test_rows_that_no_class_can_show_are_left_to_the_class_shares():
    rows = {"x": ["u", "v", "w", "u"], "y": ["a", "b", "a", "b"]}
    found = read_out_of_fold(fit_naive_bayes(rows, "y", prior="none"), rows, folds=2)
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
    assert calibration_curve(learned(rows), rows).counts.sum() == 30
    assert calibrate(learned(rows), rows, cv=5).column_exponents[0] > 0


def test_indicators_of_a_class():
    found = class_indicators(learned(random_rows(0, n=200)))
    assert {one.column for entries in found.values() for one in entries} <= {"sky", "heat", "visits"}
    assert all(entries == sorted(entries, key=lambda one: -one.strength) for entries in found.values())
    warm = next(one for one in found["c"] if one.column == "visits")
    assert warm.in_class > warm.in_others


### real tables


NINE = ["clump_thickness", "uniformity_cell_size", "uniformity_cell_shape", "marginal_adhesion",
        "single_epithelial_cell_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses"]  # fmt: skip
SEVEN = ["pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
#: Target, columns, number of splits.
TABLES = {
    "house-votes-84": ("class", None, 5),
    "mushroom": ("class", None, 1),
    "breast-cancer-wisconsin": ("class", NINE, 5),
    "nursery": ("class", None, 1),
    "titanic": ("survived", SEVEN, 5),
}


def out_of_fold(fit, X, y, fold):
    """Accuracy and mean log loss of rows that a model has not seen."""
    p = np.zeros((len(y), y.max() + 1))
    for f in range(10):
        model = fit(X[fold != f], y[fold != f])
        p[np.ix_(fold == f, model.classes_)] = model.predict_proba(X[fold == f])
    with np.errstate(divide="ignore"):
        return (p.argmax(axis=1) == y).mean(), -np.log(p[np.arange(len(y)), y]).mean()


def everyone(folder, name):
    """Accuracy and log loss over the same folds, the mean of some splits: ours, and the peers' after imputation."""
    target, columns, splits = TABLES[name]
    columns = columns if columns is None else [*columns, target]
    table = as_table(folder / "tables" / f"{name}.csv", columns=columns, discrete=[target], allow_constant=True)
    y = table.codes_of(target).astype(np.int32)
    table = table.drop([target])
    codes = table.discretize(n_bins=5).codes.T.astype(float)
    codes[codes < 0] = np.nan
    modes = SimpleImputer(strategy="most_frequent").fit_transform(codes).astype(int)
    names, numbers = table.schema.names, [v.name for v in table.schema.numeric]
    coded = [table.values_of(n) if n in numbers else np.where((c := table.codes_of(n)) < 0, np.nan, c) for n in names]
    learners = {
        "ours": (NaiveBayesClassifier(), frame(table)),
        "calibrated": (NaiveBayesClassifier(prior="evidence", calibrate=True, random_state=0), frame(table)),
        "averaged": (AODEClassifier(), codes),
        "CategoricalNB": (CategoricalNB(min_categories=modes.max(axis=0) + 1), modes),
        "GaussianNB": (GaussianNB(), SimpleImputer().fit_transform(np.column_stack(coded))),
    }
    dealt = [folds(y, 10, random_state=seed) for seed in range(splits)]
    return {n: np.mean([out_of_fold(m.fit, X, y, fold) for fold in dealt], axis=0) for n, (m, X) in learners.items()}


def frame(table):
    """Words as words, numbers as numbers."""
    names, words = table.schema.names, {v.name for v in table.schema.discrete}
    return pd.DataFrame({n: table.column(n).astype(object) if n in words else table.values_of(n) for n in names})


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_real_tables(shared_data, name):
    found = everyone(shared_data, name)
    for peer in ("CategoricalNB", "GaussianNB"):
        assert found["calibrated"][0] >= found[peer][0]
        assert found["calibrated"][1] <= found[peer][1]
