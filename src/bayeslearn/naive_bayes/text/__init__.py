"""Naive Bayes for texts: raw text in, classes out, and evidence that adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.corpus import Corpus, as_corpus
    from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
    from bayeslearn.naive_bayes.text.estimators import TextClassifier
    from bayeslearn.naive_bayes.text.evaluation import Evaluation, LearningCurve, evaluate_text, learning_curve
    from bayeslearn.naive_bayes.text.evidence import choose_prior
    from bayeslearn.naive_bayes.text.explaining import explain_class, explain_text
    from bayeslearn.naive_bayes.text.files import read_text_model, write_text_model
    from bayeslearn.naive_bayes.text.learning import fit_text
    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.newsgroups import read_newsgroups
    from bayeslearn.naive_bayes.text.reading import read_corpus
    from bayeslearn.naive_bayes.text.scanned import TextSource, scan_texts
    from bayeslearn.naive_bayes.text.semisupervised import LearnedText, learn_text
    from bayeslearn.naive_bayes.text.statistics import TextStatistics, collect
    from bayeslearn.naive_bayes.text.tokens import Tokeniser
    from bayeslearn.naive_bayes.text.vocabulary import Columns, Hashed, Vocabulary
    from bayeslearn.naive_bayes.text.word_counts import WordCounts

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Columns": "vocabulary",
    "Corpus": "corpus",
    "DocumentCounts": "counts",
    "Evaluation": "evaluation",
    "Hashed": "vocabulary",
    "LearnedText": "semisupervised",
    "LearningCurve": "evaluation",
    "TextClassifier": "estimators",
    "TextModel": "model",
    "TextSource": "scanned",
    "TextStatistics": "statistics",
    "Tokeniser": "tokens",
    "Vocabulary": "vocabulary",
    "WordCounts": "word_counts",
    "as_corpus": "corpus",
    "choose_prior": "evidence",
    "collect": "statistics",
    "count": "counts",
    "evaluate_text": "evaluation",
    "explain_class": "explaining",
    "explain_text": "explaining",
    "fit_text": "learning",
    "learn_text": "semisupervised",
    "learning_curve": "evaluation",
    "read_corpus": "reading",
    "read_newsgroups": "newsgroups",
    "read_text_model": "files",
    "scan_texts": "scanned",
    "write_text_model": "files",
}

__all__ = [
    "Columns",
    "Corpus",
    "DocumentCounts",
    "Evaluation",
    "Hashed",
    "LearnedText",
    "LearningCurve",
    "TextClassifier",
    "TextModel",
    "TextSource",
    "TextStatistics",
    "Tokeniser",
    "Vocabulary",
    "WordCounts",
    "as_corpus",
    "choose_prior",
    "collect",
    "count",
    "evaluate_text",
    "explain_class",
    "explain_text",
    "fit_text",
    "learn_text",
    "learning_curve",
    "read_corpus",
    "read_newsgroups",
    "read_text_model",
    "scan_texts",
    "write_text_model",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
