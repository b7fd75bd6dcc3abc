"""Naive Bayes for texts: raw text in, classes out, and evidence that adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
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
    "TextModel": "model",
    "TextStatistics": "statistics",
    "Tokeniser": "tokens",
    "Vocabulary": "vocabulary",
    "collect": "statistics",
    "count": "counts",
    "fit_text": "learning",
}

__all__ = [
    "Columns",
    "DocumentCounts",
    "Hashed",
    "TextModel",
    "TextStatistics",
    "Tokeniser",
    "Vocabulary",
    "collect",
    "count",
    "fit_text",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
