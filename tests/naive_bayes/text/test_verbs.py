"""The verbs of text models: documents added, removed and merged, explanations, reports, files of updated models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayeslearn import fit_text, load
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.naive_bayes.text import Tokenizer

TEXTS = ["a cheap watch", "a meeting at noon", "cheap watch", "noon at the office"]
LABELS = ["spam", "ham"] * 2
FRAME = pd.DataFrame({"text": TEXTS, "folder": LABELS, "n": [1.0, 2, 1, 1]})


@pytest.fixture(scope="module")
def base():
    return fit_text(TEXTS, LABELS)


### evidence adds


@pytest.mark.parametrize("options", [{}, {"n_hash_features": 32}, {"likelihood": "bernoulli"}, {"prior": "words"}])
def test_a_common_base_counts_once(options, tmp_path):
    base = fit_text(TEXTS, LABELS, **options)
    a, b = base.update(["cheap pills"], ["spam"]), base.update(["lunch at noon"], ["ham"])
    both = a + b
    assert both.total_weight == 6
    assert a.merge(b).statistics == both.statistics
    np.testing.assert_allclose((both - b).statistics.documents, a.statistics.documents)
    assert both.remove(["lunch at noon"], ["ham"]).total_weight == 5
    one_by_one = base.update(["cheap pills"], ["spam"]).update(["lunch at noon"], ["ham"])
    assert both.statistics.isclose(one_by_one.statistics)
    if options.get("prior") != "words":
        np.testing.assert_allclose(both.predict_proba(TEXTS), one_by_one.predict_proba(TEXTS), rtol=1e-9)
    assert both.discount(0.5).total_weight == 3
    assert (base + base).total_weight == 8
    for i, model in enumerate((a, b)):
        model.save(tmp_path / f"{i}.json")
    loaded = load(tmp_path / "0.json") + load(tmp_path / "1.json")
    assert loaded.statistics.isclose(both.statistics)


def test_removed_documents_leave_no_trace_in_answers(base):
    again = base.update(["cheap pills", "lunch"], ["spam", "ham"]).remove(["cheap pills", "lunch"], ["spam", "ham"])
    np.testing.assert_allclose(again.statistics.words.sum(axis=1), base.statistics.words.sum(axis=1))
    assert again.predict(TEXTS) == base.predict(TEXTS)
    faded = base.update(["lunch"], ["ham"], forgetting_factor=0)
    assert faded.statistics.documents.sum() == 1


def test_only_like_models_merge(base):
    with pytest.raises(MismatchError, match="differ in their tokens"):
        _ = base + fit_text(TEXTS, LABELS, tokenizer=Tokenizer(analyzer="letters"))


### data


def test_frames_and_columns(base):
    for model in (fit_text(FRAME[["text", "folder"]], "folder"), fit_text(FRAME, target="folder", text="text")):
        assert model.statistics == base.statistics
    weighted = fit_text(FRAME, "folder", text="text", sample_weight="n")
    assert weighted.total_weight == 5
    assert base.score(FRAME, "folder") == 1
    assert base.evaluate(FRAME, "folder").confusion.tolist() == [[2, 0], [0, 2]]
    assert fit_text({"text": TEXTS, "label": LABELS}).statistics == base.statistics
    with pytest.raises(ParameterError, match="3 columns that may hold the texts"):
        fit_text(FRAME.rename(columns={"text": "body"}))


def test_unlabeled_documents():
    labels = [*LABELS[:3], None]
    em, drop = fit_text(TEXTS, labels), fit_text(TEXTS, labels, unlabeled="drop")
    assert em.fit_info.n_unlabeled == 1
    assert em.fit_info.n_iter > 0
    assert (drop.fit_info.n_unlabeled, drop.fit_info.n_rows, drop.fit_info.n_iter) == (0, 4, 0)
    with pytest.raises(ParameterError, match="no iterations to plot"):
        drop.fit_info.plot()
    assert em.fit_info.plot().axes


### answers and results


def test_likelihoods_and_explanations(base):
    joint = base.log_joint(TEXTS)
    np.testing.assert_allclose(base.log_likelihood(TEXTS), np.logaddexp(*joint.T))
    with pytest.raises(ParameterError, match="score"):
        fit_text(TEXTS, LABELS, likelihood="complement").log_likelihood(TEXTS)
    why = base.explain("cheap watch at noon", of="ham", against="spam")
    assert why.base + sum(word.log_odds for word in why.words) == pytest.approx(why.log_odds)
    assert base.explain(["cheap watch"]).label == "spam"
    assert list(why.to_frame().columns) == ["word", "count", "log_odds"]
    with pytest.raises(ShapeError, match="expected one text"):
        base.explain(TEXTS)


def test_results_show_their_numbers(base):
    words = base.explain_class("spam")
    for result in (base, base.fit_info, base.explain("cheap watch"), words, base.evaluate(TEXTS, LABELS)):
        assert "<td" in result._repr_html_()
        assert result.to_dict()
        assert len(repr(result)) < 120
    assert set(base.to_frame()["class"]) == {"ham", "spam"}
    assert base.to_dict()["classes"][1]["top_words"] == ["cheap", "watch"]
    assert base.fit_info.to_dict()["prior_selection"]["kind"] == "evidence"
    for drawn in (base.plot(), base.plot("ham"), base.explain("cheap watch").plot(), words.plot()):
        assert drawn.axes
