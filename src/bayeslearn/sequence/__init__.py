"""Sequences: hidden Markov models of symbols, numbers and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.sequence.answering import Path, Posterior
    from bayeslearn.sequence.counts import PoissonEmissions
    from bayeslearn.sequence.covariances import FullNormalEmissions
    from bayeslearn.sequence.data import Sequences
    from bayeslearn.sequence.estimators import HiddenMarkovEstimator
    from bayeslearn.sequence.filtering import Filter
    from bayeslearn.sequence.learning import dead_states, learn
    from bayeslearn.sequence.mixed import MixtureEmissions
    from bayeslearn.sequence.model import HiddenMarkovModel
    from bayeslearn.sequence.normals import NormalEmissions
    from bayeslearn.sequence.priors import ChainPrior
    from bayeslearn.sequence.symbols import CategoricalEmissions

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "CategoricalEmissions": "symbols",
    "ChainPrior": "priors",
    "Filter": "filtering",
    "FullNormalEmissions": "covariances",
    "HiddenMarkovEstimator": "estimators",
    "HiddenMarkovModel": "model",
    "MixtureEmissions": "mixed",
    "NormalEmissions": "normals",
    "Path": "answering",
    "PoissonEmissions": "counts",
    "Posterior": "answering",
    "Sequences": "data",
    "dead_states": "learning",
    "learn": "learning",
}

__all__ = [
    "CategoricalEmissions",
    "ChainPrior",
    "Filter",
    "FullNormalEmissions",
    "HiddenMarkovEstimator",
    "HiddenMarkovModel",
    "MixtureEmissions",
    "NormalEmissions",
    "Path",
    "PoissonEmissions",
    "Posterior",
    "Sequences",
    "dead_states",
    "learn",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
