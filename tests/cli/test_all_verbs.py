"""What holds for every verb: `--json`, options of reading data, options of one meaning, exit codes, results of fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

import bayeslearn as bl
from bayeslearn.cli.app import VERBS, app
from bayeslearn.cli.verbs import load
from bayeslearn.hmm import fit_hmm
from bayeslearn.regression import fit_linear
from tests.cli.asking import ask, fail, result

#: Functions with an argument of data that reads one file, or no table at all.
ONE_FILE = {
    "text_predict.run", "text_evaluate.run", "model_rows.impute", "network_impute.run", "concept.run", "online.run",
    "bound_samples.pac", "bound_samples.agnostic", "bound_mistakes.run", "text_rows.explain", "text_rows.score",
    "textbook_models.predict", "textbook_models.update", "textbook_models.explain",
}  # fmt: skip


def functions(verbs=VERBS, path=()):
    """Every function of a verb: its words, where it lives, and its command."""
    for name, verb in verbs.items():
        for place in [verb.place] if isinstance(verb.place, str) else sorted(set(verb.place.values())):
            command = load(name, place)
            yield from (
                functions(command.verbs, (*path, name))
                if hasattr(command, "verbs")
                else [((*path, name), place, command)]
            )


ALL = list(functions())
NAMES = [f"{' '.join(path)} ({place})" for path, place, _ in ALL]


@pytest.mark.parametrize(("path", "place", "command"), ALL, ids=NAMES)
def test_every_function_of_a_verb_has_json_and_the_options_of_its_data(path, place, command):
    names = {name for param in command.params for name in param.opts}
    assert "--json" in names
    if "data" in {param.name for param in command.params}:
        assert ("--engine" in names) == (place not in ONE_FILE)
        if "--na-values" in names:
            assert "--no-default-na" in names


def test_an_option_has_one_type_in_all_verbs():
    types = {}
    for _, _, command in ALL:
        for param in command.params:
            kind = (str(param.type_descriptor.annotation), param.multiple)
            for name in param.opts:
                if name.startswith("--"):
                    types.setdefault(name, set()).add(kind)
    assert [name for name, kinds in types.items() if len(kinds) > 1] == []


def test_options_of_one_parameter_have_the_same_help_everywhere():
    helps = {}
    shared = ("--engine", "--scheduler", "--memory-limit", "--on-error", "--na-values", "--no-default-na")
    for _, place, command in ALL:
        for param in command.params:
            if place != "network_impute.run" and set(param.opts) & set(shared):
                helps.setdefault(param.opts[0], set()).add(param.help)
    assert {name: len(texts) for name, texts in helps.items()} == dict.fromkeys(shared, 1)


### exit codes


def groups(command=None, path=()):
    command = get_command(app) if command is None else command
    inner = getattr(command, "verbs", {})
    return [path, *(found for name in inner for found in groups(command.commands[name], (*path, name)))]


@pytest.mark.parametrize("path", groups(), ids=" ".join)
def test_an_option_that_there_is_none_of_is_a_mistake_of_the_command_line(path):
    code, sentence = fail(*path, "--no-such-option")
    assert (code, "No such option" in sentence) == (2, True)


def test_an_option_of_one_value_is_given_once():
    code, sentence = fail("bayes", "--prior", "a=1", "--prior", "b=0")
    assert (code, "Option '--prior' is given more than once" in sentence) == (2, True)


@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items() if not isinstance(verb.place, str)])
def test_a_model_that_there_is_none_of_is_a_mistake_of_the_command_line(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fail(verb, "no-such-model.json", "rows.csv")[0] == 2


@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items() if not isinstance(verb.place, str)])
def test_a_model_that_is_damaged_is_no_mistake_of_the_command_line(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.json").write_text('{"format": "bayeslearn no such kind"}')
    assert fail(verb, "model.json", "rows.csv")[0] == 1


### results of fits


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 60)
    frame = pd.DataFrame({"x": rng.normal(size=60) + 3 * (kind == "a"), "hue": rng.choice(["red", "blue"], 60)})
    frame.assign(y=2 * frame["x"] + rng.normal(size=60), kind=kind).to_csv(place / "rows.csv", index=False)
    return place / "rows.csv"


@pytest.mark.parametrize(
    ("words", "fit"),
    [
        (["naive-bayes", "--target", "kind"], lambda data: bl.fit_naive_bayes(data, "kind")),
        (["mixture", "--n-components", "2"], lambda data: bl.fit_mixture(data, 2)),
        (["neighbors", "--target", "kind"], lambda data: bl.fit_neighbors(data, "kind")),
        (["forest", "--target", "kind", "--n-estimators", "5"], lambda data: bl.fit_forest(data, "kind")),
        (["regression", "--target", "y"], lambda data: fit_linear(data, "y")),
        (["hmm", "--n-states", "2", "--columns", "x"], lambda data: fit_hmm(data[["x"]], 2)),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_result_of_a_fit_is_its_fit_info(rows, tmp_path, words, fit):
    found = result(ask("fit", words[0], str(rows), *words[1:], "-o", str(tmp_path / "m.json"), "--json"))
    assert set(fit(pd.read_csv(rows)).fit_info.to_dict()) == set(found)
