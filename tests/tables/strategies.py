"""Random tables, and the columns they are made of."""

import numpy as np
from hypothesis import strategies as st

from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table

WORDS = st.sampled_from(["a", "b", "yes", "No", "01", "1", "x y", "é", " pad ", "10", "9"])
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
WEIGHTS = st.floats(0, 100, allow_nan=False)


@st.composite
def schemas(draw, min_columns=1):
    n = draw(st.integers(min_columns, 5))
    kinds = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return Schema(
        DiscreteVariable(f"d{i}", draw(st.lists(WORDS, min_size=1, max_size=4, unique=True)))
        if discrete
        else NumericVariable(f"x{i}")
        for i, discrete in enumerate(kinds)
    )


@st.composite
def tables(draw, min_rows=0, max_rows=12, schema=None):
    """Few states and few numbers, so that rows repeat themselves."""
    schema = schema or draw(schemas())
    n = draw(st.integers(min_rows, max_rows))
    codes = [draw(st.lists(st.integers(-1, v.n_states - 1), min_size=n, max_size=n)) for v in schema.discrete]
    number = st.sampled_from([0.0, -0.0, 1.5, np.nan, -np.nan]) | FLOATS
    values = [draw(st.lists(number, min_size=n, max_size=n)) for _ in schema.numeric]
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=n, max_size=n))
    return Table(
        schema,
        np.array(codes, dtype=np.int64).reshape(len(codes), n),
        np.array(values, dtype=float).reshape(len(values), n),
        None if weights is None else np.array(weights),
    )


@st.composite
def word_columns(draw, min_rows=1):
    """Columns of text with holes, by name: what people write into files."""
    n = draw(st.integers(min_rows, 10))
    cell = st.none() | WORDS
    return {
        f"c{i}": draw(st.lists(cell, min_size=n, max_size=n).filter(lambda c: any(v is not None for v in c)))
        for i in range(draw(st.integers(1, 4)))
    }
