"""The verb compare: two networks side by side."""

from __future__ import annotations

import re

import pytest

from bayeslearn import fit_parameters, read_network, write_network
from bayeslearn.network import compare_networks
from tests.cli.asking import ask, fail, result, said

DAYS = {"rain": ["yes", "no", "no", "yes"], "wet": ["yes", "no", "yes", "yes"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_network(fit_parameters("[rain][wet|rain]", DAYS, prior="laplace"), "one.json")
    write_network(fit_parameters("[wet][rain|wet]", DAYS, prior="laplace"), "two.bif")
    write_network(fit_parameters("[wet][rain]", DAYS, prior=None), "three.json")
    (tmp_path / "days.csv").write_text("rain,wet\nyes,yes\nno,?\n")
    return tmp_path


def test_two_graphs(folder):
    assert ask("compare-networks", "one.json", "two.bif") == (
        "distance       0 between classes, 1 arc by arc\n"
        "equivalent     yes\n"
        "shared         0\n"
        "reversed       1: rain → wet\n"
        "only one.json  0\n"
        "only two.bif   0\n"
    )


def test_variables_that_one_lacks(folder):
    told = ask("compare-networks", "asia", "one.json")
    assert "variables      one.json lacks asia, tub, smoke, lung, bronc, either, xray, dysp\n" in told
    assert "variables      asia lacks rain, wet\n" in told


def test_cases(folder):
    told = ask("compare-networks", "one.json", "three.json", "--data", "days.csv")
    assert re.search(r"network +mean log-likelihood +log-likelihood +parameters +BIC\n", told)
    answer = result(ask("compare-networks", "one.json", "three.json", "--data", "days.csv", "--json"))
    one, three = read_network("one.json"), read_network("three.json")
    assert answer["log_likelihoods"][0]["log_likelihood"] == pytest.approx(
        one.score("days.csv").log_likelihood, rel=1e-12
    )
    assert answer["log_likelihoods"][1]["bic"] == pytest.approx(
        compare_networks(one, three, "days.csv").log_likelihoods[1].bic, rel=1e-12
    )
    assert (answer["distance"], answer["arc_distance"], answer["equivalent"]) == (1, 1, False)
    assert answer["only_in_first"] == [["rain", "wet"]]


def test_a_shipped_network_and_a_shipped_table(folder):
    answer = result(ask("compare-networks", "asia", "asia", "--data", "chest-clinic", "--json"))
    assert (answer["distance"], len(answer["shared"])) == (0, 8)
    assert answer["log_likelihoods"][0] == answer["log_likelihoods"][1]


def test_impossible_rows_are_told(folder):
    (folder / "sure.csv").write_text("rain,wet\nyes,yes\nyes,no\n")
    write_network(
        fit_parameters("[rain][wet|rain]", {"rain": ["yes", "no"], "wet": ["yes", "no"]}, prior=None),
        "sure.json",
    )
    told = said("compare-networks", "one.json", "sure.json", "--data", "sure.csv")
    assert told == "warning: 1 rows have probability zero under sure.json\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["one.json"], 2, "Missing argument 'b'"),
        (["one.json", "none.bif"], 2, "none.bif"),
        (["one.json", "two.bif", "--data", "none.csv"], 2, "cannot read 'none.csv'"),
        (["one.json", "asia", "--data", "days.csv"], 2, "the networks share no variable"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    found, sentence = fail("compare-networks", *words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
