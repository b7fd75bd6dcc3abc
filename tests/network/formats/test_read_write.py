"""Names of files, packing, all-or-nothing writing, and the networks that ship."""

import gzip
import zlib

import numpy as np
import pytest

from bayeslearn import datasets
from bayeslearn.errors import CapacityError, FormatError, InputFileNotFoundError, ParameterError
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.formats import FORMATS, format_network, parse_network, read_network, write_network
from tests.network.formats.texts import BNLEARN, GENIE, TEXTS, XMLBIF

ENDINGS = [(entry.label, ending) for entry in FORMATS.values() for ending in entry.endings]


@pytest.fixture
def small():
    return parse_network(BNLEARN, "bif")


@pytest.mark.parametrize(("label", "ending"), ENDINGS)
@pytest.mark.parametrize("packed", ["", ".gz", ".GZ"])
def test_the_ending_names_the_format(tmp_path, small, label, ending, packed):
    path = tmp_path / f"net.work{ending}{packed}"
    write_network(small, path)

    content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    assert content.decode() == format_network(small, label)
    assert read_network(path).n_parameters == small.n_parameters
    assert list(tmp_path.iterdir()) == [path]


def test_the_format_can_be_said(tmp_path, small):
    write_network(small, tmp_path / "x.txt", format="uai")

    assert len(read_network(str(tmp_path / "x.txt"), format="uai")) == 3


def test_packed_files_are_the_same_each_time(tmp_path, small):
    write_network(small, tmp_path / "a.bif.gz")
    write_network(small, tmp_path / "b.bif.gz")

    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()


def test_files_of_unknown_networks_give_them_their_name(tmp_path):
    (tmp_path / "small.v2.bif").write_text(BNLEARN)

    assert read_network(tmp_path / "small.v2.bif").name == "small.v2"


def test_a_link_is_written_through(tmp_path, small):
    (tmp_path / "real.bif").write_text("old")
    (tmp_path / "link.bif").symlink_to(tmp_path / "real.bif")
    write_network(small, tmp_path / "link.bif")

    assert (tmp_path / "link.bif").is_symlink()
    assert read_network(tmp_path / "real.bif") == small


def test_a_byte_order_mark_and_other_line_ends_do_no_harm(tmp_path):
    for i, (label, text) in enumerate(TEXTS):
        path = tmp_path / f"{i}{FORMATS[label].endings[0]}"
        path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        assert read_network(path) == parse_network(text, label)


def test_xml_may_declare_latin_1(tmp_path):
    text = XMLBIF.replace("US-ASCII", "ISO-8859-1").replace("12+", "über 12")
    (tmp_path / "x.xml").write_bytes(text.encode("latin-1"))

    assert read_network(tmp_path / "x.xml").states("B") == ("<5", "über 12")


### what goes wrong


def test_a_name_that_cannot_be_written_leaves_the_old_file(tmp_path):
    (tmp_path / "x.bif").write_text("old")
    network = BayesianNetwork.from_tables({}, {"a\nb": [1.0]}, states={"a\nb": ["x"]})

    with pytest.raises(FormatError, match="BIF cannot carry the name"):
        write_network(network, tmp_path / "x.bif")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, small):
    (tmp_path / "x.bif").mkdir()

    with pytest.raises(ParameterError, match=r"cannot write .*x\.bif': it is a folder"):
        write_network(small, tmp_path / "x.bif")
    assert list(tmp_path.iterdir()) == [tmp_path / "x.bif"]


def test_endings_and_labels_that_are_unknown(tmp_path, small):
    (tmp_path / "x.xyz").write_text("")
    with pytest.raises(
        ParameterError, match=r"cannot tell the format of .*\n\nhint: names end in \.json, \.bif, \.xmlbif"
    ):
        read_network(tmp_path / "x.xyz")
    with pytest.raises(ParameterError, match="cannot tell the format"):
        write_network(small, tmp_path / "x")
    with pytest.raises(ParameterError, match="unexpected value for `format`: 'xyz'"):
        parse_network("", "xyz")
    assert format_network(small, "BIF") == format_network(small, "bif")


def test_files_that_are_not_there(tmp_path, small):
    with pytest.raises(
        InputFileNotFoundError, match=r"there is no such file\n\nhint: looked in .* that ship: alarm, asia"
    ):
        read_network(tmp_path / "x.bif")
    with pytest.raises(InputFileNotFoundError, match="is a directory"):
        read_network(tmp_path)
    with pytest.raises(InputFileNotFoundError, match="there is no folder"):
        write_network(small, tmp_path / "no" / "x.bif")


