import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer as PeerVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import DataError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.naive_bayes.text import CountVectorizer, TextClassifier, fit_text

TEXTS = ["cheap watches, cheap!", "lunch at noon?", "win a watch", "see you at lunch"] * 3
LABELS = ["spam", "ham", "spam", "ham"] * 3


@pytest.mark.thorough
@parametrize_with_checks([TextClassifier(), TextClassifier(likelihood="bernoulli", class_prior="uniform")])
def test_sklearn_contract(estimator, check):
    check(estimator)


def test_raw_texts_in_labels_out():
    learner = TextClassifier().fit(TEXTS, LABELS)
    assert learner.classes_.tolist() == ["ham", "spam"]
    assert learner.predict(["a cheap lunch watch", "noon"]).tolist() == ["spam", "ham"]
    expected = fit_text(TEXTS, LABELS).predict_proba(["cheap lunch"])
    np.testing.assert_allclose(learner.predict_proba(["cheap lunch"]), expected, rtol=1e-12)
    np.testing.assert_allclose(learner.predict_log_proba(["cheap lunch"]), np.log(expected), rtol=1e-12)
    for column in (np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS)):
        assert clone(learner).fit(column, LABELS).model_.statistics == learner.model_.statistics
        np.testing.assert_array_equal(learner.predict(column), learner.predict(TEXTS))


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli", "complement"])
def test_a_ready_matrix_has_the_same_answers(likelihood):
    words = PeerVectorizer()
    matrix = words.fit_transform(TEXTS)
    raw = TextClassifier(likelihood=likelihood).fit(TEXTS, LABELS)
    ready = TextClassifier(likelihood=likelihood).fit(matrix, LABELS)
    new = ["a cheap lunch", "", "watch"]
    np.testing.assert_allclose(ready.predict_proba(words.transform(new)), raw.predict_proba(new), rtol=1e-12)
    np.testing.assert_allclose(ready.predict_proba(words.transform(new).toarray()), raw.predict_proba(new), rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"min_count": 2, "drop_top_words": 1}, {"n_hash_features": 64}, {"likelihood": "bernoulli"}]
)
def test_batches_equal_the_whole(options):
    whole, parts = TextClassifier(**options).fit(TEXTS, LABELS), TextClassifier(**options)
    for i in range(0, len(TEXTS), 3):
        parts.partial_fit(TEXTS[i : i + 3], LABELS[i : i + 3])
    np.testing.assert_allclose(parts.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=1e-12)
    assert parts.model_.vocabulary == whole.model_.vocabulary


def test_words_and_classes_grow():
    learner = TextClassifier().fit(["aa"], ["x"])
    learner.partial_fit(["bb bb"], ["new"], classes=["declared"])
    assert learner.classes_.tolist() == ["declared", "new", "x"]
    assert learner.predict(["bb", "aa"]).tolist() == ["new", "x"]
    assert learner.statistics_.documents.tolist() == [0, 1, 1]


def test_weight_two_is_the_text_twice_and_weight_zero_never():
    weights = np.array([2.0, 1, 0, 1] * 3)
    twice = np.repeat(np.arange(12), weights.astype(int))
    weighted = TextClassifier(min_count=3).fit(TEXTS, LABELS, sample_weight=weights)
    repeated = TextClassifier(min_count=3).fit([TEXTS[i] for i in twice], [LABELS[i] for i in twice])
    assert weighted.model_.statistics.isclose(repeated.model_.statistics)


def test_pipelines_accept_both():
    scores = cross_val_score(TextClassifier(), np.array(TEXTS), LABELS, cv=3)
    assert scores.tolist() == [1, 1, 1]
    piped = make_pipeline(CountVectorizer(), TextClassifier(prior=1.0)).fit(TEXTS, LABELS)
    peer = make_pipeline(PeerVectorizer(), MultinomialNB()).fit(TEXTS, LABELS)
    np.testing.assert_allclose(piped.predict_proba(["cheap lunch"]), peer.predict_proba(["cheap lunch"]), rtol=1e-12)


def test_priors_of_classes():
    texts, labels = ["aa", "bb", "bb"], ["x", "y", "y"]
    for given, expected in ((None, 1 / 3), ("uniform", 1 / 2), ([0.9, 0.1], 0.9), (1.0, 2 / 5)):
        learner = TextClassifier(class_prior=given).fit(texts, labels)
        assert learner.predict_proba([""])[0, 0] == pytest.approx(expected)


def test_word_counts_are_those_of_scikit_learn():
    for ours, theirs in (
        ({}, {}),
        ({"ngram_range": (1, 2)}, {"ngram_range": (1, 2)}),
        ({"case_sensitive": True}, {"lowercase": False}),
    ):
        words, peer = CountVectorizer(**ours), PeerVectorizer(**theirs)
        assert (words.fit_transform(TEXTS) != peer.fit_transform(TEXTS)).nnz == 0
        np.testing.assert_array_equal(words.get_feature_names_out(), peer.get_feature_names_out())
        assert (words.transform(["cheap unheard"]) != peer.transform(["cheap unheard"])).nnz == 0
    given = CountVectorizer(vocabulary=["noon", "lunch"]).fit(TEXTS)
    assert given.transform(["lunch lunch noon"]).toarray().tolist() == [[1, 2]]
    assert CountVectorizer(n_hash_features=8).fit_transform(TEXTS).shape == (12, 8)


@pytest.mark.parametrize(
    ("options", "texts", "labels", "error", "match"),
    [
        ({}, ["a", None], ["x", "y"], MissingValuesError, "document 1 is missing"),
        ({}, ["a", "b"], [None, None], MissingValuesError, "none of the 2 documents has a label"),
        ({}, ["a", "b"], ["x"], ShapeError, "2 rows and 1 labels"),
        ({}, ["a"], None, DataError, "requires y to be passed"),
        ({}, "a text", ["x"], DataError, "put it in a list"),
        ({}, sparse.csr_array([[-1]]), ["x"], DataError, "Negative values in data"),
        ({"n_hash_features": 4, "vocabulary": ["a"]}, ["a"], ["x"], ParameterError, "exclude each other"),
        ({"n_hash_features": 4, "drop_top_words": 1}, ["a"], ["x"], ParameterError, "left out of a Vocabulary only"),
        ({"class_prior": "flat"}, ["a"], ["x"], ParameterError, "there is no prior 'flat'"),
        ({"analyzer": "runes"}, ["a"], ["x"], ParameterError, "choose one of 'words'"),
    ],
)
def test_bad_input(options, texts, labels, error, match):
    with pytest.raises(error, match=match):
        TextClassifier(**options).fit(texts, labels)


def test_what_was_fitted_to_a_matrix_knows_no_words():
    learner = TextClassifier().fit(np.eye(2), [0, 1])
    with pytest.raises(DataError, match="has no words"):
        learner.predict(["a text"])
    with pytest.raises(DataError, match="every sample_weight is zero"):
        learner.fit(["a"], ["x"], sample_weight=[0])


def test_documents_without_a_label_go_through_em():
    texts, labels = ["red apple", "green leaf", "apple pie", "leaf tree", "pie"], ["x", "y", None, float("nan"), None]
    found = TextClassifier(prior=0.5, class_prior=1.0).fit(texts, labels)
    same = fit_text(texts, ["x", "y", None, None, None], prior=0.5, class_prior=1.0)
    assert found.model_.statistics.isclose(same.statistics)
    assert found.predict(["pie", "tree"]).tolist() == ["x", "y"]
    with pytest.raises(DataError, match="no row has a label"):
        found.partial_fit(["pie"], [None])
