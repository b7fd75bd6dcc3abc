"""Likelihoods with their conjugate priors and additive statistics, one pair per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.families.bernoulli import Bernoulli as Bernoulli
    from bayeslearn.families.bernoulli import Beta as Beta
    from bayeslearn.families.categorical import Categorical as Categorical
    from bayeslearn.families.categorical import Counts as Counts
    from bayeslearn.families.categorical import Dirichlet as Dirichlet
    from bayeslearn.families.categorical import DirichletRule as DirichletRule
    from bayeslearn.families.family import Family as Family
    from bayeslearn.families.family import Predictive as Predictive
    from bayeslearn.families.family import Prior as Prior
    from bayeslearn.families.finite import Finite as Finite
    from bayeslearn.families.finite import Hypotheses as Hypotheses
    from bayeslearn.families.finite import LogLikelihoods as LogLikelihoods
    from bayeslearn.families.linear import LinearGaussian as LinearGaussian
    from bayeslearn.families.moments import JointMoments as JointMoments
    from bayeslearn.families.moments import Moments as Moments
    from bayeslearn.families.multivariate import MultivariateNormal as MultivariateNormal
    from bayeslearn.families.normal import Normal as Normal
    from bayeslearn.families.normal import NormalInverseGamma as NormalInverseGamma
    from bayeslearn.families.normal import NormalParameters as NormalParameters
    from bayeslearn.families.poisson import Gamma as Gamma
    from bayeslearn.families.poisson import NegativeBinomial as NegativeBinomial
    from bayeslearn.families.poisson import Poisson as Poisson
    from bayeslearn.families.poisson import Totals as Totals
    from bayeslearn.families.regression import LinearParameters as LinearParameters
    from bayeslearn.families.regression import RegressionPrior as RegressionPrior
    from bayeslearn.families.statistics import Bundle as Bundle
    from bayeslearn.families.statistics import Statistics as Statistics
    from bayeslearn.families.student import IndependentT as IndependentT
    from bayeslearn.families.student import MultivariateT as MultivariateT
    from bayeslearn.families.student import StudentT as StudentT
    from bayeslearn.families.wishart import MultivariateParameters as MultivariateParameters
    from bayeslearn.families.wishart import NormalInverseWishart as NormalInverseWishart
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
