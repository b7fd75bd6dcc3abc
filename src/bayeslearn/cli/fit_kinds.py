"""``bayeslearn fit``: a model of some kind, fitted to data."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "network": Verb(
        "network_fit.run",
        "Learn a network: its arcs, and its tables; columns of no use are left out, and numbers are cut.",
    ),
    "parameters": Verb(
        "parameters_fit.run",
        "Learn the tables of a network: by counting, and by EM where cells are missing or variables hidden.",
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
        "mixture_fit.run",
        "Fit a mixture by EM: clusters of rows with categorical, numeric and count columns and missing values.",
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
