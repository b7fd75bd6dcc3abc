"""Text files as people export them: other delimiters and encodings, names that are there twice, lines before them."""

from __future__ import annotations

import gzip
import warnings

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import as_table, fit_parameters, scan, write_network
from bayeslearn.errors import BayeslearnWarning, DataError, FormatError, TooManyStatesError
from bayeslearn.naive_bayes.text import read_corpus
from bayeslearn.regression import fit_linear
from bayeslearn.sources import group_counts
from bayeslearn.tables.file_readers import column_names, read_file
from bayeslearn.tables.text_heads import delimiter_of, distinct_names
from tests.cli.asking import ask, tell

ROWS = [["Straße", "Umsatz", "Größe, netto"], ["Köln", "1.002,50 €", "3,5"], ["Bonn", "840,10 €", "2,25"]]
ROWS += [["Köln", "99,00 €", ""], ["Bonn", "7,10 €", "1,5"]] * 3
TEXT = "\r\n".join(";".join(row) for row in ROWS) + "\r\n"

FILES = {
    "utf-8": TEXT.encode(),
    "mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "windows": TEXT.encode("cp1252"),
    "utf-16": TEXT.encode("utf-16"),
    "utf-16 be": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "excel": b"sep=;\r\n" + TEXT.encode(),
    "empty lines": b"\r\n\r\n" + TEXT.replace("Bonn;7,10", "\r\n\r\nBonn;7,10").encode(),
    "pipe": TEXT.replace(";", "|").encode(),
    "tab": TEXT.replace(";", "\t").encode(),
}


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)
        return call()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", FILES)
def test_exports_are_read(tmp_path, kind, packed):
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(FILES[kind]) if packed else FILES[kind])
    columns = quietly(lambda: read_file(path))
    assert [column.name for column in columns] == column_names(path) == ROWS[0]
    assert [list(row) for row in zip(*(column.data.to_pylist() for column in columns), strict=True)] == ROWS[1:]
    table = quietly(lambda: as_table(path))
    assert table.row(0) == {"Straße": "Köln", "Umsatz": 1002.5, "Größe, netto": 3.5}
    assert table == quietly(lambda: scan([str(path), str(path)]).table())


def test_a_guessed_encoding_is_reported(tmp_path):
    (tmp_path / "t.csv").write_bytes(FILES["windows"])
    with pytest.warns(BayeslearnWarning, match=r"t\.csv' is not UTF-8 text and is read as Windows-1252 \(Latin-1\)"):
        as_table(tmp_path / "t.csv")


def test_duckdb_reads_them_too(tmp_path):
    (tmp_path / "t.csv").write_bytes(FILES["excel"])
    assert group_counts(scan(tmp_path / "t.csv", discrete=["Straße"]), ["Straße"]).table().total_weight == 8


@given(
    cells=st.lists(st.lists(st.text("ab1.'", min_size=1), min_size=3, max_size=3), min_size=2, max_size=6),
    delimiter=st.sampled_from(",;\t|"),
)
def test_the_delimiter_is_that_of_every_line(cells, delimiter):
    assert delimiter_of([delimiter.join(row) + "\n" for row in cells]) == delimiter


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a\n", "1\n"], ","),
        (["a;b\n", "1;2;3\n"], ","),  # not even
        (["a,b;c;d\n", "1,2\n"], ","),
        (["a;b\n"], ";"),
        (['"x;y",b\n', "1,2\n"], ","),
        (["a,b\n", '"1\n', '2",3\n'], ","),
        ([], ","),
    ],
)
def test_what_tells_the_delimiter(lines, delimiter):
    assert delimiter_of(lines) == delimiter


### names


@given(st.lists(st.sampled_from(["a", "a.1", "", " ", "b", "Unnamed: 1"]), min_size=1, max_size=8))
def test_names_differ_and_single_ones_stay(names):
    found = distinct_names(names)
    assert len(set(found)) == len(names)
    assert all(new == old for new, old in zip(found, names, strict=True) if old.strip() and names.count(old) == 1)


def test_names_are_those_of_pandas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,a,b,,a,\n1,2,x,,3,\n4,5,y,,6,\n")
    with pytest.warns(BayeslearnWarning, match=r"appear more than once: the later ones are read as 'a\.1', 'a\.2'$"):
        columns = read_file(path)
    assert [column.name for column in columns] == list(pd.read_csv(path).columns)


### answers


@pytest.mark.parametrize("kind", ["utf-8", "windows", "mark"])
def test_imputing_changes_no_other_byte(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(FILES[kind])
    rows = {"Straße": ["Köln", "Bonn"] * 8, "Größe, netto": ["3,5", "1,5"] * 8}
    write_network(fit_parameters("Straße -> Größe, netto", rows, prior="laplace"), "net.json")
    code, _, sentence = tell("impute", "net.json", "t.csv", "-o", "full.csv")
    assert (code, "filled 3 cells of 1 columns" in sentence) == (0, True)
    encoding = "cp1252" if kind == "windows" else "utf-8"
    filled = FILES[kind].decode(encoding).replace("99,00 €;\r\n", "99,00 €;3,5\r\n")
    assert (tmp_path / "full.csv").read_bytes() == filled.encode(encoding)


def test_texts_of_semicolons(tmp_path):
    (tmp_path / "t.csv").write_text("text;label\nbuy, now;spam\nlunch?;ham\n")
    assert read_corpus(tmp_path / "t.csv").texts == ["buy, now", "lunch?"]


### nearly numbers and dates


def test_a_column_that_is_nearly_numbers_is_named(tmp_path):
    path = tmp_path / "t.csv"
    prices = [f"{i}.{i + 100},{i % 90 + 10} €" for i in range(1, 80)] + ["auf Anfrage"] * 2
    path.write_text("Preis;Ort\n" + "\n".join(f"{p};{'AB'[i % 2]}" for i, p in enumerate(prices)) + "\n")
    shown = ask("fit", "network", str(path), "-o", str(tmp_path / "net.json"))
    assert (
        "its values are numbers but for 'auf Anfrage': if these are missing values, pass --na-values"
        in shown.replace("\n", " ")
    )
    with pytest.raises(DataError, match=r"regression needs numbers; its values are numbers but for 'auf Anfrage'"):
        fit_linear(path, "Preis")
    with pytest.raises(TooManyStatesError, match=r"pass na_values=\{'Preis': \['auf Anfrage'\]\}"):
        as_table(path, max_states=20)


def test_dates_in_several_formats_are_named():
    days = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(60)] + [f"{13 + i}/05/2024" for i in range(15)]
    with pytest.raises(TooManyStatesError, match="its values are dates in several formats: write them in one"):
        as_table({"when": days}, max_states=20)


def test_bytes_that_are_no_text_are_an_error(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"PK\x03\x04\x00\x00\xe9,b\n1,2\n")
    with pytest.raises(FormatError, match="is not UTF-8 text: byte 0xe9"):
        as_table(tmp_path / "t.csv")
