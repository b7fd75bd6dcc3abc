"""How good a text learner is: accuracy, what is taken for what, and how both grow with the number of documents.

Documents are split at random, class by class, so that each class keeps its share. Words are chosen anew from the
training documents of each split and each size: nothing of the test documents is seen before they are classified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ConstantColumnError, DataError, listed
from bayeslearn.evaluation import Metrics, stratified_split
from bayeslearn.naive_bayes.text.corpus import Corpus, as_corpus
from bayeslearn.naive_bayes.text.document_counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.held_out import Sample, shares_of
from bayeslearn.naive_bayes.text.sufficient_statistics import collect
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.variants import TextSettings
from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import Likelihood, TextModel

#: The textbook's way: tokens are what stands between spaces, Laplace's rule, frequent and rare words dropped.
TEXTBOOK: dict[str, Any] = {
    "tokenizer": Tokenizer(analyzer="spaces", min_token_length=1), "prior": 1.0, "min_count": 3, "drop_top_words": 100,
}  # fmt: skip
#: The sizes of its learning curve.
TEXTBOOK_SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)


### one evaluation


def evaluate_text(model: TextModel, texts: Corpus | Iterable[str], labels: Any = None) -> Metrics:
    """Classify documents whose class is known; those without a label are left out."""
    corpus = as_corpus(texts, labels).labeled()
    codes = corpus.codes(model.classes)
    if (codes < 0).any():
        strange = sorted({str(label) for label, k in zip(corpus.labels, codes, strict=True) if k < 0})
        raise DataError(
            f"the model does not know the classes {listed(strange)}; it has {listed(model.classes)}",
            hint="leave these documents out, or learn them too",
        )
    return judged(model, corpus.texts, codes)


def judged(model: TextModel, documents: Any, codes: NDArray[np.intp]) -> Metrics:
    """The evaluation of documents with the codes of their classes."""
    return Metrics.of(model.predict_proba(documents), codes, classes=model.classes)


### learning curves


@dataclass(frozen=True, eq=False)
class Point:
    """The result of a number of training documents: an evaluation, and a vocabulary, for each split."""

    size: int
    evaluations: tuple[Metrics, ...]
    words: tuple[int, ...]

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """The accuracy of each split."""
        return np.array([e.accuracy for e in self.evaluations])

    @property
    def accuracy(self) -> float:
        """Their mean."""
        return float(self.accuracies.mean())


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Accuracy by the number of training documents; the last point has all of them."""

    points: tuple[Point, ...]
    n_test: int

    @property
    def accuracy(self) -> float:
        """The mean accuracy of all training documents."""
        return self.points[-1].accuracy

    @property
    def evaluation(self) -> Metrics:
        """The evaluations of all training documents, added up over the splits."""
        first, *more = self.points[-1].evaluations
        return sum(more, first)


def learning_curve(
    texts: Corpus | Iterable[str],
    labels: Any = None,
    *,
    sizes: Sequence[int] = (),
    n_splits: int = 3,
    test_size: float = 1 / 3,
    prior: str | float | None = "evidence",
    tokenizer: Tokenizer | None = None,
    likelihood: Likelihood = "auto",
    min_count: float = 1,
    drop_top_words: int = 0,
    random_state: np.random.Generator | int | None = 0,
    progress: Callable[[float], object] | None = None,
) -> LearningCurve:
    """Hold out a share of each class and learn from the rest, at several sizes and for several random splits.

    Without `sizes` there is one point, of all training documents. The documents of a smaller size are among those of a
    larger one. The experiment of the textbook is ``learning_curve(corpus, sizes=TEXTBOOK_SIZES, **TEXTBOOK)``.
    """
    validation.integer("n_splits", n_splits, min_value=1)
    validation.number("test_size", test_size, above=0, below=1)
    corpus = as_corpus(texts, labels).labeled()
    classes = corpus.classes
    if len(classes) < 2:
        raise ConstantColumnError(f"all documents are of one class, {classes[0]!r}: there is nothing to classify")
    codes, generator = corpus.codes(classes), validation.generator(random_state)
    counts, vocabulary = count(corpus.texts, tokenizer or Tokenizer())
    settings = TextSettings(likelihood, prior=prior)
    learner = Learner(classes, vocabulary, settings, min_count, drop_top_words)
    orders = [stratified_split(codes, test_size, generator) for _ in range(n_splits)]
    n_train = len(orders[0][0])
    wanted = [*sorted({validation.integer("sizes", n, min_value=1) for n in sizes if n < n_train}), n_train]
    points = []
    for i, size in enumerate(wanted):
        found = []
        for j, (train, test) in enumerate(orders):
            found.append(learner.judge(counts, codes, train[:size], test))
            if progress is not None:
                progress((i * n_splits + j + 1) / (len(wanted) * n_splits))
        points.append(Point(size, *(tuple(column) for column in zip(*found, strict=True))))
    return LearningCurve(tuple(points), len(orders[0][1]))


@dataclass(frozen=True)
class Learner:
    """How models are learned, again and again, from counts of all words."""

    classes: tuple[Any, ...]
    vocabulary: AnyVocabulary
    settings: TextSettings
    min_count: float
    drop_top_words: int

    def judge(
        self, counts: DocumentCounts, codes: NDArray[np.intp], train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[Metrics, int]:
        """The metrics of documents by a model of others, and the number of words of the model."""
        known = counts[train]
        kept = chosen(known.totals, min_count=max(self.min_count, math.ulp(0)), drop_top_words=self.drop_top_words)
        known, words = known.only(kept), self.vocabulary.only(kept)  # type: ignore[union-attr]
        labels = [self.classes[k] for k in codes[train]]
        statistics = collect(known, labels, vocabulary=words, classes=self.classes, **self.settings.tables)
        model, _ = self.settings.model(statistics, Tokenizer())
        model, _ = self.settings.judged(
            model, lambda: Sample.of(known, words, shares_of(labels, self.classes), None, len(known))
        )
        return judged(model, counts[test].only(kept), codes[test]), len(kept)
