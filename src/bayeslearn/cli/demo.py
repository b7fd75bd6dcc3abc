"""``bayeslearn demo``: the main jobs, on data that ships with the package."""

from __future__ import annotations

import sys
from pathlib import Path

from bayeslearn.cli.verbs import Verb, group

VERBS = {
    "tour": Verb(
        "demo.run", "A one-minute tour on data that ships with the package; every step shows the command that does it."
    ),
    "newsgroups": Verb("demo_newsgroups.run", "Run the textbook's experiment on 20 Newsgroups."),
}

app = group(
    VERBS,
    default="tour",
    no_args_is_help=False,
    name="demo",
    help="A one-minute tour on data that ships with the package; or the textbook's experiment: demo newsgroups.",
)

#: What the tour writes, into the folder it is run from.
PICTURE, MODEL, DRAWN = Path("forest-fire.svg"), Path("chest-clinic.json"), Path("chest-clinic.svg")


def run() -> None:
    """A one-minute tour on data that ships with the package; every step shows the command that does it."""
    from bayeslearn.cli import bayes, concept, network_fit, network_query, network_show

    _announce("A rare cancer and two positive tests", "bayes cancer-test -e positive -e positive")
    bayes.run("cancer-test", evidence=["positive", "positive"])
    _announce("Which days are for sport?", "concept enjoy-sport --target enjoy_sport --new enjoy-sport-new")
    concept.run("enjoy-sport", target="enjoy_sport", new="enjoy-sport-new")
    seen = ["Thunder=yes", "BusTourGroup=yes"]
    _announce("Thunder, and a bus of tourists: does the forest burn?", f"query forest-fire {' '.join(seen)}")
    network_query.run("forest-fire", seen)
    _announce("The same as a picture", f"show forest-fire {' '.join(seen)} --plot {PICTURE}")
    network_show.run("forest-fire", seen, plot=PICTURE)
    _announce("A thousand patients, with holes: what depends on what?", f"fit chest-clinic --bootstrap 50 -o {MODEL}")
    network_fit.run(["chest-clinic"], to=MODEL, bootstrap=50)
    seen = ["smoke=yes", "xray=yes"]
    _announce("A smoker with a spot on the x-ray", f"query {MODEL} {' '.join(seen)} --ask lung --ask dysp")
    network_query.run(str(MODEL), seen, ask=["lung", "dysp"])
    _announce("What was learned, as a picture", f"show {MODEL} {' '.join(seen)} --plot {DRAWN}")
    network_show.run(str(MODEL), seen, plot=DRAWN)


def _announce(title: str, command: str) -> None:
    sys.stdout.write(f"\n{title}\n$ bayeslearn {command}\n")
