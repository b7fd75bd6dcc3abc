"""The number of components: splits and merges, columns taken together, its probability, and clusters of components."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.components import Component
from bayeslearn.components.fused import FusedNormals, Fusion
from bayeslearn.components.rows import Rows
from bayeslearn.distributions import Categorical, MultivariateNormal, Normal, Poisson
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import EvidenceError, ParameterError
from bayeslearn.mixture import Batches, GaussianMixture, MixedTypeClusterer, MixtureModel, fit_mixture
from bayeslearn.mixture.comparison import bound
from bayeslearn.mixture.component_selection import Search
from bayeslearn.mixture.component_splits import narrow
from bayeslearn.mixture.em_fit import EMOptions, fused, fused_prior, prior_of, start, unfused


def drawn(seed, n, missing=0.15):
    """Rows of numbers, counts and states of three groups."""
    rng = np.random.default_rng(seed)
    z = rng.integers(3, size=n)
    x = np.stack([rng.normal(z * 3.0, 1), rng.normal(-z, 1), rng.normal(0, 1, n)])
    codes = np.stack([(z + (rng.random(n) < 0.2)) % 3, rng.integers(3, size=n), (z > 0) ^ (rng.random(n) < 0.1)])
    x[rng.random(x.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = -1
    counts = rng.poisson(1 + 3 * z).astype(float)
    kinds = [Normal(), Normal(), Poisson(), Categorical(3), Categorical(3), Normal(), Categorical(2)]
    columns = [x[0], x[1], counts, codes[0], codes[1], x[2], codes[2]]
    parts = tuple(Component.of(kind, f"c{i}") for i, kind in enumerate(kinds))
    return parts, Rows(tuple(part.cells(column) for part, column in zip(parts, columns, strict=True)))


### columns taken together are the columns one by one


def test_columns_taken_together_have_the_same_steps_of_em():
    for seed in range(3):
        parts, rows = drawn(seed, 60)
        fusion = Fusion.of(parts)
        assert [len(places) for places in fusion.places] == [3, 1, 2, 1]
        prior = prior_of("weak", parts, rows, 2)
        plain = start(parts, rows, 2, prior, how="k-means++", equal=False, random_state=np.random.default_rng(seed))
        whole = fused(fusion, plain, fused_prior(fusion, prior))
        for _ in range(3):
            (s, log_p), (t, log_q) = plain.expected_statistics(rows), whole.expected_statistics(fusion.rows(rows))
            np.testing.assert_allclose(log_p, log_q, rtol=1e-12)
            np.testing.assert_allclose(bound(plain, s, log_p), bound(whole, t, log_q), rtol=1e-11)
            for name, own in fusion.statistics(t).items():
                for a, b in zip(s[name].arrays(), own.arrays(), strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
            plain, whole = plain.estimate(prior, s), whole.estimate(whole.prior, t)
            np.testing.assert_allclose(plain.log_prior(None), whole.log_prior(None), rtol=1e-12)
        again = unfused(fusion, whole, prior)
        np.testing.assert_allclose(plain.log_joint(rows), again.log_joint(rows), rtol=1e-9)
        assert again.n_parameters == whole.n_parameters == plain.n_parameters
        assert [p.name for p in again.parts] == [f"c{i}" for i in range(7)]


def test_nothing_is_fused_where_columns_differ():
    assert Fusion.of((Component.of(Normal(), "a"), Component.of(Categorical(2), "b"))) is None
    joint = Component.of(MultivariateNormal(2, "diag"), "a", "b")
    assert Fusion.of((joint,)).fused[0].distribution.covariance == "diag"


def test_a_column_that_collapses_is_named():
    parameters = np.zeros((2, 2)), np.array([[1.0, 0.0], [1.0, 2.0]])
    with pytest.raises(EvidenceError, match=r"^b: a component collapsed"):
        FusedNormals(2, "diag").require_regular(parameters, "a, b")


### moves


def search_of(seed=0, n=150, k=2, **options):
    parts, rows = drawn(seed, n)
    search = Search(rows, parts, EMOptions(**options), "marginal_likelihood")
    search.begin(k, None)
    return search


def test_the_gain_of_a_split_is_that_of_the_two_components():
    search = search_of(k=1)
    one = search.found[1]
    (pair,) = search.split(one.model, search.shares(one.model), [0])
    two = search.settled(pair.model, search.rows, 0)
    np.testing.assert_allclose(pair.gain, two.value - one.value, rtol=1e-9)


def test_a_merge_leads_back_from_a_split():
    search = search_of(k=1)
    before = search.found[1].value
    search.grow(1)
    (merged,) = search.merges(search.found[2])
    np.testing.assert_allclose(search.fitted(merged, search.rows, 0.0).value, before, rtol=1e-9)


def test_narrow_rows_are_those_in_the_middle_of_a_peaked_column():
    rng = np.random.default_rng(0)
    points = np.stack([rng.normal(size=200), np.where(np.arange(200) < 120, 0.0, rng.normal(0, 3, 200))], axis=1)
    assert narrow(points, np.ones(200))[:120].all()
    assert narrow(points[:, :0], np.ones(200)) is None
    assert narrow(np.zeros((5, 1)), np.ones(5)) is None


@pytest.mark.thorough
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("criterion", ["marginal_likelihood", "bic"])
def test_the_number_of_groups_is_found(covariance_type, criterion):
    rng = np.random.default_rng(3)
    centers = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    x = centers[rng.integers(4, size=400)] + rng.normal(size=(400, 2))
    for prior in ("weak", None) if criterion == "bic" else ("weak",):
        model = fit_mixture(x, covariance_type=covariance_type, criterion=criterion, prior=prior, max_components=7)
        assert model.n_components == 4
        posterior = model.fit_info.selection.posterior
        np.testing.assert_allclose(sum(posterior.values()), 1, rtol=1e-12)
        assert posterior[4] > 0.9


@pytest.mark.thorough
def test_a_sample_is_searched_and_all_rows_are_fitted(monkeypatch):
    x = np.concatenate([np.random.default_rng(0).normal(m, 1, (300, 2)) for m in (0, 7, 14)])
    whole = fit_mixture(x, covariance_type="diag")
    monkeypatch.setattr("bayeslearn.mixture.component_selection.MAX_SEARCHED", 200)
    for data in (x, Batches([x[:400], x[400:]])):
        few = fit_mixture(data, covariance_type="diag")
        assert few.n_components == whole.n_components == 3
        assert few.fit_info.log_likelihood == pytest.approx(whole.fit_info.log_likelihood, abs=0.01)


def test_the_end_of_the_search():
    assert fit_mixture([1.0, 1.0, 5.0, 5.0]).fit_info.selection.scores.keys() <= {1, 2}  # there are two distinct rows
    with pytest.raises(ParameterError, match="patience"):
        fit_mixture([1.0, 2.0, 3.0], patience=0)
    seen = []

    def stop(now):
        seen.append(now)
        if len(seen) > 2:
            raise StopIteration

    assert isinstance(fit_mixture(drawn(0, 50)[1].cells[0], progress=stop), MixtureModel)


### clusters of components


def cross(n=400, seed=0):
    """Two groups: one ball, and one long group in which the columns depend."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-6, 6, n)
    band = np.stack([t, t], axis=1) + rng.normal(0, 0.5, (n, 2))
    return np.concatenate([band, rng.normal((12, -12), 0.7, (n, 2))])


