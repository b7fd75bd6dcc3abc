"""``bayeslearn bound``: what learning theory promises, with the formula and the numbers in it."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "pac": Verb(
        "bound_samples.pac",
        "How many examples a learner needs whose hypothesis agrees with all of them; or any other of |H|, ε, δ and m.",
    ),
    "agnostic": Verb(
        "bound_samples.agnostic",
        "The same for a learner that takes the hypothesis of least training error, which need not be zero (Hoeffding).",
    ),
    "vc": Verb(
        "bound_samples.vc",
        "How many examples a class of some VC dimension needs; or any other of dimension, ε, δ and m.",
    ),
    "vc-dimension": Verb(
        "vc_dimension.run",
        "The largest set of points that a class of hypotheses labels in every way, and who labels it how.",
    ),
    "mistakes": Verb(
        "bound_mistakes.run",
        "Mistakes before a concept is learned: of the majority vote (Halving), of Find-S, or exactly for a small "
        "class.",
    ),
    "error-interval": Verb(
        "bound_interval.run",
        "The true error of a hypothesis from its errors on fresh examples: by Hoeffding, exactly, and as a belief.",
    ),
}

app = group(
    VERBS,
    former={"interval": "bayeslearn bound error-interval WRONG N"},
    name="bound",
    help="Bounds of learning theory, solved for the missing quantity: pac, agnostic, vc, vc-dimension, mistakes, "
    "error-interval.",
)
