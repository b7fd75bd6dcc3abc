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
from bayeslearn.errors import ConstantColumnError, DataError, MissingValuesError, listed
from bayeslearn.evaluation import Metrics
from bayeslearn.naive_bayes.text.corpus import Corpus, as_corpus
from bayeslearn.naive_bayes.text.counts import DocumentCounts, count
from bayeslearn.naive_bayes.text.evidence import pick_prior
from bayeslearn.naive_bayes.text.model import Likelihood, TextModel
from bayeslearn.naive_bayes.text.statistics import collect
from bayeslearn.naive_bayes.text.tokens import Tokeniser
from bayeslearn.naive_bayes.text.vocabulary import Columns, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

#: The textbook's way: tokens are what stands between spaces, Laplace's rule, frequent and rare words dropped.
TEXTBOOK: dict[str, Any] = {
    "tokeniser": Tokeniser(kind="spaces", shortest=1), "prior": 1.0, "min_count": 3, "drop_top": 100,
}  # fmt: skip
#: The sizes of its learning curve.
TEXTBOOK_SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)


### one evaluation


def evaluate_text(model: TextModel, texts: Corpus | Iterable[str], labels: Any = None) -> Metrics:
    """Classify documents whose class is known; those without a label are left out."""
    corpus = as_corpus(texts, labels).labelled()
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
    joint = model.log_joint(documents)
    top = joint.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        model.posterior(documents)  # says which document is impossible
    p = np.exp(joint - top)
    return Metrics.of(p / p.sum(axis=1, keepdims=True), codes, classes=model.classes)


### learning curves


@dataclass(frozen=True, eq=False)
class Point:
    """What so many training documents are worth: an evaluation, and a vocabulary, for each split."""

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
    splits: int = 3,
    share: float = 2 / 3,
    prior: str | float = "evidence",
    tokeniser: Tokeniser | None = None,
    likelihood: Likelihood = "multinomial",
    min_count: float = 1,
    drop_top: int = 0,
    rng: np.random.Generator | int | None = 0,
    progress: Callable[[float], object] | None = None,
) -> LearningCurve:
    """Learn from a share of each class and classify the rest, at several sizes and for several random splits.

    Without `sizes` there is one point, of all training documents. The documents of a smaller size are among those of a
    larger one. The experiment of the textbook is ``learning_curve(corpus, sizes=TEXTBOOK_SIZES, **TEXTBOOK)``.
    """
    validation.integer("splits", splits, least=1)
    validation.number("share", share, above=0, below=1)
    corpus = as_corpus(texts, labels).labelled()
    classes = corpus.classes
    if len(classes) < 2:
        raise ConstantColumnError(f"all documents are of one class, {classes[0]!r}: there is nothing to tell apart")
    codes, generator = corpus.codes(classes), validation.generator(rng)
    counts, _ = count(corpus.texts, tokeniser or Tokeniser())
    learner = Learner(classes, prior, likelihood, min_count, drop_top)
    orders = [split(codes, share, generator) for _ in range(splits)]
    n_train = len(orders[0][0])
    wanted = [*sorted({validation.integer("sizes", n, least=1) for n in sizes if n < n_train}), n_train]
    points = []
    for i, size in enumerate(wanted):
        found = []
        for j, (train, test) in enumerate(orders):
            found.append(learner.judge(counts, codes, train[:size], test))
            if progress is not None:
                progress((i * splits + j + 1) / (len(wanted) * splits))
        points.append(Point(size, *(tuple(column) for column in zip(*found, strict=True))))
    return LearningCurve(tuple(points), len(orders[0][1]))


def split(codes: NDArray[np.intp], share: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test documents: a share of each class, rounded, but at least one on either side; in random order."""
    train, test = [], []
    for k in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == k))
        if len(rows) < 2:
            raise MissingValuesError(
                "a class has only one document, which cannot be both learned from and tested",
                hint="leave the class out, or add documents",
            )
        cut = min(max(round(share * len(rows)), 1), len(rows) - 1)
        train.append(rows[:cut])
        test.append(rows[cut:])
    return rng.permutation(np.concatenate(train)), np.concatenate(test)


@dataclass(frozen=True)
class Learner:
    """How models are learned, again and again, from counts of all words."""

    classes: tuple[Any, ...]
    prior: str | float
    likelihood: Likelihood
    min_count: float
    drop_top: int

    def judge(
        self, counts: DocumentCounts, codes: NDArray[np.intp], train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[Metrics, int]:
        """Learn from some documents and classify others; and how many words were looked at."""
        known = counts[train]
        kept = chosen(known.totals, min_count=max(self.min_count, math.ulp(0)), drop_top=self.drop_top)
        statistics = collect(
            known.only(kept),
            [self.classes[k] for k in codes[train]],
            vocabulary=Columns(len(kept)),
            classes=self.classes,
            present=self.likelihood == "bernoulli",
        )
        prior = pick_prior(statistics, self.prior, self.likelihood)[0] if isinstance(self.prior, str) else self.prior
        model = TextModel(statistics, Tokeniser(), self.likelihood, prior)
        return judged(model, counts[test].only(kept), codes[test]), len(kept)
