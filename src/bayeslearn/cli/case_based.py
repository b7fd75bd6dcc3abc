"""``bayeslearn case-based``: case-based reasoning over function graphs."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "retrieve": Verb(
        "case_based_retrieve.run",
        "Retrieve cases by function: exact, whole, part, common part, or the most similar.",
    ),
    "design": Verb(
        "case_based_design.run",
        "Combine cases into a design that covers a function, with rewrites such as A ->+ x ->+ B for A ->+ B.",
    ),
    "show": Verb("case_based_show.run", "The cases of a base with their functions and structures."),
}

app = group(
    VERBS,
    former={"find": "bayeslearn case-based retrieve BASE FUNCTION"},
    name="case-based",
    help="Case-based design from stored structures: retrieve, design, show.",
)
