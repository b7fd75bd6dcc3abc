"""Broken files: what was expected, what was found, and where."""

import pytest

from bayeslearn.errors import CapacityError, FormatError
from bayeslearn.network.formats import parse_network, read_network
from tests.network.formats.texts import BNLEARN, GENIE, HUGIN, JSON, UAI, XMLBIF


def broken(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


def refused(label, text, message, line=None, column=None):
    with pytest.raises(FormatError, match=message) as caught:
        parse_network(text, label)
    if line is not None:
        assert (caught.value.details["line"], caught.value.details["column"]) == (line, column)
        assert f"line {line}, column {column}: " in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ("network unknown", "net unknown", "expected 'network', 'variable' or 'probability', found 'net'", 1, 1),
        ("{ yes, no };", "{ yes, no }; }", "expected 'network', 'variable' or 'probability', found '}'", 5, 1),
        ("discrete [ 2 ]", "discrete [ two ]", "expected the number of states, found 'two'", 4, 19),
        ("discrete [ 2 ]", "discrete [ 3 ]", "expected 3 states, found 2", 4, 25),
        ("discrete [ 2 ]", "discrete [ 1000000000 ]", "expected 1000000000 states, found 2", 4, 34),
        ("type discrete [ 2 ] { yes, no };", "type continuous;", "expected 'discrete', found 'continuous'", 4, 8),
        ("type discrete [ 2 ] { yes, no };", "", "variable 'A' has no states", 3, 10),
        ("{ yes, no }", "{ yes, yes }", "column 'A' has state 'yes' more than once", 3, 10),
        ("variable B", "variable A", "variable 'A' is declared twice", 6, 10),
        ("probability ( B )", "probability ( A )", "variable 'A' has two tables", 15, 13),
        ("probability ( B )", "probability ( D )", "variable 'D' is not declared", 15, 13),
        ("table 0.2, 0.8;", "table 0.2, x;", "expected a number or ';', found 'x'", 13, 14),
        ("table 0.2, 0.8;", "table 0.2, nan;", "expected a number or ';', found 'nan'", 13, 14),
        ("table 0.2, 0.8;", "table 0.2;", "expected 2 numbers after 'table', found 1", 13, 9),
        ("table 0.2, 0.8;", "table 0.2, 0.7;", r"the row of 'A' must be probabilities that sum to 1", 12, 13),
        ("table 0.2, 0.8;", "table -0.2, 1.2;", "the table of 'A' holds -0.2, which is no probability", 12, 13),
        ("table 0.2, 0.8;", "table 1e999, 0;", "the table of 'A' holds inf, which is no probability", 12, 13),
        ("table 0.2, 0.8;", "", "'A' has no row at all", 12, 13),
        ("(yes, <5)", "(yes, <6)", "'<6' is not a state of 'B'", 19, 3),
        ("(yes, <5)", "(yes)", "expected 2 states, found 1", 19, 4),
        ("(no, <5)", "(yes, <5)", "'C' has two rows for these states", 20, 3),
        ("(no, <5) 0.3, 0.7;", "", "'C' has no row for the states 'no', '<5' of its parents", 18, 13),
        ("(no, <5) 0.3, 0.7;", "(no, <5) 0.3_0, 0.7;", "expected a number or ';', found '0.3_0'", 20, 12),
        ("(no, <5) 0.3, 0.7;", "(no, <5) 0.3, 0.7, 0.1;", "expected 2 numbers in this row, found 3", 20, 12),
        ("(no, <5) 0.3, 0.7;", "(no, <5) 0.3, 0.6;", "the row of 'C' for A=no, B=<5 must be", 18, 13),
        ("(no, <5) 0.3, 0.7;", "table 1;", "expected 8 numbers after 'table', found 1", 20, 9),
        ("( C | A, B )", "( C | A, A )", "names a variable twice: 'C', 'A', 'A'", 18, 13),
        ("network unknown", 'network "unknown', "a quotation mark is opened and never closed", 1, 9),
        ("network unknown", "/* network unknown", "a comment is opened and never closed", 1, 1),
        ("  (no, 12+) 0.05, 0.95;\n}", "", "expected .*, found the end of the file", 23, 1),
        ("probability ( A ) {", "probability ( A ) { default 0.5, 0.5;", "a table and rows too", 12, 13),
        (
            "probability ( A ) {\n  table 0.2, 0.8",
            "probability ( A | C ) {\n  default 0.2, 0.8",
            "the arcs form a cycle: ",
            None,
            None,
        ),
    ],
)
def test_bif(old, new, message, line, column):
    refused("bif", broken(BNLEARN, old, new), message, line, column)


