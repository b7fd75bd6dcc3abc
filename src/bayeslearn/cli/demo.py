"""``bayeslearn demo``: the main jobs, on data that ships with the package."""

from __future__ import annotations

import sys
from pathlib import Path

from bayeslearn.cli import bayes, concept, query, show

#: The picture that the tour draws, in the folder it is run from.
PICTURE = Path("forest-fire.svg")


def run() -> None:
    """A one-minute tour on data that ships with the package; every step shows the command that does it."""
    _announce("A rare cancer and two positive tests", "bayes cancer-test -e positive -e positive")
    bayes.run("cancer-test", evidence=["positive", "positive"])
    _announce("Which days are for sport?", "concept enjoy-sport --target enjoy_sport --new enjoy-sport-new")
    concept.run("enjoy-sport", target="enjoy_sport", new="enjoy-sport-new")
    seen = ["Thunder=yes", "BusTourGroup=yes"]
    _announce("Thunder, and a bus of tourists: does the forest burn?", f"query forest-fire {' '.join(seen)}")
    query.run("forest-fire", seen)
    _announce("The same as a picture", f"show forest-fire {' '.join(seen)} --plot {PICTURE}")
    show.run("forest-fire", seen, plot=PICTURE)


def _announce(title: str, command: str) -> None:
    sys.stdout.write(f"\n{title}\n$ bayeslearn {command}\n")
