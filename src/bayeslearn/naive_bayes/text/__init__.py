"""Naive Bayes for texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.corpus import Corpus as Corpus
    from bayeslearn.naive_bayes.text.corpus import as_corpus as as_corpus
    from bayeslearn.naive_bayes.text.corpus_readers import read_corpus as read_corpus
    from bayeslearn.naive_bayes.text.count_vectorizer import CountVectorizer as CountVectorizer
    from bayeslearn.naive_bayes.text.document_counts import DocumentCounts as DocumentCounts
    from bayeslearn.naive_bayes.text.document_counts import count as count
    from bayeslearn.naive_bayes.text.estimators import TextClassifier as TextClassifier
    from bayeslearn.naive_bayes.text.evaluation import LearningCurve as LearningCurve
    from bayeslearn.naive_bayes.text.evaluation import evaluate_text as evaluate_text
    from bayeslearn.naive_bayes.text.evaluation import learning_curve as learning_curve
    from bayeslearn.naive_bayes.text.explanation import ClassWords as ClassWords
    from bayeslearn.naive_bayes.text.explanation import TextExplanation as TextExplanation
    from bayeslearn.naive_bayes.text.explanation import explain_class as explain_class
    from bayeslearn.naive_bayes.text.explanation import explain_text as explain_text
    from bayeslearn.naive_bayes.text.fit import fit_text as fit_text
    from bayeslearn.naive_bayes.text.model import TextModel as TextModel
    from bayeslearn.naive_bayes.text.newsgroups import read_newsgroups as read_newsgroups
    from bayeslearn.naive_bayes.text.prior_selection import choose_prior as choose_prior
    from bayeslearn.naive_bayes.text.results import TextFitInfo as TextFitInfo
    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics as TextStatistics
    from bayeslearn.naive_bayes.text.sufficient_statistics import collect as collect
    from bayeslearn.naive_bayes.text.text_sources import scan_texts as scan_texts
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer as Tokenizer
    from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary as ColumnVocabulary
    from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary as HashedVocabulary
    from bayeslearn.naive_bayes.text.vocabulary import Vocabulary as Vocabulary
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
