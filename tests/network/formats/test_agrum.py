"""Files exchanged with aGrUM, in both directions: its programs as they are, and files that it wrote.

aGrUM reads numbers in single precision and writes six digits, so the probabilities are 64ths: exact in both.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.network import BayesianNetwork
from bayeslearn.network.formats import FORMATS, format_network, parse_network, read_network, write_network
from tests.properties import trials

#: Files that pyAgrum 3.3.1 wrote of `STORED`.
FILES = Path(__file__).parent / "agrum"
WRITTEN = ("bif", "net", "bifxml", "uai", "xdsl")

#: Endings of ours that pyAgrum reads with every table as it is.
READ = ("bif", "net", "bifxml", "agrum.uai", "agrum.xdsl")

ODD = ("<5", "12+", "a b", "x,y", "é", "日本", "{", "(x)", ";", "//", "%", "=", "x.y-z", "a&b", 'q"q', "back\\slash",
       "it's", "0", "1.5", "-3", "a/b", "#h", "[1;2[", "a:b", "table")  # fmt: skip


def rows(rng, shape):
    """Probabilities that are 64ths."""
    counts = rng.multinomial(64 - shape[-1], rng.dirichlet(np.ones(shape[-1])), size=shape[:-1]) + 1
    return counts / 64


def random_network(seed, nodes=6):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(nodes)]
    sizes = {name: int(rng.integers(2, 5)) for name in names}
    parents = {name: [str(p) for p in rng.permutation(names[:i])[: rng.integers(0, 4)]] for i, name in enumerate(names)}
    tables = {name: rows(rng, [sizes[v] for v in (*parents[name], name)]) for name in names}
    states = {name: [f"s{k}" for k in range(size)] for name, size in sizes.items()}
    arcs = [(p, name) for name in names for p in parents[name]]
    return BayesianNetwork.from_tables(arcs, tables, states=states, name="random")


def stored():
    """A, B and C of 2, 3 and 4 states with their child D, whose every row is another one."""
    i = np.arange(24).reshape(2, 3, 4)
    d = np.stack([i + 1, 24 - i, np.full(i.shape, 39)], axis=-1) / 64
    tables = {"A": [0.25, 0.75], "B": [0.25, 0.25, 0.5], "C": [0.125, 0.125, 0.25, 0.5], "D": d}
    states = {"A": ["no", "yes"], "B": ["low", "mid", "high"], "C": ["n", "e", "s", "w"], "D": ["d0", "d1", "d2"]}
    return BayesianNetwork.from_tables("[A][B][C][D|A:B:C]", tables, states=states, name="stored")


STORED = stored()


def to_agrum(gum, network):
    """The same network in pyAgrum, cell by cell."""
    other = gum.BayesNet(network.name)
    for cpt in network:
        other.add(gum.LabelizedVariable(cpt.name, cpt.name, [str(s) for s in cpt.variable.states]))
    for cpt in network:
        for parent in cpt.parents:
            other.addArc(parent.name, cpt.name)
    for cpt in network:
        for place in product(*(range(v.n_states) for v in cpt.parents)):
            given = {v.name: int(k) for v, k in zip(cpt.parents, place, strict=True)}
            if given:
                other.cpt(cpt.name)[given] = cpt.probabilities[place].tolist()
            else:
                other.cpt(cpt.name).fillWith(cpt.probabilities.tolist())
    return other


def beliefs_of(gum, other, evidence):
    engine = gum.LazyPropagation(other)
    engine.setEvidence(evidence)
    engine.makeInference()
    return {name: engine.posterior(name).toarray() for name in other.names()}


def require_same_beliefs(gum, network, other, rename=lambda name: name):
    """Beliefs of all variables, without evidence and with every state of the last one."""
    last = network.variables[-1]
    for k in [None, *range(network[last].variable.n_states)]:
        ours = network.query({} if k is None else {last: network.states(last)[k]})
        theirs = beliefs_of(gum, other, {} if k is None else {rename(last): k})
        for name in network.variables:
            if k is None or name != last:
                np.testing.assert_allclose(list(ours[name].values()), theirs[rename(name)], rtol=1e-12, atol=1e-14)


### stored files


@pytest.mark.parametrize("ending", WRITTEN)
def test_a_stored_file_of_agrum_is_the_network_that_it_wrote(ending):
    network = read_network(FILES / f"stored.{ending}")

    names = [f"x{i}" for i in range(4)] if ending == "uai" else ["A", "B", "C", "D"]
    assert network[names[3]].probabilities.size == 72
    np.testing.assert_array_equal(network[names[3]].reorder_parents(names[:3]), STORED["D"].probabilities)
    for name, original in zip(names[:3], "ABC", strict=True):
        np.testing.assert_array_equal(network[name].probabilities, STORED[original].probabilities)
    assert network.notes == ()


def test_the_orders_of_genie_and_agrum_are_told_apart():
    text = (FILES / "stored.xdsl").read_text()
    as_genie = parse_network(text.replace("aGrUM", "GeNIe"), "xdsl")

    assert np.abs(as_genie["D"].reorder_parents(("A", "B", "C")) - STORED["D"].probabilities).max() > 0.1
    np.testing.assert_array_equal(
        as_genie["D"].reorder_parents(("A", "B", "C")).reshape(4, 3, 2, 3).transpose(2, 1, 0, 3),
        STORED["D"].probabilities,
    )


def test_the_names_of_agrum_are_those_of_the_extension():
    text = (FILES / "stored.xdsl").read_text().replace("<name>A</name>", "<name>wind speed</name>")

    assert set(parse_network(text, "xdsl").variables) == {"wind speed", "B", "C", "D"}


def test_xdsl_has_extensions_only_where_agrum_reads_the_same_tables():
    chain = BayesianNetwork.from_tables(
        "[A][B|A]", {"A": [0.5, 0.5], "B": [[0.25, 0.75], [0.5, 0.5]]}, states={"A": ["a", "b"], "B": ["c", "d"]}
    )

    assert "<extensions>" in format_network(chain, "xdsl")
    assert "<extensions>" not in format_network(STORED, "xdsl")
    assert '<genie version="1.0" app="aGrUM' in format_network(STORED, "xdsl_agrum")


def test_a_comment_does_not_make_a_uai_file_one_of_agrum():
    text = format_network(STORED, "uai").replace("BAYES", "# made by hand\nBAYES  # the kind", 1)
    first_table = text.replace("\n\n2\n", "\n\n# of x0\n2\n", 1)

    np.testing.assert_array_equal(parse_network(first_table, "uai")["x3"].probabilities, STORED["D"].probabilities)


def test_endings_tell_the_dialect(tmp_path):
    for ending, app in (("xdsl", False), ("agrum.xdsl", True), ("agrum.xdsl.gz", True)):
        write_network(STORED, tmp_path / f"n.{ending}")
        assert read_network(tmp_path / f"n.{ending}") == STORED
        if not ending.endswith("gz"):
            assert ("aGrUM" in (tmp_path / f"n.{ending}").read_text()) is app
    assert {FORMATS["xdsl_agrum"].endings, FORMATS["uai_agrum"].endings} == {(".agrum.xdsl",), (".agrum.uai",)}


def test_text_that_agrum_does_not_escape_is_read():
    text = (FILES / "stored.xdsl").read_text().replace('"low"', '"<5 & up"')

    assert parse_network(text, "xdsl").states("B") == ("<5 & up", "mid", "high")


### the program itself


@pytest.fixture(scope="module")
def gum():
    return pytest.importorskip("pyagrum")


@pytest.mark.parametrize("ending", WRITTEN)
@given(seed=st.integers(0, 2**32))
@trials(15)
def test_what_agrum_writes_has_its_beliefs(gum, tmp_path_factory, ending, seed):
    network = random_network(seed)
    path = tmp_path_factory.getbasetemp() / f"theirs.{ending}"
    other = to_agrum(gum, network)
    gum.saveBN(other, str(path))
    ours = read_network(path)

    index = {f"x{i}": other.variable(i).name() for i in other.nodes()}
    require_same_beliefs(gum, ours, other, rename=index.__getitem__ if ending == "uai" else str)


@pytest.mark.parametrize("ending", READ)
@given(seed=st.integers(0, 2**32))
@trials(15)
def test_agrum_reads_what_we_write(gum, tmp_path_factory, ending, seed):
    network = random_network(seed)
    path = tmp_path_factory.getbasetemp() / f"ours.{ending}"
    write_network(network, path)
    other = gum.loadBN(str(path))

    rename = {name: str(i) for i, name in enumerate(network.variables)}
    require_same_beliefs(gum, network, other, rename=rename.__getitem__ if ending.endswith("uai") else str)


@pytest.mark.parametrize("name", ["network", "table", "probability"])
def test_agrum_reads_a_bif_file_whatever_the_network_is_called(gum, tmp_path, name):
    write_network(BayesianNetwork(STORED.cpts, name), tmp_path / "n.bif")

    require_same_beliefs(gum, STORED, gum.loadBN(str(tmp_path / "n.bif")))
    assert read_network(tmp_path / "n.bif").name == name


def test_agrum_refuses_xdsl_that_it_would_misread(gum, tmp_path):
    write_network(STORED, tmp_path / "n.xdsl")

    with pytest.raises(gum.GumException, match="extensions"):
        gum.loadBN(str(tmp_path / "n.xdsl"))


def odd_network(text):
    states = {text: ["n", text], "B": ["u", "v"], "C": ["x", "y", "z"]}
    tables = {text: [0.25, 0.75], "B": [0.5, 0.5], "C": rows(np.random.default_rng(0), (2, 2, 3))}
    return BayesianNetwork.from_tables([(text, "C"), ("B", "C")], tables, states=states, name="odd")


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("ending", ["bifxml", "agrum.xdsl"])
def test_odd_names_and_states_reach_agrum(gum, tmp_path, ending, text):
    network = odd_network(text)
    write_network(network, tmp_path / f"n.{ending}")
    other = gum.loadBN(str(tmp_path / f"n.{ending}"))

    assert set(other.names()) == {text, "B", "C"}
    assert other.variable(text).labels() == ("n", text)
    require_same_beliefs(gum, network, other)


@pytest.mark.parametrize("text", [text for text in ODD if text.isascii()])
def test_odd_names_do_not_stop_agrum_in_net_files(gum, tmp_path, text):
    network = odd_network(text)
    write_network(network, tmp_path / "n.net")
    other = gum.loadBN(str(tmp_path / "n.net"))

    theirs = beliefs_of(gum, other, {})
    np.testing.assert_allclose(list(network.query()["C"].values()), theirs["C"], rtol=1e-12)
    assert read_network(tmp_path / "n.net") == network


@pytest.mark.parametrize("text", [text for text in ODD if not set(text) & set('<{"')])  # not even aGrUM reads these
@pytest.mark.parametrize("ending", ["bifxml", "xdsl"])
def test_odd_names_and_states_come_from_agrum(gum, tmp_path, ending, text):
    network = odd_network(text)
    gum.saveBN(to_agrum(gum, network), str(tmp_path / f"n.{ending}"))

    assert read_network(tmp_path / f"n.{ending}") == network
