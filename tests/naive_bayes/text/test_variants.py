"""Weightings, pooled likelihoods and their calibration on held-out documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import ComplementNB

from bayeslearn import fit_text, load
from bayeslearn.errors import MismatchError, ParameterError
from bayeslearn.naive_bayes.text import (
    DocumentCounts,
    TextClassifier,
    TextModel,
    Tokenizer,
    collect,
    learning_curve,
    scan_texts,
)
from bayeslearn.naive_bayes.text.document_counts import unit_length
from bayeslearn.naive_bayes.text.held_out import Sample, held_out_folds, shares_of
from bayeslearn.naive_bayes.text.prior_selection import choose_prior, symmetric_prior
from bayeslearn.naive_bayes.text.text_calibration import pool
from tests.properties import trials


def made_up(n, seed=0, classes="abc"):
    """Documents of different lengths, whose classes prefer some words, and come back to a word once written."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        k = i % len(classes)
        own = [f"{classes[k]}{w}" for w in rng.integers(0, 30, rng.integers(1, 8))]
        other = [f"w{w}" for w in rng.zipf(1.6, rng.integers(5, 40)) % 200]
        slips = [f"{classes[rng.integers(len(classes))]}{w}" for w in rng.integers(0, 30, 3)]
        texts.append(" ".join(np.repeat([*own, *other, *slips], rng.integers(1, 4))))
        labels.append(classes[k])
    return texts, labels


TEXTS, LABELS = made_up(150)
NEW, TRUTH = made_up(90, seed=1)


@pytest.fixture(scope="module")
def model():
    return fit_text(TEXTS, LABELS)


### laws


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=8),
    st.integers(1, 7),
)
def test_normalized_counts_add(rows, cut):
    counts = DocumentCounts.of(np.array(rows))
    labels = [f"{i % 2}" for i in range(len(rows))]
    whole = collect(counts, labels, classes=["0", "1"], normalized=True)
    parts = [
        collect(counts[part], labels[part], classes=["0", "1"], normalized=True)
        for part in (slice(0, cut), slice(cut, None)) if len(labels[part])
    ]  # fmt: skip
    assert sum(parts).isclose(whole)
    assert (whole - parts[0]).isclose(sum(parts[1:], start=whole * 0))
    lengths = np.sqrt(np.add.reduceat(np.append(counts.normalized**2, 0), counts.indptr[:-1]))
    np.testing.assert_allclose(lengths[np.diff(counts.indptr) > 0], 1, rtol=1e-12)


def test_merged_models_are_the_model_of_all(model):
    a = model.update(NEW[:30], TRUTH[:30])
    b = model.update(NEW[30:], TRUTH[30:])
    both, together = a + b, model.update(NEW, TRUTH)
    assert both.statistics.isclose(together.statistics)
    np.testing.assert_allclose(both.predict_proba(NEW), together.predict_proba(NEW), rtol=1e-9)
    back = together.remove(NEW, TRUTH)
    assert back.statistics.only(np.arange(len(model.vocabulary))).isclose(model.statistics)
    assert together.discount(0.5).calibration is model.calibration
    parts = fit_text(TEXTS[:60], LABELS[:60]) + model
    assert parts.calibration is model.calibration
    tiny = fit_text(TEXTS[:6], LABELS[:6])
    assert tiny.calibration is None
    assert (tiny + model).calibration is (model + tiny).calibration is model.calibration
    with pytest.raises(MismatchError, match="differ in their tokens or likelihood"):
        _ = model + fit_text(TEXTS, LABELS, likelihood="complement")


def test_held_out_scores_are_those_of_a_model_without_the_fold(model):
    known = model.statistics
    counts = model.count(TEXTS)
    sample = Sample.of(counts, model.vocabulary, shares_of(LABELS, model.classes), None, len(TEXTS)).ordered()
    seen = []
    for fold in held_out_folds(known, sample):
        own = collect(sample.counts[fold.rows], sample.shares[fold.rows], vocabulary=model.vocabulary,
                      classes=model.classes, normalized=True)  # fmt: skip
        without = TextModel(known - own, model.tokenizer, "complement", 0.3, weighting="normalized")
        others = np.flatnonzero((known - own).words.sum(axis=0) > 0)
        asked = sample.counts[fold.rows].only(others)
        weights = without.log_p_words.T[others]
        expected = np.zeros((len(fold.rows), 3))
        rows = np.repeat(np.arange(len(asked)), np.diff(asked.indptr))
        np.add.at(expected, rows, asked.normalized[:, None] * weights[asked.indices])
        np.testing.assert_allclose(fold.scores("complement", "normalized", 0.3), expected, rtol=1e-9)
        seen.extend(fold.rows)
    assert sorted(seen) == list(range(len(TEXTS)))


