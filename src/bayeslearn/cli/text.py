"""``bayeslearn text``: learn to classify texts, classify them, say why, and see how good it is."""

from __future__ import annotations

import typer

from bayeslearn.cli import text_classify, text_evaluate, text_learn, text_newsgroups
from bayeslearn.cli.suggesting import Verbs

app = typer.Typer(cls=Verbs, no_args_is_help=True, help="Classify texts by naive Bayes: learn, classify, evaluate.")

app.command("learn")(text_learn.run)
app.command("classify")(text_classify.run)
app.command("evaluate")(text_evaluate.run)
app.command("newsgroups")(text_newsgroups.run)
