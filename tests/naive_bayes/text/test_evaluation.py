"""Accuracy, confusion and learning curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss, precision_score, recall_score

from bayeslearn import plots
from bayeslearn.errors import ConstantColumnError, DataError, MissingValuesError, ParameterError
from bayeslearn.evaluation import stratified_split
from bayeslearn.naive_bayes.text import Corpus, Tokenizer, evaluate_text, fit_text, learning_curve


def drawn(n=60, classes=3, seed=0):
    """Documents whose words say most of the time which class they are of."""
    rng = np.random.default_rng(seed)
    labels = [f"c{i % classes}" for i in range(n)]
    own = rng.random((n, 4)) < 0.6
    texts = [
        " ".join(f"{label}w{rng.integers(3)}" if mine else f"any{rng.integers(20)}" for mine in row)
        for label, row in zip(labels, own, strict=True)
    ]
    return Corpus(texts, labels)


### one evaluation


def test_figures_are_those_of_scikit_learn():
    corpus = drawn()
    model = fit_text(corpus.texts[:30], corpus.labels[:30], prior=1.0)
    test = corpus.take(np.arange(30, 60))
    found, said = evaluate_text(model, test), model.predict(test.texts)
    np.testing.assert_array_equal(found.confusion, confusion_matrix(test.labels, said))
    np.testing.assert_allclose(found.recall, recall_score(test.labels, said, average=None))
    np.testing.assert_allclose(found.precision, precision_score(test.labels, said, average=None))
    np.testing.assert_allclose(found.log_loss, log_loss(test.labels, model.predict_proba(test.texts)), rtol=1e-9)
    assert found.accuracy == np.mean([a == b for a, b in zip(said, test.labels, strict=True)])
    wrong = sum(n for _, _, n in found.most_confused(99))
    assert wrong == found.weight - found.n_correct
    assert (found + found).weight == 60


def test_a_probability_too_small_for_a_float_has_a_loss():
    model = fit_text(["aa " * 2000, "bb"], ["x", "y"], prior=1.0)
    assert np.isfinite(evaluate_text(model, ["aa " * 2000], ["y"]).log_loss)


def test_documents_without_labels_are_left_out_and_strange_classes_refused():
    model = fit_text(["aa", "bb"], ["x", "y"], prior=1.0)
    assert evaluate_text(model, ["aa", "bb"], ["x", None]).weight == 1
    with pytest.raises(DataError, match="the model does not know the classes 'z'; it has 'x', 'y'"):
        evaluate_text(model, ["aa"], ["z"])
    with pytest.raises(MissingValuesError, match="none of the 1 documents has a label"):
        evaluate_text(model, ["aa"], [None])


### curves


@pytest.mark.parametrize("prior", [1.0, "evidence"])
def test_a_curve_is_learned_anew_at_every_size(prior):
    corpus = drawn(63)
    curve = learning_curve(
        corpus, sizes=[10, 20, 500], n_splits=2, prior=prior, min_count=2, drop_top_words=1, random_state=3
    )
    assert [point.size for point in curve.points] == [10, 20, 42]
    assert (curve.n_test, curve.evaluation.weight) == (21, 42)

    codes, rng = corpus.codes(corpus.classes), np.random.default_rng(3)
    for j in range(2):
        train, test = stratified_split(codes, 1 / 3, rng)
        for point in curve.points:
            part = corpus.take(train[: point.size])
            learned = fit_text(part, prior=prior, min_count=2, drop_top_words=1, classes=corpus.classes)
            expected = evaluate_text(learned, corpus.take(test))
            np.testing.assert_array_equal(point.evaluations[j].confusion, expected.confusion)
            np.testing.assert_allclose(point.evaluations[j].loss, expected.loss, rtol=1e-6)
            assert point.words[j] == len(learned.vocabulary)


def test_a_curve_tells_how_far_it_is_and_is_the_same_for_the_same_seed():
    told = []
    a, b = (learning_curve(drawn(), sizes=[10], n_splits=2, random_state=1, progress=told.append) for _ in range(2))
    assert told == [0.25, 0.5, 0.75, 1.0] * 2
    np.testing.assert_array_equal(a.points[0].accuracies, b.points[0].accuracies)


@pytest.mark.parametrize("likelihood", ["bernoulli", "complement"])
def test_other_likelihoods(likelihood):
    assert learning_curve(drawn(), likelihood=likelihood).accuracy > 0.5


@pytest.mark.parametrize(
    ("labels", "settings", "error", "message"),
    [
        (["x"] * 4, {}, ConstantColumnError, "all documents are of one class, 'x'"),
        (["x", "x", "x", "y"], {}, MissingValuesError, "a class has only one row"),
        (["x", "x", "y", "y"], {"test_size": 1}, ParameterError, "`test_size` must be below 1"),
        (["x", "x", "y", "y"], {"n_splits": 0}, ParameterError, "`n_splits` must be at least 1"),
        (["x", "x", "y", "y"], {"sizes": [0]}, ParameterError, "`sizes` must be at least 1"),
        (["x", "x", "y", "y"], {"prior": "no"}, ParameterError, "unexpected value for `prior`"),
    ],
)
def test_bad_input(labels, settings, error, message):
    with pytest.raises(error, match=message):
        learning_curve(["aa", "bb", "cc", "dd"], labels, **settings)


### pictures


def test_pictures(tmp_path):
    curve = learning_curve(drawn(), sizes=[10, 20], tokenizer=Tokenizer(analyzer="spaces"))
    for figure in (plots.plot_learning_curve(curve), plots.plot_confusion_matrix(curve.evaluation)):
        plots.save(figure, tmp_path / "figure.svg")
        assert (tmp_path / "figure.svg").read_text().startswith("<?xml")
