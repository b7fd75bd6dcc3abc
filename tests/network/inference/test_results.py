"""Answers for a table of cases, as arrays, states and data frames."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, as_table, read_network
from bayeslearn.errors import DuplicateColumnError, ParameterError
from bayeslearn.network.inference.results import PosteriorTable
from tests.oracle import networks as slow

CASES = [{"smoke": "yes", "xray": "yes"}, {"smoke": "no"}, {"dysp": None}]


def asia(**options):
    return read_network("asia").predict_proba(CASES, **options)


### laws


@given(seed=st.integers(0, 100_000), n=st.integers(1, 5), rows=st.integers(1, 12))
def test_a_column_for_each_state_and_a_row_for_each_case(seed, n, rows):
    network = slow.random_network(seed, n)
    cases = [slow.random_evidence(network, seed + i, share=0.4) for i in range(rows)]
    found = network.predict_proba([{**dict.fromkeys(network.variables), **case} for case in cases])

    frame = found.to_arrow()

    assert frame.num_rows == rows
    for i, case in enumerate(cases):
        one, row = network.query(case, variables=network.variables), frame.slice(i, 1).to_pylist()[0]
        assert row.pop("log_evidence") == pytest.approx(one.log_evidence, rel=1e-11, abs=1e-12)
        expected = {f"P({name}={state})": p for name in network.variables for state, p in one[name].items()}
        assert list(row) == list(expected)
        assert row == pytest.approx(expected, rel=0, abs=1e-12)
        for name in network.variables:
            best = found.most_probable(name)[i]
            assert one[name][best] == pytest.approx(max(one[name].values()), rel=1e-12)


### what a person gets


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames_of_every_library(backend, kind):
    found = asia(variables=["lung", "xray"])
    frame = found.to_frame(backend)
    names = ["P(lung=yes)", "P(lung=no)", "P(xray=yes)", "P(xray=no)", "log_evidence"]
    assert isinstance(frame, kind)
    table = as_table(frame, numeric=names)
    assert list(table.schema.names) == names
    np.testing.assert_array_equal(np.column_stack([table.values_of(name) for name in names[:2]]), found["lung"])
    np.testing.assert_array_equal(table.values_of("log_evidence"), found.log_evidence)


def test_pandas_when_nothing_is_said():
    assert isinstance(asia().to_frame(), pd.DataFrame)


def test_the_most_probable_state_of_each_case():
    assert asia().most_probable("lung").tolist() == ["yes", "no", "no"]
    assert asia().most_probable("smoke").tolist() == ["yes", "no", "yes"]  # the first of equals


@pytest.mark.parametrize("states", [(1, 2), (True, False), ((0, 1), (1, 2)), ("a", 3.5)])
def test_states_come_back_as_they_are(states):
    network = BayesianNetwork.from_tables("[x]", {"x": [0.3, 0.7]}, states={"x": states})
    best = network.predict_proba([{"x": None}] * 2).most_probable("x")
    assert best.shape == (2,)
    assert all(state is states[1] for state in best)


def test_no_cases():
    nothing = PosteriorTable(np.empty(0), {"x": np.empty((0, 2))}, {"x": ("a", "b")})
    assert nothing.most_probable("x").tolist() == []
    assert nothing.to_frame("polars").shape == (0, 3)


### how it fails


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

import numpy as np

from bayeslearn.errors import MissingDependencyError
from bayeslearn.network.inference.results import PosteriorTable

class Nothing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in {"pandas", "polars"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Nothing())
found = PosteriorTable(np.zeros(1), {"x": np.ones((1, 1))}, {"x": ("a",)})
assert found.to_frame("pyarrow").num_rows == 1
for backend in ("pandas", "polars"):
    try:
        found.to_frame(backend)
    except MissingDependencyError as error:
        print(error.message)
"""


def test_libraries_that_are_not_there():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"a {name} frame needs the optional package {name!r}, which is not installed" for name in ("pandas", "polars")
    ]


def test_states_that_are_written_alike():
    network = BayesianNetwork.from_tables("[x]", {"x": [0.3, 0.7]}, states={"x": (1, "1")})
    with pytest.raises(DuplicateColumnError, match=r"two columns would have the name 'P\(x=1\)'"):
        network.predict_proba([{"x": None}]).to_arrow()


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda: asia().to_frame("excel"), "unexpected value for `backend`: 'excel'"),
        (lambda: asia(variables=["lung"]).most_probable("tub"), "no posterior for 'tub'"),
    ],
)
def test_bad_questions(ask, match):
    with pytest.raises(ParameterError, match=match):
        ask()
