import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bayeslearn.errors import BayeslearnWarning, DataError, MissingValuesError, MixedTypesError, ShapeError
from bayeslearn.naive_bayes.text import ColumnVocabulary, DocumentCounts, HashedVocabulary, Tokenizer, Vocabulary, count
from bayeslearn.naive_bayes.text import text_inputs as pieces
from tests.naive_bayes.text.texts import corpora, words

tokenizers = st.builds(
    Tokenizer,
    case_sensitive=st.booleans(),
    analyzer=st.sampled_from(["words", "letters", "all", "spaces"]),
    min_token_length=st.integers(1, 3),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)


def as_counters(counts, vocabulary):
    rows = counts.matrix.toarray()
    return [{vocabulary.words[j]: int(row[j]) for j in np.flatnonzero(row)} for row in rows]


@given(corpora, tokenizers)
def test_counts_are_those_of_the_slow_tokenizer(texts, tokenizer):
    counts, vocabulary = count(texts, tokenizer)
    tokens = [tokenizer.tokens(text) for text in texts]
    assert as_counters(counts, vocabulary) == [Counter(t) for t in tokens]
    assert vocabulary.words == tuple(dict.fromkeys(token for t in tokens for token in t))


@given(corpora, tokenizers, words)
def test_words_outside_a_given_vocabulary_are_skipped(texts, tokenizer, known):
    known = dict.fromkeys([*known, *(tokenizer.tokens(texts[0])[:2] if texts else [])])
    vocabulary = Vocabulary.of(known)
    counts, same = count(texts, tokenizer, vocabulary)
    assert same is vocabulary
    expected = [Counter(token for token in tokenizer.tokens(text) if token in known) for text in texts]
    assert as_counters(counts, vocabulary) == expected


@given(corpora)
def test_hashed_words_are_counted_at_their_places(texts):
    hashed = HashedVocabulary(50)
    counts, _ = count(texts, vocabulary=hashed)
    for row, text in zip(counts.matrix.toarray(), texts, strict=True):
        places = [hashed.position(token) for token in Tokenizer().tokens(text)]
        np.testing.assert_array_equal(row, np.bincount(places, minlength=50))


