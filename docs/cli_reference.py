"""Write the command line reference from the commands' own help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.main import get_command
from typer.testing import CliRunner

from bayeslearn.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = """# Command line

    bayeslearn fit KIND DATA -o MODEL       network, parameters, naive-bayes, text, mixture, hmm, regression, neighbors,
                                            forest
    bayeslearn VERB MODEL [DATA]            the verb reads the kind of the model from the file: show, query, predict,
                                            explain, impute, sample, plot, update, merge, convert, score, evaluate

A kind of model has the verbs of its methods in Python; another verb is an error that lists them.
`bayeslearn --install-completion` completes verbs, kinds, options, names that ship and files in the shell.

Results go to stdout, warnings and progress to stderr. With `--json` every verb prints one object:

    {"command", "version", "model", "data": {"n_rows", "n_missing", "dropped_columns"}, "result", "warnings", "seconds"}

The exit code is 0 if the verb is done, 2 if an option, a file name, a variable or a state on the command line is wrong,
and 1 if the data or the model are. `bayeslearn VERB MODEL --help` lists the options for the kind of that model.
"""


def pages() -> dict[str, str]:
    """The help of the command itself and of every verb, by heading."""
    calls = {" ".join(["bayeslearn", *words]): [*words, "--help"] for words in commands(get_command(app))}
    environment = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    return {
        name: CliRunner().invoke(app, call, env=environment, prog_name="bayeslearn").stdout
        for name, call in calls.items()
    }


def commands(command: Any) -> Iterator[list[str]]:
    """The words that lead to a command and to those below it."""
    yield []
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from ([name, *words] for words in commands(below))


def write(path: Path) -> None:
    """One section per command."""
    sections = [f"## `{name}`\n\n```text\n{text.strip()}\n```\n" for name, text in pages().items()]
    text = "\n".join([HEAD, *sections])
    if not path.exists() or path.read_text() != text:  # an untouched file is not built again
        path.write_text(text)
