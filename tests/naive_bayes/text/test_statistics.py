import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import (
    EvidenceError,
    MismatchError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownStateError,
    WeightError,
)
from bayeslearn.naive_bayes.text import (
    DocumentCounts,
    HashedVocabulary,
    TextStatistics,
    Tokenizer,
    Vocabulary,
    collect,
    count,
)
from tests.properties import trials

documents = st.lists(st.tuples(st.text("abc ", max_size=12), st.sampled_from("xyz")), min_size=1, max_size=6)


def seen(cases, *, present=True, **more):
    texts, labels = zip(*cases, strict=True) if cases else ((), ())
    counts, vocabulary = count(texts, Tokenizer(min_token_length=1))
    return collect(counts, labels, vocabulary=vocabulary, present=present, **more)


@trials(30)
@given(documents, documents)
def test_statistics_of_two_corpora_add(a, b):
    both = seen(a) + seen(b)
    assert both == seen(a + b)
    assert both - seen(b) == both - seen(b) + TextStatistics.zero(present=True)
    assert (both - seen(b)).isclose(seen(a) + 0.0 * seen(b))


@trials(30)
@given(documents, documents, documents)
def test_adding_is_associative_and_has_an_identity(a, b, c):
    a, b, c = seen(a), seen(b), seen(c)
    assert (a + b) + c == a + (b + c)
    assert a + TextStatistics.zero(present=True) == a == TextStatistics.zero(present=True) + a
    assert sum([a, b]) == a + b


@given(documents)
def test_weights_shares_and_fading_are_the_same_thing_twice(cases):
    whole = seen(cases)
    assert 2 * whole == whole + whole == seen(cases, sample_weight=np.full(len(cases), 2.0))
    shares = np.array([[label == name for name in "xyz"] for _, label in cases], dtype=float)
    texts, vocabulary = count([text for text, _ in cases])
    labels = [label for _, label in cases]
    by_label = collect(texts, labels, vocabulary=vocabulary, classes="xyz", present=True)
    assert by_label == collect(texts, shares, vocabulary=vocabulary, classes="xyz", present=True)


def test_by_hand():
    counts = DocumentCounts.of([[2, 0, 1], [0, 1, 0], [1, 0, 0]])
    found = collect(counts, ["b", "a", "b"], present=True)
    assert found.classes == ("a", "b")
    assert found.documents.tolist() == [1, 2]
    assert found.words.tolist() == [[0, 1, 0], [3, 0, 1]]
    assert found.present.tolist() == [[0, 1, 0], [2, 0, 1]]
    half = collect(counts, np.array([[0.5, 0.5], [1, 0], [0, 1]]), classes=["u", "v"], sample_weight=[2, 1, 1])
    assert half.documents.tolist() == [2, 2]
    assert half.words.tolist() == [[2, 1, 1], [3, 0, 1]]
    assert repr(found) == "TextStatistics(2 classes, 3 words, 3 documents)"


def test_other_frames():
    found = seen([("a b b", "x"), ("c", "z")])
    wide = found.with_classes(["z", "y", "x"])
    assert wide.documents.tolist() == [1, 0, 1]
    assert wide.words.tolist() == [[0, 0, 1], [0, 0, 0], [1, 2, 0]]
    assert found.only(np.array([1])).words.tolist() == [[2], [0]]
    with pytest.raises(ParameterError, match="'z' would be lost"):
        found.with_classes(["x"])
    with pytest.raises(ParameterError, match="left out of a Vocabulary only"):
        TextStatistics.zero(["x"], HashedVocabulary(4)).only(np.array([0]))


def test_labels_are_any_values():
    counts = DocumentCounts.of([[1], [2]])
    assert collect(counts, np.array([3, 1])).classes == (1, 3)
    assert collect(counts, [True, False]).classes == (False, True)
    assert collect(counts, [1, "a"]).classes == (1, "a")


COUNTS = DocumentCounts.of([[1], [2]])


@pytest.mark.parametrize(
    ("labels", "more", "error", "match"),
    [
        (["a", None], {}, MissingValuesError, "document 1 has no label"),
        ([1.0, np.nan], {}, MissingValuesError, "by EM"),
        (["a"], {}, ShapeError, "2 documents and 1 labels"),
        (["a", "b"], {"classes": ["a"]}, UnknownStateError, "'b' are not among the classes 'a'"),
        (["a", "b"], {"sample_weight": [1, -1]}, WeightError, "not negative"),
        (["a", "b"], {"vocabulary": Vocabulary.of(["v", "w"])}, ShapeError, "the vocabulary has 2"),
        (np.ones((2, 2)), {}, ParameterError, "shares need `classes`"),
        (np.ones((2, 2)), {"classes": "abc"}, ShapeError, r"shape \(2, 3\)"),
        (-np.ones((2, 2)), {"classes": "ab"}, WeightError, "not negative"),
    ],
)
def test_bad_labels(labels, more, error, match):
    with pytest.raises(error, match=match):
        collect(COUNTS, labels, **more)


def test_bad_sums():
    a, b = seen([("a", "x")]), seen([("b", "x")])
    with pytest.raises(EvidenceError, match="never seen"):
        a - b
    with pytest.raises(EvidenceError, match="more evidence removed"):
        a - 2 * a
    with pytest.raises(EvidenceError, match="factor"):
        a * -1
    with pytest.raises(MismatchError, match="hold a word"):
        a + seen([("a", "x")], present=False)
    with pytest.raises(ParameterError, match="cannot add int"):
        a + 1
    with pytest.raises(ShapeError, match="`words` of shape"):
        TextStatistics(("x",), Vocabulary.of(["a"]), [1], [[1, 2]])
    with pytest.raises(ParameterError, match="classes must differ"):
        TextStatistics.zero(["x", "x"])
