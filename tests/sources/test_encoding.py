"""Batches to codes: the quick way through tables of numbers gives what the slow way gives."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import kernels
from bayeslearn.errors import BayeslearnWarning, DataError, UnknownStateError
from bayeslearn.sources.encoding import Coder
from bayeslearn.tables import DiscreteVariable, Schema, as_table
from bayeslearn.tables.columns import Column
from bayeslearn.tables.conversion import requested
from tests.properties import trials


@trials(40)
@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1, max_size=40), st.integers(0, 9))
def test_recoded_cells(cells: list[int | None], offset: int) -> None:
    array = pa.array([0] * offset + cells, pa.int32())[offset:]
    bits, values = array.buffers()
    valid = np.empty(0, np.uint8) if bits is None else np.frombuffer(bits, np.uint8)
    table = np.array([3, 1, -1, 0, 7], np.int16)
    out = np.empty(len(cells), np.int8)
    kernels.recode(np.frombuffer(values, np.int32)[offset : offset + len(cells)], valid, offset, table, out)
    assert out.tolist() == [-1 if c is None else table[c] for c in cells]


words = st.one_of(st.none(), st.sampled_from(["a", "b", "?", "1", "2", "01", "true"]))
numbers = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([40_000, -(10**12)]))
states = st.lists(st.sampled_from(["a", "b", "1", "2", "01", 1, 2, -3, 40_000, True]), min_size=1, unique_by=str)


def coded(work: Any) -> Any:
    """The codes, or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeslearnWarning)
            return work().codes.tolist()
    except DataError as error:
        return type(error), str(error)


@trials(120)
@given(
    st.one_of(st.lists(words, min_size=1, max_size=12), st.lists(numbers, min_size=1, max_size=12)),
    states,
    st.sampled_from(["error", "missing", "last"]),
    st.sampled_from(["plain", "dictionary", "small"]),
)
def test_both_ways_give_the_same(cells: list[Any], names: list[Any], unseen: Any, form: str) -> None:
    if len(set(names)) < len(names):
        return  # 1 and True are one name
    schema = Schema([DiscreteVariable("x", names)])
    array = pa.array(cells, pa.string() if any(isinstance(c, str) for c in cells) else pa.int64())
    if form == "dictionary":
        array = array.dictionary_encode()
    elif form == "small" and array.type == pa.int64() and max((abs(c) for c in cells if c is not None), default=0) < 9:
        array = array.cast(pa.int8())
    coder = Coder(schema, requested(handle_unknown=unseen))
    ours = coded(lambda: coder.table([Column("x", array)]))
    assert ours == coded(lambda: as_table(pa.table({"x": array}), schema=schema, handle_unknown=unseen))
    assert coded(lambda: coder.table([Column("x", array)])) == ours  # the tables that were kept are right


def test_a_dictionary_that_changes() -> None:
    coder = Coder(Schema([DiscreteVariable("x", ["a", "b"])]), requested())
    for order in (["a", "b"], ["b", "a"], ["b"]):
        cells = pa.array([*order, None]).dictionary_encode()
        table = coder.table([Column("x", cells)])
        assert table.column("x").tolist() == [*order, None]


def test_travels_without_its_tables() -> None:
    coder = Coder(Schema([DiscreteVariable("x", ["a", "b"])]), requested(), "w")
    coder.table([Column("x", pa.array(["a"]).dictionary_encode()), Column("w", pa.array([2.0]))])
    again = pickle.loads(pickle.dumps(coder))
    assert again == coder
    assert again.names == ("x", "w")


def test_all_that_is_wrong_is_told() -> None:
    coder = Coder(Schema([DiscreteVariable("x", ["a"]), DiscreteVariable("y", [1])]), requested())
    with pytest.raises(UnknownStateError, match=r"'x' has state 'b' in row 1.*\n.*'y' has state 5 in row 0"):
        coder.table([Column("x", pa.array(["a", "b"])), Column("y", pa.array([5, 1]))])
