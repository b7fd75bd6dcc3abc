"""Naive Bayes for texts: raw text in, classes out, and evidence that adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
    from bayeslearn.naive_bayes.text.estimators import TextClassifier, WordCounts
    from bayeslearn.naive_bayes.text.files import read_text_model, write_text_model
    from bayeslearn.naive_bayes.text.learning import fit_text
    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.statistics import TextStatistics, collect
    from bayeslearn.naive_bayes.text.tokens import Tokeniser
    from bayeslearn.naive_bayes.text.vocabulary import Columns, Hashed, Vocabulary

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Columns": "vocabulary",
    "DocumentCounts": "counts",
    "Hashed": "vocabulary",
    "TextClassifier": "estimators",
    "TextModel": "model",
    "TextStatistics": "statistics",
    "Tokeniser": "tokens",
    "Vocabulary": "vocabulary",
    "WordCounts": "estimators",
    "collect": "statistics",
    "count": "counts",
    "fit_text": "learning",
    "read_text_model": "files",
    "write_text_model": "files",
}

__all__ = [
    "Columns",
    "DocumentCounts",
    "Hashed",
    "TextClassifier",
    "TextModel",
    "TextStatistics",
    "Tokeniser",
    "Vocabulary",
    "WordCounts",
    "collect",
    "count",
    "fit_text",
    "read_text_model",
    "write_text_model",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
