"""Naive Bayes for texts in scikit-learn's clothes: raw texts in, or a ready matrix of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.distributions.priors import dirichlet_prior
from bayeslearn.errors import DataError
from bayeslearn.estimators import PredictsClasses, checked_labels
from bayeslearn.evaluation import accuracy
from bayeslearn.naive_bayes.text.count_vectorizer import Tokenizing
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.fit import fit_text, trimmed
from bayeslearn.naive_bayes.text.labels import in_order, listed_labels, require_labels
from bayeslearn.naive_bayes.text.model import TextModel
from bayeslearn.naive_bayes.text.out_of_core import (
    Evidence,
    Right,
    require_labeled,
    source_statistics,
)
from bayeslearn.naive_bayes.text.prior_selection import pick_prior
from bayeslearn.naive_bayes.text.probabilities import possible
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.text_inputs import Texts
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary
from bayeslearn.tables.markers import class_array, missing_labels
from bayeslearn.tables.sparse import checked_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.source_protocol import Folded


def label_array(y: Any) -> NDArray[Any]:
    """Labels as an array, those of a list with the types they have."""
    return np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)


def are_texts(X: Any) -> bool:
    """Whether these are raw texts rather than a matrix."""
    if isinstance(X, DocumentCounts) or hasattr(X, "columns"):
        return False
    if isinstance(X, str | bytes | Texts):
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and (X[0] is None or isinstance(X[0], str | bytes))
    is_column = getattr(X, "ndim", 1) == 1 and hasattr(X, "__len__") and not np.isscalar(X)
    return is_column and getattr(getattr(X, "dtype", None), "kind", "O") in "OUSTV"


class TextClassifier(PredictsClasses, ClassifierMixin, Tokenizing):  # type: ignore[misc]
    """Naive Bayes for texts: P(class | text) ∝ P(class) Π P(word | class).

    Parameters
    ----------
    likelihood
        "multinomial" counts words, "bernoulli" looks at which are there, "complement" at the words of other classes.
    prior
        α of the words: a number, or a :class:`~bayeslearn.distributions.Dirichlet` or a rule for one; a word such as
        ``"laplace"`` or ``"m:2"``, None for no prior; or ``"evidence"`` and the other ways of
        :mod:`~bayeslearn.naive_bayes.text.prior_selection` to let the counts choose it.
    class_prior
        None (no prior) takes the fractions of the classes, ``"uniform"`` and a list of probabilities fix them; a
        number, a word such as ``"laplace"`` or a Dirichlet is α of the classes.
    case_sensitive, analyzer, min_token_length, ngram_range
        How texts become tokens: see :class:`~bayeslearn.naive_bayes.text.Tokenizer`.
    min_count, drop_top_words, max_features
        Words to keep: those seen often enough, without the most frequent ones, and at most so many.
    hashed
        The number of places for words that are hashed rather than kept, for streams without end.
    vocabulary
        The words to look at, where they are known beforehand.
    unlabeled
        What to do with documents without a label (None, NaN): learn from texts by ``"em"``, ``"drop"`` them, or raise
        an ``"error"``. A matrix of counts is not learned from by EM.

    Attributes
    ----------
    classes_
        The labels in order.
    model_
        The :class:`~bayeslearn.naive_bayes.text.TextModel`.
    statistics_
        All that was seen, also of words that the model leaves out.

    Examples
    --------
    >>> mail = TextClassifier().fit(["cheap watch", "lunch at noon"], ["spam", "ham"])
    >>> mail.partial_fit(["cheap cheap viagra"], ["spam"]).predict(["viagra"])
    array(['spam'], dtype='<U4')
    """

    classes_: NDArray[Any]
    model_: TextModel
    statistics_: TextStatistics

    _form = "array"
    _unlabeled_choices = ("em", "drop", "error")

    def __init__(
        self,
        *,
        likelihood: str = "multinomial",
        prior: Any = 1.0,
        class_prior: Any = None,
        case_sensitive: bool = False,
        analyzer: str = "words",
        min_token_length: int = 2,
        ngram_range: Any = (1, 1),
        min_count: float = 1,
        drop_top_words: int = 0,
        max_features: int | None = None,
        n_hash_features: int | None = None,
        vocabulary: Any = None,
        unlabeled: Literal["em", "drop", "error"] = "em",
    ) -> None:
        self.likelihood = likelihood
        self.prior = prior
        self.class_prior = class_prior
        self.case_sensitive = case_sensitive
        self.analyzer = analyzer
        self.min_token_length = min_token_length
        self.ngram_range = ngram_range
        self.min_count = min_count
        self.drop_top_words = drop_top_words
        self.max_features = max_features
        self.n_hash_features = n_hash_features
        self.vocabulary = vocabulary
        self.unlabeled = unlabeled

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from texts, or from a matrix of counts, with labels.

        A source (:func:`~bayeslearn.naive_bayes.text.scan_texts`) has its labels with it and takes no `y`.
        """
        source = folded_documents(X, labels=y, sample_weight=sample_weight)
        if source is not None:
            return self._learn_source(source)
        labels = label_array(y)
        if self.unlabeled == "em" and are_texts(X) and labels.ndim == 1 and missing_labels(labels).any():
            names = in_order(listed_labels(labels[~missing_labels(labels)]))
            return self._learn_by_em(X, y, sample_weight, names)
        return self._learn(X, y, sample_weight, None)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more of them: words and classes that are new are added. `classes` may name some beforehand."""
        before = getattr(self, "statistics_", None)
        source = folded_documents(X, labels=y, sample_weight=sample_weight)
        if source is not None:
            return self._with(require_labeled(self._counted(source)), classes, before)
        return self._learn(X, y, sample_weight, before, classes)

    def _learn(self, X: Any, y: Any, sample_weight: Any, before: TextStatistics | None, classes: Any = None) -> Self:
        documents, y, w = self._cases(X, y, sample_weight, reset=before is None)
        present = self.likelihood == "bernoulli"
        if isinstance(documents, Texts):
            counts, vocabulary = count(documents, self._tokenizer(), self._given_vocabulary())
        else:
            counts, vocabulary = documents, before.vocabulary if before else ColumnVocabulary(documents.n_words)  # type: ignore[assignment]
        return self._with(collect(counts, y, vocabulary=vocabulary, sample_weight=w, present=present), classes, before)

    def _with(self, new: TextStatistics, classes: Any, before: TextStatistics | None) -> Self:
        seen = new if before is None else before + new
        names = in_order([*seen.classes, *([] if classes is None else listed_labels(classes))])
        self.statistics_ = seen.with_classes(names)
        self.classes_ = class_array(names)
        self.model_ = self._model()
        return self

    def _learn_by_em(self, X: Any, y: Any, sample_weight: Any, names: tuple[Any, ...]) -> Self:
        found = fit_text(
            X, y, prior=self.prior, tokenizer=self._tokenizer(), vocabulary=self._given_vocabulary(),
            likelihood=self.likelihood,  # type: ignore[arg-type]  # checked there
            class_prior=self._class_prior(len(names)), classes=names, sample_weight=sample_weight, **self._choice(),
        )  # fmt: skip
        self.model_, self.statistics_ = found, found.statistics
        self.classes_ = class_array(names)
        return self

    def _learn_source(self, X: Folded[DocumentBatch]) -> Self:
        found = self._counted(X)
        if found.unlabeled:
            return self._learn_by_em(X, None, None, found.statistics.classes)
        return self._with(found.statistics, None, None)

    def _counted(self, X: Folded[DocumentBatch]) -> Evidence:
        present = self.likelihood == "bernoulli"
        return source_statistics(X, self._tokenizer(), self._given_vocabulary(), present=present)

    def _model(self) -> TextModel:
        seen = trimmed(self.statistics_, **self._choice())
        prior = pick_prior(seen, self.prior, self.likelihood)[0]
        given = self._class_prior(len(seen.classes))
        return TextModel(seen, self._tokenizer(), self.likelihood, prior, given)  # type: ignore[arg-type]

    def _class_prior(self, size: int) -> Any:
        given = self.class_prior
        if given is None:
            return 0.0
        if isinstance(given, str):
            return (1 / size,) * size if given == "uniform" else dirichlet_prior(given)
        return tuple(validation.probabilities(given, name="class_prior").tolist()) if np.ndim(given) == 1 else given

    # -- predicting

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | text), a column for each of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of :meth:`predict_proba`."""
        return np.asarray(log_softmax(self._class_scores(X), axis=1))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of texts whose label is predicted; of a source, of those that have one."""
        check_is_fitted(self)
        source = folded_documents(X, labels=y, sample_weight=sample_weight)
        if source is not None:
            return accuracy(*source.fold(Right(self.model_)))
        return float(super().score(X, y, sample_weight))

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        documents = folded_documents(X) or (self._texts(X) if are_texts(X) else self._counts(X))
        return possible(self.model_.log_joint(documents))

    # -- data in

    def _cases(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Texts | DocumentCounts, Any, Any]:
        """Checked documents, labels and weights; documents of weight zero are as good as absent."""
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        texts, labels = are_texts(X), checked_labels(label_array(y))
        if isinstance(X, str | bytes):
            Texts.of(X)  # a text by itself is refused
        if not texts:
            X = validate_data(self, checked_sparse(X), accept_sparse="csr", reset=reset)
        rows, labels, sample_weight = self._counting(X, labels, sample_weight)
        require_labels(listed_labels(labels))
        return (Texts.of(rows) if texts else DocumentCounts.of(rows)), labels, sample_weight

    def _texts(self, X: Any) -> Texts:
        if isinstance(self.statistics_.vocabulary, ColumnVocabulary):
            raise DataError("this classifier was fitted to a matrix of counts and knows no words", hint="give a matrix")
        return Texts.of(X)

    def _counts(self, X: Any) -> DocumentCounts:
        """A checked matrix of counts."""
        if hasattr(self, "n_features_in_"):
            X = validate_data(self, checked_sparse(X), accept_sparse="csr", reset=False)
        return DocumentCounts.of(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = tags.input_tags.categorical = False
        tags.classifier_tags.poor_score = True  # on the numbers that scikit-learn tries, which count nothing
        return tags
