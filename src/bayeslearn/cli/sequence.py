"""``bayeslearn sequence``: hidden Markov models of sequences in a file."""

from __future__ import annotations

import typer

from bayeslearn.cli import sequence_decode, sequence_learn, sequence_score
from bayeslearn.cli.suggesting import Verbs

app = typer.Typer(cls=Verbs, no_args_is_help=True, help="Hidden states behind sequences: learn, decode, score.")

app.command("learn")(sequence_learn.run)
app.command("decode")(sequence_decode.run)
app.command("score")(sequence_score.run)
