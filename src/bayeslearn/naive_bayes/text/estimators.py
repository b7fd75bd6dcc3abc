"""Naive Bayes for texts in scikit-learn's clothes: raw texts in, or a ready matrix of counts."""

from __future__ import annotations

from dataclasses import replace
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
from bayeslearn.naive_bayes.text.out_of_core import (
    Evidence,
    Right,
    require_labeled,
    source_statistics,
)
from bayeslearn.naive_bayes.text.probabilities import possible
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.text_inputs import Texts
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.training_batch import CountedBatch, SourceBatch
from bayeslearn.naive_bayes.text.variants import TextSettings
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary
from bayeslearn.tables.markers import class_array, missing_labels
from bayeslearn.tables.sparse import checked_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel
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
    likelihood, weighting, weight_norm, calibrate
        As in :func:`~bayeslearn.naive_bayes.text.fit_text`, with the same defaults: variants are selected by their log
        loss on held-out documents, and calibrated. ``partial_fit`` selects from the batch, and keeps the selection of
        the largest batch.
    prior
        α of the words: ``"evidence"`` and the other words of :mod:`~bayeslearn.naive_bayes.text.prior_selection` are
        selected by the marginal likelihood; a number, a :class:`~bayeslearn.distributions.Dirichlet`, a rule or a word
        such as ``"laplace"`` or ``"m:2"`` fixes it; None for no prior.
    class_prior
        None (no prior) gives the fractions of the classes, ``"uniform"`` and a list of probabilities fix them; a
        number, a word such as ``"laplace"`` or a Dirichlet is α of the classes.
    case_sensitive, analyzer, min_token_length, ngram_range
        How texts become tokens: see :class:`~bayeslearn.naive_bayes.text.Tokenizer`.
    min_count, drop_top_words, max_features
        Words with a smaller count are dropped, then the most frequent ones; a maximum number of words is kept.
    n_hash_features
        The number of features into which words are hashed, in place of a vocabulary, for unbounded streams.
    vocabulary
        The words to count, where they are known beforehand.
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
        likelihood: str = "auto",
        weighting: str = "auto",
        weight_norm: bool = False,
        calibrate: bool | str = "auto",
        prior: Any = "evidence",
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
        self.weighting = weighting
        self.weight_norm = weight_norm
        self.calibrate = calibrate
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
            found = require_labeled(self._counted(source))
            return self._with(found.statistics, self._source_batch(source, found), classes, before)
        return self._learn(X, y, sample_weight, before, classes)

    def _learn(self, X: Any, y: Any, sample_weight: Any, before: TextStatistics | None, classes: Any = None) -> Self:
        documents, y, w = self._labeled_documents(X, y, sample_weight, reset=before is None)
        if isinstance(documents, Texts):
            counts, vocabulary = count(documents, self._tokenizer(), self._given_vocabulary())
        else:
            counts, vocabulary = documents, before.vocabulary if before else ColumnVocabulary(documents.n_words)  # type: ignore[assignment]
        tables: dict[str, Any] = self._settings(0).tables
        new = collect(counts, y, vocabulary=vocabulary, sample_weight=w, **tables)
        return self._with(new, CountedBatch(counts, vocabulary, y, w), classes, before)

    def _with(
        self, new: TextStatistics, batch: CountedBatch | SourceBatch, classes: Any, before: TextStatistics | None
    ) -> Self:
        seen = new if before is None else before + new
        names = in_order([*seen.classes, *([] if classes is None else listed_labels(classes))])
        self.statistics_ = seen.with_classes(names)
        self.classes_ = class_array(names)
        self.model_ = self._model(batch, None if before is None else self.model_)
        return self

    def _learn_by_em(self, X: Any, y: Any, sample_weight: Any, names: tuple[Any, ...]) -> Self:
        given = self._settings(len(names))
        found = fit_text(
            X, y, prior=given.prior, tokenizer=self._tokenizer(), vocabulary=self._given_vocabulary(),
            likelihood=given.likelihood, weighting=given.weighting, weight_norm=given.weight_norm,  # type: ignore[arg-type]
            calibrate=given.calibrate, class_prior=given.class_prior, classes=names,  # type: ignore[arg-type]
            sample_weight=sample_weight, **self._choice(),
        )  # fmt: skip
        self.model_, self.statistics_ = found, found.statistics
        self.classes_ = class_array(names)
        return self

    def _learn_source(self, X: Folded[DocumentBatch]) -> Self:
        found = self._counted(X)
        if found.unlabeled:
            return self._learn_by_em(X, None, None, found.statistics.classes)
        return self._with(found.statistics, self._source_batch(X, found), None, None)

    def _counted(self, X: Folded[DocumentBatch]) -> Evidence:
        return source_statistics(X, self._tokenizer(), self._given_vocabulary(), tables=self._settings(0).tables)

    def _source_batch(self, X: Folded[DocumentBatch], found: Evidence) -> SourceBatch:
        return SourceBatch(X, self._tokenizer(), float(found.statistics.documents.sum()))

    def _settings(self, n_classes: int) -> TextSettings:
        prior = self._class_prior(n_classes) if n_classes else 0.0
        return TextSettings(self.likelihood, self.weighting, self.weight_norm, self.calibrate, self.prior, prior)

    def _model(self, batch: CountedBatch | SourceBatch, before: TextModel | None) -> TextModel:
        """The model of all statistics; with the calibration of the model before if it is of more documents."""
        seen = trimmed(self.statistics_, **self._choice())
        settings = self._settings(len(seen.classes))
        if before is None and seen is not self.statistics_ and seen.normalized is not None:
            seen = batch.statistics(seen, settings.tables)  # documents have length 1 in the words that are kept
        model, _ = settings.model(seen, self._tokenizer())
        model, found = settings.judged(model, lambda: batch.sample(seen))
        known = None if before is None else before.calibration
        if before is None or known is None or (found and found.calibration.n_documents >= known.n_documents):
            return model
        kept: dict[str, Any] = {name: getattr(before, name) for name in ("likelihood", "weighting", "calibration")}
        return replace(model, **kept)

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

    def _labeled_documents(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Texts | DocumentCounts, Any, Any]:
        """Checked documents, labels and weights, without documents of weight zero."""
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
            raise DataError("this classifier was fitted to a matrix of counts and has no words", hint="give a matrix")
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
