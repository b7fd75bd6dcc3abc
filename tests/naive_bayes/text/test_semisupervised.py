"""Learning from documents with labels and without, with priors by evidence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import (
    ConstantColumnError,
    ConvergenceWarning,
    EmptyTableError,
    MissingValuesError,
    ParameterError,
    ShapeError,
)
from bayeslearn.naive_bayes.text import (
    Corpus,
    HashedVocabulary,
    TextClassifier,
    Tokenizer,
    choose_prior,
    fit_text,
    read_newsgroups,
)
from bayeslearn.naive_bayes.text.em import Documents, Reader
from tests.properties import trials

TEXTS = ["cheap watch buy", "cheap pills", "lunch at noon", "noon meeting moved", "buy watch now", "lunch moved"]
LABELS = ["spam", "spam", "ham", "ham", None, None]
WORDS = st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), min_size=1, max_size=5).map(" ".join)


### documents with labels


def test_a_number_is_what_fit_text_does():
    learned = fit_text(TEXTS[:4], LABELS[:4], prior=1.0)
    plain = fit_text(TEXTS[:4], LABELS[:4], prior=1.0)
    np.testing.assert_array_equal(learned.log_joint(TEXTS), plain.log_joint(TEXTS))
    info = learned.fit_info
    assert (info.prior_selection, info.history, info.n_labeled, info.n_unlabeled) == (None, (), 4, 0)


@pytest.mark.parametrize("kind", ["evidence", "symmetric", "background", "words"])
def test_a_prior_by_evidence_is_that_of_the_counts(kind):
    learned = fit_text(TEXTS[:4], LABELS[:4], prior=kind)
    expected = choose_prior(fit_text(TEXTS[:4], LABELS[:4], prior=1.0).statistics.words, kind).alpha
    alpha = learned.prior.alpha if isinstance(learned.prior, Dirichlet) else learned.prior
    np.testing.assert_allclose(np.broadcast_to(alpha, expected.shape), expected, rtol=1e-12)
    assert learned.predict(["cheap", "lunch"]) == ["spam", "ham"]


def test_words_are_chosen_by_all_documents():
    learned = fit_text(TEXTS, LABELS, min_count=2, drop_top_words=1)
    assert sorted(learned.vocabulary.words) == sorted({"watch", "buy", "lunch", "noon", "moved", "cheap"} - {"cheap"})


def test_hashed_words():
    learned = fit_text(TEXTS, LABELS, vocabulary=HashedVocabulary(64))
    assert learned.predict(["cheap pills", "noon lunch"]) == ["spam", "ham"]


def test_the_classifier_of_scikit_learn_chooses_its_prior_too():
    classifier = TextClassifier(prior="evidence").fit(TEXTS[:4], LABELS[:4])
    expected = fit_text(TEXTS[:4], LABELS[:4]).predict_proba(TEXTS)
    np.testing.assert_allclose(classifier.predict_proba(TEXTS), expected, rtol=1e-9)
    classifier.partial_fit(["a new word"], ["ham"])
    assert len(classifier.model_.prior.alpha) == len(classifier.model_.vocabulary)


### EM


def by_hand(texts, labels, alpha, weight, steps):
    """EM in plain Python."""
    vocabulary, classes = sorted({w for t in texts for w in t.split()}), sorted({x for x in labels if x})
    counts = np.array([[t.split().count(w) for w in vocabulary] for t in texts], dtype=float)
    shares = np.array([[1.0 * (x == c) for c in classes] if x else [0.0] * len(classes) for x in labels])
    hidden = np.array([x is None for x in labels])
    for _ in range(steps + 1):
        w = np.where(hidden, weight, 1.0)[:, None] * shares
        theta = (w.T @ counts + alpha) / (w.T @ counts + alpha).sum(axis=1, keepdims=True)
        joint = np.log(w.sum(axis=0) / w.sum()) + counts @ np.log(theta).T
        p = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
        shares = np.where(hidden[:, None], p, shares)
    return p


@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_em_is_what_one_would_do_by_hand(weight):
    with pytest.warns(ConvergenceWarning, match="EM stopped after 3 iterations"):
        learned = fit_text(TEXTS, LABELS, prior=0.5, unlabeled_weight=weight, max_iter=3)
    np.testing.assert_allclose(
        learned.predict_proba(TEXTS)[:, ::-1], by_hand(TEXTS, LABELS, 0.5, weight, 3)[:, ::-1], rtol=1e-9
    )


@trials(25)
@given(
    st.lists(WORDS, min_size=2, max_size=6),
    st.sampled_from(["multinomial", "bernoulli"]),
    st.floats(0.05, 1),
    st.floats(0, 1).map(lambda x: x * 2),
)
def test_the_objective_never_falls(texts, likelihood, weight, class_prior):
    texts = ["aa bb", "cc dd", *texts]
    labels = ["x", "y", *[None] * (len(texts) - 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a ridge may be long
        climb = fit_text(
            texts, labels, likelihood=likelihood, unlabeled_weight=weight, class_prior=class_prior
        ).fit_info
    objectives = [step.objective for step in climb.history]
    assert (np.diff(objectives) >= -1e-9).all()


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli"])
def test_the_likelihood_of_labeled_documents_is_the_sum_of_theirs(likelihood):
    model = fit_text(TEXTS[:4], LABELS[:4], likelihood=likelihood, prior=1.0)
    joint = model.log_joint(TEXTS[:4])
    expected = sum(joint[i, model.classes.index(LABELS[i])] for i in range(4))
    np.testing.assert_allclose(Reader(model).log_likelihood(model.statistics), expected, rtol=1e-12)
    nothing = Documents(model.statistics, model.count([]), np.zeros(0))
    np.testing.assert_allclose(Reader(model).expected_statistics(nothing)[1], expected, rtol=1e-12)


def test_without_weight_the_others_are_left_out():
    learned = fit_text(TEXTS, LABELS, unlabeled="drop")
    info = learned.fit_info
    assert (info.n_labeled, info.n_unlabeled, info.history) == (4, 0, ())
    assert "now" not in learned.vocabulary


def test_a_document_is_its_weight():
    twice = fit_text([*TEXTS, TEXTS[0], TEXTS[4]], [*LABELS, LABELS[0], LABELS[4]], prior=1.0)
    weighed = fit_text(TEXTS, LABELS, prior=1.0, sample_weight=[2, 1, 1, 1, 2, 1])
    np.testing.assert_allclose(weighed.predict_proba(TEXTS), twice.predict_proba(TEXTS), rtol=1e-9)


def test_soft_labels():
    shares = [[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [np.nan, np.nan]]
    soft = fit_text(TEXTS, shares, classes=["spam", "ham"])
    hard = fit_text(TEXTS, LABELS, classes=["spam", "ham"])
    np.testing.assert_allclose(soft.predict_proba(TEXTS), hard.predict_proba(TEXTS), rtol=1e-12)
    doubt = fit_text(TEXTS[:2], [[0.75, 0.25], [0.5, 0.5]], classes=["spam", "ham"], prior=1.0)
    np.testing.assert_allclose(doubt.statistics.documents, [1.25, 0.75], rtol=1e-12)


def test_progress_can_end_it():
    steps = []

    def tell(now):
        shares.append(now.fraction)
        if now.detail is not None:
            steps.append(now.detail.iteration)
        if len(steps) == 2:
            raise StopIteration

    shares = []
    assert fit_text(TEXTS, LABELS, progress=tell).fit_info.n_iter == 1
    assert steps == [0, 1]
    assert shares == sorted(shares)


### bad input


@pytest.mark.parametrize(
    ("texts", "labels", "settings", "error", "message"),
    [
        (TEXTS, [None] * 6, {}, MissingValuesError, "none of the 6 documents has a label"),
        (TEXTS, ["x"] * 5 + [None], {}, ConstantColumnError, "are of one class, 'x'"),
        (["", " ", ""], ["x", "y", None], {}, EmptyTableError, "no word is left in 3 documents"),
        (TEXTS, LABELS, {"min_count": 99}, EmptyTableError, "no word is left"),
        ([], [], {}, EmptyTableError, "there are no documents"),
        (TEXTS, LABELS[:3], {}, ShapeError, "expected 6 labels"),
        (TEXTS, LABELS, {"prior": "best"}, ParameterError, "unexpected value for `prior`"),
        (TEXTS, LABELS, {"unlabeled_weight": 2}, ParameterError, "`unlabeled_weight` must be at most 1"),
        (TEXTS, LABELS, {"likelihood": "complement"}, ParameterError, "the complement of a class is a score"),
        (TEXTS, LABELS, {"likelihood": "bernoulli", "prior": "words"}, ParameterError, "has no prior 'words'"),
        (TEXTS, [[1, 0]] * 6, {}, ParameterError, "shares need `classes`"),
        (TEXTS, [[1, 0]] * 6, {"classes": ["x", "y", "z"]}, ShapeError, "expected shares of shape"),
    ],
)
def test_bad_input(texts, labels, settings, error, message):
    with pytest.raises(error, match=message):
        fit_text(texts, labels, **settings)


def test_empty_documents_are_judged_by_the_classes():
    learned = fit_text([*TEXTS[:4], ""], [*LABELS[:4], "spam"])
    np.testing.assert_allclose(learned.predict_proba([""])[0], [2 / 5, 3 / 5], rtol=1e-12)


### 20 Newsgroups by date


@pytest.fixture(scope="module")
def by_date(shared_data):
    path = shared_data / "newsgroups" / "20news-bydate-18846.parquet"
    return read_newsgroups(path, subset="train"), read_newsgroups(path, subset="test")


def accuracy(learned, test):
    return np.mean([a == b for a, b in zip(learned.predict(test.texts), test.labels, strict=True)])


@pytest.mark.slow
@pytest.mark.compiled
def test_evidence_chooses_a_prior_that_classifies_better(by_date):
    train, test = by_date
    assert round(accuracy(fit_text(train, prior=1.0), test), 4) == 0.7728
    assert accuracy(fit_text(train, likelihood="multinomial"), test) > 0.805
    spaces = Tokenizer(analyzer="spaces", min_token_length=1)
    assert accuracy(fit_text(train, tokenizer=spaces, likelihood="multinomial"), test) > 0.825


@pytest.mark.slow
@pytest.mark.compiled
def test_the_default_is_more_accurate_and_calibrated(by_date):
    train, test = by_date
    found = fit_text(train).evaluate(test.texts, test.labels)
    assert found.accuracy > 0.85
    assert found.log_loss < 0.55


@pytest.mark.slow
@pytest.mark.compiled
def test_documents_without_labels_help_twenty_labels_a_class(by_date):
    train, test = by_date
    labels, rng = np.array(train.labels), np.random.default_rng(0)
    shown = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:20] for c in train.classes])
    few = Corpus(train.texts, [train.labels[i] if i in set(shown.tolist()) else None for i in range(len(train))])
    for likelihood, gain in (("multinomial", 0.05), ("auto", 0.0)):
        both = (fit_text(few, likelihood=likelihood, unlabeled=unlabeled) for unlabeled in ("em", "drop"))
        em, drop = (accuracy(model, test) for model in both)
        assert em > drop + gain
