"""``bayeslearn demo``: the main jobs, on data that ships with the package."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "tour": Verb("demo.run", "Tour of one minute on data that ship with the package; every step shows its command."),
    "newsgroups": Verb("demo_newsgroups.run", "Run the textbook's experiment on 20 Newsgroups."),
}

app = group(
    VERBS,
    default="tour",
    no_args_is_help=False,
    name="demo",
    help="Tour of one minute on data that ship with the package; or the newsgroups experiment: demo newsgroups.",
)

#: The steps of the tour: what each shows, and the command that does it.
STEPS = {
    "A rare cancer and two positive tests": "bayes cancer-test -e positive -e positive",
    "Which days are for sport?": "concept enjoy-sport enjoy-sport-new --target enjoy_sport",
    "Thunder, and a bus of tourists: does the forest burn?": "query forest-fire Thunder=yes BusTourGroup=yes",
    "The same as a plot": "plot forest-fire Thunder=yes BusTourGroup=yes -o forest-fire.svg",
    "A thousand patients, with missing values: what depends on what?": (
        "fit chest-clinic --bootstrap 50 -o chest-clinic.json"
    ),
    "A smoker with a spot on the x-ray": "query chest-clinic.json smoke=yes xray=yes --variables lung,dysp",
    "The fitted network as a plot": "plot chest-clinic.json smoke=yes xray=yes -o chest-clinic.svg",
}


def run(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="The steps as one JSON object, without running them.")
    ] = False,
) -> None:
    """Tour of one minute on data that ship with the package; every step shows its command.

    Example: bayeslearn demo tour
    """
    if as_json:
        steps = [{"title": title, "command": f"bayeslearn {words}"} for title, words in STEPS.items()]
        output.show_json({"steps": steps})
        return
    from bayeslearn.cli.app import app as whole

    command = typer.main.get_command(whole)
    for title, words in STEPS.items():
        sys.stdout.write(f"\n{title}\n$ bayeslearn {words}\n")
        command.main(shlex.split(words), prog_name="bayeslearn", standalone_mode=False)
