"""Every code block of the README and the docs is run; what it prints is compared, words literally, numbers by value."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayeslearn.cli.app import app
from tests.printed import as_expected, long_numbers

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [path for path in DOCUMENTS if path.name != "cli.md" and "_build" not in path.parts]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: A file that the text names and shows.
FILE = re.compile(r"`([\w-]+\.csv)`:\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
KINDS = {"python", "console", "text", "toml", "csv"}


class Checker(doctest.OutputChecker):
    """Compares the numbers of an answer by value."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, as_expected(want, got), optionflags)


def blocks(path, kind):
    return [body for found, body in BLOCK.findall(path.read_text()) if found == kind]


def write_files(path, folder):
    for file, body in FILE.findall(path.read_text()):
        (folder / file).write_text(body)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_python_blocks(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(path, tmp_path)
    text = "\n".join(blocks(path, "python"))
    if text:
        assert ">>>" in text
    test = doctest.DocTestParser().get_doctest(text, {}, name(path), str(path), 0)
    assert not [example.source for example in test.examples if long_numbers(example.want)]
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report = []
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_console_blocks(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(path, tmp_path)
    for body in blocks(path, "console"):
        for session in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            expected, printed = trimmed(expected), trimmed(output_of(shlex.split(command, comments=True)))
            assert as_expected(expected, printed) == expected, command
            assert "--json" in command or not long_numbers(expected), command


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_block_is_of_a_kind_that_is_run(path):
    assert {kind for kind, _ in BLOCK.findall(path.read_text())} <= KINDS


def output_of(words):
    if words[0] == "make":  # the targets run these tests: here it is enough that they exist
        subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True, capture_output=True)
        return ""
    if words[0] == "cat":
        return Path(words[1]).read_text()
    assert words[0] == "bayeslearn"
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # they go to stderr
        done = CliRunner().invoke(app, words[1:])
    if done.exception and not isinstance(done.exception, SystemExit):
        return f"error: {done.exception}\n"
    return done.stdout


def trimmed(text):
    """Without the spaces that pad tables, the seconds that a fit took, and empty lines at either end."""
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("Seconds ")).strip("\n")