def test_a_cycle_has_a_place():
    text = broken(BNLEARN, "probability ( A ) {\n  table", "probability ( A | C ) {\n  default")

    with pytest.raises(FormatError, match="cycle") as caught:
        parse_network(text, "bif")
    assert set(caught.value.details["cycle"]) == {"A", "C"}
    assert caught.value.details["line"] in {12, 18}


@pytest.mark.parametrize("label", ["bif", "net", "uai", "xmlbif", "xdsl", "json"])
@pytest.mark.parametrize("text", ["", " \n", "x", "{", "\x00", "<a>", "\ud800", "[" * 100_000, "(" * 100_000])
def test_what_is_no_network_at_all(label, text):
    with pytest.raises(FormatError, match=r"expected|not XML|not JSON|nested|half a character"):
        parse_network(text, label)


### XML


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ("<BIF VERSION", "<FIB VERSION", "this is not XML: mismatched tag", 22, 3),
        ("<NETWORK>\n<NAME>", "<NETWORK>\n<NAME", "this is not XML", None, None),
        ("<FOR>A</FOR>", "", "expected one <FOR> in a definition, found 0", 14, 1),
        ("<TABLE>0.2 0.8</TABLE>", "", "expected <TABLE> inside <DEFINITION>, found none", 14, 1),
        ("0.2 0.8", "0.2 x", "expected a number in <TABLE>, found 'x' at position 1", 14, 25),
        ("0.2 0.8", "0.2", "expected 2 numbers in <TABLE>, found 1", 14, 25),
        ("0.2 0.8", "0.2 0.7", "the row of 'A' must be probabilities", 14, 1),
        ('TYPE="nature"', 'TYPE="utility"', "expected variables of type 'nature', found 'utility'", 10, 1),
        ("<NAME>B</NAME>", "", "expected <NAME> inside <VARIABLE>, found none", 11, 1),
        ("<FOR>B</FOR>", "<FOR>D</FOR>", "variable 'D' is not declared", 15, 1),
        ("0.2 0.8", "&x; 0.8", "entity|undefined", None, None),
    ],
)
def test_xmlbif(old, new, message, line, column):
    refused("xmlbif", broken(XMLBIF, old, new), message, line, column)


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 30))


@pytest.mark.parametrize(
    "declaration",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        '<!ENTITY x SYSTEM "file:///etc/hostname">',
        '<!ENTITY % p SYSTEM "http://x/y.dtd"> %p;',
    ],
)
@pytest.mark.parametrize(("label", "text"), [("xmlbif", XMLBIF), ("xdsl", GENIE)])
def test_entities_are_refused_when_they_are_declared(label, text, declaration):
    body = text[text.index("<BIF") :] if label == "xmlbif" else text[text.index("<smile") :]
    refused(label, f"<!DOCTYPE x [{declaration}]>{body}", "line 1, column [0-9]+: the entity .* is refused")


def test_a_document_type_elsewhere_is_not_loaded():
    text = XMLBIF[XMLBIF.index("<BIF") :]

    assert len(parse_network(f'<!DOCTYPE BIF SYSTEM "no-such-file.dtd">{text}', "xmlbif")) == 3
    refused(
        "xmlbif", '<!DOCTYPE BIF SYSTEM "no.dtd">' + broken(text, "small", "&small;"), "the entity 'small' is refused"
    )


def test_defaults_of_attributes_do_not_multiply():
    text = f'<!DOCTYPE BIF [<!ATTLIST x y CDATA "{"z" * 100_000}">]><BIF>{"<x/>" * 100_000}</BIF>'

    refused("xmlbif", text, "expected <NETWORK> inside <BIF>, found none")


def test_absurd_nesting_is_refused():
    refused("xdsl", "<smile>" * 100_000, "elements are nested more than 64 deep")


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ("<nodes>", "<knots>", "not XML: mismatched tag", None, None),
        ('<cpt id="A">', "<cpt>", "expected an id in <cpt>, found none", 4, 3),
        ('<state id="yes" />', "<state />", "expected an id in <state>, found none", 5, 4),
        ("<parents>A B</parents>", "<parents>A D</parents>", "variable 'D' is not declared", 14, 3),
        ("<probabilities>0.2 0.8</probabilities>", "", "expected <probabilities> inside <cpt>, found none", 4, 3),
    ],
)
def test_xdsl(old, new, message, line, column):
    refused("xdsl", broken(GENIE, old, new), message, line, column)


def test_nodes_of_genie_without_a_table():
    noisy = '<smile><nodes><noisymax id="A"><state id="a"/></noisymax></nodes></smile>'
    wrong = '<smile><nodes><deterministic id="A"><state id="a"/><resultingstates>{}</resultingstates>'
    wrong += "</deterministic></nodes></smile>"

    refused("xdsl", noisy, "expected <cpt> or <deterministic>, found <noisymax>", 1, 15)
    refused("xdsl", wrong.format("b"), "expected states 'a', found 'b'", 1, 52)
    refused("xdsl", wrong.format("a a"), "expected 1 states, found 2", 1, 52)


