"""``bayeslearn cases``: what was built before, for what is asked for now."""

from __future__ import annotations

from bayeslearn.cli.verbs import group

VERBS = {
    "find": (
        "cases_find.run",
        "Find cases by their function: exact, whole (and more), a part, a common part; the most alike if nothing fits.",
    ),
    "design": (
        "cases_design.run",
        (
            "Combine cases into a design that covers a function, if need be after it was rewritten: "
            "A ->+ x ->+ B for A ->+ B."
        ),
    ),
    "show": ("cases_show.run", "The cases of a base, what they do and how they are built."),
}

app = group(VERBS, name="cases", help="Designs from structures that worked before: find, design, show.")
