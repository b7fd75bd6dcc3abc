"""Naive Bayes: over the columns of tables, and over the words of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components import Component as Component
    from bayeslearn.distributions.priors import Evidenced as Evidenced
    from bayeslearn.distributions.priors import Pooled as Pooled
    from bayeslearn.evaluation import Calibration as Calibration
    from bayeslearn.naive_bayes import tables as tables
    from bayeslearn.naive_bayes import text as text
    from bayeslearn.naive_bayes.tables.aode import AveragedOneDependenceClassifier as AveragedOneDependenceClassifier
    from bayeslearn.naive_bayes.tables.calibrating import calibrated as calibrated
    from bayeslearn.naive_bayes.tables.calibrating import calibration as calibration
    from bayeslearn.naive_bayes.tables.estimators import NaiveBayesClassifier as NaiveBayesClassifier
    from bayeslearn.naive_bayes.tables.explaining import Contributions as Contributions
    from bayeslearn.naive_bayes.tables.model import NaiveBayes as NaiveBayes
    from bayeslearn.naive_bayes.tables.validating import CrossValidation as CrossValidation
    from bayeslearn.naive_bayes.tables.validating import cross_validate as cross_validate
    from bayeslearn.naive_bayes.text.estimators import TextClassifier as TextClassifier
    from bayeslearn.naive_bayes.text.learning import fit_text as fit_text
    from bayeslearn.naive_bayes.text.model import TextModel as TextModel
    from bayeslearn.naive_bayes.text.word_counts import WordCounts as WordCounts
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