### HUGIN and UAI


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ("discrete node B", "continuous node B", "expected 'net', 'node' or 'potential', found 'continuous'", 12, 1),
        ('states = ("yes" "no");', "", "node 'A' has no states", 6, 6),
        ('states = ("yes" "no");', 'states = ("yes" "no";', "expected '\\)', found ';'", 10, 25),
        ('states = ("yes" "no");', 'states = "yes" = "no";', "expected ';', found '='", 10, 20),
        ("data = ( 0.2 0.8 );", "data = ( 0.2 x );", "expected a number in 'data', found 'x'", 22, 12),
        ("data = ( 0.2 0.8 );", "data = ( 0.2 );", "expected 2 numbers in 'data', found 1", 22, 12),
        ("data = ( 0.2 0.8 );", "data = (( 0.2 0.8 );", "the parentheses of 'data' do not nest as 2", 22, 12),
        ("data = ( 0.2 0.8 );", "data = ( 0.2 0.8 ); data = (0.2 0.8);", "attribute 'data' is given twice", 22, 30),
        ("data = ( 0.2 0.8 );", "model_data = ( 0.2 0.8 );", "'model_data' gives a formula", 22, 16),
        ("(	0.8	0.2	))", "(	0.8	0.2	)", "do not nest as 2 x 2 x 2", 30, 12),
        ("potential (C | A B)", "potential (C A B)", "expected '|', found 'A'", 28, 14),
        ("potential (C | A B)", "potential (C | A D)", "variable 'D' is not declared", 28, 11),
        ("potential (B)", "potential (A)", "variable 'A' has two tables", 24, 11),
    ],
)
def test_net(old, new, message, line, column):
    refused("net", broken(HUGIN, old, new), message.replace("|", "\\|"), line, column)


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ("BAYES", "MARKOV", "this is a Markov network, and only Bayesian networks .BAYES. can be read", 1, 1),
        ("BAYES", "NOISE", "expected 'BAYES', found 'NOISE'", 1, 1),
        ("3\n2 2 2", "999999999999\n2 2 2", "the number of variables is 999999999999, but only", 2, 1),
        ("3\n2 2 2", "9999999999999\n2 2 2", "expected the number of variables, found '9999999999999'", 2, 1),
        ("2 2 2\n3", "2 2 2\n2", "expected 3 factors, one for each variable", 4, 1),
        ("2 2 2\n", "2 0 2\n", "column 'x1' needs at least one state, got none", 3, 3),
        ("2 2 2\n", "20 20 2\n", "40 states are announced, but only", 3, 4),
        ("1 1\n", "1 3\n", "expected the index of a variable, 0 to 2, found 3", 6, 3),
        ("1 1\n", "0\n", "a factor needs at least one variable", 6, 1),
        ("1 1\n", "1 0\n", "variable 'x0' has two tables", 6, 1),
        ("\n8\n", "\n7\n", "expected 8 entries in the table of x2, found 7", 15, 1),
        ("0.3 0.7", "0.3 x", "expected a number, found 'x'", 18, 6),
        ("0.05 0.95", "0.05", "the number of entries of a table is 8, but only 7 words follow", 15, 1),
        ("0.95\n", "0.95 1\n", "expected the end of the file, found '1'", 19, 12),
        ("0.2 0.8", "0.2 0.7", "the row of 'x0' must be probabilities", 9, 1),
    ],
)
def test_uai(old, new, message, line, column):
    refused("uai", broken(UAI, old, new), message, line, column)


### JSON


