"""Bayesian learning where evidence adds.

Everything public is reachable from here and loaded when first used: ``import bayeslearn`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeslearn.functions import (
        LeastSquaresRegressor,
        LocalRegressor,
        RadialBasisClassifier,
        RadialBasisRegressor,
        SigmoidClassifier,
    )
    from bayeslearn.hypotheses import (
        BayesOptimalClassifier,
        Conjunction,
        FindSClassifier,
        FiniteSpace,
        GibbsClassifier,
        VersionSpace,
        VersionSpaceClassifier,
        find_s,
    )
    from bayeslearn.mixture import GaussianMixture, Mixture, TableClusterer, fit_mixture
    from bayeslearn.naive_bayes import (
        AveragedOneDependenceClassifier,
        NaiveBayes,
        NaiveBayesClassifier,
        TextClassifier,
        fit_text,
    )
    from bayeslearn.neighbours import Neighbours, NeighboursClassifier, NeighboursRegressor, learn_neighbours
    from bayeslearn.network import BayesianNetwork, BayesianNetworkClassifier, Dag, fit_tables, learn
    from bayeslearn.network.formats import read_network, write_network
    from bayeslearn.online import Halving, WeightedMajority, WeightedMajorityClassifier
    from bayeslearn.sequence import HiddenMarkovEstimator, HiddenMarkovModel
    from bayeslearn.sources import scan
    from bayeslearn.tables import Discrete, Numeric, Schema, Table, as_table, contingency
    from bayeslearn.theory import KCNFClassifier

__version__ = "0.1.0"

#: The rooms of the house, in reading order. Each is imported when first touched: ``bayeslearn.families``.
_ROOMS = (
    "errors",
    "validation",
    "kernels",
    "tables",
    "sources",
    "families",
    "em",
    "data",
    "hypotheses",
    "cases",
    "functions",
    "mixture",
    "naive_bayes",
    "neighbours",
    "network",
    "online",
    "sequence",
    "theory",
    "contest",
    "plots",
)

#: The names people use every day, by the room they live in.
_NAMES = {
    "AveragedOneDependenceClassifier": "naive_bayes",
    "BayesOptimalClassifier": "hypotheses",
    "BayesianNetwork": "network",
    "BayesianNetworkClassifier": "network",
    "Conjunction": "hypotheses",
    "Dag": "network",
    "Discrete": "tables",
    "FindSClassifier": "hypotheses",
    "FiniteSpace": "hypotheses",
    "GaussianMixture": "mixture",
    "GibbsClassifier": "hypotheses",
    "Halving": "online",
    "HiddenMarkovEstimator": "sequence",
    "HiddenMarkovModel": "sequence",
    "KCNFClassifier": "theory",
    "LeastSquaresRegressor": "functions",
    "LocalRegressor": "functions",
    "Mixture": "mixture",
    "NaiveBayes": "naive_bayes",
    "NaiveBayesClassifier": "naive_bayes",
    "Neighbours": "neighbours",
    "NeighboursClassifier": "neighbours",
    "NeighboursRegressor": "neighbours",
    "Numeric": "tables",
    "RadialBasisClassifier": "functions",
    "RadialBasisRegressor": "functions",
    "Schema": "tables",
    "SigmoidClassifier": "functions",
    "Table": "tables",
    "TableClusterer": "mixture",
    "TextClassifier": "naive_bayes",
    "VersionSpace": "hypotheses",
    "VersionSpaceClassifier": "hypotheses",
    "WeightedMajority": "online",
    "WeightedMajorityClassifier": "online",
    "as_table": "tables",
    "contingency": "tables",
    "find_s": "hypotheses",
    "fit_mixture": "mixture",
    "fit_tables": "network",
    "fit_text": "naive_bayes",
    "learn": "network",
    "learn_neighbours": "neighbours",
    "read_network": "network.formats",
    "scan": "sources",
    "write_network": "network.formats",
}

__all__ = [  # noqa: PLE0604 - the table of rooms holds strings
    "AveragedOneDependenceClassifier",
    "BayesOptimalClassifier",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "Conjunction",
    "Dag",
    "Discrete",
    "FindSClassifier",
    "FiniteSpace",
    "GaussianMixture",
    "GibbsClassifier",
    "Halving",
    "HiddenMarkovEstimator",
    "HiddenMarkovModel",
    "KCNFClassifier",
    "LeastSquaresRegressor",
    "LocalRegressor",
    "Mixture",
    "NaiveBayes",
    "NaiveBayesClassifier",
    "Neighbours",
    "NeighboursClassifier",
    "NeighboursRegressor",
    "Numeric",
    "RadialBasisClassifier",
    "RadialBasisRegressor",
    "Schema",
    "SigmoidClassifier",
    "Table",
    "TableClusterer",
    "TextClassifier",
    "VersionSpace",
    "VersionSpaceClassifier",
    "WeightedMajority",
    "WeightedMajorityClassifier",
    "__version__",
    "as_table",
    "contingency",
    "find_s",
    "fit_mixture",
    "fit_tables",
    "fit_text",
    "learn",
    "learn_neighbours",
    "read_network",
    "scan",
    "write_network",
    *_ROOMS,
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"bayeslearn.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"bayeslearn.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'bayeslearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
