"""Files exchanged with pyAgrum and pgmpy, in both directions: networks that ship, and those of the bnlearn repository.

aGrUM reads single precision and writes six digits; pgmpy is exact but for the rounding of its .net files.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayeslearn import BayesianNetwork, datasets, read_network
from bayeslearn.errors import FormatError, ParameterError
from bayeslearn.network.formats import format_network, parse_network, read_evidence, write_evidence, write_network

SHIPPED = datasets.list_networks()
PUBLISHED = ["alarm", "asia", "cancer", "child", "earthquake", "insurance", "sachs", "survey", "win95pts"]
LARGE = ["andes", "barley", "hailfinder", "munin1", "pigs"]
NAMES = [
    *SHIPPED,
    *(f"{name}.bif" for name in PUBLISHED),
    *(pytest.param(f"{name}.bif", marks=pytest.mark.thorough) for name in LARGE),
]

#: States that aGrUM cannot read in some formats, or writes so that not even it reads them: "Asphyxia=no", "<5".
NOT_READ = {("child.bif", "bif")}
NOT_WRITTEN = {("child.bif", "bif"), ("child.bif", "net"), ("child.bif", "bifxml"), ("munin1.bif", "bif")}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def network(name, request):
    if name in SHIPPED:
        return read_network(name)
    return read_network(request.getfixturevalue("shared_data") / "networks" / name)


def require_same(network, other, rename=str, atol=0.0):
    """The same variables, states, parents and probabilities, which may have other names in the other network."""
    assert set(map(rename, network.variables)) == set(other.variables)
    for cpt in network:
        p = other[rename(cpt.name)].reorder_parents([rename(v.name) for v in cpt.parents])
        np.testing.assert_allclose(p, cpt.probabilities, rtol=0, atol=atol)
        if rename is str:
            assert other.states(cpt.name) == tuple(map(str, cpt.variable.states))


### pyAgrum


@pytest.fixture(scope="module")
def gum():
    return pytest.importorskip("pyagrum")


@pytest.mark.parametrize("ending", ["bif", "net", "bifxml", "agrum.xdsl", "agrum.uai"])
def test_pyagrum_reads_the_network(gum, tmp_path, name, network, ending):
    if (name, ending) in NOT_READ:
        pytest.skip("states that aGrUM does not read in this format")
    write_network(network, tmp_path / f"n.{ending}")
    other = BayesianNetwork.from_pyagrum(gum.loadBN(str(tmp_path / f"n.{ending}")))
    numbers = {name: str(i) for i, name in enumerate(network.variables)}
    require_same(network, other, numbers.__getitem__ if ending.endswith("uai") else str, atol=1e-6)


@pytest.mark.parametrize("ending", ["bif", "net", "bifxml", "xdsl", "uai"])
def test_the_network_comes_from_pyagrum(gum, tmp_path, name, network, ending):
    if (name, ending) in NOT_WRITTEN:
        pytest.skip("states that aGrUM does not write rightly in this format")
    theirs = network.to_pyagrum()
    gum.saveBN(theirs, str(tmp_path / f"n.{ending}"))
    rename = (lambda name: f"x{theirs.idFromName(name)}") if ending == "uai" else str
    require_same(network, read_network(tmp_path / f"n.{ending}"), rename, atol=1e-5)


### pgmpy


@pytest.fixture(scope="module")
def readwrite():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pgmpy.readwrite")


@pytest.mark.parametrize("name", SHIPPED, indirect=True)
@pytest.mark.parametrize("ending", ["bif", "xmlbif", "xdsl", "net"])
@pytest.mark.filterwarnings("ignore")
def test_pgmpy_reads_the_network(readwrite, tmp_path, network, ending):
    write_network(network, tmp_path / f"n.{ending}")
    reader = getattr(readwrite, f"{ending.upper()}Reader")
    require_same(network, BayesianNetwork.from_pgmpy(reader(str(tmp_path / f"n.{ending}")).get_model()))


@pytest.mark.parametrize("name", SHIPPED, indirect=True)
@pytest.mark.parametrize("ending", ["bif", "xmlbif", "xdsl", "net", "uai"])
@pytest.mark.filterwarnings("ignore")
def test_the_network_comes_from_pgmpy(readwrite, tmp_path, network, ending):
    writer = getattr(readwrite, f"{ending.upper()}Writer")(network.to_pgmpy())
    write = next(getattr(writer, name) for name in ("write", f"write_{ending}") if hasattr(writer, name))
    write(str(tmp_path / f"n.{ending}"))
    numbered = sorted(
        network.variables, key=lambda name: (str(network[name].variable.n_states), name)
    )  # as pgmpy has them
    rename = (lambda name: f"x{numbered.index(name)}") if ending == "uai" else str
    require_same(network, read_network(tmp_path / f"n.{ending}"), rename, atol=1e-8)


#: What pgmpy writes of a, b and c with P(c | a, b): the variable itself varies slowest, the last parent fastest.
PGMPY_UAI = """BAYES
3
2 2 3
3
1 0
1 1
3 1 0 2

