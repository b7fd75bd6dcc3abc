"""Why: words for and against."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.errors import ParameterError
from bayeslearn.naive_bayes.text import (
    HashedVocabulary,
    Tokenizer,
    collect,
    count,
    explain_class,
    explain_text,
    fit_text,
)
from bayeslearn.naive_bayes.text.model import LIKELIHOODS, TextModel

TEXTS = ["cheap watch cheap", "cheap pills now", "lunch at noon", "noon meeting at noon", "goal keeper", "goal noon"]
LABELS = ["spam", "spam", "work", "work", "sport", "sport"]
NEW = "cheap cheap noon goal comet"


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("vocabulary", [None, HashedVocabulary(1000)])
def test_words_add_up_to_the_log_odds(likelihood, vocabulary):
    model = fit_text(TEXTS, LABELS, likelihood=likelihood, vocabulary=vocabulary, prior=1.0)
    joint = dict(zip(model.classes, model.log_joint([NEW])[0], strict=True))
    why = model.explain(NEW)
    best, second, *_ = sorted(joint, key=joint.get, reverse=True)
    assert (why.label, why.against) == (best, second)
    assert why.log_odds == pytest.approx(joint[best] - joint[second], rel=1e-12)
    assert why.base + sum(word.log_odds for word in why.words) == pytest.approx(why.log_odds, rel=1e-12)
    assert why.probability == pytest.approx(model.predict_proba([NEW]).max(), rel=1e-12)
    if likelihood != "bernoulli":
        assert why.base == pytest.approx(0, abs=1e-12)  # the classes are equally frequent


def test_words_for_and_against_in_order():
    why = explain_text(fit_text(TEXTS, LABELS, prior=1.0), NEW, "spam", "work")
    assert [word.word for word in why.words] == ["cheap", "goal", "noon"]
    assert [(word.word, word.count) for word in why.top_positive(1)] == [("cheap", 2)]
    assert [word.word for word in why.top_negative()] == ["noon"]
    assert why.n_unknown == 1
    cheap = 2 * np.log((3 + 1) / (6 + 10) / ((0 + 1) / (7 + 10)))
    assert why.words[0].log_odds == pytest.approx(cheap, rel=1e-12)


def test_a_text_without_known_words():
    why = explain_text(fit_text(TEXTS, LABELS, prior=1.0), "comet")
    assert (why.words, why.n_unknown) == ((), 1)
    assert why.log_odds == why.base


def test_what_a_class_is_known_by():
    found = explain_class(fit_text(TEXTS, LABELS, prior=1.0), "spam", 2)
    assert found.top_positive[0].word == "cheap"
    assert found.top_positive[0].count == 3
    assert found.top_negative[0].word == "noon"
    assert all(word.log_odds < 0 for word in found.top_negative)


def test_n_grams_are_explained_too():
    model = fit_text(TEXTS, LABELS, tokenizer=Tokenizer(ngram_range=(1, 2)), prior=1.0)
    assert "at noon" in [word.word for word in explain_text(model, "at noon").words]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: explain_text(m, "x", "news"), "there is no class 'news'; the model has 'spam', 'sport', 'work'"),
        (lambda m: explain_text(m, "x", "spam", "spam"), "'spam' cannot be compared with itself"),
        (lambda m: explain_class(m, "spam", 0), "`max_results` must be at least 1"),
    ],
)
def test_bad_questions(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask(fit_text(TEXTS, LABELS, prior=1.0))


def test_models_that_cannot_tell():
    hashed = fit_text(TEXTS, LABELS, vocabulary=HashedVocabulary(100), prior=1.0)
    with pytest.raises(ParameterError, match="a model of hashed words has no list of words"):
        explain_class(hashed, "spam")
    one = fit_text(TEXTS[:2], LABELS[:2], prior=1.0)
    with pytest.raises(ParameterError, match="'spam' cannot be compared with itself"):
        explain_text(one, "cheap")
    with pytest.raises(ParameterError, match="'spam' is the only class"):
        explain_class(one, "spam")
    matrix = TextModel(collect(count(TEXTS)[0], LABELS))
    assert explain_class(matrix, "spam").top_positive
