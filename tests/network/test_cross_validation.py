"""Cross-validation of networks: by subtraction as by learning anew, and scikit-learn's figures."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn import metrics

from bayeslearn import as_table, fit_network, fit_parameters, read_network
from bayeslearn.errors import DataError, ParameterError, UnknownColumnError
from bayeslearn.network import cross_validate

GRAPH = "[a][b|a][c|a:b]"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 120)
    b = np.where(rng.random(120) < 0.8, a, 1 - a)
    c = (a + b + (rng.random(120) < 0.2)) % 3
    return {"a": a.astype(str), "b": b.astype(str), "c": np.array(["x", "y", "z"])[c]}


def by_hand(rows, fold, prior, sample_weight=None):
    """ln P of each row and P(c) by networks that are learned from the rows of the other folds."""
    table = as_table(rows, sample_weight=sample_weight)
    states = {v.name: v.states for v in table.schema.discrete}
    logs, proba = np.empty(table.n_rows), np.empty((table.n_rows, 3))
    for f in np.unique(fold):
        network = fit_parameters(GRAPH, table.take(np.flatnonzero(fold != f)), states=states, prior=prior)
        for i in np.flatnonzero(fold == f):
            case = {name: values[i] for name, values in rows.items()}
            logs[i] = network.log_joint([case])[0]
            belief = network.query({"a": case["a"], "b": case["b"]}, "c")["c"]
            proba[i] = [belief[state] for state in ("x", "y", "z")]
    return logs, proba


@pytest.mark.parametrize("prior", ["laplace", "bdeu:3"])
def test_taking_a_fold_away_is_learning_without_it(rows, prior):
    found = cross_validate(GRAPH, rows, target="c", cv=5, prior=prior)
    logs, proba = by_hand(rows, found.fold_of_row, prior)
    np.testing.assert_allclose(found.log_likelihoods, logs, rtol=1e-10)
    np.testing.assert_allclose(found.proba, proba, rtol=1e-10)
    assert found.log_likelihood == pytest.approx(logs.sum(), rel=1e-12)


def test_figures_are_those_of_scikit_learn(rows):
    found = cross_validate(GRAPH, rows, target="c", cv=6)
    y, p = np.array(["x", "y", "z"])[found.labels], found.proba
    assert found.metrics.log_loss == pytest.approx(metrics.log_loss(y, p), rel=1e-12)
    assert found.metrics.accuracy == pytest.approx(metrics.accuracy_score(found.labels, p.argmax(axis=1)))
    assert found.auc("y") == pytest.approx(metrics.roc_auc_score(y == "y", p[:, 1]), rel=1e-12)
    false, true = found.roc("y")
    assert metrics.auc(false, true) == pytest.approx(found.auc("y"), rel=1e-9)


def test_a_function_learns_the_graph_of_each_fold(rows):
    sizes = []

    def search(part):
        sizes.append(part.n_rows)
        return fit_network(part, random_state=0)

    found = cross_validate(search, rows, target="c", cv=4)
    assert sizes == [90, 90, 90, 90]
    fixed = cross_validate(lambda part: fit_parameters(GRAPH, part, prior="laplace"), rows, target="c", cv=4)
    same = cross_validate(GRAPH, rows, target="c", cv=4, prior="laplace")
    np.testing.assert_allclose(fixed.log_likelihoods, same.log_likelihoods, rtol=1e-9)
    assert found.log_likelihood < 0


def test_weights_count_rows_several_times(rows):
    weights = np.where(np.arange(120) % 5 == 0, 3.0, 1.0)
    found = cross_validate(GRAPH, rows, target="c", cv=5, prior="laplace", sample_weight=weights)
    logs, _ = by_hand(rows, found.fold_of_row, "laplace", weights)
    np.testing.assert_allclose(found.log_likelihoods, logs, rtol=1e-10)
    assert found.log_likelihood == pytest.approx(weights @ logs, rel=1e-12)


def test_missing_cells_and_unknown_targets(rows):
    holes = {name: values.astype(object) for name, values in rows.items()}
    holes["b"][::9], holes["c"][::11] = None, None
    found = cross_validate(GRAPH, holes, target="c", cv=5)
    assert np.isfinite(found.log_likelihoods).all()
    assert found.metrics.weight == sum(value is not None for value in holes["c"])


def test_numbers_are_cut_once(rows):
    numbers = rows | {"a": np.random.default_rng(1).normal(size=120)}
    found = cross_validate(GRAPH, numbers, target="c", cv=5, n_bins=3)
    assert np.isfinite(found.log_likelihoods).all()


def test_a_network_is_judged_by_its_structure_and_states():
    asia = read_network("asia")
    rows = asia.schema and {name: [asia.states(name)[i % 2] for i in range(40)] for name in asia.variables}
    found = cross_validate(asia, rows, cv=4, prior="laplace")
    assert found.log_likelihoods.shape == (40,)
    assert "Mean log-likelihood  " in str(found)


def test_the_report_names_the_target(rows):
    told = str(cross_validate(GRAPH, rows, target="c", cv=5))
    assert "rows in 5 folds" in told
    assert re.search(r"Target c\nAccuracy +0\.", told)
    shares = []
    cross_validate(GRAPH, rows, cv=5, progress=lambda now: shares.append(now.fraction))
    assert shares == [0.2, 0.4, 0.6, 0.8, 1.0]


def test_folds_that_were_not_done_do_not_count(rows):
    def stop(now):
        if now.fraction >= 0.4:
            raise StopIteration

    whole = cross_validate(GRAPH, rows, target="c", cv=5)
    found = cross_validate(GRAPH, rows, target="c", cv=5, progress=stop)
    assert found.stopped_early
    assert not whole.stopped_early
    np.testing.assert_array_equal(whole.rows, np.arange(120))
    np.testing.assert_array_equal(found.rows, np.flatnonzero(whole.fold_of_row < 2))
    for name in ("fold_of_row", "log_likelihoods", "sample_weight", "labels", "proba"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name)[found.rows])
    assert found.metrics.weight == len(found.rows)
    assert "2 folds, stopped early" in str(found)


def test_bad_input(rows):
    with pytest.raises(UnknownColumnError, match="there is no column 'd'"):
        cross_validate(GRAPH, rows, target="d")
    with pytest.raises(DataError, match="120 rows with a known target cannot make 121 folds"):
        cross_validate(GRAPH, rows, cv=121)
    with pytest.raises(ParameterError, match="`learner` must return a network, got int"):
        cross_validate(lambda _: 3, rows)
    found = cross_validate(GRAPH, rows, cv=3)
    with pytest.raises(ParameterError, match="no target was given"):
        _ = found.metrics
    declared = fit_parameters("[a]", {"a": rows["a"]}, states={"a": ["0", "1", "2"]})
    never = cross_validate(declared, {"a": rows["a"]}, target="a", cv=3)
    with pytest.raises(ParameterError, match="no row has a = '2', so that there is no ROC curve"):
        never.auc("2")
