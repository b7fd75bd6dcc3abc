"""Reasoning from cases: designs retrieved, rewritten and combined from structures that worked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.cases.answers import Design as Design
    from bayeslearn.cases.answers import Designs as Designs
    from bayeslearn.cases.base import CaseBase as CaseBase
    from bayeslearn.cases.case import Case as Case
    from bayeslearn.cases.designing import design as design
    from bayeslearn.cases.finding import Found as Found
    from bayeslearn.cases.finding import Match as Match
    from bayeslearn.cases.finding import find as find
    from bayeslearn.cases.graph import Arc as Arc
    from bayeslearn.cases.graph import FunctionGraph as FunctionGraph
    from bayeslearn.cases.rules import CONTRACTIONS as CONTRACTIONS
    from bayeslearn.cases.rules import EXPANSIONS as EXPANSIONS
    from bayeslearn.cases.rules import Rewrite as Rewrite
    from bayeslearn.cases.rules import Rule as Rule
    from bayeslearn.cases.using import Use as Use
    from bayeslearn.cases.watching import SearchStep as SearchStep
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
