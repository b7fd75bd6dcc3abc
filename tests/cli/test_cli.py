"""The command line from outside: answers, machine answers, and how it fails."""

from __future__ import annotations

import math

import pytest
from typer.testing import CliRunner

import bayeslearn
from bayeslearn.cli import main, output
from bayeslearn.cli.app import app
from tests.cli.asking import ask, fail, result


def test_version():
    assert ask("--version") == f"bayeslearn {bayeslearn.__version__}\n"


def test_every_verb_explains_itself():
    for verb in ("bayes", "concept", "fit", "structure-posterior", "predict", "query", "sample", "demo"):
        assert f"Usage: bayeslearn {verb}" in CliRunner().invoke(app, [verb, "--help"], prog_name="bayeslearn").stdout


@pytest.mark.thorough
def test_demo_runs_every_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = ask("demo")
    assert (tmp_path / "forest-fire.svg").read_text().startswith("<svg")
    assert "ForestFire" in shown
    assert "0.8959" in shown
    assert "⟨sunny, warm, ?, strong, ?, ?⟩" in shown


def test_a_full_disk_is_told_in_one_sentence(monkeypatch, capsys):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bayeslearn.cli.app.app", full)
    with pytest.raises(SystemExit, match="1"):
        main()
    assert capsys.readouterr() == ("", "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3.0, "3"), (0.1 + 0.2, "0.3"), (1234.567891, "1234.56789"), (1e10 + 1, "10000000001"), (2e10 / 3, "6666666667")],
)
def test_counts_keep_whole_numbers_and_lose_the_rounding_of_sums(value, shown):
    assert output.amount(value) == shown


def test_numbers_for_people_have_nine_digits_and_those_for_machines_all(capsys):
    assert output.precise(-2 / 3) == "-0.666666667"
    output.show_json({"p": 2 / 3, "sum": 0.1 + 0.2, "none": math.inf})
    assert result(capsys.readouterr().out) == {"p": 2 / 3, "sum": 0.1 + 0.2, "none": None}


### bayes


def test_bayes_answers_machines():
    answer = result(ask("bayes", "cancer-test", "-e", "positive", "-e", "positive", "--json"))

    once, twice = (step["posterior"]["cancer"] for step in answer["steps"])
    assert once == pytest.approx(0.00784 / (0.00784 + 0.02976), rel=1e-12)
    assert twice == pytest.approx(0.0076832 / (0.0076832 + 0.0008928), rel=1e-12)
    assert (answer["map_hypotheses"], answer["ml_hypotheses"]) == (["cancer"], ["cancer"])
    assert answer["marginal_likelihood"] == pytest.approx(0.008576, rel=1e-12)


def test_bayes_from_options_gives_the_same_as_from_a_file():
    options = ["--prior", "cancer=0.008,no cancer=0.992"]
    options += ["--likelihoods", "cancer:positive=0.98, no cancer:positive=0.03"]
    from_options, from_file = (
        result(ask("bayes", *call, "-e", "positive", "--json"))["hypotheses"] for call in (options, ["cancer-test"])
    )
    assert from_options == from_file


def test_bayes_reads_json_and_an_impossible_likelihood_is_null(tmp_path):
    file = tmp_path / "coins.json"
    file.write_text('{"likelihood": {"fair": {"head": 0.5, "tail": 0.5}, "two-headed": {"head": 1}}}')

    answer = result(ask("bayes", str(file), "-e", "tail", "--json"))

    assert [h["posterior"] for h in answer["hypotheses"]] == [1.0, 0.0]
    assert answer["hypotheses"][1]["log_likelihood"] is None


