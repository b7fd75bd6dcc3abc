"""Every kind of model is saved and loaded by one mechanism: JSON, packed JSON, and a head with arrays behind it."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import bayeslearn
from bayeslearn import codec, containers, model_values
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.distribution import PRIOR_CLASSES
from bayeslearn.distributions.sufficient_statistics import Statistics
from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    FormatError,
    InputFileNotFoundError,
    MismatchError,
    ParameterError,
)
from bayeslearn.hypotheses import FiniteSpace, HypothesisPosterior
from bayeslearn.mixture import MixtureModel, fit_mixture
from bayeslearn.naive_bayes import NaiveBayesModel
from bayeslearn.naive_bayes.text import TextModel, fit_text
from bayeslearn.online import Halving, WeightedMajority
from tests.fuzz.models import KINDS, OLD

GOLDEN = Path(__file__).parent / "golden" / "models"
NAMES = {"json": "model.json", "packed json": "model.json.gz", "packed": "model.model"}


@pytest.fixture(scope="module")
def models():
    """A small model of every kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: kind.learned() for name, kind in KINDS.items() if name not in OLD}


def answers(name, model):
    """What a model says to the questions of its kind, as text; an error is an answer too."""
    found = []
    for question in KINDS[name].use(model):
        try:
            found.append(repr(question()))
        except BayeslearnError as error:
            found.append(str(error))
    return found


### every kind


@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("name", [name for name in KINDS if name not in OLD])
def test_a_model_comes_back_with_the_same_answers_and_the_same_bytes(models, tmp_path, monkeypatch, name, form):
    if form == "packed":
        monkeypatch.setattr(containers, "MAX_INLINE", 2)
    path = tmp_path / NAMES[form]
    models[name].save(path)
    written = path.read_bytes()
    again = bayeslearn.load(path)
    assert type(again) is type(models[name])
    assert type(type(again).load(path)) is type(again)
    again.save(path)
    assert path.read_bytes() == written
    if name not in {
        "halving",
        "weighted_majority",
        "hypotheses_named",
    }:  # questions change a learner; functions are lost
        assert answers(name, again) == answers(name, models[name])


def test_every_kind_is_saved_by_some_model_here(models):
    assert {type(model).file_kind for model in models.values()} == set(codec.KINDS)


def test_every_class_has_the_kind_that_the_table_says():
    for kind, module in codec.KINDS.items():
        found = codec.class_of(kind)
        assert (found.file_kind, found.__module__) == (kind, module)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.*")), ids=lambda path: path.name)
def test_files_of_before_open(path):
    if path.name == "schema.json":
        with pytest.raises(FormatError, match="holds no model"):
            bayeslearn.load(path)
        return
    model = bayeslearn.load(path)
    if path.suffix == ".json":
        kind = json.loads(path.read_bytes())["format"].removeprefix("bayeslearn ")
        assert codec.RENAMED.get(kind, kind) == model.file_kind


def test_load_opens_what_ships_and_other_formats(tmp_path):
    asia = bayeslearn.load("asia")
    for ending in (".bif", ".xdsl", ".net", ".uai", ".xmlbif", ".bif.gz", ".json", ".json.gz"):
        asia.save(tmp_path / f"asia{ending}")
        assert len(bayeslearn.load(tmp_path / f"asia{ending}")) == 8
    assert len(bayeslearn.load("plumbing").cases) == len(bayeslearn.case_based.CaseBase.load("plumbing").cases)
    with pytest.raises(InputFileNotFoundError, match=r"there is no such file\n\nhint: .*networks that ship"):
        bayeslearn.load(tmp_path / "nowhere.json")
    with pytest.raises(ParameterError, match="expected the name of a file, got int"):
        bayeslearn.load(3)


def test_a_document_of_a_network_is_the_same_as_its_file(tmp_path):
    asia = bayeslearn.load("asia")
    asia.save(tmp_path / "asia.json")
    whole = json.loads((tmp_path / "asia.json").read_bytes())
    document = json.loads(json.dumps(asia.to_document(), default=np.ndarray.tolist))
    assert document == {key: value for key, value in whole.items() if key not in {"format", "version"}}
    (tmp_path / "renamed.model").write_bytes(gzip.compress(json.dumps(whole).encode()))
    assert bayeslearn.load(tmp_path / "renamed.model") == asia