def test_components_that_differ_by_dependence_are_one_cluster():
    x = cross()
    model = fit_mixture(x, covariance_type="diag")
    assert model.n_components > 3
    found = model.hierarchy()
    assert found.n_components == model.n_components
    for n in range(1, found.n_components + 1):
        assert sorted(j for c in found.clusters(n) for j in c) == list(range(model.n_components))
        assert len(found.clusters(n)) == n
    assert all(a.entropy >= b.entropy - 1e-12 for a, b in zip(found.merges, found.merges[1:], strict=False))
    labels = model.predict(x, n_clusters=2)
    assert len(set(labels[:400])) == len(set(labels[400:])) == 1
    assert labels[0] != labels[-1]
    assert (model.predict(x, n_clusters=model.n_components) < model.n_components).all()
    with_rows = model.hierarchy(x)
    assert with_rows.clusters(2) == found.clusters(2)


def test_the_entropy_of_a_hierarchy_is_that_of_the_clusters():
    x = cross(100)
    model = fit_mixture(x, 4, covariance_type="diag", n_init=1)
    found = model.hierarchy(x)
    p = model.predict_proba(x)
    for merge in found.merges:
        q = np.stack([p[:, list(c)].sum(axis=1) for c in found.clusters(merge.n_clusters)], axis=1)
        entropy = -np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0).sum(axis=1).mean()
        np.testing.assert_allclose(merge.entropy, entropy, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(merge.certainty, q.max(axis=1).mean(), rtol=1e-12)


def test_a_hierarchy_is_reported_and_refuses_other_numbers():
    model = fit_mixture(cross(60), 4, covariance_type="diag", n_init=1)
    found = model.fit_info.hierarchy
    assert "Merged components" in model.fit_info.summary()
    assert found.to_dict()["merges"][0]["n_clusters"] == 3
    assert len(found.to_frame()) == 3
    assert "clusters" in found.summary()
    with pytest.raises(ParameterError, match="n_clusters"):
        model.predict(cross(5), n_clusters=5)
    assert fit_mixture([1.0, 2.0, 4.0], 1).hierarchy().n_clusters == 1


def test_estimators_choose_the_number_too():
    x = cross(80)
    assert GaussianMixture("auto", random_state=0).fit(x).n_components_ == 2
    clusters = MixedTypeClusterer(random_state=0).fit(x)
    assert clusters.n_components_ == clusters.selection_.n_components
    assert clusters.model_.hierarchy().n_clusters <= clusters.n_components_


def test_statistics_of_fused_states_are_counts():
    parts, rows = drawn(0, 30)
    fusion = Fusion.of(parts)
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    part = fusion.fused[2]
    found = part.distribution.expected(fusion.rows(rows).cells[2], Assignment(shares), None)
    for c, i in enumerate(fusion.places[2]):
        expected = parts[i].distribution.collect(rows.cells[i], sample_weight=shares)
        np.testing.assert_allclose(found.n[:, c], expected.n, rtol=1e-12)
