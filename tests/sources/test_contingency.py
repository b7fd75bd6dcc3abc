"""Counts over a source: one pass, or DuckDB's GROUP BY; both give those of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeslearn as bl
from bayeslearn.errors import ParameterError, UnknownColumnError
from bayeslearn.sources import group_counts
from bayeslearn.tables import as_table, contingency_tables
from tests.sources.messy import pieces, write

RNG = np.random.default_rng(3)
N = 90
DATA = {
    "word": RNG.choice(["low", "high", "?", ""], N).tolist(),
    "few": [None if x > 3 else int(x) for x in RNG.integers(0, 5, N)],
    "truth": RNG.choice([True, False], N).tolist(),
    "n": RNG.integers(0, 4, N).astype(float).tolist(),
}
MANY = [("word", "few"), ("truth", "word"), ("few",), ("few", "truth", "word")]


@pytest.mark.parametrize("sample_weight", [None, "n"])
@pytest.mark.parametrize("families", [MANY, MANY[:1]], ids=["many", "one"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_counts_of_the_table(tmp_path: Any, sample_weight: Any, families: Any, ending: str) -> None:
    source = bl.scan(write(tmp_path, pieces(DATA, [20, 50]), ending), sample_weight=sample_weight)
    table = source.table()
    for missing in ("drop", "state"):
        for ours, theirs in zip(
            contingency_tables(source, families, missing=missing),
            contingency_tables(table, families, missing=missing),
            strict=True,
        ):
            np.testing.assert_allclose(ours.counts, theirs.counts, rtol=1e-12)
            assert ours.incomplete == pytest.approx(theirs.incomplete, rel=1e-12)


def test_equal_rows_become_one(tmp_path: Any) -> None:
    source = bl.scan(write(tmp_path, pieces(DATA, [20, 50]), "parquet"), columns=["word", "few", "truth"])
    folded = group_counts(source, memory_limit="256MB").table().distinct()
    assert folded.total_weight == N
    expected = source.table().distinct()
    key = lambda t: sorted((*t.codes[:, i].tolist(), float(t.sample_weight[i])) for i in range(len(t)))  # noqa: E731
    assert key(folded) == key(expected)


def test_bad_input() -> None:
    source = bl.scan([{"a": ["x", "y"]}])
    with pytest.raises(ParameterError, match="cannot group"):
        group_counts(source)
    with pytest.raises(UnknownColumnError, match="'b'"):
        contingency_tables(source, [("a", "b")])
    assert contingency_tables(as_table({"a": ["x", "y"]}), [("a",)])[0].counts.tolist() == [1.0, 1.0]
