"""``bayeslearn bound``: bounds of computational learning theory, with their formulas."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "pac": Verb(
        "bound_samples.pac",
        "PAC bound of consistent learners: the number of examples, or any other of |H|, ε, δ and m.",
    ),
    "agnostic": Verb(
        "bound_samples.agnostic",
        "PAC bound of agnostic learners, which minimize the training error (Hoeffding).",
    ),
    "vc": Verb(
        "bound_samples.vc",
        "PAC bound by VC dimension: the number of examples, or any other of dimension, ε, δ and m.",
    ),
    "vc-dimension": Verb(
        "vc_dimension.run",
        "VC dimension of a finite class: a largest shattered set, and a hypothesis for each of its labelings.",
    ),
    "mistakes": Verb(
        "bound_mistakes.run",
        "Mistake bounds: of Halving (the majority vote), of Find-S, or exact for a small class.",
    ),
    "error-interval": Verb(
        "bound_interval.run",
        "Intervals of the true error of a hypothesis from its test errors: Hoeffding, exact, and Bayesian.",
    ),
}

app = group(
    VERBS,
    former={"interval": "bayeslearn bound error-interval WRONG N"},
    name="bound",
    help="Bounds of learning theory, solved for the missing quantity: pac, agnostic, vc, vc-dimension, mistakes, "
    "error-interval.",
)
