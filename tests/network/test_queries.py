"""Methods of a network: rows given evidence follow the posterior, and questions go to the network itself."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import fit_parameters, read_network
from bayeslearn.errors import ImpossibleEvidenceError, ParameterError
from bayeslearn.network.inference.explanation import explain, sensitivity

ASIA = read_network("asia")


@pytest.mark.parametrize(
    "evidence", [{"xray": "yes"}, {"dysp": "yes", "smoke": "no"}, {"xray": ["yes", "no"], "tub": "no"}]
)
def test_rows_given_evidence_follow_the_posterior(evidence):
    n = 20_000
    rows = ASIA.sample(n, evidence, random_state=0)
    posterior = ASIA.query(evidence)
    for name, states in posterior.beliefs.items():
        found = np.bincount(rows.codes_of(name), minlength=len(states)) / n
        expected = np.array(list(states.values()))
        assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / n)).all()
    joint = ASIA.inference.joint(["lung", "bronc"], evidence).probabilities
    found = np.zeros((2, 2))
    np.add.at(found, (rows.codes_of("lung"), rows.codes_of("bronc")), 1 / n)
    assert (np.abs(found - joint) <= 5 * np.sqrt(joint * (1 - joint) / n)).all()


def test_observed_states_stay_and_seeds_repeat():
    seen = {"xray": "yes", "smoke": "no"}
    rows = ASIA.sample(50, seen, random_state=3)
    assert all(set(rows.column(name)) == {state} for name, state in seen.items())
    assert rows == ASIA.sample(50, seen, random_state=3)
    assert ASIA.sample(50, {}, random_state=3) == ASIA.sample(50, random_state=3)
    assert ASIA.sample(0, seen).n_rows == 0
    whole = {name: ASIA.states(name)[0] for name in ASIA.variables}
    assert ASIA.sample(2, whole).row(1) == whole


def test_impossible_evidence_is_explained():
    with pytest.raises(ImpossibleEvidenceError, match="tub=yes, either=no cannot be together"):
        ASIA.sample(5, {"tub": "yes", "either": "no"})
    with pytest.raises(ParameterError, match="`n_samples` must be at least 0"):
        ASIA.sample(-1, {"tub": "yes"})


def test_batches_are_the_rows_of_one_sample():
    parts = list(ASIA.sample_batches(25, batch_size=10, random_state=1))
    assert [part.n_rows for part in parts] == [10, 10, 5]
    assert type(parts[0]).concat(parts) == ASIA.sample(25, random_state=1)


def test_methods_answer_as_the_engine():
    seen = {"xray": "yes"}
    assert ASIA.explain(seen, "lung") == explain(ASIA.inference, seen, "lung")
    found = ASIA.sensitivity(seen, "lung", "yes")
    assert next(found.cells()) == next(sensitivity(ASIA.inference, seen, "lung", "yes").cells())
    assert ASIA.most_probable(seen) == ASIA.inference.most_probable(seen)
    assert ASIA.most_probable(seen, variables="lung").case == {"lung": "no"}
    table = ASIA.predict_proba([seen, {}], "lung")
    assert list(table.beliefs) == ["lung"]
    assert table["lung"][0, 0] == pytest.approx(ASIA.query(seen)["lung"]["yes"], rel=1e-12)


def test_variables_may_come_first():
    expected = ASIA.query({"smoke": "yes"}, "lung")
    assert ASIA.query(["lung"], evidence={"smoke": "yes"}) == expected
    assert ASIA.query("lung", evidence={"smoke": "yes"}) == expected
    assert ASIA.query(evidence={"smoke": "yes"}, variables=["lung"]) == expected


def test_a_posterior_as_a_frame():
    frame = ASIA.query({"smoke": "yes"}, ["lung", "bronc"]).to_frame()
    assert list(frame.columns) == ["variable", "state", "probability"]
    assert frame.set_index(["variable", "state"]).loc[("lung", "yes"), "probability"] == pytest.approx(0.1)
    assert len(ASIA.query({}, []).to_frame()) == 0


def test_a_summary_names_size_and_rows():
    assert ASIA.summary().startswith("asia: 8 variables, 8 arcs, 18 parameters\n")
    fitted = fit_parameters("[a][b|a]", {"a": list("xxy"), "b": list("uvv")})
    assert fitted.summary().startswith("network: 2 variables, 1 arcs, 3 parameters, fitted to 3 rows\n")