@pytest.mark.parametrize(
    ("old", "new", "message", "line", "column"),
    [
        ('"version": 1,', '"version": 1', "this is not JSON: expecting ',' delimiter", 4, 3),
        ('"version": 1,', '"version": 2,', "expected version 1, found 2", 3, 14),
        ('"version": 1,', '"version": true,', "expected version 1, found True", 3, 14),
        ('"version": 1,', '"version": 1, "name": "x",', "the key 'name' stands twice in an object", 4, 3),
        ('"version": 1,', '"version": 1, "author": "x",', "this network has the unknown key 'author'", 1, 1),
        ('"name": "small"', '"name": 1', "expected text, found 1", 4, 11),
        ('"name": "small"', '"notes": "small"', "expected a list, found 'small'", 4, 12),
        ('"parents": [], "p": [0.2, 0.8]', '"parents": []', "this table lacks 'p'", 10, 5),
        ("[0.2, 0.8]", "[0.2, NaN]", "expected a number, found NaN", 10, 49),
        ("[0.2, 0.8]", "[0.2, -Infinity]", "expected a number, found -Infinity", 10, 49),
        ("[0.2, 0.8]", "[0.2, 1e999]", "expected numbers, found inf", 10, 43),
        ("[0.2, 0.8]", '[0.2, "0.8"]', "expected numbers, found '0.8'", 10, 43),
        ("[0.2, 0.8]", "[true, false]", "expected numbers, found True", 10, 43),
        ("[0.2, 0.8]", "[0.2, 0.8, 0]", r"expected nested lists of shape \(2,\)", 10, 43),
        ("[0.2, 0.8]", "[0.2, 0.7]", "the row of 'A' must be probabilities", 10, 5),
        ("[0.2, 0.8]", "[0, 99999999999999999999]", "the whole number 9+ is beyond 64 bits", 10, 47),
        ("[[1, 9], [3, 0]]", "[[1, 9], [3, -1]]", "not negative, found -1", 11, 78),
        ('"states": ["yes", "no"]', '"states": ["yes", "yes"]', "has state 'yes' more than once", 6, 5),
        ('"states": ["yes", "no"]', '"states": ["yes", []]', "cannot be the name of a state", 6, 5),
        ('"states": ["yes", "no"]', '"states": [1e999, 1]', "a state that is a number must be finite", 6, 49),
        ('"states": ["yes", "no"]', '"states": "yes"', "expected a list, found 'yes'", 6, 49),
        ('"cuts": [0.5]', '"cuts": "5"', "expected a list, found '5'", 7, 72),
        ('"cuts": [0.5]', '"cuts": [1, 2]', "has 2 states, so 1 cuts, got 2", 7, 5),
        ('"kind": "discrete"', '"kind": "numeric"', "expected a discrete variable, found 'numeric'", 6, 27),
        ('"name": "B"', '"name": "A"', "variable 'A' is declared twice", 7, 5),
        ('"parents": ["A"]', '"parents": ["D"]', "variable 'D' is not declared", 11, 5),
        ('"variable": "B"', '"variable": "A"', "variable 'A' has two tables", 11, 5),
    ],
)
def test_json(old, new, message, line, column):
    refused("json", broken(JSON, old, new), message, line, column)


@pytest.mark.parametrize("text", ["[]", "3", '{"format": "other"}', '"bayeslearn network"'])
def test_json_of_something_else(text):
    refused("json", text, "expected .*'bayeslearn network'", 1, 1)


### more than there is room for


def many_parents(n, states=2):
    variables = "".join(
        f"variable v{i} {{ type discrete [ {states} ] {{ {', '.join('abcd'[:states])} }}; }}" for i in range(n)
    )
    parents = ", ".join(f"v{i}" for i in range(1, n))
    return f"{variables} probability ( v0 | {parents} ) {{ default {' '.join(['1'] * states)}; }}"


def test_huge_tables_are_refused_before_they_are_made():
    with pytest.raises(CapacityError, match="has 1,099,511,627,776 cells") as caught:
        parse_network(many_parents(40), "bif")

    assert caught.value.details["bytes"] == 8 * 2**40


def test_too_many_parents_are_refused_even_if_they_have_one_state():
    with pytest.raises(CapacityError, match="63 parents are read"):
        parse_network(many_parents(66, states=1), "bif")


def test_unclosed_things_take_no_time():
    """A tokenizer that tried things twice would be here until tomorrow."""
    for text in ["/*" * 200_000, '"\\' * 200_000, "/" * 200_000, "variable " + "a/" * 200_000, '"' * 199_999]:
        for label in ("bif", "net", "json"):
            with pytest.raises(FormatError, match=r"expected|opened|not JSON"):
                parse_network(text, label)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "x.bif"
    path.write_text("network x {\n  y\n}")

    with pytest.raises(
        FormatError, match=r"x\.bif', line 2, column 3: expected 'property' or '}', found 'y'"
    ) as caught:
        read_network(path)
    assert caught.value.details["path"] == str(path)


@pytest.mark.parametrize(
    "legend", ["", "x", "3", "{}", '{"name": "x"}', '{"name": "x", "states": ["a"]}', "[" * 99_999]
)
def test_a_damaged_legend_is_refused(legend):
    node = '<cpt id="A"><state id="a"/><state id="b"/><probabilities>1 0</probabilities>'
    text = f'<smile><nodes>{node}<property id="bayeslearn">{legend}</property></cpt></nodes></smile>'

    refused("xdsl", text, "the legend of 'A' is damaged", 1, 15)


def test_two_legends_with_one_name():
    node = '<cpt id="{0}"><state id="a"/><probabilities>1</probabilities><property id="bayeslearn">{1}</property></cpt>'
    nodes = "".join(node.format(key, '{"name": "x", "states": ["a"]}') for key in "AB")

    refused("xdsl", f"<smile><nodes>{nodes}</nodes></smile>", "variable 'x' has two tables")
