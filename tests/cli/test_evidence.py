"""The verbs about evidence: update, merge, show --support, query --level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from bayeslearn import fit_parameters, read_network, write_network
from bayeslearn.network import query_interval
from tests.cli.asking import ask, fail, result, said

MONDAY = "Rain,Wet\nyes,yes\nno,no\nno,no\nno,yes\n"
TUESDAY = "Wet,Rain,times\nyes,yes,2\nno,yes,0.5\n"
HOLES = "Rain,Wet\nyes,\n?,yes\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with cases of two days, and a network for each."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("monday", MONDAY), ("tuesday", TUESDAY), ("holes", HOLES)):
        (tmp_path / f"{name}.csv").write_text(text)
    monday = fit_parameters("[Rain][Wet|Rain]", "monday.csv", prior="laplace")
    write_network(monday, "monday.json")
    write_network(fit_parameters(monday, "tuesday.csv", prior="laplace"), "tuesday.json")
    return tmp_path


def evidence(path):
    """The counts of both tables in a file."""
    network = read_network(path)
    return [network[name].counts.n.tolist() for name in ("Rain", "Wet")]


### update


def test_update_adds_rows(here):
    shown = ask("update", "monday.json", "tuesday.csv", "-o", "both.json")
    assert shown == "rows        2 added\ntotal rows  6 after, 4 before\n"
    assert evidence("both.json") == [[3, 3], [[2, 1], [1, 2]]]
    assert read_network("both.json") == read_network("monday.json").update("tuesday.csv")


def test_update_in_place_with_weights_and_fading(here):
    words = [
        "update",
        "monday.json",
        "tuesday.csv",
        "-o",
        "monday.json",
        "--forgetting-factor",
        "0.5",
        "--sample-weight",
        "times",
    ]
    told = said(*words)
    assert told == "wrote monday.json: 2 variables, 1 arcs\n"
    assert evidence("monday.json") == [[1.5, 3.0], [[1, 0.5], [0.5, 2.5]]]
    assert sorted(path.name for path in here.iterdir() if path.name.startswith(".")) == []


def test_update_takes_rows_back(here):
    ask("update", "monday.json", "tuesday.csv", "-o", "both.json")
    answer = result(ask("update", "both.json", "tuesday.csv", "--remove", "-o", "back.json", "--json"))
    assert answer == {"n_rows": 2, "n_missing": 0, "weight_before": 6, "total_weight": 4}
    assert evidence("back.json") == evidence("monday.json")


def test_update_with_holes_and_hidden_variables(here):
    shown = ask("update", "monday.json", "holes.csv", "-o", "more.json")
    assert shown == "rows            2 added\nmissing values  2\ntotal rows      6 after, 4 before\n"
    direct = read_network("monday.json").update("holes.csv")
    assert evidence("more.json") == [direct[name].counts.n.tolist() for name in ("Rain", "Wet")]
    hidden = fit_parameters("[H][Wet|H]", "monday.csv", hidden={"H": 2}, prior="laplace")
    write_network(hidden, "hidden.json")
    answer = result(ask("update", "hidden.json", "tuesday.csv", "--hidden", "H", "-o", "hidden.json", "--json"))
    assert answer == {"n_rows": 2, "n_missing": 0, "weight_before": 4, "total_weight": 6}


def test_other_formats_lose_the_evidence_and_say_so(here):
    told = said("update", "monday.json", "tuesday.csv", "-o", "both.bif")
    assert told == "wrote both.bif: 2 variables, 1 arcs; only .json and .model keep counts, prior and bins\n"
    assert not read_network("both.bif")["Wet"].is_learned


### merge


def test_merge_adds_the_evidence_of_networks(here):
    shown = ask("merge", "monday.json", "tuesday.json", "-o", "both.json")
    assert "monday.json       4\ntuesday.json      2\n\ntotal rows  6\n" in shown
    ask("update", "monday.json", "tuesday.csv", "-o", "same.json")
    assert evidence("both.json") == evidence("same.json")
    answer = result(ask("merge", "monday.json", "tuesday.json", "monday.json", "-o", "three.json", "--json"))
    assert (answer["total_weight"], answer["networks"][1]) == (10, {"network": "tuesday.json", "total_weight": 2})
    assert read_network("three.json")["Wet"].prior.alpha.tolist() == [[1, 1], [1, 1]]


### two sites

NORTH = "patient,ward,ill,age\n" + "".join(
    f"n{i},{w},{x},{i}.5\n" for i, (w, x) in enumerate([("er", "yes"), ("icu", "no")] * 9)
)
SOUTH = "patient,ward,ill,age\n" + "".join(
    f"s{i},{w},{x},{i}.25\n" for i, (w, x) in enumerate([("day", "no"), ("er", "yes")] * 7)
)


@pytest.fixture
def sites(tmp_path, monkeypatch):
    """A folder with the rows of two sites."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "north.csv").write_text(NORTH)
    (tmp_path / "south.csv").write_text(SOUTH)
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*added to them")
def test_two_sites_in_two_commands(sites):
    ask("fit", "network", "north.csv", "-o", "north.json", "--test-size", "0")
    told = said("fit", "parameters", "north.json", "south.csv", "-o", "south.json")
    assert "note: dropped columns that the network does not have: 'patient'\n" in told
    shown = ask("merge", "north.json", "south.json", "-o", "both.json")
    assert "total rows  32" in shown
    said("fit", "parameters", "north.json", "north.csv", "south.csv", "-o", "together.json")
    both, together = read_network("both.json"), read_network("together.json")
    assert both.isclose(together, rtol=1e-12)
    assert both.states("ward") == ("er", "icu", "day")
    assert both["age"].variable.cuts == read_network("north.json")["age"].variable.cuts


