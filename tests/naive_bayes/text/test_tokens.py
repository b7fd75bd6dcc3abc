import re

import numpy as np
import pytest
from hypothesis import given

from bayeslearn.errors import ParameterError
from bayeslearn.naive_bayes.text import Tokenizer
from bayeslearn.naive_bayes.text.tokenizer import character_classes
from tests.naive_bayes.text.texts import any_text


@given(any_text)
def test_words_are_those_of_scikit_learn(text):
    assert Tokenizer().tokens(text) == re.findall(r"(?u)\b\w\w+\b", text.lower())


@given(any_text)
def test_all_leaves_out_nothing_but_white_space_when_every_length_will_do(text):
    tokens = Tokenizer(case_sensitive=True, analyzer="all", min_token_length=1).tokens(text)
    assert "".join(tokens) == re.sub(r"\s", "", text)


def test_kinds():
    text = "Well, 3 C3PO units... <-> x_1!"
    assert Tokenizer(analyzer="words").tokens(text) == ["well", "c3po", "units", "x_1"]
    assert Tokenizer(analyzer="letters", case_sensitive=True).tokens(text) == ["Well", "PO", "units"]
    assert Tokenizer(analyzer="spaces").tokens(text) == ["well,", "c3po", "units...", "<->", "x_1!"]
    assert Tokenizer(analyzer="all").tokens(text) == ["well", ",", "c3po", "units", "...", "<->", "x_1", "!"]


def test_ngrams_stand_where_their_last_token_does():
    assert Tokenizer(min_token_length=1, ngram_range=(1, 3)).tokens("a b c") == ["a", "b", "a b", "c", "b c", "a b c"]
    assert Tokenizer(min_token_length=1, ngram_range=2).tokens("a b c") == ["a b", "b c"]
    assert Tokenizer(ngram_range=(2, 2)).tokens("alone") == []


def test_the_table_of_characters_is_what_re_says():
    classes = character_classes("all", 0x110000)[256:]
    for point in [*range(0x3000), 0xD800, 0xFEFF, 0x1D518, 0x10FFFF]:
        character = chr(point)
        expected = 1 if re.match(r"\w", character) else 0 if re.match(r"\s", character) else 2
        assert classes[point] == expected, hex(point)
    np.testing.assert_array_equal(character_classes("all", 128)[256:], classes[:128])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"analyzer": "syllables"}, "choose one of 'words'"),
        ({"min_token_length": 0}, "`min_token_length` must be at least 1"),
        ({"case_sensitive": "yes"}, "`case_sensitive` must be true or false"),
        ({"ngram_range": (2, 1)}, "`ngram_range` must be at least 2"),
        ({"ngram_range": (1, 2, 3)}, "the shortest and the longest"),
        ({"ngram_range": (1, 99)}, "`ngram_range` must be at most 16"),
    ],
)
def test_bad_rules(given, match):
    with pytest.raises(ParameterError, match=match):
        Tokenizer(**given)
