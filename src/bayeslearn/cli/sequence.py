"""``bayeslearn sequence``: hidden Markov models of sequences in a file."""

from __future__ import annotations

from bayeslearn.cli.verbs import group

VERBS = {
    "learn": (
        "sequence_learn.run",
        "Learn a hidden Markov model: states that nobody sees, how they follow each other, and what each emits.",
    ),
    "decode": (
        "sequence_decode.run",
        "Decode the states behind every row: the most probable path of each sequence, and how sure each row is.",
    ),
    "score": (
        "sequence_score.run",
        "Report the log-likelihood of each sequence, the least probable first.",
    ),
}

app = group(VERBS, name="sequence", help="Hidden states behind sequences: learn, decode, score.")
