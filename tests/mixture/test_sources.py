"""Mixtures learn from sources what they learn from the same rows in memory."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from bayeslearn import as_table, em, scan
from bayeslearn.distributions import Categorical, Normal, Poisson
from bayeslearn.errors import BayeslearnWarning, ConvergenceWarning, DataError, ParameterError
from bayeslearn.mixture import (
    Batches,
    GaussianMixture,
    MixedTypeClusterer,
    MixtureModel,
    fit_mixture,
)
from bayeslearn.mixture.inputs import MOST_ROWS, Looking, Reading, opened


def drawn(n=600, seed=0):
    """Two groups of numbers, with holes and weights, and words that go with them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 2)) * [1.0, 2.0] + 1e4 + group[:, None] * [6.0, -5.0]
    x[rng.random((n, 2)) < 0.05] = np.nan
    hue = np.array(["blue", "red", "green"])[np.where(rng.random(n) < 0.8, group, 2)]
    return {"a": x[:, 0], "b": x[:, 1], "hue": hue, "calls": rng.poisson(2 + 6 * group), "n": rng.integers(0, 4, n)}


def pieces(rows, edges):
    return [{name: column[a:b] for name, column in rows.items()} for a, b in zip([0, *edges], [*edges, None])]  # noqa: B905


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files of several row groups, whose dictionaries differ."""
    folder = tmp_path_factory.mktemp("files")
    for number, piece in enumerate(pieces(drawn(), (250, 330))):
        pa.parquet.write_table(pa.table(piece), folder / f"{number}.parquet", row_group_size=60)
    return str(folder / "*.parquet")


def same(found: MixtureModel, model: MixtureModel, rtol=1e-10):
    np.testing.assert_allclose(found.weights, model.weights, rtol=rtol)
    assert found.statistics.isclose(model.statistics, rtol=rtol, atol=1e-9)


def sources(files, **told):
    return [scan(files, **told), scan(pieces(drawn(), (250, 330)), **told)]


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("prior", ["weak", None])
def test_gaussians_of_sources_are_those_of_rows(files, covariance, prior):
    table = as_table(drawn(), columns=["a", "b"])
    how = {"covariance_type": covariance, "prior": prior, "n_init": 2}
    told = fit_mixture(table, 2, **how)
    x = np.column_stack([table.values_of("a"), table.values_of("b")])
    assert fit_mixture(x, 2, **how).fit_info.log_likelihood == told.fit_info.log_likelihood
    for source in sources(files, columns=["a", "b"]):
        found = fit_mixture(source, 2, **how)
        same(found, told)
        assert found.fit_info.log_likelihood == pytest.approx(told.fit_info.log_likelihood, rel=1e-10)
        assert found.parts[0].name == "a, b"


def test_weights_are_a_column(files):
    rows = drawn()
    told = fit_mixture(as_table(rows, columns=["a", "b"], sample_weight=rows["n"]), 2)
    same(fit_mixture(scan(files, columns=["a", "b", "n"]), 2, sample_weight="n"), told)
    same(fit_mixture(scan(files, columns=["a", "b"], sample_weight="n"), 2), told)
    with pytest.raises(ParameterError, match="the weights of a source are a column"):
        fit_mixture(scan(files, columns=["a", "b"]), 2, sample_weight=rows["n"])
    with pytest.raises(DataError, match="every weight is zero"):
        fit_mixture(scan([{"a": [1.0, 2.0], "n": [0, 0]}, {"a": [3.5, 4.0], "n": [0, 0]}], sample_weight="n"), 2)


def test_families_over_named_columns(files):
    how = {"distributions": [Normal(), Categorical(3), Poisson()], "n_init": 1}
    told = fit_mixture(as_table(drawn(), columns=["a", "hue", "calls"]), 2, **how)
    assert told["hue"].shape == (2, 3)
    same(fit_mixture(scan(files, columns=["a", "hue", "calls"]), 2, **how), told)
    with pytest.raises(ParameterError, match="have 1 columns, but there are 5"):
        fit_mixture(scan(files), 2, distributions=Poisson())
    with pytest.raises(ParameterError, match="'hue' does not hold 2 states"):
        fit_mixture(scan(files, columns=["hue"]), 2, distributions=Categorical(2))


def test_how_many_is_asked_of_sources_too(files):
    table = as_table(drawn(), columns=["a", "b"])
    told = fit_mixture(table, max_components=3, n_init=1, tol=0.1)
    for source in (*sources(files, columns=["a", "b"]), Batches([table])):
        asked = {"distributions": told.parts} if isinstance(source, Batches) else {}
        found = fit_mixture(source, max_components=3, n_init=1, tol=0.1, **asked)
        assert found.n_components == told.n_components == 2
        np.testing.assert_allclose(*(list(m.fit_info.selection.scores.values()) for m in (found, told)), rtol=1e-10)


def test_classes_of_sources_are_those_of_tables(files):
    rows = drawn() | {"flat": np.full(600, 2.5)}
    with pytest.warns(BayeslearnWarning, match="1 column dropped: column 'flat'"):
        told = fit_mixture(rows, 2, distributions={"calls": "poisson"}, sample_weight="n")
    source = scan(pieces(rows, (100, 350)))
    found = fit_mixture(source, 2, distributions={"calls": "poisson"}, sample_weight="n")
    assert list(found.fit_info.dropped_columns) == ["flat"]
    same(found, told)
    for data in (files, scan(files)):
        learned = MixedTypeClusterer(2, random_state=0, n_init=1).fit(data)
        same(learned.model_, MixedTypeClusterer(2, random_state=0, n_init=1).fit(drawn()).model_)
        assert not hasattr(learned, "labels_")
    np.testing.assert_array_equal(learned.predict(scan(files)), learned.predict(scan(files).table()))


def test_the_estimator_takes_sources_and_files(files):
    table = as_table(drawn(), columns=["a", "b"])
    told = GaussianMixture(2, random_state=0).fit(table)
    for source in sources(files, columns=["a", "b"]):
        found = GaussianMixture(2, random_state=0).fit(source)
        same(found.model_, told.model_)
        assert found.n_features_in_ == 2
        np.testing.assert_array_equal(found.predict(table), told.labels_)
    np.testing.assert_array_equal(told.predict(source), told.labels_)
    with pytest.raises(ParameterError, match="takes the rows in memory"):
        told.fit_predict(scan(files, columns=["a", "b"]))
    assert GaussianMixture("auto", random_state=0, max_components=2).fit(source).model_.n_components == 2


def test_starts_of_many_rows_are_a_sample_that_batches_do_not_change():
    n = MOST_ROWS + 5000
    x = np.random.default_rng(0).normal(size=n) + 5 * (np.arange(n) % 2)
    table = as_table({"x": x})
    batches = [table.take(np.arange(a, min(a + 7000, n))) for a in range(0, n, 7000)]
    source, parts = opened(scan(batches))
    sample = source.seen.sample
    assert len(sample) == MOST_ROWS
    assert np.isin(sample.cells[0][:, 0], x).all()
    assert abs(sample.cells[0].mean() - x.mean()) < 0.03
    begun = fit_mixture(x[:, None], 2, n_init=1, tol=1)
    start = MixtureModel(parts, begun.weights, begun.parameters, begun.prior)
    same(fit_mixture(scan(batches), 2, init=start), fit_mixture(table, 2, init=start))
    looks = [Looking(parts)(opened(batch)[0]) for batch in batches]
    left, right = (looks[0] + looks[1]) + (looks[2] + looks[3]), looks[0] + (looks[1] + (looks[2] + looks[3]))
    np.testing.assert_array_equal(left.sample.cells[0], right.sample.cells[0])


def test_what_is_collected_travels(files):
    source, parts = opened(scan(files, columns=["a", "b"]))
    model = fit_mixture(source, 2, n_init=1)
    collect = Reading(parts, lambda rows: em.Expected(*model.expected_statistics(rows)))
    sent = cloudpickle.loads(cloudpickle.dumps(collect))
    table = next(source.source.batches())
    assert sent(table).log_likelihood == collect(table).log_likelihood


def test_a_checkpoint_goes_on_where_it_stopped(tmp_path):
    path, how = tmp_path / "climb.json", {"n_init": 1, "tol": 1e-2}
    source = scan([as_table(drawn(), columns=["a", "b"])])
    with pytest.warns(ConvergenceWarning, match="after 6 iterations"):
        fit_mixture(source, 3, max_iter=6, checkpoint=path, checkpoint_every=4, **how)
    rest = fit_mixture(source, 3, init=MixtureModel.load(path), **how)
    whole = fit_mixture(source, 3, checkpoint=path, **how)
    assert rest.fit_info.n_iter == whole.fit_info.n_iter - 6
    same(rest, whole)
    same(MixtureModel.load(path), whole, rtol=1e-15)