def test_one_schema_for_two_files_that_are_read_apart(sites):
    ask("scan", "north.csv", "south.csv", "-o", "schema.json")
    for name in ("north", "south"):
        ask("fit", "network", f"{name}.csv", "--schema", "schema.json", "-o", f"{name}.json", "--test-size", "0")
        assert read_network(f"{name}.json").states("ward") == ("day", "er", "icu")
    graph = "[ill][ward|ill][age]"
    words = ["fit", "parameters", graph, "north.csv", "--schema", "schema.json", "--extra-columns", "ignore"]
    ask(*words, "-o", "north.json")
    files = said(*words, "--engine", "files", "-o", "same.json")
    assert files == "wrote same.json: 3 variables, 1 arcs\n"
    assert read_network("north.json") == read_network("same.json")
    code, sentence = fail("fit", "parameters", graph, "less.csv", "--schema", "schema.json", "-o", "x.json")
    assert (code, "less.csv" in sentence) == (2, True)


def test_merging_what_does_not_fit_names_the_commands(sites):
    for graph, name in (("[ward][ill|ward]", "north"), ("[ill][ward|ill]", "south")):
        ask("fit", "parameters", graph, f"{name}.csv", "--extra-columns", "ignore", "-o", f"{name}.json")
    recipe = "`bayeslearn fit parameters north.json DATA -o south.json`, then `bayeslearn merge north.json south.json"
    code, sentence = fail("merge", "north.json", "south.json", "-o", "both.json")
    assert code == 1
    assert f"hint: fit the data of south.json with the graph of north.json: {recipe}" in sentence.replace("\n", " ")
    for name in ("north", "south"):
        ask("fit", "parameters", "[age][ill|age]", f"{name}.csv", "--extra-columns", "ignore", "-o", f"{name}.json")
    code, sentence = fail("merge", "north.json", "south.json", "-o", "both.json")
    assert f"with the cuts of north.json: {recipe}" in sentence.replace("\n", " ")
    ask("fit", "parameters", "north.json", "south.csv", "-o", "south.json", "--prior", "laplace")
    code, sentence = fail("merge", "north.json", "south.json", "-o", "both.json")
    assert f"with the prior of north.json: {recipe}" in sentence.replace("\n", " ")


### how sure


def test_show_tells_what_tables_rest_on(here):
    lines = ask("show", "monday.json", "--support").splitlines()
    assert lines[0].split() == ["variable", "given", "observed", "rows", "prior", "rows"]
    assert [line.split() for line in lines[2:]] == [
        ["Wet", "Rain=yes", "1", "2"], ["Wet", "Rain=no", "3", "2"], ["Rain", "4", "2"],
    ]  # fmt: skip
    answer = result(ask("show", "monday.json", "--support", "--json"))
    assert answer["support"][0] == {"variable": "Wet", "given": {"Rain": "yes"}, "n_observed": 1, "prior": 2}
    assert "support" not in result(ask("show", "monday.json", "--json"))


def test_query_shows_bounds(here):
    words = ["query", "monday.json", "Rain=no", "--variables", "Wet", "--level", "0.9", "--seed", "1"]
    shown = ask(*words)
    assert "variable   state   probability" in shown
    assert shown.splitlines()[0].split()[-2:] == ["low", "high"]
    assert "low to high     90 % of 200 drawn networks" in shown
    answer = result(ask(*words, "--json", "--n-samples", "3000"))
    assert (answer["level"], answer["n_samples"], answer["beliefs"]["Wet"]["no"]) == (0.9, 3000, pytest.approx(0.6))
    found, truth = answer["intervals"]["Wet"]["no"], beta(3, 2)
    for bound, q in ((found["low"], 0.05), (found["high"], 0.95)):
        assert abs(bound - truth.ppf(q)) < 5 * np.sqrt(q * (1 - q) / 3000) / truth.pdf(truth.ppf(q))
    direct = query_interval(
        read_network("monday.json"), {"Rain": "no"}, ["Wet"], level=0.9, n_samples=3000, random_state=1
    )
    assert found["mean"] == pytest.approx(direct["Wet"]["no"].mean, rel=1e-13)


