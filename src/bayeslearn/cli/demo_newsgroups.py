"""``bayeslearn demo newsgroups``: the textbook's experiment on 20 Newsgroups, as one command."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from bayeslearn.cli import output, plot_files, progress, text_options
from bayeslearn.cli.text_options import Json, Seed, Splits  # noqa: TC001 - typer reads the annotations


def run(
    path: Annotated[
        Path,
        typer.Argument(
            help="Parquet file with the columns group and text, folder of articles by group, or scikit-learn's cache."
        ),
    ],
    *,
    headers: Annotated[
        str, typer.Option(help="Parts of an article: all, subject (and body), or none (body only).")
    ] = "all",
    n_splits: Splits = 3,
    seed: Seed = 0,
    trust_cache: Annotated[
        bool,
        typer.Option("--trust-cache", help="Read the cache of scikit-learn, a pickle, which can execute code."),
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Plot of the learning curve to write, .svg or .png.")] = None,
    as_json: Json = False,
) -> None:
    """Run the textbook's experiment on 20 Newsgroups.

    Two thirds of each group are training documents. Tokens are separated by spaces; the 100 most frequent and those
    with a count below 3 are dropped. P(w|v) = (n_k + 1) / (n + |Vocabulary|).

    Example: bayeslearn demo newsgroups 20_newsgroups/ --plot curve.svg
    """
    from bayeslearn import plots
    from bayeslearn.naive_bayes.text.evaluation import TEXTBOOK, TEXTBOOK_SIZES, learning_curve
    from bayeslearn.naive_bayes.text.newsgroups import read_newsgroups

    if plot is not None:
        plot_files.check(plot)
    with progress.bar("reading") as tell:
        corpus = read_newsgroups(path, headers=headers, trust_cache=trust_cache, progress=tell)
    text_options.tell_notes(corpus)
    with progress.bar("evaluating") as tell:
        curve = learning_curve(
            corpus, sizes=TEXTBOOK_SIZES, n_splits=n_splits, random_state=seed, progress=tell, **TEXTBOOK
        )
    if plot is not None:
        plots.save(plots.plot_learning_curve(curve), plot)
    if as_json:
        output.show_json({"headers": headers} | text_options.curve_json(curve))
        return
    output.show_pairs(
        [
            ("documents", f"{len(corpus)} of {len(corpus.classes)} groups, headers: {headers}"),
            ("accuracy", f"{curve.accuracy:.4f} on {curve.n_test} held out, mean of {n_splits} random splits"),
        ]
    )
    output.gap()
    text_options.show_curve(curve)
    output.gap()
    text_options.show_evaluation(curve.evaluation)
