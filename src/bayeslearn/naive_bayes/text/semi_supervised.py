"""Learning from documents with labels and without: a prior by evidence, then EM.

    E   a document without a label belongs to class k with P(k | document)
    M   its words count for the class by that share, times λ

λ = 1 takes every document for one document; 0 leaves those without a label out. EM itself is in :mod:`~.expecting`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ConstantColumnError, EmptyTableError, MissingValuesError, ParameterError
from bayeslearn.naive_bayes.text.corpus import Corpus, as_corpus
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.em import Documents, climbed
from bayeslearn.naive_bayes.text.labels import in_order
from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
from bayeslearn.naive_bayes.text.out_of_core import FindWords, SourceDocuments, source_statistics
from bayeslearn.naive_bayes.text.prior_selection import Chosen, pick_prior, require_prior_word
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, HashedVocabulary, Vocabulary, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn import em
    from bayeslearn.distributions import Dirichlet, DirichletRule
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.source_protocol import Folded


@dataclass(frozen=True, repr=False)
class TextFitInfo:
    """A model of texts, and how it came to be."""

    model: TextModel
    #: The prior that the evidence chose; None where it was given.
    chosen: Chosen | None
    #: How EM went; None where every document that was used has a label.
    climb: em.EMResult[Any] | None
    n_labeled: int
    n_unlabeled: int

    def __repr__(self) -> str:
        more = f" + {self.n_unlabeled} without" if self.n_unlabeled else ""
        return f"TextFitInfo({self.model!r}, {self.n_labeled} labeled{more})"


def learn_text(
    texts: Corpus | Folded[DocumentBatch] | Iterable[str],
    labels: Any = None,
    *,
    prior: str | float | Dirichlet | DirichletRule | None = "evidence",
    tokenizer: Tokenizer | None = None,
    vocabulary: Vocabulary | HashedVocabulary | None = None,
    likelihood: Likelihood = "multinomial",
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0,
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    unlabeled: float = 1.0,
    min_count: float = 1,
    drop_top: int = 0,
    max_size: int | None = None,
    max_iter: int = 100,
    counting: Callable[[float], object] | None = None,
    progress: ProgressCallback | None = None,
) -> TextFitInfo:
    """Learn to classify texts; documents without a label help.

    Parameters
    ----------
    texts, labels
        Documents and their classes, a :class:`Corpus`, or a source (:func:`scan_texts`), which has its labels with it.
        A label of None, NaN, ``?`` or nothing is missing. Labels may be shares (n, K) of `classes` instead; a row
        without any share, or with a NaN, is missing.
    prior
        ``evidence``, ``symmetric``, ``background`` or ``words`` are chosen as
        :mod:`bayeslearn.naive_bayes.text.prior_selection` describes; ``laplace``, ``m:2``, ... as everywhere, None for
        no prior; a number or a Dirichlet is taken as it is.
    unlabeled
        λ: what a document without a label weighs.
    min_count, drop_top, max_size
        Which words are kept, by how often all documents hold them.
    counting
        Called with the share of the documents whose words have been counted.
    progress
        Called with every step of EM; raising StopIteration ends it with the best model so far.
    """
    validation.number("unlabeled", unlabeled, min_value=0, max_value=1)
    validation.integer("max_iter", max_iter, min_value=1)
    if isinstance(prior, str):
        require_prior_word(prior)
    tokenizer = tokenizer or Tokenizer()
    words: dict[str, Any] = {"min_count": min_count, "drop_top": drop_top, "max_size": max_size}
    given: dict[str, Any] = {"classes": classes, "unlabeled": unlabeled, "present": likelihood == "bernoulli"}
    source = folded_documents(texts, labels=labels, sample_weight=sample_weight)
    if source is not None:
        ready = Ready.of_source(source, tokenizer, vocabulary, words, **given)
    else:
        ready = Ready.of(
            texts, labels, tokenizer, vocabulary, words, **given, sample_weight=sample_weight, counting=counting
        )
    alpha, picked = pick_prior(ready.evidence, prior, likelihood)
    model = TextModel(ready.evidence, tokenizer, likelihood, alpha, class_prior)
    if not ready.n_unlabeled:
        return TextFitInfo(model, picked, None, ready.n_labeled, 0)
    climb = climbed(model, ready.hidden, max_iter=max_iter, progress=progress)
    return TextFitInfo(climb.model.model, picked, climb, ready.n_labeled, ready.n_unlabeled)


### what is counted


@dataclass(frozen=True, eq=False)
class Ready:
    """The statistics of documents with a label, and the documents without one."""

    evidence: TextStatistics
    hidden: Documents | SourceDocuments
    n_labeled: int
    n_unlabeled: int

    @classmethod
    def of(
        cls, texts: Any, labels: Any, tokenizer: Tokenizer, vocabulary: Vocabulary | HashedVocabulary | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabeled: float, present: bool,
        sample_weight: ArrayLike | None, counting: Callable[[float], object] | None,
    ) -> Ready:  # fmt: skip
        """Those in memory."""
        told = Told.of(texts, labels, classes, sample_weight)
        counts, found = counted(told.texts if unlabeled else told.only_known(), tokenizer, vocabulary, words, counting)
        known, unknown = (counts[told.known], counts[~told.known]) if unlabeled else (counts, counts[:0])
        w = told.sample_weight[told.known]
        evidence = collect(known, told.labels, vocabulary=found, classes=told.classes, sample_weight=w, present=present)
        hidden = Documents(evidence, unknown, unlabeled * told.sample_weight[~told.known] if unlabeled else np.zeros(0))
        return cls(evidence, hidden, len(known), len(unknown))

    @classmethod
    def of_source(
        cls, source: Folded[DocumentBatch], tokenizer: Tokenizer, vocabulary: Vocabulary | HashedVocabulary | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabeled: float, present: bool,
    ) -> Ready:  # fmt: skip
        """Those of a source."""
        seen = source.fold(FindWords(tokenizer, vocabulary, labeled_only=not unlabeled))
        names = in_order(list(seen.classes)) if classes is None else tuple(classes)
        labeled = sum(seen.classes.values())
        require_classes(labeled, labeled + seen.unlabeled, names)
        found = seen.only(**words)
        if not len(found) or not seen.totals.any():
            raise no_words(labeled + seen.unlabeled)
        evidence = source_statistics(source, tokenizer, found, classes=names, present=present)
        hidden = SourceDocuments(evidence.statistics, source, tokenizer, unlabeled, unlabeled * evidence.words)
        return cls(evidence.statistics, hidden, labeled, seen.unlabeled if unlabeled else 0)


### what is told


@dataclass(frozen=True, eq=False)
class Told:
    """Documents, which of them have a label, and the labels (or shares) of those."""

    texts: Sequence[str]
    known: NDArray[np.bool_]
    labels: Any
    classes: tuple[Any, ...]
    sample_weight: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Any, labels: Any, classes: Sequence[Any] | None, sample_weight: ArrayLike | None) -> Told:
        """Documents and labels, checked."""
        shares = labels is not None and np.ndim(labels) == 2
        corpus = as_corpus(texts, None if shares else labels)
        w = validation.weights(sample_weight, len(corpus))
        if shares:
            table = validation.float_array("labels", labels)
            if classes is None:
                raise ParameterError("labels that are shares need `classes`, a name for each column")
            known = np.isfinite(table).all(axis=1) & (table.sum(axis=1) > 0)
            names = tuple(classes)
            given: Any = table[known]
        else:
            known = np.array([label is not None for label in corpus.labels], dtype=bool)
            given = [label for label in corpus.labels if label is not None]
            names = tuple(classes) if classes is not None else corpus.classes
        require_classes(int(known.sum()), len(corpus), names)
        return cls(corpus.texts, known, given, names, w)

    def only_known(self) -> list[str]:
        """The documents that have a label."""
        return [text for text, known in zip(self.texts, self.known, strict=True) if known]


def require_classes(labeled: int, n: int, classes: Sequence[Any]) -> None:
    """There are labels, of two classes at least."""
    if not labeled:
        raise MissingValuesError(
            f"none of the {n} documents has a label", hint="label a few of each class, or name the column of labels"
        )
    if len(classes) < 2:
        raise ConstantColumnError(
            f"all documents with a label are of one class, {classes[0]!r}: there is nothing to tell apart",
            hint="add documents of another class",
        )


def counted(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary | HashedVocabulary | None,
    words: dict[str, Any],
    progress: Callable[[float], object] | None = None,
) -> tuple[DocumentCounts, AnyVocabulary]:
    """Counts of the words worth keeping; none at all is an error."""
    counts, found = count(texts, tokenizer, vocabulary, **(words if vocabulary is None else {}), progress=progress)
    if vocabulary is not None and isinstance(found, Vocabulary) and words != {
        "min_count": 1, "drop_top": 0, "max_size": None,
    }:  # fmt: skip
        kept = chosen(counts.totals, **words)
        counts, found = counts.only(kept), found.only(kept)
    if not len(found) or not len(counts.indices):
        raise no_words(len(counts))
    return counts, found


def no_words(documents: int) -> EmptyTableError:
    """Nothing to learn from."""
    return EmptyTableError(
        f"no word is left in {documents} documents", hint="lower `min_count` and `drop_top`, or look at the texts"
    )