def test_a_file_is_recognized_by_its_content(models, tmp_path):
    models["naive_bayes"].save(tmp_path / "a.model")
    (tmp_path / "b.json").write_bytes((tmp_path / "a.model").read_bytes())
    (tmp_path / "c").write_bytes(gzip.decompress((tmp_path / "a.model").read_bytes()))
    models["naive_bayes"].save(tmp_path / "d.json")
    text = json.dumps(json.loads((tmp_path / "d.json").read_bytes()), indent=4)
    (tmp_path / "e.model").write_text(f"\ufeff{text}", encoding="utf-8")
    for name in ("a.model", "b.json", "c", "d.json", "e.model"):
        assert bayeslearn.load(tmp_path / name).isclose(models["naive_bayes"])


def test_a_first_line_that_ends_like_a_document(tmp_path):
    (tmp_path / "a.json").write_text('{"variables": {"a": {}}\n, "format": "bayeslearn notes", "version": 1}')
    assert codec.read(tmp_path / "a.json", "notes", lambda _, parts: parts) == {"variables": {"a": {}}}


### other kinds, other versions


def test_the_error_of_another_kind_names_it(models, tmp_path):
    models["naive_bayes"].save(tmp_path / "m.json")
    expected = (
        r"holds a model of the kind 'naive Bayes', not 'mixture'\n\nhint: bayeslearn.load\(path\) opens a model of any"
    )
    with pytest.raises(FormatError, match=expected):
        MixtureModel.load(tmp_path / "m.json")
    models["halving"].save(tmp_path / "m.json")
    with pytest.raises(FormatError, match="it is a 'Halving', not a WeightedMajority"):
        WeightedMajority.load(tmp_path / "m.json")
    assert isinstance(bayeslearn.load(tmp_path / "m.json"), Halving)
    (tmp_path / "m.json").write_text('{"format": "bayeslearn dream", "version": 1}')
    with pytest.raises(FormatError, match=r"holds no model: expected .*\n\nhint: the kinds of models are 'network'"):
        bayeslearn.load(tmp_path / "m.json")
    with pytest.raises(FormatError, match="holds no mixture: expected"):
        MixtureModel.load(tmp_path / "m.json")


@pytest.mark.parametrize("name", NAMES.values())
def test_a_version_of_the_future_is_named_before_anything_else(models, tmp_path, name):
    models["mixture_gaussian"].save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    packed = content[:2] == b"\x1f\x8b"
    changed = (gzip.decompress(content) if packed else content).replace(b'"version": 2', b'"version": 7')
    (tmp_path / name).write_bytes(gzip.compress(changed) if packed else changed)
    with pytest.raises(FormatError, match=r"version 7, and this program reads up to 2\n\nhint: a newer bayeslearn"):
        bayeslearn.load(tmp_path / name)


def test_documents_are_upgraded_version_by_version(tmp_path, monkeypatch):
    monkeypatch.setattr(codec, "_upgrades", {})
    monkeypatch.setattr(codec, "_classes", {})

    class Note(codec.Saved, kind="note", version=3):
        def __init__(self, text):
            self.text = text

        def to_document(self):
            return {"text": self.text}

        @classmethod
        def from_document(cls, reader, document):
            return cls(*reader.entries(document, {"text": str}, "a note"))

    @codec.upgrade("note", 1)
    def joined(reader, document):
        return {"words": " ".join(*reader.entries(document, {"words": [str]}, "a note"))}

    @codec.upgrade("note", 2)
    def renamed(_, document):
        return {"text": document["words"]}

    for version, parts in ((1, {"words": ["a", "b"]}), (2, {"words": "a b"}), (3, {"text": "a b"})):
        codec.write(tmp_path / "n.json", "note", parts, version)
        assert bayeslearn.load(tmp_path / "n.json").text == "a b"
    codec.write(tmp_path / "n.json", "note", {"words": 1}, 1)
    with pytest.raises(FormatError, match="'words' of a note is 1"):
        Note.load(tmp_path / "n.json")
    Note("c").save(tmp_path / "n.json")
    assert json.loads((tmp_path / "n.json").read_bytes())["version"] == 3


