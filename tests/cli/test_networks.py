"""The verbs about networks: show, query, convert."""

from __future__ import annotations

import pytest

from bayeslearn import read_network
from tests.cli.asking import ask, fail, result, tell


def test_show_tells_what_is_in_a_network():
    shown = ask("show", "asia")
    assert "either     yes, no   lung, tub" in shown
    assert "parameters  18" in shown
    machine = result(ask("show", "alarm", "--json"))
    assert (len(machine["variables"]), machine["n_arcs"], machine["n_parameters"]) == (37, 46, 509)


def test_query_answers_machines():
    answer = result(ask("query", "asia", "smoke=yes", "xray=yes", "--variables", "lung", "--json"))
    direct = read_network("asia").query({"smoke": "yes", "xray": "yes"}, variables=["lung"])
    assert answer["evidence"] == {"smoke": "yes", "xray": "yes"}
    assert answer["beliefs"]["lung"] == pytest.approx(direct["lung"], rel=1e-13)
    assert answer["log_evidence"] == pytest.approx(direct.log_evidence, rel=1e-13)


def test_query_shows_people_bars():
    shown = ask("query", "forest-fire", "Storm=yes", "BusTourGroup=yes", "--variables", "Campfire")
    assert "Campfire   yes             0.4   ████████" in shown
    assert "evidence        Storm=yes, BusTourGroup=yes" in shown


def test_most_probable_case():
    answer = result(ask("query", "asia", "dysp=yes", "xray=yes", "--mpe", "--json"))
    found = read_network("asia").most_probable({"dysp": "yes", "xray": "yes"})
    assert answer["case"] == found.case
    assert answer["probability"] == pytest.approx(found.probability, rel=1e-12)
    shown = ask("query", "asia", "dysp=yes", "xray=yes", "--mpe")
    assert "xray       yes     observed" in shown


def test_virtual_evidence():
    answer = result(ask("query", "asia", "--virtual-evidence", "smoke=0.9,0.1", "--variables", "smoke", "--json"))
    assert answer["beliefs"]["smoke"]["yes"] == pytest.approx(0.9, rel=1e-12)  # the prior is even


def test_explain_says_why():
    shown = ask("explain", "asia", "dysp=yes", "xray=yes", "--target", "lung")
    assert "without xray=yes" in shown
    assert "most informative" in shown
    answer = result(ask("explain", "asia", "dysp=yes", "xray=yes", "--target", "lung", "--json"))
    assert [impact["name"] for impact in answer["impacts"]] == ["dysp", "xray"]
    assert answer["conflict"] < 0
    assert next(iter(answer["information"])) == "either"


def test_convert_keeps_the_network(tmp_path):
    for ending in ("bif", "xmlbif", "net", "xdsl", "json.gz"):
        ask("convert", "asia", str(tmp_path / f"asia.{ending}"))
        assert read_network(tmp_path / f"asia.{ending}").isclose(read_network("asia"), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["query", "asia", "smoke"], 2, "evidence is given as VAR=STATE, got 'smoke'"),
        (["query", "asia", "smoke=maybe"], 2, "variable 'smoke' has no state 'maybe'"),
        (["query", "asia", "snow=yes"], 2, "there is no variable 'snow'"),
        (["query", "asia", "--virtual-evidence", "smoke=a,b"], 2, "--virtual-evidence takes VAR=P,P,..."),
        (["query", "asia", "tub=no", "lung=no", "either=yes"], 1, "tub=no, lung=no, either=yes cannot be together"),
        (["query", "no-such.bif"], 2, "no-such.bif"),
        (["convert", "asia", "asia.doc"], 2, "cannot tell the format of 'asia.doc'"),
    ],
)
def test_failures_are_one_sentence(words, code, message):
    found, said = fail(*words)
    assert (found, said.startswith("error: "), message in said) == (code, True, True), said


@pytest.mark.parametrize(("name", "start"), [("asia.svg", b"<svg "), ("ASIA.PNG", b"\x89PNG")])
def test_plot_draws_a_network_atomically(tmp_path, name, start):
    assert ask("plot", "asia", "smoke=yes", "-o", str(tmp_path / name)) == ""
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes().startswith(start)


def test_pictures_of_large_networks_are_compact(tmp_path):
    sizes = {}
    for words in ((), ("--compact",), ("--no-compact",), ("--bars",)):
        ask("plot", "alarm", *words, "-o", str(tmp_path / "n.svg"))
        sizes[words] = len((tmp_path / "n.svg").read_text())
    ask("plot", "asia", "--compact", "-o", str(tmp_path / "n.png"))

    assert sizes[()] == sizes["--compact",] < sizes["--no-compact",] / 2
    assert sizes["--bars",] == sizes["--no-compact",]
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    assert tell("plot", "asia", "--compact")[0] == 2


def test_plot_draws_posteriors_given_evidence(tmp_path):
    ask("plot", "asia", "smoke=yes", "-o", str(tmp_path / "asia.svg"))
    assert (tmp_path / "asia.svg").read_text(encoding="utf-8") == read_network("asia").to_svg({"smoke": "yes"})
    told = ask("plot", "asia", "-o", str(tmp_path / "asia.svg"), "--no-bars", "--json")
    assert result(told) == {"output": str(tmp_path / "asia.svg")}
    assert (tmp_path / "asia.svg").read_text(encoding="utf-8") == read_network("asia").to_svg(bars=False)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["asia", "-o", "asia.doc"], 2, "a plot is an .svg, .png or .pdf file, got 'asia.doc'"),
        (["asia", "-o", "nowhere/asia.svg"], 2, "cannot write 'nowhere/asia.svg': there is no folder 'nowhere'"),
        (["asia", "-o", "taken.svg"], 2, "cannot write 'taken.svg': it is a folder"),
        (["asia", "smoke=maybe", "-o", "asia.svg"], 2, "variable 'smoke' has no state 'maybe'"),
        (["asia", "tub=yes", "either=no", "-o", "asia.svg"], 1, "tub=yes, either=no cannot be together"),
    ],
)
def test_failures_of_pictures_are_one_sentence(words, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.svg").mkdir()
    found, said = fail("plot", *words)
    assert (found, said.startswith("error: "), message in said) == (code, True, True), said
    assert [path.name for path in tmp_path.iterdir()] == ["taken.svg"]


def test_explain_shows_the_numbers_that_matter_most():
    options = ("explain", "asia", "xray=yes", "--target", "lung", "--state", "yes", "--sensitivity", "3")
    shown = ask(*options)
    assert "CPT entry" in shown
    cells = result(ask(*options, "--json"))["cells"]
    assert len(cells) == 3
    slopes = [abs(cell["derivative"]) for cell in cells]
    assert slopes == sorted(slopes, reverse=True)
    assert {"variable", "state", "given", "p", "derivative", "at_zero", "at_one"} == set(cells[0])
    code, said = fail("explain", "asia", "--target", "lung", "--state", "maybe", "--sensitivity", "1")
    assert code == 1
    assert "no state 'maybe'" in said
