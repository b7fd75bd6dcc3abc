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

Every page below is what `bayeslearn VERB --help` prints. Answers go to stdout, everything else to stderr; `--json`
gives one JSON object for machines. The exit code is 0 for an answer, 1 when the data cannot be used, 2 for a
mistaken call.
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
