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
from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.evidence import KINDS, Chosen, pick_prior
from bayeslearn.naive_bayes.text.expecting import Documents, climbed
from bayeslearn.naive_bayes.text.labels import in_order
from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
from bayeslearn.naive_bayes.text.out_of_core import FindWords, SourceDocuments, source_statistics
from bayeslearn.naive_bayes.text.statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.text_sources import folded_documents
from bayeslearn.naive_bayes.text.tokens import Tokeniser
from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, Hashed, Vocabulary, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn import em
    from bayeslearn.distributions import Dirichlet, DirichletRule
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.folded import Folded


@dataclass(frozen=True, repr=False)
class LearnedText:
    """A model of texts, and how it came to be."""

    model: TextModel
    #: The prior that the evidence chose; None where it was given.
    chosen: Chosen | None
    #: How EM went; None where every document that was used has a label.
    climb: em.Result[Any] | None
    n_labelled: int
    n_unlabelled: int

    def __repr__(self) -> str:
        more = f" + {self.n_unlabelled} without" if self.n_unlabelled else ""
        return f"LearnedText({self.model!r}, {self.n_labelled} labelled{more})"


def learn_text(
    texts: Corpus | Folded[DocumentBatch] | Iterable[str],
    labels: Any = None,
    *,
    prior: str | float | Dirichlet | DirichletRule = "evidence",
    tokeniser: Tokeniser | None = None,
    vocabulary: Vocabulary | Hashed | None = None,
    likelihood: Likelihood = "multinomial",
    class_prior: float | Dirichlet | DirichletRule | tuple[float, ...] = 0.0,
    classes: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
    unlabelled: float = 1.0,
    min_count: float = 1,
    drop_top: int = 0,
    max_size: int | None = None,
    max_iter: int = 100,
    counting: Callable[[float], object] | None = None,
    progress: Callable[[em.Step], object] | None = None,
) -> LearnedText:
    """Learn to classify texts; documents without a label help.

    Parameters
    ----------
    texts, labels
        Documents and their classes, a :class:`Corpus`, or a source (:func:`scan_texts`), which has its labels with it.
        A label of None, NaN, ``?`` or nothing is missing. Labels may be shares (n, K) of `classes` instead; a row
        without any share, or with a NaN, is missing.
    prior
        ``evidence``, ``symmetric``, ``background`` or ``words`` are chosen as
        :mod:`bayeslearn.naive_bayes.text.evidence` says; a number or a Dirichlet is taken as it is.
    unlabelled
        λ: what a document without a label weighs.
    min_count, drop_top, max_size
        Which words are kept, by how often all documents hold them.
    counting
        Called with the share of the documents whose words have been counted.
    progress
        Called with every step of EM; raising StopIteration ends it with the best model so far.
    """
    validation.number("unlabelled", unlabelled, least=0, most=1)
    validation.integer("max_iter", max_iter, least=1)
    if isinstance(prior, str):
        validation.choice("prior", prior, KINDS)
    tokeniser = tokeniser or Tokeniser()
    words: dict[str, Any] = {"min_count": min_count, "drop_top": drop_top, "max_size": max_size}
    given: dict[str, Any] = {"classes": classes, "unlabelled": unlabelled, "present": likelihood == "bernoulli"}
    source = folded_documents(texts, labels=labels, weights=weights)
    if source is not None:
        ready = Ready.of_source(source, tokeniser, vocabulary, words, **given)
    else:
        ready = Ready.of(texts, labels, tokeniser, vocabulary, words, **given, weights=weights, counting=counting)
    picked = pick_prior(ready.evidence, prior, likelihood) if isinstance(prior, str) else None
    alpha = prior if picked is None else picked[0]
    model = TextModel(ready.evidence, tokeniser, likelihood, alpha, class_prior)  # type: ignore[arg-type]
    if not ready.n_unlabelled:
        return LearnedText(model, picked and picked[1], None, ready.n_labelled, 0)
    climb = climbed(model, ready.hidden, max_iter=max_iter, progress=progress)
    return LearnedText(climb.model.model, picked and picked[1], climb, ready.n_labelled, ready.n_unlabelled)


### what is counted


@dataclass(frozen=True, eq=False)
class Ready:
    """The statistics of documents with a label, and the documents without one."""

    evidence: TextStatistics
    hidden: Documents | SourceDocuments
    n_labelled: int
    n_unlabelled: int

    @classmethod
    def of(
        cls, texts: Any, labels: Any, tokeniser: Tokeniser, vocabulary: Vocabulary | Hashed | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabelled: float, present: bool,
        weights: ArrayLike | None, counting: Callable[[float], object] | None,
    ) -> Ready:  # fmt: skip
        """Those in memory."""
        told = Told.of(texts, labels, classes, weights)
        counts, found = counted(told.texts if unlabelled else told.only_known(), tokeniser, vocabulary, words, counting)
        known, unknown = (counts[told.known], counts[~told.known]) if unlabelled else (counts, counts[:0])
        w = told.weights[told.known]
        evidence = collect(known, told.labels, vocabulary=found, classes=told.classes, weights=w, present=present)
        hidden = Documents(evidence, unknown, unlabelled * told.weights[~told.known] if unlabelled else np.zeros(0))
        return cls(evidence, hidden, len(known), len(unknown))

    @classmethod
    def of_source(
        cls, source: Folded[DocumentBatch], tokeniser: Tokeniser, vocabulary: Vocabulary | Hashed | None,
        words: dict[str, Any], *, classes: Sequence[Any] | None, unlabelled: float, present: bool,
    ) -> Ready:  # fmt: skip
        """Those of a source."""
        seen = source.fold(FindWords(tokeniser, vocabulary, labelled_only=not unlabelled))
        names = in_order(list(seen.classes)) if classes is None else tuple(classes)
        labelled = sum(seen.classes.values())
        require_classes(labelled, labelled + seen.unlabelled, names)
        found = seen.only(**words)
        if not len(found) or not seen.totals.any():
            raise no_words(labelled + seen.unlabelled)
        evidence = source_statistics(source, tokeniser, found, classes=names, present=present)
        hidden = SourceDocuments(evidence.statistics, source, tokeniser, unlabelled, unlabelled * evidence.words)
        return cls(evidence.statistics, hidden, labelled, seen.unlabelled if unlabelled else 0)


### what is told


@dataclass(frozen=True, eq=False)
class Told:
    """Documents, which of them have a label, and the labels (or shares) of those."""

    texts: Sequence[str]
    known: NDArray[np.bool_]
    labels: Any
    classes: tuple[Any, ...]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Any, labels: Any, classes: Sequence[Any] | None, weights: ArrayLike | None) -> Told:
        """Documents and labels, checked."""
        shares = labels is not None and np.ndim(labels) == 2
        corpus = as_corpus(texts, None if shares else labels)
        w = validation.weights(weights, len(corpus))
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


def require_classes(labelled: int, n: int, classes: Sequence[Any]) -> None:
    """There are labels, of two classes at least."""
    if not labelled:
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
    tokeniser: Tokeniser,
    vocabulary: Vocabulary | Hashed | None,
    words: dict[str, Any],
    progress: Callable[[float], object] | None = None,
) -> tuple[DocumentCounts, AnyVocabulary]:
    """Counts of the words worth keeping; none at all is an error."""
    counts, found = count(texts, tokeniser, vocabulary, **(words if vocabulary is None else {}), progress=progress)
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
