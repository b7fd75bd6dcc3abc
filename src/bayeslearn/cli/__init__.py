"""The command line: one file per verb. Answers go to stdout, everything else to stderr.

Verbs load what they need when they run, so that ``bayeslearn --help`` answers at once.
"""

from __future__ import annotations

import sys

from bayeslearn.errors import BayeslearnError, ParameterError


def main() -> None:
    """Run the command line; a named error becomes one sentence on stderr: exit 2 for usage, 1 for data."""
    from bayeslearn.cli.app import app

    try:
        app()
    except BayeslearnError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2 if isinstance(error, ParameterError) else 1)
