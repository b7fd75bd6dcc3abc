import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import EvidenceError, ImpossibleDataError, ParameterError, ShapeError
from bayeslearn.naive_bayes.text import (
    DocumentCounts,
    HashedVocabulary,
    TextModel,
    TextStatistics,
    Tokenizer,
    Vocabulary,
    collect,
    fit_text,
)

corpora = st.integers(2, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)
PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}


@pytest.mark.parametrize("likelihood", PEERS)
@given(corpus=corpora, alpha=st.sampled_from([0.1, 1.0, 2.5]))
def test_the_answers_of_scikit_learn(likelihood, corpus, alpha):
    rows, labels = np.array(corpus[0]), np.array(corpus[1])
    counts = DocumentCounts.of(rows)
    uniform = likelihood == "complement" and len(set(labels)) > 1  # the peer forgets its prior then
    prior = (1 / len(set(labels)),) * len(set(labels)) if uniform else 0.0
    model = TextModel(collect(counts, labels, present=True), Tokenizer(), likelihood, alpha, prior)
    peer = PEERS[likelihood](alpha=alpha).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(counts), peer.predict_proba(rows), rtol=1e-9, atol=1e-12)


def test_by_hand():
    model = fit_text(["aa aa bb", "cc", "cc bb"], ["x", "y", "y"], prior=1.0)
    assert model.vocabulary.words == ("aa", "bb", "cc")
    np.testing.assert_allclose(np.exp(model.log_p_words), [[3 / 6, 2 / 6, 1 / 6], [1 / 6, 2 / 6, 3 / 6]], rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.log_p_classes), [1 / 3, 2 / 3], rtol=1e-14)
    joint = [[1 / 3 * 3 / 6 * 2 / 6, 2 / 3 * 1 / 6 * 2 / 6]]
    np.testing.assert_allclose(np.exp(model.log_joint(["aa bb unheard"])), joint, rtol=1e-13)
    np.testing.assert_allclose(model.predict_proba(["aa bb"]), np.array(joint) / np.sum(joint), rtol=1e-13)
    assert model.predict(["aa", "cc"]) == ["x", "y"]


def test_texts_and_their_counts_have_the_same_answers():
    texts = ["spam and eggs", "", "eggs, eggs; Île", "unheard"] * 3
    for vocabulary in (None, HashedVocabulary(64)):
        for likelihood in PEERS:
            model = fit_text(texts, list("abcd") * 3, likelihood=likelihood, vocabulary=vocabulary, prior=1.0)
            np.testing.assert_array_equal(model.log_joint(texts), model.log_joint(model.count(texts)))


def test_any_dirichlet_is_a_prior_of_words():
    texts, labels = ["aa aa bb", "bb cc"], ["x", "y"]
    m_estimate = fit_text(texts, labels, prior=Dirichlet.m_estimate(6, [0.5, 0.25, 0.25]))
    np.testing.assert_allclose(np.exp(m_estimate.log_p_words[0]), [5 / 9, 2.5 / 9, 1.5 / 9], rtol=1e-14)
    vector = fit_text(texts, labels, prior=Dirichlet([3, 1.5, 1.5]))
    np.testing.assert_array_equal(vector.log_p_words, m_estimate.log_p_words)
    laplace = fit_text(texts, labels, prior=Dirichlet.laplace())
    np.testing.assert_array_equal(laplace.log_p_words, fit_text(texts, labels, prior=1.0).log_p_words)


def test_a_prior_of_classes():
    texts, labels = ["aa", "bb", "bb"], ["x", "y", "y"]
    assert np.exp(fit_text(texts, labels, class_prior=1.0, prior=1.0).log_p_classes).tolist() == pytest.approx(
        [2 / 5, 3 / 5]
    )
    fixed = fit_text(texts, labels, class_prior=(0.9, 0.1), prior=1.0)
    assert np.exp(fixed.log_p_classes).tolist() == pytest.approx([0.9, 0.1])