@given(corpora)
def test_pieces_and_threads_change_nothing(texts):
    whole = count(texts, Tokenizer(analyzer="all", min_token_length=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", 3)
        patch.setenv("BAYESLEARN_THREADS", "2")
        parts = count(texts, Tokenizer(analyzer="all", min_token_length=1))
    assert parts[1] == whole[1]
    for name in ("indptr", "indices", "counts"):
        np.testing.assert_array_equal(getattr(parts[0], name), getattr(whole[0], name))


TEXTS = ["A rose is a rose", "", "une Île, deux îles", "is it?"]
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "bytes": lambda texts: [text.encode() for text in texts],
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "arrow": pa.array,
    "sliced arrow": lambda texts: pa.array(["x", *texts, "y"])[1:-1],
    "chunked arrow": lambda texts: pa.chunked_array([texts[:1], [], texts[1:]]),
    "large arrow": lambda texts: pa.array(texts, pa.large_string()),
    "arrow views": lambda texts: pa.array(texts, pa.string_view()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "pandas": pd.Series,
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "polars": pl.Series,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_column_of_texts(kind):
    counts, vocabulary = count(COLUMNS[kind](TEXTS))
    assert vocabulary.words == ("rose", "is", "une", "île", "deux", "îles", "it")
    assert as_counters(counts, vocabulary) == [Counter(Tokenizer().tokens(text)) for text in TEXTS]


@pytest.mark.compiled
def test_a_document_longer_than_any_piece_and_a_word_longer_than_any_segment():
    text = "spam eggs " * 200_000 + "é" * 100_000 + " " + "x" * 300_000
    counts, vocabulary = count([text, "eggs"])
    assert vocabulary.words == ("spam", "eggs", "é" * 100_000, "x" * 300_000)
    assert counts.matrix.toarray().tolist() == [[200_000, 200_000, 1, 1], [0, 1, 0, 0]]


def test_bytes_that_are_not_utf8_are_replaced_and_reported():
    with pytest.warns(BayeslearnWarning, match="1 of 3 documents hold bytes that are not UTF-8"):
        _, vocabulary = count([b"caf\xe9 noir", "ok", b"NUL\x00byte"])
    assert vocabulary.words == ("caf", "noir", "ok", "nul", "byte")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count([b"caf\xc3\xa9"])


def test_a_word_has_one_entry_in_a_document():
    counts, _ = count(["one two one two one", "two one two", "one one"])
    assert counts.matrix.indices.tolist() == [0, 1, 1, 0, 0]
    assert counts.matrix.data.tolist() == [3, 2, 2, 1, 2]


def test_words_can_be_left_out():
    counts, vocabulary = count(["aa aa aa bb bb cc", "aa bb dd"], drop_top_words=1, min_count=2)
    assert vocabulary.words == ("bb",)
    assert counts.matrix.toarray().tolist() == [[2], [1]]
    assert count(["aa aa bb"], max_features=1)[1].words == ("aa",)


def test_no_texts_and_no_words():
    counts, vocabulary = count([])
    assert (len(counts), len(vocabulary)) == (0, 0)
    counts, vocabulary = count(["", "."])
    assert counts.matrix.shape == (2, 0)
    assert counts.lengths.tolist() == [0, 0]


### values


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=5), st.data())
def test_rows_columns_and_totals(rows, data):
    dense = np.array(rows)
    counts = DocumentCounts.of(sparse.csr_array(dense))
    np.testing.assert_array_equal(counts.matrix.toarray(), dense)
    np.testing.assert_array_equal(counts.totals, dense.sum(axis=0))
    np.testing.assert_array_equal(counts.lengths, dense.sum(axis=1))
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    np.testing.assert_array_equal(counts[picked].matrix.toarray(), dense[picked].reshape(-1, 3))
    np.testing.assert_array_equal(counts[dense[:, 0] > 0].matrix.toarray(), dense[dense[:, 0] > 0])
    np.testing.assert_array_equal(counts[1:].matrix.toarray(), dense[1:])
    np.testing.assert_array_equal(counts.only(np.array([2, 0])).matrix.toarray(), dense[:, [2, 0]])


def test_of_takes_any_matrix():
    twice = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    counts = DocumentCounts.of(twice)
    assert counts.counts.tolist() == [3]
    assert DocumentCounts.of(counts) is counts
    assert DocumentCounts.of([[0.5, 0]]).counts.dtype == np.float64
    assert repr(counts) == "DocumentCounts(2 documents, 2 words, 1 counts)"


### bad input


@pytest.mark.parametrize(
    ("texts", "error", "match"),
    [
        ("one text", DataError, "put it in a list"),
        (["a", None], MissingValuesError, "document 1 is missing"),
        ([float("nan")], MissingValuesError, "document 0 is missing"),
        (pa.array(["a", None]), MissingValuesError, "document 1 is missing"),
        (pd.Series([None, "a"]), MissingValuesError, "document 0 is missing"),
        (["a", 3], MixedTypesError, "document 1 is int"),
        (pa.array([1, 2]), MixedTypesError, "got one of int64"),
        (np.array([["a"]]), DataError, "one column of texts"),
        (pd.DataFrame({"a": ["x"]}), DataError, "one column of texts"),
    ],
)
def test_bad_texts(texts, error, match):
    with pytest.raises(error, match=match):
        count(texts)


def test_bad_matrices():
    with pytest.raises(DataError, match="Negative values in data"):
        DocumentCounts.of([[1, -1]])
    with pytest.raises(DataError, match="must be finite"):
        DocumentCounts.of([[np.nan]])
    with pytest.raises(DataError, match="expected a matrix of counts"):
        DocumentCounts.of([["a"]])
    with pytest.raises(ShapeError, match="choose documents"):
        _ = DocumentCounts.of([[1]])[0]
    with pytest.raises(DataError, match="no words to look for"):
        count(["a"], vocabulary=ColumnVocabulary(2))
