"""Contingency tables: 40 families of 3-4 columns over 1,000,000 rows and 37 columns of 2-4 states.

Ours starts from a fresh Table every time: bitmaps are made inside the measured time, never carried over. The codes are
read-only, as those of a file are: codes that a caller could change later are copied, which is not counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl

from bayeslearn.tables import DiscreteVariable, Schema, Table, contingency_tables
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS, FAMILIES = 37, 40


def works(*, quick: bool) -> Iterator[Work]:
    n = 100_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 5, COLUMNS)
    names = [f"x{j}" for j in range(COLUMNS)]
    # skewed states, as in real tables
    codes = np.stack([rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2)).astype(np.int8) for k in sizes])
    families = [
        tuple(names[j] for j in rng.choice(COLUMNS, rng.integers(3, 5), replace=False)) for _ in range(FAMILIES)
    ]
    schema = Schema([DiscreteVariable(name, tuple(range(k))) for name, k in zip(names, sizes.tolist(), strict=True)])
    weights = rng.random(n)
    codes.flags.writeable = weights.flags.writeable = False
    pandas_frame = pd.DataFrame(dict(zip(names, codes, strict=True)))
    polars_frame = pl.DataFrame(dict(zip(names, codes, strict=True)))

    def ours(w: np.ndarray | None = None) -> list[np.ndarray]:
        table = Table(schema, codes, np.empty((0, n)), w)
        return [c.counts for c in contingency_tables(table, families)]

    def with_pandas() -> list:
        return [pandas_frame.groupby(list(f)).size() for f in families]

    def with_polars() -> list:
        return [polars_frame.group_by(f).len() for f in families]

    def weighted_with_polars() -> list:
        frame = polars_frame.with_columns(w=weights)
        return [frame.group_by(f).agg(pl.col("w").sum()) for f in families]

    def agree_pandas(mine: list, theirs: list) -> bool:
        return all(_same(m, t.index.to_frame().to_numpy(), t.to_numpy()) for m, t in zip(mine, theirs, strict=True))

    def agree_polars(mine: list, theirs: list) -> bool:
        return all(
            _same(m, t.to_numpy()[:, :-1].astype(int), t.to_numpy()[:, -1]) for m, t in zip(mine, theirs, strict=True)
        )

    size = f"{FAMILIES} families of 3-4 columns, {n:,} x {COLUMNS}"
    yield Work(size, "pandas", pd.__version__, ours, with_pandas, agree_pandas, 10)
    yield Work(size, "polars", pl.__version__, ours, with_polars, agree_polars, 3)
    yield Work(
        size.replace("families", "weighted"),
        "polars",
        pl.__version__,
        lambda: ours(weights),
        weighted_with_polars,
        agree_polars,
        3,
    )


def _same(counts: np.ndarray, cells: np.ndarray, theirs: np.ndarray) -> bool:
    found = np.zeros_like(counts)
    found[tuple(cells.T)] = theirs
    return np.allclose(counts, found, rtol=1e-12, atol=0)
