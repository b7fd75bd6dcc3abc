"""Networks that learn from sources as they do from tables: same answers, one pass, and on from where they stopped."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import read_network, scan
from bayeslearn.errors import ConvergenceWarning, ImpossibleDataError, MissingValuesError, ParameterError
from bayeslearn.network import BayesianNetworkClassifier, fit_parameters, fit_parameters_online
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters import training_cases
from bayeslearn.network.parameters.em_steps import Tables
from bayeslearn.network.parameters.training_cases import FoldedCases, Gather
from bayeslearn.tables import Table, as_table
from tests.properties import trials

ASIA = read_network("asia")


def cases(rows=400, holes=0.15, seed=0):
    full = ASIA.sample(rows, random_state=seed)
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(full.codes.shape) < holes, -1, full.codes)
    return Table(full.schema, codes, full.values, rng.integers(0, 4, rows) / 2)


def files(folder, table, parts=3):
    """Parquet files with a column of weights, whose dictionaries differ."""
    for number, part in enumerate(table.batches(-(-table.n_rows // parts))):
        columns = {name: pa.array(part.column(name).tolist()) for name in table.schema.names}
        columns = {name: column.dictionary_encode() for name, column in columns.items()}
        pq.write_table(
            pa.table({**columns, "n": part.sample_weight}), folder / f"part-{number}.parquet", row_group_size=50
        )
    return str(folder / "part-*.parquet")


def batches(table, n=90):
    return scan(lambda: table.batches(n), schema=table.schema)


def weighted(table, n=90):
    def read():
        return ({**part.to_dict(), "n": part.sample_weight} for part in table.batches(n))

    return scan(read, schema=table.schema, sample_weight="n")


def counting_passes(source, monkeypatch):
    """The same source, and how often it was read."""
    passes = []
    fold = type(source).fold
    monkeypatch.setattr(type(source), "fold", lambda self, collect: passes.append(1) or fold(self, collect))
    return passes


def assert_same(found, expected):
    for cpt, other in zip(found, expected, strict=True):
        assert cpt.variable == other.variable
        np.testing.assert_allclose(cpt.probabilities, other.probabilities, rtol=1e-10, atol=1e-300)
        np.testing.assert_allclose(cpt.observed_counts.n, other.observed_counts.n, rtol=1e-10, atol=1e-12)
    one, other = found.fit_info, expected.fit_info
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)
    assert (one.n_rows, one.missing) == (other.n_rows, other.missing)


### the sum of batches


@trials(20)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 20))
def test_batches_add_up_to_the_table(seed, n):
    table, compiled = cases(20, 0.4, seed), Compiled(ASIA)
    whole = FoldedCases.of(compiled, table)
    parts = weighted(table, n).fold(Gather(compiled)).cases(compiled)

    assert len(parts.items) == len(whole.items)
    expected, log_p = Tables(compiled).expected_statistics(whole)
    found, log_q = Tables(compiled).expected_statistics(parts)
    np.testing.assert_allclose(found.n, expected.n, rtol=1e-11, atol=1e-13)
    assert log_q == pytest.approx(log_p, rel=1e-12)


def test_what_is_collected_travels():
    compiled = Compiled(ASIA)
    again = cloudpickle.loads(cloudpickle.dumps(Gather(compiled)))

    np.testing.assert_array_equal(again(cases()).codes, Gather(compiled)(cases()).codes)


### tables


@pytest.mark.parametrize("prior", [None, "bdeu:5"])
def test_files_are_learned_from_in_one_pass(tmp_path, monkeypatch, prior):
    table = cases()
    source = scan(files(tmp_path, table), sample_weight="n")
    passes = counting_passes(source, monkeypatch)

    found = fit_parameters(ASIA, source, prior=prior, init="random", tol=1e-3)

    assert len(passes) == 1
    assert found.fit_info.n_iter > 2
    assert_same(found, fit_parameters(ASIA, table, prior=prior, init="random", tol=1e-3))


def test_too_many_items_are_learned_pass_after_pass(tmp_path, monkeypatch):
    table = cases()
    expected = fit_parameters(ASIA, table, prior="laplace", tol=1e-3)
    source = scan(files(tmp_path, table), sample_weight="n")
    passes = counting_passes(source, monkeypatch)
    monkeypatch.setattr(training_cases, "MOST_BYTES", 2000)

    found = fit_parameters(ASIA, source, prior="laplace", tol=1e-3)

    assert len(passes) == found.fit_info.n_iter + 2  # to gather, and to see where the start stands
    assert_same(found, expected)


def test_a_pattern_of_paths_with_a_graph(tmp_path):
    table = cases(holes=0.0)
    pattern = files(tmp_path, table)

    found = fit_parameters(ASIA.dag, pattern, sample_weight="n", prior=None)

    assert_same(
        found, fit_parameters(ASIA.dag, {**table.to_dict(), "n": table.sample_weight}, sample_weight="n", prior=None)
    )
    assert found.fit_info.n_iter == 1


@pytest.mark.parametrize("method", ["em", "lbfgs", "gradient"])
def test_hidden_variables(method):
    table = cases(200, 0.05)
    shown = table.drop(["lung", "tub"])
    how = {"hidden": {"lung": ["no", "yes"], "tub": 2}, "prior": "laplace", "algorithm": method, "tol": 0.1}

    assert_same(fit_parameters(ASIA.dag, weighted(shown), **how), fit_parameters(ASIA.dag, shown, **how))


def test_numbers_are_cut_where_a_table_is():
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=300), "y": rng.choice(["a", "b"], 300)}
    data["x"][::7] = np.nan
    parts = [{name: column[i : i + 70] for name, column in data.items()} for i in range(0, 300, 70)]

    assert_same(
        fit_parameters("[y][x|y]", scan(parts), tol=1e-3, prior=None),
        fit_parameters("[y][x|y]", data, tol=1e-3, prior=None),
    )


def test_restarts_and_frozen_tables():
    table = cases(150)
    how = {"n_init": 3, "frozen": ["asia"], "prior": "jeffreys", "tol": 0.1, "random_state": 4}

    found, expected = (fit_parameters(ASIA, data, **how) for data in (weighted(table), table))

    assert found.fit_info.starts == pytest.approx(expected.fit_info.starts, rel=1e-12)
    assert not found["asia"].is_learned


### checkpoints


def test_a_climb_that_was_stopped_goes_on(tmp_path):
    table, path = cases(), tmp_path / "half.json"
    how = {"prior": "laplace", "hidden": {"either": 2}, "tol": 1e-2}
    whole = fit_parameters(ASIA.dag, table.mask(["either"]), **how)

    with pytest.warns(ConvergenceWarning):
        fit_parameters(ASIA.dag, table.mask(["either"]), **how, max_iter=3, checkpoint=path, checkpoint_every=2)
    again = fit_parameters(ASIA.dag, table.mask(["either"]), **how, checkpoint=path, resume=True)

    assert again.fit_info.n_iter == whole.fit_info.n_iter - 3 > 0
    for cpt, other in zip(again, whole, strict=True):
        np.testing.assert_array_equal(cpt.probabilities, other.probabilities)
    assert all((read_network(path)[cpt.name].probabilities == cpt.probabilities).all() for cpt in again)


def test_nothing_to_resume_from(tmp_path):
    path = tmp_path / "new.json"
    found = fit_parameters(ASIA, cases(holes=0.0), checkpoint=path, resume=True, prior=None)

    assert read_network(path)["asia"].probabilities.tolist() == found["asia"].probabilities.tolist()
    with pytest.raises(ParameterError, match="nothing to resume from"):
        fit_parameters(ASIA, cases(), resume=True, prior=None)


### what else learns and judges


def test_update_forget_and_score():
    table = cases()
    network = fit_parameters(ASIA, ASIA.sample(500, random_state=1), prior="laplace")
    source = weighted(table)

    after, expected = network.update(source), network.update(table)

    assert after.isclose(expected, rtol=1e-10)
    assert network.update(cases(holes=0.0)).remove(weighted(cases(holes=0.0))).isclose(network, rtol=1e-9)
    hidden = network.update(weighted(table.drop(["either"])), hidden=["either"])
    assert hidden.isclose(network.update(table.drop(["either"]), hidden=["either"]), rtol=1e-10)
    total, score = network.score(source), network.score(table)
    assert (total.log_likelihood, total.weight, total.bits) == pytest.approx(
        (score.log_likelihood, score.weight, score.bits), rel=1e-12
    )


def test_a_source_is_a_stream():
    table = cases(300, 0.1)

    found = fit_parameters_online(ASIA.dag, weighted(table), batch_size=100, prior=None)
    expected = fit_parameters_online(ASIA.dag, table.batches(100), states=weighted(table).schema, prior=None)

    assert [b.total_weight for b in found.history] == [b.total_weight for b in expected.history]
    assert found.network.isclose(expected.network, rtol=1e-10)


@pytest.mark.parametrize("structure", [None, "[lung][asia][either|lung:asia]", ASIA])
def test_a_classifier_learns_from_files(tmp_path, structure):
    table = cases(holes=0.1)
    lung = table.schema.names.index("lung")
    codes = np.where(np.arange(len(table.codes))[:, None] == lung, ASIA.sample(400, random_state=0).codes, table.codes)
    pattern = files(tmp_path, Table(table.schema, codes, table.values, table.sample_weight + 0.5))
    frame = pq.read_table(tmp_path).to_pandas().astype(dict.fromkeys(table.schema.names, object))
    X, y = frame.drop(columns=["lung", "n"]), frame["lung"]

    found = BayesianNetworkClassifier(structure).fit(scan(pattern), "lung", sample_weight="n")
    expected = BayesianNetworkClassifier(structure, target=structure and "lung").fit(X, y, frame["n"])

    assert set(found.network_.dag.arcs) == set(expected.network_.dag.arcs)
    np.testing.assert_allclose(found.predict_proba(pattern), expected.predict_proba(X), rtol=1e-9)
    with pytest.raises(ParameterError, match="a column of it"):
        found.fit(pattern, y)
    with pytest.raises(ParameterError, match="fitted beforehand"):
        BayesianNetworkClassifier("tan").fit(pattern, "lung")


### what is refused


def test_refused():
    table = cases()
    with pytest.raises(ParameterError, match="soft evidence has a row for each case"):
        fit_parameters(ASIA, batches(table), virtual_evidence={"asia": np.ones((400, 2))}, prior=None)
    with pytest.raises(MissingValuesError, match="no row has a value for 'asia'"):
        fit_parameters(ASIA, batches(table.mask(["asia"])), prior=None)
    with pytest.raises(ParameterError, match="a source is many batches"):
        fit_parameters_online(ASIA, [batches(table)], prior=None)
    never = fit_parameters(ASIA, as_table(table.to_dict() | {"asia": ["no"] * 400}, schema=ASIA.schema), prior=None)
    with pytest.raises(ImpossibleDataError, match="a row has probability zero under the present tables, by that of"):
        fit_parameters(never, batches(table.with_weights(None)), init=never, frozen=["asia"], prior=None)
