"""The command ``bayeslearn`` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn import __version__
from bayeslearn.cli.verbs import group
from bayeslearn.errors import command_line

#: Every verb: where it lives, and the first paragraph of its help.
VERBS = {
    "bayes": ("bayes.run", "Posterior over hypotheses: priors and likelihoods in, beliefs out."),
    "concept": (
        "concept.run",
        "Learn a concept from examples: Find-S, the version space with its boundaries, and votes on new rows.",
    ),
    "learn": (
        "learn.run",
        "Learn a network: its arcs, and its tables; columns of no use are left out, and numbers are cut.",
    ),
    "posterior": (
        "posterior.run",
        "The probability of every arc, and of the most probable graphs: not one network, but all of them.",
    ),
    "cluster": (
        "cluster.run",
        "Find groups of similar rows, by EM: of numbers, words and counts, with holes; or assign rows to known ones.",
    ),
    "regress": (
        "regress.run",
        "Learn a column as a function of the others, with intervals; or predict new rows by a function learned before.",
    ),
    "neighbors": ("neighbors.run", "Predict by the nearest examples; rows may hold numbers, words and holes."),
    "contest": (
        "contest.run",
        "Compare learners that keep their examples (lazy) with learners that do not (eager), on the same rows.",
    ),
    "online": (
        "online.run",
        "Weighted-Majority over experts that learn as the rows come; how many mistakes, and how many there could be.",
    ),
    "scan": (
        "scan.run",
        "Look at all rows once, batch by batch: which columns there are, what they hold, and which cannot be used.",
    ),
    "show": (
        "show.run",
        "The variables of a network, their states and parents; or what its tables rest on; or a picture of it.",
    ),
    "query": ("query.run", "Beliefs given evidence: exact, or with --method by random cases or messages."),
    "explain": (
        "explain.run",
        "Which evidence speaks for and against a target, whether it fits together, and what to look at next.",
    ),
    "predict": ("predict.run", "Predict variables of a network for every row of files."),
    "fit": (
        "fit.run",
        "Learn the tables of a network: by counting, and by EM where cells are missing or variables hidden.",
    ),
    "compare": (
        "compare.run",
        "Two networks side by side: arcs they share and do not, their distance, and how well each explains cases.",
    ),
    "score": ("score.run", "Log likelihood of cases: in all, per case, and in bits per case."),
    "impute": (
        "impute.run",
        "Fill the missing cells of a network's variables; all other cells stay as they are, byte for byte.",
    ),
    "update": (
        "update.run",
        "Add cases to a learned network, exactly as if they had been there from the start; or take them back.",
    ),
    "merge": ("merge.run", "Merge learned networks: their evidence adds, and the prior counts once."),
    "sample": ("sample.run", "Draw independent cases from a network."),
    "convert": ("convert.run", "Write a network in another format."),
    "vc": (
        "vc.run",
        "The largest set of points that a class of hypotheses labels in every way, and who labels it how.",
    ),
    "demo": (
        "demo.run",
        "A one-minute tour on data that ships with the package; every step shows the command that does it.",
    ),
    "bound": (
        "bound.app",
        "Bounds of learning theory, solved for what is left out: pac, agnostic, vc, mistakes, interval.",
    ),
    "cases": ("cases.app", "Designs from structures that worked before: find, design, show."),
    "naive": ("naive.app", "Classify the rows of a table by naive Bayes: learn, predict."),
    "sequence": ("sequence.app", "Hidden states behind sequences: learn, decode, score."),
    "text": ("text.app", "Classify texts by naive Bayes: learn, classify, evaluate."),
}

app = group(
    VERBS,
    name="bayeslearn",
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
