"""Tables: values that can be read, parted, joined and folded."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import DataError, ParameterError, ShapeError, UnknownColumnError, WeightError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Source, Table
from tests.tables.strategies import tables

SCHEMA = Schema(
    [DiscreteVariable("wind", ["weak", "strong"]), NumericVariable("hours"), DiscreteVariable("play", ["yes", "no"])]
)
NAN = float("nan")


@pytest.fixture
def days():
    return Table(SCHEMA, [[0, 1, -1, 0], [0, 1, 1, -1]], [[1.5, NAN, 2.0, 0.5]])


### laws


@given(tables(), st.integers(1, 13))
def test_batches_put_together_are_the_whole(table, n):
    batches = list(table.batches(n))
    assert all(len(batch) <= n for batch in batches)
    assert sum(batch.total_weight for batch in batches) == pytest.approx(table.total_weight)
    if batches:
        assert Table.concat(batches) == table


@given(tables(), st.data())
def test_reordered_columns_hold_the_same(table, data):
    names = data.draw(st.permutations(table.schema.names))
    moved = table.select(names)
    assert moved.schema.names == tuple(names)
    assert moved.to_dict() == table.to_dict()
    assert moved.select(table.schema.names) == table


@given(tables(), st.data())
def test_reordered_rows_hold_the_same(table, data):
    order = data.draw(st.permutations(range(len(table))))
    moved = table.take(np.array(order, dtype=int))
    rows = list(table.rows())
    assert list(moved.rows()) == [rows[i] for i in order]
    assert moved.take(np.argsort(order).astype(int)) == table


@given(tables(), st.data())
def test_a_mask_takes_what_its_positions_take(table, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))), dtype=bool)
    assert table.take(mask) == table.take(np.flatnonzero(mask))


@given(tables())
def test_decoded_cells_are_none_exactly_where_missing(table):
    assert table.missing() == {name: column.count(None) for name, column in table.to_dict().items()}


@given(tables(min_rows=1))
def test_rows_one_by_one_are_all_rows(table):
    assert [table.row(i) for i in range(len(table))] == list(table.rows())
    assert table.row(-1) == table.row(len(table) - 1)


@given(tables())
def test_parts_are_as_valid_as_the_whole(table):
    for part in (table, table.take(np.arange(len(table))[::2]), *table.batches(3), table.distinct()):
        assert Table(part.schema, part.codes, part.values, part.sample_weight) == part
        assert part.codes.flags.c_contiguous
        assert part.codes.shape == (len(table.schema.discrete), len(part))
        assert part.values.shape == (len(table.schema.numeric), len(part))


### examples


def test_columns(days):
    assert days.codes_of("play").tolist() == [0, 1, 1, -1]
    assert days.values_of("hours")[2] == 2.0
    assert days.column("wind").tolist() == ["weak", "strong", None, "weak"]
    assert days.column("hours").tolist() == [1.5, None, 2.0, 0.5]
    assert days.missing() == {"wind": 1, "hours": 1, "play": 1}
    assert days.row(2) == {"wind": None, "hours": 2.0, "play": "no"}


def test_hidden_columns_are_missing_and_the_others_stay(days):
    hidden = days.with_weights([1, 2, 3, 4]).mask(["play", "hours"])
    assert hidden.missing() == {"wind": 1, "hours": 4, "play": 4}
    assert hidden.select(["wind"]) == days.select(["wind"]).with_weights([1, 2, 3, 4])
    assert days.mask("play").codes_of("play").tolist() == [-1] * 4
    assert days.mask([]) == days
    assert days.missing() == {"wind": 1, "hours": 1, "play": 1}
    with pytest.raises(UnknownColumnError, match="there is no column 'rain'"):
        days.mask(["rain"])


def test_a_table_cannot_be_changed(days):
    with pytest.raises(ValueError, match="read-only"):
        days.codes[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        days.values_of("hours")[0] = 1
    with pytest.raises(AttributeError, match="cannot assign"):
        days.sample_weight = None


@pytest.mark.parametrize(("n", "dtype"), [(2, np.int8), (127, np.int8), (128, np.int16), (40_000, np.int32)])
def test_codes_are_as_small_as_they_can_be(n, dtype):
    assert Table(Schema([DiscreteVariable("x", range(n))]), [[0, n - 1]], []).codes.dtype == dtype


def test_weights(days):
    assert days.total_weight == 4.0
    heavy = days.with_weights([1, 2, 0, 0.5])
    assert heavy.total_weight == 3.5
    assert heavy.take([1, 3]).sample_weight.tolist() == [2, 0.5]
    assert heavy.with_weights(None) == days
    assert Table.concat([days, heavy]).sample_weight.tolist() == [1, 1, 1, 1, 1, 2, 0, 0.5]


def test_a_table_travels(days):
    there = pickle.loads(pickle.dumps(days.with_weights([1, 2, 0, 0.5])))
    assert there == days.with_weights([1, 2, 0, 0.5])
    assert not there.codes.flags.writeable


def test_a_table_is_a_source(days):
    assert isinstance(days, Source)
    assert days.fold(lambda batch: batch.total_weight) == 4.0


def test_equality(days):
    assert days == days.take([0, 1, 2, 3])
    assert days != days.take([0, 1, 3, 2])
    assert days != days.with_weights(np.ones(4))
    assert days.with_weights(np.ones(4)) != days.with_weights([1, 1, 1, 2])
    assert days != days.drop("wind")
    assert days != 3


def test_a_table_without_columns_keeps_its_shape(days):
    assert days.select([]).codes.shape == (0, 4)
    assert len(days.select(["hours"])) == 4
    assert len(days.select(["play"])) == 4


def test_repr(days):
    assert repr(days.with_weights([1, 1, 1, 0.5])).splitlines() == [
        "Table(4 rows × 3 columns, weight 3.5)",
        "  wind   2 states: weak, strong   1 missing",
        "  hours  numeric                  1 missing",
        "  play   2 states: yes, no        1 missing",
    ]
    wide = Table(Schema([DiscreteVariable(f"x{i}", range(9)) for i in range(20)]), np.zeros((20, 1), dtype=int), [])
    assert repr(wide).splitlines()[1] == "  x0   9 states: 0, 1, 2, 3, 4, 5, …"
    assert repr(wide).splitlines()[-1] == "  … 8 more"


### bad input


@pytest.mark.parametrize(
    ("codes", "values", "error", "match"),
    [
        ([[0, 1]], [[1.0, 2.0]], ShapeError, r"expected codes of shape \(2, 2\), got \(1, 2\)"),
        ([[0, 1], [0, 0]], [[1.0]], ShapeError, r"expected values of shape \(1, 2\), got \(1, 1\)"),
        ([[0, 2], [0, 0]], [[1.0, 2.0]], ParameterError, r"codes of column 'wind' must lie within -1..1, got 0..2"),
        ([[0, 1], [0, -2]], [[1.0, 2.0]], ParameterError, r"codes of column 'play' must lie within -1..1, got -2..0"),
        ([[0.0, 1.0], [0.0, 0.0]], [[1.0, 2.0]], ParameterError, "codes must be whole numbers, got float64"),
        ([[0, 1], [0, 0]], [[1.0, -np.inf]], DataError, "column 'hours' is -inf in row 1"),
        ([[0, 1], [0, 0]], [["a", "b"]], ParameterError, "`values` must be numbers"),
    ],
)
def test_parts_that_do_not_fit(codes, values, error, match):
    with pytest.raises(error, match=match):
        Table(SCHEMA, codes, values)


def test_bad_weights(days):
    with pytest.raises(WeightError, match=r"finite and not negative, got -1\.0 at position 2"):
        days.with_weights([1, 1, -1, 1])
    with pytest.raises(WeightError, match="got nan at position 0"):
        Table(SCHEMA, days.codes, days.values, [NAN, 1, 1, 1])
    with pytest.raises(ShapeError, match=r"expected sample_weight of shape \(4,\), got \(2,\)"):
        days.with_weights([1, 1])


def test_the_wrong_kind_of_column(days):
    with pytest.raises(UnknownColumnError, match=r"column 'hours' is numeric, it has no codes\n\nhint: use .values_of"):
        days.codes_of("hours")
    with pytest.raises(UnknownColumnError, match=r"column 'wind' is discrete, .*\n\nhint: use .codes_of\('wind'\)"):
        days.values_of("wind")
    with pytest.raises(UnknownColumnError, match=r"no column 'hour'\n\nhint: did you mean 'hours'"):
        days.column("hour")


def test_rows_that_are_not_there(days):
    with pytest.raises(ParameterError, match="there is no row 4 in a table of 4 rows"):
        days.row(4)
    with pytest.raises(ParameterError, match="there is no row 7 in a table of 4 rows"):
        days.take([0, 7])
    with pytest.raises(ShapeError, match=r"expected a mask of shape \(4,\), got \(2,\)"):
        days.take([True, False])
    with pytest.raises(ShapeError, match="expected a list of row numbers or a mask"):
        days.take([0.5])


def test_tables_that_cannot_be_joined(days):
    with pytest.raises(ParameterError, match="there is no table to concatenate"):
        Table.concat([])
    with pytest.raises(ParameterError, match="table 1 has another schema than table 0: 'wind' differ"):
        Table.concat([days, days.drop("wind")])
    with pytest.raises(ParameterError, match="'play', 'hours', 'wind' differ"):
        Table.concat([days, days.select(["play", "hours", "wind"])])


def test_a_batch_holds_at_least_one_row(days):
    with pytest.raises(ParameterError, match="`n` must be at least 1, got 0"):
        next(days.batches(0))