def test_order_copies_and_weights_do_not_matter(model):
    shuffled = np.random.default_rng(3).permutation(len(TEXTS))
    again = fit_text([TEXTS[i] for i in shuffled], [LABELS[i] for i in shuffled])
    np.testing.assert_allclose(again.predict_proba(NEW), model.predict_proba(NEW), rtol=1e-5)
    weighted = fit_text(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 2.0))
    twice = fit_text(TEXTS * 2, LABELS * 2)
    np.testing.assert_allclose(weighted.predict_proba(NEW), twice.predict_proba(NEW), rtol=1e-5)
    np.testing.assert_array_equal(fit_text(TEXTS, LABELS).log_p_words, model.log_p_words)


### peers


@pytest.mark.parametrize("weight_norm", [False, True])
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=3, max_size=8).filter(np.any),
    st.sampled_from([0.1, 1.0]),
)
@trials(25)
def test_complement_naive_bayes_of_scikit_learn(weight_norm, rows, alpha):
    counts, labels = DocumentCounts.of(np.array(rows)), np.arange(len(rows)) % 3
    uniform = (1 / 3,) * 3
    for weighting, table in (("counts", counts.matrix), ("normalized", counts.matrix.astype(float))):
        if weighting == "normalized":
            table.data = counts.normalized.copy()
        statistics = collect(counts, labels, normalized=True)
        ours = TextModel(
            statistics, Tokenizer(), "complement", alpha, uniform, weighting=weighting, weight_norm=weight_norm
        )
        peer = ComplementNB(alpha=alpha, norm=weight_norm).fit(table, labels)
        np.testing.assert_allclose(ours.log_p_words, peer.feature_log_prob_, rtol=1e-10)
        np.testing.assert_allclose(ours.predict_proba(counts), peer.predict_proba(table), rtol=1e-9)


def test_tf_idf_multiplies_by_the_inverse_frequency():
    plain, weighed = (
        fit_text(TEXTS, LABELS, likelihood="multinomial", weighting=w, prior=0.5) for w in ("normalized", "tf_idf")
    )
    n = plain.statistics.normalized.sum(axis=0)
    np.testing.assert_allclose(weighed.log_p_words, plain.log_p_words * np.log(n.sum() / n), rtol=1e-12)


def test_one_alpha_by_evidence():
    words = np.random.default_rng(0).poisson(0.7, (3, 200))
    np.testing.assert_allclose(symmetric_prior(words), choose_prior(words, "symmetric").alpha[0], rtol=0.02)
    assert symmetric_prior(np.zeros((2, 3))) == 1


### the choice


def test_function_estimator_source_and_curve_agree(model, tmp_path):
    asked = model.predict_proba(NEW)
    assert model.likelihood == "pooled"
    np.testing.assert_allclose(TextClassifier().fit(TEXTS, LABELS).predict_proba(NEW), asked, rtol=1e-9)
    batches = [(TEXTS[i : i + 40], LABELS[i : i + 40]) for i in range(0, len(TEXTS), 40)]
    np.testing.assert_allclose(fit_text(scan_texts(batches)).predict_proba(NEW), asked, rtol=1e-5)
    np.testing.assert_allclose(TextClassifier().fit(scan_texts(batches)).predict_proba(NEW), asked, rtol=1e-5)
    kept = {"min_count": 3, "drop_top_words": 2}
    np.testing.assert_allclose(
        TextClassifier(**kept).fit(TEXTS, LABELS).predict_proba(NEW),
        fit_text(TEXTS, LABELS, **kept).predict_proba(NEW), rtol=1e-5,
    )  # fmt: skip
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict_proba(NEW), asked)
    curve = learning_curve([*TEXTS, *NEW], [*LABELS, *TRUTH], n_splits=1)
    plain = learning_curve([*TEXTS, *NEW], [*LABELS, *TRUTH], n_splits=1, prior=1.0)
    assert curve.evaluation.log_loss < plain.evaluation.log_loss


def test_the_default_beats_a_fixed_prior(model):
    peer = fit_text(TEXTS, LABELS, prior=1.0).evaluate(NEW, TRUTH)
    found = model.evaluate(NEW, TRUTH)
    assert found.accuracy >= peer.accuracy
    assert found.log_loss < peer.log_loss
    variants = model.fit_info.variant_selection.variants
    assert [v.weighting for v in variants] == ["counts", "normalized", "tf_idf"]
    assert model.weighting == min(variants, key=lambda v: v.log_loss).weighting
    assert "Variants on held-out documents" in model.fit_info.summary()
    assert model.fit_info.to_dict()["variant_selection"]["calibration"]["members"][0]["exponent"] > 0
    assert "Calibrated on documents" in model.summary()


