"""``bayeslearn fit``: a model of some kind, fitted to data."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "network": Verb(
        "network_fit.run",
        "Fit a Bayesian network: structure and parameters.",
    ),
    "parameters": Verb(
        "parameters_fit.run",
        "Fit the CPTs of a network with a given structure: by counting, with missing values or hidden variables by EM.",
    ),
    "naive-bayes": Verb(
        "naive_bayes_fit.run",
        "Fit a naive Bayes classifier to a table. Constant and identifier columns are dropped.",
    ),
    "text": Verb(
        "text_fit.run",
        "Learn to classify texts. Documents without a label help, through EM; Ctrl-C ends it with the best so far.",
    ),
    "mixture": Verb(
        "mixture_fit.run", "Find groups of similar rows, by EM: of numbers, words and counts, with missing values."
    ),
    "hmm": Verb(
        "hmm_fit.run",
        "Learn a hidden Markov model: states that nobody sees, how they follow each other, and what each emits.",
    ),
    "regression": Verb("regression_fit.run", "Fit a column as a function of the other columns, with intervals."),
    "neighbors": Verb(
        "neighbors_fit.run",
        "Fit k-nearest neighbors: keep the rows, and select the number of neighbors by leave-one-out.",
    ),
}

app = group(
    VERBS,
    default="network",
    name="fit",
    subcommand_metavar="[KIND] DATA -o MODEL ...",
    help="Fit a model to data: fit KIND DATA -o MODEL; without a kind, a Bayesian network.",
)
