"""Naive Bayes: over the columns of tables, and over the words of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.tables.aode import AveragedOneDependenceClassifier
    from bayeslearn.naive_bayes.tables.calibrating import Calibration, calibrated, calibration
    from bayeslearn.naive_bayes.tables.columns import Column
    from bayeslearn.naive_bayes.tables.estimators import NaiveBayesClassifier
    from bayeslearn.naive_bayes.tables.explaining import Contributions
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.priors import Evidenced, Pooled
    from bayeslearn.naive_bayes.tables.validating import CrossValidation, cross_validate
    from bayeslearn.naive_bayes.text.estimators import TextClassifier
    from bayeslearn.naive_bayes.text.learning import fit_text
    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.word_counts import WordCounts

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "AveragedOneDependenceClassifier": "tables.aode",
    "Calibration": "tables.calibrating",
    "Column": "tables.columns",
    "Contributions": "tables.explaining",
    "CrossValidation": "tables.validating",
    "Evidenced": "tables.priors",
    "NaiveBayes": "tables.model",
    "NaiveBayesClassifier": "tables.estimators",
    "Pooled": "tables.priors",
    "TextClassifier": "text.estimators",
    "TextModel": "text.model",
    "WordCounts": "text.word_counts",
    "calibrated": "tables.calibrating",
    "calibration": "tables.calibrating",
    "cross_validate": "tables.validating",
    "fit_text": "text.learning",
}

__all__ = [
    "AveragedOneDependenceClassifier",
    "Calibration",
    "Column",
    "Contributions",
    "CrossValidation",
    "Evidenced",
    "NaiveBayes",
    "NaiveBayesClassifier",
    "Pooled",
    "TextClassifier",
    "TextModel",
    "WordCounts",
    "calibrated",
    "calibration",
    "cross_validate",
    "fit_text",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
