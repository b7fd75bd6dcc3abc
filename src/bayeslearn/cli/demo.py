"""``bayeslearn demo``: the main jobs, on data that ships with the package."""

from __future__ import annotations

import sys

from bayeslearn.cli import bayes, concept


def run() -> None:
    """A one-minute tour on data that ships with the package; every step shows the command that does it."""
    _announce("A rare cancer and two positive tests", "bayes cancer-test -e positive -e positive")
    bayes.run("cancer-test", evidence=["positive", "positive"])
    _announce("Which days are for sport?", "concept enjoy-sport --target enjoy_sport --new enjoy-sport-new")
    concept.run("enjoy-sport", target="enjoy_sport", new="enjoy-sport-new")


def _announce(title: str, command: str) -> None:
    sys.stdout.write(f"\n{title}\n$ bayeslearn {command}\n")
