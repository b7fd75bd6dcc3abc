"""Public names follow the naming rules, and prose uses the terms of the field."""

from __future__ import annotations

import json

import pytest

from tests import prose, vocabulary


def test_no_name_breaks_the_rules():
    assert vocabulary.violations() == {}


@pytest.mark.parametrize(
    "name",
    [
        "most_parents", "least", "left_said", "Neighbours", "centre", "discretise", "standardised", "doubtful", "told",
        "left_out", "rows_left_out",
    ],
)  # fmt: skip
def test_names_that_are_wrong(name):
    assert vocabulary.is_wrong(name)


@pytest.mark.parametrize(
    "name",
    ["most_probable", "MostProbableExplanation", "NeighborsModel", "semi_supervised", "noise", "otherwise", "at_least"],
)
def test_names_that_are_right(name):
    assert not vocabulary.is_wrong(name)


def test_everything_public_is_looked_at():
    assert len(vocabulary.public_objects()) > 200
    assert len(vocabulary.public_functions()) > 80
    assert len(list(vocabulary.callables())) > 1000
    assert len(list(vocabulary.options())) > 300
    assert ("fit parameters", "prior") in set(vocabulary.options())


### each rule finds what it forbids


@pytest.mark.parametrize("parameter", ["rng", "seed", "weights", "cases", "bins", "folds", "k", "left_out", "most"])
def test_a_forbidden_parameter_is_found(parameter):
    space = {}
    exec(f"def fit_this(data, {parameter}, n_bins): ...", space)
    assert list(vocabulary.of_parameters("fit_this", space["fit_this"])) == [f"parameter fit_this({parameter})"]


def test_two_classes_of_one_name_are_found():
    objects = {"Score": [type("Score", (), {}), type("Score", (), {})], "Prior": [type("Prior", (), {}), len]}
    assert list(vocabulary.of_classes(objects)) == ["several classes Score"]


def test_a_member_with_a_former_name_is_found():
    objects = {"Bound": [type("Bound", (), {"__module__": "bayeslearn", "sentence": "", "value": 1})]}
    assert vocabulary.of_members(objects) == {"name Bound.sentence": "summary()"}


def test_a_function_without_a_verb_is_found():
    functions = dict.fromkeys(["fit_network", "pac_bound", "lowess", "doubtful_rows_of", "shares"])
    assert list(vocabulary.of_functions(functions)) == ["no verb doubtful_rows_of", "no verb shares"]


def test_a_learner_that_returns_no_model_is_found():
    def fit_mixture() -> MixtureModel: ...  # noqa: F821
    def fit_network() -> StructureFitInfo: ...  # noqa: F821
    def learn_text() -> TextModel: ...  # noqa: F821
    def learning_curve() -> LearningCurve: ...  # noqa: F821

    functions = {f.__name__: f for f in (fit_mixture, fit_network, learn_text, learning_curve)}
    assert list(vocabulary.of_learners(functions)) == [
        "learner fit_network -> StructureFitInfo",
        "learner learn_text -> TextModel",
    ]


def test_an_option_that_is_no_parameter_is_found():
    options = [("fit network", "n_bins"), ("fit network", "bins"), ("query", "whisper"), ("fit neighbors", "weights")]
    assert list(vocabulary.of_options(options)) == ["option fit network --bins", "option query --whisper"]


def test_a_key_that_breaks_the_rules_is_found(tmp_path):
    answer = {"answer": {"rows": [{"spoke": 3, "left_out": {}}], "n_rows": 1}}
    (tmp_path / "show.json").write_text(json.dumps(answer))
    assert list(vocabulary.of_json(tmp_path)) == ["key show: spoke", "key show: left_out"]


### prose


@pytest.mark.parametrize(
    "path", prose.documents() + prose.modules(), ids=lambda path: str(path.relative_to(prose.ROOT))
)
def test_prose_has_the_terms_of_the_field(path):
    hits = prose.found(path)
    allowed = prose.listed().get(str(path.relative_to(prose.ROOT)), 0)
    assert len(hits) <= allowed, f"{allowed} allowed; tests/prose.py lists the words:\n" + "\n".join(hits)


@pytest.mark.parametrize(
    "sentence",
    [
        "Whether it was told.", "what this says", "the arcs it speaks for", "cells that are holes",
        "It rests on 3 rows.", "a column by itself", "columns of no use", "so many rows", "10 rows in all.",
        "where people look", "restarts with dice", "the dearest table", "faint parents", "EM climbs to it",
        "it is left as it is", "the fewest cases", "the doubtful rows", "nobody has seen it",
    ],
)  # fmt: skip
def test_words_that_prose_avoids_are_found(tmp_path, monkeypatch, sentence):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    module, message, page = tmp_path / "a.py", tmp_path / "b.py", tmp_path / "c.md"
    module.write_text(f'"""One line.\n\n{sentence}\n"""\n')
    message.write_text(f'def f(n):\n    raise ValueError(f"{{n}}: {sentence}")\n')
    page.write_text(f"# Title\n\n```console\nit says\n```\n\nThe `told` one: {sentence}\n")
    places = [prose.found(path)[0].split(": ")[0] for path in (module, message, page)]
    assert places == ["a.py:3", "b.py:2", "c.md:7"]
    assert all(len(prose.found(path)) == 1 for path in (module, message, page))


@pytest.mark.parametrize(
    "sentence",
    ["in all packages", "hill climbing", "the 'house-votes' table", "cases of the case base", "besides", "told_by"],
)
def test_words_that_prose_may_have(tmp_path, monkeypatch, sentence):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    (tmp_path / "a.py").write_text(f'"""{sentence}."""\n')
    assert prose.found(tmp_path / "a.py") == []


def test_the_list_of_prose_has_no_files_that_are_gone():
    assert [path for path in prose.listed() if not (prose.ROOT / path).exists()] == []
