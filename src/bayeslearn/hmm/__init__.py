"""Hidden Markov models of symbols, numbers and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.hmm.categorical_emissions import CategoricalEmissions as CategoricalEmissions
    from bayeslearn.hmm.estimators import HMMEstimator as HMMEstimator
    from bayeslearn.hmm.filtering import Filter as Filter
    from bayeslearn.hmm.fit import fit_hmm as fit_hmm
    from bayeslearn.hmm.gaussian_emissions import FullGaussianEmissions as FullGaussianEmissions
    from bayeslearn.hmm.gaussian_emissions import GaussianEmissions as GaussianEmissions
    from bayeslearn.hmm.mixture_emissions import MixtureEmissions as MixtureEmissions
    from bayeslearn.hmm.model import HiddenMarkovModel as HiddenMarkovModel
    from bayeslearn.hmm.poisson_emissions import PoissonEmissions as PoissonEmissions
    from bayeslearn.hmm.priors import HMMPrior as HMMPrior
    from bayeslearn.hmm.product_emissions import ProductEmissions as ProductEmissions
    from bayeslearn.hmm.results import HMMFitInfo as HMMFitInfo
    from bayeslearn.hmm.results import StateExplanation as StateExplanation
    from bayeslearn.hmm.results import StatePath as StatePath
    from bayeslearn.hmm.results import StatePosterior as StatePosterior
    from bayeslearn.hmm.results import StateReport as StateReport
    from bayeslearn.hmm.sequences import Sequences as Sequences
    from bayeslearn.hmm.word_emissions import WordEmissions as WordEmissions
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
