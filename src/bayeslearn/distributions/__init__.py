"""Likelihoods with their conjugate priors and additive statistics, one pair per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.distributions.bernoulli import Bernoulli as Bernoulli
    from bayeslearn.distributions.bernoulli import Beta as Beta
    from bayeslearn.distributions.categorical import Categorical as Categorical
    from bayeslearn.distributions.categorical import Counts as Counts
    from bayeslearn.distributions.categorical import Dirichlet as Dirichlet
    from bayeslearn.distributions.categorical import DirichletRule as DirichletRule
    from bayeslearn.distributions.distribution import Family as Family
    from bayeslearn.distributions.distribution import Predictive as Predictive
    from bayeslearn.distributions.distribution import Prior as Prior
    from bayeslearn.distributions.durations import Exponential as Exponential
    from bayeslearn.distributions.durations import GammaCases as GammaCases
    from bayeslearn.distributions.durations import GammaDistribution as GammaDistribution
    from bayeslearn.distributions.finite_hypotheses import FiniteHypotheses as FiniteHypotheses
    from bayeslearn.distributions.finite_hypotheses import FinitePrior as FinitePrior
    from bayeslearn.distributions.finite_hypotheses import LogLikelihoods as LogLikelihoods
    from bayeslearn.distributions.heavy_tailed import HeavyTailed as HeavyTailed
    from bayeslearn.distributions.heavy_tailed import ScaledCases as ScaledCases
    from bayeslearn.distributions.kernel_density import KernelDensity as KernelDensity
    from bayeslearn.distributions.linear_gaussian import LinearGaussian as LinearGaussian
    from bayeslearn.distributions.moments import JointMoments as JointMoments
    from bayeslearn.distributions.moments import Moments as Moments
    from bayeslearn.distributions.multinomial import Multinomial as Multinomial
    from bayeslearn.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
    from bayeslearn.distributions.negative_binomial import DispersedCases as DispersedCases
    from bayeslearn.distributions.negative_binomial import DispersedCounts as DispersedCounts
    from bayeslearn.distributions.normal import Normal as Normal
    from bayeslearn.distributions.normal import NormalInverseGamma as NormalInverseGamma
    from bayeslearn.distributions.normal import NormalParameters as NormalParameters
    from bayeslearn.distributions.normal_inverse_wishart import MultivariateParameters as MultivariateParameters
    from bayeslearn.distributions.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
    from bayeslearn.distributions.point_mass import LogCases as LogCases
    from bayeslearn.distributions.point_mass import LogNormal as LogNormal
    from bayeslearn.distributions.point_mass import PointMassCases as PointMassCases
    from bayeslearn.distributions.point_mass import ZeroInflated as ZeroInflated
    from bayeslearn.distributions.poisson import Gamma as Gamma
    from bayeslearn.distributions.poisson import NegativeBinomial as NegativeBinomial
    from bayeslearn.distributions.poisson import Poisson as Poisson
    from bayeslearn.distributions.poisson import PoissonStatistics as PoissonStatistics
    from bayeslearn.distributions.regression_prior import LinearParameters as LinearParameters
    from bayeslearn.distributions.regression_prior import RegressionPrior as RegressionPrior
    from bayeslearn.distributions.student_t import IndependentT as IndependentT
    from bayeslearn.distributions.student_t import MultivariateT as MultivariateT
    from bayeslearn.distributions.student_t import StudentT as StudentT
    from bayeslearn.distributions.sufficient_statistics import Statistics as Statistics
    from bayeslearn.distributions.sufficient_statistics import StatisticsBundle as StatisticsBundle
    from bayeslearn.distributions.von_mises import VonMises as VonMises
    from bayeslearn.distributions.von_mises import VonMisesCases as VonMisesCases
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
