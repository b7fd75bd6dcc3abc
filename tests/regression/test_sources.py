"""Least squares of a source is that of the same rows in memory; what needs all rows at once says so."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bayeslearn import BayesianLinearRegressor, as_table, scan
from bayeslearn.errors import DataError, MissingValuesError, ParameterError, UnknownColumnError
from bayeslearn.neighbors import NeighborsClassifier
from bayeslearn.regression import LogisticClassifier, RBFRegressor, fit_linear
from bayeslearn.regression.local import LocalRegressor
from bayeslearn.regression.out_of_core import Cases, features_of, opened

OUTPUTS = ["grade", "mood"]


def drawn(n=300, seed=0):
    """Numbers far from the origin, few whole numbers, words, holes everywhere, weights."""
    rng = np.random.default_rng(seed)
    hours, steps = rng.normal(1e6, 2.0, n), rng.integers(0, 5, n).astype(float)
    wind = rng.choice(["weak", "strong", "gale"], n).astype(object)
    grade = 3 * (hours - 1e6) + steps + 2.0 * (wind == "gale") + rng.normal(0, 0.1, n) + 1e5
    mood = rng.normal(size=n) - hours + 1e6
    for column, hole in ((hours, np.nan), (steps, np.nan), (wind, None), (grade, np.nan)):
        column[rng.random(n) < 0.05] = hole
    return {"hours": hours, "steps": steps, "wind": wind, "grade": grade, "mood": mood, "n": rng.integers(0, 4, n)}


def pieces(rows, edges=(40, 190)):
    return [
        {name: column[a:b] for name, column in rows.items()} for a, b in zip((0, *edges), (*edges, None), strict=True)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for number, piece in enumerate(pieces(drawn())):
        table = pa.table({name: pa.array(column, from_pandas=True) for name, column in piece.items()})
        pa.parquet.write_table(table, folder / f"{number}.parquet", row_group_size=30)
        pa.csv.write_csv(table, folder / f"{number}.csv")
    return str(folder)


def same(found, told, rtol=1e-10):
    assert found.features.schema == told.features.schema
    np.testing.assert_allclose(found.features.mean, told.features.mean, rtol=rtol)
    np.testing.assert_allclose(found.features.spread, told.features.spread, rtol=rtol)
    for a, b in zip(found.fit.statistics.arrays(), told.fit.statistics.arrays(), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-10 * np.abs(b).max())
    np.testing.assert_allclose(found.fit.coef, told.fit.coef, rtol=1e-9)


@pytest.mark.parametrize("prior", ["reference", "weak", "evidence"])
@pytest.mark.parametrize("sample_weight", [None, "n"])
def test_least_squares_of_sources_is_that_of_rows(files, prior, sample_weight):
    told = fit_linear(drawn(), OUTPUTS, prior=prior, sample_weight=sample_weight)
    assert told.features.names[:3] == ("hours", "steps", "wind=strong")
    for source in (files + "/*.parquet", scan(files + "/*.csv"), scan(pieces(drawn()))):
        found = fit_linear(source, OUTPUTS, prior=prior, sample_weight=sample_weight)
        same(found, told)
        new = drawn(9, 1)
        np.testing.assert_allclose(found.predict(new), told.predict(new), rtol=1e-10, atol=1e-15 * 1e6)


def test_columns_and_states_as_they_are_asked_for():
    source, asked = scan(pieces(drawn())), {"columns": ["steps", "wind"], "discrete": ["steps"]}
    told = fit_linear(drawn(), "grade", **asked)
    same(fit_linear(source, "grade", **asked), told)
    same(fit_linear(scan(pieces(drawn()), discrete=["steps"]), "grade", columns=["steps", "wind"]), told)
    table = as_table(drawn(), columns=["steps", "wind", "grade"])
    same(fit_linear(scan([table], schema=table.schema), "grade"), fit_linear(table, "grade"))


def test_learning_goes_on_with_sources(files):
    told = BayesianLinearRegressor().fit(drawn(), "grade")
    found = BayesianLinearRegressor().fit(scan(files + "/*.parquet"), "grade")
    same(found.model_, told.model_)
    assert found.predict(drawn(5)).shape == (5,)
    same(found.partial_fit(scan(pieces(drawn(90, 2))), "grade").model_, told.partial_fit(drawn(90, 2), "grade").model_)
    weighed = fit_linear(drawn(), "grade", sample_weight="n")
    same(weighed.update(scan(pieces(drawn())), sample_weight="n"), weighed.update(drawn(), sample_weight="n"))


def test_what_is_collected_travels():
    source, names, _ = opened(scan(pieces(drawn())), "grade")
    collect = Cases(features_of(source, source.schema.drop(names)), names)
    table = next(source.batches())
    np.testing.assert_array_equal(cloudpickle.loads(cloudpickle.dumps(collect))(table).scatter, collect(table).scatter)


def test_what_a_source_cannot_do_is_told(files):
    source = scan(pieces(drawn()))
    with pytest.raises(ParameterError, match="the targets of a source are columns"):
        fit_linear(source, np.zeros(300))
    with pytest.raises(UnknownColumnError, match="gread"):
        fit_linear(source, "gread")
    with pytest.raises(DataError, match="holds states such as 'gale'"):
        fit_linear(source, "wind")
    with pytest.raises(DataError, match="no column to learn from besides"):
        fit_linear(source, "grade", columns=["grade"])
    with pytest.raises(MissingValuesError, match="the target is missing in every row that counts"):
        fit_linear(scan([{"x": [1.0, 2.5], "y": [np.nan, 1.5], "n": [1, 0]}]), "y", sample_weight="n")
    for learner in (RBFRegressor(2), LogisticClassifier(), LocalRegressor()):
        for data in (source, scan(files + "/*.csv")):
            with pytest.raises(ParameterError, match="all rows in memory"):
                learner.fit(data, "grade" if "Radial" in repr(learner) else np.arange(300) % 2)


def test_answers_for_each_row_and_neighbors_read_all_rows():
    source, model = scan(pieces(drawn())), fit_linear(drawn(), "grade")
    np.testing.assert_array_equal(model.predict(source), model.predict(drawn()))
    labels = np.arange(300) % 2
    found = NeighborsClassifier().fit(source, labels).predict(drawn(9, 1))
    np.testing.assert_array_equal(found, NeighborsClassifier().fit(drawn(), labels).predict(drawn(9, 1)))
