"""The textbook's faucet: a stored T-junction is found for a part of it, and cases together are a design."""

from __future__ import annotations

import pytest

from bayeslearn.case_based import EXPANSIONS, CaseBase, design, retrieve

BASE = CaseBase.load("plumbing")
FAUCET, TEE = BASE["faucet"], BASE["T-junction"]


def test_the_graphs_are_those_of_the_book():
    assert str(TEE.function) == "Q1 →+ Q3; Q2 →+ Q3; T1 →+ T3; T2 →+ T3"
    arcs = {str(arc) for arc in FAUCET.function.arcs}
    assert {"Qc →+ Qm", "Qh →+ Qm", "Tc →+ Tm", "Th →+ Tm"} <= arcs
    assert {arc[:2] for arc in FAUCET.function.arcs} >= {(c, q) for c in ("Ct", "Cf") for q in ("Qc", "Qh")}
    assert FAUCET.is_open


def test_the_t_junction_is_retrieved_for_the_faucet():
    best = retrieve(BASE, FAUCET).best
    assert best.case is TEE
    assert best.kind == "part"
    assert best.mapping == {"Q1": "Qc", "Q2": "Qh", "Q3": "Qm", "T1": "Tc", "T2": "Th", "T3": "Tm"}
    assert [str(arc) for arc in best.covered] == ["Qc →+ Qm", "Qh →+ Qm", "Tc →+ Tm", "Th →+ Tm"]
    assert {arc.source for arc in best.uncovered} == {"Ct", "Cf"}
    assert best.case.structure["parts"] == ["pipe 1", "pipe 2", "pipe 3"]


def test_an_exact_match_is_returned_as_it_is():
    assert retrieve(BASE, TEE.function.rename({"Q1": "a", "T3": "b"})).best.kind == "exact"


def test_a_rewrite_rule():
    """A →+ B may be rewritten as A →+ x →+ B."""
    assert str(EXPANSIONS[0]) == "chain + = +·+: A →+ B becomes A →+ x; x →+ B"


def test_cases_are_combined_into_one_design():
    best = design(BASE, FAUCET).best
    assert best.coverage == 1
    assert {use.case.name for use in best.uses} == {"T-junction", "single-lever cartridge"}
    assert set(best.shared) == {"Qc", "Qh"}


@pytest.mark.parametrize("whole", [False, True])
def test_a_design_after_rewriting(whole):
    """Without a case that joins controls to flows, chains through positions of valves do."""
    smaller = CaseBase(case for case in BASE if case.name != "single-lever cartridge")
    found = design(smaller, FAUCET, whole=whole)
    assert found.best.coverage == 1
    assert len(found.best.steps) == 4
    assert found.best.n_extra == 0
    assert {use.case.name for use in found.best.uses} == {"T-junction", "lever", "rocker", "valve"}
    assert {found.best.function.kinds[f"x{i}"] for i in (1, 2, 3, 4)} == {"position"}
