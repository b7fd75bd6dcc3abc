"""Likelihoods with their conjugate priors and additive statistics, one pair per file."""

from bayeslearn.families.categorical import Categorical, Counts, Dirichlet, DirichletRule
from bayeslearn.families.finite import Finite, Hypotheses, LogLikelihoods
from bayeslearn.families.statistics import Bundle, Statistics

__all__ = [
    "Bundle",
    "Categorical",
    "Counts",
    "Dirichlet",
    "DirichletRule",
    "Finite",
    "Hypotheses",
    "LogLikelihoods",
    "Statistics",
]
