"""Documents in: folders, tables, lines, plain files; what is broken is named or mended."""

from __future__ import annotations

import gzip
import io
import json
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from bayeslearn.errors import (
    DataError,
    DuplicateColumnError,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
)
from bayeslearn.naive_bayes.text.corpus import Corpus, as_corpus
from bayeslearn.naive_bayes.text.corpus_readers import read_corpus
from bayeslearn.naive_bayes.text.decoding import Decoder
from bayeslearn.naive_bayes.text.text_sources import scan_texts

### folders


@pytest.fixture
def mails(tmp_path):
    for name, text in {"ham/1": "see you", "ham/old/2": "lunch?", "spam/1": "buy now", "3": "who knows"}.items():
        place = tmp_path / "mails" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "mails"


def test_a_folder_of_folders(mails):
    corpus = read_corpus(mails)
    assert corpus == Corpus(
        ["who knows", "see you", "lunch?", "buy now"],
        [None, "ham", "ham", "spam"],
        ["3", "ham/1", "ham/old/2", "spam/1"],
    )
    assert repr(corpus) == "Corpus(4 documents, 2 classes, 1 without a label)"
    assert corpus.sizes() == {"ham": 2, "spam": 1}
    assert corpus.codes(["spam", "ham"]).tolist() == [-1, 1, 1, 0]
    assert corpus.labeled().names == ["ham/1", "ham/old/2", "spam/1"]
    assert corpus.notes == ()


def test_what_is_hidden_is_passed_over_and_an_empty_class_noted(mails):
    (mails / ".git").mkdir()
    (mails / ".git" / "config").write_text("x")
    (mails / "ham" / ".DS_Store").write_text("x")
    (mails / "news").mkdir()
    corpus = read_corpus(mails)
    assert len(corpus) == 4
    assert corpus.notes == ("no documents in the folder 'news': left out",)


