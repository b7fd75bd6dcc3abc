"""The posterior over structures from a table, and predictions by all its graphs at once."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import fit_network, read_network
from bayeslearn.errors import ConvergenceWarning, MissingValuesError, ParameterError, UnknownColumnError
from bayeslearn.network import BackgroundKnowledge, StructurePosterior, fit_parameters, sample_structure_posterior
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.uncertainty.order_mcmc import sample_orders
from tests.oracle import networks as slow

ASIA = read_network("asia")


def sample(seed=1, n=4, rows=60):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def test_it_is_that_of_the_counts():
    table = sample()
    cache = ScoreCache(FamilyCounts(table), StructureScore.parse("bdeu:2"))
    known = BackgroundKnowledge(forbidden=[("v0", "v1")])
    below = sample_orders(cache, known.of(cache.counts.names), n_samples=50, n_chains=2, random_state=7)
    found = sample_structure_posterior(
        table, criterion="bdeu:2", knowledge=known, n_samples=50, n_chains=2, random_state=7
    )
    assert isinstance(found, StructurePosterior)
    np.testing.assert_array_equal(found.arcs, below.arcs)
    assert found.draws == below.draws
    assert found.prepared_data.table.n_rows == 60
    assert found.seconds > 0
    assert not found.stopped_early


def test_columns_in_another_order_give_the_same():
    table = sample(7, 5)
    turned = table.select(np.random.default_rng(0).permutation(table.schema.names).tolist())
    one, other = (sample_structure_posterior(t, n_samples=60, random_state=3) for t in (table, turned))
    assert all(other.arc_probability(a, b) == pytest.approx(p, abs=1e-9) for a, b, p in one.ranked_arcs())


def test_the_most_parents():
    table, one_walk = sample(3, 6, 200), {"n_samples": 40, "n_chains": 1}
    by_default = sample_structure_posterior(table, **one_walk)
    assert max(len(dag.parents(x)) for dag, _ in by_default.draws for x in dag) <= 4
    one = sample_structure_posterior(table, knowledge=BackgroundKnowledge(max_parents=1), **one_walk)
    assert max(len(dag.parents(x)) for dag, _ in one.draws for x in dag) == 1
    above = BackgroundKnowledge(required=[(f"v{i}", "v5") for i in range(5)], max_parents=5)
    assert all(
        len(dag.parents("v5")) == 5 for dag, _ in sample_structure_posterior(table, knowledge=above, **one_walk).draws
    )


def test_tables_are_prepared_like_those_of_learn():
    rng = np.random.default_rng(0)
    warm = rng.random(300) < 0.5
    rows = {"id": np.arange(300), "degrees": rng.normal(10 * warm), "warm": np.where(warm, "yes", "no")}
    found = sample_structure_posterior(rows, n_bins=2, n_samples=40)
    assert set(found.prepared_data.dropped_columns) == {"id"}
    assert len(found.prepared_data.cuts["degrees"]) == 1
    assert found.edge_probability("degrees", "warm") > 0.99
    both = found.model_average(max_networks=2)
    assert both.predict([{"degrees": 11.0}, {"degrees": -1.0}], "warm").tolist() == ["yes", "no"]


### the Bayes optimal answer


def test_networks_answer_together():
    table = sample(2, 4, 40)
    found = sample_structure_posterior(table, n_samples=200)
    several = found.model_average(max_networks=5)
    assert len(several.networks) == 5
    weights = np.array([weight for _, weight in found.draws[:5]])
    np.testing.assert_allclose(several.probabilities, weights / weights.sum(), rtol=1e-12)
    tables = [fit_parameters(dag, table, prior="bdeu:1") for dag, _ in found.draws[:5]]
    expected = sum(w * net.query()["v0"]["s0"] for w, net in zip(several.probabilities, tables, strict=True))
    assert several.query()["v0"]["s0"] == pytest.approx(expected, rel=1e-9)
    more = found.model_average(sample(2, 4, 400), prior="laplace", max_networks=1)
    assert more.networks[0].isclose(fit_parameters(found.draws[0].dag, sample(2, 4, 400), prior="laplace"))


@pytest.mark.slow
def test_from_few_rows_all_graphs_say_more_of_new_ones_than_the_best():
    gains = []
    for seed in range(5):
        few, new = ASIA.sample(100, random_state=seed), ASIA.sample(1000, random_state=100 + seed)
        found = sample_structure_posterior(few, n_samples=200, random_state=seed)
        together, alone = found.model_average(max_networks=100), fit_network(few, criterion="bdeu:1")
        gains.append(together.log_likelihood(new).mean() - alone.log_likelihood(new).mean())
    assert np.mean(gains) > 0.02


### budget and mistakes


def test_limits():
    def enough(now):
        if now.detail.steps == 30:
            raise StopIteration

    found = sample_structure_posterior(sample(), n_samples=200, progress=enough)
    assert found.log_scores.shape == (4, 30)
    assert found.stopped_early
    assert sample_structure_posterior(sample(), n_samples=200, time_limit=0.0).log_scores.shape == (4, 10)


def test_chains_that_do_not_agree_are_warned_of_where_they_were_asked_for():
    with pytest.warns(ConvergenceWarning, match="chains over orders do not agree") as told:
        sample_structure_posterior(sample(1, 6), n_samples=1)
    assert told[0].filename == __file__


def test_missing_cells_are_named():
    with pytest.raises(MissingValuesError, match=r"column 'a' misses 1 cells.*complete rows\n\nhint: fill them first"):
        sample_structure_posterior({"a": ["x", None, "y"] + ["x", "y"] * 9, "b": list("xyx") * 7})


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"criterion": "aic"}, "no log probability"),
        ({"n_samples": 0}, "`n_samples`"),
        ({"n_chains": 0}, "`n_chains`"),
        ({"time_limit": -1}, "`time_limit`"),
        ({"knowledge": BackgroundKnowledge(roots=["w"])}, "knowledge names 'w'"),
        ({"random_state": "seven"}, "`random_state`"),
    ],
)
def test_mistaken_calls_are_named(options, match):
    with pytest.raises((ParameterError, UnknownColumnError), match=match):
        sample_structure_posterior(sample(), **options)
