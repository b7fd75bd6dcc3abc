"""The discretizing transformer: what a table does, for frames and arrays, under the rules of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import Discretizer, NaiveBayesClassifier, as_table, scan
from bayeslearn.errors import BayeslearnWarning, ParameterError, UnknownColumnError

HOURS = [1.5, 2.25, np.nan, 3.5, 7.25, 8.0, 1.0, 6.5]
X = pd.DataFrame({"hours": HOURS, "sky": list("ssrrsrsr"), "age": [1, 2, 3, 4, 5, 6, 7, 8]}, index=range(10, 18))
Y = ["a", "a", "a", "a", "b", "b", "a", "b"]


@pytest.mark.thorough
@parametrize_with_checks([Discretizer(), Discretizer("uniform", n_bins=3)])
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_the_intervals_are_those_of_a_table(strategy):
    found = Discretizer(strategy, n_bins=3).fit_transform(X)
    table = as_table(X, numeric=["hours", "age"]).discretize(["hours", "age"], strategy=strategy, n_bins=3)
    assert found.index.equals(X.index)
    assert found["sky"].equals(X["sky"])
    for name in ("hours", "age"):
        assert found[name].cat.ordered
        assert tuple(found[name].cat.categories) == table.schema[name].states
        assert found[name].cat.codes.tolist() == table.codes_of(name).tolist()


def test_mdl_separates_the_classes():
    found = Discretizer("mdl", columns=["hours"]).fit(X, Y)
    [cut] = found.variables_["hours"].cuts
    assert 3.5 <= cut < 6.5
    numbers = Discretizer("MDL", columns=["hours"]).fit(X, [0.0, 0.5, 0.0, 0.5, 9.0, 9.5, 0.0, 9.0])
    assert list(numbers.variables_) == ["hours"]


def test_every_kind_of_frame_comes_back_as_it_is():
    codes = Discretizer(n_bins=3).fit(X).transform(X)["hours"].cat.codes.tolist()
    for kind in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False), X.to_dict("list"), as_table(X)):
        found = Discretizer(n_bins=3, columns=["hours"]).fit(kind).transform(kind)
        assert type(found) is type(kind)
        assert as_table(found, schema=as_table(found).schema)["hours"].tolist().count(None) == 1
    polars = Discretizer(n_bins=3, columns=["hours"]).fit_transform(pl.from_pandas(X))
    assert polars["hours"].to_physical().to_list() == [None if code < 0 else code for code in codes]


def test_an_array_becomes_codes_and_nan_stays():
    array = X[["hours", "age"]].to_numpy()
    found = Discretizer(n_bins=2).fit_transform(array)
    assert np.isnan(found).tolist() == np.isnan(array).tolist()
    assert set(found[~np.isnan(found)]) == {0.0, 1.0}
    mixed = Discretizer(n_bins=2).fit_transform(X.to_numpy())
    assert mixed[:, 1].tolist() == X["sky"].tolist()
    assert Discretizer().fit(array).get_feature_names_out().tolist() == ["x0", "x1"]


def test_the_output_can_be_a_frame():
    array = X[["hours", "age"]].to_numpy()
    found = Discretizer(n_bins=2).set_output(transform="pandas").fit_transform(array)
    assert list(found.columns) == ["x0", "x1"]
    assert list(Discretizer().fit(X).get_feature_names_out()) == ["hours", "sky", "age"]


def test_new_rows_have_the_cut_points_of_training():
    fitted = Discretizer(n_bins=2, columns=["hours"]).fit(X)
    found = fitted.transform(pd.DataFrame({"hours": [-100.0, 100.0, None], "sky": ["s"] * 3, "age": [0] * 3}))
    assert found["hours"].cat.codes.tolist() == [0, 1, -1]
    one = Discretizer().fit(pd.DataFrame({"hours": [2.0, 2.0]})).variables_["hours"]
    assert one.states == ("all",)


def test_a_pipeline_predicts():
    model = make_pipeline(Discretizer("mdl", columns=["hours"]), NaiveBayesClassifier()).fit(X[["hours"]], Y)
    assert model.predict(pd.DataFrame({"hours": [1.0, 8.0]})).tolist() == ["a", "b"]
    assert clone(model).steps[0][1].columns == ["hours"]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Discretizer("even").fit(X), ParameterError, "unexpected value for `strategy`: 'even'"),
        (lambda: Discretizer(n_bins=1).fit(X), ParameterError, "`n_bins` must be at least 2"),
        (lambda: Discretizer("mdl").fit(X), ParameterError, "requires `y`"),
        (lambda: Discretizer(columns=["wind"]).fit(X), UnknownColumnError, "'wind'"),
        (lambda: Discretizer().fit(scan([X])), ParameterError, "all rows in memory"),
    ],
)
def test_bad_requests(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_a_column_that_does_not_separate_the_classes_has_one_interval():
    with pytest.warns(BayeslearnWarning, match="no cut point separates"):
        found = Discretizer("mdl").fit(pd.DataFrame({"flat": np.tile([0.5, 1.5], 20)}), ["a"] * 20 + ["b"] * 20)
    assert found.variables_["flat"].states == ("all",)
