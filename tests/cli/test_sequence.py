"""The verbs fit hmm, predict and score."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import HiddenMarkovModel
from bayeslearn.errors import ParameterError, UnknownStateError
from bayeslearn.hmm import PoissonEmissions
from tests.cli.asking import ask, fail, result, said

TRUTH = HiddenMarkovModel(("low", "high"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], PoissonEmissions("calls", [2.0, 20.0]))


@pytest.fixture
def calls(tmp_path):
    """Four sequences, rows of two of them between each other, with holes."""
    x, states = TRUTH.draw([12] * 4, random_state=0)
    who = np.repeat(["ann", "bob", "cid", "dan"], 12)
    order = np.concatenate([np.arange(24).reshape(2, 12).T.ravel(), np.arange(24, 48)])
    lines = [f"{who[i]},{'?' if i % 9 == 5 else x[i]},{states[i]}" for i in order]
    (tmp_path / "calls.csv").write_text("who,calls,state\n" + "\n".join(lines) + "\n")
    return tmp_path


def learn(folder, *words):
    return ask(
        "fit", "hmm", str(folder / "calls.csv"), "--id", "who", "--columns", "calls", "--emissions", "poisson",
        "-o", str(folder / "m.json"), *words,
    )  # fmt: skip


def test_learn_decode_score(calls):
    text = learn(calls, "--n-states", "low,high", "--plot", str(calls / "states.svg"))
    assert "Sequences        4" in text
    assert "calls (poisson)" in text
    assert "Converged        yes" in text
    assert "about" in text
    assert (calls / "states.svg").exists()
    model = HiddenMarkovModel.load(calls / "m.json")
    np.testing.assert_allclose(model.emissions.rate, [2, 20], atol=1)
    words = ("predict", str(calls / "m.json"), str(calls / "calls.csv"), "--id", "who")
    rows = ask(*words).splitlines()
    assert rows[0] == "who,state,P(state=low),P(state=high)"
    assert [row.split(",")[0] for row in rows[1:4]] == ["ann", "bob", "ann"]
    told = said(*words, "--true-states", "state", "-o", str(calls / "states.csv"), "--plot", str(calls / "states.png"))
    assert "states.csv: 48 rows, 4 columns" in told
    right = int(told.split(" of 48 known")[0].split("\n")[-1])
    assert right >= 44
    found = result(ask(*words, "--json", "--marginal", "--true-states", "state"))
    assert len(found["columns"]["state"]) == found["n_known"] == 48
    text = ask("score", str(calls / "m.json"), str(calls / "calls.csv"), "--id", "who")
    assert "Rows            48" in text
    each = result(ask("score", str(calls / "m.json"), str(calls / "calls.csv"), "--id", "who", "--json"))
    assert sum(part["log_likelihood"] for part in each["sequences"]) == pytest.approx(found["log_likelihood"])


def test_json_and_options(calls):
    found = result(learn(calls, "--known-states", "state", "--json", "--prior", "none", "--n-init", "1"))
    assert [entry["state"] for entry in found["states"]] == ["high", "low"]
    assert [s["log_likelihood"] for s in found["history"]] == sorted(s["log_likelihood"] for s in found["history"])
    assert found["converged"]
    again = result(learn(calls, "--init", str(calls / "m.json"), "--freeze", "emissions", "--json", "--max-iter", "50"))
    assert [e["emits"] for e in again["states"]] == [e["emits"] for e in found["states"]]
    left = result(learn(calls, "--n-states", "2", "--topology", "left-right", "--json", "--n-init", "1"))
    assert left["states"][1]["transmat"]["0"] == 0
    assert left["states"][1]["expected_duration"] is None


def test_what_cannot_be(calls):
    for words, message in (
        (("--n-states", "2", "--columns", "hope"), "no column 'hope'"),
        (("--n-states", "0"), "--n-states is a whole number above 0, got '0'"),
        (("--n-states", "1" + "0" * 21), "--n-states is at most 9223372036854775807, got a number of 22 digits"),
        (("--n-states", "²"), "--n-states is a whole number above 0, got '²'"),
        ((), "number of states"),
        (("--n-states", "2", "--plot", "x.txt"), "a plot is"),
        (("--n-states", "2", "--prior", "hope"), "no prior 'hope'"),
    ):
        with pytest.raises(ParameterError, match=message):
            learn(calls, *words)
    (calls / "words.csv").write_text("s\na\nb\na\n")
    ask("fit", "hmm", str(calls / "words.csv"), "--n-states", "1", "-o", str(calls / "w.json"))
    (calls / "new.csv").write_text("s\na\nc\n")
    with pytest.raises(UnknownStateError, match="symbol 'c' in row 1"):
        ask("predict", str(calls / "w.json"), str(calls / "new.csv"))
    code, sentence = fail("score", str(calls / "calls.csv"), str(calls / "new.csv"))
    assert code == 1
    assert "not JSON" in sentence


def test_a_sequence_in_two_files_is_an_error(calls):
    lines = (calls / "calls.csv").read_text().splitlines()
    parts = calls / "parts"
    parts.mkdir()
    who = lines[0].split(",").index("who")
    for name, rows in (("a.csv", lines[1:]), ("b.csv", lines[1:3])):
        ordered = sorted(rows, key=lambda row: row.split(",")[who])
        (parts / name).write_text("\n".join([lines[0], *ordered]) + "\n")
    learn(calls, "--n-states", "2")
    for verb in ("score", "predict"):
        code, told = fail(verb, str(calls / "m.json"), str(parts / "*.csv"), "--id", "who")
        assert code == 1
        assert "is in two places" in told
