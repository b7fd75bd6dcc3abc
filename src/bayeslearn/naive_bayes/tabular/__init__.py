"""Naive Bayes for tables: categorical, numeric and count columns, with missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components import Component as Component
    from bayeslearn.distributions.priors import EmpiricalBayesPrior as EmpiricalBayesPrior
    from bayeslearn.distributions.priors import PooledPrior as PooledPrior
    from bayeslearn.evaluation import Calibration as Calibration
    from bayeslearn.naive_bayes.tabular.aode import AODEClassifier as AODEClassifier
    from bayeslearn.naive_bayes.tabular.estimators import NaiveBayesClassifier as NaiveBayesClassifier
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions as CellContributions
    from bayeslearn.naive_bayes.tabular.fit import fit_naive_bayes as fit_naive_bayes
    from bayeslearn.naive_bayes.tabular.label_statistics import ClassIndicator as ClassIndicator
    from bayeslearn.naive_bayes.tabular.label_statistics import class_indicators as class_indicators
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel as NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.out_of_fold import CrossValidation as CrossValidation
    from bayeslearn.naive_bayes.tabular.out_of_fold import calibrate as calibrate
    from bayeslearn.naive_bayes.tabular.out_of_fold import calibration_curve as calibration_curve
    from bayeslearn.naive_bayes.tabular.out_of_fold import cross_validate as cross_validate
    from bayeslearn.naive_bayes.tabular.reporting import NaiveBayesFitInfo as NaiveBayesFitInfo
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