def test_bounds_follow_virtual_evidence(here):
    words = [
        "query",
        "monday.json",
        "--virtual-evidence",
        "Wet=1,0",
        "--variables",
        "Rain",
        "--level",
        "0.8",
        "--seed",
        "2",
    ]
    virtual = result(ask(*words, "--json"))["intervals"]["Rain"]["yes"]
    hard = query_interval(read_network("monday.json"), {"Wet": "no"}, ["Rain"], level=0.8, random_state=2)["Rain"][
        "yes"
    ]
    assert virtual["high"] == pytest.approx(hard.high, rel=1e-12)


### mistakes


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["update", "monday.json", "monday.csv"], 2, "Missing option '-o' / '--output'"),
        (["update", "monday.json", "monday.csv", "-o", "out.doc"], 2, "cannot tell the format of 'out.doc'"),
        (["update", "monday.json", "monday.csv", "-o", "no/out.json"], 2, "there is no folder 'no'"),
        (
            ["update", "monday.json", "monday.csv", "-o", "out.json", "--forgetting-factor", "90"],
            2,
            "`--forgetting-factor` must be at most 1",
        ),
        (
            ["update", "monday.json", "monday.csv", "-o", "out.json", "--forgetting-factor", "0.5", "--remove"],
            2,
            "with --remove",
        ),
        (["update", "monday.json", "tuesday.csv", "-o", "out.json", "--remove"], 1, "more evidence on 'Rain' removed"),
        (["update", "asia", "monday.csv", "-o", "out.json"], 1, "the tables of network 'asia' were given, not learned"),
        (["update", "monday.json", "none.csv", "-o", "out.json"], 2, "cannot read 'none.csv'"),
        (
            ["update", "monday.json", "odd.csv", "--handle-unknown", "error", "-o", "out.json"],
            1,
            "column 'Wet' has state 'damp' in row 0",
        ),
        (["update", "monday.json", "odd.csv", "-o", "out.json", "--sample-weight", "n"], 2, "'n'"),
        (["update", "monday.json", "less.csv", "-o", "out.json"], 2, "'Wet'"),
        (["merge", "monday.json", "-o", "out.json"], 2, "a merge needs two networks or more, got one"),
        (["merge", "asia", "monday.json", "-o", "out.json"], 1, "'asia' cannot be merged: the tables of network"),
        (["merge", "monday.json", "other.json", "-o", "out.json"], 1, "'other.json' cannot be merged with 'monday.jso"),
        (["merge", "monday.json", "tuesday.json", "-o", "out.doc"], 2, "cannot tell the format of 'out.doc'"),
        (["show", "asia", "--support"], 1, "the tables of network 'asia' were given, not learned"),
        (["show", "monday.json", "--plot", "out.svg"], 2, "The call is: bayeslearn plot MODEL -o FILE"),
        (["query", "asia", "--level", "0.9"], 1, "the tables of network 'asia' were given, not learned"),
        (["query", "monday.json", "--level", "95"], 2, "`--level` must be below 1, got 95"),
        (["query", "monday.json", "--level", "0.9", "--mpe"], 2, "--level cannot be used with --mpe"),
        (["query", "monday.json", "--level", "0.9", "--time-limit", "1"], 2, "cannot be used with --time-limit"),
        (["query", "monday.json", "--level", "0.9", "--method", "gibbs"], 2, "with --method gibbs"),
        (["query", "monday.json", "--level", "0.9", "--soft-evidence", "Wet=0.5,0.5"], 2, "with --soft-evidence"),
        (["query", "monday.json", "--level", "0.9", "--n-samples", "0"], 2, "`--n-samples` must be at least 1"),
        (["query", "plain.json", "--level", "0.9"], 1, "the CPT row P(Wet | Rain=snow) has neither data nor prior"),
    ],
)
def test_failures_are_one_sentence(words, code, message, here):
    (here / "odd.csv").write_text("Rain,Wet\nyes,damp\n")
    (here / "less.csv").write_text("Rain\nyes\n")
    write_network(fit_parameters("[Rain][Wet|Rain]", "monday.csv", prior="jeffreys"), "other.json")
    frame = {"Rain": ["no", "yes", "snow"]}
    write_network(fit_parameters("[Rain][Wet|Rain]", "monday.csv", states=frame, prior=None), "plain.json")
    before = sorted(path.name for path in here.iterdir())
    found, sentence = fail(*words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
    assert sorted(path.name for path in here.iterdir()) == before
