"""Naive Bayes for texts: words of a document are independent given its class.

    P(k | document) ∝ P(k) Π_w P(w|k)^n_w

    multinomial    P(w|k) = (n_kw + α_w) / (n_k + Σ_w α_w)            α = 1: (n_k + 1) / (n + |Vocabulary|)
    bernoulli      P(w in a document|k) = (d_kw + α_w) / (d_k + 2 α_w), and absent words count too
    complement     1 / P(w|not k) in place of P(w|k), from the words of all other classes; a score, no probability
    pooled         several of these, each to a power β:  P(k) e^b_k Π_v Π_w P_v(w|k)^(β_v n_w)

n_kw, d_kw and d_k are the statistics, α the prior: one number for every word, or one for each (α_w = m p_w). Words
outside the vocabulary are skipped. A document without words is classified by the prior of the classes. The powers and
offsets b are the calibration (:mod:`~bayeslearn.naive_bayes.text.text_calibration`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import logsumexp, softmax

from bayeslearn import codec, kernels, lazy_imports, validation
from bayeslearn.distributions import Dirichlet, DirichletRule
from bayeslearn.distributions.lineage import after_update, merged, scaled, separated, without_rows
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.fit_info import Fitted
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.model_weights import generative, model_weights, require_same, with_more_evidence
from bayeslearn.naive_bayes.text.parallel_counts import counted
from bayeslearn.naive_bayes.text.probabilities import alphas, log_shares, possible
from bayeslearn.naive_bayes.text.text_inputs import Texts, warn_of_mended
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.word_weights import WEIGHTINGS, entries
from bayeslearn.reports import Reported
from bayeslearn.tables.frames import probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.evaluation import Metrics
    from bayeslearn.model_values import Reader
    from bayeslearn.naive_bayes.text.explanation import ClassWords, TextExplanation
    from bayeslearn.naive_bayes.text.results import TextFitInfo
    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics
    from bayeslearn.naive_bayes.text.text_calibration import TextCalibration
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary
    from bayeslearn.naive_bayes.text.word_weights import Weighting
    from bayeslearn.reports import Report

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

Likelihood = Literal["auto", "multinomial", "bernoulli", "complement"]
LIKELIHOODS = ("multinomial", "bernoulli", "complement")

#: Documents that are scored together.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class TextModel(codec.Saved, Fitted, Reported, kind="text", version=5):
    """A naive Bayes classifier of documents; :func:`~bayeslearn.naive_bayes.text.fit_text` fits one.

    Attributes
    ----------
    statistics
        Counts of documents and words of each class.
    tokenizer
        The rule that splits texts into tokens.
    likelihood
        ``"multinomial"``, ``"bernoulli"``, ``"complement"``, or ``"pooled"`` for those of the calibration.
    prior
        α of the words: a number for every word, a Dirichlet over the words, or a rule.
    class_prior
        The same for the classes, where 0 makes P(k) the fraction of documents; or a tuple of fixed probabilities.
    lineage
        The statistics of the models that this one was updated from.
    weighting, weight_norm
        What a document counts for, and whether the weights of each class have the sum 1
        (:mod:`~bayeslearn.naive_bayes.text.word_weights`).
    calibration
        Exponents of the scores and offsets of the classes, of held-out documents; None for the plain likelihood.
    """

    statistics: TextStatistics
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    likelihood: Likelihood = "multinomial"
    prior: float | Dirichlet | DirichletRule = 1.0
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0
    lineage: Lineage | None = None
    weighting: Weighting = "counts"
    weight_norm: bool = False
    calibration: TextCalibration | None = None

    def __post_init__(self) -> None:
        kinds = LIKELIHOODS if self.calibration is None else (*LIKELIHOODS, "pooled")
        object.__setattr__(self, "likelihood", validation.choice("likelihood", self.likelihood, kinds))
        object.__setattr__(self, "weighting", validation.choice("weighting", self.weighting, WEIGHTINGS))
        if self.weighting != "counts" and (self.statistics.normalized is None or self.likelihood == "bernoulli"):
            raise ParameterError(
                f"the weighting {self.weighting!r} needs the counts of normalized documents, not {self.likelihood}",
                hint="collect with normalized=True, and choose the multinomial or the complement likelihood",
            )
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
        """The words that the model counts."""
        return self.statistics.vocabulary

    @property
    def fit_info(self) -> TextFitInfo:
        """What the fit found out; only models that :func:`~bayeslearn.naive_bayes.text.fit_text` returned have it."""
        return super().fit_info

    @property
    def total_weight(self) -> float:
        """The weighted number of documents that the model is based on."""
        return float(self.statistics.documents.sum())

    # -- evidence adds

    def update(
        self,
        data: Any,
        target: Any = None,
        *,
        text: str | None = None,
        sample_weight: Any = None,
        forgetting_factor: float = 1.0,
    ) -> TextModel:
        """Return the model after more documents; documents without a label are dropped.

        Parameters
        ----------
        data, target, text, sample_weight
            As in :func:`~bayeslearn.naive_bayes.text.fit_text`; or :class:`TextStatistics`. New words and classes are
            added to the model.
        forgetting_factor
            The weight of what is known so far, from 0 to 1.
        """
        factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
        from bayeslearn.naive_bayes.text.fit import collected  # noqa: PLC0415 - it makes models

        new = collected(self, data, target, text, sample_weight)
        lineage = after_update(self.lineage, self.statistics, new, factor)
        return self._based_on(self.statistics * factor + new, lineage)

    def remove(self, data: Any, target: Any = None, *, text: str | None = None, sample_weight: Any = None) -> TextModel:
        """Return the model without some of its documents; parameters as in :meth:`update`."""
        from bayeslearn.naive_bayes.text.fit import collected  # noqa: PLC0415 - it makes models

        gone = collected(self, data, target, text, sample_weight, known_only=True)
        left = self.statistics - gone
        return self._based_on(left, without_rows(self.lineage, gone, left))

    def discount(self, forgetting_factor: float) -> TextModel:
        """Return the model with every document counting for `forgetting_factor` (0 to 1); the prior stays."""
        factor = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
        return self._based_on(self.statistics * factor, scaled(self.lineage, factor))

    def merge(self, other: TextModel) -> TextModel:
        """Return the model of the documents of both, the same as ``self + other``."""
        return self + other

    def __add__(self, other: TextModel) -> TextModel:
        """The model of the documents of both; documents of a base of both count once.

        It has the settings of the first, or those that more held-out documents selected.
        """
        if not isinstance(other, TextModel):
            return NotImplemented
        require_same(self, other)
        return with_more_evidence(self, other)._based_on(
            *merged(self.statistics, other.statistics, self.lineage, other.lineage)
        )

    def __sub__(self, other: TextModel) -> TextModel:
        """The model without the documents of another one, except for those of a base of both."""
        if not isinstance(other, TextModel):
            return NotImplemented
        require_same(self, other)
        return self._based_on(*separated(self.statistics, other.statistics, self.lineage, other.lineage))

    def _based_on(self, statistics: TextStatistics, lineage: Lineage | None) -> TextModel:
        """The model with other statistics; new words have the mean α of the others."""
        prior, n = self.prior, len(statistics.vocabulary)
        if isinstance(prior, Dirichlet) and len(prior.alpha) < n:
            mean = float(prior.alpha.mean()) if len(prior.alpha) else 1.0
            prior = Dirichlet(np.append(prior.alpha, np.full(n - len(prior.alpha), mean)))
        return replace(self, statistics=statistics, prior=prior, lineage=lineage)

    # -- parameters

    @cached_property
    def log_p_classes(self) -> NDArray[np.float64]:
        """ln P(k), shape (K,)."""
        return log_shares(self.statistics.documents, self.class_prior)

    @property
    def log_p_words(self) -> NDArray[np.float64]:
        """What one more unit of a word adds to the score of a class, shape (K, V); ln P(w|k) of the multinomial."""
        return self._logs[0].T

    @property
    def prior_alphas(self) -> NDArray[np.float64]:
        """α of the words: one number, or one for each."""
        return np.asarray(alphas(self.prior, len(self.vocabulary), "prior"))

    @cached_property
    def _logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with words first, (V, K), and what every document begins with, (K,)."""
        return model_weights(self)

    # -- answers

    def count(self, texts: Any) -> DocumentCounts:
        """The counts of the words of the vocabulary in texts."""
        return count(texts, self.tokenizer, self.vocabulary)[0]  # type: ignore[arg-type]

    def log_joint(self, documents: Any) -> NDArray[np.float64]:
        """ln P(k, document), shape (n, K), of counts or of texts; those of a source are read batch by batch."""
        source = folded_documents(documents)
        if source is not None:
            return np.concatenate([self.log_joint(batch.texts) for batch in source.batches()])
        if isinstance(documents, DocumentCounts):
            return self._log_joint_of_counts(documents)
        texts = Texts.of(documents)
        into = np.empty((len(texts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]

        def work(span: Any) -> int:
            column, begin, end, before = span
            piece = column.piece(begin, end, lower=self.tokenizer.lower)
            part = counted(piece, self.tokenizer, self.vocabulary)  # type: ignore[arg-type]
            values = entries(self.likelihood, self.weighting, part.indptr, part.counts)
            self._score(part.indptr, part.indices, values, 0, into[before : before + end - begin])
            return piece.mended

        warn_of_mended(sum(kernels.parallel(work, texts.spans())), len(texts))
        return into

    def _log_joint_of_counts(self, counts: DocumentCounts) -> NDArray[np.float64]:
        if counts.n_words != len(self.vocabulary):
            raise ShapeError(f"the counts have {counts.n_words:,} words, the model has {len(self.vocabulary):,}")
        into = np.empty((len(counts), len(self.classes)))
        into[:] = self.log_p_classes + self._logs[1]
        values = validation.lock(entries(self.likelihood, self.weighting, counts.indptr, counts.counts))
        kernels.parallel(
            lambda a: self._score(counts.indptr, counts.indices, values, a, into[a : a + BLOCK]),
            range(0, len(counts), BLOCK),
        )
        return into

    def _score(self, indptr: Any, indices: Any, values: Any, first: int, into: NDArray[np.float64]) -> None:
        indptr, indices, values = map(validation.lock, (indptr, indices, values))
        kernels.score_documents(indptr, indices, values, self._logs[0], first, into)

    def log_likelihood(self, documents: Any) -> NDArray[np.float64]:
        """Return ln P(document) of each document, up to the number of orders of its words.

        A model with calibration or normalized documents has that of the multinomial likelihood of its counts.
        """
        return np.asarray(logsumexp(generative(self).log_joint(documents), axis=1))

    def evaluate(self, data: Any, target: Any = None, *, text: str | None = None) -> Metrics:
        """Return accuracy, log loss and confusion on documents with labels.

        Parameters
        ----------
        data, target, text
            As in :func:`~bayeslearn.naive_bayes.text.fit_text`; documents without a label are dropped.
        """
        from bayeslearn.naive_bayes.text.evaluation import evaluate_text  # noqa: PLC0415 - it reads models
        from bayeslearn.naive_bayes.text.fit import labeled_texts  # noqa: PLC0415 - it makes models

        return evaluate_text(self, *labeled_texts(data, target, text))

    def score(self, data: Any, target: Any = None, *, text: str | None = None) -> float:
        """Return the accuracy on documents with labels; parameters as in :meth:`evaluate`."""
        return self.evaluate(data, target, text=text).accuracy

    def explain(self, text: Any, *, of: Any = None, against: Any = None) -> TextExplanation:
        """Return the log odds of each word of a text.

        Parameters
        ----------
        text
            A text, or a list with one text.
        of
            The class to explain; default: the most probable one.
        against
            The class to compare with; default: the most probable one of the others.
        """
        from bayeslearn.naive_bayes.text.explanation import explain_text  # noqa: PLC0415 - it reads models

        if not isinstance(text, str):
            texts = list(text)
            if len(texts) != 1:
                raise ShapeError(f"expected one text, got {len(texts)}", hint="explain one text at a time")
            text = texts[0]
        return explain_text(self, text, of, against)

    def explain_class(self, label: Any, *, max_results: int = 10) -> ClassWords:
        """Return the words that distinguish a class."""
        from bayeslearn.naive_bayes.text.explanation import explain_class  # noqa: PLC0415 - it reads models

        return explain_class(self, label, max_results)

    def predict_proba(self, documents: Any, *, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return P(class | document), an array (n, K), or a frame of `backend` with a column for each class."""
        p = np.asarray(softmax(possible(self.log_joint(documents)), axis=1))
        return probabilities(p, self.classes, backend)

    def predict(self, documents: Any) -> list[Any]:
        """Return the most probable class of each document, the first of equal ones."""
        best = possible(self.log_joint(documents)).argmax(axis=1)
        return [self.classes[k] for k in best.tolist()]

    # -- results

    def plot(self, label: Any = None, *, max_results: int = 10, ax: Any = None) -> Any:
        """Plot the words that distinguish a class, by default the first; see :func:`bayeslearn.plots.plot_words`."""
        return plots.plot_words(
            self.explain_class(self.classes[0] if label is None else label, max_results=max_results), ax=ax
        )

    def report(self) -> Report:
        """Return the classes, their documents and distinguishing words."""
        from bayeslearn.naive_bayes.text.results import report_of  # noqa: PLC0415 - it reads models

        return report_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return classes, words and settings as plain values."""
        from bayeslearn.naive_bayes.text.results import plain_model  # noqa: PLC0415 - it reads models

        return plain_model(self)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each distinguishing word of each class."""
        from bayeslearn.naive_bayes.text.results import frame_of_model  # noqa: PLC0415 - it reads models

        return frame_of_model(self, backend)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; see :mod:`bayeslearn.naive_bayes.text.serialization`."""
        from bayeslearn.naive_bayes.text.serialization import document_of  # noqa: PLC0415 - it makes models

        return document_of(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> TextModel:
        """Return the model of a document, all of which is checked."""
        from bayeslearn.naive_bayes.text.serialization import model_of  # noqa: PLC0415 - it makes models

        return model_of(reader, document)


### files of earlier versions


@codec.upgrade("text", 1)
def with_arrays_in_place(reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept all arrays apart from what they belong to, by their names."""
    parts = document.pop("parts", None)
    if not isinstance(parts, dict) or not isinstance(document.get("vocabulary"), dict):
        reader.wrong(f"its parts are {parts!r:.60}")
    present = ["present"] if document.pop("present", None) is True else []
    if document["vocabulary"].get("kind") == "words":
        document["vocabulary"] |= {key: parts.pop(key, None) for key in ("letters", "lengths")}
    for name in ("words", *present):
        document[name] = {key: parts.pop(f"{name}.{key}", None) for key in ("sizes", "classes", "values")}
    for name in ("prior", "class_prior"):
        own = {key: parts.pop(f"{name}.{key}") for key in ("alpha", "spread") if f"{name}.{key}" in parts}
        if isinstance(document.get(name), dict):
            document[name] = {key: value for key, value in {**document[name], **own}.items() if value is not None}
    return {"present": None, **document, "documents": parts.pop("documents", None), **parts}


codec.rename_keys("text", 2, {"tokeniser": "tokenizer"})


@codec.upgrade("text", 3)
def with_settings_of_today(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had other names of the settings of tokenizers."""
    given = document.get("tokenizer")
    if isinstance(given, dict) and set(given) == {"lower", "kind", "shortest", "ngrams"}:
        document["tokenizer"] = {
            "case_sensitive": given["lower"] is False if isinstance(given["lower"], bool) else given["lower"],
            "analyzer": given["kind"], "min_token_length": given["shortest"], "ngram_range": given["ngrams"],
        }  # fmt: skip
    return document


@codec.upgrade("text", 4)
def with_weighting(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 4 had counts as the only weighting, and no calibration."""
    return {**document, "normalized": None, "weighting": "counts", "weight_norm": False, "calibration": None}
