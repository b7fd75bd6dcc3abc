"""``bayeslearn bound``: what learning theory promises, with the formula and the numbers in it."""

from __future__ import annotations

from bayeslearn.cli.verbs import group

VERBS = {
    "pac": (
        "bound_samples.pac",
        "How many examples a learner needs whose hypothesis agrees with all of them; or any other of |H|, ε, δ and m.",
    ),
    "agnostic": (
        "bound_samples.agnostic",
        "The same for a learner that takes the hypothesis of least training error, which need not be zero (Hoeffding).",
    ),
    "vc": (
        "bound_samples.vc",
        "How many examples a class of some VC dimension needs; or any other of dimension, ε, δ and m.",
    ),
    "mistakes": (
        "bound_mistakes.run",
        (
            "Mistakes before a concept is learned: of the majority vote (Halving), of Find-S, "
            "or exactly for a small class."
        ),
    ),
    "interval": (
        "bound_interval.run",
        "The true error of a hypothesis from its errors on fresh examples: by Hoeffding, exactly, and as a belief.",
    ),
}

app = group(
    VERBS,
    name="bound",
    help="Bounds of learning theory, solved for what is left out: pac, agnostic, vc, mistakes, interval.",
)
