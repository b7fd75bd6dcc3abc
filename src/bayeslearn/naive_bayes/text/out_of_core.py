"""Learning from documents that stay where they are: a pass finds the words, one counts them, and one each step of EM.

    words        n_w = Σ_d n_dw            of all documents, with their classes
    evidence     documents_k, words_kw     of those with a label
    EM           expected words_kw         of those without

All of it adds, so the model is the same as in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import CapacityError, MissingValuesError
from bayeslearn.naive_bayes.text.document_counts import count
from bayeslearn.naive_bayes.text.em import Documents
from bayeslearn.naive_bayes.text.held_out import Sample, shares_of
from bayeslearn.naive_bayes.text.labels import in_order
from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics, collect
from bayeslearn.naive_bayes.text.vocabulary import Vocabulary, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, HashedVocabulary
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.source_protocol import Folded

#: Different words, and counts of words in classes, that are kept at most: about 2 GB of each.
MOST_WORDS, MOST_CELLS = 1 << 24, 1 << 28

#: Bytes of counts of documents without a label that are remembered between the steps of EM.
KEPT_BYTES = 1 << 27


### words


@dataclass(frozen=True, eq=False)
class Words:
    """The words of documents and how often each was seen; how many documents each class has, and no class at all."""

    vocabulary: Any
    totals: NDArray[np.float64]
    classes: Mapping[Any, int]
    unlabeled: int

    def __add__(self, other: Words) -> Words:
        both, where = self.vocabulary.joined(other.vocabulary)
        require_room(both)
        totals = np.pad(self.totals, (0, len(both) - len(self.totals)))
        totals[where] += other.totals
        classes = Counter(self.classes)
        classes.update(other.classes)
        return Words(both, totals, dict(classes), self.unlabeled + other.unlabeled)

    def only(self, **words: Any) -> AnyVocabulary:
        """The words worth keeping (:func:`~.vocabulary.chosen`)."""
        if not isinstance(self.vocabulary, Vocabulary) or not is_choice(words):
            return self.vocabulary
        return self.vocabulary.only(chosen(self.totals, **words))


def require_room(vocabulary: Any, n_classes: int = 1) -> None:
    """No more words than memory is likely to have."""
    n = len(vocabulary)
    if isinstance(vocabulary, Vocabulary) and (n > MOST_WORDS or n * n_classes > MOST_CELLS):
        raise CapacityError(
            f"the documents have too many different words to be kept: {n:,} so far, in {n_classes:,} classes",
            hint="keep frequent ones (min_count), hash them (n_hash_features=1 << 20), or name those that matter",
        )


def is_choice(words: dict[str, Any]) -> bool:
    """Whether some words are to be left out."""
    return words.get("min_count", 1) > 1 or bool(words.get("drop_top_words")) or words.get("max_features") is not None


@dataclass(frozen=True)
class FindWords:
    """Finds the words of a batch, of all documents or of those with a label, and counts them, perhaps by weight."""

    tokenizer: Tokenizer
    vocabulary: Vocabulary | HashedVocabulary | None
    labeled_only: bool = False
    weighed: bool = False

    def __call__(self, batch: DocumentBatch) -> Words:
        """Those of one batch."""
        known = batch.known
        asked = batch.take(known) if self.labeled_only else batch
        counts, found = count(asked.texts, self.tokenizer, self.vocabulary)
        totals = counts.totals
        if self.weighed and asked.sample_weight is not None:
            each = np.repeat(asked.sample_weight, np.diff(counts.indptr))
            totals = np.bincount(counts.indices, counts.counts * each, minlength=counts.n_words).astype(float)
        classes = Counter(label for label in batch.labels if label is not None)
        return Words(found, totals, dict(classes), int((~known).sum()))


### evidence


@dataclass(frozen=True, eq=False)
class Evidence:
    """The statistics of documents with a label; of the others how many there are, and how many words they have."""

    statistics: TextStatistics
    unlabeled: int
    words: float

    def __add__(self, other: Evidence) -> Evidence:
        unlabeled, words = self.unlabeled + other.unlabeled, self.words + other.words
        statistics = self.statistics + other.statistics
        require_room(statistics.vocabulary, len(statistics.classes))
        return Evidence(statistics, unlabeled, words)


@dataclass(frozen=True)
class CollectLabeled:
    """Collects the documents of a batch that have a label."""

    tokenizer: Tokenizer
    vocabulary: Any
    classes: tuple[Any, ...] | None
    tables: dict[str, bool]

    def __call__(self, batch: DocumentBatch) -> Evidence:
        """The evidence of one batch."""
        counts, found = count(batch.texts, self.tokenizer, self.vocabulary)
        known = batch.known
        labels = [label for label in batch.labels if label is not None]
        w, seen = batch.sample_weight, counts if known.all() else counts[known]
        statistics = collect(
            seen, labels, vocabulary=found, classes=self.classes, sample_weight=None if w is None else w[known],
            **self.tables,
        )  # fmt: skip
        lengths = counts.lengths[~known]
        return Evidence(statistics, len(lengths), float(lengths.sum() if w is None else w[~known] @ lengths))


def source_statistics(
    source: Folded[DocumentBatch], tokenizer: Tokenizer, vocabulary: Any, *, classes: Sequence[Any] | None = None,
    tables: dict[str, bool] | None = None, **words: Any,
) -> Evidence:  # fmt: skip
    """The statistics of documents with a label; where words are left out, a pass before finds out which."""
    if vocabulary is None and is_choice(words):
        vocabulary = source.fold(FindWords(tokenizer, None, weighed=True)).only(**words)
    given = None if classes is None else tuple(classes)
    found = source.fold(CollectLabeled(tokenizer, vocabulary, given, tables or {}))
    names = in_order(found.statistics.classes) if given is None else given
    return replace(found, statistics=found.statistics.with_classes(names))


def require_labeled(found: Evidence) -> Evidence:
    """The evidence, if every document has a label."""
    if found.unlabeled:
        raise MissingValuesError(
            f"{found.unlabeled:,} documents have no label", hint="leave them out, or learn from them too, by EM"
        )
    return found


@dataclass(frozen=True)
class SampleLabeled:
    """Collects the sample of documents with a label, by which variants are selected; all of them weigh `n`."""

    tokenizer: Tokenizer
    vocabulary: Any
    classes: tuple[Any, ...]
    n: float

    def __call__(self, batch: DocumentBatch) -> Sample:
        """Those of one batch."""
        known = batch.take(batch.known)
        counts = count(known.texts, self.tokenizer, self.vocabulary)[0]
        return Sample.of(counts, self.vocabulary, shares_of(known.labels, self.classes), known.sample_weight, self.n)


### EM


@dataclass(frozen=True, eq=False)
class SourceDocuments:
    """What EM learns from: the statistics of documents with labels are one batch, those of a source the others."""

    labeled: TextStatistics
    source: Folded[DocumentBatch]
    tokenizer: Tokenizer
    #: λ: what a document without a label weighs.
    weight: float
    #: Words of the documents without labels.
    words: float

    def fold(self, collected: Callable[[Documents], Any]) -> Any:
        """The sum over all of it."""
        vocabulary: Any = self.labeled.vocabulary
        known = collected(Documents(self.labeled, count([], self.tokenizer, vocabulary)[0], np.zeros(0)))
        return known + self.hidden.fold(collected)

    @cached_property
    def hidden(self) -> Folded[Documents]:
        """The counts of documents without a label, remembered where they fit: texts are split once for all steps."""
        return self.source.kept(CountHidden(self.tokenizer, self.labeled.vocabulary, self.weight), KEPT_BYTES)


@dataclass(frozen=True)
class CountHidden:
    """Counts the words of the documents of a batch that have no label."""

    tokenizer: Tokenizer
    vocabulary: Any
    weight: float

    def __call__(self, batch: DocumentBatch) -> Documents:
        """Of one batch."""
        hidden = batch.take(~batch.known)
        counts = count(hidden.texts, self.tokenizer, self.vocabulary)[0]
        w = np.ones(len(counts)) if hidden.sample_weight is None else hidden.sample_weight
        return Documents(None, counts, self.weight * w)


### judging


@dataclass(frozen=True)
class Right:
    """Weighs the documents that are classified right, and all that have a label."""

    model: TextModel

    def __call__(self, batch: DocumentBatch) -> NDArray[np.float64]:
        """Both of one batch."""
        asked = batch.take(batch.known)
        w = np.ones(len(asked)) if asked.sample_weight is None else asked.sample_weight
        told = self.model.predict(asked.texts)
        right = np.array([a == b for a, b in zip(told, asked.labels, strict=True)], dtype=bool)
        return np.array([w @ right, w.sum()])
