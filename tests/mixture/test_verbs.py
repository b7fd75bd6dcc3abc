"""The verbs of a fitted mixture: explain, impute, sample, update, remove, merge, discount, reports."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeslearn import Table, as_table, load
from bayeslearn.errors import EvidenceError, MismatchError, NoFitInfoError, ParameterError, ShapeError
from bayeslearn.mixture import fit_mixture

RNG = np.random.default_rng(0)
GROUP = np.arange(80) % 2
ROWS = pd.DataFrame({
    "hue": np.where(RNG.random(80) < 0.1, "green", np.where(GROUP, "blue", "red")),
    "size": RNG.normal(4.0 * GROUP),
    "calls": RNG.poisson(1 + 6 * GROUP).astype(float),
})  # fmt: skip
MIXED = fit_mixture(ROWS, 2, distributions={"calls": "poisson"})
POINTS = RNG.multivariate_normal([0, 0, 0], [[2, 1.5, 0], [1.5, 2, 0], [0, 0, 1]], 200) + 5 * RNG.integers(
    0, 2, (200, 1)
)
JOINT = {kind: fit_mixture(POINTS, 2, covariance_type=kind) for kind in ("full", "tied", "diag", "spherical")}


def same(one, other, rtol=1e-10):
    np.testing.assert_allclose(one.weights, other.weights, rtol=rtol)
    assert one.statistics.isclose(other.statistics, rtol=rtol, atol=1e-9)


### explain


@pytest.mark.parametrize("kind", JOINT)
def test_log_odds_of_columns_add_up(kind):
    model, row = JOINT[kind], POINTS[3].copy()
    for x in (row, np.where(np.arange(3) == 1, np.nan, row), np.full(3, np.nan)):
        found = model.explain(x)
        p = model.predict_proba(x[None])[0]
        assert (found.probability, found.component) == (p.max(), p.argmax())
        assert found.log_odds == pytest.approx(np.log(p[found.component] / p[found.versus]), abs=1e-8)
        assert set(found.contributions) == {"x0", "x1", "x2"}
        assert all(found.contributions[f"x{j}"] == 0 for j in np.flatnonzero(np.isnan(x)))


def test_a_row_of_mixed_columns_is_explained():
    found = MIXED.explain({"hue": "blue", "size": 4.1, "calls": 9.0})
    assert found.to_dict()["log_odds"] == pytest.approx(np.log(found.probability / found.versus_probability))
    assert min(found.contributions.values()) > 0
    reverse = MIXED.explain({"hue": "blue", "size": 4.1, "calls": 9.0}, component=found.versus)
    assert reverse.log_odds == pytest.approx(-found.log_odds)
    assert list(found.to_frame()["column"]) == list(found.contributions)
    assert f"Component {found.component} versus component {found.versus}" in found.summary()
    with pytest.raises(ShapeError, match="expected one row, got 80"):
        MIXED.explain(ROWS)
    with pytest.raises(ParameterError, match="there is no component 7"):
        MIXED.explain(ROWS[:1], component=7)
    with pytest.raises(ParameterError, match="cannot be compared with itself"):
        MIXED.explain(ROWS[:1], component=0, versus=0)
    with pytest.raises(ParameterError, match="no other to compare with"):
        fit_mixture(ROWS, 1, distributions={"calls": "poisson"}).explain(ROWS[:1])


### impute


def test_what_is_expected_is_the_conditional_mean():
    model = JOINT["full"]
    x = POINTS[:20].copy()
    x[:, 1] = np.nan
    found = model.impute(x)
    shares = model.predict_proba(x)
    mean, Σ = model.parameters[0]
    seen = [0, 2]
    expected = np.zeros(20)
    for j in range(2):
        gain = Σ[j][1, seen] @ np.linalg.inv(Σ[j][np.ix_(seen, seen)])
        expected += shares[:, j] * (mean[j, 1] + (x[:, seen] - mean[j, seen]) @ gain)
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-9)
    np.testing.assert_array_equal(found[:, seen], x[:, seen])
    mixed = ROWS.assign(hue=None, calls=np.nan)[:5]
    p = MIXED.predict_proba(mixed)
    full = MIXED.impute(mixed)
    np.testing.assert_allclose(full["calls"], p @ MIXED["calls"], rtol=1e-12)
    states = MIXED.schema["hue"].states
    assert list(full["hue"]) == [states[k] for k in (p @ MIXED["hue"]).argmax(axis=1)]


@pytest.mark.parametrize("kind", JOINT)
def test_draws_have_the_conditional_distribution(kind):
    model, n = JOINT[kind], 20_000
    x = np.tile([1.0, np.nan, 2.5], (n, 1))
    found = model.impute(x, method="sample", random_state=0)[:, 1]
    assert found.mean() == pytest.approx(model.impute(x[:1])[0, 1], abs=0.06)
    grid = np.linspace(-8, 14, 2001)
    p = np.exp(model.log_likelihood(np.column_stack([np.full(2001, 1.0), grid, np.full(2001, 2.5)])))
    p /= p.sum()
    assert found.std() == pytest.approx(np.sqrt(p @ grid**2 - (p @ grid) ** 2), rel=0.03)


def test_frames_keep_their_kind_and_other_columns():
    gaps = ROWS.assign(name=[f"row {i}" for i in range(80)])
    gaps.loc[::7, "size"] = np.nan
    gaps.loc[3::9, "hue"] = None
    found = MIXED.impute(gaps)
    assert list(found.columns) == list(gaps.columns)
    assert not found.isna().any().any()
    assert (found["name"] == gaps["name"]).all()
    seen = gaps["size"].notna()
    pd.testing.assert_series_equal(found["size"][seen], gaps["size"][seen])
    polars = MIXED.impute(pl.from_pandas(gaps))
    assert isinstance(polars, pl.DataFrame)
    assert polars["size"].to_list() == list(found["size"])
    table = MIXED.impute(as_table(gaps, columns=["hue", "size"]))
    assert isinstance(table, Table)
    assert sum(table.missing().values()) == 0
    one, two = (MIXED.impute(gaps, method="sample", random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    with pytest.raises(ParameterError, match="unexpected value for `method`"):
        MIXED.impute(gaps, method="mean")


def test_samples_are_tables():
    table, components = MIXED.sample(500, random_state=1, return_components=True)
    assert table.schema == MIXED.schema
    assert table.column("size")[components == MIXED.predict(ROWS[1:2])[0]].mean() == pytest.approx(4, abs=0.3)


### evidence adds


def test_updates_are_removed_exactly():
    first, second = ROWS[:15], ROWS[40:60]
    once = MIXED.update(first)
    both = once.update(second)
    assert both.total_weight == pytest.approx(80 + 35)
    same(both.remove(second), once)
    same(both.remove(second).remove(first), MIXED)
    assert both.remove(first).total_weight == pytest.approx(100)
    faded = once.update(second, forgetting_factor=0.5)
    assert faded.total_weight == pytest.approx(95 / 2 + 20)
    same(faded.remove(second), once.discount(0.5))


def test_other_rows_are_removed_by_what_is_expected_of_them():
    left = MIXED.remove(ROWS[:10])
    assert left.total_weight == pytest.approx(70, rel=1e-12)
    gone, _ = MIXED.expected_statistics(ROWS[:10])
    assert left.statistics.isclose(MIXED.statistics - gone, rtol=1e-12, atol=1e-12)
    with pytest.raises(EvidenceError):
        MIXED.discount(0.1).remove(ROWS)


def test_a_base_counts_once():
    a, b = MIXED.update(ROWS[:10]), MIXED.update(ROWS[30:50])
    assert a.merge(b).total_weight == pytest.approx(110)
    same(a.merge(b), b + a)
    same((a + b) - b, a)
    with pytest.raises(MismatchError, match="same number of components"):
        MIXED + fit_mixture(ROWS, 3, distributions={"calls": "poisson"})


### results


def test_models_show_themselves():
    assert repr(MIXED) == "MixtureModel(2 components of hue, size, calls; 80 rows)"
    for shown in (MIXED, MIXED.fit_info, MIXED.fit_info.selection, MIXED.explain(ROWS[:1])):
        assert "<td" in shown._repr_html_()
        assert str(shown) == shown.summary()
        assert shown.to_dict()
    frame = MIXED.to_frame()
    np.testing.assert_allclose(frame["weight"], MIXED.weights)
    np.testing.assert_allclose(frame["hue=red"], MIXED["hue"][:, list(MIXED.schema["hue"].states).index("red")])
    assert list(MIXED.component_sizes) == sorted(MIXED.component_sizes, reverse=True)
    info = MIXED.fit_info
    assert (info.n_rows, info.n_columns, info.n_missing, info.converged) == (80, 3, 0, True)
    assert info.log_likelihood == pytest.approx(MIXED.log_likelihood(ROWS).sum(), rel=1e-12)
    assert info.selection.scores[2] == pytest.approx(MIXED.log_marginal_likelihood(ROWS), rel=1e-12)
    assert MIXED.score(ROWS) == pytest.approx(MIXED.log_likelihood(ROWS).mean(), rel=1e-12)
    assert MIXED.plot(ROWS).axes


def test_only_a_fit_has_fit_info(tmp_path):
    MIXED.save(tmp_path / "m.json")
    for model in (load(tmp_path / "m.json"), MIXED.update(ROWS[:3]), MIXED + MIXED):
        with pytest.raises(NoFitInfoError, match="MixtureModel has no fit_info"):
            model.fit_info  # noqa: B018 - the property raises


def test_names_are_text_in_html():
    rows = {"<script>": [1.0, 2.0, 8.0, 9.0] * 5, "b": ["<i>", "y", "<i>", "y"] * 5}
    assert "<script>" not in fit_mixture(rows, 2)._repr_html_()


def test_progress_is_reported():
    seen = []
    fit_mixture(ROWS, max_components=3, distributions={"calls": "poisson"}, progress=seen.append)
    shares = [now.fraction for now in seen]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    assert {now.message for now in seen} >= {"2 components", "3 components"}
    assert any("components: iteration 1" in now.message for now in seen)
