"""How tests talk to the command line."""

from __future__ import annotations

import io
import json
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

import pytest
from typer.testing import CliRunner

from bayeslearn.cli import main
from bayeslearn.cli.app import app
from tests.printed import long_numbers


def ask(*words):
    """Run a verb in this process; errors are raised. No computed number has more digits than people are shown."""
    answer = CliRunner().invoke(app, list(words), catch_exceptions=False).stdout
    assert "--json" in words or "impute" in words or not long_numbers(answer)  # a user's cells keep theirs
    return answer


def result(answer):
    """The result in the JSON of a verb."""
    return json.loads(answer)["result"]


def said(*words):
    """Run a verb in this process and read what it says on stderr."""
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stderr


def tell(*words):
    """Run the whole command as a shell would: its code, its answer and what it says besides."""
    answer, sentence = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        redirect_stdout(answer),
        redirect_stderr(sentence),
    ):
        warnings.simplefilter("default")
        patch.setattr(sys, "argv", ["bayeslearn", *words])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return code, answer.getvalue(), sentence.getvalue()


def fail(*words):
    """Run the whole command and see how it ends."""
    code, answer, sentence = tell(*words)
    assert answer == ""
    return code, sentence
