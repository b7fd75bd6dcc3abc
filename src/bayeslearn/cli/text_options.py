"""Options of the verbs of text models, and how texts and settings are read."""

from __future__ import annotations

import glob
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.cli.data_options import Data
    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes.text.corpus import Corpus
    from bayeslearn.naive_bayes.text.evaluation import LearningCurve
    from bayeslearn.naive_bayes.text.explanation import Word
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer

#: The maximum number of listed confusions; `--json` has all.
MAX_CONFUSED = 8

Text = Annotated[str | None, typer.Option(help=r"Column of texts. \[default: text]")]
Label = Annotated[str | None, typer.Option("--target", help=r"Column of labels. \[default: label, if it exists]")]
Encoding = Annotated[str, typer.Option(help="utf-8 (invalid bytes are replaced and counted) or latin-1.")]
Lines = Annotated[bool, typer.Option("--lines", help="Each line of a plain file is a document.")]
Likelihood = Annotated[
    str,
    typer.Option(
        help="multinomial, bernoulli or complement; auto selects weighting and likelihoods on held-out documents."
    ),
]
Weighting = Annotated[
    str, typer.Option(help="Weighting of words: counts, normalized, tf_idf; auto selects on held-out documents.")
]
WeightNorm = Annotated[bool, typer.Option("--weight-norm", help="Divide the weights of each class by their sum.")]
Calibrate = Annotated[
    bool | None,
    typer.Option(
        "--calibrate/--no-calibrate",
        help=r"Calibrate probabilities on held-out documents. \[default: if likelihoods are selected]",
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        help="α of the words: a number, none, laplace, jeffreys, m:SIZE or pooled:SIZE; evidence, symmetric, "
        "background and words are selected by the marginal likelihood."
    ),
]
Tokens = Annotated[
    str,
    typer.Option(
        "--analyzer",
        help="Tokens: words (letters, digits, _), letters, all (words and other signs), or spaces (between spaces).",
    ),
]
Shortest = Annotated[
    int | None,
    typer.Option("--min-token-length", help=r"Minimum number of characters per token. \[default: 2 for words, else 1]"),
]
Case = Annotated[bool, typer.Option("--case-sensitive", help="Distinguish upper and lower case.")]
Ngrams = Annotated[str, typer.Option("--ngram-range", help="Length of counted word sequences, N or N-M.")]
MinCount = Annotated[float, typer.Option(help="Words with a smaller count are dropped.")]
DropTop = Annotated[int, typer.Option("--drop-top-words", help="Number of most frequent words to drop.")]
Seed = Annotated[int, typer.Option(help="Seed of the splits.")]
Splits = Annotated[int, typer.Option(help="Number of random splits.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")]


### reading


def corpus(data: Data, *, text: str | None, label: str | None, **settings: Any) -> Corpus:
    """Documents of a file or a folder; repairs are reported."""
    from bayeslearn.naive_bayes.text.corpus_readers import read_corpus

    with progress.bar("reading") as tell:
        found = read_corpus(data.paths[0], text, label, **settings, **cells(data, text, label), progress=tell)
    tell_notes(found)
    return found


def cells(data: Data, text: str | None, label: str | None) -> dict[str, Any]:
    """The markers of missing values, in the words of Python; only the columns of texts and labels have some."""
    from bayeslearn.tables.documents import LABEL, TEXT

    return data.cells(lambda: [text or TEXT, label or LABEL])


@contextmanager
def opened(data: Data, *, text: str | None, label: str | None, encoding: str) -> Iterator[Any]:
    """Documents to fit to: in memory, or a source if there are several files."""
    several = len(data.paths) > 1 or glob.has_magic(data.paths[0])
    if not several and data.engine in {None, "memory"} and data.scheduler is None:
        yield corpus(data, text=text, label=label, encoding=encoding)
        return
    if data.engine is not None and data.kind == "memory":
        raise ParameterError("several files of texts are read batch by batch", hint="leave out --engine memory")
    if encoding != "utf-8":
        raise ParameterError(
            "files that are read batch by batch are in UTF-8", hint="give one file, or write them anew"
        )
    from bayeslearn.naive_bayes.text.text_sources import scan_texts

    with data.cluster() as engine:
        markers = cells(data, text, label)
        yield scan_texts(list(data.paths), text, label, **markers, engine=engine, progress=data.passes)


