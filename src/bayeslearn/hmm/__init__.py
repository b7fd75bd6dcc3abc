"""Sequences: hidden Markov models of symbols, numbers and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.hmm.baum_welch import dead_states as dead_states
    from bayeslearn.hmm.baum_welch import learn as learn
    from bayeslearn.hmm.categorical_emissions import CategoricalEmissions as CategoricalEmissions
    from bayeslearn.hmm.estimators import HMMEstimator as HMMEstimator
    from bayeslearn.hmm.filtering import Filter as Filter
    from bayeslearn.hmm.gaussian_emissions import FullGaussianEmissions as FullGaussianEmissions
    from bayeslearn.hmm.gaussian_emissions import GaussianEmissions as GaussianEmissions
    from bayeslearn.hmm.inference import StatePath as StatePath
    from bayeslearn.hmm.inference import StatePosterior as StatePosterior
    from bayeslearn.hmm.mixture_emissions import MixtureEmissions as MixtureEmissions
    from bayeslearn.hmm.model import HiddenMarkovModel as HiddenMarkovModel
    from bayeslearn.hmm.poisson_emissions import PoissonEmissions as PoissonEmissions
    from bayeslearn.hmm.priors import HMMPrior as HMMPrior
    from bayeslearn.hmm.product_emissions import ProductEmissions as ProductEmissions
    from bayeslearn.hmm.sequences import Sequences as Sequences
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