### a distribution from elsewhere


@dataclass(frozen=True, eq=False)
class Lifetimes(Statistics):
    n: np.ndarray
    total: np.ndarray


@dataclass(frozen=True, eq=False)
class Rates:
    shape: np.ndarray
    scale: np.ndarray


def test_statistics_and_priors_of_a_new_distribution_need_no_code_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setitem(PRIOR_CLASSES, "lifetimes prior", Rates)
    seen = StatisticsBundle(life=Lifetimes([1.0, 2.0], [3.5, 4.0]), color=Counts([[1.0, 2.0]]))
    prior = Rates(np.array([1.0, 1.0]), np.arange(2.0))
    parts = {"seen": model_values.plain_statistics(seen), "prior": model_values.plain_prior(prior, model_values.PRIORS)}

    def build(reader, document):
        nothing = StatisticsBundle(life=Lifetimes(np.zeros(2), np.zeros(2)), color=Counts(np.zeros((1, 2))))
        return reader.statistics(document["seen"], nothing), reader.prior(document["prior"], model_values.PRIORS)

    for name in NAMES.values():
        codec.write(tmp_path / name, "lifetimes", parts)
        found, before = codec.read(tmp_path / name, "lifetimes", build)
        assert found.isclose(seen, rtol=0, atol=0)
        assert isinstance(before, Rates)
        np.testing.assert_array_equal(before.scale, prior.scale)
    with pytest.raises(FormatError, match="files know no prior Lifetimes"):
        model_values.plain_prior(seen["life"])


### files of others


def packed(path, head, arrays=b""):
    path.write_bytes(gzip.compress(json.dumps(head).encode() + b"\n" + arrays, compresslevel=1))
    return path


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        ([1 << 27], FormatError, "it ends within the array"),
        ([1 << 60], CapacityError, "arrays of more than 2,147,483,648 bytes, which are read at most"),
        ([1 << 40, 1 << 40], CapacityError, "arrays of more than 2,147,483,648 bytes"),
        ([-1], FormatError, "an array is described as"),
        ([True], FormatError, "an array is described as"),
        ([1] * 70, FormatError, "an array is described as"),
        ([0, 1 << 62, 1 << 62], CapacityError, "arrays of more than 2,147,483,648 bytes"),
    ],
)
def test_a_short_file_reserves_no_more_than_it_holds(tmp_path, shape, error, message):
    head = {
        "format": "bayeslearn mixture", "version": 1, "equal": False, "weights": None, "shares": {}, "parts": [],
        "arrays": [{"path": ["weights"], "type": "<f8", "shape": shape}],
    }  # fmt: skip
    path = packed(tmp_path / "m", head, b"\0" * 800)
    tracemalloc.start()
    try:
        with pytest.raises(error, match=message):
            bayeslearn.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()


def test_an_array_where_none_belongs_is_a_named_error(models, tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "MAX_INLINE", 1 << 30)
    array = np.arange(3.0)
    for name in ("mixture_table", "naive_bayes", "hmm_symbols", "local", "neighbors", "weighted_majority", "cases"):
        models[name].save(tmp_path / "m")
        whole = json.loads(gzip.decompress((tmp_path / "m").read_bytes()))
        for way in places(whole):
            changed = json.loads(json.dumps(whole))
            part = changed
            for step in way[:-1]:
                part = part[step]
            part[way[-1]] = None
            changed["arrays"] = [{"path": way, "type": "<f8", "shape": [3]}]
            try:
                bayeslearn.load(packed(tmp_path / "m", changed, array.tobytes()))
            except (FormatError, CapacityError) as error:
                assert str(tmp_path) in str(error)  # noqa: PT017 - some places take any array