def test_bayes_with_code_lengths_is_minimum_description_length():
    coins = ["--likelihoods", "fair:head=0.5,biased:head=0.75", "-e", "head", "-e", "head"]
    codes = ["--bits", "fair=1,biased=3"]

    answer = result(ask("bayes", *coins, *codes, "--json"))

    lengths = {line["name"]: line for line in answer["description_lengths"]["lengths"]}
    assert lengths["fair"] == {"name": "fair", "hypothesis": 1, "data": 2, "total": 3}
    assert lengths["biased"]["data"] == pytest.approx(-2 * math.log2(0.75), rel=1e-12)
    assert answer["description_lengths"]["best"] == answer["map_hypotheses"] == ["fair"]
    assert answer["hypotheses"][0]["prior"] == pytest.approx(0.8, rel=1e-12)
    assert "MDL  fair" in ask("bayes", *coins, *codes)


def test_bayes_draws_a_picture(tmp_path):
    ask("bayes", "cancer-test", "-e", "positive", "--plot", str(tmp_path / "beliefs.png"))
    assert (tmp_path / "beliefs.png").read_bytes().startswith(b"\x89PNG")


def test_bayes_without_evidence_shows_the_prior():
    answer = result(ask("bayes", "cancer-test", "--json"))
    assert [h["posterior"] for h in answer["hypotheses"]] == pytest.approx([0.008, 0.992], rel=1e-12)
    assert answer["steps"] == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "no hypothesis was given"),
        (["no-such-file"], 2, "there is no file 'no-such-file'"),
        (["--prior", "a"], 2, "--prior takes NAME=P, got 'a'"),
        (["--prior", "a=x"], 2, "--prior takes NAME=P with a number, got 'a=x'"),
        (["--likelihoods", "a=0.5"], 2, "--likelihoods takes NAME:OUTCOME=P, got 'a=0.5'"),
        (
            ["--likelihoods", "a:x=0.7,a:y=0.7"],
            2,
            "the likelihoods of 'a' must sum to at most 1, got 1.4",
        ),
        (["cancer-test", "--prior", "cancer=0.5"], 2, "--prior must sum to 1, got a sum of 1.492"),
        (["cancer-test", "-e", "maybe"], 1, "unknown outcome 'maybe'"),
        (
            ["--likelihoods", "a:x=1,b:x=1,b:y=0", "-e", "y"],
            1,
            "probability zero under every hypothesis",
        ),
    ],
)
def test_bayes_fails_in_one_sentence(words, code, message):
    found, said = fail("bayes", *words)
    assert found == code
    assert said.startswith("error: ")
    assert message in said
    assert "Traceback" not in said


