"""Cuts found by counting are those of the table, and so are the values kept of each interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn.errors import ConstantColumnError, ParameterError
from bayeslearn.sources import discretization, discretize, encode_to_disk
from bayeslearn.tables import as_table
from tests.properties import trials

if TYPE_CHECKING:
    from pathlib import Path

numbers = st.one_of(
    st.floats(-1e300, 1e300), st.integers(-3, 3).map(float), st.sampled_from([0.0, -0.0, 5e-324, -1e-300, 1.0])
)


def assert_as_the_table(data: dict[str, Any], rows: int, *, weighted: bool = False, **strategy: Any) -> None:
    weights = "w" if weighted else None
    table = as_table(data, numeric=["x"], sample_weight=weights)
    parts = [{k: v[a : a + rows] for k, v in data.items()} for a in range(0, len(data["x"]), rows)]
    source = bl.scan(parts, schema=table.schema, sample_weight=weights)
    try:
        expected = table.discretize(**strategy)
    except ConstantColumnError:
        with pytest.raises(ConstantColumnError, match="nothing to cut"):
            discretize(source, **strategy)
        return
    found = discretize(source, **strategy)
    assert found.schema == expected.schema
    assert found.schema["x"].interval_values == expected.schema["x"].interval_values
    assert found.table() == expected


@trials(60)
@given(
    cells=st.lists(st.tuples(st.one_of(st.none(), numbers), st.integers(0, 3)), min_size=4, max_size=80),
    n_bins=st.integers(2, 9),
    strategy=st.sampled_from(["quantile", "uniform"]),
    weighted=st.booleans(),
    few=st.sampled_from([0, 8, 1 << 16]),
)
def test_the_intervals_of_the_table(cells: list[Any], n_bins: int, strategy: Any, *, weighted: bool, few: int) -> None:
    """The same cuts and kept values, in a pass that keeps all values or in several that narrow ranges down."""
    x, w = [c[0] for c in cells], [float(c[1]) for c in cells]
    data = {"x": np.array(x, float)} | ({"w": np.array(w)} if weighted else {})
    if len({v for v, n in zip(x, w, strict=True) if v is not None and (n or not weighted)}) < 2:
        return
    with mock.patch.multiple(discretization, FEW_ROWS=few, SPLIT=64, LEAST_SPLIT=16):
        assert_as_the_table(data, 7, weighted=weighted, strategy=strategy, n_bins=n_bins)


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "whole": lambda rng, n: np.round(rng.normal(size=n) * 40),
    "heavy": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, np.round(rng.normal(size=n) ** 2, 3)),
    "skewed": lambda rng, n: np.exp(5 * rng.normal(size=n)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_many_rows_take_few_passes(
    monkeypatch: pytest.MonkeyPatch, kind: str, strategy: str, *, weighted: bool
) -> None:
    """Here more rows than are kept by far, some of them missing."""
    rng = np.random.default_rng(3)
    x = COLUMNS[kind](rng, 20_000)
    x[rng.random(len(x)) < 0.1] = np.nan
    data = {"x": x, "w": np.where(rng.random(len(x)) < 0.1, 0, rng.random(len(x)))} if weighted else {"x": x}
    passes = []
    count = discretization.CountParts
    monkeypatch.setattr(discretization, "CountParts", lambda parts: passes.append(1) or count(parts))
    monkeypatch.setattr(discretization, "FEW_ROWS", 4000)
    assert_as_the_table(data, 6000, weighted=weighted, strategy=strategy)
    assert len(passes) <= 3


def test_encoded_rows_keep_the_values(tmp_path: Path) -> None:
    x = np.random.default_rng(5).normal(size=300)
    source = bl.scan([{"x": x[:100]}, {"x": x[100:]}], numeric=["x"])
    table = as_table({"x": x}, numeric=["x"]).discretize(n_bins=4)
    before, after = (
        encode_to_disk(source, tmp_path / "plain"),
        encode_to_disk(discretize(source, n_bins=4), tmp_path / "cut"),
    )
    for found in (discretize(before, n_bins=4), after, bl.scan(tmp_path / "cut")):
        assert found.schema["x"].interval_values == table.schema["x"].interval_values
        assert found.table() == table


def test_what_it_cannot_cut() -> None:
    source = bl.scan([{"x": [1.5, 2.5], "y": ["a", "b"]}])
    with pytest.raises(ParameterError, match="all rows in memory"):
        discretize(source, strategy="mdl")
    with pytest.raises(ConstantColumnError, match="'x'"):
        discretize(bl.scan([{"x": [1.5, 1.5]}]))
    words = bl.scan([{"y": ["a", "b"]}])
    assert discretize(words) is words
