"""Classes of tables: evidence against enumeration, parts one by one, reports, pictures, files, bad input."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from bayeslearn import as_table, plots
from bayeslearn.components.rows import Rows
from bayeslearn.distributions import Categorical, Counts, MultivariateNormal, Normal, Poisson
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import (
    BayeslearnWarning,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.mixture import (
    MixtureModel,
    describe_clusters,
    fit_mixture,
    uncertain_rows,
)
from bayeslearn.mixture.comparison import bound
from bayeslearn.mixture.em_fit import prior_of, start
from bayeslearn.mixture.inputs import parts_of


def rows_of(seed, n, holes=0.2):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    gone = rng.random((4, n)) < holes
    return (
        np.where(gone[0], -1, (group + (rng.random(n) < 0.2)) % 3),
        np.where(gone[1], np.nan, rng.poisson(2 + 6 * group)),
        np.where(gone[2], np.nan, rng.normal(3.0 * group)),
        np.where(gone[3], np.nan, rng.normal(1e4 - 2.0 * group)),
    )


PARTS = tuple(parts_of(None, [Categorical(3), Poisson(), Normal(), Normal()]))


def begun(rows, k, seed=0):
    rng = np.random.default_rng(seed)
    return start(PARTS, rows, k, prior_of("weak", PARTS, rows, k), how="k-means++", equal=False, random_state=rng)


def test_a_product_is_its_parts_one_by_one():
    rows = Rows(rows_of(0, 50))
    model = begun(rows, 3)
    joint = np.log(model.weights) + sum(
        part.distribution.log_prob(θ, cells) for part, θ, cells in zip(PARTS, model.parameters, rows.cells, strict=True)
    )
    np.testing.assert_allclose(model.log_joint(rows), joint, rtol=1e-12)
    shares = model.predict_proba(rows)
    found = model.collect(rows, shares)
    for part, θ, cells in zip(PARTS, model.parameters, rows.cells, strict=True):
        expected = part.distribution.expected(cells, Assignment(shares), θ)
        assert found[part.name].isclose(expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_is_bounded_from_below(seed):
    """ln P(D) by summing over every way to deal the rows out, each in closed form."""
    rows = Rows(rows_of(seed, 8))
    model = begun(rows, 2, seed)
    for _ in range(50):
        model = model.estimate(None, model.expected_statistics(rows)[0])
    logs = []
    for labels in itertools.product(range(2), repeat=8):
        shares = np.eye(2)[list(labels)]
        value = Categorical(2).log_evidence(model.prior.shares, Counts(shares.sum(axis=0)))
        for part, prior, cells in zip(PARTS, model.prior.parts, rows.cells, strict=True):
            value = (
                value
                + part.distribution.log_evidence(prior, part.distribution.collect(cells, sample_weight=shares)).sum()
            )
        logs.append(float(value))
    exact = np.logaddexp.reduce(logs)
    found = bound(model, *model.expected_statistics(rows))
    assert found <= exact + 1e-9
    assert found > exact - 15


def test_one_component_has_its_evidence_exactly():
    rows = Rows(rows_of(1, 20))
    model = begun(rows, 1)
    model = model.estimate(None, model.expected_statistics(rows)[0])
    exact = sum(
        part.distribution.log_evidence(prior, part.distribution.collect(cells, sample_weight=np.ones((20, 1)))).sum()
        for part, prior, cells in zip(PARTS, model.prior.parts, rows.cells, strict=True)
    )
    assert model.log_marginal_likelihood(rows) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("by", ["marginal_likelihood", "bic"])
def test_the_number_of_groups_is_found(by):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(m, 1, (40, 2)) for m in ([0, 0], [7, 0], [0, 7])])
    found = fit_mixture(x, criterion=by, max_components=4, n_init=2)
    selection = found.fit_info.selection
    assert found.n_components == selection.n_components == 3
    assert (selection.criterion, list(selection.scores)) == (by, [1, 2, 3, 4])
    assert selection.to_frame()[by].idxmax() == 2


### reports


def table_of(n=60):
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    hue = np.where(rng.random(n) < 0.1, "green", np.where(group, "blue", "red")).astype(object)
    hue[::9] = None
    return {"hue": hue, "size": rng.normal(4.0 * group), "visits": rng.poisson(1 + 5 * group), "same": np.ones(n)}


def test_options_of_reading_reach_the_table():
    rows = {"hue": ["red", "blue", "-", "red"] * 10, "size": [1.0, 9.0, 1.2, 9.1] * 10, "id": [3, 4, 5, 6] * 10}
    for k in (2, "auto"):
        model = fit_mixture(rows, k, na_values=["-"], drop_columns=["id"], n_init=1, max_components=2)
        assert [part.name for part in model.parts] == ["hue", "size"]
        assert model.parts[0].columns[0].states == ("blue", "red")


def test_a_class_is_told_by_what_distinguishes_it():
    with pytest.warns(BayeslearnWarning, match="1 column dropped: column 'same'"):
        found = fit_mixture(table_of(), distributions={"visits": "poisson"}, n_init=2)
    assert set(found.fit_info.dropped_columns) == {"same"}
    assert found.n_components == 2
    reports = describe_clusters(found)
    assert sum(r.size for r in reports) == pytest.approx(60)
    for report in reports:
        kinds = {d.column: d for d in report.differences}
        assert set(kinds) == {"hue", "size", "visits"}
        divergences = [d.divergence for d in report.differences]
        assert divergences == sorted(divergences, reverse=True)
        assert min(divergences) >= 0
        assert ("blue" in kinds["hue"].here) == (float(kinds["visits"].here) > 3.4)
    table = as_table(table_of(), columns=["hue", "size", "visits"], numeric=["visits"])
    doubts = uncertain_rows(found, table, below=1.0)
    assert [d.probability for d in doubts] == sorted(d.probability for d in doubts)
    assert len(uncertain_rows(found, table, max_results=1)) <= 1


def test_columns_may_vary_together():
    found = fit_mixture(table_of(), 2, covariance_type="full", columns=["hue", "size", "visits"], n_init=1)
    assert found.parts[0].name == "hue"
    assert any(part.is_joint for part in found.parts)
    assert describe_clusters(found)[0].differences


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_pictures(kind):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (30, 3)), rng.normal(6, 1, (30, 3))])
    model = fit_mixture(x, 2, covariance_type=kind, n_init=1)
    axes = plots.plot_mixture(model, x, columns=["x0", "x2"]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), len(axes.lines)) == ("x0", "x2", 2)
    for line, mean in zip(axes.lines, model.parameters[0].mean[:, [0, 2]], strict=True):
        np.testing.assert_allclose(line.get_xydata()[:-1].mean(axis=0), mean, atol=1e-9)
    assert len(plots.plot_responsibilities(model, x).axes[0].collections) == 2
    assert plots.plot_mixture(fit_mixture(x[:, 0], 2, n_init=1), x[:, 0]).axes[0].get_ylabel() == "density"
    with pytest.raises(ParameterError, match="two columns of numbers"):
        plots.plot_mixture(model, x, columns=["x0"])


### bad input


def test_tables_without_use_are_named():
    with pytest.raises(EmptyTableError, match="no column is left to fit a mixture to, of 3 samples"):
        fit_mixture({"a": [1.5, 1.5, 1.5]})
    with pytest.raises(UnknownColumnError, match="there is no column 'z'"):
        fit_mixture(table_of(), distributions={"z": "gaussian"})
    with pytest.raises(ParameterError, match="unexpected value"):
        fit_mixture(table_of(), distributions={"size": "uniform"})


def test_files_that_are_no_mixture_are_refused(tmp_path):
    path = tmp_path / "m.json"
    fit_mixture(np.arange(10.0), 2, n_init=1).save(path)
    good = json.loads(path.read_text())

    def changed(**parts):
        path.write_text(json.dumps(good | parts))
        return path

    part = good["parts"][0]
    for bad, match in [
        ({"weights": [0.5, 0.6]}, "do not sum to 1"),
        ({"parts": []}, "no parts"),
        ({"version": 99}, "version 99"),
        ({"parts": [part | {"family": "magic"}]}, "no part|no distribution"),
        ({"parts": [part | {"parameters": [[[1.0], [2.0]]]}]}, "expected parameters"),
        ({"parts": [part | {"parameters": [part["parameters"][0], [[[-1.0]], [[1.0]]]]}]}, "positive definite"),
    ]:
        with pytest.raises(FormatError, match=match):
            MixtureModel.load(changed(**bad))
    path.write_text("{")
    with pytest.raises(FormatError, match="not JSON"):
        MixtureModel.load(path)
    with pytest.raises(InputFileNotFoundError, match="no such file"):
        MixtureModel.load(tmp_path / "none.json")


def test_a_distribution_knows_its_size():
    kinds = ("full", "tied", "diag", "spherical")
    sizes = {kind: MultivariateNormal(3, kind).n_parameters(2) for kind in kinds}
    assert sizes == {"full": 18, "tied": 12, "diag": 12, "spherical": 8}


def test_new_rows_are_coded_by_the_states_of_the_model():
    rows = {"x": ["b", "a", "b", "a"] * 5, "y": [1.0, 9.0, 1.5, 9.5] * 5}
    model = fit_mixture(rows, 2, random_state=0)
    expected = model.predict_proba(rows)[:2]
    few = {"y": [1.0, 9.0], "x": ["b", "a"], "z": [0, 1]}
    other = as_table({"x": ["b", "a"], "y": [1.0, 9.0]}, states={"x": ["b", "a"]})
    for data in (few, pd.DataFrame(few), other):
        np.testing.assert_allclose(model.predict_proba(data), expected, rtol=1e-12)
    with pytest.raises(UnknownStateError, match="'c'"):
        model.predict({"x": ["c", "a"], "y": [1.0, 9.0]})