def test_bayes_names_what_is_wrong_in_a_file(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("[prior\n")
    code, said = fail("bayes", str(file))
    assert (code, "broken.toml cannot be read" in said, "line 1" in said) == (1, True, True)

    file.write_text("[prior]\na = 1.0\n")
    code, said = fail("bayes", str(file))
    assert (code, "has no likelihoods" in said) == (1, True)


### concept

EXAMPLES = "sky,air,sport\nsunny,warm,yes\nrainy,cold,no\n"


def test_concept_answers_machines(tmp_path):
    (tmp_path / "days.csv").write_text(EXAMPLES)
    (tmp_path / "new.csv").write_text("air,sky\nwarm,sunny\nwarm,foggy\n?,sunny\n")

    answer = result(
        ask("concept", str(tmp_path / "days.csv"), str(tmp_path / "new.csv"), "--target", "sport", "--json")
    )

    assert answer["specific"] == ["sunny", "warm"]
    assert answer["general"] == [["?", "warm"], ["sunny", "?"]]
    assert (answer["n_hypotheses"], answer["n_consistent"]) == (10, 3)
    assert [(n["yes"], n["no"]) for n in answer["votes"]] == [(3, 0), (1, 2), (1, 0)]


def test_concept_counts_declared_states(tmp_path):
    (tmp_path / "days.csv").write_text(EXAMPLES)
    answer = ask(
        "concept", str(tmp_path / "days.csv"), "--target", "sport", "--states", "sky=sunny,cloudy,rainy", "--json"
    )
    assert result(answer)["n_hypotheses"] == 1 + 4 * 3


def test_concept_takes_numbers_as_states(tmp_path):
    (tmp_path / "n.csv").write_text("a,b,y\n1,2.5,yes\n1,3.5,yes\n2,2.5,no\n")
    assert result(ask("concept", str(tmp_path / "n.csv"), "--target", "y", "--json"))["specific"] == ["1", "?"]


def test_concept_leaves_out_incomplete_examples_and_says_so(tmp_path):
    file = tmp_path / "holes.csv"
    file.write_text("id,sky,air,sport\n1,sunny,warm,yes\n2,?,warm,yes\n3,rainy,cold,no\n")

    code, said = fail("concept", str(file), "--target", "sport", "--columns", "sky,air")
    assert (code, "example 1 has no value for attribute 'sky'" in said) == (1, True)

    shown = ask("concept", str(file), "--target", "sport", "--columns", "sky,air", "--drop-missing")
    assert (
        "attributes    sky, air\nexamples      1 positive, 1 negative\ndropped       1 with missing values\n" in shown
    )


def test_concept_sets_conflicts_aside_when_asked(tmp_path):
    file = tmp_path / "noisy.csv"
    file.write_text(EXAMPLES + "sunny,warm,no\n")

    code, said = fail("concept", str(file), "--target", "sport")
    assert code == 1
    assert "no conjunction is consistent with example 2 (sunny, warm; negative)" in said

    shown = ask("concept", str(file), "--target", "sport", "--drop-conflicts")
    assert "dropped       example 2 (sunny, warm; negative)" in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["enjoy-sport", "--target", "fun"], 2, "'fun'"),
        (["no-such-file.csv", "--target", "x"], 2, "no-such-file.csv"),
        (["enjoy-sport", "--target", "enjoy_sport", "--positive", "maybe"], 2, "no example is labeled 'maybe'"),
        (["enjoy-sport", "--target", "enjoy_sport", "--states", "sky"], 2, "--states takes COLUMN=A,B,C, got 'sky'"),
        (["enjoy-sport", "--target", "enjoy_sport", "--states", "sky=a,b"], 1, "column 'sky' has state 'sunny'"),
        (["enjoy-sport", "--target", "sky"], 1, "a concept has two labels, got 3"),
    ],
)
def test_concept_fails_in_one_sentence(words, code, message):
    found, said = fail("concept", *words)
    assert (found, said.startswith("error: "), message in said) == (code, True, True), said


def test_a_ragged_file_is_named_by_line(tmp_path):
    file = tmp_path / "ragged.csv"
    file.write_text(EXAMPLES + "sunny,warm\n")
    code, said = fail("concept", str(file), "--target", "sport")
    assert code == 1
    assert "line 4" in said


### options of earlier versions


@pytest.mark.parametrize(
    ("words", "today"),
    [
        (["concept", "enjoy-sport", "--target", "enjoy_sport", "--new", "x.csv"], "the second argument, DATA"),
        (["concept", "enjoy-sport", "--target", "enjoy_sport", "--skip-conflicts"], "--drop-conflicts"),
        (["concept", "enjoy-sport", "--target", "enjoy_sport", "--drop-incomplete"], "--drop-missing"),
        (["online", "x.csv", "--target", "y", "--advice", "a"], "--expert-columns"),
        (["online", "x.csv", "--target", "y", "--bins", "3"], "--n-bins"),
        (["bound", "pac", "--space", "973"], "--n-hypotheses"),
        (["bound", "vc", "--perceptrons", "10,5"], "--n-units or --n-inputs"),
        (["case-based", "retrieve", "plumbing", "faucet", "--most", "1"], "--max-results"),
        (["case-based", "design", "plumbing", "faucet", "--shorten"], "--allow-contractions"),
        (["case-based", "design", "plumbing", "faucet", "--forms", "3"], "--max-states"),
        (["compare-models", "x.csv", "--target", "y", "--folds", "3"], "--cv"),
        (["compare-models", "x.csv", "--target", "y", "--kind", "numbers"], "--task"),
    ],
)
def test_options_of_earlier_versions_name_those_of_today(words, today):
    code, sentence = fail(*words)
    assert code == 2
    assert f"Did you mean {today}" in " ".join(sentence.replace("│", " ").split())
