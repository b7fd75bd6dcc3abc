"""The model as a value: evidence adds, is taken back and fades; holes are integrated out; files keep everything."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import DiscreteVariable, NaiveBayesModel, Schema, as_table, fit_naive_bayes
from bayeslearn.distributions import Dirichlet, Gamma, NormalInverseGamma
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    EvidenceError,
    FormatError,
    ImpossibleDataError,
    InputFileNotFoundError,
    MismatchError,
    MissingValuesError,
    NoFitInfoError,
    ParameterError,
    UnknownColumnError,
)
from bayeslearn.naive_bayes import PooledPrior
from tests.properties import trials

FAMILIES = {"visits": "poisson", "heat": "gaussian"}


def random_rows(seed, *, n=30, holes=0.2, labels=True):
    """Words, numbers and counts that depend on a class, with holes."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 3, n)
    columns = {
        "sky": np.array(["sun", "rain", "snow", "fog"], dtype=object)[(rng.integers(0, 2, n) + c) % 4],
        "heat": (rng.normal(size=n) + c).astype(object),
        "visits": rng.poisson(1 + 2 * c).astype(object),
    }
    for column in columns.values():
        column[rng.random(n) < holes] = None
    label = np.array(list("abc"), dtype=object)[c]
    label[:3] = list("abc")
    if not labels:
        label[rng.random(n) < 0.5] = None
        label[:6] = list("abcabc")
    return {name: column.tolist() for name, column in columns.items()} | {"kind": label.tolist()}


def part(rows, a, b):
    return {name: column[a:b] for name, column in rows.items()}


def learned(rows, **options):
    return fit_naive_bayes(rows, "kind", **({"distributions": FAMILIES, "calibrate": False} | options))


### laws


@given(st.integers(0, 10_000), st.integers(5, 25))
@trials(15)
def test_parts_add_up_to_the_whole_and_can_be_taken_back(seed, cut):
    rows = random_rows(seed)
    whole = learned(rows)
    first, second = (fit_naive_bayes(part(rows, *ends), like=whole) for ends in ((0, cut), (cut, 30)))
    assert (first + second).isclose(whole)
    assert (whole - second).isclose(first, atol=1e-7)
    assert (0.5 * whole + 0.5 * whole).isclose(whole)
    asked = random_rows(seed + 1)
    np.testing.assert_allclose((first + second).log_joint(asked), whole.log_joint(asked), rtol=1e-9)


@given(st.integers(0, 10_000))
@trials(10)
def test_a_weight_of_two_is_the_row_twice(seed):
    rows = random_rows(seed)
    w = np.random.default_rng(seed).integers(1, 4, 30)
    twice = as_table({name: np.repeat(np.array(column, object), w).tolist() for name, column in rows.items()},
                     numeric=["heat", "visits"])  # fmt: skip
    assert learned(rows, sample_weight=w).isclose(learned(twice))


@given(st.integers(0, 10_000), st.sampled_from(["mean", "integrated"]), st.sampled_from(["pooled:1", "laplace", "m:2"]))
@trials(15)
def test_the_joint_is_the_product_of_what_the_families_say(seed, estimate, prior):
    """The slow twin: every factor by the objects of the families, a missing cell a factor of 1."""
    rows, asked = random_rows(seed), random_rows(seed + 1, n=8)
    model = learned(rows, estimate=estimate, prior=prior)
    shares = model.posterior("kind").mean()
    expected = np.tile(np.log(shares), (8, 1))
    for column in model.columns:
        posterior, family = model.posterior(column.name), column.distribution
        states = getattr(column.variable, "states", None)
        for i, cell in enumerate(asked[column.name]):
            if cell is None or (states and cell not in states):  # unseen states have a test of their own
                continue
            x = states.index(cell) if states else float(cell)
            if estimate == "integrated":
                expected[i] += family.predictive(posterior).log_prob([x])[0]
            else:
                expected[i] += family.log_prob(posterior.mean(), [x])[0]
    seen = [sky is None or sky in model["sky"].variable.states for sky in asked["sky"]]
    np.testing.assert_allclose(model.log_joint(asked)[seen], expected[seen], rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000))
