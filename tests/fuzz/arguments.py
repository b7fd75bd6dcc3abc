"""Hostile arguments for every estimator and every public function that takes arrays.

Types and layouts that NumPy has and kernels do not expect, codes and lengths that leave their range, arrays that change
after they were handed over. A call refuses by a named error, or answers by its laws; a crash is a finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from scipy import sparse

import bayeslearn
from bayeslearn import (
    DiscreteVariable,
    NumericVariable,
    Schema,
    Table,
    distributions,
    hypotheses,
    learning_theory,
    online,
)
from bayeslearn.hmm import CategoricalEmissions, GaussianEmissions, HiddenMarkovModel, PoissonEmissions, Sequences
from bayeslearn.naive_bayes.text import DocumentCounts, collect
from bayeslearn.neighbors import build_index
from bayeslearn.network import fit_parameters
from bayeslearn.regression import RBFBasis, fit_linear, lowess
from tests.fuzz import numerics
from tests.fuzz.arrays import built, described, refused_by_all, require_finite, require_probabilities
from tests.fuzz.numerics import quiet
from tests.fuzz.trials import Target, recipe

N = 30

### estimators

ESTIMATORS = {
    **numerics.CLASSIFIERS, **numerics.REGRESSORS, **numerics.CLUSTERERS,
    "TextClassifier": {}, "KCNFClassifier": {}, "FindSClassifier": {}, "VersionSpaceClassifier": {},
}  # fmt: skip
UNLABELLED = set(numerics.CLUSTERERS)
UNWEIGHTED = {
    "HMMEstimator", "WeightedMajorityClassifier", "KCNFClassifier", "FindSClassifier",
    "VersionSpaceClassifier",
}  # fmt: skip


def make_estimator(rng: Random) -> bytes:
    return recipe(
        learner=rng.choice(list(ESTIMATORS)), x=described(rng, N, 2), y=described(rng, N, often=0.7),
        weights=described(rng, N) if rng.random() < 0.5 else None, asked=described(rng, 5, 2),
        changed=rng.random() < 0.3,
    )  # fmt: skip


def run_estimator(data: bytes) -> None:
    trial = json.loads(data)
    name = trial["learner"]
    x, y = built(trial["x"]), built(trial["y"])
    if trial["y"]["kind"] == "float" and name not in numerics.REGRESSORS and isinstance(y, np.ndarray):
        y = y > 0
    told = {} if trial["weights"] is None or name in UNWEIGHTED else {"sample_weight": built(trial["weights"])}
    with refused_by_all(), quiet():
        learner = getattr(bayeslearn, name)(**ESTIMATORS[name])
        learner.fit(x, **told) if name in UNLABELLED else learner.fit(x, y, **told)
        if trial["changed"]:
            spoil(x, y, *told.values())
        asked = built(trial["asked"])
        answers = learner.predict(asked)
        if name in numerics.REGRESSORS:
            require_finite(answers)
        elif hasattr(learner, "predict_proba"):
            require_probabilities(learner.predict_proba(asked))


def spoil(*given: Any) -> None:
    """Write numbers into arrays that would lead a kernel out of its memory."""
    for array in given:
        if isinstance(array, np.ndarray) and array.flags.writeable and array.dtype.kind in "iuf":
            array[...] = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else np.nan


### values that are made of arrays

COIN, SIZE = DiscreteVariable("side", ["head", "tail"]), 3
ATTRIBUTES = hypotheses.AttributeSpace.parse(2)


def use_table(codes: Any, values: Any, sample_weight: Any) -> Callable[[], None]:
    table = Table(
        Schema([COIN, DiscreteVariable("other", range(SIZE)), NumericVariable("x")]), codes, values, sample_weight
    )

    def use() -> None:
        bayeslearn.contingency_tables(table, [["side", "other"]])
        table.distinct()
        fitted = fit_parameters([("side", "other")], table.select(["side", "other"]))
        require_probabilities(list(fitted.query({"other": 1})["side"].values()))
        table.discretize(["x"])

    return use


def use_sequences(cells: Any, lengths: Any, sample_weight: Any, known: Any) -> Callable[[], None]:
    half = np.full((2, 2), 0.5)
    models = [
        HiddenMarkovModel(("a", "b"), half[0], half, emissions)
        for emissions in (
            CategoricalEmissions(COIN, half), GaussianEmissions(("x",), [[0.0], [1.0]], [[1.0], [1.0]]),
            PoissonEmissions("x", [1.0, 2.0]),
        )
    ]  # fmt: skip
    data = Sequences(cells, lengths, (0, 1), sample_weight, known)

    def use() -> None:
        for model in models:
            with refused_by_all():
                assert set(np.unique(model.decode(data).codes)) <= {0, 1}
                model.expected_statistics(data)

    return use


def use_raw_sequences(cells: Any, lengths: Any, _w: Any, known: Any) -> Callable[[], None]:
    half = np.full((2, 2), 0.5)
    model = HiddenMarkovModel(("a", "b"), half[0], half, GaussianEmissions(("x",), [[0.0], [1.0]], [[1.0], [1.0]]))
    data = model.sequences(cells, lengths=lengths, known_states=known)
    return lambda: require_probabilities(model.posterior(data).probabilities)


def use_counts(indptr: Any, indices: Any, counts: Any, labels: Any) -> Callable[[], None]:
    found = DocumentCounts(indptr, indices, counts, SIZE)
    return lambda: require_finite(collect(found, labels).words)


def use_sparse(kind: str) -> Any:
    def make(indptr: Any, indices: Any, counts: Any, _labels: Any) -> Callable[[], None]:
        matrix = getattr(sparse, f"{kind}_array")((4, SIZE))
        for name, part in (("indptr", indptr), ("indices", indices), ("data", counts)):
            setattr(matrix, name, np.asarray(part))
        found = DocumentCounts.of(matrix)
        return lambda: require_finite(collect(found, [True, False, True, False][: len(found)]).words)

    return make


def use_coordinates(rows: Any, columns: Any, counts: Any, _labels: Any) -> Callable[[], None]:
    matrix = sparse.coo_array((4, SIZE))
    matrix.coords, matrix.data = (np.asarray(rows), np.asarray(columns)), np.asarray(counts)
    found = DocumentCounts.of(matrix)
    return lambda: require_finite(collect(found, [True, False, True, False]).words)


def use_index(kind: str) -> Any:
    def make(points: Any, queries: Any) -> Callable[[], None]:
        index = build_index(points, algorithm=kind)

        def use() -> None:
            distances, rows = index.nearest(queries, min(3, len(index)))
            assert ((rows >= 0) & (rows < len(index))).all()
            assert not np.isnan(distances).any()

        return use

    return make


def use_examples(codes: Any, labels: Any) -> Callable[[], None]:
    examples = hypotheses.Examples(ATTRIBUTES, np.asarray(codes), np.asarray(labels))

    def use() -> None:
        hypotheses.find_s(examples)
        hypotheses.VersionSpace.fit(examples)

    return use


def use_concepts(labels: Any) -> Callable[[], None]:
    concepts = learning_theory.ConceptClass.from_matrix(labels)

    def use() -> None:
        assert 0 <= concepts.vc_dimension <= len(concepts.points)
        learning_theory.growth_function(concepts, 2)

    return use


def use_experts(advice: Any, truth: Any) -> Callable[[], None]:
    learner = online.WeightedMajority(2)

    def use() -> None:
        online.run_online(learner, advice, truth)
        require_finite(list(learner.weights.values()))

    return use


def use_assignment(x: Any, groups: Any, sample_weight: Any) -> Callable[[], None]:
    return lambda: require_finite(
        distributions.Normal().collect(x, groups=groups, n_groups=3, sample_weight=sample_weight).mean
    )


def use_linear(x: Any, y: Any, sample_weight: Any) -> Callable[[], None]:
    model = fit_linear(x, y, sample_weight=sample_weight)
    return lambda: require_finite(model.predict(x))


def use_smooth(x: Any, y: Any, sample_weight: Any) -> Callable[[], None]:
    return lambda: require_finite(lowess(x, y, sample_weight=sample_weight).mean)


def use_basis(centers: Any, widths: Any, x: Any) -> Callable[[], None]:
    basis = RBFBasis(centers, widths)
    return lambda: assert_no_infinity(basis(x))


def assert_no_infinity(x: Any) -> None:
    assert not np.isinf(x).any()


def use_taken(rows: Any) -> Callable[[], None]:
    table = Table(Schema([COIN]), np.zeros((1, N), np.int8), [])
    return lambda: table.take(rows).distinct()


SHAPES: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "Table": (use_table, [(2, N), (1, N), (N,)]),
    "Table.take": (use_taken, [(N,)]),
    "Sequences": (use_sequences, [(N,), (2,), (2,), (N,)]),
    "Sequences of rows": (use_sequences, [(N, 1), (2,), (2,), (N,)]),
    "model.sequences": (use_raw_sequences, [(N, 1), (2,), (2,), (N,)]),
    "DocumentCounts": (use_counts, [(5,), (6,), (6,), (4,)]),
    "csr": (use_sparse("csr"), [(5,), (6,), (6,), (4,)]),
    "csc": (use_sparse("csc"), [(4,), (6,), (6,), (4,)]),
    "coo": (use_coordinates, [(6,), (6,), (6,), (4,)]),
    "brute force": (use_index("brute"), [(N, 2), (5, 2)]),
    "k-d tree": (use_index("kd_tree"), [(N, 2), (5, 2)]),
    "Examples": (use_examples, [(N, 2), (N,)]),
    "ConceptClass": (use_concepts, [(6, 4)]),
    "experts": (use_experts, [(N, 2), (N,)]),
    "collect": (use_assignment, [(N,), (N,), (N,)]),
    "fit_linear": (use_linear, [(N, 2), (N,), (N,)]),
    "smooth": (use_smooth, [(N,), (N,), (N,)]),
    "RBFBasis": (use_basis, [(4, 2), (4,), (N, 2)]),
}

#: Arrays that are right, so that one wrong among them gets far.
RIGHT: dict[str, list[Any]] = {
    "Table": [np.zeros((2, N), np.int8), np.zeros((1, N)), np.ones(N)],
    "Sequences": [np.zeros(N, np.int32), np.array([10, N - 10]), np.ones(2), np.zeros(N, np.int32)],
    "Sequences of rows": [np.zeros((N, 1)), np.array([10, N - 10]), np.ones(2), np.zeros(N, np.int32)],
    "model.sequences": [np.zeros((N, 1)), np.array([10, N - 10]), np.ones(2), np.full(N, None)],
    "DocumentCounts": [np.array([0, 2, 3, 3, 6]), np.array([0, 1, 2, 0, 1, 2]), np.ones(6, np.int32), np.arange(4)],
    "csr": [np.array([0, 2, 3, 3, 6]), np.array([0, 1, 2, 0, 1, 2]), np.ones(6), np.arange(4)],
    "csc": [np.array([0, 2, 3, 6]), np.array([0, 1, 2, 0, 1, 2]), np.ones(6), np.arange(4)],
    "coo": [np.array([0, 1, 2, 3, 0, 1]), np.array([0, 1, 2, 0, 1, 2]), np.ones(6), np.arange(4)],
    "collect": [np.zeros(N), np.zeros(N, np.int64), np.ones(N)],
    "Examples": [np.zeros((N, 2), np.intp), np.ones(N, bool)],
}

#: Whole numbers near and beyond every limit, put into an array that is right.
PLACED = [-1, -2, 0, 1, 2, 3, 127, 128, 255, N, 10**6, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63)]


def make_value(rng: Random) -> bytes:
    name = rng.choice(list(SHAPES))
    shapes = SHAPES[name][1]
    if name in RIGHT and rng.random() < 0.8:
        parts: list[Any] = [None] * len(shapes)
        for at in rng.sample(range(len(shapes)), rng.choice([1, 1, 2]) if len(shapes) > 1 else 1):
            how = rng.random()
            if how < 0.6:
                parts[at] = {"put": [(rng.random(), rng.choice(PLACED)) for _ in range(rng.choice([1, 2, 4]))]}
            else:
                parts[at] = described(rng, *shapes[at], often=0.0)
    else:
        parts = [described(rng, *shape) for shape in shapes]
    return recipe(value=name, parts=parts, changed=rng.random() < 0.4)


def part_of(name: str, at: int, how: dict[str, Any] | None) -> Any:
    if how is not None and "put" not in how:
        return built(how)
    right = RIGHT[name][at].copy()
    for place, number in () if how is None else how["put"]:
        if right.dtype != object:
            right = right.astype(np.int64) if right.dtype.kind in "iu" else right
            right.reshape(-1)[int(place * right.size)] = number
    return right


def run_value(data: bytes) -> None:
    trial = json.loads(data)
    make, _ = SHAPES[trial["value"]]
    given = [part_of(trial["value"], at, how) for at, how in enumerate(trial["parts"])]
    with refused_by_all(), quiet():
        use = make(*given)
        if trial["changed"] and trial["value"] not in BORROWED:
            spoil(*given)
        use()


#: Functions that compute while they have the arrays: what changes afterwards is not theirs.
BORROWED = {"collect", "fit_linear", "smooth", "experts", "Table.take", "RBFBasis", "brute force", "k-d tree"}

### numbers in place of small ones

COUNTS: dict[str, Callable[[int], Any]] = {
    "nearest": lambda k: build_index(np.zeros((5, 1))).nearest(np.zeros((1, 1)), k),
    "Hashed": lambda n: bayeslearn.naive_bayes.text.HashedVocabulary(n).position("word"),
    "growth": lambda m: learning_theory.growth_function(learning_theory.ConceptClass.from_matrix(np.eye(3)), m),
    "Attributes": hypotheses.AttributeSpace.parse,
    "WeightedMajority": online.WeightedMajority,
    "n_components": lambda k: bayeslearn.GaussianMixture(k).fit(np.arange(9.0)[:, None]),
    "n_states": lambda k: bayeslearn.HMMEstimator(k, max_iter=2).fit(np.arange(9.0)[:, None]),
    "k": lambda k: bayeslearn.NeighborsClassifier(k).fit(np.eye(3), [0, 1, 1]).predict(np.eye(3)),
    "n_units": lambda k: bayeslearn.RBFRegressor(k).fit(np.eye(3), [0.0, 1, 1]).predict(np.eye(3)),
    "max_iter": lambda n: bayeslearn.LogisticClassifier(max_iter=n).fit(np.eye(3), [0, 1, 1]),
}


def make_count(rng: Random) -> bytes:
    numbers = [*PLACED, 10**20, -(10**20), 10**400]
    return recipe(function=rng.choice(list(COUNTS)), number=rng.choice([n for n in numbers if n != 0]))


def run_count(data: bytes) -> None:
    trial = json.loads(data)
    with refused_by_all(), quiet():
        COUNTS[trial["function"]](trial["number"])


### environment


def make_environment(rng: Random) -> bytes:
    words = ["²", "٣", "", " ", "-1", "0", "1", "1e3", "9" * 30, "9" * 5000, "½", "0x10", "1_0", "\x00"[:0], "nan"]
    return recipe(value=rng.choice(words))


def run_environment(data: bytes) -> None:
    import os

    from bayeslearn.kernels import thread_count

    before = os.environ.get("BAYESLEARN_THREADS")
    os.environ["BAYESLEARN_THREADS"] = json.loads(data)["value"]
    try:
        assert thread_count() >= 1
    finally:
        os.environ.pop("BAYESLEARN_THREADS")
        if before is not None:
            os.environ["BAYESLEARN_THREADS"] = before


TARGETS = [
    Target("arguments/estimators", make_estimator, run_estimator, warnings=False),
    Target("arguments/values", make_value, run_value, warnings=False),
    Target("arguments/counts", make_count, run_count),
    Target("arguments/environment", make_environment, run_environment),
]
