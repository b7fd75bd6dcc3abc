"""Documents that judge variants: held out by taking their counts from the sums of all documents.

    scores of fold f  =  weights of (all counts − counts of fold f)  on the documents of fold f

A document goes to its fold, and into the sample of a large corpus, by a hash of its words: the order of documents does
not matter, copies of a document are held out together, and a document of weight 2 is a document that is there twice.
Words that no other document has are unknown to the fold, as new words are to the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts
from bayeslearn.naive_bayes.text.sufficient_statistics import collect
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, Vocabulary
from bayeslearn.naive_bayes.text.word_weights import entries, word_logs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics

    Floats = NDArray[np.float64]

N_FOLDS = 5
#: Documents below which nothing is selected, documents that are sampled of more, and their scores at most.
MIN_DOCUMENTS, MAX_DOCUMENTS, MAX_SCORES = 20, 3000, 1 << 22
#: Multipliers of the hash (splitmix64), and the part of a count that matters.
MIX = tuple(np.uint64(m) for m in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
GRAIN = float(1 << 20)


### a sample of documents


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents with labels: counts, the share of each class (n, K), weights, and a hash of each document."""

    counts: DocumentCounts
    shares: Floats
    sample_weight: Floats
    keys: NDArray[np.uint64]

    @classmethod
    def of(
        cls, counts: DocumentCounts, vocabulary: Any, shares: Floats, sample_weight: Floats | None, n: float,
        *, totals: Floats | None = None,
    ) -> Sample:  # fmt: skip
        """Those of `n` documents that are in the sample; columns of a matrix are known by their `totals`."""
        keys = document_keys(counts, word_keys(vocabulary, totals))
        taken = keys <= np.uint64(min(sampled(n, shares.shape[1]), 1.0) * float(2**64 - 2**11))
        w = np.ones(len(counts)) if sample_weight is None else np.asarray(sample_weight, float)
        taken &= w > 0
        return cls(counts[taken], shares[taken], w[taken], keys[taken])

    def __add__(self, other: Sample) -> Sample:
        """The documents of both, of one vocabulary."""
        a, b = self.counts, other.counts
        counts = DocumentCounts.trusted(
            np.concatenate([a.indptr, a.indptr[-1] + b.indptr[1:]]), np.concatenate([a.indices, b.indices]),
            np.concatenate([a.counts, b.counts]), a.n_words,
        )  # fmt: skip
        rest = [
            np.concatenate([getattr(x, name) for x in (self, other)]) for name in ("shares", "sample_weight", "keys")
        ]
        return Sample(counts, *rest)

    @property
    def codes(self) -> NDArray[np.intp]:
        """The class of each document, the first of equal shares."""
        return self.shares.argmax(axis=1)

    def ordered(self) -> Sample:
        """The documents by class and hash."""
        order = np.lexsort((self.keys, self.codes))
        return Sample(self.counts[order], self.shares[order], self.sample_weight[order], self.keys[order])