@trials(10)
def test_what_speaks_for_a_class_adds_up(seed):
    rows = random_rows(seed)
    model = replace(learned(rows), column_exponents=0.7)
    p = model.predict_proba(rows)
    why = model.explain(rows)
    best = p.argmax(axis=1)
    rest = 1 - p[np.arange(30), best]
    np.testing.assert_allclose(why.log_odds, np.log(p[np.arange(30), best]) - np.log(rest), rtol=1e-6, atol=1e-8)
    joint = model.log_joint(rows)
    np.testing.assert_allclose(model.explain(rows, of="a", against="c").log_odds, joint[:, 0] - joint[:, 2], rtol=1e-9)
    assert why.parts["sky"][[x is None for x in rows["sky"]]] == pytest.approx(0)


def test_states_that_are_new_are_taken_in():
    rows = random_rows(0)
    model = learned(part(rows, 0, 20))
    new = {"sky": ["hail"], "heat": [1.0], "visits": [2], "kind": ["d"]}
    grown = model.update(new)
    assert grown.classes == ("a", "b", "c", "d")
    assert "hail" in grown["sky"].variable.states
    assert (grown - fit_naive_bayes(new, like=grown)).isclose(model)
    assert (model + fit_naive_bayes(new, like=grown)).isclose(grown)


def test_numbers_that_come_as_text_are_the_same_states(tmp_path):
    model = fit_naive_bayes({"x": [1, 2, 1, 2], "y": [0, 1, 0, 1]}, "y", distributions={"x": "categorical"})
    (tmp_path / "more.csv").write_text("x,y\n1,0\n3,1\n")
    later = model.update(tmp_path / "more.csv")
    assert later["x"].variable.states == (1, 2, "3")
    assert later.class_counts.tolist() == [3, 3]


def test_a_state_never_seen_has_the_share_of_an_average_one():
    model = fit_naive_bayes({"x": ["u", "u", "v"], "y": ["a", "b", "b"]}, "y", prior="laplace", class_prior="none")
    # a: 1/(1 + 2 + 1), b: 1/(2 + 2 + 1)
    a, b = np.array([1 / 3, 2 / 3]) * [1 / 4, 1 / 5]
    np.testing.assert_allclose(model.predict_proba({"x": ["w"]}), [[a / (a + b), b / (a + b)]], rtol=1e-12)
    plain = fit_naive_bayes({"x": ["u", "u", "v"], "y": ["a", "b", "b"]}, "y", prior="none", class_prior="none")
    np.testing.assert_allclose(plain.predict_proba({"x": ["w"]}), [[1 / 3, 2 / 3]], rtol=1e-12)


def test_a_constant_column_of_numbers_says_nothing():
    rows = {"x": [0.1, 0.1, 0.1, 0.1], "u": ["p", "p", "q", "q"], "y": ["a", "a", "b", "b"]}
    model = fit_naive_bayes(rows, "y", distributions={"x": "gaussian"})
    assert model.posterior("x") is None
    np.testing.assert_allclose(model.predict_proba({"x": [9.0], "u": [None]}), [[0.5, 0.5]], rtol=1e-12)
    with pytest.raises(ParameterError, match=r"column 'x'.*variances"):
        fit_naive_bayes(rows, "y", distributions={"x": "gaussian"}, prior="none").predict(rows)


def test_priors_are_objects_of_the_families():
    rows = random_rows(1)
    prior = {
        "sky": Dirichlet([2, 1, 1, 1]),
        "heat": NormalInverseGamma.unit_information(mean=0, var=1, equivalent_sample_size=5),
        "visits": Gamma.m_estimate(3, 2.0),
    }
    model = learned(rows, prior=prior, class_prior=Dirichlet([1, 2, 3]))
    counts = model.statistics["sky"].n
    np.testing.assert_allclose(model.posterior("sky").alpha, counts + np.array([2, 1, 1, 1]), rtol=1e-12)
    np.testing.assert_allclose(model.posterior("kind").alpha, model.class_counts + np.array([1, 2, 3]), rtol=1e-12)
    assert model.posterior("visits").rate == pytest.approx(model.statistics["visits"].n + 3)
    assert repr(learned(rows, prior=Gamma(1, 1))["heat"].prior) == repr(PooledPrior(1.0))  # for its own family only