def test_what_says_nothing_is_judged_by_the_classes():
    model = fit_text(["aa bb", "", "..."], ["x", "y", "y"], prior=1.0)
    for likelihood in ("multinomial", "complement"):
        silent = fit_text(["aa bb", "", "..."], ["x", "y", "y"], likelihood=likelihood, prior=1.0)
        np.testing.assert_allclose(silent.predict_proba(["", "unheard"]), [[1 / 3, 2 / 3]] * 2, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.log_p_words[1]), [1 / 2, 1 / 2])  # a class without words
    assert fit_text(["", ""], ["x", "y"], prior=1.0).predict(["hello"]) == ["x"]
    assert fit_text(["aa"], ["only"], prior=1.0).predict_proba(["bb", "aa"]).tolist() == [[1.0], [1.0]]
    assert model.predict([]) == []
    assert model.predict_proba([]).shape == (0, 2)


def test_evidence_comes_and_goes():
    first, more = fit_text(["aa bb"], ["x"], prior=1.0), fit_text(["bb cc", "dd"], ["y", "x"], prior=1.0)
    both = first.update(more.statistics)
    assert both.statistics == fit_text(["aa bb", "bb cc", "dd"], ["x", "y", "x"], prior=1.0).statistics
    assert both.remove(more.statistics).predict(["cc"]) == ["x"]
    assert repr(both) == "TextModel(multinomial, TextStatistics(2 classes, 4 words, 3 documents))"


def test_words_are_left_out_by_what_all_have_seen():
    model = fit_text(["aa aa bb cc", "aa bb"], ["x", "y"], drop_top_words=1, min_count=2, prior=1.0)
    assert model.vocabulary == Vocabulary.of(["bb"])
    assert fit_text(["aa aa bb"], ["x"], max_features=1, prior=1.0).vocabulary.words == ("aa",)


def test_no_answer_is_made_up():
    model = fit_text(["aa", "bb"], ["x", "y"], prior=0.0)
    assert model.predict_proba(["aa"]).tolist() == [[1.0, 0.0]]
    assert math.isinf(model.log_joint(["aa"])[0, 1])
    with pytest.raises(ImpossibleDataError, match="document 1 has words that no class can have together"):
        model.predict(["aa", "aa bb"])
    with pytest.raises(EvidenceError, match="no document that determines how probable"):
        TextModel(TextStatistics.zero(["x"])).predict(["aa"])


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"likelihood": "gaussian"}, ParameterError, "choose one of 'auto', 'multinomial'"),
        ({"prior": -1}, ParameterError, "`prior` must be at least 0"),
        ({"prior": Dirichlet([1, 1])}, ShapeError, r"`prior` has α of shape \(2,\), expected \(1,\)"),
        ({"class_prior": (0.5, 0.5)}, ShapeError, "2 entries for 1 classes"),
    ],
)
def test_bad_models(given, error, match):
    with pytest.raises(error, match=match):
        fit_text(["aa"], ["x"], **given)


def test_a_model_needs_what_its_likelihood_looks_at():
    counts = DocumentCounts.of([[1, 0]])
    with pytest.raises(ParameterError, match="collect with present=True"):
        TextModel(collect(counts, ["x"]), likelihood="bernoulli")
    with pytest.raises(ShapeError, match="the model has 2"):
        TextModel(collect(counts, ["x"])).log_joint(DocumentCounts.of([[1]]))


@pytest.mark.thorough
def test_newsgroups_by_date_as_scikit_learn_has_it(shared_data):
    from pyarrow import parquet
    from sklearn.feature_extraction.text import CountVectorizer

    table = parquet.read_table(shared_data / "newsgroups" / "20news-bydate-18846.parquet").to_pandas()
    train, test = (table[table["split"] == part] for part in ("train", "test"))
    model = fit_text(train["text"], train["group"], prior=1.0)
    ours = np.array(model.predict(test["text"]))
    words = CountVectorizer()
    peer = MultinomialNB().fit(words.fit_transform(train["text"]), train["group"].astype(str))
    assert len(model.vocabulary) == 130_107
    assert round(float((ours == test["group"].astype(str)).mean()), 4) == 0.7728
    np.testing.assert_array_equal(ours, peer.predict(words.transform(test["text"])))
