"""``bayeslearn bound``: sentences with formulas, JSON, pictures, and what is refused."""

import math

import pytest

from tests.cli.asking import ask, fail, result, tell

TEN = ("--n-hypotheses", "conjunctions:10")
SURE = ("--epsilon", "0.1", "--delta", "0.05")


def test_pac():
    answer = ask("bound", "pac", *TEN, *SURE)
    sentence, formula = answer.splitlines()
    assert sentence.startswith("With 140 examples, each of 3^10 = 59,049 hypotheses that agrees with them all has")
    assert formula == "m ≥ (1/ε)(ln|H| + ln(1/δ)) = (1/0.1)(10.99 + 2.996) = 139.8"


@pytest.mark.parametrize(
    ("words", "quantity", "value"),
    [
        (("pac", *TEN, *SURE), "m", 140),
        (("pac", *TEN, "--delta", "0.05", "-m", "1000"), "epsilon", (10 * math.log(3) + math.log(20)) / 1000),
        (("pac", *TEN, "--epsilon", "0.1", "-m", "140"), "delta", 3**10 * math.exp(-14)),
        (("pac", *SURE, "-m", "140"), "ln|H|", 14 - math.log(20)),
        (("pac", "--data", "enjoy-sport", "--target", "enjoy_sport", *SURE), "m", 99),
        (("agnostic", "--n-hypotheses", "3^10", *SURE), "m", 700),
        (("vc", "--dimension", "3", *SURE), "m", 1899),
        (("vc", "-m", "1899", *SURE), "dimension", 3),
        (("vc", "--n-units", "10", "--n-inputs", "5", *SURE), "m", 320995),
        (("vc", "--dimension", "100", "--lower", "--epsilon", "0.01", "--delta", "0.005"), "m", 530),
        (("mistakes", *TEN), "mistakes", 15),
        (("mistakes", "--find-s", "10"), "mistakes", 11),
    ],
)
def test_json(words, quantity, value):
    answer = result(ask("bound", *words, "--json"))
    assert answer["quantity"] == quantity
    assert answer["value"] == pytest.approx(value, rel=1e-9)
    assert answer["is_attainable"]


def test_network_is_told_first():
    answer = ask("bound", "vc", "--n-units", "10", "--n-inputs", "5", *SURE).splitlines()
    assert answer[0].startswith("A layered network of 10 units")
    assert answer[2].startswith("With 320,995 examples")
    assert result(ask("bound", "vc", "--n-units", "10", "--n-inputs", "5", *SURE, "--json"))["based_on"]["value"] == 571


def test_interval():
    lines = ask("bound", "error-interval", "12", "40").splitlines()
    assert [line.split()[:3] for line in lines[5:8]] == [
        ["Hoeffding", "0.0853", "0.5147"],
        ["exact", "0.1656", "0.4653"],
        ["Bayes", "0.1808", "0.4554"],
    ]
    answer = result(ask("bound", "error-interval", "0", "10", "--prior", "jeffreys", "--json"))
    assert answer["exact"]["low"] == 0
    assert answer["bayes"]["high"] < answer["exact"]["high"] < answer["hoeffding"]["high"]


def test_mistakes_of_a_table(tmp_path):
    table = tmp_path / "class.csv"
    table.write_text("a,b\n0,0\n0,1\n1,0\n1,1\n")
    answer = ask("bound", "mistakes", "--concepts", str(table))
    assert answer.startswith("VC 2 ≤ Opt 2 ≤ Halving 2 ≤ log₂|C| 2\n")
    assert answer.count("wrong") == 2
    found = result(ask("bound", "mistakes", "--concepts", str(table), "--json"))
    assert (found["vc"], found["optimal"], found["halving"], found["log2"]) == (2, 2, 2, 2)
    assert len(found["worst_case"]) == 2
    table.write_text("1,0\n")
    assert ask("bound", "mistakes", "--concepts", str(table)) == "VC 0 ≤ Opt 0 ≤ Halving 0 ≤ log₂|C| 0\n"


@pytest.mark.parametrize(
    "words",
    [
        ("pac", *TEN, *SURE),
        ("pac", *SURE, "-m", "140"),
        ("vc", "--dimension", "9", "--lower", "--epsilon", "0.01", "--delta", "0.001"),
    ],
    ids="-".join,
)
def test_pictures(words, tmp_path):
    code, _, said = tell("bound", *words, "--plot", str(tmp_path / "m.svg"))
    assert code == 0
    assert "wrote" in said
    assert (tmp_path / "m.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("pac", *TEN, "--epsilon", "1.5", "--delta", "0.05"), 2, "--epsilon must be below 1, got 1.5"),
        (("pac", *TEN, "--epsilon", "0.1", "--delta", "0"), 2, "--delta must be above 0"),
        (("pac", *SURE), 2, "missing: --n-hypotheses and --n-examples"),
        (("pac", "--n-hypotheses", "0", *SURE), 2, "at least one hypothesis"),
        (("pac", "--n-hypotheses", "unbiased:5000", *SURE), 1, "more than a float can hold"),
        (("pac", *TEN, "--data", "enjoy-sport", *SURE), 2, "--n-hypotheses or --data, not both"),
        (("pac", *TEN, "--target", "x", *SURE), 2, "--target names a column of --data"),
        (("pac", *TEN, "--delta", "0.05", "-m", "2", "--plot", "x.png"), 2, "nothing to draw"),
        (("vc", "--dimension", "inf", *SURE), 2, "infinite VC dimension"),
        (("vc", "--dimension", "2.5", *SURE), 2, "--dimension must be a whole number"),
        (("vc", "--n-units", "10", *SURE), 2, "a network needs both --n-units and --n-inputs"),
        (("vc", "--n-units", "10", "--n-inputs", "5", "--dimension", "3", *SURE), 2, "not both"),
        (("vc", "--lower", "--epsilon", "0.1"), 2, "--lower needs --delta"),
        (("mistakes",), 2, "give one of --n-hypotheses"),
        (("mistakes", "--concepts", "nothing.csv"), 2, "no file 'nothing.csv'"),
        (("error-interval", "5", "4"), 2, "5 of 4 examples"),
        (("error-interval", "1", "4", "--prior", "flat"), 2, "unexpected prior 'flat'"),
    ],
)
def test_refused(words, code, message):
    found, said = fail("bound", *words)
    assert found == code
    assert message in said