def test_explanations_of_pooled_models_add_up(model):
    for text in NEW[:5]:
        why = model.explain(text)
        assert why.base + sum(word.log_odds for word in why.words) == pytest.approx(why.log_odds, rel=1e-12)
        joint = model.log_joint([text])[0]
        k, j = model.classes.index(why.label), model.classes.index(why.against)
        assert why.log_odds == pytest.approx(joint[k] - joint[j], rel=1e-12)
        empty = model.log_joint([""])[0]
        assert why.base == pytest.approx(empty[k] - empty[j], rel=1e-9, abs=1e-9)
    assert model.explain_class("a").top_positive[0].word.startswith("a")


def test_a_likelihood_that_is_given_is_kept():
    for likelihood in ("multinomial", "complement"):
        plain = fit_text(TEXTS, LABELS, likelihood=likelihood)
        assert (plain.likelihood, plain.weighting, plain.calibration) == (likelihood, "counts", None)
        better = fit_text(TEXTS, LABELS, likelihood=likelihood, calibrate=True)
        assert better.likelihood == likelihood
        assert better.evaluate(NEW, TRUTH).log_loss < plain.evaluate(NEW, TRUTH).log_loss
    rennie = fit_text(TEXTS, LABELS, likelihood="complement", weighting="tf_idf", weight_norm=True, calibrate=True)
    assert rennie.evaluate(NEW, TRUTH).accuracy > 0.7
    assert fit_text(TEXTS, LABELS, prior=1.0).likelihood == "multinomial"
    assert fit_text(TEXTS, LABELS, weighting="normalized").weighting == "normalized"
    assert fit_text(TEXTS, LABELS, calibrate=False).calibration is None


def test_batches_keep_the_calibration_of_the_largest():
    learner = TextClassifier().partial_fit(TEXTS[:10], LABELS[:10])
    assert learner.model_.calibration is None
    first = learner.partial_fit(TEXTS[10:100], LABELS[10:100]).model_.calibration
    assert first.n_documents == 90
    assert learner.partial_fit(TEXTS[100:], LABELS[100:]).model_.calibration is first
    assert learner.score(NEW, TRUTH) > 0.7


def test_documents_without_labels(model):
    some = [label if i < 60 else None for i, label in enumerate(LABELS)]
    both, few = fit_text(TEXTS, some), fit_text(TEXTS, some, unlabeled="drop")
    assert both.calibration.n_documents == few.calibration.n_documents == 60
    assert both.evaluate(NEW, TRUTH).accuracy >= few.evaluate(NEW, TRUTH).accuracy - 0.05
    rescaled = fit_text(TEXTS, some, likelihood="multinomial", weighting="normalized")
    assert (rescaled.weighting, rescaled.fit_info.n_iter > 0) == ("normalized", True)
    np.testing.assert_allclose(model.log_likelihood(NEW), fit_text(
        TEXTS, LABELS, likelihood="multinomial").log_likelihood(NEW), rtol=1e-9)  # fmt: skip


def test_offsets_follow_the_shares_of_classes():
    rng = np.random.default_rng(0)
    labels = np.array([[0.8, 0.2], [0.1, 0.9]])[rng.integers(0, 2, 400)]
    found = pool([np.zeros((400, 2))], np.zeros((400, 2)), labels, np.ones(400), ["x", "y"])
    share = labels.mean(axis=0)
    np.testing.assert_allclose(found.offsets[0] - found.offsets[1], np.log(share[0] / share[1]), atol=0.02)
    assert found.metrics.weight == pytest.approx(400)


def test_normalized_handles_empty_documents():
    assert unit_length(np.array([0, 0, 2, 2]), np.array([1, 3])).tolist() == pytest.approx(
        [0.447214, 0.894427], rel=1e-5
    )
    assert unit_length(np.array([0]), np.zeros(0, np.int32)).tolist() == []
    assert fit_text(["", *TEXTS], ["a", *LABELS]).predict_proba([""]).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"weighting": "bm25"}, "unexpected value for `weighting`"),
        ({"calibrate": "often"}, "unexpected value for `calibrate`"),
        ({"likelihood": "bernoulli", "calibrate": True}, "has no weighting and no calibration"),
        ({"likelihood": "bernoulli", "weighting": "tf_idf"}, "has no weighting and no calibration"),
    ],
)
def test_bad_settings(given, match):
    with pytest.raises(ParameterError, match=match):
        fit_text(TEXTS, LABELS, **given)


def test_weightings_need_their_sums():
    with pytest.raises(ParameterError, match="needs the counts of normalized documents"):
        TextModel(collect(DocumentCounts.of([[1]]), ["x"]), weighting="tf_idf")
    with pytest.raises(MismatchError, match="words of documents of length 1"):
        _ = collect(DocumentCounts.of([[1]]), ["x"]) + collect(DocumentCounts.of([[1]]), ["x"], normalized=True)
