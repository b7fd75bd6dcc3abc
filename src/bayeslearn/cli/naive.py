"""``bayeslearn naive``: a naive Bayes classifier of the rows of a table."""

from __future__ import annotations

import typer

from bayeslearn.cli import naive_learn, naive_predict

app = typer.Typer(no_args_is_help=True, help="Classify the rows of a table by naive Bayes: learn, predict.")

app.command("learn")(naive_learn.run)
app.command("predict")(naive_predict.run)
