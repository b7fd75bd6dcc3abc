"""Reasoning from cases: designs retrieved, rewritten and combined from structures that worked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.cases.answers import Design, Designs
    from bayeslearn.cases.base import CaseBase
    from bayeslearn.cases.case import Case
    from bayeslearn.cases.designing import design
    from bayeslearn.cases.finding import Found, Match, find
    from bayeslearn.cases.graph import Arc, FunctionGraph
    from bayeslearn.cases.rules import CONTRACTIONS, EXPANSIONS, Rewrite, Rule
    from bayeslearn.cases.using import Use
    from bayeslearn.cases.watching import SearchStep

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Arc": "graph",
    "CONTRACTIONS": "rules",
    "Case": "case",
    "CaseBase": "base",
    "Design": "answers",
    "Designs": "answers",
    "EXPANSIONS": "rules",
    "Found": "finding",
    "FunctionGraph": "graph",
    "Match": "finding",
    "Rewrite": "rules",
    "Rule": "rules",
    "SearchStep": "watching",
    "Use": "using",
    "design": "designing",
    "find": "finding",
}

__all__ = [
    "CONTRACTIONS",
    "EXPANSIONS",
    "Arc",
    "Case",
    "CaseBase",
    "Design",
    "Designs",
    "Found",
    "FunctionGraph",
    "Match",
    "Rewrite",
    "Rule",
    "SearchStep",
    "Use",
    "design",
    "find",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