def test_a_table_can_take_all_others_for_its_last_state():
    schema = Schema([DiscreteVariable("sky", ["sun", "rain", "other"])])
    table = as_table({"sky": ["rain", "hail", None, "sun", "fog"]}, schema=schema, handle_unknown="last")
    assert table.column("sky").tolist() == ["rain", "other", None, "sun", "other"]


### labels


@given(st.integers(0, 2_000))
@trials(8)
def test_em_climbs_and_keeps_every_case(seed):
    rows = random_rows(seed, n=40, labels=False)
    steps = []
    model = learned(rows, progress=steps.append, tol=1e-6)
    assert model.total_weight == pytest.approx(40)
    gains = [step.gain for step in model.fit_info.history[1:]]
    assert [now.detail.iteration for now in steps] == list(range(len(steps)))
    assert gains
    assert min(gains) >= -1e-8
    assert learned(rows, unlabeled="drop").total_weight == sum(k is not None for k in rows["kind"])


def test_rows_without_a_label_help():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 400)
    rows = {f"x{j}": rng.normal(size=400) + 1.2 * c for j in range(6)} | {"y": np.array(["a", "b"], object)[c]}
    few = {name: column.copy() for name, column in rows.items()}
    few["y"][8:] = None
    few["y"][:8] = list("abababab")
    for j in range(6):
        few[f"x{j}"][:8] = rng.normal(size=8) + 1.2 * np.array([0, 1] * 4)
    right = [np.mean(fit_naive_bayes(few, "y", unlabeled=how).predict(rows) == rows["y"]) for how in ("em", "drop")]
    assert right[0] > right[1] + 0.02


def test_soft_labels_are_shares_of_rows():
    rows = {"x": ["u", "v", "u"], "h": [1.0, 2.5, 4.0]}
    soft = fit_naive_bayes(rows, "y", shares={"a": [1, 0.25, 0], "b": [0, 0.75, 1]})
    copies = {name: np.array(column, object)[[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]] for name, column in rows.items()}
    hard = fit_naive_bayes(
        copies | {"y": list("aaaaabbbbbbb")}, "y", distributions={"h": "gaussian"}, sample_weight=[0.25] * 12
    )
    assert soft.isclose(hard)
    with pytest.raises(ParameterError, match="expected 3 shares for each class"):
        fit_naive_bayes(rows, "y", shares={"a": [1, 0], "b": [0, 1]})


### files


@pytest.mark.parametrize("name", ["m.json", "m.json.gz"])
@pytest.mark.parametrize("prior", [None, "m:2", "evidence", {"sky": Dirichlet([1, 2, 3, 4]), "visits": Gamma(1, 2)}])
def test_a_file_keeps_everything(tmp_path, name, prior):
    rows = random_rows(3)
    model = replace(learned(rows, prior=prior, estimate="integrated"), column_exponents=(0.5, 1, 2))
    model.save(tmp_path / name)
    again = NaiveBayesModel.load(tmp_path / name)
    np.testing.assert_array_equal(again.log_joint(rows), model.log_joint(rows))
    assert again.update(rows).isclose(model.update(rows))
    assert again.column_exponents == (0.5, 1, 2)


def broken(**change):
    return lambda entry: entry | change


