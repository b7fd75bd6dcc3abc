"""``bayeslearn text``: learn to classify texts, classify them, say why, and see how good it is."""

from __future__ import annotations

from bayeslearn.cli.verbs import group

VERBS = {
    "learn": (
        "text_learn.run",
        "Learn to classify texts. Documents without a label help, through EM; Ctrl-C ends it with the best so far.",
    ),
    "classify": ("text_classify.run", "Classify a text, or every document of a file or a folder."),
    "evaluate": (
        "text_evaluate.run",
        "See how good a text classifier is: on random splits, or a model on documents that it has not seen.",
    ),
    "newsgroups": ("text_newsgroups.run", "Run the textbook's experiment on 20 Newsgroups."),
}

app = group(VERBS, name="text", help="Classify texts by naive Bayes: learn, classify, evaluate.")
