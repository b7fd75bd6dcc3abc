"""Accuracy and log loss of text classifiers that nobody tuned: 20 Newsgroups by date, and parts of it.

Every learner is fitted to the same articles of the training half and predicts the test half. The parts have few groups,
few articles of each group, or subject lines only. Log loss is the mean of −ln P(group), P at least 2.2e-16.
"""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.text import DATA, made_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 0


class Split(NamedTuple):
    name: str
    train: list[str]
    labels: list[str]
    test: list[str]
    truth: list[str]


def splits() -> Iterator[Split]:
    """Training and test documents."""
    if not DATA.exists():
        corpus = made_up(6_000)
        rest = made_up(9_000)
        yield Split("made up", corpus.train, corpus.labels, rest.test, made_up_labels(9_000))
        return
    train, test = halves()
    groups = sorted(set(train[1]))
    yield part("20 groups", train, test, groups)
    for n in (200, 50, 10):
        yield part(f"20 groups, {n} articles each", train, test, groups, n)
    yield part("2 groups (religion)", train, test, ["alt.atheism", "talk.religion.misc"])
    yield part("2 groups (sport), 10 articles each", train, test, groups[9:11], 10)
    yield part("4 groups (comp), 50 articles each", train, test, groups[1:5], 50)
    yield part("4 groups (sci), 200 articles each", train, test, groups[11:15], 200)
    yield part("20 groups, subject lines", train, test, groups, transform=subject)
    yield part("4 groups (rec), 50 subject lines each", train, test, groups[7:11], 50, transform=subject)


def halves() -> tuple[tuple[list[str], list[str]], ...]:
    from pyarrow import compute, parquet

    table = parquet.read_table(DATA)
    parts = (table.filter(compute.equal(table["split"].cast("string"), name)) for name in ("train", "test"))
    return tuple((p["text"].to_pylist(), p["group"].to_pylist()) for p in parts)


def part(
    name: str, train: Any, test: Any, groups: list[str], n: int | None = None,
    transform: Callable[[str], str] = lambda text: text,
) -> Split:  # fmt: skip
    rng, labels = np.random.default_rng(SEED), np.array(train[1])
    rows = np.concatenate([rng.permutation(np.flatnonzero(labels == g))[:n] for g in groups])
    asked = [i for i, g in enumerate(test[1]) if g in set(groups)]
    return Split(
        name, [transform(train[0][i]) for i in rows], labels[rows].tolist(), [transform(test[0][i]) for i in asked],
        [test[1][i] for i in asked],
    )  # fmt: skip


def subject(article: str) -> str:
    found = re.search(r"^Subject: *(.*)$", article, re.MULTILINE)
    return found.group(1) if found else ""


def made_up_labels(n: int) -> list[str]:
    labels = np.random.default_rng(0).integers(20, size=n)
    return [f"class {label}" for label in labels[2 * n // 3 :]]


### learners


def ours(**options: Any) -> Callable[[Split], tuple[Any, Any]]:
    def learn(split: Split) -> tuple[Any, Any]:
        from bayeslearn.naive_bayes.text import fit_text

        model = fit_text(split.train, split.labels, **options)
        return model.predict_proba(split.test), model.classes

    return learn


def theirs(vectorizer: Callable[[], Any], model: Callable[[], Any]) -> Callable[[Split], tuple[Any, Any]]:
    def learn(split: Split) -> tuple[Any, Any]:
        words, peer = vectorizer(), model()
        peer.fit(words.fit_transform(split.train), split.labels)
        return peer.predict_proba(words.transform(split.test)), peer.classes_

    return learn


def learners() -> dict[str, Callable[[Split], tuple[Any, Any]]]:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import ComplementNB, MultinomialNB

    return {
        "fit_text": ours(),
        'fit_text(likelihood="multinomial")': ours(likelihood="multinomial"),
        "MultinomialNB, counts": theirs(CountVectorizer, MultinomialNB),
        "ComplementNB, counts": theirs(CountVectorizer, ComplementNB),
        "ComplementNB, tf-idf": theirs(TfidfVectorizer, ComplementNB),
        "LogisticRegression, tf-idf": theirs(TfidfVectorizer, lambda: LogisticRegression(max_iter=1000)),
    }


def judged(learn: Callable[[Split], tuple[Any, Any]], split: Split) -> tuple[float, float, float]:
    """Accuracy, log loss, and CPU seconds to fit and to predict."""
    began = time.process_time()
    p, classes = learn(split)
    seconds = time.process_time() - began
    place = {name: k for k, name in enumerate(classes)}
    codes = np.array([place[name] for name in split.truth])
    own = np.asarray(p)[np.arange(len(codes)), codes]
    right = np.asarray(p).argmax(axis=1) == codes
    return float(right.mean()), float(-np.log(np.maximum(own, np.finfo(float).eps)).mean()), seconds


def main(asked: str = "") -> None:
    for split in splits():
        if asked not in split.name:
            continue
        print(f"{split.name}: {len(split.train):,} + {len(split.test):,} documents", flush=True)
        for name, learn in learners().items():
            accuracy, loss, seconds = judged(learn, split)
            print(f"    {name:36} {accuracy:.4f} {loss:8.4f} {seconds:7.2f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
