"""Numbers written as those of a column: what is written is read back, and looks like the rest."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.tables.formats import FORMATS, fits_of, numbers_in
from bayeslearn.tables.state_encoding import NumberStyle

COMMA = str.maketrans(",.", ".,")

#: How people write numbers: the format they are read in, and a function that writes them.
WRITERS = {
    "$1,234.50": ("money", lambda x: f"{'-' * (x < 0)}${abs(x):,.2f}"),
    "US$ 1234.50": ("money", lambda x: f"{'-' * (x < 0)}US$ {abs(x):.2f}"),
    "($12.00)": ("money", lambda x: f"(${abs(x):,.2f})" if x < 0 else f"${x:,.2f}"),
    "1.234,50 €": ("money, decimal comma", lambda x: f"{x:,.2f} €".translate(COMMA)),
    "1 234,50 kr": ("money, decimal comma", lambda x: f"{x:,.2f} kr".translate(str.maketrans(",.", " ,"))),
    "12.25%": ("percent", lambda x: f"{x:.2f}%"),
    "12,25 %": ("percent, decimal comma", lambda x: f"{x:.2f} %".replace(".", ",")),
    "1,234.25": ("thousands separators", lambda x: f"{x:,.2f}"),
    "1'234.25": ("thousands separators", lambda x: f"{x:,.2f}".replace(",", "'")),
    "1234,25": ("decimal comma", lambda x: f"{x:.2f}".replace(".", ",")),
    "1234.25": (None, lambda x: f"{x:.2f}"),
}

amounts = st.integers(-10_000_000, 10_000_000).map(lambda n: n / 100)


@given(kind=st.sampled_from(sorted(WRITERS)), known=st.lists(amounts, min_size=1, max_size=5), x=amounts)
def test_a_number_is_written_as_the_others(kind, known, x):
    """Two values of the column show its separator and its parentheses; the others are any."""
    name, write = WRITERS[kind]
    cells = [write(value) for value in (1234.56, -5.25, *known)]
    style = NumberStyle.of(cells, name)
    assert style is not None
    assert style.write(x) == write(x)
    assert [style.write(value) for value in known] == cells[2:]


@given(kind=st.sampled_from(sorted(WRITERS)), known=st.lists(amounts, min_size=1, max_size=5), x=st.floats(-1e9, 1e9))
def test_what_is_written_is_read_back(kind, known, x):
    """Whatever the column shows, a new cell fits its format and is the number, rounded to its decimals."""
    name, write = WRITERS[kind]
    cells = [write(value) for value in known]
    style = NumberStyle.of(cells, name)
    assert style is not None
    text = style.write(x)
    found = float(text) if name is None else numbers_in(pa.array([text]), name)[0]
    assert found == pytest.approx(x, abs=0.00501, rel=1e-12)
    if name is not None:
        assert name in fits_of(pa.array([*cells, text])).formats


@pytest.mark.parametrize(
    ("cells", "name", "x", "text"),
    [
        (["97%", "100%"], "percent", 82.4, "82%"),
        (["0.5", "12.25"], None, 3, "3.0"),
        (["0.5", "12.25"], None, 1 / 3, "0.33"),
        (["1", "2.125"], None, 2.5, "2.5"),
        (["7", "-12"], None, -3.2, "-3"),
        (["$5", "(12)"], "money", -3, "($3)"),
        (["$450.00", "12"], "money", 7, "$7"),
        ([" $1.00 "], "money", 2, "$2.00"),
        (["0.7692307692307692", "0.0"], None, 2.051282051282051, "2.051282051282051"),
        (["0.10"], None, -0.001, "0.00"),
    ],
)
def test_decimals_and_signs(cells, name, x, text):
    assert NumberStyle.of(cells, name).write(x) == text


@pytest.mark.parametrize(("cells", "name"), [([], None), (["high"], None), (["1e-5", "2"], None), (["soon"], "money")])
def test_no_style_without_numbers(cells, name):
    assert NumberStyle.of(cells, name) is None


def test_every_format_has_a_writer():
    assert {name for name, _ in WRITERS.values()} >= set(FORMATS) - {"money, many decimals"}
