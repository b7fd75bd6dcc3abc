"""Reasoning from cases: designs retrieved, rewritten and combined from structures that worked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.case_based.case_base import CaseBase as CaseBase
    from bayeslearn.case_based.design_search import design as design
    from bayeslearn.case_based.designs import CaseUse as CaseUse
    from bayeslearn.case_based.designs import Design as Design
    from bayeslearn.case_based.designs import Designs as Designs
    from bayeslearn.case_based.function_graph import Arc as Arc
    from bayeslearn.case_based.function_graph import Case as Case
    from bayeslearn.case_based.function_graph import FunctionGraph as FunctionGraph
    from bayeslearn.case_based.retrieval import Match as Match
    from bayeslearn.case_based.retrieval import RetrievalResult as RetrievalResult
    from bayeslearn.case_based.retrieval import SearchProgress as SearchProgress
    from bayeslearn.case_based.retrieval import retrieve as retrieve
    from bayeslearn.case_based.rewrite_rules import CONTRACTIONS as CONTRACTIONS
    from bayeslearn.case_based.rewrite_rules import EXPANSIONS as EXPANSIONS
    from bayeslearn.case_based.rewrite_rules import Rewrite as Rewrite
    from bayeslearn.case_based.rewrite_rules import Rule as Rule
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
