"""EM for texts: documents without a label are shared out among the classes.

    E   s_dk = P(k | d)
    M   n_kw = Σ_labeled n_dw + λ Σ_unlabeled s_dk n_dw          θ_kw = (n_kw + α_w) / Σ_w (n_kw + α_w)

increases  Σ_labeled ln P(k, d|θ) + λ Σ_unlabeled ln P(d|θ) + Σ_kw α_w ln θ_kw,  whose mode θ is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logsumexp

from bayeslearn import em
from bayeslearn.errors import ParameterError
from bayeslearn.naive_bayes.text.probabilities import alphas
from bayeslearn.naive_bayes.text.sufficient_statistics import OPTIONAL, TextStatistics, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.document_counts import DocumentCounts
    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.out_of_core import SourceDocuments
    from bayeslearn.progress import ProgressCallback

#: Nats that an iteration of EM must gain for each word of the documents without labels.
SMALL = 1e-6


@dataclass(frozen=True, eq=False)
class Documents:
    """What EM learns from: the statistics of documents with labels, and the others with their weights."""

    labeled: TextStatistics | None
    unlabeled: DocumentCounts
    sample_weight: NDArray[np.float64]

    @property
    def words(self) -> float:
        """How many words the documents without labels have."""
        return float(self.sample_weight @ self.unlabeled.lengths)

    def fold(self, collected: Callable[[Documents], Any]) -> Any:
        """All of it at once."""
        return collected(self)


@dataclass(frozen=True, eq=False)
class Reader:
    """A text model for the loop of EM."""

    model: TextModel

    def expected_statistics(self, batch: Documents) -> tuple[TextStatistics, float]:
        """Statistics with documents shared out among the classes, and Σ w ln P(document)."""
        joint = self.model.log_joint(batch.unlabeled)
        logs = logsumexp(joint, axis=1, keepdims=True)
        hidden = collect(
            batch.unlabeled,
            np.exp(joint - logs),
            vocabulary=self.model.vocabulary,
            classes=self.model.classes,
            sample_weight=batch.sample_weight,
            **{name: getattr(self.model.statistics, name) is not None for name in OPTIONAL},
        )
        likelihood = float(batch.sample_weight @ logs[:, 0])
        if batch.labeled is None:
            return hidden, likelihood
        return batch.labeled + hidden, likelihood + self.log_likelihood(batch.labeled)

    def estimate(self, prior: None, statistics: TextStatistics) -> Self:  # noqa: ARG002 - the model has its prior
        """The model of other statistics."""
        return replace(self, model=replace(self.model, statistics=statistics))

    def log_likelihood(self, labeled: TextStatistics) -> float:
        """Σ ln P(k, document) of documents with labels, which is a sum over what they were counted into."""
        logs, classes = self.model.log_p_words, self.model.log_p_classes
        if labeled.present is None:
            return _product(labeled.words, logs) + _product(labeled.documents, classes)
        absent = -np.logaddexp(0, logs)  # ln P(not w), from the log odds
        return _product(labeled.present, logs) + _product(labeled.documents, classes + absent.sum(axis=1))

    def log_prior(self, prior: None) -> float:  # noqa: ARG002 - the model has its prior
        """Σ α ln θ: the logarithm of a Dirichlet whose mode is where this one has its mean."""
        model = self.model
        alpha = np.broadcast_to(alphas(model.prior, len(model.vocabulary), "prior"), len(model.vocabulary))
        logs = model.log_p_words
        if model.likelihood == "bernoulli":
            logs = logs - 2 * np.logaddexp(0, logs)  # ln p + ln (1 − p)
        value = _product(np.broadcast_to(alpha, logs.shape), logs)
        if isinstance(model.class_prior, tuple):
            return value
        cases = np.broadcast_to(alphas(model.class_prior, len(model.classes), "class_prior"), len(model.classes))
        return value + _product(cases, model.log_p_classes)


def climbed(
    model: TextModel,
    source: Documents | SourceDocuments,
    *,
    max_iter: int,
    progress: ProgressCallback | None,
) -> em.EMResult[Reader]:
    """EM from a model of the documents with labels."""
    if model.likelihood == "complement":
        raise ParameterError(
            "the complement of a class is a score, no probability, so that EM cannot use documents without labels",
            hint="take the multinomial or the Bernoulli likelihood, or unlabeled=0",
        )
    return em.run(Reader(model), source, tol=SMALL * (1 + source.words), max_iter=max_iter, progress=progress)


def _product(sample_weight: NDArray[np.float64], logs: NDArray[np.float64]) -> float:
    """Σ w ln p, where no weight makes any p do."""
    with np.errstate(invalid="ignore"):
        return float(np.where(sample_weight > 0, sample_weight * logs, 0.0).sum())
