"""``bayeslearn naive``: a naive Bayes classifier of the rows of a table."""

from __future__ import annotations

from bayeslearn.cli.verbs import group

VERBS = {
    "learn": (
        "naive_learn.run",
        "Learn a naive Bayes classifier of words, numbers and counts; columns of no use are left out.",
    ),
    "predict": ("naive_predict.run", "Predict the class of every row of files."),
}

app = group(VERBS, name="naive", help="Classify the rows of a table by naive Bayes: learn, predict.")
