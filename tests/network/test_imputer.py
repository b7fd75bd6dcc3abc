"""The imputer keeps scikit-learn's contract, fills what is missing, and leaves all else as it is."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import DAG, NetworkImputer, as_table, fit_parameters, read_network, scan
from bayeslearn.errors import BayeslearnWarning, ParameterError, UnknownColumnError

RNG = np.random.default_rng(0)
SKY = RNG.choice(["sun", "rain"], 300, p=[0.7, 0.3])
WET = np.where(RNG.random(300) < 0.05, "maybe", np.where(SKY == "rain", "yes", "no"))
HEIGHT = np.where(SKY == "rain", 10.0, 30.0) + RNG.normal(size=300).round(1)
FULL = pd.DataFrame({"sky": SKY, "wet": WET, "height": HEIGHT, "note": [f"row {i}" for i in range(300)]})
HOLES = FULL.copy()
HOLES.loc[::7, "sky"] = None
HOLES.loc[3::11, "wet"] = None
HOLES.loc[5::13, "height"] = np.nan
HOLES.index = pd.Index(range(1000, 1300), name="id")
NAMED = ["sky", "wet", "height"]


@pytest.mark.thorough
@parametrize_with_checks(
    [NetworkImputer(), NetworkImputer("chow_liu", n_bins=3), NetworkImputer(method="sample", random_state=0)]
)
def test_sklearn_contract(estimator, check):
    check(estimator)


def fitted(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)  # the column of notes is dropped
        return NetworkImputer(random_state=0, **options).fit(HOLES)


### what is filled


@pytest.mark.parametrize("method", ["most_probable", "sample"])
def test_missing_values_are_filled_and_others_stay(method):
    full = fitted(method=method).transform(HOLES)
    assert not full[NAMED].isna().any().any()
    assert full.index.equals(HOLES.index)
    pd.testing.assert_series_equal(full["note"], HOLES["note"])
    for name in NAMED:
        seen = HOLES[name].notna()
        pd.testing.assert_series_equal(full.loc[seen, name], HOLES.loc[seen, name])
        assert full[name].dtype == HOLES[name].dtype
    hidden = HOLES["sky"].isna().to_numpy()
    assert (full["sky"].to_numpy()[hidden] == SKY[hidden]).mean() > 0.9


def test_it_does_what_the_network_does():
    imputer = fitted()
    pd.testing.assert_frame_equal(imputer.transform(HOLES), imputer.network_.impute(HOLES))


def test_draws_follow_the_seed():
    one, same, other = (fitted(method="sample").set_params(random_state=seed).transform(HOLES) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)


def test_a_graph_or_a_network_may_be_given():
    by_graph = NetworkImputer(DAG.parse("[sky][wet|sky]")).fit(HOLES[["sky", "wet"]])
    assert by_graph.network_.dag == DAG.parse("[sky][wet|sky]")
    network = fit_parameters("sky -> wet", FULL[["sky", "wet"]])
    network = getattr(network, "network", network)
    by_network = NetworkImputer(network).fit(HOLES)
    assert by_network.network_.states("wet") == network.states("wet")
    assert not by_network.transform(HOLES)[["sky", "wet"]].isna().any().any()
    assert by_network.transform(HOLES)["height"].isna().sum() == HOLES["height"].isna().sum()


def test_a_hidden_variable_of_the_graph_is_learned_beside():
    rows = {"smoke": ["yes", None] * 20, "bronc": ["yes", "no"] * 20}
    imputer = NetworkImputer(read_network("asia"), tol=1, max_iter=1000).fit(rows)
    assert set(imputer.network_.variables) == set(read_network("asia").variables)
    assert imputer.transform({"smoke": [None], "bronc": ["no"]})["smoke"][0] in {"yes", "no"}


def test_constant_columns_are_filled_by_their_value():
    X = np.array([[1.0, 0.0], [np.nan, 1.0], [1.0, np.nan], [1.0, 0.0]])
    full = NetworkImputer().fit(X).transform(X)
    assert full[1, 0] == 1.0
    assert not np.isnan(full).any()


def test_weights_are_as_good_as_repeated_rows():
    rows, n = HOLES.iloc[:40][["sky", "wet"]], np.resize([1, 3], 40)
    weighted = NetworkImputer("sky -> wet").fit(rows, sample_weight=n).network_
    repeated = NetworkImputer("sky -> wet").fit(rows.loc[rows.index.repeat(n)]).network_
    assert weighted.isclose(repeated, rtol=1e-6)


### kinds of data


@pytest.mark.parametrize(
    "give",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        as_table,
        lambda frame: frame.to_dict("series"),
    ],
    ids=["pandas", "polars", "pyarrow", "Table", "dict"],
)
def test_the_kind_of_the_data_comes_back(give):
    data = give(HOLES[NAMED].reset_index(drop=True))
    full = NetworkImputer().fit_transform(data)
    assert type(full) is type(data)
    assert list(as_table(full).schema.names) == NAMED
    assert not any(as_table(full).missing().values())


def test_arrays_of_objects_and_floats():
    X = HOLES[["sky", "wet"]].to_numpy(dtype=object)
    full = NetworkImputer().fit_transform(X)
    assert full.dtype == object
    assert set(full[:, 0]) == {"sun", "rain"}
    numbers = HOLES[["height"]].to_numpy(dtype=np.float32)
    assert NetworkImputer().fit_transform(numbers).dtype == np.float32


def test_markers_of_missing_values():
    X = pd.DataFrame({"sky": ["sun", "-", "rain"] * 10, "wet": ["no", "no", "yes"] * 10})
    assert set(NetworkImputer(na_values=["-"]).fit_transform(X)["sky"]) == {"sun", "rain"}


### with scikit-learn


def test_names_and_containers():
    imputer = fitted()
    assert imputer.get_feature_names_out().tolist() == list(HOLES)
    assert NetworkImputer().fit(np.eye(3)).get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    found = NetworkImputer().set_output(transform="pandas").fit_transform(np.array([[1.0, 2], [np.nan, 2], [1, 2]]))
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == ["x0", "x1"]
    polars = NetworkImputer().set_output(transform="polars").fit_transform(HOLES[["sky", "wet"]])
    assert isinstance(polars, pl.DataFrame)


def test_in_a_pipeline():
    model = make_pipeline(NetworkImputer(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    X, y = HOLES[["wet"]].assign(other=HOLES["sky"]), SKY
    assert model.fit(X, y).score(X, y) > 0.9
    assert clone(model).fit(X, y).score(X, y) == model.score(X, y)


### mistakes


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: NetworkImputer(method="mean").fit(HOLES), ParameterError, "unexpected value for `method`: 'mean'"),
        (lambda: NetworkImputer("naive_bayes").fit(HOLES), ParameterError, "built around a class"),
        (lambda: NetworkImputer("tan").fit(HOLES[["sky", "wet"]]), ParameterError, "requires `target`"),
        (lambda: NetworkImputer("sky -> rain").fit(HOLES[["sky", "wet"]]), UnknownColumnError, "rain"),
        (lambda: NetworkImputer().transform(HOLES), Exception, "not fitted"),
        (lambda: fitted().transform(HOLES[["sky"]]), Exception, "wet"),
        (lambda: NetworkImputer().fit(scan([HOLES[["sky", "wet"]]])), ParameterError, "takes all rows in memory"),
    ],
)
def test_mistakes_are_named(ask, error, message):
    with pytest.raises(error, match=message):
        ask()