def columns(change):
    def apply(entry):
        entry["columns"][0] = change(entry["columns"][0])
        return entry

    return apply


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (broken(format="other"), "expected"),
        (broken(version=3), "version 3"),
        (broken(more=1), "expected a model with"),
        (broken(column_exponents=-1), "column_exponents"),
        (broken(columns={}), "'columns' of a model"),
        (columns(broken(distribution="zipf")), "no distribution 'zipf'"),
        (columns(broken(prior={"kind": "gamma", "shape": 1, "rate": 1})), "no prior of a categorical"),
        (columns(broken(prior={"kind": "dirichlet", "alpha": [1.0]})), "does not fit"),
        (columns(broken(prior={"kind": "rule"})), "no rule"),
        (columns(broken(statistics={"n": [[1.0]]})), "shape"),
        (columns(broken(statistics={"n": [[-1.0] * 4] * 3})), "below zero"),
        (columns(broken(statistics={"n": [[1.0], [1.0, 2.0]]})), "not finite numbers"),
        (columns(broken(statistics={"n": "many"})), "'n' of statistics"),
        (columns(broken(variable={"name": "sky", "kind": "discrete", "states": []})), "at least one state"),
    ],
)
def test_bad_files_are_named(tmp_path, change, words):
    path = tmp_path / "m.json"
    learned(random_rows(3)).save(path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(FormatError, match=words):
        NaiveBayesModel.load(path)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"format": NaN}', b"[" * 100_000])
def test_what_is_no_model_is_refused(tmp_path, content):
    (tmp_path / "m.json").write_bytes(content)
    with pytest.raises(FormatError, match=r"holds no naive Bayes|not JSON|expected a number|nested too deeply"):
        NaiveBayesModel.load(tmp_path / "m.json")
    (tmp_path / "m.json.gz").write_bytes(gzip.compress(b"x")[:-3])
    with pytest.raises(FormatError, match="cannot be read"):
        NaiveBayesModel.load(tmp_path / "m.json.gz")
    with pytest.raises(InputFileNotFoundError, match="no such file"):
        NaiveBayesModel.load(tmp_path / "none.json")


### bad input


def test_bad_input_is_named():
    rows = random_rows(4)
    with pytest.raises(UnknownColumnError, match="'kin'"):
        fit_naive_bayes(rows, "kin")
    with pytest.raises(ParameterError, match="no target"):
        fit_naive_bayes(rows)
    with pytest.raises(MissingValuesError, match="every cell of column 'kind'"):
        learned(rows | {"kind": [None] * 30})
    with pytest.warns(BayeslearnWarning, match="every cell of column 'sky'"):
        learned(rows | {"sky": [None] * 30})
    with pytest.warns(BayeslearnWarning, match="column 'heat' is inf"):
        learned(rows | {"heat": [np.inf] * 30})
    with pytest.raises(DataError, match=r"column 'visits': counts must be whole and not negative, got -1"):
        learned(rows | {"visits": [-1] * 30})
    with pytest.raises(DataError, match="column 'heat'"):
        learned(rows, distributions={"heat": "poisson"})
    with pytest.raises(ParameterError, match=r"distributions\['sky'\]"):
        learned(rows, distributions={"sky": "gauss"})
    with pytest.raises(ParameterError, match="'skye'"):
        learned(rows, prior={"skye": "laplace"})
    with pytest.raises(ParameterError, match="no prior 'm:x'"):
        learned(rows, prior="m:x")
    with pytest.raises(ParameterError, match="3 is no prior of a categorical"):
        learned(rows, prior=3)
    model = learned(rows)
    with pytest.raises(UnknownColumnError, match="'heat'"):
        model.predict({"sky": ["sun"], "visits": [1]})
    assert len(model.predict({"sky": ["sun"], "visits": [1]}, missing_columns="missing")) == 1
    with pytest.raises(EvidenceError, match="more evidence removed"):
        model - (model + model)
    with pytest.raises(MismatchError, match="different targets or columns"):
        model + fit_naive_bayes({"x": ["u", "v"], "y": ["a", "b"]}, "y")
    with pytest.raises(MismatchError, match="prior"):
        model + learned(rows, prior="m:3")
    with pytest.raises(DataError, match="new state 'hail'"):
        learned(rows, prior={"sky": Dirichlet([1, 1, 1, 1])}).update(part(rows, 0, 1) | {"sky": ["hail"]})


def test_one_class_only_is_certain():
    model = fit_naive_bayes({"x": ["u", "v"], "y": ["a", "a"]}, "y")
    np.testing.assert_array_equal(model.predict_proba({"x": ["u", "w"]}), [[1], [1]])
    with pytest.raises(ParameterError, match="only one class"):
        model.explain({"x": ["u"]})


