"""``bayeslearn fit text``: from documents, with labels or without, to a model that classifies."""

from __future__ import annotations

import sys
import time
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, progress, text_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.text_options import (  # noqa: TC001 - typer reads the annotations
    Case,
    DropTop,
    Encoding,
    Json,
    Label,
    Likelihood,
    MinCount,
    Ngrams,
    Prior,
    Shortest,
    Text,
    Tokens,
)

if TYPE_CHECKING:
    from bayeslearn.naive_bayes.text.semi_supervised import TextFitInfo
    from bayeslearn.progress import Progress

#: Words that each class is shown with.
MOST_WORDS = 6
#: Iterations of EM, at most.
MOST_STEPS = 100


@reads("engine", "scheduler", without=("columns", "drop_columns"))
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="A folder with a folder for each class, or a .csv, .tsv, .parquet or .jsonl file; several CSV or "
            "Parquet files, or patterns, are read batch by batch."
        ),
    ],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="The model to write.")],
    text: Text = None,
    label: Label = None,
    encoding: Encoding = "utf-8",
    likelihood: Likelihood = "multinomial",
    prior: Prior = "evidence",
    tokens: Tokens = "words",
    shortest: Shortest = None,
    case: Case = False,
    ngrams: Ngrams = "1",
    min_count: MinCount = 1,
    drop_top: DropTop = 0,
    hashed: Annotated[
        int | None, typer.Option("--hash", help="Count words in so many places, by hash, and keep none of them.")
    ] = None,
    unlabeled: Annotated[
        float, typer.Option(help="What a document without a label weighs, from 0, left out, to 1.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Fit a naive Bayes classifier to documents. Unlabeled documents are used by EM.

    Example: bayeslearn fit text mails.csv --label folder -o mails.model
    """
    from bayeslearn import codec, files
    from bayeslearn.naive_bayes.text.semi_supervised import learn_text
    from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary

    codec.require_model_name(to)
    files.destination(to)
    how = text_options.tokenizer(tokens, shortest, ngrams, case=case)
    vocabulary = None if hashed is None else HashedVocabulary(hashed)
    started = time.perf_counter()
    settings: dict[str, Any] = {
        "prior": text_options.prior(prior), "tokenizer": how, "vocabulary": vocabulary, "likelihood": likelihood,
        "min_count": min_count, "drop_top": drop_top, "unlabeled": unlabeled, "max_iter": MOST_STEPS,
    }  # fmt: skip
    with (
        text_options.opened(data, text=text, label=label, encoding=encoding) as corpus,
        interrupt.once("the best model so far") as stop,
        progress.bar("learning", passes=data.passes) as tell,
    ):

        def told(now: Progress) -> None:
            tell(now.fraction, f"learning: EM, {now.message}")
            stop.heed()

        fit = learn_text(corpus, **settings, counting=lambda share: tell(share, "counting words"), progress=told)
    fit.model.save(to)
    (output.show_json if as_json else _show)(_told(fit))
    sys.stderr.write(f"wrote {to}: learned in {time.perf_counter() - started:.2f} s\n")


def _told(fit: TextFitInfo) -> dict[str, Any]:
    """What was learned, by name."""
    from bayeslearn.naive_bayes.text.explanation import explain_class
    from bayeslearn.naive_bayes.text.vocabulary import Vocabulary

    model = fit.model
    read = isinstance(model.vocabulary, Vocabulary)
    known_by = {c: [w.word for w in explain_class(model, c, MOST_WORDS).speaking_for] for c in model.classes if read}
    return {
        "likelihood": model.likelihood,
        "documents": fit.n_labeled,
        "without_label": fit.n_unlabeled,
        "words": len(model.vocabulary),
        "prior": "given" if fit.chosen is None else fit.chosen.kind,
        "prior_words": None if fit.chosen is None else fit.chosen.strength,
        "log_evidence": None if fit.chosen is None else fit.chosen.log_evidence,
        "iterations": None if fit.climb is None else fit.climb.n_iter,
        "classes": [
            {"class": name, "documents": n, "known_by": known_by.get(name, [])}
            for name, n in zip(model.classes, model.statistics.documents.tolist(), strict=True)
        ],
    }


def _show(told: dict[str, Any]) -> None:
    """A report for people."""
    unknown = f", and {told['without_label']} without a label" if told["without_label"] else ""
    pairs = [
        ("likelihood", told["likelihood"]),
        ("documents", f"{told['documents']} with a label{unknown}"),
        ("words", str(told["words"])),
    ]
    if told["prior_words"] is not None:
        pairs.append(
            ("prior", f"{told['prior']}: as if {output.number(told['prior_words'])} words of a class were seen")
        )
    if told["iterations"] is not None:
        pairs.append(("EM", f"{told['iterations']} iterations"))
    output.show_pairs(pairs)
    output.gap()
    rows = [[str(c["class"]), output.number(c["documents"]), ", ".join(c["known_by"])] for c in told["classes"]]
    output.show_table(["class", "documents", "known by"], rows)
