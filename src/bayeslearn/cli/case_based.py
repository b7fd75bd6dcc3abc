"""``bayeslearn case-based``: what was built before, for what is asked for now."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "retrieve": Verb(
        "case_based_retrieve.run",
        "Find cases by their function: exact, whole (and more), a part, a common part; the most alike if nothing fits.",
    ),
    "design": Verb(
        "case_based_design.run",
        "Combine cases into a design that covers a function, if need be after it was rewritten: "
        "A ->+ x ->+ B for A ->+ B.",
    ),
    "show": Verb("case_based_show.run", "The cases of a base, what they do and how they are built."),
}

app = group(
    VERBS,
    former={"find": "bayeslearn case-based retrieve BASE FUNCTION"},
    name="case-based",
    help="Case-based design from stored structures: retrieve, design, show.",
)
