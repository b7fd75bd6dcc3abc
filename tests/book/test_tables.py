"""SPEC B5 and B6: tables from complete cases by counting, from incomplete ones by EM."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import fit_parameters, read_network
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.tables import as_table

PREGNANCY = {
    "Pr": [None, "yes", "yes", "yes", None],
    "Bt": ["pos", "neg", "pos", "pos", "neg"],
    "Ut": ["pos", "pos", None, "neg", None],
}


def even():
    """The network of the example, every distribution (0.5, 0.5)."""
    half = [[0.5, 0.5], [0.5, 0.5]]
    return BayesianNetwork.from_tables(
        "[Pr][Bt|Pr][Ut|Pr]",
        {"Pr": [0.5, 0.5], "Bt": half, "Ut": half},
        states={"Pr": ["yes", "no"], "Bt": ["pos", "neg"], "Ut": ["pos", "neg"]},
    )


def steps(n):
    """Expected counts and tables of the first n turns of EM."""
    model = Tables(Compiled(even()))
    cases = FoldedCases.of(model.compiled, as_table(PREGNANCY, schema=even().schema))
    for _ in range(n):
        statistics, log_p = model.expected_statistics(cases)
        model = model.estimate(None, statistics)
        yield np.split(statistics.n, [2, 6]), np.split(model.p, [2, 6]), log_p


def test_the_first_expected_counts_and_estimates():
    (pr, bt, ut), (p_pr, p_bt, p_ut), _ = next(steps(1))
    np.testing.assert_allclose(pr, [4, 1], rtol=1e-14)
    np.testing.assert_allclose(ut.reshape(2, 2)[:, 0], [2.25, 0.75], rtol=1e-14)
    np.testing.assert_allclose(bt.reshape(2, 2)[:, 0], [2.5, 0.5], rtol=1e-14)
    np.testing.assert_allclose(p_pr, [0.8, 0.2], rtol=1e-14)
    np.testing.assert_allclose(p_ut.reshape(2, 2)[:, 0], [0.5625, 0.75], rtol=1e-14)
    np.testing.assert_allclose(p_bt.reshape(2, 2)[:, 0], [0.625, 0.5], rtol=1e-14)


def test_the_second_turn_by_hand():
    # case 1: .8 x .625 x .5625 against .2 x .5 x .75; case 5: .8 x .375 against .2 x .5
    first = 0.28125 / (0.28125 + 0.075)
    fifth = 0.3 / (0.3 + 0.1)
    *_, ((pr, bt, ut), (p_pr, _, _), _) = steps(2)
    np.testing.assert_allclose(pr, [3 + first + fifth, 2 - first - fifth], rtol=1e-13)
    np.testing.assert_allclose(bt.reshape(2, 2)[:, 0], [2 + first, 1 - first], rtol=1e-13)
    expected = [first + 1 + 0.5625 + 0.5625 * fifth, 1 - first + 0.75 * (1 - fifth)]
    np.testing.assert_allclose(ut.reshape(2, 2)[:, 0], expected, rtol=1e-13)
    assert p_pr[0] == pytest.approx((3 + first + fifth) / 5, rel=1e-13)


def test_on_to_convergence():
    fit = fit_parameters(even(), PREGNANCY, init=even(), tol=1e-10, max_iter=10_000, prior=None)
    gains = [step.gain for step in fit.fit_info.history[1:]]
    assert fit.fit_info.converged
    assert min(gains) >= -1e-12
    assert fit.fit_info.log_likelihood > next(steps(1))[2]
    # at a maximum the tables are the estimates of their own expected counts
    for cpt in fit:
        total = cpt.counts.n.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(cpt.probabilities * total, cpt.counts.n, rtol=0, atol=1e-4)


def test_dropping_incomplete_rows_would_mislead():
    data = {
        "A": ["a1"] * 10 + ["a2"] * 10,
        "B": ["b1", "b2", "b2", "b1", "b1", "b2", "b1", "b2", "b1", "b2", "b1", "b1", "b2", "b1", "b1", *[None] * 5],
    }
    fit = fit_parameters("[A][B|A]", data, tol=1e-10, prior=None)
    assert fit["A"].probabilities[0] == pytest.approx(1 / 2, rel=1e-12)
    np.testing.assert_allclose(fit["B"].probabilities, [[1 / 2, 1 / 2], [4 / 5, 1 / 5]], rtol=1e-4)
    complete = {name: column[:15] for name, column in data.items()}
    assert fit_parameters("[A][B|A]", complete, prior=None)["A"].probabilities[0] == pytest.approx(2 / 3, rel=1e-12)


def test_counting_is_n_abc_over_n_bc():
    data = {"b": [0, 0, 0, 1, 1, 1], "c": [0, 0, 1, 0, 1, 1], "a": [1, 0, 1, 1, 0, 0]}
    fit = fit_parameters("[b][c][a|b:c]", data, prior=None)
    np.testing.assert_allclose(fit["a"].probabilities[0, 0], [1 / 2, 1 / 2], rtol=1e-14)  # N(a, 0, 0) / N(0, 0)
    np.testing.assert_allclose(fit["a"].probabilities[1, 1], [1, 0], rtol=1e-14)
    smoothed = fit_parameters("[b][c][a|b:c]", data, prior="laplace")["a"].probabilities
    np.testing.assert_allclose(smoothed[1, 1], [3 / 4, 1 / 4], rtol=1e-14)  # (2 + 1) / (2 + 2)


def test_alarm_with_a_hole_in_every_row(shared_data):
    samples = shared_data / "samples"
    gold = read_network(samples / "alarm-iitd-gold.bif")
    table = as_table(samples / "alarm-iitd-missing.csv.gz", schema=gold.schema)
    model = Tables(Compiled(gold))
    cases = FoldedCases.of(model.compiled, table)
    assert model.expected_statistics(cases)[1] == pytest.approx(-102124.43, abs=0.01)
    fit = fit_parameters(gold.dag, table, states={name: gold.states(name) for name in gold.variables}, prior=None)
    assert fit.fit_info.converged
    assert fit.fit_info.log_likelihood >= -101925.7
