"""Small messy tables, whole and in pieces: what a source shows must be what the table shows."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from hypothesis import strategies as st

words = st.sampled_from(["low", "high", "mid", "?", "", " nan ", "1", "2"])
few_numbers = st.one_of(st.none(), st.integers(0, 4))
many_numbers = st.one_of(st.none(), st.integers(-(10**6), 10**6))
floats = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 1.5]))
truths = st.one_of(st.none(), st.booleans())

money = st.one_of(st.sampled_from(["?", "", "12"]), st.integers(0, 10**7).map(lambda cents: f"${cents / 100:,.2f}"))
percent = st.one_of(st.just(""), st.integers(0, 100).map(lambda n: f"{n} %"))
dates = st.dates(dt.date(2010, 1, 1), dt.date(2014, 1, 1))
days = st.one_of(st.just("?"), dates.map(lambda d: d.strftime("%d/%m/%Y")))
moments = st.one_of(
    st.none(), st.builds(dt.datetime.combine, dates, st.times().map(lambda t: t.replace(microsecond=0)))
)

KINDS = {
    "word": words, "few": few_numbers, "many": many_numbers, "real": floats, "truth": truths, "money": money,
    "percent": percent, "day": days, "moment": moments,
}  # fmt: skip


@st.composite
def columns(draw: Any) -> dict[str, list[Any]]:
    """Columns of several kinds, of one length."""
    n = draw(st.integers(2, 60))
    chosen = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True))
    return {name: draw(st.lists(KINDS[name], min_size=n, max_size=n)) for name in chosen}


def pieces(data: dict[str, list[Any]], cuts: list[int]) -> list[dict[str, list[Any]]]:
    """The rows in parts, none of them empty."""
    n = len(next(iter(data.values())))
    ends = sorted({0, n, *(c % n for c in cuts)})
    return [{k: v[a:b] for k, v in data.items()} for a, b in pairwise(ends)]


TYPES = {
    "word": pa.string(), "few": pa.int64(), "many": pa.int64(), "real": pa.float64(), "truth": pa.bool_(),
    "money": pa.string(), "percent": pa.string(), "day": pa.string(), "moment": pa.timestamp("s"),
}  # fmt: skip


def arrow(data: dict[str, list[Any]]) -> Any:
    """The columns with the types they have, also where a piece holds nothing."""
    return pa.table({name: pa.array(values, TYPES.get(name)) for name, values in data.items()})


def write(folder: Any, parts: list[dict[str, list[Any]]], ending: str) -> str:
    """The parts as files; the pattern that finds them."""
    for number, part in enumerate(parts):
        path = f"{folder}/part-{number:03}.{ending}"
        if ending == "csv":
            pyarrow.csv.write_csv(arrow(part), path)
        else:
            pyarrow.parquet.write_table(arrow(part), path, row_group_size=7)
    return f"{folder}/part-*.{ending}"
