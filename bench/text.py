"""Raw text to predictions against scikit-learn: 20 Newsgroups by date, learned from one part, asked of the other.

Both begin with Python lists of strings and take the same tokens and the same prior (α = 1), so every prediction must be
the same. The corpus is read from the reference data beside the repository; without it a made-up one stands in.
``python -m bench.text`` prints the most memory that each side needs, in a separate process, and
``python -m bench.text_quality`` the accuracy and log loss of the defaults next to scikit-learn's.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "newsgroups" / "20news-bydate-18846.parquet"


class Corpus(NamedTuple):
    train: list[str]
    labels: list[str]
    test: list[str]


def works(*, quick: bool) -> Iterator[Work]:
    import sklearn

    corpus = newsgroups() if DATA.exists() else made_up(2_000 if quick else 19_000)
    if quick:
        corpus = Corpus(corpus.train[::10], corpus.labels[::10], corpus.test[::10])
    name = f"text to predictions, {len(corpus.train):,} + {len(corpus.test):,} documents"
    peer = "scikit-learn"
    yield Work(name, peer, sklearn.__version__, lambda: ours(corpus), lambda: theirs(corpus), np.array_equal, 20)
    yield Work(
        "counts of words with their vocabulary", peer, sklearn.__version__, lambda: counted(corpus),
        lambda: vectorized(corpus), same_counts, 10,
    )  # fmt: skip
    yield Work(
        "the same, words and pairs of words", peer, sklearn.__version__, lambda: counted(corpus, (1, 2)),
        lambda: vectorized(corpus, (1, 2)), same_counts, 10, most=2,
    )  # fmt: skip


### both sides


def ours(corpus: Corpus) -> list[str]:
    from bayeslearn.naive_bayes.text import fit_text

    return fit_text(corpus.train, corpus.labels, prior=1.0).predict(corpus.test)


def theirs(corpus: Corpus) -> np.ndarray:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    words = CountVectorizer()
    model = MultinomialNB(alpha=1).fit(words.fit_transform(corpus.train), corpus.labels)
    return model.predict(words.transform(corpus.test))


def counted(corpus: Corpus, ngram_range: tuple[int, int] = (1, 1)):
    from bayeslearn.naive_bayes.text import Tokenizer, count

    return count(corpus.train, Tokenizer(ngram_range=ngram_range))


def vectorized(corpus: Corpus, ngram_range: tuple[int, int] = (1, 1)):
    from sklearn.feature_extraction.text import CountVectorizer

    words = CountVectorizer(ngram_range=ngram_range)
    return words.fit_transform(corpus.train), words.vocabulary_


def same_counts(a, b) -> bool:
    (counts, vocabulary), (matrix, positions) = a, b
    order = [positions[word] for word in vocabulary.words]
    return len(vocabulary) == len(positions) and (counts.matrix != matrix[:, order]).nnz == 0


### data


def newsgroups() -> Corpus:
    from pyarrow import compute, parquet

    table = parquet.read_table(DATA)
    train, test = (table.filter(compute.equal(table["split"].cast("string"), part)) for part in ("train", "test"))
    return Corpus(train["text"].to_pylist(), train["group"].to_pylist(), test["text"].to_pylist())


def made_up(n: int) -> Corpus:
    """Words by Zipf's law, of which each class prefers some."""
    rng = np.random.default_rng(0)
    labels = rng.integers(20, size=n)
    texts = [" ".join(f"word{w}" for w in rng.zipf(1.3, 250) * (1 + label) % 1_000_000) for label in labels]
    names = [f"class {label}" for label in labels]
    return Corpus(texts[: 2 * n // 3], names[: 2 * n // 3], texts[2 * n // 3 :])


### memory


def memory(side: str) -> None:
    """The most memory that one side needed, beyond the corpus."""
    corpus = newsgroups() if DATA.exists() else made_up(19_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    {"ours": ours, "theirs": theirs}[side](corpus)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{side:8} {after / 1024:.0f} MB in all, {(after - before) / 1024:.0f} MB more than with the corpus alone")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        memory(sys.argv[1])
    else:
        for side in ("ours", "theirs"):
            subprocess.run([sys.executable, "-m", "bench.text", side], check=True)  # noqa: S603 - our own