def test_a_row_that_no_class_can_show():
    model = fit_naive_bayes({"x": ["u", "v"], "z": ["p", "q"], "y": ["a", "b"]}, "y", prior="none")
    with pytest.raises(ImpossibleDataError, match="row 1 has probability zero"):
        model.predict({"x": ["u", "u"], "z": ["p", "q"]})


### verbs


def test_rows_that_were_added_can_be_removed():
    rows, more = random_rows(5), random_rows(6)
    model = learned(rows)
    assert model.update(more).remove(more).isclose(model)
    a, b = model.update(part(more, 0, 10)), model.update(part(more, 10, 30))
    assert a.merge(b).isclose(model.update(more))
    assert (a + b).remove(part(more, 10, 30)).isclose(a)
    with pytest.raises(EvidenceError, match="states that it does not know"):
        model.remove(part(rows, 0, 1) | {"sky": ["hail"]})
    with pytest.raises(MissingValuesError, match="1 rows have no 'kind'"):
        model.remove(part(rows, 0, 2) | {"kind": ["a", None]})
    with pytest.raises(EvidenceError, match="more evidence"):
        model.remove(more).remove(rows)


def test_a_discount_is_a_weight():
    rows = random_rows(7)
    half = learned(rows, sample_weight=[0.5] * 30)
    assert learned(rows).discount(0.5).isclose(half)
    with pytest.raises(ParameterError, match="forgetting_factor"):
        half.discount(2)


def test_samples_have_the_distribution_of_the_model():
    model = learned(random_rows(8, n=300, holes=0))
    found = model.sample(20_000, random_state=1)
    assert found.columns == ("sky", "heat", "visits", "kind")
    again = fit_naive_bayes(found, like=model)
    np.testing.assert_allclose(again.class_counts / 20_000, np.exp(model.class_log_prior), atol=0.02)
    sky = again.statistics["sky"].n / again.class_counts[:, None]
    np.testing.assert_allclose(sky, model.posterior("sky").mean(), atol=0.03)
    np.testing.assert_allclose(again.posterior("heat").mean().mean, model.posterior("heat").mean().mean, atol=0.06)
    np.testing.assert_allclose(again.posterior("visits").mean(), model.posterior("visits").mean(), rtol=0.05)
    wide = replace(learned(random_rows(8, n=9)), estimate="integrated").sample(50, random_state=2)
    assert wide.n_rows == 50
    assert model.sample(0).n_rows == 0
    constant = fit_naive_bayes({"x": [2.5, 2.5], "y": ["a", "b"]}, "y", distributions={"x": "gaussian"}).sample(3)
    assert constant.column("x").tolist() == [2.5] * 3


@pytest.mark.parametrize("kind", ["dict", "pandas", "table"])
def test_imputation_takes_the_posterior_of_the_class(kind):
    rows = random_rows(9, n=40, labels=False)
    data = {"dict": dict, "pandas": pd.DataFrame, "table": lambda r: as_table(r, numeric=["heat", "visits"])}[kind](
        rows
    )
    model = learned(rows)
    full = model.impute(data)
    columns = {name: list(full.column(name) if kind == "table" else full[name]) for name in rows}
    assert type(full) is type(data)
    p = model.predict_proba(rows)
    for i, label in enumerate(rows["kind"]):
        c = model.classes.index(label) if label else int(p[i].argmax())
        weights = np.eye(3)[c] if label else p[i]
        assert columns["kind"][i] == model.classes[c]
        theta = weights @ model.posterior("sky").mean()
        sky = model["sky"].variable.states[int(theta.argmax())]
        assert columns["sky"][i] == (rows["sky"][i] or sky)
        if rows["heat"][i] is None:
            assert columns["heat"][i] == pytest.approx(float(weights @ model.posterior("heat").mean().mean))
        if rows["visits"][i] is None:
            assert columns["visits"][i] == round(float(weights @ model.posterior("visits").mean()))