2
0.2 0.8
2
0.6 0.4
12
0.1 0.2 0.3 0.4 0.2 0.3 0.4 0.5 0.7 0.5 0.3 0.1"""


def test_the_order_of_pgmpy_in_uai_is_told_by_its_rows():
    found = parse_network(PGMPY_UAI, "uai")
    assert found.notes == ("tables were read with the variable itself varying slowest, as pgmpy writes them",)
    p = found["x2"].reorder_parents(["x0", "x1"])
    np.testing.assert_allclose(p[0, 1], [0.2, 0.3, 0.5], rtol=1e-15)
    np.testing.assert_allclose(p[1, 0], [0.3, 0.4, 0.3], rtol=1e-15)


def test_rows_that_sum_to_one_in_no_order_are_an_error():
    with pytest.raises(FormatError, match=r"the row of .x2. for x1=0, x0=0 must be probabilities"):
        parse_network(PGMPY_UAI.replace("0.3 0.1", "0.3 0.9"), "uai")


### document types


def test_xmlbif_has_its_document_type_but_for_pyagrum():
    asia = read_network("asia")
    full, plain = format_network(asia, "xmlbif"), format_network(asia, "bifxml")
    assert "<!DOCTYPE BIF [" in full
    assert "DOCTYPE" not in plain
    assert full.replace("".join(full.partition("<!DOCTYPE")[1:]).partition("]>\n")[0] + "]>\n", "") == plain
    assert parse_network(full, "xmlbif") == parse_network(plain, "bifxml") == asia


### evidence


@pytest.mark.parametrize("evidence", [{}, {"smoke": "no"}, {"smoke": "yes", "xray": "no", "asia": "no"}])
def test_evidence_goes_through_a_file(tmp_path, evidence):
    asia = read_network("asia")
    write_evidence(evidence, tmp_path / "e.evid", asia)
    write_network(asia, tmp_path / "n.uai")
    assert read_evidence(tmp_path / "e.evid", asia) == evidence
    bare = read_network(tmp_path / "n.uai")
    assert bare.query(read_evidence(tmp_path / "e.evid", bare)).log_evidence == asia.query(evidence).log_evidence


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("2 2 0 6 1", {"smoke": "yes", "xray": "no"}),
        ("# smoke\n2\n2 0   # yes\n6 1\n", {"smoke": "yes", "xray": "no"}),
        ("1\n2 2 0 6 1", {"smoke": "yes", "xray": "no"}),  # with the number of samples in front
        ("0", {}),
        ("", {}),
    ],
)
def test_evidence_in_every_form(tmp_path, text, evidence):
    (tmp_path / "e.evid").write_text(text)
    assert read_evidence(tmp_path / "e.evid", read_network("asia")) == evidence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\n1 2 0\n1 2 1\n1 2 0", "line 1, column 1: only one sample of evidence can be read"),
        ("1 9 0", "line 1, column 3: expected the number of a variable, 0 to 7, found 9"),
        ("1 2 7", "line 1, column 5: expected the number of a state of 'smoke', 0 to 1, found 7"),
        ("2 2 0 2 1", "line 1, column 7: variable 'smoke' is observed twice"),
        ("1 2 0 6 1", "expected the end of the file, found '6'"),
        ("3 2 0", "the number of observed variables is 3, but only 2 words follow"),
        ("1 smoke 0", "expected the number of a variable, found 'smoke'"),
    ],
)
def test_evidence_that_is_refused(tmp_path, text, message):
    (tmp_path / "e.evid").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_evidence(tmp_path / "e.evid", read_network("asia"))
    assert message in str(caught.value)


def test_evidence_of_several_states_has_no_file(tmp_path):
    with pytest.raises(ParameterError, match="one state of a variable, of 'smoke' got 'yes', 'no'"):
        write_evidence({"smoke": ["yes", "no"]}, tmp_path / "e.evid", read_network("asia"))
    assert not (tmp_path / "e.evid").exists()


def test_published_evidence_is_read(shared_data):
    path = shared_data / "hybrid" / "uai" / "1.uai.evid"
    names = {f"x{i}": ["0", "1"] for i in range(9)}
    bare = BayesianNetwork.from_tables({name: [] for name in names}, {name: [0.5, 0.5] for name in names}, states=names)
    assert read_evidence(path, bare) == {"x0": "1", "x4": "1", "x5": "1"}
    with pytest.raises(FormatError, match="this is a Markov network"):
        read_network(path.with_suffix(""))
