"""Figures of the specification: what a belief network says (B1, B2)."""

from itertools import product

import numpy as np
import pytest

from bayeslearn.network import DAG, BayesianNetwork

STRUCTURE = (
    "[Storm][BusTourGroup][Lightning|Storm][Campfire|Storm:BusTourGroup]"
    "[Thunder|Lightning][ForestFire|Storm:Lightning:Campfire]"
)
YES_NO = ["yes", "no"]


def table(*yes):
    """Rows of (yes, no) from the probabilities of yes, for parents that say yes or no."""
    p = np.array(yes)
    return np.stack([p, 1 - p], axis=-1).reshape([2] * int(np.log2(len(yes))) + [2])


@pytest.fixture
def forest():
    """The book's network; of its tables the book prints that of Campfire, the others are ours."""
    tables = {
        "Storm": table(0.1),
        "BusTourGroup": table(0.3),
        "Lightning": table(0.7, 0.05),
        "Campfire": table(0.4, 0.1, 0.8, 0.2),
        "Thunder": table(0.95, 0.02),
        "ForestFire": table(0.5, 0.3, 0.2, 0.1, 0.6, 0.4, 0.05, 0.01),
    }
    return BayesianNetwork.from_tables(STRUCTURE, tables, states=dict.fromkeys(tables, YES_NO), name="forest fire")


def joint_table(net):
    """P of every case, one axis per variable."""
    cases = list(product(YES_NO, repeat=len(net)))
    p = np.exp(net.log_joint(dict(zip(net.variables, zip(*cases, strict=True), strict=True))))
    return p.reshape([2] * len(net))


def conditional(net, target, given):
    """P(target | given), by summing the whole joint."""

    def total(case):
        index = tuple(YES_NO.index(case[name]) if name in case else slice(None) for name in net.variables)
        return joint_table(net)[index].sum()

    return total(given | target) / total(given)


### B1  the network and its joint distribution


@pytest.mark.parametrize(
    ("storm", "bus", "p"), [("yes", "yes", 0.4), ("yes", "no", 0.1), ("no", "yes", 0.8), ("no", "no", 0.2)]
)
def test_the_campfire_table(forest, storm, bus, p):
    given = {"Storm": storm, "BusTourGroup": bus}
    np.testing.assert_allclose(conditional(forest, {"Campfire": "yes"}, given), p, rtol=1e-12)
    np.testing.assert_allclose(conditional(forest, {"Campfire": "no"}, given), 1 - p, rtol=1e-12)


def test_the_joint_is_the_product_of_the_tables(forest):
    case = {
        "Storm": "no",
        "BusTourGroup": "yes",
        "Lightning": "no",
        "Campfire": "yes",
        "Thunder": "no",
        "ForestFire": "yes",
    }
    expected = 0.9 * 0.3 * 0.95 * 0.8 * 0.98 * 0.05
    np.testing.assert_allclose(forest.joint(case), expected, rtol=1e-12)
    np.testing.assert_allclose(joint_table(forest).sum(), 1, rtol=1e-12)


def test_the_graph_needs_fewer_numbers_than_the_joint(forest):
    assert forest.n_parameters == 1 + 1 + 2 + 4 + 2 + 8
    assert len(forest.dag.arcs) == 7


### B2  conditional independence


def test_campfire_is_independent_of_lightning_and_thunder_given_its_parents(forest):
    parents = ["Storm", "BusTourGroup"]
    assert forest.dag.d_separated("Campfire", ["Lightning", "Thunder"], given=parents)
    for storm, bus, lightning, thunder in product(YES_NO, repeat=4):
        given = {"Storm": storm, "BusTourGroup": bus}
        alone = conditional(forest, {"Campfire": "yes"}, given)
        more = conditional(forest, {"Campfire": "yes"}, given | {"Lightning": lightning, "Thunder": thunder})
        np.testing.assert_allclose(more, alone, rtol=1e-10)


def test_without_its_parents_or_with_its_child_campfire_is_not_independent(forest):
    dag = forest.dag
    assert str(dag.active_path("Campfire", "Thunder")) == "Campfire ← Storm → Lightning → Thunder"
    given = ["Storm", "BusTourGroup", "ForestFire"]
    why = "Campfire → ForestFire ← Lightning → Thunder, as 'ForestFire' is given"
    assert str(dag.active_path("Campfire", "Thunder", given)) == why


def test_every_node_is_independent_of_its_nondescendants_given_its_parents(forest):
    dag = forest.dag
    for node in dag:
        parents = set(dag.parents(node))
        assert dag.d_separated(node, set(dag) - dag.descendants(node) - parents - {node}, given=parents)


def test_thunder_is_independent_of_rain_given_lightning():
    """P(Thunder | Rain, Lightning) = P(Thunder | Lightning)."""
    tables = {"Rain": table(0.3), "Lightning": table(0.4, 0.01), "Thunder": table(0.9, 0.05)}
    net = BayesianNetwork.from_tables(
        DAG.parse("[Rain][Lightning|Rain][Thunder|Lightning]"), tables, states=dict.fromkeys(tables, YES_NO)
    )
    assert net.dag.d_separated("Thunder", "Rain", given="Lightning")
    assert not net.dag.d_separated("Thunder", "Rain")
    for rain, lightning in product(YES_NO, repeat=2):
        alone = conditional(net, {"Thunder": "yes"}, {"Lightning": lightning})
        more = conditional(net, {"Thunder": "yes"}, {"Lightning": lightning, "Rain": rain})
        np.testing.assert_allclose(more, alone, rtol=1e-12)
    with_rain = conditional(net, {"Thunder": "yes"}, {"Rain": "yes"})
    assert with_rain > conditional(net, {"Thunder": "yes"}, {"Rain": "no"}) + 0.1
