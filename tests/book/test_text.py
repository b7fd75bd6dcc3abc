"""Figures of the specification: the text learner (N3), by hand on a tiny corpus and on 20 Newsgroups."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.naive_bayes.text import Tokenizer, fit_text, learning_curve, read_newsgroups
from bayeslearn.naive_bayes.text.evaluation import TEXTBOOK, TEXTBOOK_SIZES

### N3  words and other tokens, P(w|v) = (n_k + 1) / (n + |Vocabulary|), others skipped


@pytest.fixture
def articles():
    texts, labels = ["goal keeper keeper", "goal !", "! ! orbit"], ["sport", "sport", "space"]
    return fit_text(texts, labels, tokenizer=Tokenizer(analyzer="spaces", min_token_length=1), prior=1.0)


def test_the_vocabulary_holds_all_words_and_other_tokens(articles):
    assert sorted(articles.vocabulary.words) == ["!", "goal", "keeper", "orbit"]


def test_words_are_smoothed_by_one_of_each(articles):
    p = {
        (label, word): np.exp(articles.log_p_words[k, articles.vocabulary.position(word)])
        for k, label in enumerate(articles.classes)
        for word in articles.vocabulary.words
    }
    expected = {
        ("sport", "goal"): 3 / 9, ("sport", "keeper"): 3 / 9, ("sport", "!"): 2 / 9, ("sport", "orbit"): 1 / 9,
        ("space", "goal"): 1 / 7, ("space", "keeper"): 1 / 7, ("space", "!"): 3 / 7, ("space", "orbit"): 2 / 7,
    }  # fmt: skip
    assert p == pytest.approx(expected, rel=1e-12)


def test_a_new_document_skips_words_outside_the_vocabulary(articles):
    joint = dict(zip(articles.classes, np.exp(articles.log_joint(["keeper ! comet"])[0]), strict=True))
    assert joint == pytest.approx({"sport": 2 / 3 * 3 / 9 * 2 / 9, "space": 1 / 3 * 1 / 7 * 3 / 7}, rel=1e-12)
    assert articles.predict(["keeper ! comet", "! orbit orbit"]) == ["sport", "space"]


### N3  20 Newsgroups


@pytest.mark.slow
@pytest.mark.parametrize(("headers", "least"), [("all", 0.89), ("subject", 0.83), ("none", 0.80)])
def test_the_experiment_on_twenty_newsgroups(shared_data, headers, least):
    corpus = read_newsgroups(shared_data / "newsgroups" / "20news-19997.parquet", headers=headers)
    assert len(corpus) == 19_997
    curve = learning_curve(corpus, sizes=TEXTBOOK_SIZES, **TEXTBOOK)
    assert curve.n_test == 6_659
    assert curve.accuracy >= least
    accuracies = [point.accuracy for point in curve.points]
    assert accuracies == sorted(accuracies)
    assert [point.size for point in curve.points] == [100, 200, 500, 1000, 2000, 5000, 10_000, 13_338]
