"""Likelihoods with their conjugate priors and additive statistics, one pair per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.families.bernoulli import Bernoulli, Beta
    from bayeslearn.families.categorical import Categorical, Counts, Dirichlet, DirichletRule
    from bayeslearn.families.family import Family, Predictive, Prior
    from bayeslearn.families.finite import Finite, Hypotheses, LogLikelihoods
    from bayeslearn.families.linear import LinearGaussian
    from bayeslearn.families.moments import JointMoments, Moments
    from bayeslearn.families.multivariate import MultivariateNormal
    from bayeslearn.families.normal import Normal, NormalInverseGamma, NormalParameters
    from bayeslearn.families.poisson import Gamma, NegativeBinomial, Poisson, Totals
    from bayeslearn.families.regression import LinearParameters, RegressionPrior
    from bayeslearn.families.statistics import Bundle, Statistics
    from bayeslearn.families.student import IndependentT, MultivariateT, StudentT
    from bayeslearn.families.wishart import MultivariateParameters, NormalInverseWishart

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Bernoulli": "bernoulli",
    "Beta": "bernoulli",
    "Bundle": "statistics",
    "Categorical": "categorical",
    "Counts": "categorical",
    "Dirichlet": "categorical",
    "DirichletRule": "categorical",
    "Family": "family",
    "Finite": "finite",
    "Gamma": "poisson",
    "Hypotheses": "finite",
    "IndependentT": "student",
    "JointMoments": "moments",
    "LinearGaussian": "linear",
    "LinearParameters": "regression",
    "LogLikelihoods": "finite",
    "Moments": "moments",
    "MultivariateNormal": "multivariate",
    "MultivariateParameters": "wishart",
    "MultivariateT": "student",
    "NegativeBinomial": "poisson",
    "Normal": "normal",
    "NormalInverseGamma": "normal",
    "NormalInverseWishart": "wishart",
    "NormalParameters": "normal",
    "Poisson": "poisson",
    "Predictive": "family",
    "Prior": "family",
    "RegressionPrior": "regression",
    "Statistics": "statistics",
    "StudentT": "student",
    "Totals": "poisson",
}

__all__ = [
    "Bernoulli",
    "Beta",
    "Bundle",
    "Categorical",
    "Counts",
    "Dirichlet",
    "DirichletRule",
    "Family",
    "Finite",
    "Gamma",
    "Hypotheses",
    "IndependentT",
    "JointMoments",
    "LinearGaussian",
    "LinearParameters",
    "LogLikelihoods",
    "Moments",
    "MultivariateNormal",
    "MultivariateParameters",
    "MultivariateT",
    "NegativeBinomial",
    "Normal",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "NormalParameters",
    "Poisson",
    "Predictive",
    "Prior",
    "RegressionPrior",
    "Statistics",
    "StudentT",
    "Totals",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
