"""``bayeslearn naive``: a naive Bayes classifier of the rows of a table."""

from __future__ import annotations

import typer

from bayeslearn.cli import naive_learn, naive_predict
from bayeslearn.cli.suggesting import Verbs

app = typer.Typer(cls=Verbs, no_args_is_help=True, help="Classify the rows of a table by naive Bayes: learn, predict.")

app.command("learn")(naive_learn.run)
app.command("predict")(naive_predict.run)
