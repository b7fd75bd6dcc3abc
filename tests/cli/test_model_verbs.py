"""Verbs that take a model: one function for all kinds of models of tables, which prints what the model returns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import bayeslearn as bl
from bayeslearn import codec
from bayeslearn.cli.app import TABLES, VERBS
from bayeslearn.cli.model_verbs import place_of
from bayeslearn.cli.verbs import OTHERS
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.naive_bayes import AODEClassifier
from tests.cli.asking import ask, fail, result, tell

#: How the models of the tests are fitted, by the kind in the file.
FITS = {
    "naive Bayes": ("naive-bayes", "--target", "kind"),
    "classification": ("regression", "--method", "logistic", "--target", "kind"),
    "neighbors": ("neighbors", "--target", "kind"),
    "forest": ("forest", "--target", "kind", "--n-estimators", "10", "--seed", "1"),
    "regression": ("regression", "--target", "y"),
    "local regression": ("regression", "--method", "local", "--target", "y"),
    "mixture": ("mixture", "--n-components", "2"),
}
CLASSIFIERS, NUMBERS = ("naive Bayes", "classification", "neighbors", "forest"), ("regression", "local regression")


def rows(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b"], n)
    x = rng.normal(size=n) + 2 * (kind == "a")
    frame = pd.DataFrame({"x": x.round(3), "hue": np.where(rng.random(n) < 0.3 + 0.5 * (kind == "a"), "red", "blue")})
    return frame.assign(y=(3 * x + rng.normal(size=n)).round(3), kind=kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, n in (("rows", 60), ("more", 12)):
            rows(n, n).to_csv(f"{name}.csv", index=False)
        rows(12, 12).drop(columns=["x", "hue"]).to_csv("targets.csv", index=False)
        holes = rows(12, 3)
        holes.loc[::3, "hue"] = None
        holes.loc[1::3, "x"] = None
        holes.to_csv("holes.csv", index=False)
        for kind, words in FITS.items():
            ask("fit", words[0], "rows.csv", *words[1:], "-o", f"{kind}.json")
        frame = rows(60, 60)
        AODEClassifier().fit(frame[["hue"]], frame["kind"]).model_.save("one-dependence.json")
    return place


@pytest.fixture
def at(folder, tmp_path, monkeypatch):
    """The folder of the models, as the current one; results go to a folder of the test."""
    monkeypatch.chdir(folder)
    return tmp_path


### which kinds have which verbs


@pytest.mark.parametrize("verb", ["predict", "explain", "impute", "sample", "score", "update"])
def test_every_kind_of_tables_that_has_the_method_has_the_verb(verb):
    method = {"score": "log_likelihood"}.get(verb, verb)
    having = {kind for kind in TABLES if hasattr(codec.class_of(kind), method)}
    assert {kind for kind in TABLES if place_of(VERBS[verb], kind)} == having


@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items() if OTHERS in verb.place])
@pytest.mark.parametrize("kind", codec.KINDS)
def test_other_kinds_have_a_verb_if_they_have_its_method(verb, kind):
    special = kind in VERBS[verb].place
    able = any(hasattr(codec.class_of(kind), method) for method in VERBS[verb].needs)
    assert bool(place_of(VERBS[verb], kind)) == (special or able)


### what they answer


@pytest.mark.parametrize("kind", [*FITS, "one-dependence"])
def test_show_is_the_report_of_the_model(at, kind):
    model = bl.load(f"{kind}.json")
    assert ask("show", f"{kind}.json") == model.summary() + "\n"
    assert same(result(ask("show", f"{kind}.json", "--json")), model.to_dict())


def same(found, expected):
    """Whether plain values agree, as JSON has them."""
    plain = json.loads(json.dumps(expected, default=lambda x: x.item() if hasattr(x, "item") else x.tolist()))
    return json.dumps(found) == json.dumps(plain).replace("NaN", "null").replace("-Infinity", "null").replace(
        "Infinity", "null"
    )


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_are_evaluated(at, kind):
    model = bl.load(f"{kind}.json")
    expected = bl.evaluate(model, "more.csv")
    assert same(result(ask("evaluate", f"{kind}.json", "more.csv", "--json")), expected.to_dict())
    assert ask("evaluate", f"{kind}.json", "more.csv") == expected.summary() + "\n"
    assert expected.accuracy == model.score("more.csv")
    parts = result(ask("evaluate", f"{kind}.json", "more.csv", "--engine", "files", "--json"))
    assert parts["log_loss"] == pytest.approx(expected.log_loss, rel=1e-12)


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_evaluated(at, kind):
    model, frame = bl.load(f"{kind}.json"), pd.read_csv("more.csv")
    found = result(ask("evaluate", f"{kind}.json", "more.csv", "--level", "0.5", "--json"))
    off = frame["y"] - model.predict(frame)
    low, high = model.predict_interval(frame, 0.5)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(off**2)))
    assert found["mean_absolute_error"] == pytest.approx(np.abs(off).mean())
    assert found["r_squared"] == pytest.approx(model.score(frame))
    assert found["coverage"] == np.mean((low <= frame["y"]) & (frame["y"] <= high))
    assert same(found, bl.evaluate(model, frame, level=0.5).to_dict())


def test_several_targets_are_evaluated(at):
    ask("fit", "regression", "rows.csv", "--target", "y,x", "--drop-columns", "kind", "-o", str(at / "two.json"))
    found = bl.evaluate(bl.load(at / "two.json"), "more.csv")
    assert list(found.to_dict()) == ["y", "x"]
    assert found.to_frame()["target"].tolist() == ["y", "x"]
    assert same(result(ask("evaluate", str(at / "two.json"), "more.csv", "--json")), found.to_dict())
    assert ask("evaluate", str(at / "two.json"), "more.csv").count("RMSE") == 4


def test_weights_and_plots_of_an_evaluation(at):
    rows(12, 12).assign(w=[2.0, 0.0] * 6).to_csv(at / "weighed.csv", index=False)
    words = ["evaluate", "naive Bayes.json", str(at / "weighed.csv"), "--sample-weight", "w"]
    assert result(ask(*words, "--json", "--plot", str(at / "c.pdf")))["total_weight"] == 12
    assert (at / "c.pdf").read_bytes().startswith(b"%PDF")
    frame = pd.read_csv(at / "weighed.csv")
    assert bl.evaluate(bl.load("naive Bayes.json"), frame, sample_weight="w").weight == 12


def test_cross_validation_of_the_learner(at):
    found = result(ask("evaluate", "naive Bayes.json", "rows.csv", "--cv", "5", "--json"))
    assert (found["cv"], found["accuracy"] > 0.5) == (5, True)


@pytest.mark.parametrize("kind", [kind for kind in FITS if kind != "naive Bayes"])
def test_every_learner_is_cross_validated(at, kind):
    found = result(ask("evaluate", f"{kind}.json", "rows.csv", "--cv", "3", "--seed", "2", "--json"))
    assert same(found, bl.evaluate(bl.load(f"{kind}.json"), "rows.csv", cv=3, random_state=2).to_dict())
    assert found["total_weight"] == 60


def test_a_network_is_evaluated_as_a_classifier(at):
    ask("fit", "rows.csv", "--seed", "1", "-o", str(at / "net.json"))
    net = bl.load(at / "net.json")
    found = result(ask("evaluate", str(at / "net.json"), "more.csv", "--target", "kind", "--json"))
    assert found["accuracy"] == np.mean(net.predict("more.csv", "kind") == pd.read_csv("more.csv")["kind"])
    assert fail("evaluate", str(at / "net.json"), "more.csv")[0] == 2
    assert fail("evaluate", str(at / "net.json"), "more.csv", "--target", "sort")[0] == 2
    folds = result(ask("evaluate", str(at / "net.json"), "rows.csv", "--target", "kind", "--cv", "3", "--json"))
    assert folds["total_weight"] == 60


@pytest.mark.parametrize("kind", FITS)
def test_score_is_the_log_likelihood(at, kind):
    found = result(ask("score", f"{kind}.json", "more.csv", "--json", "-o", str(at / "rows.csv")))
    each = bl.load(f"{kind}.json").log_likelihood(pd.read_csv("more.csv"))
    assert found["log_likelihood"] == pytest.approx(each.sum())
    assert found["mean_log_likelihood"] == pytest.approx(each.mean())
    assert pd.read_csv(at / "rows.csv")["log_likelihood"].to_numpy() == pytest.approx(each)


@pytest.mark.parametrize("kind", [kind for kind in FITS if kind != "local regression"])
def test_explanations_are_those_of_the_model(at, kind):
    found = result(ask("explain", f"{kind}.json", "more.csv", "--json"))
    assert (found["n_rows"], len(found["explanations"])) == (12, 12)
    ask("explain", f"{kind}.json", "more.csv", "-o", str(at / "why.parquet"))
    frame = pd.read_parquet(at / "why.parquet")
    assert frame.iloc[:, 0].unique().tolist() == list(range(12))
    text = ask("explain", f"{kind}.json", "more.csv")
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("Row ") and ":" in line] == [
        f"Row {i}" for i in range(12)
    ]


@pytest.mark.parametrize("kind", ["naive Bayes", "mixture"])
def test_missing_values_are_filled_and_nothing_else(at, kind):
    before = pd.read_csv("holes.csv")
    found = result(ask("impute", f"{kind}.json", "holes.csv", "-o", str(at / "full.csv"), "--json"))
    full = pd.read_csv(at / "full.csv")
    assert found["filled"] == {"x": 4, "hue": 4}
    assert not full.isna().any(axis=None)
    pd.testing.assert_frame_equal(full.where(before.notna()), before, check_dtype=False)
    expected = bl.load(f"{kind}.json").impute(before)
    assert full["x"].to_numpy() == pytest.approx(expected["x"].to_numpy())
    drawn = [ask("impute", f"{kind}.json", "holes.csv", "--method", "sample", "--seed", s) for s in ("1", "1", "2")]
    assert (drawn[0] == drawn[1], drawn[0] == drawn[2]) == (True, False)
    before.fillna({"hue": "gone"}).to_csv(at / "gone.csv", index=False)
    words = ["impute", f"{kind}.json", str(at / "gone.csv"), "--na-values", "gone", "-o", str(at / "b.csv"), "--json"]
    assert result(ask(*words))["filled"] == {"x": 4, "hue": 4}
    assert fail("impute", f"{kind}.json", "holes.csv", "--json")[0] == 2


@pytest.mark.parametrize("kind", ["naive Bayes", "mixture"])
def test_rows_are_drawn(at, kind):
    words = ["sample", f"{kind}.json", "-n", "5", "--seed", "3", "--json"]
    table = bl.load(f"{kind}.json").sample(5, random_state=3)
    assert same(result(ask(*words))["columns"], table.to_dict())
    assert "leave out the data" in fail(*words[:2], "more.csv", *words[2:])[1]


@pytest.mark.parametrize("kind", NUMBERS)
def test_targets_of_rows_are_drawn(at, kind):
    found = result(ask("sample", f"{kind}.json", "more.csv", "-n", "3", "--seed", "3", "--json"))
    expected = bl.load(f"{kind}.json").sample(pd.read_csv("more.csv"), 3, random_state=3)
    assert found["columns"]["row"] == [*range(12)] * 3
    assert found["columns"]["y"] == pytest.approx(expected.ravel())
    assert "bayeslearn sample MODEL DATA" in fail("sample", f"{kind}.json", "-n", "3")[1]


@pytest.mark.parametrize("kind", [kind for kind in FITS if kind != "classification"])
def test_rows_are_added_removed_and_forgotten(at, kind):
    new, back, faded = (str(at / f"{name}.json") for name in ("new", "back", "faded"))
    found = result(ask("update", f"{kind}.json", "more.csv", "-o", new, "--json"))
    assert (found["n_rows"], found["total_weight"]) == (12, pytest.approx(72))
    assert found["total_weight_before"] == pytest.approx(60)
    assert result(ask("update", new, "more.csv", "-o", back, "--remove", "--json"))["total_weight"] == pytest.approx(60)
    words = ["update", f"{kind}.json", "more.csv", "-o", faded, "--forgetting-factor", "0.5"]
    assert result(ask(*words, "--json"))["total_weight"] == pytest.approx(42)
    assert fail(*words, "--remove")[0] == 2
    code, sentence = fail("update", f"{kind}.json", "targets.csv", "-o", new)
    assert (code, "column" in sentence) == (1, True)


def test_models_are_merged_and_rows_of_the_base_count_once(at):
    rows(12, 5).to_csv(at / "other.csv", index=False)
    for kind in FITS:
        one, other, both = (str(at / f"{name}.json") for name in ("one", "other", "both"))
        ask("update", f"{kind}.json", "more.csv", "-o", one)
        ask("update", f"{kind}.json", str(at / "other.csv"), "-o", other)
        found = result(ask("merge", one, other, "-o", both, "--json"))
        assert found["total_weight"] == pytest.approx(84)
        assert [part["total_weight"] for part in found["models"]] == pytest.approx([72, 72])
    code, sentence = fail("merge", "naive Bayes.json", "mixture.json", "-o", both)
    assert (code, "of the kind 'mixture'" in sentence) == (1, True)
    assert fail("merge", "mixture.json", "-o", both)[0] == 2


@pytest.mark.parametrize("kind", [*FITS, "one-dependence"])
def test_models_are_converted(at, kind):
    assert result(ask("convert", f"{kind}.json", str(at / "m.model"), "--json"))["format"] == "packed"
    assert result(ask("convert", str(at / "m.model"), str(at / "m.json"), "--json"))["format"] == "json"
    assert bl.load(at / "m.json").to_document().keys() == bl.load(f"{kind}.json").to_document().keys()


def test_a_classifier_of_one_dependence(at):
    found = result(ask("predict", "one-dependence.json", "more.csv", "--json"))["columns"]
    assert list(found) == ["class", "P(class=a)", "P(class=b)"]
    p = bl.load("one-dependence.json").predict_proba(
        bl.as_table("more.csv", schema=bl.load("one-dependence.json").schema)
    )
    assert found["P(class=a)"] == pytest.approx(p[:, 0])


def test_a_hidden_markov_model_has_the_verbs_too(at):
    truth = np.repeat(["calm", "wild", "calm"], 30)
    x = np.random.default_rng(0).normal(np.where(truth == "calm", 0, 9), 1).round(3)
    steps = pd.DataFrame({"run": np.repeat(["a", "b", "c"], 30), "x": x, "truth": truth})
    steps.to_csv(at / "steps.csv", index=False)
    steps.assign(x=steps["x"].where(steps.index % 10 > 0)).to_csv(at / "holes.csv", index=False)
    steps[steps["run"] == "a"].drop(columns=["run", "truth"]).to_csv(at / "one.csv", index=False)
    model, data, new, old = (str(at / name) for name in ("hmm.json", "steps.csv", "new.json", "old.json"))
    ask("fit", "hmm", data, "--n-states", "2", "--id", "run", "--columns", "x", "-o", model)
    found = bl.load(model)
    assert ask("show", model) == found.summary() + "\n"
    assert result(ask("update", model, data, "--id", "run", "-o", new, "--json"))["total_weight"] == pytest.approx(6)
    assert result(ask("update", new, data, "--id", "run", "-o", old, "--remove", "--json"))[
        "total_weight"
    ] == pytest.approx(3)
    assert result(ask("merge", new, model, "-o", old, "--json"))["total_weight"] == pytest.approx(6)
    words = ["impute", model, str(at / "holes.csv"), "--id", "run", "-o", str(at / "full.csv"), "--json"]
    assert result(ask(*words))["filled"] == {"x": 9}
    drawn = result(ask("sample", model, "-n", "4", "--seed", "1", "--json"))["columns"]["x"]
    assert drawn == found.sample(4, random_state=1).to_dict()["x"]
    assert (
        ask("explain", model, str(at / "one.csv"), "--position", "3")
        == found.explain(steps[["x"]][:30], 3).summary() + "\n"
    )
    ask("plot", model, "-o", str(at / "p.svg"))
    code, sentence = fail("evaluate", model, data, "--id", "run")
    assert (code, "--true-states COLUMN" in sentence) == (2, True)


def test_states_are_evaluated(at):
    truth = np.repeat(["0", "1", "0"], 30)
    steps = pd.DataFrame({"x": np.random.default_rng(0).normal(np.where(truth == "0", 0, 9), 1), "truth": truth})
    steps.to_csv(at / "steps.csv", index=False)
    model, data = str(at / "hmm.json"), str(at / "steps.csv")
    ask("fit", "hmm", data, "--n-states", "0,1", "--known-states", "truth", "-o", model)
    found = result(ask("evaluate", model, data, "--true-states", "truth", "--json"))
    assert same(found, bl.load(model).evaluate(data, true_states="truth").to_dict())
    assert fail("evaluate", "naive Bayes.json", "more.csv", "--true-states", "kind")[0] == 2


def test_documents_are_added_and_removed(at):
    mails = pd.DataFrame({"text": ["cheap offer", "meeting today"] * 6, "folder": ["spam", "work"] * 6})
    mails.to_csv(at / "mails.csv", index=False)
    model, new, data = str(at / "mails.model"), str(at / "new.model"), str(at / "mails.csv")
    ask("fit", "text", data, "--target", "folder", "-o", model)
    words = [data, "--target", "folder", "--text", "text", "-o", new, "--json"]
    assert result(ask("update", model, *words))["total_weight"] == 24
    assert result(ask("update", new, *words, "--remove"))["total_weight"] == 12
    merged = ask("merge", model, new, "-o", str(at / "both.model"), "--json")
    assert json.loads(merged)["model"] == [model, new]
    assert ask("show", model) == bl.load(model).summary() + "\n"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FITS)
def test_plots(at, kind):
    data = [] if kind in {"naive Bayes", "neighbors", "forest"} else ["rows.csv"]
    for ending, start in ((".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        assert result(ask("plot", f"{kind}.json", *data, "-o", str(at / f"p{ending}"), "--json"))["output"]
        assert (at / f"p{ending}").read_bytes().startswith(start)
    assert "an .svg, .png or .pdf file" in fail("plot", f"{kind}.json", "-o", str(at / "p.txt"))[1]
    if data and kind not in {"regression", "classification"}:  # without data these plot coefficients
        assert fail("plot", f"{kind}.json", "-o", str(at / "p.svg"))[0] == 2


def test_a_network_is_plotted_with_evidence(at):
    assert "8 variables" in tell("plot", "asia", "smoke=yes", "-o", str(at / "asia.svg"))[2]
    assert (at / "asia.svg").read_text() == bl.read_network("asia").to_svg({"smoke": "yes"})


### what is refused


def test_options_of_former_versions_name_the_verb(at):
    sentence = " ".join(fail("predict", "mixture.json", "rows.csv", "--explain")[1].replace("│", " ").split())
    assert "No such option: --explain. The call is: bayeslearn explain MODEL DATA" in sentence


def test_evaluation_needs_the_target(at):
    rows(5, 1).drop(columns="kind").to_csv(at / "some.csv", index=False)
    with pytest.raises(DataError, match="no column 'kind', so that predictions cannot be evaluated"):
        ask("evaluate", "naive Bayes.json", str(at / "some.csv"))
    with pytest.raises(DataError, match="no column 'y', whose likelihood is computed"):
        ask("score", "regression.json", "targets.csv", "--drop-columns", "y")
    with pytest.raises(ParameterError, match="predicts no column"):
        bl.evaluate(bl.load("mixture.json"), "more.csv")
    with pytest.raises(ParameterError, match="`target` is 'x', and this model predicts 'kind'"):
        bl.evaluate(bl.load("naive Bayes.json"), "more.csv", target="x")
