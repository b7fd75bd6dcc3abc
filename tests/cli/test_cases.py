"""``bayeslearn cases``: find, design, show."""

from __future__ import annotations

import pytest

from bayeslearn.case_based import Case, CaseBase
from tests.cli.asking import ask, fail, result, said, tell


@pytest.fixture
def tees(tmp_path):
    path = str(tmp_path / "tees.json")
    CaseBase([Case("tee", "a, b ->+ c", "three pipes")]).save(path)
    return path


def test_find(tees):
    lines = ask("case-based", "retrieve", "plumbing", "faucet").splitlines()
    assert lines[2].split()[:3] == ["T-junction", "part", "0.5"]
    assert lines[2].endswith("Q1→Qc, Q2→Qh, Q3→Qm, T1→Tc, T2→Th, T3→Tm")
    assert "not covered  Cf →+ Qc; Cf →+ Qh; Ct →− Qc; Ct →+ Qh" in lines
    answer = result(ask("case-based", "retrieve", tees, "x, y ->+ z; z ->- w", "--json"))
    assert answer["is_complete"]
    assert answer["matches"][0]["mapping"] == {"a": "x", "b": "y", "c": "z"}
    assert answer["matches"][0]["uncovered"] == ["z →− w"]
    assert answer["matches"][0]["structure"] == "three pipes"


def test_nothing_matches_and_something_is_said_all_the_same(tees):
    answer = ask("case-based", "retrieve", tees, "x ->- y")
    assert "similar" in answer
    assert "nothing; it is the most similar case" in answer
    answer = ask("case-based", "design", tees, "x ->- y", "--max-rewrites", "1")
    assert answer.startswith("0 of 1 influences are covered by 0 cases after 0 rewrites\n")
    assert "the bound of 1 rewrites was reached" in answer
    assert "nearest" in answer


def test_design():
    answer = ask("case-based", "design", "plumbing", "faucet")
    assert answer.startswith("8 of 8 influences are covered by 2 cases after 0 rewrites\n")
    assert "joined     Qc: single-lever cartridge cold, T-junction Q1" in answer
    words = ["case-based", "design", "plumbing", "faucet", "--without", "single-lever cartridge"]
    answer = result(ask(*words, "--json"))
    assert answer["designs"][0]["coverage"] == 1
    assert len(answer["designs"][0]["rewrites"]) == 4
    assert answer["stop_reason"] is None
    answer = result(ask(*words, "--max-rewrites", "0", "--json"))
    assert answer["stop_reason"] == "the bound of 0 rewrites was reached"
    assert [match["match"] for match in answer["near"]] == ["similar"] * 3


def test_designs_are_kept(tmp_path):
    path = str(tmp_path / "more.json")
    assert said("case-based", "design", "plumbing", "faucet", "-o", path) == f"wrote {path}: 7 cases and 'faucet'\n"
    base = CaseBase.load(path)
    assert base["faucet"].structure["parts"][0]["case"] == "single-lever cartridge"
    assert len(base.cases) == 8
    assert "exact" in ask("case-based", "retrieve", path, "faucet")


def test_bases_are_merged_and_specifications_read(tmp_path, tees):
    asked = str(tmp_path / "asked.json")
    CaseBase([Case("asked", "lift:position ->+ m:flow; m, n ->+ o")]).save(asked)
    answer = ask("case-based", "design", "plumbing", asked, "--add", tees, "--whole")
    assert answer.startswith("3 of 3 influences are covered by 2 cases after 0 rewrites\n")
    assert "tee" in answer


def test_other_rules(tmp_path):
    path = str(tmp_path / "short.json")
    CaseBase([Case("short", "p:flow ->- q:heat", 1)]).save(path)
    spec = "a:flow ->+ b:control; b ->- c:heat"
    assert ask("case-based", "design", path, spec).startswith("0 of 2")
    answer = ask("case-based", "design", path, spec, "--allow-contractions")
    assert answer.startswith("2 of 2 influences are covered by 1 case after 1 rewrite\n")
    assert "shorten − = +·−: a →+ b, b →− c becomes a →− c" in answer


def test_show():
    answer = ask("case-based", "show", "plumbing")
    assert answer.splitlines()[-1].startswith("faucet                   specification")
    answer = ask("case-based", "show", "plumbing", "T-junction")
    assert "flow         Q1, Q2, Q3" in answer
    answer = result(ask("case-based", "show", "support", "--json"))
    assert len(answer["cases"]) == 6
    assert answer["rules"][0].startswith("what fails is tried again")
    assert "rule  what fails is tried again" in ask("case-based", "show", "support")


def test_pictures(tmp_path):
    for words in (
        ["retrieve", "plumbing", "faucet"],
        ["design", "plumbing", "faucet"],
        ["show", "plumbing", "thermostat"],
    ):
        path = tmp_path / f"{words[0]}.svg"
        assert f"wrote {path}" in said("case-based", *words, "--plot", str(path))
        assert path.read_text().startswith("<?xml")


def test_a_second_example_that_is_no_machine():
    answer = ask("case-based", "design", "support", "ticket 4711")
    assert answer.startswith("5 of 5 influences are covered by 3 cases after 0 rewrites\n")
    answer = ask("case-based", "design", "support", "visits:load ->+ failures:error", "--whole")
    assert answer.startswith("1 of 1 influences are covered by 1 case after 1 rewrite\n")
    assert "what fails is tried again" in answer


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["retrieve", "nothing.json", "a ->+ b"], 2, "case bases that ship: plumbing, support"),
        (["retrieve", "plumbing", "tap"], 2, "'tap' is no case of the base, no file and no function"),
        (["retrieve", "plumbing", "a ->+ b; a ->- b"], 1, "a →+ b contradicts a →− b"),
        (["retrieve", "plumbing", "a ->+ a"], 2, "a quantity influences itself"),
        (["retrieve", "plumbing", "faucet", "--max-results", "0"], 2, "--max-results must be at least 1"),
        (["retrieve", "plumbing", "faucet", "--plot", "x.txt"], 2, "a plot is an .svg, .png or .pdf file"),
        (["design", "plumbing", "faucet", "--without", "tap"], 2, "there is no case 'tap'"),
        (["design", "plumbing", "faucet", "-o", "x.txt"], 2, "its name stands for another format"),
        (["show", "plumbing", "--plot", "x.svg"], 2, "a plot shows one case"),
    ],
)
def test_bad_calls(words, code, sentence):
    found, said_then = fail("case-based", *words)
    assert found == code
    assert sentence in said_then


def test_a_file_that_asks_holds_one(tmp_path):
    path = str(tmp_path / "two.json")
    CaseBase([Case("a", "a ->+ b"), Case("b", "a ->- b")]).save(path)
    code, sentence = fail("case-based", "retrieve", "plumbing", path)
    assert code == 2
    assert "holds 2 cases" in sentence


def test_time_is_kept():
    code, answer, _ = tell("case-based", "retrieve", "plumbing", "faucet", "--time-limit", "0")
    assert code == 0
    assert "ended early  time limit" in answer
