"""The reference tables load as they should."""

import pytest

from bayeslearn.errors import ConstantColumnError, TooManyStatesError
from bayeslearn.tables import DiscreteVariable, as_table

#: name: options, rows, columns, missing cells, numeric columns
TABLES = {
    "auto-mpg": ({"max_states": 400}, 398, 9, 6, {"mpg", "displacement", "horsepower", "weight", "acceleration"}),
    "breast-cancer-wisconsin": ({}, 699, 11, 16, {"id"}),
    "car": ({}, 1728, 7, 0, set()),
    "enjoy-sport": ({"allow_constant": True}, 4, 7, 0, set()),
    "house-votes-84": ({}, 435, 17, 392, set()),
    "iris-fisher": ({}, 150, 5, 0, {"sepal_length", "sepal_width", "petal_length", "petal_width"}),
    "mushroom": ({"allow_constant": True}, 8124, 23, 2480, set()),
    "nursery": ({}, 12960, 9, 0, set()),
    "old-faithful": ({}, 272, 2, 0, {"eruptions", "waiting"}),
    "play-tennis": ({}, 14, 5, 0, set()),
    "sms-spam": ({"max_states": 10_000}, 5574, 2, 0, set()),
    "titanic": ({"max_states": 1000, "discrete": ["ticket"]}, 891, 11, 866, {"age", "fare"}),
    "zoo": ({}, 101, 18, 0, set()),
}


@pytest.mark.parametrize("name", TABLES)
def test_reference_tables(shared_data, name):
    options, rows, columns, missing, numeric = TABLES[name]
    table = as_table(shared_data / "tables" / f"{name}.csv", **options)
    assert (len(table), len(table.schema), sum(table.missing().values())) == (rows, columns, missing)
    assert {v.name for v in table.schema.numeric} == numeric


def test_wine(shared_data):
    table = as_table(shared_data / "tables" / "wine.csv")
    assert len(table) == 178
    assert [v.name for v in table.schema.discrete] == ["class"]
    assert table.schema["class"] == DiscreteVariable("class", ("1", "2", "3"))
    cut = table.discretize(strategy="mdl", target="class")
    assert all(v.n_states > 1 for v in cut.schema.discrete)


def test_iris_by_fayyad_and_irani(shared_data):
    """The cuts of petal length and width that the literature reports: 2.45, 4.75 and 0.8, 1.75."""
    cut = as_table(shared_data / "tables" / "iris-fisher.csv").discretize(strategy="mdl", target="class")
    assert cut.schema["petal_length"].cuts == pytest.approx((2.45, 4.75))
    assert cut.schema["petal_width"].cuts == pytest.approx((0.8, 1.75))


def test_mushrooms_have_a_constant_column(shared_data):
    with pytest.raises(ConstantColumnError, match="column 'veil-type' shows one state only, 'p'"):
        as_table(shared_data / "tables" / "mushroom.csv")


def test_names_and_tickets_are_no_states(shared_data):
    path = shared_data / "tables" / "titanic.csv"
    with pytest.raises(TooManyStatesError, match="column 'name' has 891 different texts of several words"):
        as_table(path, discrete=["ticket"])
