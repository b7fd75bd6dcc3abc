"""Names from others on the terminal: no report of any verb holds a character that a terminal obeys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from typer.testing import CliRunner

from bayeslearn import BayesianNetwork, write_network
from bayeslearn.cli.app import app
from tests.fuzz.mutations import TEXTS
from tests.fuzz.trials import Target, recipe

#: What a terminal obeys; tabs and line ends are of our own.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

HOSTILE = [
    *(text for text in TEXTS if text.strip()),
    "\x1b]52;c;YQ==\x07",
    "a\rb",
    "\x85",
    "\u2066x\u2069",
    "\x7f",
    "a\nb",
]

VERBS = [
    ["show"],
    ["show", "--support"],
    ["query"],
    ["query", "--json"],
    ["show", "--json"],
    ["explain", "--target", "B"],
    ["sample", "-n", "5"],
    ["compare-networks", "asia"],
]


def make(rng: Random) -> bytes:
    names = rng.sample(HOSTILE, 2)
    states = rng.sample(HOSTILE, 2)
    return recipe(names=names, states=states, title=rng.choice(HOSTILE), verb=rng.randrange(len(VERBS)))


def run(data: bytes) -> None:
    trial = json.loads(data)
    a, b = trial["names"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "net.json"
        write_network(network(a, b, trial["states"], trial["title"]), path)
        verb, *options = [b if word == "B" else word for word in VERBS[trial["verb"]]]
        outcome = CliRunner().invoke(app, [verb, str(path), *options])
    if verb != "sample":  # data are written as they are
        found = OBEYED.search(outcome.output)
        assert not found, f"{found[0]!r} in {outcome.output!r}"
    if verb == "show" and "--json" in options:  # data keep their characters
        assert json.loads(outcome.stdout)["result"]["name"] == trial["title"]


def network(a: str, b: str, states: list[str], title: str) -> BayesianNetwork:
    """A network of two variables of hostile names."""
    tables = {a: [0.3, 0.7], b: [[0.1, 0.9], [0.4, 0.6]]}
    return BayesianNetwork.from_tables([(a, b)], tables, states={a: states, b: states}, name=title)


TARGETS = [Target("terminal/reports", make, run)]
