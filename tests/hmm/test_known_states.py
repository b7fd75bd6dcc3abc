"""Sequences with known states are counted; words that training data lack; emissions of mixed columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from bayeslearn import HMMEstimator, load, scan
from bayeslearn.errors import ImpossibleDataError, ParameterError
from bayeslearn.hmm import WordEmissions, fit_hmm, known_states
from bayeslearn.hmm.forward_backward import expect
from bayeslearn.hmm.word_emissions import classes_of, shape_of, shorter
from tests.cli.asking import ask

TAGS = ("ADV", "DET", "NAME", "NOUN", "NUM", "VERB")
ENDINGS = {"ADV": ("ly",), "NOUN": ("tion", "ness", "er"), "VERB": ("ed", "ing", "ize"), "NAME": ("a", "o", "us")}


def corpus(n, seed=0, vocabulary=60):
    """Sentences of words whose endings depend on their tag, and the tags."""
    rng = np.random.default_rng(seed)
    steps = rng.dirichlet(np.full(len(TAGS), 0.5), len(TAGS))

    def word(tag):
        if tag == "DET":
            return str(rng.choice(["the", "a", "some", "this"]))
        if tag == "NUM":
            return str(rng.integers(1, 500))
        number = min(int(rng.exponential(vocabulary)), 10_000)
        stem = "".join("bdfgklmnprstvz"[(number // 14**i) % 14] + "aeiou"[(number // 5**i) % 5] for i in range(3))
        ending = ENDINGS[tag][number % len(ENDINGS[tag])]
        return (stem + ending).capitalize() if tag == "NAME" else stem + ending

    words, tags = [], []
    for _ in range(n):
        path = [int(rng.integers(len(TAGS)))]
        while len(path) < rng.integers(5, 15):
            path.append(int(rng.choice(len(TAGS), p=steps[path[-1]])))
        tags.append([TAGS[s] for s in path])
        words.append([word(tag) for tag in tags[-1]])
    return words, tags


def flat(parts):
    return [cell for part in parts for cell in part]


def observations(kind, rng, n=60):
    """Observations of a kind, some missing."""
    x = {"gaussian": rng.normal(size=n), "poisson": rng.poisson(3, n).astype(float), "gamma": rng.gamma(2, 1, n)}
    if kind == "categorical":
        return [None if rng.random() < 0.2 else "abc"[i] for i in rng.integers(3, size=n)]
    x[kind][rng.random(n) < 0.2] = np.nan
    return x[kind]


### counting


@pytest.mark.parametrize("kind", ["categorical", "gaussian", "poisson", "gamma"])
@pytest.mark.parametrize("weights", [None, [1.0, 2.5, 0.5]])
def test_counts_are_the_expected_statistics(kind, weights):
    rng = np.random.default_rng(0)
    x, states = observations(kind, rng), rng.integers(2, size=60)
    model = fit_hmm(x, 2, emissions=kind, known_states=states, lengths=[10, 30, 20], sample_weight=weights)
    data = model.sequences(x, known_states=states, lengths=[10, 30, 20], sample_weight=weights)
    found = known_states.counted(model, data)
    inferred = expect(model.chain, model.emissions.reading(data.cells), data)
    np.testing.assert_allclose(found["startprob"].n, inferred.start, rtol=1e-12)
    np.testing.assert_allclose(found["transmat"].n, inferred.moves, rtol=1e-12)
    for a, b in zip(found["emissions"].arrays(), inferred.observed.arrays(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(known_states.log_likelihoods(model, data), inferred.log_p, rtol=1e-12)
    assert len(model.fit_info.starts) == 1


def test_some_sequences_are_counted_and_others_inferred():
    rng = np.random.default_rng(1)
    x, states = rng.normal(np.repeat([0, 4, 0, 4], 15)), np.repeat([0, 1, 0, 1], 15)
    some = [None if 20 <= i < 35 else int(s) for i, s in enumerate(states)]
    model = fit_hmm(x, 2, known_states=some, lengths=[20, 20, 20])
    data = model.sequences(x, known_states=some, lengths=[20, 20, 20])
    known, others = known_states.parts_of(data)
    assert (len(known), len(others)) == (2, 1)
    found, log_p = model.expected_statistics(data)
    inferred = expect(model.chain, model.emissions.reading(data.cells), data)
    np.testing.assert_allclose(found["transmat"].n, inferred.moves, rtol=1e-10)
    np.testing.assert_allclose(log_p, inferred.log_p.sum(), rtol=1e-12)
    again = model.update(x, known_states=some, lengths=[20, 20, 20]).remove(x, known_states=some, lengths=[20, 20, 20])
    np.testing.assert_allclose(again.transmat, model.transmat, rtol=1e-10)


def test_moves_that_are_not_allowed_are_named():
    with pytest.raises(ImpossibleDataError, match="impossible at position 2"):
        fit_hmm([0.0, 1.0, 2.0, 3.0], 2, known_states=[0, 1, 0, 1], topology="left_right")


### words


def test_shapes_and_classes_of_words():
    assert [shape_of(w) for w in ("walk", "Walk", "WALK", "3rd", "I")] == ["", "Aa", "AA", "9", "Aa"]
    assert classes_of("Walking") == ["Aa…ing", "Aa…ng", "Aa…g", "Aa…", "…"]
    assert classes_of("a") == ["…a", "…"]
    assert [shorter(c) for c in ("Aa…ing", "Aa…", "…g", "…")] == ["Aa…ng", "…", "…", None]


def test_unknown_words_are_tagged_by_their_ending():
    words, tags = corpus(400)
    new, true = corpus(150, seed=1, vocabulary=200)
    model = fit_hmm(words, known_states=flat(tags), emissions="words")
    true, known = np.array(flat(true)), model.emissions.is_known(flat(new))
    right = model.predict(new) == true
    assert (~known).mean() > 0.05
    assert right[~known].mean() > 0.95
    assert right[known].mean() > 0.97
    plain = fit_hmm(words, known_states=flat(tags))
    without = plain.predict([[w if model.emissions.is_known([w])[0] else None for w in x] for x in new]) == true
    assert without[~known].mean() < 0.8


def test_the_model_of_words_is_a_model(tmp_path):
    words, tags = corpus(60)
    new, true = corpus(20, seed=1)
    model = fit_hmm(words, TAGS, known_states=flat(tags), emissions="words")
    np.testing.assert_allclose(model.emissions.theta.sum(axis=1), 1, rtol=1e-12)
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert isinstance(again.emissions, WordEmissions)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    both, theta = model.update(new, known_states=flat(true)), model.emissions.theta
    np.testing.assert_allclose(both.remove(new, known_states=flat(true)).emissions.theta, theta, rtol=1e-9)
    one, other = (model.update(new[i], known_states=flat(true[i])) for i in (slice(10), slice(10, None)))
    np.testing.assert_allclose((one + other).emissions.theta, both.emissions.theta, rtol=1e-9)
    assert np.isfinite(model.score(new))
    assert "NUM" in model.summary()
    assert model.sample(5, random_state=0).n_rows == 5


def test_states_that_are_known_in_part():
    words, tags = corpus(120)
    some = [tag if i % 3 else None for i, tag in enumerate(flat(tags))]
    model = fit_hmm(words, TAGS, known_states=some, emissions="words", n_init=1)
    assert model.fit_info.converged
    assert (model.predict(words) == np.array(flat(tags))).mean() > 0.85


def test_words_need_rows_in_memory(tmp_path):
    pd.DataFrame({"s": [1, 1, 2, 2], "w": list("abcd")}).to_csv(tmp_path / "w.csv", index=False)
    with pytest.raises(ParameterError, match="words need the rows in memory"):
        fit_hmm(scan(tmp_path / "w.csv"), 2, emissions="words", id="s")


### mixed columns


def mixed(n=240, seed=0):
    """A frame of words, numbers, counts, flags and whole measurements of two states, with missing cells."""
    rng = np.random.default_rng(seed)
    s = (np.arange(n) // 15) % 2
    frame = pd.DataFrame({
        "patient": np.repeat([f"p{i}" for i in range(4)], n // 4),
        "mood": np.where(rng.random(n) < np.array([0.9, 0.2])[s], "bad", "good"),
        "heat": rng.normal(10 + 10 * s, 1 + s), "calls": rng.poisson(np.array([9, 2])[s]).astype(float),
        "flag": (rng.random(n) < 0.3 + 0.4 * s).astype(int), "pulse": (70 + 10 * s + rng.normal(0, 3, n)).round(),
    })  # fmt: skip
    frame.loc[::7, "mood"], frame.loc[::5, "heat"], frame.loc[::11, "calls"] = None, np.nan, np.nan
    return frame, s


KINDS = {
    "mood": "categorical", "heat": "gaussian", "calls": "poisson", "flag": "categorical", "pulse": "gaussian",
}  # fmt: skip


def test_mixed_columns_need_no_option(tmp_path):
    frame, s = mixed()
    model = fit_hmm(frame, ["low", "high"], id="patient")
    assert model.emissions.columns_as == KINDS
    assert (model.predict(frame, id="patient") == np.array(model.states)[s]).mean() > 0.98
    frame.to_csv(tmp_path / "m.csv", index=False)
    again = fit_hmm(tmp_path / "m.csv", ["low", "high"], id="patient")
    assert again.emissions.columns_as == KINDS
    np.testing.assert_allclose(again.transmat, model.transmat, rtol=1e-9)
    full = model.impute(frame, id="patient")
    assert not full.isna().to_numpy().any()
    assert (full["heat"].notna() & (full["patient"] == frame["patient"])).all()
    found = HMMEstimator(2, n_init=5).fit(frame.drop(columns="patient"), lengths=[60] * 4)
    assert found.model_.emissions.columns_as == KINDS
    np.testing.assert_allclose(found.transmat_, model.transmat, rtol=1e-6)
    model.save(tmp_path / "m.json")
    np.testing.assert_allclose(load(tmp_path / "m.json").score(frame, id="patient"), model.score(frame, id="patient"))
    assert {"mood", "calls"} <= set(model.explain(frame.iloc[:15], 3).to_frame().iloc[:, 0].astype(str))


def test_the_command_chooses_the_same_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mixed()[0].to_csv("m.csv", index=False)
    ask("fit", "hmm", "m.csv", "--n-states", "low,high", "--id", "patient", "-o", "m.json")
    columns = json.loads((tmp_path / "m.json").read_text())["emissions"]["columns"]
    assert {c["variable"]["name"]: c["family"] for c in columns} == KINDS
