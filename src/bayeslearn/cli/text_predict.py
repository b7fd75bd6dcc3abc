"""``bayeslearn predict``: the class of a text, or of every document of a file, and why."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress, text_options
from bayeslearn.cli.data_options import Model, OneFile, reads
from bayeslearn.cli.streams import write_data
from bayeslearn.cli.text_options import Encoding, Json, Label, Lines, Text  # noqa: TC001 - typer reads the annotations
from bayeslearn.errors import InputFileNotFoundError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.corpus import Corpus
    from bayeslearn.naive_bayes.text.explanation import TextExplanation
    from bayeslearn.naive_bayes.text.model import TextModel

#: Documents that are classified at a time.
BATCH = 4096
#: Classes that are shown for one text, and words on either side.
MAX_CLASSES, MAX_WORDS = 5, 8
#: Endings of names that are meant as files.
ENDINGS = (".txt", ".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".gz", ".eml", ".md")


@reads("na_values", without=("columns", "drop_columns"))
def run(
    model_file: Model,
    data: Annotated[OneFile, typer.Argument(help="File or folder, as for fit; a text; or - for standard input.")],
    *,
    text: Text = None,
    label: Label = None,
    encoding: Encoding = "utf-8",
    lines: Lines = False,
    explain: Annotated[bool, typer.Option("--explain", help="Words in favor of the class and against it.")] = False,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file for the classes of documents; default: stdout.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Classify a text, or every document of a file or a folder.

    If the documents have labels, the accuracy is reported on stderr.

    Example: bayeslearn predict mails.model "cheap watches now" --explain
    """
    from bayeslearn.naive_bayes.text.model import TextModel

    known = TextModel.load(model_file)
    corpus = documents(data, text=text, label=label, encoding=encoding, lines=lines)
    p = _posteriors(known, corpus)
    why = [_explained(known, each) for each in corpus.texts] if explain else []
    if as_json:
        output.show_json({"documents": _told(known, corpus, p, why)})
    elif len(corpus) == 1 and to is None:
        _show_one(known, p[0], why[0] if why else None)
    else:
        _write(to, known, corpus, p, why)
    _score(known, corpus, p)


### reading


def documents(data: OneFile, **settings: Any) -> Corpus:
    """Documents of a file or a folder, or a text that is no file."""
    from bayeslearn.naive_bayes.text.corpus import Corpus

    what = str(data)
    try:
        there = what == "-" or (what != "" and Path(what).exists())
    except (OSError, ValueError):  # too long for a name, or with a NUL
        there = False
    if there:
        return text_options.corpus(data, **settings)
    if what.endswith(ENDINGS) and not any(c.isspace() for c in what):
        raise InputFileNotFoundError(
            f"cannot read {what!r}: there is no such file", hint="a text would have spaces", path=what
        )
    return Corpus([what], names=["text"])


def _posteriors(model: TextModel, corpus: Corpus) -> NDArray[np.float64]:
    """P(class | document), batch by batch."""
    import numpy as np

    parts = []
    with progress.bar("classifying") as tell:
        for start in range(0, len(corpus), BATCH):
            parts.append(model.predict_proba(corpus.texts[start : start + BATCH]))
            tell(min(start + BATCH, len(corpus)) / len(corpus))
    return np.concatenate(parts)


def _explained(model: TextModel, text: str) -> TextExplanation:
    from bayeslearn.naive_bayes.text.explanation import explain_text

    return explain_text(model, text)


### answering


def _told(model: TextModel, corpus: Corpus, p: NDArray[np.float64], why: list[TextExplanation]) -> list[dict[str, Any]]:
    """Every document, its class and all probabilities."""
    answers = []
    for i, name in enumerate(corpus.names):
        best = int(p[i].argmax())
        told = {"document": name, "class": model.classes[best], "probability": p[i, best]}
        told["probabilities"] = dict(zip(map(str, model.classes), p[i].tolist(), strict=True))
        if why:
            told["explanation"] = {
                "against": why[i].against, "log_odds": why[i].log_odds, "base": why[i].base,
                "n_unknown": why[i].n_unknown, "words": [vars(word) for word in why[i].words],
            }  # fmt: skip
        answers.append(told)
    return answers


def _show_one(model: TextModel, p: NDArray[np.float64], why: TextExplanation | None) -> None:
    """One text: the most probable classes, and the words that made them so."""
    order = (-p).argsort(kind="stable")[:MAX_CLASSES]
    rows = [[str(model.classes[k]), output.number(p[k]), output.bar(p[k])] for k in order]
    output.show_table(["class", "P(class | text)", ""], rows)
    if why is None:
        return
    output.gap()
    show_explanation(why, MAX_WORDS)


def show_explanation(why: TextExplanation, max_words: int) -> None:
    """The log odds of the words of a text."""
    output.show_pairs(
        [
            ("explained", f"{why.label} against {why.against}"),
            ("log odds", f"{why.log_odds:+.3f}, of which {why.base:+.3f} without the words"),
            ("unknown", f"{why.n_unknown} tokens outside the vocabulary"),
        ]
    )
    for side, words in (("for", why.top_positive(max_words)), ("against", why.top_negative(max_words))):
        if words:
            output.gap()
            target = why.label if side == "for" else f"{why.label}, for {why.against}"
            output.show_table([f"{side} {target}", "times", "log odds"], text_options.word_rows(words))


def _write(
    to: Path | None, model: TextModel, corpus: Corpus, p: NDArray[np.float64], why: list[TextExplanation]
) -> None:
    """A line for each document."""
    from bayeslearn import files

    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow(["document", "class", "probability", *(["because_of"] if why else [])])
    for i, name in enumerate(corpus.names):
        best = int(p[i].argmax())
        words = [" ".join(word.word for word in why[i].top_positive(MAX_WORDS))] if why else []
        rows.writerow([name, model.classes[best], output.number(p[i, best]), *words])
    content = lines.getvalue().encode("utf-8", "surrogateescape")
    if to is None:
        write_data(content)
        return
    files.write(to, content)
    sys.stderr.write(f"wrote {to}: {len(corpus)} documents\n")


def _score(model: TextModel, corpus: Corpus, p: NDArray[np.float64]) -> None:
    """Report the accuracy on documents with a label, on stderr."""
    known = [i for i, label in enumerate(corpus.labels) if label is not None]
    if known:
        right = sum(model.classes[int(p[i].argmax())] == corpus.labels[i] for i in known)
        sys.stderr.write(
            f"{right} of {len(known)} labeled documents are correct, accuracy {output.number(right / len(known))}\n"
        )
