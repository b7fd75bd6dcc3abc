"""The command ``bayeslearn`` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn import __version__
from bayeslearn.cli import (
    bayes,
    bound,
    cases,
    cluster,
    compare,
    concept,
    contest,
    convert,
    demo,
    explain,
    fit,
    impute,
    learn,
    merge,
    naive,
    neighbours,
    online,
    posterior,
    predict,
    query,
    regress,
    sample,
    scan,
    score,
    sequence,
    show,
    text,
    update,
    vc,
)
from bayeslearn.cli.suggesting import Verbs
from bayeslearn.errors import command_line

app = typer.Typer(
    cls=Verbs,
    name="bayeslearn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    if asked:
        typer.echo(f"bayeslearn {__version__}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Bayesian learning where evidence adds: from data to beliefs you can query, explain, update and merge."""
    ctx.with_resource(command_line())


app.command("bayes")(bayes.run)
app.command("concept")(concept.run)
app.command("learn")(learn.run)
app.command("posterior")(posterior.run)
app.command("cluster")(cluster.run)
app.command("regress")(regress.run)
app.command("neighbours")(neighbours.run)
app.command("contest")(contest.run)
app.command("online")(online.run)
app.command("scan")(scan.run)
app.command("show")(show.run)
app.command("query")(query.run)
app.command("explain")(explain.run)
app.command("predict")(predict.run)
app.command("fit")(fit.run)
app.command("compare")(compare.run)
app.command("score")(score.run)
app.command("impute")(impute.run)
app.command("update")(update.run)
app.command("merge")(merge.run)
app.command("sample")(sample.run)
app.command("convert")(convert.run)
app.command("vc")(vc.run)
app.command("demo")(demo.run)
app.add_typer(bound.app, name="bound")
app.add_typer(cases.app, name="cases")
app.add_typer(naive.app, name="naive")
app.add_typer(sequence.app, name="sequence")
app.add_typer(text.app, name="text")
