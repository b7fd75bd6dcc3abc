"""``bayeslearn fit text``: a classifier of documents, some of which may have no label."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, progress, text_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.text_options import (  # noqa: TC001 - typer reads the annotations
    Calibrate,
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
    Weighting,
    WeightNorm,
)


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
    to: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")],
    text: Text = None,
    label: Label = None,
    encoding: Encoding = "utf-8",
    likelihood: Likelihood = "auto",
    weighting: Weighting = "auto",
    weight_norm: WeightNorm = False,
    calibrate: Calibrate = None,
    prior: Prior = "evidence",
    tokens: Tokens = "words",
    shortest: Shortest = None,
    case: Case = False,
    ngrams: Ngrams = "1",
    min_count: MinCount = 1,
    drop_top: DropTop = 0,
    n_hash_features: Annotated[
        int | None, typer.Option(help="Number of features into which words are hashed, in place of a vocabulary.")
    ] = None,
    unlabeled_weight: Annotated[
        float, typer.Option(help="Weight of a document without a label, from 0 (dropped) to 1.")
    ] = 1.0,
    max_iter: Annotated[int, typer.Option(help="Maximum number of iterations of EM.")] = 100,
    as_json: Json = False,
) -> None:
    """Fit a naive Bayes classifier to documents. Unlabeled documents are used by EM.

    Example: bayeslearn fit text mails.csv --target folder -o mails.model
    """
    from bayeslearn import codec, files
    from bayeslearn.naive_bayes.text.fit import fit_text

    codec.require_model_name(to)
    files.destination(to)
    settings: dict[str, Any] = {
        "prior": text_options.prior(prior), "likelihood": likelihood, "n_hash_features": n_hash_features,
        "tokenizer": text_options.tokenizer(tokens, shortest, ngrams, case=case), "min_count": min_count,
        "weighting": weighting, "weight_norm": weight_norm, "calibrate": "auto" if calibrate is None else calibrate,
        "drop_top_words": drop_top, "unlabeled_weight": unlabeled_weight, "max_iter": max_iter,
    }  # fmt: skip
    with (
        text_options.opened(data, text=text, label=label, encoding=encoding) as corpus,
        interrupt.once("the best model so far") as stop,
        progress.bar("fitting", passes=data.passes) as tell,
    ):
        model = fit_text(corpus, **settings, progress=progress.following(tell, stop))
    model.save(to)
    info = model.fit_info
    if as_json:
        output.show_json(info.to_dict())
    else:
        sys.stdout.write(info.summary() + "\n")
    sys.stderr.write(f"wrote {to}: {len(model.classes)} classes, {info.n_words:,} words\n")
