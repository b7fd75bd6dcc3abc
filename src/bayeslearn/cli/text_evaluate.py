"""``bayeslearn text evaluate``: accuracy, what is taken for what, and the learning curve."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from bayeslearn.cli import output, pictures, progress, texts
from bayeslearn.cli.sources import OneFile, reads
from bayeslearn.cli.texts import (  # noqa: TC001 - typer reads the annotations
    Case,
    DropTop,
    Encoding,
    Json,
    Label,
    Likelihood,
    MinCount,
    Ngrams,
    Prior,
    Seed,
    Shortest,
    Splits,
    Text,
    Tokens,
)


@reads("na_values", without=("columns", "drop_columns"))
def run(
    data: Annotated[OneFile, typer.Argument(help="Documents with labels: a folder or a file, as for learn.")],
    *,
    model: Annotated[
        Path | None, typer.Option(help="Judge this model on all documents, in place of learning from a part of them.")
    ] = None,
    text: Text = None,
    label: Label = None,
    encoding: Encoding = "utf-8",
    n_splits: Splits = 3,
    test_size: Annotated[float, typer.Option(help="The share of each class to hold out.")] = 1 / 3,
    sizes: Annotated[
        str | None, typer.Option(help="N,N,N: learn from so many documents too, for the learning curve.")
    ] = None,
    likelihood: Likelihood = "multinomial",
    prior: Prior = "evidence",
    tokens: Tokens = "words",
    shortest: Shortest = None,
    case: Case = False,
    ngrams: Ngrams = "1",
    min_count: MinCount = 1,
    drop_top: DropTop = 0,
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the learning curve, or the confusion with --model, into an .svg or .png.")
    ] = None,
    as_json: Json = False,
) -> None:
    """See how good a text classifier is: on random splits, or a model on documents that it has not seen.

    Example: bayeslearn text evaluate mails/ --sizes 100,200,500 --plot curve.svg
    """
    from bayeslearn import plots
    from bayeslearn.naive_bayes.text.evaluation import evaluate_text, learning_curve
    from bayeslearn.naive_bayes.text.model import TextModel

    if plot is not None:
        pictures.check(plot)
    how = texts.tokenizer(tokens, shortest, ngrams, case=case)
    points = texts.sizes(sizes)
    judge = None if model is None else TextModel.load(model)
    corpus = texts.corpus(data, text=text, label=label, encoding=encoding)
    if judge is not None:
        found = evaluate_text(judge, corpus)
        if plot is not None:
            plots.save(plots.plot_confusion_matrix(found), plot)
        if as_json:
            output.show_json(texts.evaluation_json(found))
            return
        output.show_pairs(
            [
                ("accuracy", f"{found.accuracy:.4f}, {found.n_correct:.0f} of {found.weight:.0f}"),
                ("log loss", f"{found.log_loss:.4g}"),
            ]
        )
        output.gap()
        texts.show_evaluation(found)
        return
    settings: dict[str, Any] = {
        "sizes": points, "n_splits": n_splits, "test_size": test_size, "prior": texts.prior(prior), "tokenizer": how,
        "likelihood": likelihood, "min_count": min_count, "drop_top": drop_top, "random_state": seed,
    }  # fmt: skip
    with progress.bar("learning and judging") as tell:
        curve = learning_curve(corpus, **settings, progress=tell)
    if plot is not None:
        plots.save(plots.plot_learning_curve(curve), plot)
    if as_json:
        output.show_json(texts.curve_json(curve))
        return
    texts.show_curve(curve)
    output.gap()
    texts.show_evaluation(curve.evaluation)
