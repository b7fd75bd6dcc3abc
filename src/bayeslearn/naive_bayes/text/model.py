"""Naive Bayes for texts: words of a document are independent given its class.

    P(k | document) ∝ P(k) Π_w P(w|k)^n_w

    multinomial    P(w|k) = (n_kw + α_w) / (n_k + Σ_w α_w)            α = 1: (n_k + 1) / (n + |Vocabulary|)
    bernoulli      P(w in a document|k) = (d_kw + α_w) / (d_k + 2 α_w), and words that are not there speak too
    complement     1 / P(w|not k) in place of P(w|k), from the words of all other classes; a score, no probability

n_kw, d_kw and d_k are the statistics, α the prior: one number for every word, or one for each (α_w = m p_w). Words
outside the vocabulary are skipped. A document without words is judged by the prior of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import EvidenceError, ImpossibleDataError, ParameterError, ShapeError
from bayeslearn.families import Dirichlet, DirichletRule
from bayeslearn.naive_bayes.text.counting import counted
from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.texts import Texts, warn_of_mended
from bayeslearn.naive_bayes.text.tokens import Tokeniser

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.statistics import TextStatistics
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

Likelihood = Literal["multinomial", "bernoulli", "complement"]
LIKELIHOODS = ("multinomial", "bernoulli", "complement")

#: Documents that are scored together.
BLOCK = 1024

#: Words whose logarithms are taken together.
MANY = 1 << 14


@dataclass(frozen=True, eq=False)
class TextModel:
    """What was seen, what was believed before, and how texts are read.

    `prior` is α: a number for every word, a Dirichlet over the words, or a rule for one. `class_prior` is the same for
    the classes, where 0 makes P(k) the fraction of documents; or a tuple of probabilities, which stay as they are.
    """

    statistics: TextStatistics
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    likelihood: Likelihood = "multinomial"
    prior: float | Dirichlet | DirichletRule = 1.0
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        validation.choice("likelihood", self.likelihood, LIKELIHOODS)
        if self.likelihood == "bernoulli" and self.statistics.present is None:
            raise ParameterError(
                "the Bernoulli likelihood needs the number of documents that hold a word",
                hint="collect with present=True",
            )
        alphas(self.prior, len(self.statistics.vocabulary), "prior")
        if isinstance(self.class_prior, tuple):
            if len(self.class_prior) != len(self.classes):
                raise ShapeError(f"`class_prior` has {len(self.class_prior)} entries for {len(self.classes)} classes")
            validation.probabilities(self.class_prior, name="class_prior")
        else:
            alphas(self.class_prior, len(self.classes), "class_prior")

    def __repr__(self) -> str:
        return f"TextModel({self.likelihood}, {self.statistics!r})"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes as they were written."""
        return self.statistics.classes

    @property
    def vocabulary(self) -> AnyVocabulary:
        """The words that are looked at."""
        return self.statistics.vocabulary

    # -- more or less evidence

    def updated(self, statistics: TextStatistics) -> TextModel:
        """The model with more evidence."""
        return replace(self, statistics=self.statistics + statistics)

    def without(self, statistics: TextStatistics) -> TextModel:
        """The model with less evidence."""
        return replace(self, statistics=self.statistics - statistics)

    # -- parameters

    @cached_property
    def log_p_classes(self) -> NDArray[np.float64]:
        """ln P(k), shape (K,)."""
        if isinstance(self.class_prior, tuple):
            p = validation.probabilities(self.class_prior, name="class_prior")
        else:
            seen = self.statistics.documents + alphas(self.class_prior, len(self.classes), "class_prior")
            if not seen.sum() > 0:
                raise EvidenceError(
                    "there is no document to tell how probable the classes are", hint="give a `class_prior` above 0"
                )
            p = seen / seen.sum()
        with np.errstate(divide="ignore"):
            return np.log(p)

    @property
    def log_p_words(self) -> NDArray[np.float64]:
        """What one more occurrence of a word adds to ln P(k, document), shape (K, V)."""
        return self._logs[0].T

    @cached_property
    def _logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with words first, (V, K), and what every document begins with, (K,)."""
        alpha = np.asarray(alphas(self.prior, len(self.vocabulary), "prior"))
        alpha = alpha[:, None] if alpha.ndim else alpha
        if self.likelihood == "bernoulli":
            assert self.statistics.present is not None
            yes = self.statistics.present.T + alpha
            no = self.statistics.documents - self.statistics.present.T + alpha
            total = _log(self.statistics.documents + 2 * alpha)
            there, absent = _log(yes) - total, _log(no) - total
            return np.ascontiguousarray(there - absent), absent.sum(axis=0)
        words = self.statistics.words.T
        logs = np.empty(words.shape)
        if self.likelihood == "complement":
            np.subtract(words.sum(axis=1, keepdims=True), words, out=logs)
            logs += alpha
        else:
            np.add(words, alpha, out=logs)
        total = logs.sum(axis=0)
        _take_logs(logs, _log(np.where(total > 0, total, 1.0)))
        if self.likelihood == "complement":
            np.negative(logs, out=logs)
        return logs, np.zeros(len(self.classes))

    # -- answers

    def count(self, texts: Any) -> DocumentCounts:
        """The words of texts that the model knows."""
        return count(texts, self.tokeniser, self.vocabulary)[0]  # type: ignore[arg-type]

    def log_joint(self, documents: Any) -> NDArray[np.float64]:
        """ln P(k, document), shape (n, K), of counts or of texts."""
        if isinstance(documents, DocumentCounts):
            return self._log_joint_of_counts(documents)
        texts = Texts.of(documents)
        into = np.empty((len(texts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]

        def work(span: Any) -> int:
            column, begin, end, before = span
            piece = column.piece(begin, end, lower=self.tokeniser.lower)
            part = counted(piece, self.tokeniser, self.vocabulary)  # type: ignore[arg-type]
            self._score(part.indptr, part.indices, part.counts, 0, into[before : before + end - begin])
            return piece.mended

        warn_of_mended(sum(kernels.parallel(work, texts.spans())), len(texts))
        return into

    def _log_joint_of_counts(self, counts: DocumentCounts) -> NDArray[np.float64]:
        if counts.n_words != len(self.vocabulary):
            raise ShapeError(f"the counts have {counts.n_words:,} words, the model has {len(self.vocabulary):,}")
        into = np.empty((len(counts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]
        kernels.parallel(
            lambda a: self._score(counts.indptr, counts.indices, counts.counts, a, into[a : a + BLOCK]),
            range(0, len(counts), BLOCK),
        )
        return into

    def _score(self, indptr: Any, indices: Any, counts: Any, first: int, into: NDArray[np.float64]) -> None:
        if self.likelihood == "bernoulli":
            counts = np.ones_like(counts)
        kernels.score_documents(indptr, indices, counts, self._logs[0], first, into)

    def posterior(self, documents: Any) -> NDArray[np.float64]:
        """P(k | document), shape (n, K)."""
        logs = possible(self.log_joint(documents))
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def classify(self, documents: Any) -> list[Any]:
        """The most probable class of each document, the first when tied."""
        best = possible(self.log_joint(documents)).argmax(axis=1)
        return [self.classes[k] for k in best.tolist()]


def alphas(prior: Any, size: int, name: str) -> NDArray[np.float64]:
    """α: one number, or one for each of `size` entries."""
    if isinstance(prior, DirichletRule):
        return np.asarray(prior.per_state) if prior.per_state is not None else prior.of((size,)).alpha
    if isinstance(prior, Dirichlet):
        if prior.alpha.shape != (size,):
            raise ShapeError(
                f"`{name}` has α of shape {prior.alpha.shape}, expected ({size},)", hint="a number fits any size"
            )
        return prior.alpha
    return np.asarray(validation.number(name, prior, least=0))


def _log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln x, −∞ for 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def _take_logs(p: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """p = ln p − total where it stands, on every core."""

    def work(begin: int) -> None:
        block = p[begin : begin + MANY]
        with np.errstate(divide="ignore"):
            np.log(block, out=block)
        block -= total

    kernels.parallel(work, range(0, len(p), MANY))


def possible(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log probabilities of which each document has one that is not zero."""
    best = logs.max(axis=1, initial=-np.inf)
    impossible = ~np.isfinite(best)
    if impossible.any():
        row = int(validation.first_position(impossible))
        raise ImpossibleDataError(
            f"document {row} has words that no class can have together", hint="use a `prior` above 0", row=row
        )
    return logs