def tell_notes(found: Corpus) -> None:
    """Report repairs on stderr."""
    for note in found.notes:
        sys.stderr.write(f"note: {note}\n")


def tokenizer(tokens: str, shortest: int | None, ngrams: str, *, case: bool) -> Tokenizer:
    """The tokenizer of the options."""
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer

    length = shortest if shortest is not None else 2 if tokens == "words" else 1
    return Tokenizer(case_sensitive=case, analyzer=tokens, min_token_length=length, ngram_range=span(ngrams))


def span(ngrams: str) -> tuple[int, int]:
    """'2' or '1-3'."""
    low, _, high = ngrams.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ParameterError(f"--ngram-range takes N or N-M, such as 1-2, got {ngrams!r}") from None


def prior(word: str) -> str | float:
    """A number, or the name of a prior."""
    try:
        return float(word)
    except ValueError:
        return word


def sizes(listed: str | None) -> list[int]:
    """'100,200,500' as numbers."""
    try:
        return [int(part) for part in (listed or "").split(",") if part.strip()]
    except ValueError:
        raise ParameterError(f"--sizes takes numbers with commas between, such as 100,1000, got {listed!r}") from None


### answering


def curve_json(curve: LearningCurve) -> dict[str, Any]:
    """A learning curve, and the evaluation at its end."""
    points = [
        {"n_documents": p.size, "accuracy": p.accuracy, "accuracies": p.accuracies.tolist(), "n_words": list(p.words)}
        for p in curve.points
    ]
    return {"n_test": curve.n_test, "learning_curve": points} | evaluation_json(curve.evaluation)


def evaluation_json(found: Metrics) -> dict[str, Any]:
    """An evaluation as plain values."""
    return {
        "accuracy": found.accuracy, "n_evaluated": round(found.weight), "n_correct": round(found.n_correct),
        "log_loss": found.log_loss,
        "classes": list(found.classes), "recall": found.recall.tolist(), "precision": found.precision.tolist(),
        "confusion": found.confusion.astype(int).tolist(),
    }  # fmt: skip


def show_curve(curve: LearningCurve) -> None:
    """Accuracy by the number of documents, of each split and on average."""
    rows = []
    for p in curve.points:
        each = " ".join(f"{a:.4f}" for a in p.accuracies)
        rows.append([str(p.size), f"{p.accuracy:.4f}", each, f"{sum(p.words) / len(p.words):.0f}"])
    output.show_table(["Documents", "Accuracy", "Each split", "Words"], rows)


def show_evaluation(found: Metrics) -> None:
    """Recall and precision of the classes, and the most frequent confusions."""
    recall, precision = ([f"{x:.4f}" for x in values] for values in (found.recall, found.precision))
    total = found.confusion.sum(axis=1)
    rows = [
        [str(name), f"{n:.0f}", r, p] for name, n, r, p in zip(found.classes, total, recall, precision, strict=True)
    ]
    output.show_table(["Class", "Documents", "Recall", "Precision"], rows)
    if mistakes := found.most_confused(MAX_CONFUSED):
        output.gap()
        output.show_table(["Class", "Predicted", "Documents"], [[str(a), str(b), f"{n:.0f}"] for a, b, n in mistakes])


def word_rows(words: Iterable[Word]) -> list[list[str]]:
    """Words with their log odds, for a table."""
    return [[word.word, f"{word.count:g}", f"{word.log_odds:+.3f}"] for word in words]
