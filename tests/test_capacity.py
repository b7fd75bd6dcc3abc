"""What would take too much memory is refused beforehand, with the number."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

from bayeslearn import capacity, read_network, strict_json
from bayeslearn.distributions import FinitePrior
from bayeslearn.errors import BayeslearnError, CapacityError, ParameterError
from bayeslearn.hmm import fit_hmm
from bayeslearn.mixture import fit_mixture
from bayeslearn.naive_bayes.text import HashedVocabulary, fit_text
from bayeslearn.network import fit_network, fit_parameters, sample_structure_posterior
from bayeslearn.network.formats import parse_network, read_write

SIZE = 60_000
HEAD = "network u {\n}\nvariable a { type discrete [ 2 ] { a, b }; }\n"
NODES = 'net{} node a {states=("a" "b");} '
XML = "<VARIABLE><NAME>a</NAME><OUTCOME>a</OUTCOME></VARIABLE>"

#: Texts that hold as many parts as possible.
DENSE = {
    "lists": ("json", f"[{'[],' * (SIZE // 3)}1]"),
    "objects": ("json", "[" + '{"a":0},' * (SIZE // 8) + "1]"),
    "numbers": ("json", f"[{'1.5,' * (SIZE // 4)}1]"),
    "texts": ("json", "[" + '"ab",' * (SIZE // 5) + "1]"),
    "elements": ("xmlbif", f"<BIF><NETWORK>{'<a/>' * (SIZE // 4)}</NETWORK></BIF>"),
    "attributes": (
        "xdsl",
        "<smile><nodes><a " + " ".join(f'a{i:x}=""' for i in range(SIZE // 9)) + "/></nodes></smile>",
    ),
    "table": (
        "xmlbif",
        f"<BIF><NETWORK>{XML}<DEFINITION><FOR>a</FOR><TABLE>{'.5 ' * (SIZE // 3)}</TABLE></DEFINITION></NETWORK></BIF>",
    ),
    "sizes": ("uai", f"BAYES {SIZE // 4} {'2 ' * (SIZE // 2)}"),
    "states": ("bif", f"variable a {{ type discrete [ {SIZE // 3} ] {{ {'a1,' * (SIZE // 3)} }}; }}"),
    "blanks": ("bif", f"variable a {{ type discrete [ {SIZE // 3} ] {{ {('a1' + chr(11)) * (SIZE // 3)} }}; }}"),
    "parents": ("bif", f"{HEAD}probability(a|{'a1,' * (SIZE // 3)}b) {{ table 0.5, 0.5; }}"),
    "row": ("bif", f"{HEAD}probability(a) {{ table {'0.5,' * (SIZE // 4)}0.5; }}"),
    "words": ("net", f"net{{}} node a {{states={'ab ' * (SIZE // 3)};}}"),
    "data": ("net", f"{NODES} potential(a){{data=({'0.5 ' * (SIZE // 4)});}}"),
}


@pytest.mark.parametrize("name", DENSE)
def test_a_text_takes_no_more_than_it_is_refused_for(name):
    """The costs are measured: what a text takes while it is read is at most a third more than they say."""
    label, text = DENSE[name]
    costs = strict_json.COSTS if label == "json" else read_write.FORMATS[label].costs
    said = sum(cost * text.count(sign) for signs, cost in costs.items() for sign in signs)
    tracemalloc.start()
    try:
        with pytest.raises(BayeslearnError, match=r"."):
            parse_network(text, label)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4 / 3 * said + 16 * SIZE


@pytest.mark.parametrize("name", DENSE)
def test_texts_of_too_many_parts_are_refused_before_they_are_read(name, monkeypatch):
    monkeypatch.setattr(capacity, "SMALL_TEXT", SIZE // 2)
    monkeypatch.setattr(capacity, "MAX_PARSED_BYTES", 400_000)
    label, text = DENSE[name]
    with pytest.raises(CapacityError, match=r"its .* characters .* would take about .*iB, and at most 390\.6 KiB"):
        parse_network(text, label)


def test_a_network_of_many_numbers_is_read():
    """12 MB in 2¹⁹ numbers."""
    p = np.random.default_rng(0).dirichlet(np.ones(2), 2**18)
    parents = [f"p{i}" for i in range(18)]
    lines = [f'{{"name": "{name}", "kind": "discrete", "states": [0, 1]}}' for name in [*parents, "x"]]
    tables = [f'{{"variable": "{name}", "parents": [], "p": [0.5, 0.5]}}' for name in parents]
    tables += [f'{{"variable": "x", "parents": {parents}, "p": {p.reshape((2,) * 19).tolist()}}}'.replace("'", '"')]
    head = '{"format": "bayeslearn network", "version": 1, '
    text = f'{head}"variables": [{", ".join(lines)}], "cpts": [{", ".join(tables)}]}}'
    assert len(text) > capacity.SMALL_TEXT
    assert parse_network(text, "json")["x"].probabilities.shape == (2,) * 19


def test_room_is_refused_with_both_numbers(monkeypatch):
    capacity.require_numbers("little", (1000, 1000), copies=3)
    with pytest.raises(
        CapacityError, match=r"a would need 8\.0 GiB, and at most 4\.0 GiB are taken\n\nhint: less"
    ) as caught:
        capacity.require_numbers("a", (1 << 15, 1 << 15), hint="less")
    assert caught.value.details["bytes"] == 1 << 33
    with pytest.raises(CapacityError, match=re.escape("a would need 7.3e+294 TiB")):
        capacity.require_room("a", 8 * 10**306)
    monkeypatch.setattr(capacity, "free_memory", lambda: 1 << 28)
    with pytest.raises(CapacityError, match=r"a would need 512\.0 MiB, and 256\.0 MiB are free"):
        capacity.require_numbers("a", (1 << 26,))
    capacity.require_numbers("a", (1 << 24,))


def test_a_deterministic_node_takes_a_row_for_each_of_its_parents_states_only():
    """30,000 states without parents are one row, not a square of 7 GB."""
    n = 30_000
    states = "".join(f'<state id="s{i}"/>' for i in range(n))
    node = f'<deterministic id="a">{states}<resultingstates>s7</resultingstates></deterministic>'
    text = f"<smile><nodes>{node}</nodes></smile>"
    p = parse_network(text, "xdsl")["a"].probabilities
    assert (p.shape, p.sum(), p[7]) == ((n,), 1, 1)
    child = f'<deterministic id="b">{states}<parents>a</parents><resultingstates>s7</resultingstates></deterministic>'
    with pytest.raises(CapacityError, match=r"the table of 'b' with 1 parents has 900,000,000 cells"):
        parse_network(text.replace("</nodes>", child + "</nodes>"), "xdsl")


def test_a_short_table_of_many_rows_takes_no_room_for_what_is_not_there():
    """2²² rows are announced and none is given."""
    names = [f"p{i}" for i in range(22)]
    text = "".join(f"variable {n} {{ type discrete [ 2 ] {{ y, n }}; }}\n" for n in names)
    text += "".join(f"probability ( {n} ) {{ table 0.5, 0.5; }}\n" for n in names)
    text += f"variable x {{ type discrete [ 1 ] {{ y }}; }}\nprobability ( x | {', '.join(names)} ) {{ }}\n"
    tracemalloc.start()
    try:
        with pytest.raises(BayeslearnError, match="'x' has no row for the states"):
            parse_network(text, "bif")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 5 * 8 * 2**22


### what is asked for

ROWS = {"a": list("xyz") * 8, "b": list("pq") * 12, "u": [0.5 * i for i in range(24)]}
NUMBERS = np.random.default_rng(0).standard_normal((24, 2))


@pytest.mark.parametrize("n", [10**9, 10**18])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda n: fit_parameters("[H][a|H]", {"a": ROWS["a"]}, hidden={"H": n}), "states of 'H' would need"),
        (lambda n: fit_network(ROWS, hidden={"H": n}), "states of 'H' would need"),
        (lambda n: fit_network(ROWS, bootstrap=n), "resamples would need"),
        (lambda n: sample_structure_posterior(ROWS, n_samples=n), "orders would need"),
        (lambda n: sample_structure_posterior(ROWS, n_chains=n), "chains .* would need"),
        (lambda n: read_network("asia").sample(n), "cases of 8 variables would need"),
        (lambda n: fit_hmm(NUMBERS, n), "states and the transitions between them would need"),
        (lambda n: fit_hmm(NUMBERS, 2, n_mixtures=n), "parts in each of 2 states would need"),
        (lambda n: fit_hmm(NUMBERS, 2).to_network(n), "steps would need"),
        (lambda n: fit_mixture(NUMBERS, n), "components would need"),
        (lambda n: fit_mixture(NUMBERS, 2, random_state=0).sample(n), "rows would need"),
        (lambda n: fit_mixture(ROWS, n), "components would need"),
        (FinitePrior.uniform, "hypotheses would need"),
    ],
)
def test_what_is_too_much_is_refused_with_the_number(call, message, n):
    with pytest.raises(CapacityError, match=rf"{message} [0-9.e+,]+ [GT]iB, and at most"):
        call(n)


@pytest.mark.parametrize("call", [lambda n: read_network("asia").sample(n), lambda n: fit_mixture(NUMBERS, n)])
def test_a_number_beyond_64_bits_is_named(call):
    with pytest.raises(ParameterError, match="must be at most 9223372036854775807, got 100000000000000000000"):
        call(10**20)


@pytest.mark.parametrize("n", [10**9, 2 * 10**9])
def test_hashed_words_are_refused_with_the_number(n):
    with pytest.raises(CapacityError, match=r"hashed words would need [0-9.]+ GiB, and at most"):
        HashedVocabulary(n)
    with pytest.raises(CapacityError, match=r"words in 9 classes would need [0-9.]+ GiB, and at most"):
        fit_text(list("abcdefghi"), list("abcdefghi"), vocabulary=HashedVocabulary(1 << 26), prior=1.0)


@pytest.mark.parametrize("n", [10**9, 10**20])
def test_more_intervals_than_a_column_may_have(n):
    with pytest.raises(ParameterError, match="`n_bins` must be at most 1048576"):
        fit_network(ROWS, n_bins=n)


def test_tables_of_many_parents_are_refused_with_the_largest():
    rows = {f"p{i:02}": list("abcdefgh") for i in range(12)}
    structure = "".join(f"[{name}]" for name in rows if name != "p00") + f"[p00|{':'.join(list(rows)[1:])}]"
    with pytest.raises(CapacityError, match=r"that of 'p00' has 68,719,476,736 cells, would need 2\.0 TiB"):
        fit_parameters(structure, rows)