def test_reading_a_folder_tells_how_far_it_is(mails):
    told = []
    read_corpus(mails, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_a_folder_without_documents(tmp_path):
    (tmp_path / "ham").mkdir()
    with pytest.raises(EmptyTableError, match="there are no documents below"):
        read_corpus(tmp_path)


def test_a_folder_has_no_columns(mails):
    with pytest.raises(UnknownColumnError, match="a folder has no column 'body'"):
        read_corpus(mails, text="body")


### tables

ROWS = [("buy, now", "spam"), ('say "hi"\nand go', "ham"), ("", None), ("ünïcode", "?")]
READ = Corpus([text for text, _ in ROWS], ["spam", "ham", None, None])


def test_csv_and_tsv(tmp_path):
    text = 'label,n,text\nspam,1,"buy, now"\nham,2,"say ""hi""\nand go"\n,3,\n?,4,ünïcode\n'
    (tmp_path / "a.csv").write_text(text, encoding="utf-8-sig")
    assert read_corpus(tmp_path / "a.csv") == READ
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert read_corpus(tmp_path / "b.csv.gz", "text", "label") == READ
    (tmp_path / "c.tsv").write_text("words\tkind\na b\tx\n")
    assert read_corpus(tmp_path / "c.tsv", "words", "kind") == Corpus(["a b"], ["x"])
    assert read_corpus(tmp_path / "c.tsv", "words") == Corpus(["a b"])


def test_parquet(tmp_path):
    columns = {"text": [text or None for text, _ in ROWS], "label": pa.array([2, 1, None, None], pa.int64())}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert read_corpus(tmp_path / "a.parquet") == Corpus(READ.texts, [2, 1, None, None])


def test_json_lines(tmp_path):
    lines = [json.dumps({"text": text, "label": label}) for text, label in ROWS]
    (tmp_path / "a.jsonl").write_text("\n\n".join(lines))
    assert read_corpus(tmp_path / "a.jsonl") == READ


def test_long_cells_are_read_whole(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "word " * 1_000_000 + ",x\nshort,y\n")
    corpus = read_corpus(tmp_path / "a.csv")
    assert [len(text) for text in corpus.texts] == [5_000_000, 5]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_column_that_is_not_there(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        parquet.write_table(pa.table({"a": ["x"], "b": ["y"]}), path)
    else:
        path.write_text("a,b\nx,y\n" if ending == "csv" else '{"a": "x", "b": "y"}')
    with pytest.raises(UnknownColumnError, match="has no column 'text'; it has 'a', 'b'"):
        read_corpus(path)
    with pytest.raises(UnknownColumnError, match="has no column 'kind'"):
        read_corpus(path, "a", "kind")


def test_a_column_that_is_there_twice(tmp_path):
    (tmp_path / "a.csv").write_text("text,text,x\na,b,c\n")
    with pytest.raises(DuplicateColumnError, match="has more than one column 'text'"):
        read_corpus(tmp_path / "a.csv")


def test_a_column_of_numbers_is_no_text(tmp_path):
    parquet.write_table(pa.table({"text": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'text' holds 1, which is no text"):
        read_corpus(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{"text": [1]}')
    with pytest.raises(DataError, match="field 'text' of document 1 is no text"):
        read_corpus(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text,label\na,b,c\n", "cannot be read: CSV parse error: Expected 2 columns, got 3"),
        ("a.csv", b"", "is empty: it has not even a line of column names"),
        ("a.csv", b"text,label\n", "there are no documents"),
        ("a.parquet", b"PAR1 no", "is not a Parquet file"),
        ("a.jsonl", b'{"text": 1', "line 1: "),
        ("a.jsonl", b"\n[1]", "line 2: expected an object"),
        ("a.jsonl", b"", "there are no documents"),
        ("a.csv.gz", b"no gzip", "cannot be read: it is no gzip file"),
        ("a.txt.gz", gzip.compress(b"text" * 99, mtime=0)[:-9], "cannot be read: it is .*too soon"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((FormatError, EmptyTableError), match=message):
        read_corpus(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("no.txt", "no.csv", "no.parquet", "no.jsonl"):
        with pytest.raises(InputFileNotFoundError, match="there is no such file"):
            read_corpus(tmp_path / name)


### plain text


def test_a_plain_file_is_a_document_or_its_lines_are(tmp_path):
    (tmp_path / "a.txt").write_text("one two\n\nthree")
    assert read_corpus(tmp_path / "a.txt") == Corpus(["one two\n\nthree"], names=["a.txt"])
    assert read_corpus(tmp_path / "a.txt", lines=True) == Corpus(
        ["one two", "", "three"], names=["a.txt:1", "a.txt:2", "a.txt:3"]
    )
    with pytest.raises(UnknownColumnError, match=r"the plain file 'a.txt' has no column"):
        read_corpus(tmp_path / "a.txt", target="x")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert read_corpus("-", lines=True).texts == ["a", "b"]


### bytes


def test_bytes_that_are_not_utf8_lose_one_character_each(tmp_path):
    (tmp_path / "ham").mkdir()
    (tmp_path / "ham" / "1").write_bytes(b"caf\xe9 \x00 na\xefve")
    (tmp_path / "ham" / "2").write_text("fine \ufffd")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ["caf\ufffd \0 na\ufffdve", "fine \ufffd"]
    assert corpus.notes[0].startswith("2 places that are not UTF-8 were replaced, in 'ham/1'")
    assert read_corpus(tmp_path, encoding="latin-1").texts[0] == "café \0 naïve"
    with pytest.raises(ParameterError, match="unexpected value for `encoding`: 'utf-16'"):
        read_corpus(tmp_path, encoding="utf-16")


def test_tables_with_bytes_that_are_not_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,label\ncaf\xe9,x\n")
    corpus = read_corpus(tmp_path / "a.csv")
    assert corpus.texts == ["caf\ufffd"]
    assert len(corpus.notes) == 1
    assert read_corpus(tmp_path / "a.csv", encoding="latin-1").texts == ["café"]


@given(st.binary())
def test_all_bytes_can_be_read(raw):
    decoder = Decoder("utf-8")
    text = decoder(raw, "x")
    try:
        assert text == raw.decode("utf-8-sig")
        assert not decoder.replaced
    except UnicodeDecodeError:
        assert decoder.replaced["x"] >= 1
    assert Decoder("latin-1")(raw, "x").encode("latin-1") == raw


### corpora


def test_lists_become_a_corpus():
    corpus = as_corpus(["a", "b", "c", "d"], ["x", None, float("nan"), "?"])
    assert corpus.labels == ["x", None, None, None]
    assert as_corpus(corpus) is corpus
    assert as_corpus(corpus, ["x", "y", "x", ""]).classes == ("x", "y")


@pytest.mark.parametrize(
    ("texts", "labels", "error", "message"),
    [
        ("one string", None, ShapeError, "expected documents, got one string"),
        ([], None, EmptyTableError, "there are no documents"),
        (["a", "b"], ["x"], ShapeError, "expected 2 labels, one for each document, got 1"),
    ],
)
def test_lists_that_are_no_corpus(texts, labels, error, message):
    with pytest.raises(error, match=message):
        as_corpus(texts, labels)


def test_no_labels_at_all():
    with pytest.raises(MissingValuesError, match="none of the 1 documents has a label"):
        as_corpus(["a"]).labeled()


### markers of missing values

MARKED = [{"text": "a b", "label": "x"}, {"text": "-", "label": "n.a."}, {"text": "NA", "label": "-"}]
MARKED += [{"text": "c", "label": "999"}, {"text": "d", "label": "NA"}]


def written(rows, folder):
    """The same rows as every kind of file."""
    table = pa.Table.from_pylist(rows)
    parquet.write_table(table, folder / "a.parquet")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "a.csv").write_text("\n".join(["text,label", *(f"{row['text']},{row['label']}" for row in rows)]) + "\n")
    return [folder / f"a.{ending}" for ending in ("csv", "parquet", "jsonl")]


@pytest.mark.parametrize(
    ("told", "texts", "labels"),
    [
        ({}, ["a b", "-", "NA", "c", "d"], ["x", "n.a.", "-", "999", None]),
        ({"na_values": ["-", 999]}, ["a b", "", "NA", "c", "d"], ["x", "n.a.", None, None, None]),
        ({"na_values": {"label": ["n.a.", "-"]}}, ["a b", "-", "NA", "c", "d"], ["x", None, None, "999", None]),
        ({"na_values": {None: "-", "text": "NA"}}, ["a b", "", "", "c", "d"], ["x", "n.a.", None, "999", None]),
        ({"keep_default_na": False}, ["a b", "-", "NA", "c", "d"], ["x", "n.a.", "-", "999", "NA"]),
    ],
)
def test_markers_of_missing_values_are_those_that_are_given(tmp_path, told, texts, labels):
    for path in written(MARKED, tmp_path):
        assert read_corpus(path, **told) == Corpus(texts, labels)
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        found = list(scan_texts(path, **told).batches())
        assert [str(text) for batch in found for text in batch.texts] == texts
        assert [label for batch in found for label in batch.labels] == labels


def test_markers_of_an_unknown_column_are_an_error(tmp_path):
    written(MARKED, tmp_path)
    with pytest.raises(UnknownColumnError, match="'labell'"):
        read_corpus(tmp_path / "a.csv", na_values={"labell": ["-"]})
    with pytest.raises(UnknownColumnError, match="'labell'"):
        scan_texts(tmp_path / "a.csv", na_values={"labell": ["-"]})


def test_markers_are_refused_where_there_are_no_cells(mails):
    with pytest.raises(ParameterError, match="a folder has no cells that may be missing"):
        read_corpus(mails, na_values=["-"])
    with pytest.raises(ParameterError, match="no cells that may be missing"):
        read_corpus(mails / "3", keep_default_na=False)
    with pytest.raises(ParameterError, match="no cells that markers could mark"):
        scan_texts([(["a"], ["x"])], na_values=["-"])
