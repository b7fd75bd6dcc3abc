"""``bayeslearn fit``: a model of some kind, fitted to data."""

from __future__ import annotations

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "classifier": Verb(
        "ensemble_fit.classifier",
        "Fit a Bayes optimal classifier: all learners, weighted by how well they predict held-out rows.",
    ),
    "regressor": Verb(
        "ensemble_fit.regressor",
        "Fit a Bayes optimal regression: all regressors, weighted by how well they predict held-out rows.",
    ),
    "network": Verb(
        "network_fit.run",
        "Fit a Bayesian network: structure and parameters.",
    ),
    "parameters": Verb(
        "parameters_fit.run",
        "Fit the parameters of a network of known structure: by counting, or by EM with missing values.",
    ),
    "naive-bayes": Verb(
        "naive_bayes_fit.run",
        "Fit a naive Bayes classifier to a table. Constant and identifier columns are dropped.",
    ),
    "text": Verb(
        "text_fit.run",
        "Fit a naive Bayes classifier to documents. Unlabeled documents are used by EM.",
    ),
    "mixture": Verb(
        "mixture_fit.run",
        "Fit a mixture by EM: clusters of rows with categorical, numeric and count columns and missing values.",
    ),
    "hmm": Verb(
        "hmm_fit.run",
        "Fit a hidden Markov model by Baum-Welch: hidden states, transitions and emissions.",
    ),
    "regression": Verb(
        "regression_fit.run",
        "Fit a regression or a classification by least squares, logistic units, radial units or local models.",
    ),
    "neighbors": Verb(
        "neighbors_fit.run",
        "Fit k-nearest neighbors: keep the rows, and select the number of neighbors by leave-one-out.",
    ),
    "forest": Verb(
        "forest_fit.run",
        "Fit a Bayesian forest: randomized trees, averaged over all prunings, for classes or numbers.",
    ),
}

app = group(
    VERBS,
    default="network",
    name="fit",
    subcommand_metavar="[KIND] DATA -o MODEL ...",
    help="Fit a model to data: fit KIND DATA -o MODEL; without KIND a network.",
)
