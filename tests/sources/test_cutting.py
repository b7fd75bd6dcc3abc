"""Cuts found by counting are those of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn.errors import ConstantColumnError, ParameterError
from bayeslearn.sources import discretised
from bayeslearn.tables import as_table

numbers = st.one_of(
    st.floats(-1e300, 1e300), st.integers(-3, 3).map(float), st.sampled_from([0.0, -0.0, 5e-324, -1e-300, 1.0])
)


@settings(max_examples=60)
@given(
    cells=st.lists(st.tuples(st.one_of(st.none(), numbers), st.integers(0, 3)), min_size=4, max_size=80),
    bins=st.integers(2, 9),
    how=st.sampled_from(["quantile", "width"]),
    weighted=st.booleans(),
)
def test_the_cuts_of_the_table(cells: list[Any], bins: int, how: Any, *, weighted: bool) -> None:
    x, w = [c[0] for c in cells], [float(c[1]) for c in cells]
    data = {"x": np.array(x, float)} | ({"w": np.array(w)} if weighted else {})
    weights = "w" if weighted else None
    if len({v for v, n in zip(x, w, strict=True) if v is not None and (n or not weighted)}) < 2:
        return
    table = as_table(data, numeric=["x"], weights=weights)
    parts = [{k: v[a : a + 7] for k, v in data.items()} for a in range(0, len(x), 7)]
    source = bl.scan(parts, schema=table.schema, weights=weights)
    try:
        expected = table.discretise(how=how, bins=bins)
    except ConstantColumnError:
        with pytest.raises(ConstantColumnError):
            discretised(source, how=how, bins=bins)
        return
    found = discretised(source, how=how, bins=bins)
    assert found.schema == expected.schema
    assert found.table() == expected


def test_what_it_cannot_cut() -> None:
    source = bl.scan([{"x": [1.5, 2.5], "y": ["a", "b"]}])
    with pytest.raises(ParameterError, match="all rows at once"):
        discretised(source, how="mdl")
    with pytest.raises(ConstantColumnError, match="'x'"):
        discretised(bl.scan([{"x": [1.5, 1.5]}]))
    words = bl.scan([{"y": ["a", "b"]}])
    assert discretised(words) is words
