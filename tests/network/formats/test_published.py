"""The networks of the bnlearn repository: nodes, arcs and free parameters as published."""

import numpy as np
import pytest

from bayeslearn.network.formats import FORMATS, format_network, parse_network, read_network

PUBLISHED = {
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "earthquake": (5, 4, 10),
    "survey": (6, 6, 21),
    "sachs": (11, 17, 178),
    "child": (20, 25, 230),
    "alarm": (37, 46, 509),
    "insurance": (27, 52, 1008),
    "hailfinder": (56, 66, 2656),
    "win95pts": (76, 112, 574),
    "andes": (223, 338, 1157),
    "pigs": (441, 592, 5618),
    "munin1": (186, 273, 15622),
    "barley": (48, 84, 114005),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_those_published(shared_data, name):
    network = read_network(shared_data / "networks" / f"{name}.bif")

    assert (len(network), len(network.dag.arcs), network.n_parameters) == PUBLISHED[name]
    assert network.name == name


def test_every_network_there_is_tested(shared_data):
    assert {path.stem for path in (shared_data / "networks").glob("*.bif")} == set(PUBLISHED)


def test_asia_says_what_it_says(shared_data):
    asia = read_network(shared_data / "networks" / "asia.bif")

    assert asia["asia"].probabilities.tolist() == [0.01, 0.99]
    assert asia["tub"].probabilities.tolist() == [[0.05, 0.95], [0.01, 0.99]]
    assert asia["dysp"].reorder_parents(("bronc", "either"))[..., 0].tolist() == [[0.9, 0.8], [0.7, 0.1]]
    case = dict.fromkeys(asia.variables, "no")
    assert asia.joint(case) == pytest.approx(0.99 * 0.5 * 0.99 * 0.99 * 0.7 * 0.95 * 0.9, rel=1e-12)


def test_the_old_dialect_has_the_same_graph(shared_data):
    gold = read_network(shared_data / "samples" / "alarm-iitd-gold.bif")

    assert (len(gold), len(gold.dag.arcs), gold.n_parameters) == PUBLISHED["alarm"]
    assert gold.name == "Alarm"
    assert gold["StrokeVolume"].reorder_parents(("LVFailure", "Hypovolemia"))[0, 0].tolist() == [0.98, 0.01, 0.01]
    assert all("fastest" not in note for note in gold.notes)
    np.testing.assert_allclose(gold["PCWP"].probabilities[0], [0.95, 0.04, 0.01], rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("label", FORMATS)
@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder", "munin1"])
def test_published_networks_go_round(shared_data, name, label):
    network = read_network(shared_data / "networks" / f"{name}.bif")
    again = parse_network(format_network(network, label), label)

    if label.startswith("uai"):
        assert all(np.array_equal(a.probabilities, b.probabilities) for a, b in zip(again, network, strict=True))
    else:
        assert again == network
