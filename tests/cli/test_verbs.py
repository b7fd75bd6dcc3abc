"""Verbs that load when they are called: what is known of them before is what they say themselves."""

import sys

import pytest
from typer.main import get_command, get_group
from typer.testing import CliRunner

from bayeslearn.cli import app as root
from bayeslearn.cli import bound, case_based, demo, fit_kinds
from bayeslearn.cli.verbs import Verb, group
from tests.cli.asking import fail, tell

GROUPS = {"": root, "bound": bound, "case-based": case_based, "demo": demo, "fit": fit_kinds}
ALL = [(path, name) for path, module in GROUPS.items() for name in module.VERBS]


@pytest.mark.parametrize(("path", "name"), ALL)
def test_the_line_in_the_list_is_the_first_paragraph_of_the_help(path, name):
    command = get_group(GROUPS[path].app).commands[name]
    assert command.name == name
    assert GROUPS[path].VERBS[name].help == command.help.split("\n\n")[0]


def test_listing_verbs_loads_none_of_them(monkeypatch):
    for module in ("compare_networks", "network_predict"):
        monkeypatch.delitem(sys.modules, f"bayeslearn.cli.{module}", raising=False)
    assert "Compare two networks" in CliRunner().invoke(root.app, ["--help"]).stdout
    assert "bayeslearn.cli.compare_networks" not in sys.modules
    assert "bayeslearn.cli.network_predict" not in sys.modules


def test_the_commands_are_a_mapping_that_makes_them():
    commands = get_command(root.app).commands
    assert list(commands) == list(root.VERBS)
    assert len(commands) == len(root.VERBS)
    assert commands["query"] is commands.get("query")
    assert commands.get("no such verb") is None


def test_the_group_of_a_verb_that_cannot_be_loaded():
    app = group(
        {"broken": Verb("no_such_module.run", "Fails when it is called."), "other": Verb("demo.run", "Is there.")}
    )
    app.callback()(lambda: None)
    assert "Fails when it is called." in CliRunner().invoke(app, ["--help"]).stdout
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        CliRunner().invoke(app, ["broken"], catch_exceptions=False)


### the kind of the model


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("x,y,kind\n" + "1,2.5,a\n2,4.1,b\n3,6.2,a\n4,8.1,b\n" * 5)
    for words in (
        ["naive-bayes", "--target", "kind"],
        ["mixture", "--n-components", "1"],
        ["regression", "--target", "y"],
    ):
        assert tell("fit", words[0], "rows.csv", *words[1:], "-o", f"{words[0]}.json")[0] == 0
    return tmp_path


def test_the_file_decides_which_predictions_are_made(models):
    heads = {name: tell("predict", f"{name}.json", "rows.csv")[1].split("\n")[0] for name in ("naive-bayes", "mixture")}
    assert heads == {"naive-bayes": "kind,P(kind=a),P(kind=b)", "mixture": "component,P(component=0),log_likelihood"}
    assert tell("predict", "--level", "0.5", "regression.json", "rows.csv")[1].startswith("y,low(y),high(y)\n")
    assert tell("predict", "--level=0.5", "regression.json", "rows.csv")[0] == 0


def test_an_option_of_another_kind_of_model_is_refused(models):
    code, sentence = fail("predict", "mixture.json", "rows.csv", "--level", "0.5")
    assert (code, sentence.split("\n")[0]) == (
        2,
        "error: --level is the level of intervals, and this model predicts none",
    )
    code, sentence = fail("explain", "mixture.json", "rows.csv", "--max-results", "2")
    assert (code, sentence.split("\n")[0]) == (
        2, "error: `bayeslearn explain` has no --max-results for a model of the kind 'mixture'"
    )  # fmt: skip


def test_help_of_a_verb_is_that_of_the_model_if_one_is_named(models):
    assert "--proba" not in tell("predict", "mixture.json", "--help")[1]
    assert "Only for" in tell("predict", "--help")[1]


def test_a_verb_that_a_kind_of_model_lacks_names_those_that_it_has(models):
    code, sentence = fail("query", "mixture.json", "x=1")
    assert code == 1
    assert (
        "error: 'mixture.json' holds a model of the kind 'mixture', for which there is no `bayeslearn query`"
        in sentence
    )
    verbs = "show, predict, explain, impute, sample, plot, update, merge, convert, score, evaluate"
    assert f"hint: the verbs of this kind are {verbs}\n" in sentence


@pytest.mark.parametrize(
    ("place", "name"), [(root, name) for name in root.FORMER] + [(bound, "interval"), (case_based, "find")]
)
def test_a_verb_of_before_names_the_call_of_today(place, name):
    path = {root: [], bound: ["bound"], case_based: ["case-based"]}[place]
    code, sentence = fail(*path, name, "x.csv")
    assert code == 2
    words = " ".join(sentence.replace("│", " ").split())
    former = root.FORMER if place is root else {"interval": "error-interval", "find": "retrieve"}
    assert f"No such command '{name}'. The call is: " in words
    assert former[name] in words


def test_fit_without_a_kind_is_a_network(models):
    kinded, plain = (
        tell("fit", *kind, "rows.csv", "-o", f"{len(kind)}.json", "--seed", "1") for kind in ([], ["network"])
    )
    lines = [[line for line in text.splitlines() if "Seconds" not in line] for _, text, _ in (kinded, plain)]
    assert (kinded[0], lines[0]) == (plain[0], lines[1])
    assert (models / "0.json").read_text() == (models / "1.json").read_text()


def test_a_kind_that_there_is_none_of_is_named():
    code, sentence = fail("fit", "naive_bayes", "rows.csv", "-o", "m.json")
    assert code == 2
    assert "naive-bayes" in sentence
