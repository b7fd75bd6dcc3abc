"""Function graphs, cases and bases: notation, values that add up, files, and bad input."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import datasets
from bayeslearn.case_based import Case, CaseBase, FunctionGraph, Rule
from bayeslearn.case_based.subgraph_matching import isomorphic
from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    ConflictingInfluenceError,
    CycleError,
    FormatError,
    InputFileNotFoundError,
    MismatchError,
    MissingDependencyError,
    ParameterError,
    UnknownColumnError,
)
from tests.case_based.strategies import bases, graphs
from tests.properties import trials

VALVE = Case("valve", "lift:position ->+ flow", {"parts": ["seat", {"plug": None}]}, {"material": "brass", "size": 3})

### graphs


def test_notation():
    graph = FunctionGraph("a, b -> + c:flow\n c →− d; c→-e")
    assert str(graph) == "a →+ c; b →+ c; c →− d; c →− e"
    assert graph.kinds == {"c": "flow"}
    assert graph == FunctionGraph([("c", "e", "-"), ("c", "d", -1), "b ->+ c", ("a", "c", "+")], {"c": "flow"})
    assert graph.nodes == ("a", "b", "c", "d", "e")


def test_feedback_is_a_function():
    assert len(FunctionGraph("room ->- switch; switch ->+ heat; heat ->+ room")) == 3


@trials(40)
@given(graphs(), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_values_are_values(graph, rnd):
    arcs = rnd.sample(graph.arcs, len(graph))
    again = FunctionGraph(arcs, dict(rnd.sample(list(graph.kinds.items()), len(graph.kinds))))
    assert again == graph
    assert hash(again) == hash(graph)
    assert pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph) == graph
    assert FunctionGraph(str(graph), graph.kinds) == graph


@trials(40)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_same_but_for_names(graph, rnd):
    names = dict(
        zip(graph.nodes, rnd.sample([f"z{i}" for i in range(len(graph.nodes))], len(graph.nodes)), strict=True)
    )
    other = graph.rename(names)
    assert other.fingerprint == graph.fingerprint
    assert isomorphic(graph, other)


@trials(60)
@given(graphs(nodes=4, arcs=3), graphs(nodes=4, arcs=3))
def test_fingerprints_tell_graphs_apart_or_matching_does(a, b):
    same = any(a.rename(dict(zip(a.nodes, order, strict=True))) == b for order in _orders(a, b))
    assert isomorphic(a, b) == same


def _orders(a, b):
    from itertools import permutations

    return permutations(b.nodes) if len(a.nodes) == len(b.nodes) else ()


@pytest.mark.parametrize(
    ("arcs", "kinds", "error", "message"),
    [
        ("a ->+ b; a ->- b", None, ConflictingInfluenceError, "a →\\+ b contradicts a →− b"),
        ("a:flow ->+ b; a:heat ->+ c", None, ConflictingInfluenceError, "'a' has two kinds, 'flow' and 'heat'"),
        ("a ->+ a", None, CycleError, "in a →\\+ a a quantity influences itself"),
        ("", None, ParameterError, "at least one arc"),
        ("a -> b", None, FormatError, "'a -> b' is no influence"),
        ("a ->+ ", None, FormatError, "is no influence"),
        ("a,, b ->+ c", None, ParameterError, "the name of a quantity is a word"),
        ([("a", "b", 2)], None, ParameterError, "the sign of an arc is \\+ or -, got 2"),
        ([("a", "b", True)], None, ParameterError, "the sign of an arc"),
        ([("a", "b", [1])], None, ParameterError, "the sign of an arc"),
        ([("a", 3, 1)], None, ParameterError, "the name of a quantity is a word .* got 3"),
        ([("a:b", "c", 1)], None, ParameterError, "':' has a meaning"),
        ([5], None, ParameterError, "an arc is a statement or a triple"),
        (7, None, ParameterError, "arcs are statements or triples, got 7"),
        ("a ->+ b", {"c": "flow"}, ParameterError, "kinds are given for 'c', which no arc names"),
        ("a ->+ b", {"a": 3}, ParameterError, "the kind of 'a' is a word, got 3"),
        ("a ->+ b", 3, ParameterError, "kinds are given by quantity"),
        ([(f"a{i}", f"a{i + 1}", 1) for i in range(300)], None, CapacityError, "301 quantities"),
    ],
)
def test_bad_graphs(arcs, kinds, error, message):
    with pytest.raises(error, match=message):
        FunctionGraph(arcs, kinds)


def test_two_names_cannot_become_one():
    with pytest.raises(ParameterError, match="one name"):
        FunctionGraph("a ->+ b").rename({"a": "b"})


### cases


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
@trials(40)
def test_structures_come_back_as_given(structure):
    case = Case("c", "a ->+ b", structure)
    assert case.structure == structure
    assert case.is_open == (structure is None)


def test_nobody_changes_a_case_from_outside():
    parts = ["seat"]
    case = Case("valve", "a ->+ b", parts)
    parts.append("plug")
    case.structure.append("stem")
    assert case.structure == ["seat"]
    with pytest.raises(AttributeError, match="cannot assign"):
        case.name = "tap"
    with pytest.raises(TypeError, match="does not support item assignment"):
        case.attributes["size"] = 3


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"name": " "}, "the name of a case is text"),
        ({"name": 3}, "the name of a case is text"),
        ({"structure": {1: 2}}, "does not read back from JSON"),
        ({"structure": (1, 2)}, "does not read back from JSON"),
        ({"structure": float("nan")}, "case 'c': the structure must be JSON"),
        ({"structure": object()}, "the structure must be JSON"),
        ({"structure": "x" * (1 << 22)}, "letters as JSON"),
        ({"attributes": {"size": [1]}}, "attribute 'size' must be text or a finite number"),
        ({"attributes": 3}, "attributes are given by name"),
        ({"attributes": {str(i): i for i in range(101)}}, "101 attributes"),
        ({"function": "a ->+ b; a ->- b"}, "case 'c': a →\\+ b contradicts"),
    ],
)
def test_bad_cases(how, message):
    with pytest.raises(BayeslearnError, match=message):
        Case(**{"name": "c", "function": "a ->+ b", **how})


### bases


@given(bases(), bases(max_results=2), bases(max_results=2))
@trials(40)
def test_bases_add(a, b, c):
    b, c = (CaseBase(Case(f"{x}{case.name}", case.function, 1) for case in base) for x, base in (("b", b), ("c", c)))
    assert a + CaseBase() == CaseBase() + a == a + a == a
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert len(a + b) == len(a) + len(b)
    assert pickle.loads(pickle.dumps(a)) == a
    assert hash(CaseBase(random.Random(0).sample(list(a), len(a)))) == hash(a)


def test_one_name_for_two_things():
    other = Case("valve", "a ->+ b", 1)
    with pytest.raises(MismatchError, match="two different cases are named 'valve'"):
        CaseBase([VALVE]) + CaseBase([other])
    with pytest.raises(ParameterError, match="expected a Case"):
        CaseBase(["valve"])
    with pytest.raises(UnknownColumnError, match="there is no case 'valv'") as found:
        CaseBase([VALVE])["valv"]
    assert "did you mean 'valve'" in str(found.value)


### files


@given(base=bases())
@trials(25)
def test_files_hold_all(base, tmp_path_factory):
    base += CaseBase([Case("asked", "a ->+ b", None, {"x": 1})], [Rule("r", "A:flow ->+ B", "A ->+ x:heat; x ->+ B")])
    for name in ("base.json", "base.json.gz"):
        path = tmp_path_factory.mktemp("cases") / name
        base.save(path)
        assert CaseBase.load(path) == base


def written(tmp_path, cases, rules=(), **more):
    path = tmp_path / "cases.json"
    document = {"format": "bayeslearn cases", "version": 1, "cases": cases, "rules": list(rules), **more}
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("case", "error", "message"),
    [
        ({"name": "tap"}, FormatError, "case 'tap' has no 'function'"),
        ({"function": "a ->+ b"}, FormatError, "case number 1 has no 'name'"),
        ({"name": "tap", "function": "a ->+ b", "parts": 1}, FormatError, "case 'tap' has an unknown part 'parts'"),
        (
            {"name": "tap", "function": ["a ->+ b", "a ->- b"]},
            ConflictingInfluenceError,
            "case 'tap': a →\\+ b contradicts",
        ),
        ({"name": "tap", "function": ["a ->+ a"]}, CycleError, "case 'tap': in a →\\+ a a quantity influences itself"),
        ({"name": "tap", "function": ["a to b"]}, FormatError, "case 'tap': 'a to b' is no influence"),
        ({"name": "tap", "function": 3}, FormatError, "case 'tap': arcs are statements"),
        (
            {"name": "tap", "function": "a ->+ b", "kinds": {"c": "x"}},
            FormatError,
            "case 'tap': kinds are given for 'c'",
        ),
        ({"name": "tap", "function": "a ->+ b", "attributes": [1]}, FormatError, "case 'tap': attributes"),
        (3, FormatError, "case number 1 is an object, found 3"),
    ],
)
def test_bad_files_name_the_case(tmp_path, case, error, message):
    with pytest.raises(error, match=message) as found:
        CaseBase.load(written(tmp_path, [case]))
    assert "cases.json" in str(found.value)


def test_bad_documents(tmp_path):
    good = {"name": "tap", "function": "a ->+ b"}
    with pytest.raises(FormatError, match="two cases are named 'tap'"):
        CaseBase.load(written(tmp_path, [good, good]))
    with pytest.raises(FormatError, match="'cases' is a list"):
        CaseBase.load(written(tmp_path, {"tap": good}))
    with pytest.raises(FormatError, match="unknown part 'case'"):
        CaseBase.load(written(tmp_path, [], case=1))
    with pytest.raises(FormatError, match="version 2"):
        CaseBase.load(written(tmp_path, [], version=2))
    with pytest.raises(FormatError, match="rule 'r' changes nothing"):
        CaseBase.load(written(tmp_path, [], [{"name": "r", "pattern": "A ->+ B", "replacement": "A ->+ B"}]))
    rule = {"name": "r", "pattern": "A ->+ B", "replacement": "B ->+ A", "kinds": {"C": "x"}}
    with pytest.raises(FormatError, match="rule 'r' has kinds of quantities that it does not name"):
        CaseBase.load(written(tmp_path, [], [rule]))
    with pytest.raises(FormatError, match="rule 'r' has no 'replacement'"):
        CaseBase.load(written(tmp_path, [], [{"name": "r", "pattern": "A ->+ B"}]))
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    with pytest.raises(FormatError, match="cannot be read"):
        CaseBase.load(tmp_path / "cut.json.gz")
    with pytest.raises(
        InputFileNotFoundError, match=r"there is no such file\n\nhint: case bases that ship: plumbing, support"
    ):
        CaseBase.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match="its name stands for another format"):
        CaseBase([VALVE]).save(tmp_path / "base.txt")


def test_yaml(tmp_path):
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "cases.yaml"
    document = {
        "format": "bayeslearn cases",
        "version": 1,
        "cases": [{"name": "tap", "function": "a ->- b", "structure": {"x": [1]}}],
    }
    path.write_text(yaml.safe_dump(document))
    assert CaseBase.load(path)["tap"].structure == {"x": [1]}
    path.write_text("format: bayeslearn cases\nversion: 1\ncases: &a [1]\nrules: *a\n")
    with pytest.raises(FormatError, match="aliases are not read"):
        CaseBase.load(path)
    path.write_text("!!python/object/apply:os.system [echo]")
    with pytest.raises(FormatError, match="this is not YAML: could not determine a constructor"):
        CaseBase.load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(FormatError, match="this is not YAML"):
        CaseBase.load(path)
    path.write_text("[" * 1500)
    with pytest.raises(FormatError, match="this is not YAML"):
        CaseBase.load(path)
    path.write_text(
        "format: bayeslearn cases\nversion: 1\ncases:\n- {name: t, function: a ->+ b, structure: 2020-01-01}\n"
    )
    with pytest.raises(FormatError, match="case 't': the structure must be JSON"):
        CaseBase.load(path)


def test_yaml_without_pyyaml(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "cases.yml").write_text("cases: []")
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayeslearn\[yaml\]'"):
        CaseBase.load(tmp_path / "cases.yml")


def test_what_ships():
    assert datasets.list_case_bases() == ["plumbing", "support"]
    for name in datasets.list_case_bases():
        base = CaseBase.load(name)
        assert base.cases
        assert base.open
    with pytest.raises(ParameterError, match="no case base named 'cars' ships"):
        datasets.case_base_path("cars")
