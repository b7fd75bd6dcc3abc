"""Names from others in values: whatever is printed of a value holds no character that a terminal obeys."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import bayeslearn as bl
from bayeslearn import DAG, BayesianNetwork, as_table, fit_parameters
from bayeslearn.case_based import Case, CaseBase, FunctionGraph, retrieve
from bayeslearn.errors import BayeslearnWarning
from bayeslearn.hmm import fit_hmm
from bayeslearn.hypotheses import Examples, FiniteSpace, VersionSpace, description_lengths, find_s
from bayeslearn.learning_theory import KCNF, ConceptClass, find_shattering
from bayeslearn.mixture import fit_mixture
from bayeslearn.mixture.results import describe_clusters
from bayeslearn.model_comparison import compare_models
from bayeslearn.naive_bayes import fit_naive_bayes, fit_text
from bayeslearn.neighbors import fit_neighbors
from bayeslearn.network import cross_validate
from bayeslearn.network.equivalence import cpdag
from bayeslearn.network.inference.evidence_session import EvidenceSession
from bayeslearn.regression import fit_linear, fit_local, fit_logistic, fit_rbf

HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
A, B, C, D = "a\x1b[2J", "b\u202e", "c\x9b31m", "d\x07"
STATES = ["yes\x1b]52;c;YQ==\x07", "no\u2066"]
N = 24
NUMBERS = np.random.default_rng(0).standard_normal(N).round(3)
WORDS = [STATES[int(x > 0)] for x in NUMBERS]
ROWS = {A: WORDS, B: [STATES[i % 2] for i in range(N)], C: NUMBERS.tolist(), D: [STATES[i % 3 > 1] for i in range(N)]}


def network():
    tables = {A: [0.3, 0.7], B: [[0.1, 0.9], [0.4, 0.6]]}
    return BayesianNetwork.from_tables([(A, B)], tables, states={A: STATES, B: STATES}, name=C)


def examples():
    rows = [{A: STATES[0], B: STATES[1]}, {A: STATES[0], B: STATES[0]}, {A: STATES[1], B: STATES[0]}]
    return Examples.from_rows(rows, [True, True, False])


def network_values():
    net = network()
    given = {B: STATES[0]}
    return [net, net[B], net.dag, cpdag(net.dag), EvidenceSession(net.inference).observe(given), net.query(given)]


def learned_networks():
    dag, rows = DAG.from_arcs([(A, B)]), {A: WORDS, B: ROWS[B]}
    found = fit_parameters(dag, rows, prior="laplace")
    learned = bl.fit_network({name: ROWS[name] for name in (A, B, D)})
    return [found, learned, cross_validate(dag, rows, target=A, cv=3)]


def naive_values():
    model = fit_naive_bayes(ROWS, A, prior="laplace")
    return [model, model.explain(ROWS)]


def concept_values():
    space = VersionSpace.fit(examples())
    return [find_s(examples()), space, *space.general, examples()]


def finite_values():
    space = FiniteSpace.from_table({A: {C: 0.5, D: 0.5}, B: {C: 0.9, D: 0.1}})
    return [space, space.posterior().update(C), description_lengths(space, [C], hypothesis_bits={A: 1, B: 2})]


def theory_values():
    cnf = KCNF.fit(examples(), 2)
    concepts = ConceptClass.from_functions({A: lambda x: x == C, B: lambda x: x == D}, [C, D])
    return [cnf, *cnf.clauses, concepts, find_shattering(concepts, [C])]


def case_values():
    graph = FunctionGraph([(A, B, 1), (B, D, -1)])
    base = CaseBase([Case("case", graph, structure={"parts": [A]})])
    return [base, graph, *graph.arcs, *retrieve(base, graph).matches]


def sequence_values():
    return [fit_hmm({A: WORDS}, [C, D])]


def numeric_values():
    model = fit_mixture({C: ROWS[C], A: WORDS}, 2, random_state=0)
    return [
        fit_linear(ROWS, C),
        fit_rbf(ROWS, C, 2, random_state=0),
        fit_logistic(ROWS, A),
        fit_local({C: ROWS[C]}, NUMBERS, n_neighbors=5),
        fit_neighbors(ROWS, A),
        model,
        *describe_clusters(model),
    ]


def table_values():
    table = as_table(ROWS)
    return [table, *table.schema, table.schema]


def text_values():
    return [fit_text([f"{A} one", f"{B} two"] * 3, STATES * 3)]


def contest_values():
    return [compare_models({"x": NUMBERS.tolist(), C: ROWS[B], A: WORDS}, A, cv=3, learners=["naive-bayes"])]


MAKERS = [
    network_values, learned_networks, naive_values, concept_values, finite_values, theory_values, case_values,
    sequence_values, numeric_values, table_values, text_values, contest_values,
]  # fmt: skip


def parts(value, depth=2, seen=None):
    """A value and what hangs on it: its public attributes that are values of bayeslearn, and the items of these."""
    seen = set() if seen is None else seen
    if id(value) in seen or depth < 0:
        return
    seen.add(id(value))
    if isinstance(value, list | tuple | frozenset | set | dict):
        for item in list(value.values() if isinstance(value, dict) else value)[:5]:
            yield from parts(item, depth, seen)
    elif type(value).__module__.startswith("bayeslearn"):
        yield value
        for name in dir(type(value)) + list(getattr(value, "__dict__", ())):
            if not name.startswith("_") and not callable(getattr(type(value), name, None)):
                try:
                    part = getattr(value, name)
                except Exception:  # noqa: BLE001 - a property that needs what is not there
                    continue
                yield from parts(part, depth - 1, seen)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.filterwarnings("ignore")
def test_every_value_is_printable(make):
    values = list(parts(make(), 2))
    assert values
    for value in values:
        for text in (str(value), repr(value)):
            found = HOSTILE.search(text)
            assert not found, f"{type(value).__name__}: {found[0]!r} in {text!r}"


def test_warnings_are_printable():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(BayeslearnWarning(f"column {A} is constant"), stacklevel=1)
    assert str(caught[0].message) == "column a\\x1b[2J is constant"
    assert not HOSTILE.search(warnings.formatwarning(caught[0].message, BayeslearnWarning, "file", 1))
