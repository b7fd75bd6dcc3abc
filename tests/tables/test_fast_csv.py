"""The reader of plain text against the one that knows all of CSV."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnError
from bayeslearn.tables import as_table, fast_csv
from bayeslearn.tables.file_readers import read_file

words = st.sampled_from(
    [
        "yes",
        "no",
        "?",
        "",
        " yes",
        "NORMAL",
        "a-long-name-of-a-state",
        "b-long-name-of-a-state",
        "é",
        "12",
        "1.5",
        "nan",
    ]
)


def both(path):
    """The table by each reader, or the error it raises."""
    found = []
    for small in (0, fast_csv.LARGE):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast_csv, "SMALL", small)
            try:
                found.append(as_table(path, allow_constant=True).to_dict())
            except BayeslearnError as error:
                found.append((type(error), str(error)))
    return found


@given(
    rows=st.lists(st.tuples(words, words, words), min_size=1, max_size=40),
    end=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    blank=st.booleans(),
)
def test_both_readers_see_the_same(tmp_path_factory, rows, end, closed, blank):
    lines = ["A,B,C", *(",".join(row) for row in rows)]
    if blank:
        lines.insert(2, "")
    path = tmp_path_factory.mktemp("cells") / "x.csv"
    path.write_bytes((end.join(lines) + (end if closed else "")).encode())
    fast, slow = both(path)
    assert fast == slow


@pytest.mark.parametrize(
    "text",
    [
        "A,B\nx,y\nx\n",  # ragged
        "A,B\nx,y,z\n",
        'A,B\n"x",y\n',  # quoted
        "A,B\nx,\xff\0\n",  # no text
        "A,B\n",  # no rows
        "A\nx\ny\n",  # one column
        "A,B\n" + "".join(f"{i},x\n" for i in range(600)),  # many distinct cells
    ],
)
def test_what_is_not_plain_is_left_to_the_other_reader(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("latin-1"))
    fast, slow = both(path)
    assert fast == slow


def test_plain_files_are_read_by_it(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("A,B\n" + "x,y\nz,?\n" * 50_000)
    monkeypatch.setattr(fast_csv, "PARTS", 5)
    columns = read_file(path)
    assert [column.data.dictionary.to_pylist() for column in columns] == [["x", "z"], ["y", "?"]]
    assert [len(column) for column in columns] == [100_000, 100_000]
    table = as_table(path, allow_constant=True)
    assert table.missing() == {"A": 0, "B": 50_000}
    assert table.row(99_998) == {"A": "x", "B": "y"}
