"""The command ``bayeslearn`` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn import __version__
from bayeslearn.cli.verbs import OTHERS, Verb, group
from bayeslearn.errors import command_line

#: Kinds of models that predict columns of tables, and those that have only probabilities of rows.
CLASSIFIERS = ("naive Bayes", "one-dependence", "classification", "Bayes optimal")
REGRESSION = ("regression", "local regression", "Bayes optimal regression")
#: Kinds of models to which no rows are added.
FIXED = ("one-dependence", "Bayes optimal", "Bayes optimal regression")
HMM = "hidden Markov model"
TEXTBOOK = ("version space", "k-CNF", "hypotheses", "online learner", "expert mixture")
TABLES = (*CLASSIFIERS, "neighbors", "forest", *REGRESSION, "mixture")


def of_kinds(place: str, *kinds: str, **special: str) -> dict[str, str]:
    """Return where the function of a verb is for some kinds of models, and for those with their own."""
    own = {name.replace("_", " "): where for name, where in special.items()}
    return own | dict.fromkeys(kinds, place)


#: Every verb: where it lives, the first paragraph of its help, its panel, and the methods that other kinds need.
VERBS = {
    "scan": Verb(
        "scan.run",
        "Profile the columns of data in one pass: types, missing values, states, ranges; encode data for fast reading.",
        "Data",
    ),
    "fit": Verb("fit_kinds.app", "Fit a model to data: fit KIND DATA -o MODEL; without KIND a network.", "Fit"),
    "structure-posterior": Verb(
        "structure_posterior.run",
        "Posterior probability of every arc and of the most probable graphs, by order MCMC or exactly.",
        "Fit",
    ),
    "show": Verb(
        {"network": "network_show.run", OTHERS: "model_show.run"},
        "Show a model: its kind, columns, settings and parameters.",
        "Use",
        ("to_dict",),
    ),
    "query": Verb(
        {"network": "network_query.run"},
        "Posterior distributions of variables given evidence, exact or by sampling or loopy propagation.",
        "Use",
    ),
    "predict": Verb(
        of_kinds(
            "model_predict.run",
            *TABLES,
            network="network_predict.run",
            text="text_predict.run",
            hidden_Markov_model="hmm_predict.run",
        )
        | dict.fromkeys((kind for kind in TEXTBOOK if kind != "hypotheses"), "textbook_models.predict"),
        "Predict every row of data: its class, number, component or hidden state, with probabilities or intervals.",
        "Use",
    ),
    "explain": Verb(
        of_kinds(
            "model_rows.explain",
            "naive Bayes",
            "classification",
            "Bayes optimal",
            "Bayes optimal regression",
            "regression",
            "neighbors",
            "forest",
            "mixture",
            HMM,
            network="network_explain.run",
            text="text_rows.explain",
            version_space="textbook_models.explain",
            online_learner="textbook_models.explain",
        )
        | {"k-CNF": "textbook_models.explain"},
        "Explain predictions: the contributions of evidence, of cells, or of neighbors.",
        "Use",
    ),
    "impute": Verb(
        of_kinds("model_rows.impute", "naive Bayes", "mixture", HMM, network="network_impute.run"),
        "Fill missing values given the other values of the row; all other cells are unchanged.",
        "Use",
    ),
    "sample": Verb(
        of_kinds("model_rows.sample", "naive Bayes", "mixture", HMM, *REGRESSION, network="network_sample.run"),
        "Draw random rows from a model; from a regression, targets of the rows of data.",
        "Use",
    ),
    "plot": Verb(
        {"network": "plot_files.network", OTHERS: "model_show.plot"},
        "Plot a model into an .svg, .png or .pdf file.",
        "Use",
        ("plot",),
    ),
    "update": Verb(
        of_kinds(
            "model_changes.update",
            *(kind for kind in TABLES if kind not in FIXED),
            HMM,
            "text",
            network="network_update.run",
        )
        | dict.fromkeys(TEXTBOOK, "textbook_models.update"),
        "Add rows to a model, as if they had been there from the start; or remove them.",
        "Maintain",
    ),
    "merge": Verb(
        {"network": "network_merge.run", OTHERS: "model_changes.merge"},
        "Merge models: their rows add, and the prior and rows of a common base count once.",
        "Maintain",
        ("__add__",),
    ),
    "convert": Verb(
        {"network": "network_convert.run", OTHERS: "model_changes.convert"},
        "Write a model in another format.",
        "Maintain",
        ("save",),
    ),
    "score": Verb(
        of_kinds(
            "model_rows.score",
            *(kind for kind in TABLES if kind != "one-dependence"),
            network="network_score.run",
            hidden_Markov_model="hmm_score.run",
            text="text_rows.score",
        ),
        "Log-likelihood of data under a model, in total, on average and of each row or sequence.",
        "Judge",
    ),
    "evaluate": Verb(
        of_kinds(
            "model_evaluate.run",
            *CLASSIFIERS,
            "neighbors",
            "forest",
            *REGRESSION,
            "network",
            "network average",
            HMM,
            "mixture",
            text="text_evaluate.run",
        ),
        "Evaluate predictions on rows with a known target: accuracy, log loss, calibration, RMSE, intervals.",
        "Judge",
    ),
    "compare-networks": Verb(
        "compare_networks.run",
        "Compare two networks: shared, reversed and missing arcs, structural Hamming distance, log-likelihood of data.",
        "Judge",
    ),
    "compare-models": Verb(
        "compare_models.run",
        "Compare lazy and eager learners on the same rows: error, time and memory, by cross-validation.",
        "Judge",
    ),
    "bayes": Verb("bayes.run", "Posterior of hypotheses from their priors and the likelihoods of data.", "Textbook"),
    "concept": Verb(
        "concept.run",
        "Concept learning: Find-S, the version space with its boundaries, and votes on new rows.",
        "Textbook",
    ),
    "online": Verb(
        "online.run",
        "Weighted majority over experts, row by row: number of mistakes, and their bounds.",
        "Textbook",
    ),
    "bound": Verb(
        "bound.app",
        "Bounds of learning theory, solved for the missing quantity: pac, agnostic, vc, vc-dimension, mistakes, "
        "error-interval.",
        "Textbook",
    ),
    "case-based": Verb(
        "case_based.app", "Case-based design from stored structures: retrieve, design, show.", "Textbook"
    ),
    "demo": Verb(
        "demo.app",
        "Tour of one minute on data that ship with the package; or the newsgroups experiment: demo newsgroups.",
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
    add_completion=True,
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
    """Bayesian learning where evidence adds: fit models to data, then query, explain, update and merge them.

    Fit a model with `bayeslearn fit KIND DATA -o MODEL`, then use it with `bayeslearn VERB MODEL DATA`.
    """
    ctx.with_resource(command_line())