def test_files_that_are_not_what_they_say(tmp_path):
    (tmp_path / "x.bif.gz").write_bytes(b"network")
    (tmp_path / "y.bif.gz").write_bytes(gzip.compress(BNLEARN.encode())[:-20])
    (tmp_path / "x.bif").write_bytes(b"network x {\n \xff }")
    (tmp_path / "x.xdsl").write_bytes(GENIE.replace("small", "sm\xe4ll").encode("latin-1"))

    for name, message in [("x.bif.gz", "cannot be read"), ("y.bif.gz", "cannot be read"), ("x.xdsl", "not UTF-8")]:
        with pytest.raises(FormatError, match=message):
            read_network(tmp_path / name)
    with pytest.raises(FormatError, match="line 2, column 2: this is not UTF-8 text: byte 0xff cannot be read"):
        read_network(tmp_path / "x.bif")


@pytest.mark.parametrize("label", FORMATS)
def test_a_packed_network_is_unpacked_up_to_a_limit(tmp_path, label):
    """300 MB of blanks in 300 KB."""
    path = tmp_path / f"bomb{FORMATS[label].endings[0]}.gz"
    pack = zlib.compressobj(9, wbits=31)
    path.write_bytes(b"".join(pack.compress(b" " * (1 << 20)) for _ in range(300)) + pack.flush())
    with pytest.raises(CapacityError, match=r"bytes of .* unpack to 26.*, and at most 268,435,456 are read"):
        read_network(path)


### what ships


@pytest.mark.filterwarnings("ignore:7 values of 'age'")
def test_networks_ship_beside_tables():
    assert {"enjoy-sport", "flights"} <= set(datasets.list_tables())
    assert {"alarm", "asia", "forest-fire", "play-tennis"} <= set(datasets.list_networks())
    assert datasets.list_hypotheses() == ["cancer-test"]
    assert all(datasets.load_table(name).n_rows for name in datasets.list_tables())
    assert [datasets.load_network(name).name for name in datasets.list_networks()] == datasets.list_networks()
    assert datasets.table_path("alarm").name == "alarm.json"
    assert datasets.table_path("alarm.json") == datasets.table_path("alarm")
    assert [read_network(name).name for name in datasets.list_networks()] == datasets.list_networks()
    with pytest.raises(ParameterError, match=r"no data named 'enjoy-sport\.states'"):
        datasets.table_path("enjoy-sport.states")
    with pytest.raises(ParameterError, match=r"no table named 'asia' ships(.|\n)*datasets\.load_network\('asia'\)"):
        datasets.load_table("asia")
    with pytest.raises(ParameterError, match=r"no network named 'alarn' ships(.|\n)*'alarm'"):
        datasets.load_network("alarn")


def test_forest_fire():
    network = read_network("forest-fire")

    assert set(network.dag.arcs) == {
        ("Storm", "Lightning"),
        ("Storm", "Campfire"),
        ("BusTourGroup", "Campfire"),
        ("Lightning", "Thunder"),
        ("Lightning", "ForestFire"),
        ("Storm", "ForestFire"),
        ("Campfire", "ForestFire"),
    }
    np.testing.assert_array_equal(
        network["Campfire"].reorder_parents(("Storm", "BusTourGroup"))[..., 0], [[0.4, 0.1], [0.8, 0.2]]
    )


def test_play_tennis_keeps_its_counts():
    network = read_network("play-tennis")

    assert network["PlayTennis"].counts.n.tolist() == [9, 5]
    for cpt in network:
        assert cpt.counts.n.sum() == 14
        np.testing.assert_allclose(
            cpt.probabilities, cpt.counts.n / cpt.counts.n.sum(axis=-1, keepdims=True), rtol=1e-15
        )
    assert network["Wind"].counts.n.tolist() == [[6, 3], [2, 3]]
    assert network["Outlook"].probabilities[1].tolist() == [0.6, 0, 0.4]


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_shipped_networks_carry_the_published_figures(shared_data, name):
    assert read_network(name) == read_network(shared_data / "networks" / f"{name}.bif")


def test_a_file_goes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asia").write_text(BNLEARN)

    assert len(read_network("asia", format="bif")) == 3