def places(document, way=()):
    """The paths to all values of a document, of lists the first only."""
    items = document.items() if isinstance(document, dict) else enumerate(document[:1])
    for key, value in items:
        if key not in {"format", "version"}:
            yield [*way, key]
        if isinstance(value, dict | list):
            yield from places(value, (*way, key))


def test_deep_nesting_is_a_named_error(tmp_path):
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        deep = opening * 200_000 + closing * 200_000
        text = '{"format": "bayeslearn mixture", "version": 1, "x": ' + (deep.replace(":}", ":0}")) + "}\n"
        (tmp_path / "m.json").write_text(text)
        with pytest.raises(FormatError, match="nested too deeply"):
            bayeslearn.load(tmp_path / "m.json")


def test_texts_among_numbers_make_no_array_of_texts(models, tmp_path):
    models["mixture_gaussian"].save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_bytes())
    document["weights"] = ["x" * (1 << 20), *["y"] * (1 << 20)]  # as an array of texts: 4 TiB
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=r"'weights' holds .*, not finite numbers"):
        bayeslearn.load(tmp_path / "m.json")


### writing


def test_large_arrays_stand_behind_the_document(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit_mixture(x, 2, n_init=1, max_iter=2)
    sizes = {}
    for form, name in NAMES.items():
        model.save(tmp_path / name)
        sizes[form] = (tmp_path / name).stat().st_size
        again = bayeslearn.load(tmp_path / name)
        np.testing.assert_array_equal(again.parameters[0].covariance, model.parameters[0].covariance)
    assert sizes["packed"] < sizes["packed json"] < sizes["json"]
    head = json.loads(gzip.decompress((tmp_path / "model.model").read_bytes()).split(b"\n")[0])
    assert ["parts", 0, "statistics", "scatter"] in [entry["path"] for entry in head["arrays"]]


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 255], "|u1"), ([0.0, 256.0], "<u2"), ([0, 2**31], "<u4"), ([-1, 3], "|i1"), ([-(2**20), 0], "<i4"),
        ([0, 2**40], "<i8"), ([0.5, 1.0], "<f8"), ([-200.0, 0.0], "<i2"),
    ],
)  # fmt: skip
def test_numbers_are_written_in_the_smallest_type(numbers, kind):
    written = containers.smallest(np.array(numbers))
    assert written.dtype.str == kind
    assert written.tolist() == numbers


