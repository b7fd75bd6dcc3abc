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
from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
from bayeslearn.naive_bayes.text.statistics import collect
from bayeslearn.naive_bayes.text.tokens import Tokeniser
from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, Hashed, Vocabulary, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn import em
    from bayeslearn.families import Dirichlet, DirichletRule


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
    texts: Corpus | Iterable[str],
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
        Documents and their classes, or a :class:`Corpus`. A label of None, NaN, ``?`` or nothing is missing. Labels may
        be shares (n, K) of `classes` instead; a row without any share, or with a NaN, is missing.
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
    told = Told.of(texts, labels, classes, weights)
    words: dict[str, Any] = {"min_count": min_count, "drop_top": drop_top, "max_size": max_size}
    counts, found = counted(told.texts if unlabelled else told.only_known(), tokeniser, vocabulary, words, counting)
    if unlabelled:
        known, unknown = counts[told.known], counts[~told.known]
    else:
        known, unknown = counts, counts[:0]
    evidence = collect(
        known,
        told.labels,
        vocabulary=found,
        classes=told.classes,
        weights=told.weights[told.known],
        present=likelihood == "bernoulli",
    )
    picked = pick_prior(evidence, prior, likelihood) if isinstance(prior, str) else None
    given = prior if picked is None else picked[0]
    model = TextModel(evidence, tokeniser, likelihood, given, class_prior)  # type: ignore[arg-type]
    if not len(unknown):
        return LearnedText(model, picked and picked[1], None, len(known), 0)
    source = Documents(evidence, unknown, unlabelled * told.weights[~told.known])
    climb = climbed(model, source, max_iter=max_iter, progress=progress)
    return LearnedText(climb.model.model, picked and picked[1], climb, len(known), len(unknown))


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
        cls._require_classes(int(known.sum()), len(corpus), names)
        return cls(corpus.texts, known, given, names, w)

    @staticmethod
    def _require_classes(labelled: int, n: int, classes: Sequence[Any]) -> None:
        if not labelled:
            raise MissingValuesError(
                f"none of the {n} documents has a label", hint="label a few of each class, or name the column of labels"
            )
        if len(classes) < 2:
            raise ConstantColumnError(
                f"all documents with a label are of one class, {classes[0]!r}: there is nothing to tell apart",
                hint="add documents of another class",
            )

    def only_known(self) -> list[str]:
        """The documents that have a label."""
        return [text for text, known in zip(self.texts, self.known, strict=True) if known]


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
        raise EmptyTableError(
            f"no word is left in {len(counts)} documents", hint="lower `min_count` and `drop_top`, or look at the texts"
        )
    return counts, found
