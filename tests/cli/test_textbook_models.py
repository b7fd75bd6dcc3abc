"""Verbs of models of the textbook topics, and of documents: predict, update, explain, score."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import bayeslearn as bl
from bayeslearn.errors import FormatError, ParameterError
from bayeslearn.hypotheses import Examples
from bayeslearn.learning_theory import KCNF
from bayeslearn.online import WeightedMajority
from tests.cli.asking import ask, result

DAYS = "enjoy-sport"


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_version_space_predicts_explains_and_changes(at):
    ask("concept", DAYS, "--target", "enjoy_sport", "-o", "s.json")
    space = bl.load("s.json")
    assert space.size == 6
    new = bl.datasets.load_table("enjoy-sport-new")
    found = result(ask("predict", "s.json", "enjoy-sport-new", "--json"))
    assert found["columns"]["P(yes)"] == [vote.share for vote in space.votes(list(new.rows()))]
    assert found["columns"]["prediction"][:3] == ["yes", "no", None]
    ask("predict", "s.json", "enjoy-sport-new", "-o", "p.csv")
    assert pd.read_csv("p.csv")["unanimous"].tolist() == found["columns"]["unanimous"]

    first = result(ask("explain", "s.json", "enjoy-sport-new", "--json"))["explanations"]
    assert first == json.loads(json.dumps([space.explain(row).to_dict() for row in new.rows()]))
    assert "Row 0: Vote: yes, unanimously" in ask("explain", "s.json", "enjoy-sport-new")

    ask("update", "s.json", DAYS, "--target", "enjoy_sport", "-o", "twice.json")
    assert (bl.load("twice.json").n_positive, bl.load("twice.json").size) == (6, 6)
    ask("update", "twice.json", DAYS, "--target", "enjoy_sport", "--remove", "-o", "again.json")
    assert bl.load("again.json").to_dict() == space.to_dict()
    with pytest.raises(ParameterError, match="the column of the labels is not given"):
        ask("update", "s.json", DAYS, "-o", "t.json")


def test_a_row_violates_constraints_of_the_boundaries():
    space = bl.VersionSpace.fit(bl.datasets.load_table(DAYS), "enjoy_sport")
    first = next(iter(bl.datasets.load_table("enjoy-sport-new").rows()))
    found = space.explain({**first, "sky": "rainy", "humidity": None})
    assert [odd for _, _, odd in found.boundaries] == [("sky",), (), ("sky",)]
    assert found.to_frame()["covers"].tolist() == [False, True, False]
    assert space.size == found.vote.total


def test_a_k_cnf_predicts_explains_and_changes(at):
    rows = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "u"], "c": ["yes", "yes", "no"]})
    rows.to_csv("rows.csv", index=False)
    model = KCNF.fit(Examples.from_data(rows, "c"), k=2)
    model.save("k.json")
    assert result(ask("predict", "k.json", "rows.csv", "--json"))["columns"]["prediction"] == ["yes", "yes", "no"]
    assert ask("explain", "k.json", "rows.csv").endswith("Row 2: negative: no positive example has a=y\n")
    ask("update", "k.json", "rows.csv", "--target", "c", "-o", "k2.json")
    assert bl.load("k2.json").n_positive == 4
    ask("update", "k2.json", "rows.csv", "--target", "c", "--remove", "-o", "k3.json")
    assert bl.load("k3.json").to_dict() == model.to_dict()


def test_a_posterior_of_hypotheses_takes_outcomes(at):
    ask("bayes", "cancer-test", "-e", "positive", "-o", "once.json")
    pd.DataFrame({"test": ["positive"]}).to_csv("test.csv", index=False)
    ask("update", "once.json", "test.csv", "--target", "test", "-o", "twice.json")
    twice = result(ask("bayes", "cancer-test", "-e", "positive", "-e", "positive", "--json"))["hypotheses"][0]
    assert bl.load("twice.json")["cancer"] == pytest.approx(twice["posterior"], rel=1e-12)
    ask("update", "twice.json", "test.csv", "--target", "test", "--remove", "-o", "back.json")
    assert bl.load("back.json")["cancer"] == pytest.approx(bl.load("once.json")["cancer"], rel=1e-12)
    with pytest.raises(FormatError, match="the kind 'hypotheses', for which there is no `bayeslearn predict`"):
        ask("predict", "once.json", "test.csv")


def test_an_online_learner_votes_by_columns_of_experts(at):
    rows = pd.DataFrame({"ann": ["yes", "no", "yes"], "bob": ["no", "no", "no"], "truth": ["yes", "no", "yes"]})
    rows.to_csv("rows.csv", index=False)
    learner = WeightedMajority(["ann", "bob"])
    learner.partial_fit(rows[["ann", "bob"]].to_dict("records")[:1], ["yes"])
    learner.save("l.json")
    found = result(ask("predict", "l.json", "rows.csv", "--json"))["columns"]
    assert found["prediction"] == ["yes", "no", "yes"]
    assert found["P(yes)"] == pytest.approx([2 / 3, 0, 2 / 3])
    votes = result(ask("explain", "l.json", "rows.csv", "--json"))["explanations"][0]["votes"]
    assert [vote["advice"] for vote in votes] == ["yes", "no"]
    assert "ann" in learner.explain(["yes", "no"]).summary()
    assert learner.explain(["yes", "no"]).to_frame()["weight"].tolist() == pytest.approx([2 / 3, 1 / 3])
    ask("update", "l.json", "rows.csv", "--target", "truth", "-o", "more.json")
    assert bl.load("more.json").rounds == 4
    with pytest.raises(ParameterError, match="no rows can be removed from a model of the kind 'online learner'"):
        ask("update", "l.json", "rows.csv", "--target", "truth", "--remove", "-o", "more.json")


def test_documents_are_explained_scored_and_cross_validated(at):
    texts, labels = ["cheap pills", "meeting at noon", "cheap watches", "lunch today"] * 3, ["spam", "ham"] * 6
    pd.DataFrame({"text": texts, "label": labels}).to_csv("mails.csv", index=False)
    ask("fit", "text", "mails.csv", "-o", "m.json")
    model = bl.load("m.json")
    one = result(ask("explain", "m.json", "cheap meeting", "--json"))["documents"][0]
    assert one["log_odds"] == pytest.approx(model.explain("cheap meeting").log_odds, rel=1e-12)
    assert ask("explain", "m.json", "mails.csv").count("explained") == 12
    found = result(ask("score", "m.json", "mails.csv", "--json", "-o", "each.csv"))
    assert found["log_likelihood"] == pytest.approx(model.log_likelihood(texts).sum(), rel=1e-12)
    assert len(pd.read_csv("each.csv")) == 12
    folds = result(ask("evaluate", "m.json", "mails.csv", "--cv", "3", "--json"))
    assert folds["n_evaluated"] == 12
    with pytest.raises(ParameterError, match="--cv is for a model"):
        ask("evaluate", "text", "mails.csv", "--cv", "3")
