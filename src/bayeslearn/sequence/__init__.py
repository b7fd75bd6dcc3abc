"""Sequences: hidden Markov models of symbols, numbers and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.sequence.answering import Path as Path
    from bayeslearn.sequence.answering import Posterior as Posterior
    from bayeslearn.sequence.counts import PoissonEmissions as PoissonEmissions
    from bayeslearn.sequence.covariances import FullNormalEmissions as FullNormalEmissions
    from bayeslearn.sequence.data import Sequences as Sequences
    from bayeslearn.sequence.estimators import HiddenMarkovEstimator as HiddenMarkovEstimator
    from bayeslearn.sequence.filtering import Filter as Filter
    from bayeslearn.sequence.learning import dead_states as dead_states
    from bayeslearn.sequence.learning import learn as learn
    from bayeslearn.sequence.mixed import MixtureEmissions as MixtureEmissions
    from bayeslearn.sequence.model import HiddenMarkovModel as HiddenMarkovModel
    from bayeslearn.sequence.normals import NormalEmissions as NormalEmissions
    from bayeslearn.sequence.priors import ChainPrior as ChainPrior
    from bayeslearn.sequence.symbols import CategoricalEmissions as CategoricalEmissions
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
