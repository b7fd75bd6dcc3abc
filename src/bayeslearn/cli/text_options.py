"""What the verbs about texts share: options, and how texts and settings are read."""

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

#: Mistakes that are listed; `--json` has the whole table.
MOST_MISTAKES = 8

Text = Annotated[str | None, typer.Option(help="The column of texts; 'text' when not said.")]
Label = Annotated[str | None, typer.Option(help="The column of classes; 'label', if there is one, when not said.")]
Encoding = Annotated[str, typer.Option(help="utf-8, where bad bytes are replaced and counted, or latin-1.")]
Lines = Annotated[bool, typer.Option("--lines", help="Each line of a plain file is a document.")]
Likelihood = Annotated[str, typer.Option(help="multinomial, bernoulli or complement.")]
Prior = Annotated[
    str,
    typer.Option(
        help="Words seen before, α: a number, or none, laplace, jeffreys, m:ROWS, pooled:ROWS; or evidence, symmetric, "
        "background, words, which the counts choose."
    ),
]
Tokens = Annotated[
    str,
    typer.Option(help="words (letters, digits, _), letters, all (words and other signs), or spaces: between spaces."),
]
Shortest = Annotated[
    int | None, typer.Option(help="Characters that a token has at least; 2 for words, else 1, when not said.")
]
Case = Annotated[bool, typer.Option("--case", help="Tell capital letters from small ones.")]
Ngrams = Annotated[str, typer.Option(help="N or N-M: how many words in a row are counted as one.")]
MinCount = Annotated[float, typer.Option(help="Leave out words that are seen fewer times.")]
DropTop = Annotated[int, typer.Option(help="Leave out so many of the most frequent words.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same splits.")]
Splits = Annotated[int, typer.Option(help="How many random splits to average over.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")]


### reading


def corpus(data: Data, *, text: str | None, label: str | None, **settings: Any) -> Corpus:
    """Documents of a file or a folder; what had to be mended is told."""
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
    """Documents to learn from: in memory, or where they lie if there are several files."""
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
    """What had to be mended, on stderr."""
    for note in found.notes:
        sys.stderr.write(f"note: {note}\n")


def tokenizer(tokens: str, shortest: int | None, ngrams: str, *, case: bool) -> Tokenizer:
    """How texts are read, by the options."""
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer

    least = shortest if shortest is not None else 2 if tokens == "words" else 1
    return Tokenizer(lower=not case, kind=tokens, shortest=least, ngrams=span(ngrams))


def span(ngrams: str) -> tuple[int, int]:
    """'2' or '1-3'."""
    low, _, high = ngrams.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ParameterError(f"--ngrams takes N or N-M, such as 1-2, got {ngrams!r}") from None


def prior(word: str) -> str | float:
    """A number, or the name of a way to choose."""
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
        {"documents": p.size, "accuracy": p.accuracy, "accuracies": p.accuracies.tolist(), "words": list(p.words)}
        for p in curve.points
    ]
    return {"test_documents": curve.n_test, "learning_curve": points} | evaluation_json(curve.evaluation)


def evaluation_json(found: Metrics) -> dict[str, Any]:
    """All that an evaluation says."""
    return {
        "accuracy": found.accuracy, "judged": round(found.weight), "right": round(found.n_correct),
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
    output.show_table(["documents", "accuracy", "of each split", "words"], rows)


def show_evaluation(found: Metrics) -> None:
    """The classes, and what is most often taken for what."""
    recall, precision = ([f"{x:.4f}" for x in values] for values in (found.recall, found.precision))
    total = found.confusion.sum(axis=1)
    rows = [
        [str(name), f"{n:.0f}", r, p] for name, n, r, p in zip(found.classes, total, recall, precision, strict=True)
    ]
    output.show_table(["class", "documents", "recall", "precision"], rows)
    if mistakes := found.most_confused(MOST_MISTAKES):
        output.gap()
        output.show_table(["class", "taken for", "times"], [[str(a), str(b), f"{n:.0f}"] for a, b, n in mistakes])


def word_rows(words: Iterable[Word]) -> list[list[str]]:
    """Words with what they say, for a table."""
    return [[word.word, f"{word.count:g}", f"{word.log_odds:+.3f}"] for word in words]