def test_missing_numbers_are_written_as_such(tmp_path, monkeypatch):
    cells = np.ma.masked_invalid([1.5, np.nan, 3.0])
    codes = np.ma.masked_less([2, -1, 0], 0)
    for inline in (0, 100):
        monkeypatch.setattr(containers, "MAX_INLINE", inline)
        for name in NAMES.values():
            codec.write(tmp_path / name, "cells", {"cells": cells, "codes": codes})

            def build(reader, parts):
                return [reader.array(parts[key], key, missing=True).tolist() for key in ("cells", "codes")]

            found, coded = codec.read(tmp_path / name, "cells", build)
            assert (found[0], np.isnan(found[1]), found[2]) == (1.5, True, 3.0)
            assert [code if code == code else -1 for code in coded] == [2, -1, 0]  # noqa: PLR0124 - NaN


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize("name", NAMES.values())
def test_numbers_that_are_not_finite_are_not_written(tmp_path, bad, size, name):
    with pytest.raises(FormatError, match="the model holds numbers that are not finite"):
        codec.write(tmp_path / name, "x", {"p": np.full(size, bad)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.csv", "m.csv.gz", "M.PARQUET", "m.bif", "m.yaml", "m.txt"])
def test_a_name_of_another_format_is_refused(models, tmp_path, name):
    with pytest.raises(ParameterError, match=r"its name stands for another format\n\nhint: names end in .json"):
        models["naive_bayes"].save(tmp_path / name)


### what the kinds add


def test_a_posterior_of_functions_is_asked_about_cases_when_it_has_its_space(tmp_path):
    space = FiniteSpace.from_functions({"a": lambda x: x, "b": lambda x: 1 - x})
    posterior = space.posterior([0.25, 0.75]).update(0.3)
    posterior.save(tmp_path / "p.json")
    alone = bayeslearn.load(tmp_path / "p.json")
    assert alone.probabilities == posterior.probabilities
    assert (alone + alone).map_hypotheses == (posterior + posterior).map_hypotheses
    with pytest.raises(ParameterError, match=r"HypothesisPosterior.load\(path, space\)"):
        alone.update(0.3)
    whole = HypothesisPosterior.load(tmp_path / "p.json", space)
    assert whole.update(0.3).probabilities == posterior.update(0.3).probabilities
    with pytest.raises(MismatchError, match="the file has the hypotheses 'a', 'b', given are 'c', 'd'"):
        HypothesisPosterior.load(tmp_path / "p.json", FiniteSpace.from_functions({"c": abs, "d": abs}))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("version_space", {"positive": [1, 1, 1, 0]}, "different numbers of positive examples"),
        ("version_space", {"negative": {"rows": [[0, 1]], "counts": [1]}}, "no conjunction is consistent"),
        ("version_space", {"negative": {"rows": [[9, 1]], "counts": [1]}}, "negative examples are not rows"),
        ("version_space", {"negative": {"rows": [[1, 1]], "counts": [0]}}, "negative examples are not rows"),
        ("version_space", {"positive": [0.5, 1.5, 1, 1]}, "not whole"),
        ("k_cnf", {"k": 3}, "there is no 3-CNF over 2 attributes"),
        ("k_cnf", {"n_positive": 7}, "not those of 7 positive examples"),
        ("k_cnf", {"counts": [1, 1]}, "expected 'counts' of shape"),
        ("hypotheses", {"names": ["a", "a", "b"]}, "the same"),
        ("hypotheses", {"log_prior": [0.0, None]}, "expected 'log_prior' of shape"),
        ("hypotheses", {"statistics": {"finite": [0, 0, 0], "impossible": [1, 1, 1]}}, "none of its hypotheses"),
        ("one_dependence", {"cases": 0}, "a prior or an exponent that is not above 0"),
        ("one_dependence", {"labels": ["a"]}, "expected 'pairs' of shape"),
    ],
)
def test_what_does_not_fit_is_named(models, tmp_path, name, change, message):
    models[name].save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_bytes()) | change
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=message):
        bayeslearn.load(tmp_path / "m.json")


def test_the_models_of_fitted_estimators_are_saved(tmp_path):
    X, y = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]] * 4, ["p", "q", "q", "p"] * 4
    numbers = np.random.default_rng(0).normal(size=(16, 2))
    fitted = [
        (bayeslearn.NaiveBayesClassifier().fit(X, y), NaiveBayesModel),
        (bayeslearn.AODEClassifier().fit(X, y), None),
        (bayeslearn.NeighborsClassifier().fit(numbers, y), None),
        (bayeslearn.BayesianLinearRegressor().fit(numbers, numbers[:, 0]), None),
        (bayeslearn.LocalRegressor(n_neighbors=5).fit(numbers, numbers[:, 0]), None),
        (bayeslearn.LogisticClassifier().fit(numbers, y), None),
        (bayeslearn.GaussianMixture(2, random_state=0).fit(numbers), MixtureModel),
        (bayeslearn.TextClassifier().fit(["a b", "c d"] * 8, y), TextModel),
    ]
    for estimator, kind in fitted:
        estimator.model_.save(tmp_path / "m.json")
        assert isinstance(bayeslearn.load(tmp_path / "m.json"), kind or type(estimator.model_))


def test_the_model_of_texts_that_is_read_learns_on(tmp_path):
    model = fit_text(["aa bb", "cc"], ["x", "y"], prior=1.0)
    for name in NAMES.values():
        model.save(tmp_path / name)
        more = fit_text(["cc dd"], ["y"], prior=1.0).statistics
        assert bayeslearn.load(tmp_path / name).update(more).statistics == model.update(more).statistics