def sampled(n: float, n_classes: int) -> float:
    """The share of `n` documents that is sampled."""
    most = min(MAX_DOCUMENTS, max(MAX_SCORES // max(n_classes, 1), MIN_DOCUMENTS))
    return most / max(n, 1.0)


def shares_of(labels: Sequence[Any] | Floats, classes: tuple[Any, ...]) -> Floats:
    """Labels as shares (n, K)."""
    if getattr(labels, "ndim", 1) == 2:
        return np.asarray(labels, float)
    place = {name: k for k, name in enumerate(classes)}
    return np.eye(len(classes))[[place[label] for label in labels]].reshape(-1, len(classes))


def word_keys(vocabulary: Any, totals: Floats | None = None) -> NDArray[np.uint64]:
    """A hash of each word; of its total or its position where words are not known."""
    if isinstance(vocabulary, ColumnVocabulary) and totals is not None:
        return mixed(np.round(totals * GRAIN).astype(np.uint64))
    if not isinstance(vocabulary, Vocabulary):
        return mixed(np.arange(1, len(vocabulary) + 1, dtype=np.uint64))
    table = vocabulary.lexicon.table
    used = table[table[:, 1] != 0]
    keys = np.zeros(len(vocabulary), np.uint64)
    keys[(used[:, 1] & np.uint64(2**32 - 1)).astype(np.intp) - 1] = used[:, 0]
    return mixed(keys)


def document_keys(counts: DocumentCounts, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each document: the sum of those of its words, whatever their order."""
    n = counts.counts if counts.counts.dtype.kind == "i" else np.round(counts.counts * GRAIN)
    parts = words[counts.indices] * n.astype(np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
    return mixed(sums[counts.indptr[1:]] - sums[counts.indptr[:-1]])


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys spread over all numbers of 64 bits."""
    keys = keys + MIX[0]
    keys = (keys ^ (keys >> np.uint64(30))) * MIX[1]
    keys = (keys ^ (keys >> np.uint64(27))) * MIX[2]
    return keys ^ (keys >> np.uint64(31))


### folds


@dataclass(frozen=True, eq=False)
class Fold:
    """Held-out documents with the words that others have, and the sums of all other documents."""

    rows: NDArray[np.intp]
    counts: DocumentCounts
    documents: Floats
    #: Positions of the words of these documents.
    words: NDArray[np.intp]
    #: Their sums (V, K) and those of all words (K,), by table.
    sums: dict[str, Floats]
    totals: dict[str, Floats]
    #: Σ_v n_v of the documents outside the fold.
    statistics: TextStatistics

    def scores(self, likelihood: str, weighting: str, alpha: Any) -> Floats:
        """The score of each class (n, K), without the classes."""
        name = "words" if weighting == "counts" else "normalized"
        size, by_word = len(self.statistics.vocabulary), np.ndim(alpha) > 0
        strength = alpha.sum() if by_word else alpha * size
        logs = word_logs(
            likelihood, self.sums[name], self.totals[name], alpha[self.words] if by_word else alpha, strength
        )
        if weighting == "tf_idf":
            n = self.sums[name].sum(axis=1)
            logs *= np.log(self.totals[name].sum() / n)[:, None]
        found = np.zeros((len(self.counts), len(self.documents)))
        values = validation.lock(entries(likelihood, weighting, self.counts.indptr, self.counts.counts))
        kernels.score_documents(self.counts.indptr, self.counts.indices, values, logs, 0, found)
        return found


def held_out_folds(statistics: TextStatistics, sample: Sample) -> Iterator[Fold]:
    """The folds of an ordered sample; classes without other documents are left out of theirs."""
    codes, keys = sample.codes, sample.keys
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    fold = (np.cumsum(new) - 1) % N_FOLDS
    tables = {name: table.T for name, table in statistics.tables().items() if name != "present"}
    totals = {name: table.sum(axis=0) for name, table in tables.items()}
    for f in range(N_FOLDS):
        rows = np.flatnonzero(fold == f)
        counts = sample.counts[rows]
        words = np.unique(counts.indices).astype(np.intp)
        own = counts.only(words)
        seen = collect(
            own, sample.shares[rows], classes=statistics.classes, sample_weight=sample.sample_weight[rows],
            normalized="normalized" in tables,
        )  # fmt: skip
        documents = statistics.documents - seen.documents
        judged = documents[codes[rows]] > 1e-9
        theirs = {name: np.maximum(table[words] - getattr(seen, name).T, 0.0) for name, table in tables.items()}
        known = np.flatnonzero(theirs["words"].sum(axis=1) > 1e-9)
        yield Fold(
            rows[judged], own.only(known)[judged], np.maximum(documents, 0.0), words[known],
            {name: np.ascontiguousarray(table[known]) for name, table in theirs.items()},
            {name: totals[name] - getattr(seen, name).sum(axis=1) for name in tables}, statistics,
        )  # fmt: skip
