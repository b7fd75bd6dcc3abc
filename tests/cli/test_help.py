"""The help of every verb: its examples run as they are printed, and nothing of its text is lost to markup."""

import re
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bayeslearn import datasets, read_network
from bayeslearn.cli.app import app
from tests.cli.asking import tell

#: The width of the terminals that examples must fit into.
COLUMNS = "80"


def verbs(command=None, path=()):
    """Every verb as (its words, its command)."""
    command = get_command(app) if command is None else command
    if hasattr(command, "commands"):
        return [verb for name, inner in command.commands.items() for verb in verbs(inner, (*path, name))]
    return [(path, command)]


@cache
def printed(path):
    """The help as a terminal of 80 columns prints it."""
    result = CliRunner(env={"COLUMNS": COLUMNS, "TERMINAL_WIDTH": COLUMNS}).invoke(app, [*path, "--help"])
    assert result.exit_code == 0
    return result.stdout


def examples(path):
    lines = [line.strip() for line in printed(path).splitlines()]
    return [line.removeprefix("Example:").strip() for line in lines if line.startswith("Example:")]


VERBS = {path: command for path, command in verbs() if path != ("demo", "tour")}

### files that the examples name


def rows(names, n=60, seed=0):
    """A table of the variables of asia."""
    table = read_network("asia").sample(n, random_state=seed)
    return pd.DataFrame({name: table.column(name) for name in names})


def write_networks(folder):
    asia = read_network("asia").variables
    for name, seed in (
        ("cases", 0),
        ("patients", 0),
        ("new-patients", 1),
        ("new-cases", 1),
        ("tuesday", 2),
        ("north", 3),
        ("south", 4),
    ):
        rows(asia, seed=seed).to_csv(folder / f"{name}.csv", index=False)
    holes = rows(asia)
    holes.loc[::3, "lung"] = None
    for name in ("holes", "incomplete"):
        holes.to_csv(folder / f"{name}.csv", index=False)
    for name in ("cases", "patients"):
        rows(asia).to_parquet(folder / f"{name}-1.parquet")
    for name in ("north", "south"):
        tell(
            "fit",
            "parameters",
            "asia",
            str(folder / f"{name}.csv"),
            "--prior",
            "laplace",
            "-o",
            str(folder / f"{name}.json"),
        )
    rows(["smoke", "lung"]).to_csv(folder / "smokers.csv", index=False)


def write_tables(folder):
    rng = np.random.default_rng(0)
    n = 40
    zoo = pd.DataFrame(
        {"name": [f"n{i}" for i in range(n)], "legs": rng.choice([2, 4], n), "milk": rng.choice(["y", "n"], n)}
    )
    zoo["type"] = np.where(zoo["milk"] == "y", "mammal", "bird")
    iris = pd.DataFrame(
        {"petal": [*rng.normal(1, 0.2, 20), *rng.normal(4, 0.5, 20)], "class": ["setosa"] * 20 + ["other"] * 20}
    )
    cars = pd.DataFrame({"weight": rng.normal(3, 1, n), "origin": rng.choice(["us", "eu"], n)})
    cars["mpg"] = 40 - 5 * cars["weight"] + rng.normal(0, 1, n)
    titanic = pd.DataFrame({"sex": rng.choice(["m", "f"], n), "age": rng.normal(30, 8, n)})
    titanic["survived"] = np.where(titanic["sex"] == "f", "yes", "no")
    mushrooms = pd.DataFrame({"odor": rng.choice(["a", "n"], n), "cap": rng.choice(["x", "y"], n)})
    mushrooms["class"] = np.where(mushrooms["odor"] == "a", "e", "p")
    intervals = pd.DataFrame(np.triu(np.ones((4, 4), int)), columns=list("abcd"))
    tables = {
        "today": titanic, "zoo": zoo, "animals": zoo, "new-cars": cars, "iris": iris,
        "flowers": iris[["petal"]], "cars": cars, "titanic": titanic,
        "passengers": titanic.drop(columns="survived"), "mushrooms": mushrooms, "intervals": intervals,
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def write_sequences(folder):
    rng = np.random.default_rng(0)
    steps = pd.DataFrame({"patient": np.repeat(["a", "b", "c", "d"], 15), "beat": rng.choice(["x", "y", "z"], 60)})
    for name in ("ecg", "beats"):
        steps.to_csv(folder / f"{name}.csv", index=False)
    pd.DataFrame({"roll": rng.integers(1, 7, 80).astype(str)}).to_csv(folder / "rolls.csv", index=False)
    tell("fit", "hmm", str(folder / "rolls.csv"), "--n-states", "2", "-o", str(folder / "casino.json"))


def write_concepts(folder):
    tell("concept", "enjoy-sport", "--target", "enjoy_sport", "-o", str(folder / "sport.json"))
    pd.read_csv(datasets.table_path("enjoy-sport")).to_csv(folder / "day.csv", index=False)


def write_texts(folder):
    words = {"spam": "cheap watches buy now offer", "work": "meeting report budget agenda plan"}
    mails = [(text, label) for label, text in words.items() for _ in range(8)]
    pd.DataFrame(mails, columns=["text", "folder"]).to_csv(folder / "mails.csv", index=False)
    for group in ("mails/spam", "mails/work", *(f"20_newsgroups/group.{i}" for i in range(20))):
        (folder / group).mkdir(parents=True)
        for i in range(70 if "mails" in group else 5):
            (folder / group / str(i)).write_text(
                f"Subject: {group}\n\nword{i % 9} of {Path(group).name} again and again\n"
            )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of all examples."""
    place = tmp_path_factory.mktemp("examples")
    for write in (write_networks, write_tables, write_sequences, write_concepts, write_texts):
        write(place)
    return place


def ran(folder):
    """What every example ends with: a code, an answer and a complaint; models are learned before their use."""
    ends = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for path in sorted(VERBS, key=lambda path: path[0] != "fit"):
            for example in examples(path):
                ends[example] = tell(*shlex.split(example)[1:])
    return ends


### the tests


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_examples_are_calls_of_the_verb(path):
    shown = examples(path)

    assert shown, "every verb has an example"
    assert all(example.split()[: 1 + len(path)] == ["bayeslearn", *path] for example in shown)


@pytest.mark.thorough
def test_examples_run_as_printed(folder):
    for example, (code, _, complaint) in ran(folder).items():
        assert code == 0, f"{example}\n{complaint}"


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_examples_stand_on_one_line(path):
    whole = [line.split("Example:")[1].strip() for line in VERBS[path].help.splitlines() if "Example:" in line]

    assert examples(path) == [example.replace("\\[", "[") for example in whole]


def words_of(text):
    """The words of a text, without frames and without what typer adds in brackets."""
    return re.sub(r"[│╭╮╰╯─\s]+", "", text)


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_nothing_is_lost_to_markup(path):
    shown, command = words_of(printed(path)), VERBS[path]

    assert words_of(command.help.replace("\\[", "[")) in shown
    for param in command.params:
        if param.help and not param.hidden:  # what is printed in a narrow column is taken apart by the others
            assert not re.search(r"(?<!\\)\[[a-z#/@]", param.help), f"escape [ in the help of {param.name}"


@pytest.mark.parametrize(
    "verb", ["sample", "show", "query", "predict", "score", "explain", "convert", "compare-networks"]
)
def test_all_networks_that_ship_are_named(verb):
    argument = VERBS[verb,].params[0].help

    assert all(name in argument for name in datasets.list_networks())
    assert all(word in printed((verb,)) for word in ("alarm", "asia", "forest-fire", "play-tennis"))