def test_imputation_by_draws_and_of_some_columns():
    rows = random_rows(9, n=40)
    model = learned(rows)
    assert model.impute(rows, columns=["sky"])["heat"] == rows["heat"]
    drawn = model.impute(rows, method="sample", random_state=0)
    assert all(value is not None for column in drawn.values() for value in column)
    assert drawn == model.impute(rows, method="sample", random_state=0)
    marked = pd.DataFrame({"sky": ["?!", "sun"], "heat": [1.0, 2.0], "visits": [0, 1]})
    assert "?!" not in model.impute(marked, na_values="?!")["sky"].tolist()
    binned = fit_naive_bayes({"x": np.arange(20.0), "y": ["a", "b"] * 10}, "y", distributions={"x": "binned:4"})
    assert 0 < binned.impute({"x": [None], "y": ["a"]})["x"][0] < 20
    with pytest.raises(UnknownColumnError, match="'skye'"):
        model.impute(rows, columns=["skye"])


def test_the_fit_info_has_what_the_fit_found_out(tmp_path):
    rows = random_rows(10, n=60, labels=False)
    with pytest.warns(BayeslearnWarning, match="1 column dropped"):
        model = learned(rows | {"id": [f"row {i}" for i in range(60)]}, cv=5, max_states=20)
    info = model.fit_info
    assert info.n_rows == 60
    assert info.n_unlabeled == sum(label is None for label in rows["kind"])
    assert info.n_missing["sky"] == sum(value is None for value in rows["sky"])
    assert "60 different states" in info.dropped_columns["id"]
    assert info.history
    assert info.log_likelihood == info.history[-1].log_likelihood
    assert info.cross_validation.cv == 5
    assert info.distributions == {"sky": "categorical", "heat": "gaussian", "visits": "poisson"}
    assert json.dumps(info.to_dict())
    for part_of in ("Unlabeled rows", "Iterations", "Accuracy, 5-fold", "Dropped columns", "indicators"):
        assert part_of in info.summary()
    model.save(tmp_path / "m.json")
    with pytest.raises(NoFitInfoError, match="no fit_info"):
        _ = NaiveBayesModel.load(tmp_path / "m.json").fit_info
    few = fit_naive_bayes({"x": ["u", "v", "u"], "y": ["a", "b", "a"]}, "y", cv=5).fit_info
    assert few.cross_validation is None
    assert "no cross-validation: 3 rows" in few.notes[0]
    with pytest.raises(MissingValuesError, match="rows have no 'kind'"):
        learned(rows, unlabeled="error")


def test_models_show_themselves():
    model = learned(random_rows(11))
    assert "1 categorical, 1 gaussian, 1 poisson" in model.summary()
    assert "<td" in model._repr_html_()
    assert model.to_dict()["class_probabilities"] == pytest.approx(np.exp(model.class_log_prior).tolist())
    frame = model.to_frame()
    assert list(frame.columns) == ["kind", "column", "state", "probability", "parameters"]
    found = frame[(frame["kind"] == "b") & (frame["column"] == "sky")]["probability"]
    np.testing.assert_allclose(found, model.posterior("sky").mean()[1])
    assert json.dumps(model.to_dict())
    assert str(model.plot()).startswith("Figure")


def test_answers_take_markers_of_missing_values():
    model = learned(random_rows(12))
    marked = pd.DataFrame({"sky": ["gone", "sun"], "heat": [0.0, 1.0], "visits": [1, 2]})
    plain = marked.assign(sky=[None, "sun"])
    for verb in ("predict_proba", "log_likelihood", "log_joint"):
        np.testing.assert_allclose(getattr(model, verb)(marked, na_values="gone"), getattr(model, verb)(plain))
    assert model.predict(marked, na_values="gone").tolist() == model.predict(plain).tolist()
    assert model.explain(marked, na_values="gone").parts["sky"][0] == 0
    rows = random_rows(13)
    found = model.evaluate(rows, sample_weight=[2.0] * 30)
    assert found.weight == 60
    assert model.score(rows) == found.accuracy == np.mean(model.predict(rows) == rows["kind"])
