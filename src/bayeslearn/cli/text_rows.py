"""Verbs that ask a text model about documents: ``explain`` and ``score``."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer

from bayeslearn.cli import output, table_writer, text_predict
from bayeslearn.cli.data_options import Model, OneFile, reads
from bayeslearn.cli.model_rows import totals
from bayeslearn.cli.text_options import Encoding, Json, Label, Lines, Text  # noqa: TC001 - typer reads the annotations

Documents = Annotated[OneFile, typer.Argument(help="File or folder, as for fit; a text; or - for standard input.")]


@reads("na_values", without=("columns", "drop_columns"))
def explain(
    model_file: Model,
    data: Documents,
    *,
    text: Text = None,
    encoding: Encoding = "utf-8",
    lines: Lines = False,
    against: Annotated[
        str | None, typer.Option(help=r"Class to compare with. \[default: the most probable of the others]")
    ] = None,
    max_results: Annotated[int, typer.Option(help="Maximum number of words for and against the class.")] = 8,
    as_json: Json = False,
) -> None:
    """Explain the class of every document: the log odds of its words.

    Example: bayeslearn explain mails.model "cheap watches now"
    """
    from bayeslearn import validation
    from bayeslearn.naive_bayes.text.model import TextModel

    validation.integer("--max-results", max_results, min_value=1)
    model = TextModel.load(model_file)
    corpus = text_predict.documents(data, text=text, label=None, encoding=encoding, lines=lines)
    found = [model.explain(each, against=against) for each in corpus.texts]
    if as_json:
        named = zip(corpus.names, found, strict=True)
        output.show_json({"n_documents": len(corpus), "documents": [{"document": n} | e.to_dict() for n, e in named]})
        return
    for i, (name, each) in enumerate(zip(corpus.names, found, strict=True)):
        if len(corpus) > 1:
            sys.stdout.write(f"{'' if i == 0 else chr(10)}{name}\n")
        text_predict.show_explanation(each, max_results)


@reads("na_values", without=("columns", "drop_columns"))
def score(
    model_file: Model,
    data: Documents,
    *,
    text: Text = None,
    target: Label = None,
    encoding: Encoding = "utf-8",
    lines: Lines = False,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File of the log-likelihood of each document to write, .csv or .parquet."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Log-likelihood of documents under a text model, over all classes.

    Example: bayeslearn score mails.model mails.csv
    """
    import numpy as np

    from bayeslearn.naive_bayes.text.model import TextModel

    if to is not None:
        table_writer.writer(to)
    model = TextModel.load(model_file)
    corpus = text_predict.documents(data, text=text, label=target, encoding=encoding, lines=lines)
    log_p = model.log_likelihood(corpus.texts)
    found = totals(log_p, np.ones(len(log_p)))
    if to is not None:
        import pyarrow as pa

        table_writer.write_columns(to, pa.table({"document": corpus.names, "log_likelihood": log_p}))
        sys.stderr.write(f"wrote {to}: {len(log_p)} documents\n")
    if as_json:
        output.show_json(found)
        return
    names = {"n_rows": "Documents", "log_likelihood": "Log-likelihood", "mean_log_likelihood": "Per document"}
    output.show_pairs([(name, output.precise(found[key])) for key, name in names.items()])
