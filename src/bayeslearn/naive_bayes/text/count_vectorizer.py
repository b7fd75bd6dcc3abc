"""Texts to a matrix of counts, in scikit-learn's clothes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn.errors import ParameterError
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tokenizing(BaseEstimator):  # type: ignore[misc]
    """Parameters of the tokenizer and of the words to keep."""

    case_sensitive: bool
    analyzer: str
    min_token_length: int
    ngram_range: Any
    min_count: float
    drop_top_words: int
    max_features: int | None
    n_hash_features: int | None
    vocabulary: Any

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self.case_sensitive, self.analyzer, self.min_token_length, self.ngram_range)

    def _choice(self) -> dict[str, Any]:
        return {"min_count": self.min_count, "drop_top_words": self.drop_top_words, "max_features": self.max_features}

    def _given_vocabulary(self) -> Vocabulary | HashedVocabulary | None:
        if self.n_hash_features is not None:
            if self.vocabulary is not None:
                raise ParameterError("`n_hash_features` and `vocabulary` exclude each other")
            return HashedVocabulary(self.n_hash_features)
        if self.vocabulary is None or isinstance(self.vocabulary, Vocabulary | HashedVocabulary):
            return self.vocabulary
        return Vocabulary.of(self.vocabulary)


class CountVectorizer(TransformerMixin, Tokenizing):  # type: ignore[misc]
    """Texts to a sparse matrix of counts, a column for each word in sorted order.

    The parameters are those of :class:`~bayeslearn.naive_bayes.text.TextClassifier`.

    >>> CountVectorizer(min_token_length=1).fit_transform(["a dog", "a cat, a dog"]).toarray()
    array([[1, 0, 1],
           [2, 1, 1]])
    """

    words_: Vocabulary | HashedVocabulary

    def __init__(
        self,
        *,
        case_sensitive: bool = False,
        analyzer: str = "words",
        min_token_length: int = 2,
        ngram_range: Any = (1, 1),
        min_count: float = 1,
        drop_top_words: int = 0,
        max_features: int | None = None,
        n_hash_features: int | None = None,
        vocabulary: Any = None,
    ) -> None:
        self.case_sensitive = case_sensitive
        self.analyzer = analyzer
        self.min_token_length = min_token_length
        self.ngram_range = ngram_range
        self.min_count = min_count
        self.drop_top_words = drop_top_words
        self.max_features = max_features
        self.n_hash_features = n_hash_features
        self.vocabulary = vocabulary

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Find the words."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002 - scikit-learn hands it over
        """Find the words and count them, in one pass."""
        counts, words = count(X, self._tokenizer(), self._given_vocabulary(), **self._choice())
        if isinstance(words, Vocabulary) and self.vocabulary is None:
            order = np.array(sorted(range(len(words)), key=words.words.__getitem__), np.intp)
            counts, words = counts.only(order), words.only(order)
        self.words_ = words
        return as_matrix(counts)

    def transform(self, X: Any) -> Any:
        """Count the words that are known."""
        check_is_fitted(self)
        return as_matrix(count(X, self._tokenizer(), self.words_)[0])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn's form
        """The word of every column."""
        check_is_fitted(self)
        return np.array(self.words_.words, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def as_matrix(counts: DocumentCounts) -> Any:
    """Counts as scikit-learn's own vectorizer returns them."""
    matrix = counts.matrix.astype(np.int64)
    matrix.sort_indices()
    return matrix
