"""EM for mixtures as the textbook has it, and figures that were published elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import BayesianNetwork, as_table, em, fit_parameters
from bayeslearn.components.rows import read
from bayeslearn.distributions import MultivariateParameters, Poisson
from bayeslearn.mixture import MixtureModel, fit_mixture
from bayeslearn.mixture.em_fit import prior_of
from bayeslearn.mixture.inputs import parts_of

RNG = np.random.default_rng(0)
LINE = np.concatenate([RNG.normal(-2, 1, 60), RNG.normal(3, 1, 40)])


def soft_means(x, mean, var, sample_weight):
    """E1 and E2 as they are printed: E[z_ij], then the weighted means; and the new mixing weights."""
    z = sample_weight * np.exp(-((x[:, None] - mean) ** 2) / (2 * var))
    z /= z.sum(axis=1, keepdims=True)
    return (z * x[:, None]).sum(axis=0) / z.sum(axis=0), z.sum(axis=0) / z.sum()


def two_normals(var, *, equal_weights):
    parts = parts_of(LINE, None, variance=var)
    rows = read(parts, LINE)
    start = MultivariateParameters(np.array([[-1.0], [0.5]]), np.full(2, var))
    return MixtureModel(
        parts, np.array([0.5, 0.5]), (start,), prior_of(None, parts, rows, 2), equal_weights=equal_weights
    ), rows


@pytest.mark.parametrize(("var", "equal"), [(1.0, True), (2.5, True), (1.0, False)])
def test_means_of_two_normals_on_a_line(var, equal):
    """E1: known σ², equal weights, only the means move. E2: soft k-means, σ² = 1 and mixing weights too."""
    model, rows = two_normals(var, equal_weights=equal)
    mean, weights = np.array([-1.0, 0.5]), np.array([0.5, 0.5])
    for _ in range(12):
        mean, new = soft_means(LINE, mean, var, weights)
        weights = weights if equal else new
        model = model.estimate(None, model.expected_statistics(rows)[0])
        np.testing.assert_allclose(model.parameters[0].mean[:, 0], mean, rtol=1e-12)
        np.testing.assert_allclose(model.weights, weights, rtol=1e-12)
        np.testing.assert_array_equal(model.parameters[0].covariance, [var, var])


def test_two_normals_are_found():
    found = fit_mixture(LINE, 2, variance=1.0, equal_weights=True, prior=None)
    np.testing.assert_allclose(sorted(found["x0"].mean[:, 0]), [-2, 3], atol=0.3)
    assert np.diff([step.log_likelihood for step in found.fit_info.history]).min() >= -1e-9


def test_soft_k_means_in_the_plane():
    x = np.concatenate([RNG.normal([0, 0], 1, (50, 2)), RNG.normal([6, 1], 1, (25, 2))])
    found = fit_mixture(x, 2, variance=1.0, prior=None)
    order = np.argsort(found.weights)
    np.testing.assert_allclose(found.weights[order], [1 / 3, 2 / 3], atol=0.02)
    np.testing.assert_allclose(found.parameters[0].mean[order], [[6, 1], [0, 0]], atol=0.5)


### published


def numbers(path):
    table = as_table(path)
    return np.column_stack([table.values_of(v.name) for v in table.schema.numeric])


@pytest.mark.parametrize(("name", "k", "figure"), [("old-faithful", 2, -1130.264), ("iris-fisher", 3, -180.186)])
def test_full_gaussians(shared_data, name, k, figure):
    found = fit_mixture(numbers(shared_data / "tables" / f"{name}.csv"), k, prior=None, tol=1e-6)
    assert found.fit_info.log_likelihood == pytest.approx(figure, abs=1e-3)


@pytest.mark.parametrize(("k", "figure"), [(1, -391.9189), (2, -360.3690), (3, -356.8489)])
def test_earthquakes(shared_data, k, figure):
    counts = as_table(shared_data / "sequences" / "earthquakes.csv").values_of("count")
    found = fit_mixture(counts, k, distributions=Poisson(), prior=None, tol=1e-8, max_iter=5000, n_init=2)
    assert found.fit_info.log_likelihood == pytest.approx(figure, abs=1e-4)


@pytest.mark.thorough
def test_classes_of_animals(shared_data):
    """E4: the zoo was sorted by hand into seven types, and the evidence finds about as many classes, nearly these."""
    table = as_table(shared_data / "tables" / "zoo.csv", discrete=["type"])
    names = [n for n in table.schema.names if n not in {"type", "animal", "animal_name", "name"}]
    model = fit_mixture(table, columns=names, random_state=0, n_init=2)
    assert 5 <= model.n_components <= 9
    labels, types = model.predict(table), table.codes_of("type")
    right = sum(np.bincount(types[labels == j]).max() for j in np.unique(labels))
    assert right >= 0.9 * table.n_rows


def test_any_model_with_the_two_steps_climbs():
    """E3: the general statement is the loop itself, which asks for no more than the two steps."""
    model, rows = two_normals(1.0, equal_weights=True)
    found = em.run(model, rows, prior=model.prior)
    assert found.converged
    assert min(step.gain for step in found.history[1:]) >= 0


@pytest.mark.thorough
def test_em_inside_a_network_is_that_of_a_mixture():
    """E6: a hidden class above columns of words with holes, as a network: the same beliefs, and EM stays there."""
    rng = np.random.default_rng(0)
    kind = rng.random(200) < 0.4
    rows = {}
    for name, p, q in (("red", 0.9, 0.2), ("round", 0.8, 0.1), ("sweet", 0.7, 0.3)):
        there = rng.random(200) < np.where(kind, p, q)
        rows[name] = np.where(rng.random(200) < 0.1, "?", np.where(there, "yes", "no")).tolist()
    found = fit_mixture(rows, 2, random_state=0, n_init=2, prior=None, tol=1e-10)
    tables = {part.name: θ for part, θ in zip(found.parts, found.parameters, strict=True)}
    states = {part.name: part.columns[0].states for part in found.parts} | {"class": ["a", "b"]}
    graph = "[class]" + "".join(f"[{name}|class]" for name in rows)
    net = BayesianNetwork.from_tables(graph, tables | {"class": found.weights}, states=states)
    np.testing.assert_allclose(net.log_likelihood(rows), found.log_likelihood(rows), rtol=1e-12)
    seen = {name: cells[0] for name, cells in rows.items() if cells[0] != "?"}
    np.testing.assert_allclose(list(net.query(seen)["class"].values()), found.predict_proba(rows)[0], rtol=1e-12)
    again = fit_parameters(net, rows, hidden={"class": ["a", "b"]}, init=net, tol=1e-8, prior=None)
    for name in rows:
        np.testing.assert_allclose(again[name].probabilities, net[name].probabilities, atol=1e-3)
