"""The verbs of text: learn, classify, evaluate, newsgroups."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from bayeslearn.cli.app import app
from bayeslearn.naive_bayes.text import TextModel, fit_text, read_corpus
from tests.cli.asking import ask, result, said, tell

MAILS = """text,label
"cheap watches, buy now",spam
buy cheap pills,spam
lunch at noon?,ham
the meeting moved to noon,ham
cheap cheap watches,
"noon works for me, lunch?",?
"""


@pytest.fixture
def mails(tmp_path):
    (tmp_path / "mails.csv").write_text(MAILS)
    return str(tmp_path / "mails.csv")


@pytest.fixture
def model(mails, tmp_path):
    ask("fit", "text", mails, "-o", str(tmp_path / "mails.model"))
    return str(tmp_path / "mails.model")


### learn


def test_learn_tells_what_was_learned(mails, tmp_path):
    shown = ask("fit", "text", mails, "-o", str(tmp_path / "m"))
    assert "Documents with a label     4" in shown
    assert "Documents without a label  2" in shown
    assert "noon, lunch" in shown
    assert "Iterations" in shown


def test_learn_is_what_python_learns(mails, model):
    expected, found = fit_text(read_corpus(mails)), TextModel.load(model)
    assert found.statistics.isclose(expected.statistics)
    assert found.predict(["cheap", "lunch"]) == ["spam", "ham"]


def test_learn_answers_machines(mails, tmp_path):
    options = ["--prior", "1", "--ngram-range", "1-2", "--analyzer", "all", "--min-count", "2", "--drop-top-words", "1"]
    to = ["-o", str(tmp_path / "m"), "--unlabeled-weight", "0", "--json"]
    answer = result(ask("fit", "text", mails, *options, *to))
    assert (answer["n_labeled"], answer["n_unlabeled"], answer["prior_selection"]) == (4, 0, None)
    assert answer["n_iter"] == 0
    assert [c["label"] for c in answer["classes"]] == ["ham", "spam"]


def test_learn_with_hashed_words_and_other_likelihoods(mails, tmp_path):
    to = ["-o", str(tmp_path / "m"), "--json"]
    hashed = result(ask("fit", "text", mails, "--n-hash-features", "128", *to))
    assert hashed["n_words"] == 128
    assert hashed["classes"][0]["top_words"] == []
    bernoulli = result(ask("fit", "text", mails, "--likelihood", "bernoulli", *to))
    assert (bernoulli["likelihood"], bernoulli["prior_selection"]) == ("bernoulli", None)


def test_learn_from_a_folder_notes_what_was_mended(tmp_path):
    for name, text in {"ham/1": b"lunch at noon", "spam/1": b"cheap caf\xe9"}.items():
        (tmp_path / "mails" / name).parent.mkdir(parents=True)
        (tmp_path / "mails" / name).write_bytes(text)
    sentence = said("fit", "text", str(tmp_path / "mails"), "-o", str(tmp_path / "m"))
    assert sentence.startswith("note: 1 places that are not UTF-8 were replaced, in 'spam/1'")


### classify


def test_classify_a_text(model):
    shown = ask("predict", model, "cheap pills at noon, cheap!")
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["spam", "ham"]


def test_an_empty_text_is_a_text(model):
    assert ask("predict", model, "").startswith("class   P(class | text)")


def test_classify_says_why(model):
    shown = ask("predict", model, "cheap pills at noon, comet", "--explain")
    assert "spam against ham" in shown
    assert "1 tokens outside the vocabulary" in shown
    assert "for spam" in shown
    assert "against spam, for ham" in shown


def test_classify_a_file(model, mails, tmp_path):
    lines = ask("predict", model, mails, "--explain").splitlines()
    assert lines[0] == "document,class,probability,because_of"
    assert [line.split(",")[1] for line in lines[1:]] == ["spam", "spam", "ham", "ham", "spam", "ham"]
    assert said("predict", model, mails).startswith("4 of 4 labeled documents are correct, accuracy 1")
    ask("predict", model, mails, "-o", str(tmp_path / "said.csv"))
    assert len((tmp_path / "said.csv").read_text().splitlines()) == 7


def test_classify_answers_machines(model, mails):
    answer = result(ask("predict", model, mails, "--json", "--explain"))["documents"]
    assert len(answer) == 6
    first = answer[0]
    assert first["class"] == "spam"
    assert sum(first["probabilities"].values()) == pytest.approx(1, rel=1e-12)
    why = first["explanation"]
    assert why["base"] + sum(word["log_odds"] for word in why["words"]) == pytest.approx(why["log_odds"], rel=1e-9)


def test_classify_standard_input_and_lines(model):
    done = CliRunner().invoke(app, ["predict", model, "-", "--lines"], input="cheap\nlunch\n")
    assert done.stdout.splitlines()[1:] == [line for line in done.stdout.splitlines()[1:] if line.startswith("-:")]
    assert [line.split(",")[1] for line in done.stdout.splitlines()[1:]] == ["spam", "ham"]


### evaluate


def test_evaluate_on_random_splits(mails, tmp_path):
    plot = tmp_path / "curve.svg"
    answer = result(ask("evaluate", "text", mails, "--json", "--n-splits", "2", "--plot", str(plot)))
    assert (answer["n_test"], answer["n_evaluated"]) == (2, 4)
    assert answer["accuracy"] == answer["learning_curve"][-1]["accuracy"]
    assert plot.read_text().startswith("<?xml")
    shown = ask("evaluate", "text", mails, "--sizes", "1")
    assert "Each split" in shown
    assert "Precision" in shown


def test_evaluate_a_model(model, mails, tmp_path):
    plot = tmp_path / "confusion.png"
    shown = ask("evaluate", model, mails, "--plot", str(plot))
    assert "1.0000, 4 of 4" in shown
    assert plot.stat().st_size > 1000
    assert result(ask("evaluate", model, mails, "--json"))["confusion"] == [[2, 0], [0, 2]]


def test_newsgroups_is_the_experiment_of_the_textbook(tmp_path):
    words = [" ".join(f"{c}{i % 7}" for i in range(j, j + 30)) for j in range(12) for c in "ab"]
    articles = [f"Newsgroups: x\nSubject: {text}\n\n{text}" for text in words]
    columns = {"group": ["a", "b"] * 12, "text": articles}
    parquet.write_table(pa.table(columns), tmp_path / "news.parquet")
    plot = tmp_path / "curve.svg"
    command = ["demo", "newsgroups", str(tmp_path / "news.parquet"), "--headers", "subject"]
    assert "24 of 2 groups, headers: subject" in ask(*command, "--plot", str(plot))
    assert plot.exists()
    answer = result(ask(*command, "--json"))
    assert answer["learning_curve"][0]["n_documents"] == 16


### how it fails


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["fit", "text", "{mails}", "--text", "body", "-o", "{to}"], 2, "has no column 'body'; it has 'text', 'label'"),
        (["fit", "text", "nowhere", "-o", "{to}"], 2, "there is no such file"),
    ],
)
def test_failures(mails, tmp_path, words, code, sentence):
    given = [word.format(mails=mails, to=tmp_path / "m") for word in words]
    ended, answer, told = tell(*given)
    assert (ended, answer) == (code, "")
    assert sentence in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "text", "{mails}", "--ngram-range", "x", "-o", "m"], "--ngram-range takes N or N-M"),
        (["fit", "text", "{mails}", "--prior", "best", "-o", "m"], "unexpected value for `prior`: 'best'"),
        (["fit", "text", "{mails}", "--analyzer", "bytes", "-o", "m"], "unexpected value for `analyzer`: 'bytes'"),
        (["fit", "text", "{mails}", "-o", "no/m"], "there is no folder"),
        (["evaluate", "text", "{mails}", "--plot", "curve.doc"], "a plot is an .svg, .png or .pdf file"),
        (["evaluate", "text", "{mails}", "--sizes", "1;2"], "--sizes takes numbers with commas"),
        (["predict", "{model}", "mail.txt"], "cannot read 'mail.txt': there is no such file"),
        (["demo", "newsgroups", "{mails}", "--headers", "some"], "unexpected value for `headers`: 'some'"),
    ],
)
def test_mistaken_calls(mails, model, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match=message):
        ask(*(word.format(mails=mails, model=model) for word in words))


### markers of missing values


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.csv").write_text(MAILS.replace("watches,\n", "watches,-\n").replace(",?\n", ",unknown\n"))
    return str(tmp_path / "survey.csv")


def test_markers_of_missing_labels(mails, survey, tmp_path):
    known, markers = tmp_path / "known.model", ["--na-values", "-,label=unknown"]
    ask("fit", "text", mails, "-o", str(known))
    shown = ask("fit", "text", survey, *markers, "-o", str(tmp_path / "m"))
    assert "Documents without a label  2" in shown
    assert TextModel.load(tmp_path / "m").statistics.isclose(TextModel.load(known).statistics)
    assert "4 of 4 labeled" in said("predict", str(known), survey, *markers)
    answer = result(ask("evaluate", str(known), survey, *markers, "--json"))
    assert answer["n_evaluated"] == 4


def test_markers_of_missing_labels_in_several_files(mails, survey, tmp_path):
    words = ["fit", "text", survey, mails, "--na-values", "-,unknown", "-o", str(tmp_path / "m"), "--json"]
    answer = result(ask(*words))
    assert [c["label"] for c in answer["classes"]] == ["ham", "spam"]
    assert (answer["n_labeled"], answer["n_unlabeled"]) == (8, 4)


def test_default_markers_may_be_labels(mails, tmp_path):
    answer = result(ask("fit", "text", mails, "--no-default-na", "-o", str(tmp_path / "m"), "--json"))
    assert [c["label"] for c in answer["classes"]] == ["", "?", "ham", "spam"]
