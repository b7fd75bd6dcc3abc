"""Three messy tables that ship go through every verb that reads a table, with new rows that hold new states."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from bayeslearn import datasets
from tests.cli.asking import tell
from tests.messy.generate import text

pytestmark = pytest.mark.thorough

#: No message may be longer.
LONGEST = 1500


@dataclass(frozen=True)
class Job:
    """What is asked of one table."""

    name: str
    target: str
    number: str
    evidence: tuple[str, ...]
    #: A column that gets a state in the new rows which no earlier row shows.
    strange: str
    words: str
    #: Columns without a missing value.
    complete: str


JOBS = [
    Job("flights", "late", "arr_delay", ("dep_delay=30",), "origin", "origin", "month,carrier,origin,dest,distance"),
    Job(
        "rentals",
        "room_type",
        "price",
        ("price=250", "Superhost=t"),
        "neighbourhood",
        "name",
        "room_type,accommodates,price,latitude",
    ),
    Job("survey", "q1", "income", ("age=40", "q2=agree"), "gender", "comments", "gender,children,owns_home"),
]


@pytest.fixture(scope="module", params=JOBS, ids=lambda job: job.name)
def job(request):
    return request.param


@pytest.fixture(scope="module")
def folder(job, tmp_path_factory):
    """Two thirds of the rows as old.csv, the others as new.csv with a new state, and a network of the old ones."""
    folder = tmp_path_factory.mktemp(job.name)
    with datasets.table_path(job.name).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    split = 2 * len(rows) // 3
    new = [dict(row) for row in rows[split:]]
    new[0][job.strange] = "never seen before"
    (folder / "old.csv").write_text(text(rows[:split]), encoding="utf-8")
    (folder / "new.csv").write_text(text(new), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("fit", "network", "old.csv", "-o", "net.json")
    return folder


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*words):
    """Run a verb: it must succeed, and every line it says beside the answer must be short."""
    code, answer, sentence = tell(*words)
    assert code == 0, sentence
    assert all(len(line) <= LONGEST for line in sentence.splitlines())
    assert len(sentence) <= 4 * LONGEST, sentence
    return answer, sentence


def cells(file):
    with Path(file).open(newline="", encoding="utf-8") as opened:
        return list(csv.reader(opened))


def test_scan_names_every_column(job):
    answer, _ = run("scan", "old.csv")
    assert all(name[:12] in answer for name in cells("old.csv")[0])


def test_learn_reports_what_it_dropped(job):
    answer, _ = run("fit", "network", "old.csv", "-o", "again.json", "--test-size", "0.2")
    assert "arcs" in answer


def test_show_query_explain_sample_convert(job):
    run("show", "net.json")
    answer, _ = run("query", "net.json", *job.evidence, "--variables", job.target)
    name, value = job.evidence[0].split("=")
    assert f"{name} = {value} (" in answer
    run("explain", "net.json", *job.evidence, "--target", job.target)
    run("sample", "net.json", "--n-samples", "20", "--seed", "1", "-o", "drawn.csv")
    run("convert", "net.json", "net.bif")


def test_predict_and_score_take_a_new_state_for_missing(job):
    for words in (
        ("predict", "net.json", "new.csv", "--target", job.target, "-o", "p.csv"),
        ("score", "net.json", "new.csv"),
    ):
        _, sentence = run(*words)
        assert "never seen before" in sentence


def test_update_fit_and_merge_add_a_new_state(job):
    _, sentence = run("update", "net.json", "new.csv", "-o", "updated.json")
    assert "never seen before" in sentence
    run("fit", "parameters", "net.json", "new.csv", "-o", "b.json")
    run("merge", "net.json", "b.json", "-o", "both.json")
    run("compare-networks", "net.json", "both.json", "--data", "new.csv")


def test_impute_keeps_every_observed_cell(job):
    run("impute", "net.json", "new.csv", "-o", "full.csv")
    before, after = cells("new.csv"), cells("full.csv")
    assert before[0] == after[0]
    assert len(before) == len(after)
    missing = {"", "NA", "N/A", "?"}
    pairs = [(x, y) for old, new in zip(before, after, strict=True) for x, y in zip(old, new, strict=True)]
    assert all(x == y for x, y in pairs if x not in missing)


def test_posterior(job):
    code, _, sentence = tell("structure-posterior", "old.csv")
    assert code == 1
    assert "needs complete rows" in sentence
    run("structure-posterior", "old.csv", "--columns", job.complete, "--n-samples", "50", "-o", "arcs.csv")


def test_naive_bayes(job):
    run("fit", "naive-bayes", "old.csv", "--target", job.target, "-o", "nb.json")
    run("predict", "nb.json", "new.csv", "-o", "nb.csv")


def test_cluster(job):
    run("fit", "mixture", "old.csv", "--n-components", "2", "-o", "groups.json")
    run("predict", "groups.json", "new.csv", "-o", "groups.csv")


def test_regress(job):
    run("fit", "regression", "old.csv", "--target", job.number, "-o", "r.json")
    run("predict", "r.json", "new.csv", "-o", "r.csv")


def test_neighbors(job):
    run("fit", "neighbors", "old.csv", "--target", job.target, "-o", "k.json")
    run("predict", "k.json", "new.csv", "-o", "k.csv")


def test_contest(job):
    learners = [word for name in ("k-nn", "naive-bayes", "network") for word in ("--learners", name)]
    run("compare-models", "old.csv", "--target", job.target, "--cv", "2", *learners)


def test_online(job):
    run("online", "old.csv", "--target", job.target)


def test_sequence(job):
    run("fit", "hmm", "old.csv", "--columns", job.number, "--n-states", "2", "-o", "hmm.json")


def test_text(job):
    run("fit", "text", "old.csv", "--text", job.words, "--target", job.target, "-o", "words.model")
    run("predict", "words.model", "new.csv", "--text", job.words)


def test_an_encoded_folder_goes_where_the_file_goes(job):
    run("scan", "old.csv", "--encode", "coded")
    for words in (
        ("fit", "network", "coded", "-o", "coded.json"),
        ("fit", "naive-bayes", "coded", "--target", job.target, "-o", "coded-nb.json"),
        ("fit", "mixture", "coded", "--n-components", "2", "-o", "coded-groups.json"),
    ):
        run(*words)
