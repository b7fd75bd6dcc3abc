import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import MismatchError, ParameterError
from bayeslearn.naive_bayes.text import ColumnVocabulary, HashedVocabulary, Vocabulary
from bayeslearn.naive_bayes.text.vocabulary import chosen
from tests.naive_bayes.text.texts import words


@given(words)
def test_words_come_back_in_order(given):
    vocabulary = Vocabulary.of(given)
    assert vocabulary.words == tuple(given) == tuple(vocabulary)
    assert len(vocabulary) == len(given)
    assert [vocabulary.position(word) for word in given] == list(range(len(given)))
    assert vocabulary == Vocabulary.of(given)
    assert hash(vocabulary) == hash(Vocabulary.of(given))


@given(words, words)
def test_joining_keeps_positions_and_adds_what_is_new(a, b):
    joined, where = Vocabulary.of(a).joined(Vocabulary.of(b))
    assert joined.words == tuple(dict.fromkeys([*a, *b]))
    assert [joined.words[i] for i in where] == b


@given(words, st.data())
def test_some_of_the_words(given, data):
    positions = data.draw(st.permutations(range(len(given)))) if given else []
    some = np.array(positions[: len(positions) // 2], dtype=int)
    assert Vocabulary.of(given).only(some).words == tuple(given[i] for i in some)


def test_words_of_every_alphabet_and_length():
    given = ["ж", "中文", "a" * 100, "a" * 101, "abcdefgh", "abcdefghi", "abcdefgh\0", "a\0", "a", "\ud800"]
    vocabulary = Vocabulary.of(given)
    assert vocabulary.words == tuple(given)
    assert "a\0\0" not in vocabulary
    assert repr(vocabulary).startswith("Vocabulary(10 words: 'ж', '中文'")


def test_a_table_grows_without_losing_a_word():
    given = [f"w{i}" for i in range(20_000)]
    vocabulary = Vocabulary.of(given)
    _, where = vocabulary.joined(Vocabulary.of(given[::-7]))
    np.testing.assert_array_equal(where, np.arange(20_000)[::-7])


def test_hashed_words_have_places_that_never_change():
    hashed = HashedVocabulary(1 << 20)
    assert [hashed.position(word) for word in ("spam", "ham", "a longer phrase")] == [1027352, 293895, 59961]
    assert hashed.joined(HashedVocabulary(1 << 20))[0] == hashed
    with pytest.raises(ParameterError, match="does not know its words"):
        _ = hashed.words
    with pytest.raises(MismatchError, match="cannot join") as raised:
        hashed.joined(HashedVocabulary(8))
    assert raised.value.details["differs"] == "vocabulary"
    with pytest.raises(MismatchError, match="cannot join"):
        Vocabulary.of(["a"]).joined(ColumnVocabulary(1))


def test_columns_are_numbered():
    assert ColumnVocabulary(3).words == ("x0", "x1", "x2")
    assert ColumnVocabulary(3).position("x2") == 2
    with pytest.raises(ParameterError, match="no column 'x3'"):
        ColumnVocabulary(3).position("x3")


def test_which_words_to_keep():
    totals = [5, 1, 5, 3, 2]
    assert chosen(totals).tolist() == [0, 1, 2, 3, 4]
    assert chosen(totals, min_count=3).tolist() == [0, 2, 3]
    assert chosen(totals, drop_top_words=1).tolist() == [1, 2, 3, 4]
    assert chosen(totals, drop_top_words=1, min_count=2, max_features=2).tolist() == [2, 3]
    with pytest.raises(ParameterError, match="`max_features` must be at least 1"):
        chosen(totals, max_features=0)


@pytest.mark.parametrize(
    ("given", "match"), [(["a", "a"], "stand in it twice: 'a'"), ([""], "not empty, got ''"), ([1], "a text")]
)
def test_bad_words(given, match):
    with pytest.raises(ParameterError, match=match):
        Vocabulary.of(given)
    with pytest.raises(ParameterError, match="'b' is not in the vocabulary"):
        Vocabulary.of(["a"]).position("b")
