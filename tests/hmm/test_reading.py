"""Sequences in every form, and data that cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeslearn.errors import DataError, EmptyTableError, ParameterError, ShapeError, UnknownStateError
from bayeslearn.hmm import HiddenMarkovModel, PoissonEmissions, fit_hmm, sequences
from bayeslearn.kernels import simd_vectors
from tests.hmm.models import model

RNG = np.random.default_rng(0)
HMM = model("categorical", 2, RNG)
NUMBERS = model("gaussian", 2, RNG)


def test_lanes_are_those_of_the_kernels():
    assert sequences.LANES == simd_vectors.LANES


def test_all_forms_say_the_same():
    parts = [["a", "b", "?"], ["c"], ["b", None]]
    flat = [s for part in parts for s in part]
    frame = {"who": ["x"] * 3 + ["y"] + ["z"] * 2, "symbol": ["a", "b", None, "c", "b", None]}
    mixed = [0, 3, 1, 4, 2, 5]  # rows of different sequences between each other
    shuffled = {name: [column[i] for i in mixed] for name, column in frame.items()}
    expected = HMM.log_likelihood(parts)
    for found in (
        HMM.log_likelihood(flat, lengths=[3, 1, 2]),
        HMM.log_likelihood(np.array(flat, dtype=object), lengths=[3, 1, 2]),
        HMM.log_likelihood(frame, id="who"),
        HMM.log_likelihood(pd.DataFrame(frame), id="who"),
        HMM.log_likelihood(pl.DataFrame(frame), id="who"),
        HMM.log_likelihood(shuffled, id="who"),
    ):
        np.testing.assert_array_equal(found, expected)
    assert HMM.sequences(shuffled, id="who").ids == ("x", "y", "z")


def test_numbers_in_all_forms(tmp_path):
    rows = NUMBERS.draw([4, 2], 0)[0]
    rows[1, 0] = np.nan
    expected = NUMBERS.log_likelihood(rows, lengths=[4, 2])
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(id=[1, 1, 1, 1, 2, 2])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    plain = [
        [[None if np.isnan(c) else c for c in row] for row in part] for part in (rows[:4].tolist(), rows[4:].tolist())
    ]
    for found in (
        NUMBERS.log_likelihood([rows[:4], rows[4:]]),
        NUMBERS.log_likelihood(plain),
        NUMBERS.log_likelihood(frame, id="id"),
        NUMBERS.log_likelihood(tmp_path / "rows.csv", id="id"),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


BAD = [
    (["a", "z"], {}, UnknownStateError, "symbol 'z' in row 1"),
    ([["a"], ["a", "z"]], {}, UnknownStateError, "symbol 'z' in sequence 1, position 1"),
    (["a", "b"], {"lengths": [1]}, ShapeError, "add up to 1, but there are 2"),
    (["a", "b"], {"lengths": [2, 0]}, ParameterError, "sequence 1 has length 0"),
    (["a", "b"], {"lengths": [1.5, 0.5]}, ShapeError, "whole numbers"),
    ([], {}, EmptyTableError, "no observation"),
    ([["a"], []], {}, EmptyTableError, "sequence 1 has no rows"),
    (["a"], {"id": "who"}, ParameterError, "`id` names a column"),
    (["a"], {"known_states": ["s9"]}, UnknownStateError, "`known_states` names 's9'"),
    (["a"], {"known_states": ["s0", "s1"]}, ShapeError, "each of 1 rows"),
    ([["a", "b"]], {"sample_weight": [-1]}, DataError, "not negative"),
    ({"symbol": ["a", "b"], "who": ["x", None]}, {"id": "who"}, ParameterError, "belongs to no sequence"),
    ({"other": ["a", "b"]}, {}, ParameterError, "no column 'symbol'"),
    (np.array([["a", "b"]]), {}, ShapeError, "one column"),
]


@pytest.mark.parametrize(("given", "told", "error", "message"), BAD)
def test_bad_symbols(given, told, error, message):
    with pytest.raises(error, match=message):
        HMM.sequences(given, **told)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([[0.0, np.inf]], DataError, "finite"),
        (np.zeros((3, 3)), ShapeError, "shape"),
        ([["a", 1.0]], ParameterError, "numbers"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], ShapeError, "number of their columns"),
    ],
)
def test_bad_numbers(given, error, message):
    with pytest.raises(error, match=message):
        NUMBERS.log_likelihood(given)


def test_bad_counts():
    hmm = HiddenMarkovModel((0, 1), [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], PoissonEmissions("n", [1.0, 2.0]))
    for x in ([1, -1], [0.5]):
        with pytest.raises(DataError, match="whole and not negative"):
            hmm.log_likelihood(x)
    assert hmm.log_likelihood([None, 3])[0] == hmm.log_likelihood([np.nan, 3])[0]


@pytest.mark.parametrize("kind", ["categorical", "gaussian", "full", "poisson"])
@pytest.mark.parametrize("prior", ["auto", None])
@pytest.mark.parametrize("x", [[1], [2, 2, 2, 2, 2]], ids=["one row", "constant"])
def test_few_data_have_an_answer(kind, prior, x):
    given = np.array(x, dtype=float)[:, None] if kind in {"gaussian", "full"} else x
    with np.errstate(all="raise", under="ignore"):
        found = fit_hmm(
            given, 1, emissions="gaussian" if kind == "full" else kind, prior=prior,
            covariance_type="full" if kind == "full" else "diag", symbols=[1, 2] if kind == "categorical" else None,
        )  # fmt: skip
    assert np.isfinite(found.fit_info.log_likelihood)
    assert found.decode(given).states == [0] * len(x)


def test_questions_that_cannot_be():
    for states, message in (
        (0, "at least 1"),
        (None, "number of states is missing"),
        ("ab", "a number or names"),
        (1.5, "names"),
    ):
        with pytest.raises(ParameterError, match=message):
            fit_hmm(["a", "b"], states)
    with pytest.raises(ParameterError, match="emissions"):
        fit_hmm(["a"], 1, emissions="hope")
    with pytest.raises(DataError, match="every symbol is missing"):
        fit_hmm(["?", None], 1)
    with pytest.raises(ParameterError, match="matrix"):
        fit_hmm(["a"], 2, topology=[[1]])
    with pytest.raises(ParameterError, match="an allowed transition"):
        fit_hmm(["a"], 2, topology=[[1, 1], [0, 0]])
    with pytest.raises(ParameterError, match="at least 1"):
        fit_hmm(["a"], 1, n_init=0)
