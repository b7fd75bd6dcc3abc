"""Files as other programs write them, from their own hands in small."""

import numpy as np
import pytest

from bayeslearn.network.formats import parse_network
from bayeslearn.network.formats.bif import Reader
from bayeslearn.source_text import Source
from tests.network.formats.texts import AGRUM, BNLEARN, GENIE, HUGIN, JAVABAYES, PGMPY, UAI, XMLBIF

#: P(C = yes | A, B) in all of these texts.
C = [[0.9, 0.8], [0.3, 0.05]]


@pytest.mark.parametrize(
    ("label", "text", "c"),
    [
        ("bif", BNLEARN, "C"),
        ("bif", PGMPY, "C"),
        ("bif", AGRUM, "C"),
        ("bif", JAVABAYES, "C"),
        ("xmlbif", XMLBIF, "C"),
        ("net", HUGIN, "C"),
        ("xdsl", GENIE, "C"),
        ("uai", UAI, "x2"),
    ],
    ids=["bnlearn", "pgmpy", "aGrUM", "JavaBayes", "XMLBIF", "HUGIN", "GeNIe", "UAI"],
)
def test_every_dialect_says_the_same(label, text, c):
    network = parse_network(text, label)

    assert len(network) == 3
    assert [v.name for v in network[c].parents] == (["A", "B"] if c == "C" else ["x0", "x1"])
    np.testing.assert_allclose(network[c].probabilities[..., 0], C, rtol=1e-12)
    np.testing.assert_allclose(network.cpts[0].probabilities, [0.2, 0.8], rtol=1e-12)
    assert network.notes == ()


@pytest.mark.parametrize("text", [BNLEARN, PGMPY, AGRUM, JAVABAYES])
def test_the_short_way_through_bif_is_the_long_one(text):
    assert Reader(Source(text)).network() == Reader(Source(text), fast=False).network()


### BIF


def bif(body, header="( C | A )", states="{ yes, no }"):
    return f"""variable A {{ type discrete [ 2 ] {{ a0, a1 }}; }} probability ( A ) {{ table 0.5, 0.5; }}
variable C {{ type discrete [ 2 ] {states}; }} probability {header} {{ {body} }}"""


def test_numbers_come_in_every_shape():
    network = parse_network(bif("(a0) 1e-3, .999; (a1) 1, 0.;"), "bif")

    np.testing.assert_allclose(network["C"].probabilities, [[0.001, 0.999], [1, 0]], rtol=1e-15)


def test_default_fills_the_rows_that_are_not_given():
    network = parse_network(bif("default 0.5, 0.5; (a1) 0.1, 0.9;"), "bif")

    np.testing.assert_allclose(network["C"].probabilities, [[0.5, 0.5], [0.1, 0.9]], rtol=1e-15)


def test_a_table_lists_the_child_slowest():
    network = parse_network(bif("table 0.1, 0.3, 0.9, 0.7;"), "bif")

    np.testing.assert_allclose(network["C"].probabilities, [[0.1, 0.9], [0.3, 0.7]], rtol=1e-15)
    assert network.notes == ()


def test_a_table_with_the_child_fastest_is_noticed():
    network = parse_network(bif("table 0.1, 0.9, 0.3, 0.7;"), "bif")

    np.testing.assert_allclose(network["C"].probabilities, [[0.1, 0.9], [0.3, 0.7]], rtol=1e-15)
    assert network.notes == ("tables were read with the child varying fastest: 'C'",)


def test_published_rounding_is_noted():
    network = parse_network(bif("(a0) 0.33333, 0.66666; (a1) 0.5, 0.5;"), "bif")

    assert network["C"].probabilities[0].sum() == pytest.approx(1, rel=1e-15)
    assert network.notes == ("rows that did not sum to 1 exactly were divided by their sum: 'C'",)


@pytest.mark.parametrize(
    ("written", "states"),
    [
        ("{ <5, 12+ }", ("<5", "12+")),
        ("{ 0, 1 }", ("0", "1")),
        ("{ very good, bad }", ("very good", "bad")),
        ('{ "very good" "a, b" }', ("very good", "a, b")),
        ('{ "a \\"b\\"", C:\\dir }', ('a "b"', "C:\\dir")),
        ("{ x/y, x.y-z // a comment\n }", ("x/y", "x.y-z")),
        ("{ yes, no, }", ("yes", "no")),
    ],
)
def test_states_are_kept_as_they_stand(written, states):
    assert parse_network(bif("default 0.5, 0.5;", states=written), "bif").states("C") == states


def test_rows_name_states_with_blanks():
    text = """variable "wind speed" { type discrete [ 2 ] { very low, high }; }
    variable A { type discrete [ 2 ] { a, b }; }
    probability ( "wind speed" ) { table 0.5 0.5; }
    probability ( A | "wind speed" ) { (very low) 0.1 0.9; ("high") 0.2 0.8; }"""

    np.testing.assert_allclose(parse_network(text, "bif")["A"].probabilities[:, 0], [0.1, 0.2], rtol=1e-15)


def test_tables_may_stand_before_their_variables():
    text = """probability ( B | A ) { (a0) 0.1, 0.9; (a1) 0.2, 0.8; }
    variable B { type discrete [ 2 ] { b0, b1 }; } variable A { type discrete [ 2 ] { a0, a1 }; }
    probability ( A ) { table 0.5, 0.5; }"""

    assert parse_network(text, "bif").variables == ("B", "A")


def test_properties_and_comments_are_ignored():
    text = """network n { property author = "me; and } you"; } /* a { comment } */
    variable A { property weight = None ; type discrete [ 2 ] { a, b }; property "position = (1, 2)" ; }
    probability ( A ) { property x; table 0.5, 0.5; // rest
    }"""

    assert parse_network(text, "bif").name == "n"


### the others


def test_hugin_takes_flat_numbers_and_comments():
    text = """net {} node A { states = ("a" "b"); } node B { states = ("a" "b"); label = "x { y"; }
    potential (A) { data = (0.5 0.5); } potential (B | A) { data = (0.1 0.9 % first
    0.2 0.8); }"""

    np.testing.assert_allclose(parse_network(text, "net")["B"].probabilities[:, 0], [0.1, 0.2], rtol=1e-15)


def test_hugin_without_data_is_even():
    network = parse_network('node A { states = ("a" "b"); } potential (A | ) { }', "net")

    assert network["A"].probabilities.tolist() == [0.5, 0.5]
    assert network.notes == ("without data, all states are equally probable: 'A'",)


def test_deterministic_nodes_of_genie_are_tables():
    text = """<smile id="n"><nodes><cpt id="A"><state id="a"/><state id="b"/><probabilities>.5 .5</probabilities></cpt>
    <deterministic id="B"><state id="t"/><state id="f"/><parents>A</parents><resultingstates>f t</resultingstates>
    </deterministic></nodes></smile>"""

    assert parse_network(text, "xdsl")["B"].probabilities.tolist() == [[0, 1], [1, 0]]


def test_xmlbif_keeps_the_order_of_given():
    network = parse_network(
        XMLBIF.replace("<GIVEN>A</GIVEN><GIVEN>B</GIVEN>", "<GIVEN>B</GIVEN><GIVEN>A</GIVEN>"), "xmlbif"
    )

    np.testing.assert_allclose(network["C"].reorder_parents(("A", "B"))[..., 0], np.transpose(C), rtol=1e-12)
