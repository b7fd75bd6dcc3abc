"""Laws: enumeration as the oracle of inference, evidence that adds, tables and rows that agree."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn.network import fit_parameters
from tests.network.hybrid.examples import networks_with_evidence, random_network
from tests.oracle.hybrid import marginals, posterior
from tests.properties import trials


@trials(40)
@given(networks_with_evidence())
def test_posteriors_are_those_of_enumeration(pair):
    network, evidence = pair
    log_p, states, moments = marginals(network, evidence)
    found = network.query(evidence)
    assert found.log_evidence == pytest.approx(log_p, rel=1e-10, abs=1e-10)
    for name in found.beliefs:
        if name in states:
            assert list(found[name].values()) == pytest.approx(list(states[name].values()), rel=1e-9, abs=1e-10)
        else:
            assert found[name].mean == pytest.approx(moments[name][0], rel=1e-10, abs=1e-10)
            assert found[name].variance == pytest.approx(moments[name][1], rel=1e-9, abs=1e-10)


@trials(15)
@given(networks_with_evidence())
def test_one_variable_alone_is_as_among_all(pair):
    network, evidence = pair
    whole = network.query(evidence)
    for name in whole.beliefs:
        one = network.query(evidence, name)
        assert one.log_evidence == pytest.approx(whole.log_evidence, rel=1e-10, abs=1e-10)
        a, b = one[name], whole[name]
        if isinstance(a, dict):
            assert list(a.values()) == pytest.approx(list(b.values()), rel=1e-9, abs=1e-12)
        else:
            assert (a.mean, a.sd) == pytest.approx((b.mean, b.sd), rel=1e-9, abs=1e-10)


@trials(15)
@given(networks_with_evidence())
def test_the_junction_tree_answers_as_enumeration_does(pair):
    from bayeslearn.network.hybrid import plan

    network, evidence = pair
    whole = network.query(evidence)
    before = plan.MAX_ENUMERATED
    plan.MAX_ENUMERATED = 0
    try:
        tree = random_copy(network).query(evidence)
    finally:
        plan.MAX_ENUMERATED = before
    assert tree.log_evidence == pytest.approx(whole.log_evidence, rel=1e-9, abs=1e-9)
    for name in whole.beliefs:
        a, b = tree[name], whole[name]
        if isinstance(a, dict):
            assert list(a.values()) == pytest.approx(list(b.values()), rel=1e-8, abs=1e-10)
        else:
            assert (a.mean, a.sd) == pytest.approx((b.mean, b.sd), rel=1e-8, abs=1e-9)


def random_copy(network):
    """The same network without the plans of the first."""
    return type(network)(network.cpts, network.name, network.notes)


def test_joint_of_numbers():
    network = random_network(3, 2, 4)
    evidence = {"x3": 0.4}
    _, parts = posterior(network, evidence)
    names = parts[0][2]
    mean = sum(p * m for _, p, _, m, _ in parts)
    cov = sum(p * (V + np.outer(m - mean, m - mean)) for _, p, _, m, V in parts)
    found = network.inference.joint(names, evidence)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found.cov, cov, rtol=1e-10, atol=1e-12)


def test_rows_are_scored_as_queries_are():
    network = random_network(5)
    rows = network.sample(60, random_state=0).to_frame()
    rows = rows.astype({c: object for c in rows if c.startswith("s")}).mask(
        np.random.default_rng(1).random(rows.shape) < 0.3
    )
    logs = network.log_likelihood(rows)
    for i in range(len(rows)):
        evidence = {name: value for name, value in rows.iloc[i].items() if not pd.isna(value)}
        assert logs[i] == pytest.approx(network.query(evidence, []).log_evidence, rel=1e-10, abs=1e-10)


def test_predictions_of_rows_are_those_of_queries():
    network = random_network(8)
    rows = network.sample(20, random_state=0).to_frame()
    mean, interval, state = (
        network.predict(rows, "x1"),
        network.predict_interval(rows, "x1", level=0.8),
        network.predict(rows, "s0"),
    )
    for i in range(len(rows)):
        row = rows.iloc[i].to_dict()
        found = network.query({k: v for k, v in row.items() if k != "x1"}, "x1")["x1"]
        assert mean[i] == pytest.approx(found.mean, rel=1e-10)
        assert interval[i].tolist() == pytest.approx(list(found.interval(0.8)), rel=1e-9)
        assert state[i] == network.query({k: v for k, v in row.items() if k != "s0"}, "s0").most_probable("s0")


@trials(8)
@given(st.integers(0, 1000), st.floats(0.2, 0.8))
def test_evidence_adds(seed, share):
    network = random_network(seed, 2, 3)
    rows = network.sample(400, random_state=seed).to_frame()
    cut = int(share * len(rows))
    fit = lambda data: fit_parameters(network, data, numeric="gaussian", prior="unit")  # noqa: E731
    both, first, second = fit(rows), fit(rows[:cut]), fit(rows[cut:])
    prior = {node.name: node.prior for node in both.cpts}
    same = lambda n: type(n)(tuple(with_prior(node, prior[node.name]) for node in n.cpts))  # noqa: E731
    assert (same(first) + same(second)).isclose(both, rtol=1e-8)
    assert same(first).update(rows[cut:]).isclose(both, rtol=1e-8)
    assert both.remove(rows[cut:]).isclose(same(first) + (same(second) - same(second)), rtol=1e-6, atol=1e-7)
    assert ((same(first) + same(second)) - same(second)).isclose(same(first).discount(1.0), rtol=1e-6, atol=1e-7)


def with_prior(node, prior):
    """The node with another prior."""
    from dataclasses import replace

    return replace(node, prior=prior)


def test_weights_count_as_rows_repeated():
    network = random_network(11, 2, 3)
    rows = network.sample(80, random_state=0).to_frame()
    rows = rows.astype({c: object for c in rows if c.startswith("s")}).mask(
        np.random.default_rng(1).random(rows.shape) < 0.1
    )
    twice = pd.concat([rows, rows[:40]], ignore_index=True)
    weights = np.where(np.arange(80) < 40, 2.0, 1.0)
    options = {"numeric": "gaussian", "prior": "unit", "tol": 1e-9, "max_iter": 500}
    a = fit_parameters(network, rows, sample_weight=weights, **options)
    b = fit_parameters(network, twice, **options)
    assert a.isclose(b, rtol=1e-6, atol=1e-7)


def test_files_and_sources_learn_what_tables_do(tmp_path):
    network = random_network(2, 2, 3)
    rows = network.sample(300, random_state=0).to_frame()
    rows = rows.astype({c: object for c in rows if c.startswith("s")}).mask(
        np.random.default_rng(1).random(rows.shape) < 0.1
    )
    for k in range(3):
        rows[100 * k : 100 * (k + 1)].to_csv(tmp_path / f"part{k}.csv", index=False)
    options = {"numeric": "gaussian", "prior": "unit"}
    whole = fit_parameters(network, rows, **options)
    parts = fit_parameters(network, bl.scan(str(tmp_path / "*.csv")), **options)
    assert whole.isclose(parts, rtol=1e-6, atol=1e-8)
    assert parts.score(bl.scan(str(tmp_path / "*.csv"))).log_likelihood == pytest.approx(
        whole.score(rows).log_likelihood, rel=1e-6
    )


@pytest.mark.parametrize("ending", ["json", "model", "json.gz"])
def test_saved_and_loaded(tmp_path, ending):
    network = random_network(4)
    learned = fit_parameters(network, network.sample(200, random_state=0), prior="unit")
    for model in (network, learned):
        model.save(tmp_path / f"m.{ending}")
        again = bl.load(tmp_path / f"m.{ending}")
        assert again == model
        assert [node.is_learned for node in again.cpts] == [node.is_learned for node in model.cpts]
    assert again.update(network.sample(20, random_state=1)).isclose(learned.update(network.sample(20, random_state=1)))


def test_likelihood_weighting_comes_near():
    network = random_network(9)
    evidence = {k: v for k, v in network.sample(1, random_state=3).row(0).items() if k in {"x3", "s0"}}
    exact = network.query(evidence)
    drawn = network.query(evidence, method="likelihood_weighting", n_samples=40_000, random_state=0)
    assert drawn.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    for name in exact.beliefs:
        if isinstance(exact[name], dict):
            assert list(drawn[name].values()) == pytest.approx(list(exact[name].values()), abs=0.02)
        else:
            assert drawn[name].mean == pytest.approx(exact[name].mean, abs=0.05 * (1 + exact[name].sd))


def test_a_network_of_one_class_and_all_arcs_is_qda():
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    rows = (
        bl.as_table(bl.datasets.table_path("iris-fisher")).to_frame()
        if "iris-fisher" in bl.datasets.list_tables()
        else None
    )
    if rows is None:
        from sklearn.datasets import load_iris

        data = load_iris()
        rows = pd.DataFrame(data.data, columns=list("abcd")).assign(k=[f"k{i}" for i in data.target])
    model = fit_parameters("[k][a|k][b|k:a][c|k:a:b][d|k:a:b:c]", rows, numeric="gaussian", prior=None)
    X = rows[list("abcd")].to_numpy()
    n = rows["k"].value_counts().iloc[0]
    qda = QuadraticDiscriminantAnalysis(reg_param=0).fit(X, rows["k"])
    logs = []  # with covariances divided by n, as maximum likelihood does
    for label, mean in zip(qda.classes_, qda.means_, strict=True):
        S = np.cov(X[rows["k"] == label].T) * (n - 1) / n
        r = X - mean
        logs.append(-0.5 * (np.linalg.slogdet(S)[1] + np.einsum("ij,ij->i", r @ np.linalg.inv(S), r)))
    p = np.exp(np.array(logs).T - np.max(logs, axis=0)[:, None])
    found = model.predict_proba(rows.drop(columns="k"), "k")["k"]
    np.testing.assert_allclose(found, p / p.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-12)


def test_a_chain_is_the_kalman_smoother():
    steps, q, r = 12, 0.3, 0.5
    random = np.random.default_rng(0)
    families, tables = {}, {}
    from bayeslearn.network import BayesianNetwork, Linear

    for t in range(steps):
        families[f"x{t}"] = (f"x{t - 1}",) if t else ()
        tables[f"x{t}"] = Linear(0.1, [0.9], q) if t else Linear(0.0, var=1.0)
        families[f"y{t}"] = (f"x{t}",)
        tables[f"y{t}"] = Linear(0.0, [1.0], r)
    network = BayesianNetwork.from_tables(families, tables)
    y = random.normal(size=steps)
    m, P = np.zeros(steps), np.zeros(steps)
    predicted = []
    mean, var = 0.0, 1.0
    for t in range(steps):
        if t:
            mean, var = 0.1 + 0.9 * m[t - 1], 0.81 * P[t - 1] + q
        predicted.append((mean, var))
        gain = var / (var + r)
        m[t], P[t] = mean + gain * (y[t] - mean), (1 - gain) * var
    for t in reversed(range(steps - 1)):
        gain = 0.9 * P[t] / predicted[t + 1][1]
        m[t], P[t] = m[t] + gain * (m[t + 1] - predicted[t + 1][0]), P[t] + gain**2 * (P[t + 1] - predicted[t + 1][1])
    found = network.query({f"y{t}": y[t] for t in range(steps)})
    np.testing.assert_allclose([found[f"x{t}"].mean for t in range(steps)], m, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose([found[f"x{t}"].variance for t in range(steps)], P, rtol=1e-10)
