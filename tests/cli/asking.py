"""How tests talk to the command line."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

from bayeslearn.cli.app import app


def ask(*words):
    """Run a verb in this process; errors are raised."""
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stdout


def said(*words):
    """Run a verb in this process and read what it says on stderr."""
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stderr


def tell(*words):
    """Run the whole command in a process of its own: exit code, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "bayeslearn", *words], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return done.returncode, done.stdout, done.stderr


def fail(*words):
    """Run the whole command in a process of its own and see how it ends."""
    code, answer, sentence = tell(*words)
    assert answer == ""
    return code, sentence
