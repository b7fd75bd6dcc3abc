"""``bayeslearn bound``: what learning theory promises, with the formula and the numbers in it."""

from __future__ import annotations

import typer

from bayeslearn.cli import bound_interval, bound_mistakes, bound_samples
from bayeslearn.cli.suggesting import Verbs

app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    help="Bounds of learning theory, solved for what is left out: pac, agnostic, vc, mistakes, interval.",
)

app.command("pac")(bound_samples.pac)
app.command("agnostic")(bound_samples.agnostic)
app.command("vc")(bound_samples.vc)
app.command("mistakes")(bound_mistakes.run)
app.command("interval")(bound_interval.run)
