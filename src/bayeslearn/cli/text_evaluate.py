"""``bayeslearn evaluate``: accuracy, what is taken for what, and the learning curve."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from bayeslearn.cli import output, plot_files, progress, text_options
from bayeslearn.cli.data_options import OneFile, reads
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
    Seed,
    Shortest,
    Splits,
    Text,
    Tokens,
)
from bayeslearn.errors import ParameterError

#: Instead of a model: the learner is judged.
KIND = "text"


@reads("na_values", without=("columns", "drop_columns"))
def run(
    model_file: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Model file, evaluated on all documents; or text: fit to random parts of the documents.",
        ),
    ],
    data: Annotated[OneFile, typer.Argument(help="Documents with labels: folder or file, as for fit.")],
    *,
    text: Text = None,
    label: Label = None,
    encoding: Encoding = "utf-8",
    cv: Annotated[
        int, typer.Option(help="Cross-validation with this many folds of the learner; 0: evaluate the model.")
    ] = 0,
    n_splits: Splits = 3,
    test_size: Annotated[float, typer.Option(help="Hold-out share of each class.")] = 1 / 3,
    sizes: Annotated[str | None, typer.Option(help="Numbers of documents of the learning curve, N,N,N.")] = None,
    likelihood: Likelihood = "auto",
    prior: Prior = "evidence",
    tokens: Tokens = "words",
    shortest: Shortest = None,
    case: Case = False,
    ngrams: Ngrams = "1",
    min_count: MinCount = 1,
    drop_top: DropTop = 0,
    seed: Seed = 0,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot of the learning curve, or of the confusion matrix of MODEL, to write, .svg or .png."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate a text classifier on documents with labels; or the learner, on random splits.

    Example: bayeslearn evaluate mails.model mails.csv --target folder

    Example: bayeslearn evaluate text mails/ --sizes 100,200,500 --plot curve.svg
    """
    from bayeslearn import plots, validation
    from bayeslearn.naive_bayes.text.evaluation import evaluate_text, learning_curve
    from bayeslearn.naive_bayes.text.model import TextModel

    if plot is not None:
        plot_files.check(plot)
    validation.integer("--cv", cv, min_value=0)
    if cv and model_file == KIND:
        raise ParameterError("--cv is for a model", hint="take --n-splits, or name a model file")
    how = text_options.tokenizer(tokens, shortest, ngrams, case=case)
    points = text_options.sizes(sizes)
    judge = None if model_file == KIND else TextModel.load(model_file)
    corpus = text_options.corpus(data, text=text, label=label, encoding=encoding)
    if judge is not None:
        found = cross_validated(judge, corpus, cv, seed) if cv else evaluate_text(judge, corpus)
        if plot is not None:
            plots.save(plots.plot_confusion_matrix(found), plot)
        if as_json:
            output.show_json(text_options.evaluation_json(found))
            return
        output.show_pairs(
            [
                ("accuracy", f"{found.accuracy:.4f}, {found.n_correct:.0f} of {found.weight:.0f}"),
                ("log loss", f"{found.log_loss:.4g}"),
            ]
        )
        output.gap()
        text_options.show_evaluation(found)
        return
    settings: dict[str, Any] = {
        "sizes": points, "n_splits": n_splits, "test_size": test_size, "prior": text_options.prior(prior),
        "tokenizer": how, "likelihood": likelihood, "min_count": min_count, "drop_top_words": drop_top,
        "random_state": seed,
    }  # fmt: skip
    with progress.bar("evaluating") as tell:
        curve = learning_curve(corpus, **settings, progress=tell)
    if plot is not None:
        plots.save(plots.plot_learning_curve(curve), plot)
    if as_json:
        output.show_json(text_options.curve_json(curve))
        return
    text_options.show_curve(curve)
    output.gap()
    text_options.show_evaluation(curve.evaluation)


def cross_validated(model: Any, corpus: Any, cv: int, seed: int) -> Any:
    """The metrics of the learner of a model on documents of other folds."""
    from bayeslearn.model_comparison import cross_validate

    with progress.bar("evaluating") as tell:
        return cross_validate(model, corpus, cv=cv, random_state=seed, progress=lambda now: tell(now.fraction))
