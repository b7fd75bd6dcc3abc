"""The command ``bayeslearn`` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn import __version__
from bayeslearn.cli.verbs import Verb, group
from bayeslearn.errors import command_line

#: Kinds of models that hold a function of other columns.
REGRESSION = ("regression", "classification", "local regression")


def of_networks(module: str) -> dict[str, str]:
    """Return where the function of a verb is that only networks have."""
    return {"network": f"{module}.run"}


#: Every verb: where it lives, the first paragraph of its help, and its panel.
VERBS = {
    "scan": Verb(
        "scan.run",
        "Look at all rows once, batch by batch: which columns there are, what they hold, and which cannot be used.",
        "Data",
    ),
    "impute": Verb(
        of_networks("network_impute"),
        "Fill missing values by a network; all other cells stay as they are, byte for byte.",
        "Data",
    ),
    "sample": Verb(
        of_networks("network_sample"), "Draw independent rows from a network, given evidence if there is some.", "Data"
    ),
    "fit": Verb(
        "fit_kinds.app",
        "Fit a model to data: fit KIND DATA -o MODEL; without a kind, a Bayesian network.",
        "Fit",
    ),
    "structure-posterior": Verb(
        "structure_posterior.run",
        "The probability of every arc, and of the most probable graphs: not one network, but all of them.",
        "Fit",
    ),
    "show": Verb(
        of_networks("network_show"),
        "Show a network: variables, states and parents; or the data behind its CPTs; or a plot.",
        "Use",
    ),
    "query": Verb(
        of_networks("network_query"),
        "Posterior probabilities given evidence: exact, or approximate with --method.",
        "Use",
    ),
    "predict": Verb(
        {
            "network": "network_predict.run",
            "naive Bayes": "naive_bayes_predict.run",
            "text": "text_predict.run",
            "mixture": "mixture_predict.run",
            "hidden Markov model": "hmm_predict.run",
            "neighbors": "neighbors_predict.run",
            **dict.fromkeys(REGRESSION, "regression_predict.run"),
        },
        "Predict every row of data: targets, classes, clusters, hidden states or values, as the kind of the model.",
        "Use",
    ),
    "explain": Verb(
        of_networks("network_explain"),
        "Explain the posterior of a target: Bayes factors of the evidence, its conflict, and what to observe next.",
        "Use",
    ),
    "update": Verb(
        of_networks("network_update"),
        "Update a fitted network with rows, exactly as if it had been fitted to all of them; or remove rows.",
        "Maintain",
    ),
    "merge": Verb(
        of_networks("network_merge"),
        "Merge fitted networks: their counts add, and the prior counts once.",
        "Maintain",
    ),
    "convert": Verb(of_networks("network_convert"), "Write a network in another format.", "Maintain"),
    "score": Verb(
        {"network": "network_score.run", "hidden Markov model": "hmm_score.run"},
        "Log-likelihood of data under a model: in total and per row, or of each sequence.",
        "Judge",
    ),
    "evaluate": Verb(
        {"text": "text_evaluate.run"},
        "Judge a text classifier on documents that it has not seen; or the learner, on random splits.",
        "Judge",
    ),
    "compare-networks": Verb(
        "compare_networks.run",
        "Compare two networks: shared and different arcs, structural Hamming distance, and log-likelihood of rows.",
        "Judge",
    ),
    "compare-models": Verb(
        "compare_models.run",
        "Compare learners that keep their examples (lazy) with learners that do not (eager), on the same rows.",
        "Judge",
    ),
    "bayes": Verb("bayes.run", "Posterior over hypotheses: priors and likelihoods in, beliefs out.", "Textbook"),
    "concept": Verb(
        "concept.run",
        "Learn a concept from examples: Find-S, the version space with its boundaries, and votes on new rows.",
        "Textbook",
    ),
    "online": Verb(
        "online.run",
        "Weighted-Majority over experts that learn as the rows come; how many mistakes, and how many there could be.",
        "Textbook",
    ),
    "bound": Verb(
        "bound.app",
        "Bounds of learning theory, solved for the missing quantity: pac, agnostic, vc, vc-dimension, mistakes, "
        "error-interval.",
        "Textbook",
    ),
    "case-based": Verb(
        "case_based.app", "Designs from structures that worked before: retrieve, design, show.", "Textbook"
    ),
    "demo": Verb(
        "demo.app",
        "A one-minute tour on data that ships with the package; or the textbook's experiment: demo newsgroups.",
        "Textbook",
    ),
}

#: Verbs of earlier versions, and what is called instead.
FORMER = {
    "learn": "bayeslearn fit network DATA -o MODEL",
    "naive": "bayeslearn fit naive-bayes DATA --target COLUMN -o MODEL, then bayeslearn predict MODEL DATA",
    "text": "bayeslearn fit text DATA -o MODEL, then bayeslearn predict MODEL TEXT; also bayeslearn evaluate",
    "sequence": "bayeslearn fit hmm DATA --states N -o MODEL, then bayeslearn predict MODEL DATA or score MODEL DATA",
    "cluster": "bayeslearn fit mixture DATA -o MODEL, then bayeslearn predict MODEL DATA",
    "regress": "bayeslearn fit regression DATA --target COLUMN -o MODEL, then bayeslearn predict MODEL DATA",
    "neighbors": "bayeslearn fit neighbors DATA --target COLUMN -o MODEL, then bayeslearn predict MODEL DATA",
    "cases": "bayeslearn case-based retrieve, design or show",
    "contest": "bayeslearn compare-models DATA --target COLUMN",
    "compare": "bayeslearn compare-networks NETWORK NETWORK",
    "posterior": "bayeslearn structure-posterior DATA; the posterior of a variable is bayeslearn query MODEL",
    "vc": "bayeslearn bound vc-dimension FILE",
}

app = group(
    VERBS,
    former=FORMER,
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
    """Bayesian learning where evidence adds: from data to beliefs you can query, explain, update and merge.

    Fit a model with `bayeslearn fit KIND DATA -o MODEL`, then use it with `bayeslearn VERB MODEL DATA`.
    """
    ctx.with_resource(command_line())
