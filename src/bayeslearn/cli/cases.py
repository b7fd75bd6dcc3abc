"""``bayeslearn cases``: what was built before, for what is asked for now."""

from __future__ import annotations

import typer

from bayeslearn.cli import cases_design, cases_find, cases_show
from bayeslearn.cli.suggesting import Verbs

app = typer.Typer(
    cls=Verbs, no_args_is_help=True, help="Designs from structures that worked before: find, design, show."
)

app.command("find")(cases_find.run)
app.command("design")(cases_design.run)
app.command("show")(cases_show.run)
