"""Documents with labels that an estimator learns from: counted in memory, or in a source that is read again.

Both answer two questions about the words that the model keeps: what are the sums, and which documents judge variants?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.naive_bayes.text.document_counts import DocumentCounts
from bayeslearn.naive_bayes.text.held_out import Sample, shares_of
from bayeslearn.naive_bayes.text.labels import listed_labels
from bayeslearn.naive_bayes.text.out_of_core import SampleLabeled, source_statistics
from bayeslearn.naive_bayes.text.sufficient_statistics import collect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.source_protocol import Folded


@dataclass(frozen=True, eq=False)
class CountedBatch:
    """Counts in memory with their labels."""

    counts: DocumentCounts
    vocabulary: Any
    labels: Any
    sample_weight: NDArray[np.float64] | None

    def statistics(self, like: TextStatistics, tables: dict[str, bool]) -> TextStatistics:
        """The sums of the words and classes of others."""
        return collect(
            self._within(like.vocabulary), self.labels, vocabulary=like.vocabulary, classes=like.classes,
            sample_weight=self.sample_weight, **tables,
        )  # fmt: skip

    def sample(self, like: TextStatistics) -> Sample:
        """The documents that judge."""
        labels = self.labels if np.ndim(self.labels) == 2 else listed_labels(self.labels)
        shares = shares_of(labels, like.classes)
        counts = self._within(like.vocabulary)
        n = len(counts) if self.sample_weight is None else float(np.sum(self.sample_weight))
        totals = like.words.sum(axis=0)
        return Sample.of(counts, like.vocabulary, shares, self.sample_weight, n, totals=totals)

    def _within(self, vocabulary: Any) -> DocumentCounts:
        """The counts of the words of another vocabulary."""
        if self.vocabulary is vocabulary or type(vocabulary) is not type(self.vocabulary):
            return self.counts
        where = vocabulary.joined(self.vocabulary)[1]
        known = np.flatnonzero(where < len(vocabulary))
        kept = self.counts.only(known)
        return DocumentCounts.trusted(kept.indptr, where[known][kept.indices], kept.counts, len(vocabulary))


@dataclass(frozen=True, eq=False)
class SourceBatch:
    """The documents of a source that have a label."""

    source: Folded[DocumentBatch]
    tokenizer: Tokenizer
    #: The weight of its documents.
    weight: float

    def statistics(self, like: TextStatistics, tables: dict[str, bool]) -> TextStatistics:
        """The sums of the words and classes of others."""
        found = source_statistics(
            self.source, self.tokenizer, like.vocabulary, classes=like.classes, tables=tables
        )  # fmt: skip
        return found.statistics

    def sample(self, like: TextStatistics) -> Sample:
        """The documents that judge."""
        return self.source.fold(SampleLabeled(self.tokenizer, like.vocabulary, like.classes, self.weight))
