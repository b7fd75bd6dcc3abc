"""Shattering, VC dimension and growth of finite classes against brute force; known classes computed."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import (
    CapacityError,
    DataError,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
    ParameterError,
    ShapeError,
)
from bayeslearn.learning_theory import (
    ConceptClass,
    concept_class,
    find_shattering,
    read_class,
    sauer_bound,
    standard_class,
)
from tests.learning_theory import oracle
from tests.properties import trials


@given(oracle.concept_classes(hypotheses=40, points=8))
@trials(150)
def test_dimension_is_that_of_brute_force(concepts):
    d = concepts.vc_dimension
    assert d == oracle.vc_dimension(concepts)
    assert 2**d <= len(concepts)
    assert concepts.shatters(concepts.shattered.points)


@given(oracle.concept_classes(), st.data())
def test_growth_is_that_of_brute_force(concepts, data):
    m = data.draw(st.integers(0, len(concepts.points)))
    assert concepts.growth_function(m) == oracle.growth(concepts, m) <= sauer_bound(concepts.vc_dimension, m)


@given(oracle.concept_classes())
def test_witness_labels_its_points_in_every_way(concepts):
    found = concepts.shattered
    assert sorted(found.hypotheses) == sorted(itertools.product([False, True], repeat=len(found)))
    for labels, h in found.hypotheses.items():
        row = concepts.labels[concepts.hypotheses.index(h)]
        assert [row[i] for i in concepts.places(found.points)] == list(labels)


@given(oracle.concept_classes(points=5), st.integers(0, 10**6))
def test_dimension_ignores_order_copies_and_opposites(concepts, seed):
    rng = np.random.default_rng(seed)
    table = concepts.labels[rng.permutation(len(concepts))][:, rng.permutation(len(concepts.points))]
    wider = np.hstack([table, ~table, table])
    assert ConceptClass.from_matrix(np.vstack([wider, wider])).vc_dimension == concepts.vc_dimension


@pytest.mark.compiled
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(("n", "points", "q"), [(600, 80, 0.2), (400, 130, 0.3), (300, 20, 0.5)])
def test_large_classes_on_any_number_of_threads(n, points, q, threads, monkeypatch):
    monkeypatch.setenv("BAYESLEARN_THREADS", threads)
    concepts = ConceptClass.from_matrix(np.random.default_rng(0).random((n, points)) < q)
    whole = concept_class.largest_shattered(concepts)
    monkeypatch.setattr(concept_class, "SMALL", 10**9)
    assert concept_class.largest_shattered(concepts) == whole
    monkeypatch.setattr(concept_class, "SMALL", 0)
    monkeypatch.setattr(concept_class, "LONG", 3)
    assert concept_class.largest_shattered(concepts) == whole


def test_shattering_tells_who():
    concepts = ConceptClass.from_matrix([[0, 0], [1, 0], [0, 1]], hypotheses="abc", points="xy")
    assert find_shattering(concepts, "x").hypotheses == {(False,): "a", (True,): "b"}
    assert find_shattering(concepts, "xy") is None
    assert find_shattering(concepts, "").hypotheses == {(): "a"}
    assert concepts.patterns("xy").tolist() == [[False, False], [False, True], [True, False]]


def test_one_hypothesis_shatters_nothing():
    concepts = ConceptClass.from_matrix([[0, 1, 1]])
    assert concepts.vc_dimension == 0
    assert concepts.growth_function(3) == 1


def test_hypotheses_that_say_the_same_are_one():
    assert ConceptClass.from_matrix([[0, 1], [0, 1], [1, 1]], hypotheses="abc").hypotheses == ("a", "c")


def test_growth_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(concept_class, "MAX_SETS", 10)
    with pytest.raises(CapacityError, match="more than 10 sets of 6"):
        ConceptClass.from_matrix(np.random.default_rng(0).random((40, 12)) < 0.5).growth_function(6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ConceptClass.from_matrix([]), ShapeError, "hypotheses by points"),
        (lambda: ConceptClass.from_matrix(np.zeros((0, 3))), EmptyTableError, "got 0 by 3"),
        (lambda: ConceptClass.from_functions([], [1, 2]), EmptyTableError, "got 0 by 2"),
        (lambda: ConceptClass.from_functions([bool], []), EmptyTableError, "got 1 by 0"),
        (lambda: ConceptClass.from_matrix([[0, 2]]), DataError, "got 2 for hypothesis 0 and point 1"),
        (lambda: ConceptClass.from_matrix([[0, math.nan]]), DataError, "got nan"),
        (lambda: ConceptClass.from_matrix([["a", "b"]]), ParameterError, "must be numbers"),
        (lambda: ConceptClass.from_matrix([[0, 1]], points="x"), ShapeError, "names for 2 points, got 1"),
        (lambda: ConceptClass.from_matrix([[0, 1]], points="xx"), ParameterError, "different names"),
        (lambda: ConceptClass.from_matrix([[0, 1]]).shatters([5]), ParameterError, "no point is called 5"),
        (lambda: ConceptClass.from_matrix([[0, 1]]).shatters([0, 0]), ParameterError, "must be different"),
        (lambda: ConceptClass.from_matrix([[0, 1]]).growth_function(3), ParameterError, "over 2 points, got m = 3"),
    ],
)
def test_bad_classes(make, error, message):
    with pytest.raises(error, match=message):
        make()


### files


@pytest.mark.parametrize(
    ("text", "hypotheses", "points"),
    [
        ("0,1\n1,1\n", (0, 1), (0, 1)),
        ("x,y\n0,1\n1,1\n", (0, 1), ("x", "y")),
        ("h,x,y\na,0,1\nb,1,1\n", ("a", "b"), ("x", "y")),
        ("a,0,1\nb,1,1\n", ("a", "b"), (0, 1)),
        ("x\n0\n1\n", (0, 1), ("x",)),
    ],
)
def test_files(tmp_path, text, hypotheses, points):
    (tmp_path / "class.csv").write_text(text)
    found = read_class(tmp_path / "class.csv")
    assert (found.hypotheses, found.points) == (hypotheses, points)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", EmptyTableError, "is empty"),
        (b"x,y\n", EmptyTableError, "a header and no hypothesis"),
        (b"0,1\n1\n", FormatError, "hypothesis 2 has 1 cells, not 2"),
        (b"0,1\n0,7\n", FormatError, "hypothesis 2 has a cell '7', not 0 or 1"),
        (b"\xff\xfe\x00", FormatError, "cannot be read"),
    ],
)
def test_bad_files(tmp_path, content, error, message):
    (tmp_path / "class.csv").write_bytes(content)
    with pytest.raises(error, match=message):
        read_class(tmp_path / "class.csv")


def test_missing_file(tmp_path):
    with pytest.raises(InputFileNotFoundError, match="no file"):
        read_class(tmp_path / "nothing.csv")


### classes of known dimension

KNOWN = [
    ("thresholds", 1),
    ("intervals", 1),
    ("intervals", 2),
    ("rectangles", 1),
    ("rectangles", 2),
    ("rectangles", 3),
    ("half-spaces", 1),
    ("half-spaces", 2),
    ("balls", 1),
    ("balls", 2),
    ("conjunctions", 1),
    ("conjunctions", 2),
    ("conjunctions", 3),
    ("monotone conjunctions", 3),
    ("parities", 3),
    ("everything", 2),
]
BOOLEAN = {"conjunctions", "monotone conjunctions", "parities", "everything"}


@pytest.mark.parametrize(("name", "n"), KNOWN)
def test_known_dimensions(name, n):
    known = standard_class(name, n)
    assert known.labelings(known.witness).vc_dimension == known.dimension == len(known.witness)
    if name in BOOLEAN:
        others = [np.array(list(itertools.product([0, 1], repeat=n)))]
    else:
        rng = np.random.default_rng(0)
        others = [rng.normal(size=(int(known.dimension) + 2, known.witness.shape[1])) for _ in range(2)]
    assert max(known.labelings(points).vc_dimension for points in others) <= known.dimension


def test_sines_shatter_as_many_points_as_there_are():
    for n in range(1, 8):
        known = standard_class("sines", n)
        assert known.labelings(known.witness).vc_dimension == n
    assert math.isinf(known.dimension)
    assert "infinite" in str(known)


@pytest.mark.parametrize("n", range(2, 7))
def test_half_planes_label_as_many_ways_as_cover_says(n):
    points = np.random.default_rng(1).normal(size=(n, 2))
    assert len(standard_class("half-spaces", 2).labelings(points)) == 2 * sum(math.comb(n - 1, k) for k in range(3))


def test_bad_known_classes():
    with pytest.raises(ParameterError, match="unexpected value for `name`"):
        standard_class("squares")
    with pytest.raises(ParameterError, match="points of 2 coordinates"):
        standard_class("half-spaces").labelings([1.0, 2.0])
    with pytest.raises(CapacityError, match="at most 14 points"):
        standard_class("intervals").labelings(range(20))
    with pytest.raises(ParameterError, match="0 or 1, got 2"):
        standard_class("parities").labelings([[2, 1]])
    with pytest.raises(ParameterError, match="1/2, 1/4"):
        standard_class("sines").labelings([0.3])
    with pytest.raises(CapacityError, match="too many to list"):
        standard_class("everything", 4)
